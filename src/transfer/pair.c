// The copies between two positions: overlaps of each dimension, and their product. Grids use cached
// overlaps of cuts; boxes and flat ranges are met block by block.
#include "transfer/pair.h"

#include <stdlib.h>

#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

tsr_status tsr_pairing_init(tsr_pairing *pairing, const tsr_copy_plan *plan) {
  const int rank = plan->to->rank;
  *pairing = (tsr_pairing){.plan = plan, .target = TSR_BLOCKS_EMPTY, .source = TSR_BLOCKS_EMPTY};
  if (plan->from_tree || plan->to_tree) return NULL;
  pairing->meets = malloc(sizeof *pairing->meets * (size_t)(rank + 1));
  if (!pairing->meets) return tsr_fail(NO_MEMORY, "the dimensions of a copy plan");
  for (int d = 0; d < rank; d++) pairing->meets[d] = tsr_meets_of(plan->from, plan->to, d);
  return NULL;
}

void tsr_pairing_deinit(tsr_pairing *pairing) {
  for (int d = 0; pairing->meets && d < pairing->plan->to->rank; d++)
    tsr_meets_deinit(&pairing->meets[d]);
  free(pairing->meets);
  pairing->meets = NULL;
  tsr_blocks_deinit(&pairing->target);
  tsr_blocks_deinit(&pairing->source);
}

static tsr_status keep_blocks(tsr_blocks *kept, const tsr_layout *layout, int64_t shard) {
  if (kept->layout == layout && kept->shard == shard) return NULL;
  tsr_blocks_deinit(kept);
  return tsr_blocks_init(kept, layout, shard);
}

tsr_status tsr_pairing_target(tsr_pairing *pairing, int64_t shard) {
  return keep_blocks(&pairing->target, pairing->plan->to, shard);
}

tsr_status tsr_pairing_source(tsr_pairing *pairing, int64_t shard) {
  return keep_blocks(&pairing->source, pairing->plan->from, shard);
}

// ---- two blocks ----

// The overlaps of two blocks in each dimension, with offsets and strides.
typedef struct product {
  int rank;
  int64_t source, target;  // devices
  int64_t from, to;        // where the blocks start
  tsr_overlaps dims[TSR_MAX_RANK];
  int64_t from_strides[TSR_MAX_RANK], to_strides[TSR_MAX_RANK];
} product;

static bool is_empty(const product *p) {
  for (int d = 0; d < p->rank; d++)
    if (p->dims[d].count == 0) return true;
  return false;
}

// Adds a loop around a copy; loops are innermost first until outermost_first.
static tsr_status surround(tsr_copy *copy, int64_t count, int64_t from, int64_t to) {
  if (count == 1) return NULL;
  if (copy->loop_count == 0 && from == copy->length && to == copy->length) {
    copy->length *= count;
    return NULL;
  }
  tsr_copy_loop *inner = copy->loop_count ? &copy->loops[copy->loop_count - 1] : NULL;
  if (inner && from == inner->from * inner->count && to == inner->to * inner->count) {
    inner->count *= count;
    return NULL;
  }
  if (copy->loop_count == TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "a copy of more than %d loops", TSR_MAX_RANK);
  copy->loops[copy->loop_count++] = (tsr_copy_loop){count, from, to};
  return NULL;
}

static void outermost_first(tsr_copy *copy) {
  for (int i = 0, j = copy->loop_count - 1; i < j; i++, j--) {
    const tsr_copy_loop loop = copy->loops[i];
    copy->loops[i] = copy->loops[j];
    copy->loops[j] = loop;
  }
}

// One overlap of each dimension makes one copy.
static tsr_status add_copy(const product *p, const int64_t *at, tsr_copy_list *list) {
  tsr_copy copy = {
      .source = p->source, .target = p->target, .from = p->from, .to = p->to, .length = 1};
  for (int d = p->rank - 1; d >= 0; d--) {
    const tsr_overlap *o = &p->dims[d].items[at[d]];
    const int64_t from = p->from_strides[d], to = p->to_strides[d];
    copy.from += o->b * from;
    copy.to += o->a * to;
    TSR_TRY(surround(&copy, o->length, from, to));
    TSR_TRY(surround(&copy, o->count, o->b_step * from, o->a_step * to));
  }
  outermost_first(&copy);
  return tsr_copy_list_add(list, &copy);
}

