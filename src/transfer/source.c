// The device that gives an element, among those that hold it: a pure function of the plan, so that
// sender and receiver agree without communication.
//
// If replicas are indistinguishable (one process, no partial results), it is arithmetic and nothing
// is stored. Otherwise the source's positions are kept sorted, and the replicas of a shard in one
// process are a range of the list.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "spec/sharding.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "transfer/transfer.h"

// ---- locations of devices ----

static const tsr_device *find_in(const tsr_layout *layout, int64_t device) {
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  const tsr_topology *topology = mesh ? tsr_mesh_topology(mesh) : NULL;
  if (!topology || device < 0) return NULL;
  const int64_t at = tsr_topology_device_find(topology, device);
  return at < 0 ? NULL : &tsr_topology_devices(topology)[at];
}

static const tsr_device *find_device(const tsr_copy_plan *plan, int64_t device) {
  const tsr_device *found = find_in(plan->from, device);
  return found ? found : find_in(plan->to, device);
}

int64_t tsr_source_process(const tsr_copy_plan *plan, int64_t device) {
  const tsr_device *found = find_device(plan, device);
  return found ? found->process : 0;
}

#define NOT_NEAR INT64_MIN

// Devices with equal nearness are on one torus, which is faster than the network.
static int64_t nearness(const tsr_copy_plan *plan, int64_t device) {
  const tsr_device *found = find_device(plan, device);
  return found && found->has_coords ? found->slice : NOT_NEAR;
}

// ---- partial results ----

static const char *axis_name(const tsr_layout *layout, int axis) {
  return tsr_mesh_axis_at(tsr_layout_mesh(layout), axis)->name;
}

static void print_unreduced(const tsr_layout *layout, tsr_text *out) {
  int count = 0;
  const tsr_sub_axis *axes = tsr_layout_unreduced(layout, &count);
  tsr_text_add(out, count ? "unreduced over " : "reduced");
  for (int i = 0; i < count; i++)
    tsr_text_addf(out, "%s%s=%lld", i ? ", " : "", axis_name(layout, axes[i].axis),
                  (long long)axes[i].size);
}

static bool same_axis(const tsr_copy_plan *plan, const tsr_sub_axis *a, const tsr_sub_axis *b) {
  const char *left = axis_name(plan->from, a->axis), *right = axis_name(plan->to, b->axis);
  return !strcmp(left, right) && a->pre == b->pre && a->size == b->size;
}

static tsr_status check_unreduced(tsr_copy_plan *plan) {
  int from_count = 0, to_count = 0;
  const tsr_sub_axis *from = tsr_layout_unreduced(plan->from, &from_count);
  const tsr_sub_axis *to = tsr_layout_unreduced(plan->to, &to_count);
  bool same = from_count == to_count;
  for (int i = 0; i < from_count && same; i++) same = same_axis(plan, &from[i], &to[i]);
  plan->terms = tsr_layout_term_count(plan->from);
  if (same) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "the source is ");
  print_unreduced(plan->from, &text);
  tsr_text_add(&text, " and the target is ");
  print_unreduced(plan->to, &text);
  tsr_text_add(&text, "; copies cannot reduce, so both must be the same");
  return tsr_fail_text(TSR_CAUSE_UNREDUCED_DIFFERS, &text);
}

// ---- sorted positions ----

typedef struct keyed {
  int64_t group;
  int64_t key;
  int32_t position;
} keyed;

static int by_group(const void *left, const void *right) {
  const keyed *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->position > b->position) - (a->position < b->position);
}

int64_t tsr_source_group(const tsr_copy_plan *plan, int64_t source) {
  return tsr_layout_shard(plan->from, source) * plan->terms + tsr_layout_term(plan->from, source);
}

static int64_t key_of(const tsr_copy_plan *plan, bool near, int64_t device) {
  return near ? nearness(plan, device) : tsr_source_process(plan, device);
}

static tsr_status sort_positions(const tsr_copy_plan *plan, bool near, int32_t **out_positions) {
  const int64_t count = tsr_layout_device_count(plan->from);
  keyed *items = malloc(sizeof *items * (size_t)count);
  int32_t *positions = malloc(sizeof *positions * (size_t)count);
  if (!items || !positions) {
    free(items);
    free(positions);
    return tsr_fail(NO_MEMORY, "an order of %lld devices", (long long)count);
  }
  for (int32_t p = 0; p < count; p++)
    items[p] = (keyed){tsr_source_group(plan, p),
                       key_of(plan, near, tsr_layout_device_at(plan->from, p)), p};
  qsort(items, (size_t)count, sizeof *items, by_group);
  for (int64_t i = 0; i < count; i++) positions[i] = items[i].position;
  free(items);
  *out_positions = positions;
  return NULL;
}

static bool has_topology(const tsr_layout *layout) {
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  return mesh && tsr_mesh_topology(mesh);
}

bool tsr_source_has_topology(const tsr_copy_plan *plan) {
  return has_topology(plan->from) || has_topology(plan->to);
}

