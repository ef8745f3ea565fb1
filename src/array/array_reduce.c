// Partial results: arrays over unreduced axes, whose devices hold terms to be reduced.
//
// Devices that differ only along unreduced axes form a group, in the order of their terms. All
// groups with the same shard have the same result; within one process one of them suffices. Groups
// with shards of different sizes are reduced in separate calls.
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "layout/layout_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/reduction.h"
#include "tessera/spec.h"

tsr_status tsr_array_check_reduced(const tsr_array *array) {
  if (tsr_layout_term_count(array->layout) == 1) return NULL;
  return tsr_fail(UNREDUCED_HAS_NO_INDEX_MAP,
                  "the array has unreduced axes: its devices hold partial results");
}

tsr_reduction tsr_layout_reduction(const tsr_layout *layout) {
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  return sharding ? tsr_spec_desc_of(tsr_sharding_spec(sharding))->reduction : TSR_REDUCE_SUM;
}

tsr_status tsr_layout_reduced(const tsr_layout *layout, tsr_layout **out_layout) {
  if (tsr_layout_term_count(layout) == 1) {
    *out_layout = tsr_layout_retain(layout);
    return NULL;
  }
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_spec_desc desc = *tsr_spec_desc_of(tsr_sharding_spec(sharding));
  tsr_spec *spec = NULL;
  tsr_sharding *bound = NULL;
  desc.unreduced_count = 0;
  desc.unreduced = NULL;
  tsr_status status = tsr_spec_create(&desc, &spec);
  if (!status) status = tsr_sharding_bind(tsr_sharding_mesh(sharding), spec, false, &bound);
  if (!status) status = tsr_layout_create(bound, &shape, tsr_layout_policy(layout), out_layout);
  tsr_spec_release(spec);
  tsr_sharding_release(bound);
  return status;
}

// ---- groups ----

typedef struct term_group {
  int64_t elements, shard;
  int64_t first;  // the position of its first term
} term_group;

typedef struct reducing {
  tsr_array *from, *to;
  int64_t terms, count;
  term_group *groups;  // in order of size, shard, position
  int64_t *devices;    // `terms` for each position that is the first of a group
  int64_t *members;    // of the groups of one call
  tsr_lists lists;
} reducing;

static int by_size(const void *left, const void *right) {
  const term_group *a = left, *b = right;
  if (a->elements != b->elements) return a->elements < b->elements ? -1 : 1;
  if (a->shard != b->shard) return a->shard < b->shard ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

static tsr_status alloc_groups(reducing *r) {
  const size_t positions = (size_t)tsr_layout_device_count(r->from->layout);
  r->groups = malloc(sizeof *r->groups * positions);
  r->devices = malloc(sizeof *r->devices * positions * (size_t)r->terms);
  r->members = malloc(sizeof *r->members * positions);
  if (!r->groups || !r->devices || !r->members)
    return tsr_fail(NO_MEMORY, "the groups of %zu devices", positions);
  return tsr_lists_init(&r->lists, r->from->comm);
}

static void find_groups(reducing *r) {
  const tsr_layout *layout = r->from->layout;
  const int64_t positions = tsr_layout_device_count(layout);
  for (int64_t p = 0; p < positions; p++) {
    const int64_t first = tsr_layout_first_term(layout, p), term = tsr_layout_term(layout, p);
    r->devices[first * r->terms + term] = tsr_layout_device_at(layout, p);
    if (first != p) continue;
    const int64_t shard = tsr_layout_shard(layout, p);
    r->groups[r->count++] = (term_group){tsr_layout_buffer_elements(layout, shard), shard, p};
  }
  qsort(r->groups, (size_t)r->count, sizeof *r->groups, by_size);
}

// One group for each shard, if all devices are local.
static void drop_equal_groups(reducing *r) {
  int64_t kept = 0;
  if (tsr_comm_rank_count(r->from->comm) > 1) return;
  for (int64_t g = 0; g < r->count; g++)
    if (kept == 0 || r->groups[g].shard != r->groups[kept - 1].shard)
      r->groups[kept++] = r->groups[g];
  r->count = kept;
}

// ---- calls ----

// The local members of a group share one result. The first group of a shard writes the leader's
// buffer; others write one that is dropped afterwards.
static tsr_status make_results(reducing *r, const term_group *g) {
  tsr_array *to = r->to;
  tsr_array_slot *first = NULL;
  for (int64_t i = 0; i < r->terms; i++) {
    const int64_t device = r->devices[g->first * r->terms + i];
    const int64_t index = tsr_array_local_find(to, device);
    if (index < 0) continue;
    tsr_array_slot *slot = &to->slots[index];
    if (!first) {
      first = to->slots[slot->leader].buffer ? slot : &to->slots[slot->leader];
      TSR_TRY(tsr_slot_make(to, first));
    }
    r->lists.out[tsr_comm_local_index(to->comm, device)] = first->data;
  }
  return NULL;
}

static tsr_status make_all_results(reducing *r) {
  for (int64_t i = 0; i < r->from->slot_count; i++) {
    const tsr_array_slot *slot = &r->from->slots[i];
    r->lists.in[tsr_comm_local_index(r->from->comm, slot->device)] = slot->data;
  }
  for (int64_t g = 0; g < r->count; g++) TSR_TRY(make_results(r, &r->groups[g]));
  return NULL;
}

static tsr_status reduce_alike(reducing *r, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; g++)
    memcpy(r->members + (g - begin) * r->terms, r->devices + r->groups[g].first * r->terms,
           sizeof *r->members * (size_t)r->terms);
  const tsr_groups groups = {end - begin, r->terms, r->members};
  return tsr_comm_all_reduce(r->from->comm, &groups, r->from->dtype,
                             tsr_layout_reduction(r->from->layout), r->groups[begin].elements,
                             r->lists.in, r->lists.out);
}

static tsr_status reduce_all(reducing *r) {
  for (int64_t begin = 0, end; begin < r->count; begin = end) {
    for (end = begin; end < r->count && r->groups[end].elements == r->groups[begin].elements;)
      end++;
    if (r->groups[begin].elements > 0) TSR_TRY(reduce_alike(r, begin, end));
  }
  return NULL;
}

static tsr_status prepare(reducing *r, const tsr_layout *reduced) {
  TSR_TRY(tsr_array_alloc(r->from->comm, reduced, r->from->dtype, &r->to));
  TSR_TRY(alloc_groups(r));
  find_groups(r);
  drop_equal_groups(r);
  TSR_TRY(make_all_results(r));
  return tsr_array_make_buffers(r->to);
}

tsr_status tsr_array_reduce(tsr_array *array, tsr_array **out_array) {
  reducing r = {.from = array, .terms = tsr_layout_term_count(array->layout)};
  if (r.terms == 1) {
    *out_array = tsr_array_retain(array);
    return NULL;
  }
  tsr_layout *reduced = NULL;
  tsr_status status = tsr_layout_reduced(array->layout, &reduced);
  if (!status) status = prepare(&r, reduced);
  status = tsr_array_agree(array->comm, "reduction of an array", status);
  if (!status) status = reduce_all(&r);
  tsr_lists_deinit(&r.lists);
  free(r.groups);
  free(r.devices);
  free(r.members);
  tsr_layout_release(reduced);
  if (!status) tsr_array_share_leaders(r.to);
  return tsr_array_give(status, r.to, out_array);
}