static tsr_status add_product(const product *p, tsr_copy_list *list) {
  int64_t at[TSR_MAX_RANK] = {0};
  if (is_empty(p)) return NULL;
  for (;;) {
    TSR_TRY(add_copy(p, at, list));
    int d = p->rank - 1;
    while (d >= 0 && ++at[d] == p->dims[d].count) at[d--] = 0;
    if (d < 0) return NULL;
  }
}

// ---- two grids ----

// `own` is the source shard of the target's device, or -1.
static tsr_status pair_grids(tsr_pairing *pairing, int64_t to_shard, int64_t from_shard,
                             int64_t own, product *p, tsr_copy_list *list) {
  const tsr_copy_plan *plan = pairing->plan;
  int64_t to[TSR_MAX_RANK], from[TSR_MAX_RANK], mine[TSR_MAX_RANK];
  tsr_layout_shard_coords(plan->to, to_shard, to);
  tsr_layout_shard_coords(plan->from, from_shard, from);
  if (own >= 0) tsr_layout_shard_coords(plan->from, own, mine);
  for (int d = 0; d < p->rank; d++) {
    const tsr_overlaps *overlaps = NULL;
    TSR_TRY(tsr_meets_find(&pairing->meets[d], to[d], from[d], own < 0 ? -1 : mine[d], &overlaps));
    p->dims[d] = *overlaps;
  }
  tsr_layout_buffer_strides(plan->to, to_shard, p->to_strides);
  tsr_layout_buffer_strides(plan->from, from_shard, p->from_strides);
  return add_product(p, list);
}

// ---- listed boxes ----

static int64_t class_of(const tsr_copy_plan *plan, int64_t box) {
  return plan->from_class ? plan->from_class[box] : box;
}

static bool has_class(const tsr_copy_plan *plan, int64_t shard, int64_t class) {
  const tsr_layout *from = plan->from;
  if (shard < 0) return false;
  if (from->kind == TSR_LAYOUT_FLAT) return class_of(plan, shard) == class;
  for (int64_t b = from->table->first[shard]; b < from->table->first[shard + 1]; b++)
    if (class_of(plan, b) == class) return true;
  return false;
}

// Whether a device with source shard `own` takes a box from this shard: from its own shard the
// first of equal boxes; from the owner, boxes that it does not hold itself.
static bool is_given(const tsr_pairing *pairing, int64_t block, int64_t own) {
  const tsr_copy_plan *plan = pairing->plan;
  const tsr_block *blocks = pairing->source.items;
  if (!plan->from_class) return true;
  const int64_t number = blocks[block].number, class = class_of(plan, number);
  if (pairing->source.shard != own) return class == number && !has_class(plan, own, class);
  for (int64_t b = 0; b < block; b++)
    if (blocks[b].number != number && class_of(plan, blocks[b].number) == class) return false;
  return true;
}

static tsr_status meet_blocks(const tsr_copy_plan *plan, const tsr_block *to, const tsr_block *from,
                              const int64_t *coords, const int64_t *own, product *p) {
  for (int d = 0; d < p->rank; d++) {
    if (plan->from_tree) {
      TSR_TRY(tsr_overlaps_of(&to->runs[d], &from->runs[d], &p->dims[d]));
    } else {
      const tsr_cut cut = tsr_layout_cut(plan->from, d);
      TSR_TRY(tsr_overlaps_with_cut(&to->runs[d], &cut, coords[d], own ? own[d] : -1, &p->dims[d]));
    }
    p->to_strides[d] = to->strides[d];
    p->from_strides[d] = from->strides[d];
    if (p->dims[d].count == 0) return NULL;
  }
  return NULL;
}