// Whether the source's devices differ in process, or in nearness.
static bool differ(const tsr_copy_plan *plan, bool near) {
  if (!tsr_source_has_topology(plan)) return false;
  const int64_t count = tsr_layout_device_count(plan->from);
  const int64_t first = key_of(plan, near, tsr_layout_device_at(plan->from, 0));
  for (int64_t p = 1; p < count; p++)
    if (key_of(plan, near, tsr_layout_device_at(plan->from, p)) != first) return true;
  return false;
}

tsr_status tsr_source_prepare(tsr_copy_plan *plan) {
  TSR_TRY(check_unreduced(plan));
  if (tsr_layout_replica_count(plan->from) == 1) return NULL;
  if (plan->terms == 1 && !tsr_source_has_topology(plan)) return NULL;
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(plan->from), "devices"));
  if (plan->terms > 1 || differ(plan, false))
    TSR_TRY(sort_positions(plan, false, &plan->by_process));
  if (differ(plan, true)) TSR_TRY(sort_positions(plan, true, &plan->by_near));
  return NULL;
}

// ---- choosing a source ----

// The first of `count` positions in a group with a key of at least `key`.
static int64_t first_with(const tsr_copy_plan *plan, bool near, const int32_t *positions,
                          int64_t count, int64_t key) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int64_t device = tsr_layout_device_at(plan->from, positions[middle]);
    if (key_of(plan, near, device) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// For numbers below `modulus`, which may be near 2^63.
static int64_t add_modulo(int64_t a, int64_t b, int64_t modulus) {
  return a < modulus - b ? a + b : a - (modulus - b);
}

// Number (target's replica + target's shard + tensor) modulo `count`.
static int64_t turn_of(const tsr_copy_plan *plan, int64_t target, int64_t count) {
  const int64_t shard = tsr_layout_shard(plan->to, target);
  const int64_t replica = tsr_layout_replica_id(plan->to, target);
  return add_modulo(add_modulo(replica % count, shard % count, count), plan->tensor % count, count);
}

// The member of a group with the same key as the target, by rotation; -1 if there is none.
static int64_t choose(const tsr_copy_plan *plan, bool near, const int32_t *positions, int64_t count,
                      int64_t target) {
  const int64_t key = key_of(plan, near, tsr_layout_device_at(plan->to, target));
  if (near && key == NOT_NEAR) return -1;
  const int64_t first = first_with(plan, near, positions, count, key);
  const int64_t end = first_with(plan, near, positions, count, key + 1);
  return first == end ? -1 : positions[first + turn_of(plan, target, end - first)];
}

// Same process first, then same torus, then all, each by rotation in order of process.
static int64_t choose_sorted(const tsr_copy_plan *plan, int64_t target, int64_t group) {
  const int64_t count = tsr_layout_replica_count(plan->from) / plan->terms;
  int64_t found = -1;
  if (plan->by_process)
    found = choose(plan, false, plan->by_process + group * count, count, target);
  if (found < 0 && plan->by_near)
    found = choose(plan, true, plan->by_near + group * count, count, target);
  if (found >= 0) return found;
  const int32_t *all = plan->by_process ? plan->by_process : plan->by_near;
  return all[group * count + turn_of(plan, target, count)];
}

int64_t tsr_source_own(const tsr_copy_plan *plan, int64_t target) {
  const int64_t own = tsr_layout_device_find(plan->from, tsr_layout_device_at(plan->to, target));
  if (own < 0 || plan->terms == 1) return own;
  return tsr_layout_term(plan->from, own) == tsr_layout_term(plan->to, target) ? own : -1;
}

int64_t tsr_source_of(const tsr_copy_plan *plan, int64_t target, int64_t shard) {
  const int64_t own = tsr_source_own(plan, target);
  if (own >= 0 && tsr_layout_shard(plan->from, own) == shard) return own;
  if (plan->by_process || plan->by_near)
    return choose_sorted(plan, target, shard * plan->terms + tsr_layout_term(plan->to, target));
  const int64_t count = tsr_layout_replica_count(plan->from);
  return tsr_layout_replica_at(plan->from, shard, turn_of(plan, target, count));
}

// Without a list, a source replica serves every count-th replica of the target.
tsr_status tsr_source_takers(const tsr_copy_plan *plan, int64_t source, int64_t shard,
                             tsr_numbers *list) {
  const int64_t replicas = tsr_layout_replica_count(plan->to);
  const int64_t count = tsr_layout_replica_count(plan->from);
  int64_t first = 0, step = 1;
  if (!plan->by_process && !plan->by_near) {
    const int64_t others = add_modulo(shard % count, plan->tensor % count, count);
    first = add_modulo(tsr_layout_replica_id(plan->from, source), (count - others) % count, count);
    step = count;
  }
  for (int64_t r = first; r < replicas; r += step)
    TSR_TRY(tsr_numbers_add(list, tsr_layout_replica_at(plan->to, shard, r)));
  return NULL;
}
