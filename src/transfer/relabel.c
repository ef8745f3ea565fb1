// Relabelling: permutes the devices of a layout so that the fewest bytes move.
//
// Positions with the same shard are equivalent, and so are devices with the same source shard. So
// classes are assigned to classes, and an edge weighs what a device of one keeps at a position of
// the other. From the flows between classes, positions get their devices: the present one if
// possible.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "base/sized.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "transfer/assign.h"
#include "transfer/pair.h"
#include "transfer/relabel.h"
#include "transfer/transfer_internal.h"

enum {
  UNASSIGNED = -1,
  MOST_EDGES = 1 << 22,
  FEWEST_EDGES = 16,    // of a class
  MOST_STEPS = 1 << 30  // of the search
};

typedef struct relabel_problem {
  const tsr_copy_plan *plan;
  int64_t devices;
  int64_t *left;   // position -> class: its shard * terms + its term
  int64_t *right;  // the device there now -> class: its source group, or UNASSIGNED's
  int64_t *supply, *room;
  int64_t *taken_by;  // device (by position now) -> new position
  int64_t *goes_to;   // position -> device (by position now)
  tsr_assign_edge *edges;
  int64_t edge_count, edge_capacity;
  int64_t most_edges;  // of all classes, then of each; the heaviest are kept
  bool dropped;        // some were not
  int64_t bound;       // what would be kept if every position had its heaviest edge
} relabel_problem;

static tsr_status alloc(relabel_problem *r, int64_t lefts, int64_t rights) {
  const size_t devices = (size_t)r->devices;
  int64_t *words = calloc(4 * devices + (size_t)lefts + (size_t)rights, sizeof *words);
  if (!words) return tsr_fail(NO_MEMORY, "a relabelling of %lld devices", (long long)r->devices);
  r->left = words;
  r->right = words + devices;
  r->taken_by = words + 2 * devices;
  r->goes_to = words + 3 * devices;
  r->supply = words + 4 * devices;
  r->room = r->supply + lefts;
  return NULL;
}

static void free_all(relabel_problem *r) {
  free(r->left);
  free(r->edges);
}

static void find_classes(relabel_problem *r) {
  const tsr_copy_plan *plan = r->plan;
  for (int64_t p = 0; p < r->devices; p++) {
    const int64_t held = tsr_layout_device_find(plan->from, tsr_layout_device_at(plan->to, p));
    r->left[p] = tsr_layout_shard(plan->to, p) * plan->terms + tsr_layout_term(plan->to, p);
    r->right[p] = held < 0 ? UNASSIGNED : tsr_source_group(plan, held);
    r->supply[r->left[p]]++;
    if (held >= 0) r->room[r->right[p]]++;
    r->taken_by[p] = r->goes_to[p] = UNASSIGNED;
  }
}

// ---- edges ----

static tsr_status add_edge(relabel_problem *r, int64_t left, int64_t right, int64_t weight) {
  tsr_assign_edge *edges = tsr_grow(r->edges, r->edge_count, &r->edge_capacity, sizeof *edges);
  if (!edges) return tsr_fail(NO_MEMORY, "%lld pairs of shards", (long long)r->edge_count);
  r->edges = edges;
  edges[r->edge_count++] = (tsr_assign_edge){left, right, weight, 0};
  return NULL;
}

static tsr_status add_edges(relabel_problem *r, tsr_pairing *pairing, int64_t to_shard,
                            const tsr_numbers *shards) {
  const int64_t terms = r->plan->terms;
  for (int64_t term = 0; term < terms; term++)
    for (int64_t i = 0; i < shards->count; i++) {
      const int64_t right = shards->items[i] * terms + term;
      int64_t shared = 0;
      if (r->room[right] == 0) continue;
      TSR_TRY(tsr_pairing_shared(pairing, to_shard, shards->items[i], &shared));
      if (shared > 0) TSR_TRY(add_edge(r, to_shard * terms + term, right, shared));
    }
  return NULL;
}

static int by_weight(const void *left, const void *right) {
  const tsr_assign_edge *a = left, *b = right;
  if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
  return (a->right > b->right) - (a->right < b->right);
}

static int by_ends(const void *left, const void *right) {
  const tsr_assign_edge *a = left, *b = right;
  if (a->left != b->left) return a->left < b->left ? -1 : 1;
  return (a->right > b->right) - (a->right < b->right);
}