static tsr_status pair_blocks(const tsr_pairing *pairing, int64_t own, int64_t to, int64_t from,
                              const product *start, tsr_copy_list *list) {
  const tsr_copy_plan *plan = pairing->plan;
  int64_t coords[TSR_MAX_RANK], mine[TSR_MAX_RANK];
  product p = *start;
  p.to = pairing->target.items[to].offset;
  p.from = pairing->source.items[from].offset;
  tsr_layout_shard_coords(plan->from, pairing->source.shard, coords);
  if (own >= 0) tsr_layout_shard_coords(plan->from, own, mine);
  tsr_status status = meet_blocks(plan, &pairing->target.items[to], &pairing->source.items[from],
                                  coords, own < 0 ? NULL : mine, &p);
  if (!status) status = add_product(&p, list);
  for (int d = 0; d < p.rank; d++) tsr_overlaps_deinit(&p.dims[d]);
  return status;
}

static tsr_status pair_listed(tsr_pairing *pairing, int64_t to_shard, int64_t from_shard,
                              int64_t own, const product *start, tsr_copy_list *list) {
  TSR_TRY(tsr_pairing_target(pairing, to_shard));
  TSR_TRY(tsr_pairing_source(pairing, from_shard));
  const int64_t first = list->count;
  for (int64_t b = 0; b < pairing->source.count; b++) {
    if (!is_given(pairing, b, own)) continue;
    for (int64_t a = 0; a < pairing->target.count; a++)
      TSR_TRY(pair_blocks(pairing, own, a, b, start, list));
  }
  tsr_copy_list_tidy(list, first);
  return NULL;
}

tsr_status tsr_pairing_copies(tsr_pairing *pairing, int64_t target, int64_t source,
                              tsr_copy_list *list) {
  const tsr_copy_plan *plan = pairing->plan;
  const int64_t own = tsr_source_own(plan, target);
  const int64_t own_shard = own < 0 ? -1 : tsr_layout_shard(plan->from, own);
  const int64_t to_shard = tsr_layout_shard(plan->to, target);
  const int64_t from_shard = tsr_layout_shard(plan->from, source);
  product p = {.rank = plan->to->rank,
               .source = tsr_layout_device_at(plan->from, source),
               .target = tsr_layout_device_at(plan->to, target)};
  return pairing->meets ? pair_grids(pairing, to_shard, from_shard, own_shard, &p, list)
                        : pair_listed(pairing, to_shard, from_shard, own_shard, &p, list);
}

static tsr_status share_grids(tsr_pairing *pairing, int64_t target, int64_t source,
                              int64_t *out_elements) {
  const tsr_copy_plan *plan = pairing->plan;
  int64_t to[TSR_MAX_RANK], from[TSR_MAX_RANK];
  tsr_layout_shard_coords(plan->to, target, to);
  tsr_layout_shard_coords(plan->from, source, from);
  *out_elements = 1;
  for (int d = 0; d<plan->to->rank && * out_elements> 0; d++) {
    const tsr_overlaps *overlaps = NULL;
    TSR_TRY(tsr_meets_find(&pairing->meets[d], to[d], from[d], from[d], &overlaps));
    *out_elements *= tsr_overlaps_elements(overlaps);
  }
  return NULL;
}

tsr_status tsr_pairing_shared(tsr_pairing *pairing, int64_t target, int64_t source,
                              int64_t *out_elements) {
  if (pairing->meets) return share_grids(pairing, target, source, out_elements);
  const product p = {.rank = pairing->plan->to->rank};
  tsr_copy_list list = TSR_COPY_LIST_EMPTY;
  tsr_status status = pair_listed(pairing, target, source, source, &p, &list);
  tsr_copy copy;
  *out_elements = 0;
  for (int64_t i = 0; i < list.count && !status; i++) {
    tsr_copy_list_get(&list, i, &copy);
    *out_elements += tsr_copy_elements(&copy);
  }
  tsr_copy_list_deinit(&list);
  return status;
}