// Keeps the heaviest edges of each class from `first` on, sorted by their ends.
static void keep_heaviest(relabel_problem *r, int64_t first) {
  int64_t kept = first;
  for (int64_t start = first, end; start < r->edge_count; start = end) {
    for (end = start; end < r->edge_count && r->edges[end].left == r->edges[start].left;) end++;
    qsort(r->edges + start, (size_t)(end - start), sizeof *r->edges, by_weight);
    const int64_t supply = r->supply[r->edges[start].left];
    r->bound = tsr_saturated_add(r->bound, tsr_saturated_multiply(supply, r->edges[start].weight));
    const int64_t count = end - start < r->most_edges ? end - start : r->most_edges;
    r->dropped = r->dropped || count < end - start;
    memmove(r->edges + kept, r->edges + start, sizeof *r->edges * (size_t)count);
    qsort(r->edges + kept, (size_t)count, sizeof *r->edges, by_ends);
    kept += count;
  }
  r->edge_count = kept;
}

static tsr_status find_edges(relabel_problem *r) {
  const int64_t lefts = tsr_layout_shard_count(r->plan->to) * r->plan->terms;
  r->most_edges = r->most_edges / lefts < FEWEST_EDGES ? FEWEST_EDGES : r->most_edges / lefts;
  tsr_pairing pairing;
  tsr_numbers shards = TSR_NUMBERS_EMPTY;
  tsr_status status = tsr_pairing_init(&pairing, r->plan);
  for (int64_t t = 0; t < tsr_layout_shard_count(r->plan->to) && !status; t++) {
    const int64_t first = r->edge_count;
    shards.count = 0;
    status = tsr_pairing_target(&pairing, t);
    if (!status) status = tsr_reach_holders(r->plan, &pairing.target, &shards);
    if (!status) status = add_edges(r, &pairing, t, &shards);
    if (!status) keep_heaviest(r, first);
  }
  tsr_numbers_deinit(&shards);
  tsr_pairing_deinit(&pairing);
  return status;
}

// The edge between two classes; NULL if they share nothing.
static tsr_assign_edge *find_edge(const relabel_problem *r, int64_t left, int64_t right) {
  int64_t low = 0, high = r->edge_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const tsr_assign_edge *edge = &r->edges[middle];
    if (edge->left < left || (edge->left == left && edge->right < right))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == r->edge_count) return NULL;
  tsr_assign_edge *found = &r->edges[low];
  return found->left == left && found->right == right ? found : NULL;
}

// ---- devices of a class ----

static void settle(relabel_problem *r, int64_t position, int64_t device) {
  r->goes_to[position] = device;
  r->taken_by[device] = position;
}

// Devices that may stay do.
static void stay(relabel_problem *r) {
  for (int64_t p = 0; p < r->devices; p++) {
    tsr_assign_edge *edge = r->right[p] < 0 ? NULL : find_edge(r, r->left[p], r->right[p]);
    if (!edge || edge->flow == 0) continue;
    edge->flow--;
    settle(r, p, p);
  }
}

typedef struct class_member {
  int64_t class, index;
} class_member;

static int by_class(const void *left, const void *right) {
  const class_member *a = left, *b = right;
  if (a->class != b->class) return a->class < b->class ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

// The unassigned members of all classes, sorted.
static int64_t list_free(const int64_t *classes, const int64_t *settled, int64_t count,
                         class_member *out_members) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; i++)
    if (settled[i] == UNASSIGNED) out_members[found++] = (class_member){classes[i], i};
  qsort(out_members, (size_t)found, sizeof *out_members, by_class);
  return found;
}

// The start of each class in the list.
static void find_starts(const class_member *members, int64_t count, int64_t *out_starts) {
  for (int64_t i = count - 1; i >= 0; i--)
    if (members[i].class >= 0) out_starts[members[i].class] = i;
}

// The others go where their class goes. Supply and room are used up; they now index the members of
// their class.
static tsr_status move(relabel_problem *r) {
  class_member *places = malloc(2 * sizeof *places * (size_t)r->devices);
  if (!places) return tsr_fail(NO_MEMORY, "%lld devices", (long long)r->devices);
  class_member *movers = places + r->devices;
  find_starts(places, list_free(r->left, r->goes_to, r->devices, places), r->supply);
  find_starts(movers, list_free(r->right, r->taken_by, r->devices, movers), r->room);
  for (int64_t e = 0; e < r->edge_count; e++)
    for (tsr_assign_edge *edge = &r->edges[e]; edge->flow > 0; edge->flow--)
      settle(r, places[r->supply[edge->left]++].index, movers[r->room[edge->right]++].index);
  free(places);
  return NULL;
}

// Positions that keep nothing take the remaining devices, their present one if possible.
static void fill_up(relabel_problem *r) {
  for (int64_t p = 0; p < r->devices; p++)
    if (r->goes_to[p] == UNASSIGNED && r->taken_by[p] == UNASSIGNED) settle(r, p, p);
  for (int64_t p = 0, device = 0; p < r->devices; p++) {
    if (r->goes_to[p] != UNASSIGNED) continue;
    while (r->taken_by[device] != UNASSIGNED) device++;
    settle(r, p, device);
  }
}

// ---- entry points ----

static int64_t needed_by_all(const relabel_problem *r) {
  int64_t needed = 0;
  for (int64_t p = 0; p < r->devices; p++) {
    const int64_t shard = tsr_layout_shard(r->plan->to, p);
    needed = tsr_saturated_add(needed, tsr_layout_shard_elements(r->plan->to, shard));
  }
  return needed;
}

// Elements that devices keep at their new positions, or at the present ones.
static tsr_status count_kept(const relabel_problem *r, bool sent, int64_t *out_kept) {
  const int64_t terms = r->plan->terms;
  tsr_pairing pairing;
  tsr_status status = tsr_pairing_init(&pairing, r->plan);
  *out_kept = 0;
  for (int64_t p = 0; p < r->devices && !status; p++) {
    const int64_t right = r->right[sent ? r->goes_to[p] : p];
    int64_t kept = 0;
    if (right < 0 || right % terms != r->left[p] % terms) continue;
    status = tsr_pairing_shared(&pairing, r->left[p] / terms, right / terms, &kept);
    *out_kept = tsr_saturated_add(*out_kept, kept);
  }
  tsr_pairing_deinit(&pairing);
  return status;
}

static void stay_all(relabel_problem *r) {
  for (int64_t p = 0; p < r->devices; p++) settle(r, p, p);
}

static tsr_status assign(relabel_problem *r, int64_t *out_bound) {
  const tsr_assign_problem assignment = {
      .left_count = tsr_layout_shard_count(r->plan->to) * r->plan->terms,
      .right_count = tsr_layout_shard_count(r->plan->from) * r->plan->terms,
      .edge_count = r->edge_count,
      .supply = r->supply,
      .room = r->room,
      .edges = r->edges,
      .steps = MOST_STEPS};
  int64_t saved = 0;
  TSR_TRY(tsr_assign_solve(&assignment, &saved, out_bound));
  if (r->dropped) *out_bound = r->bound;
  stay(r);
  TSR_TRY(move(r));
  fill_up(r);
  return NULL;
}

static tsr_status solve(relabel_problem *r, int bits, tsr_relabelling *out) {
  int64_t bound = 0, before = 0, after = 0;
  TSR_TRY(assign(r, &bound));
  TSR_TRY(count_kept(r, false, &before));
  TSR_TRY(count_kept(r, true, &after));
  if (after <= before) {
    stay_all(r);
    after = before;
  }
  const int64_t needed = needed_by_all(r);
  out->bytes_before = tsr_bytes_of(needed - before, bits);
  out->bytes_after = tsr_bytes_of(needed - after, bits);
  out->bytes_bound = tsr_bytes_of(needed > bound ? needed - bound : 0, bits);
  return NULL;
}

static tsr_status name_devices(const relabel_problem *r, tsr_relabelling *out) {
  out->device_count = r->devices;
  out->devices = malloc(sizeof *out->devices * (size_t)r->devices);
  if (!out->devices) return tsr_fail(NO_MEMORY, "%lld devices", (long long)r->devices);
  for (int64_t p = 0; p < r->devices; p++)
    out->devices[p] = tsr_layout_device_at(r->plan->to, r->goes_to[p]);
  return NULL;
}

tsr_status tsr_relabel(const tsr_copy_plan *plan, tsr_dtype dtype,
                       tsr_relabelling *out_relabelling) {
  return tsr_relabel_within(plan, dtype, MOST_EDGES, out_relabelling);
}

tsr_status tsr_relabel_within(const tsr_copy_plan *plan, tsr_dtype dtype, int64_t most_edges,
                              tsr_relabelling *out_relabelling) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  TSR_TRY(tsr_sized_check(tsr_relabelling, out_relabelling));
  if (!info) return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  relabel_problem r = {
      .plan = plan, .devices = tsr_layout_device_count(plan->to), .most_edges = most_edges};
  tsr_relabelling found = {.devices = NULL};
  TSR_TRY(tsr_layout_check_listed(r.devices, "devices"));
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(plan->from), "devices"));
  tsr_status status = alloc(&r, tsr_layout_shard_count(plan->to) * plan->terms,
                            tsr_layout_shard_count(plan->from) * plan->terms);
  if (!status) find_classes(&r);
  if (!status) status = find_edges(&r);
  if (!status) status = solve(&r, info->bits, &found);
  if (!status) status = name_devices(&r, &found);
  if (!status) tsr_sized_fill(tsr_relabelling, &found, out_relabelling);
  free_all(&r);
  return status;
}

void tsr_relabelling_deinit(tsr_relabelling *relabelling) {
  if (!relabelling) return;
  free(relabelling->devices);
  relabelling->devices = NULL;
}
