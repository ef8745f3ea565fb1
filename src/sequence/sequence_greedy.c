// Shardy's order: slice, permute, all-to-all, all-gather, at most twice.
//
// For every dimension, `in` are the axes that must leave its end and `out` those that must arrive;
// a common prefix stays. Steps remove axes from these lists until all are empty. Axes are split
// where only a sub-axis fits. The decisions are those of sdy-reshard-to-collectives, which
// considers one step at a time and never its cost; tests/peers compares with it. Partial results
// are reduced before and created after, as in Shardy's explicit reshards.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "sequence/sequence.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/status.h"

typedef struct axis_list {
  int count;
  tsr_sub_axis items[TSR_MAX_SUB_AXES];
} axis_list;

typedef struct dim_state {
  axis_list in, out, current;
  axis_list slices;  // of this round
  axis_list came;    // `out` before a permute
  axis_list aside;   // removed by a permute, without destination
  int64_t capacity;
} dim_state;

typedef struct greedy {
  const tsr_change_job *job;
  tsr_route *route;
  int rank;
  bool broken;  // a permute would change sizes, which it cannot
  axis_list unreduced;
  dim_state *dims;  // owned
} greedy;

// ---- lists ----

static void list_insert(axis_list *list, int at, tsr_sub_axis sub_axis) {
  memmove(list->items + at + 1, list->items + at, sizeof *list->items * (size_t)(list->count - at));
  list->items[at] = sub_axis;
  list->count++;
}

static void list_append(axis_list *list, tsr_sub_axis sub_axis) {
  list_insert(list, list->count, sub_axis);
}

static void list_erase(axis_list *list, int at) {
  list->count--;
  memmove(list->items + at, list->items + at + 1, sizeof *list->items * (size_t)(list->count - at));
}

static int list_find(const axis_list *list, const tsr_sub_axis *sub_axis) {
  for (int i = 0; i < list->count; i++)
    if (tsr_sub_axis_equal(&list->items[i], sub_axis)) return i;
  return -1;
}

static int64_t list_size(const axis_list *list) {
  int64_t size = 1;
  for (int i = 0; i < list->count; i++) size *= list->items[i].size;
  return size;
}

static bool divisible(int64_t a, int64_t b) { return a % b == 0 || b % a == 0; }

// Splits the sub-axes of a list at a boundary of an axis (a product of sizes from the front).
static void list_cut(axis_list *list, int axis, int64_t mark) {
  for (int i = 0; i < list->count; i++) {
    const tsr_sub_axis sub_axis = list->items[i];
    if (sub_axis.axis != axis || sub_axis.pre >= mark || mark >= sub_axis.pre * sub_axis.size)
      continue;
    if (mark % sub_axis.pre || sub_axis.pre * sub_axis.size % mark) continue;
    list->items[i].size = mark / sub_axis.pre;
    list_insert(list, i + 1, (tsr_sub_axis){axis, mark, sub_axis.pre * sub_axis.size / mark});
  }
}

// The dimension that needs an axis, and its index in that dimension's `out`.
static int out_dim(const greedy *g, const tsr_sub_axis *sub_axis, int *out_index) {
  for (int d = 0; d < g->rank; d++) {
    const int index = list_find(&g->dims[d].out, sub_axis);
    if (index < 0) continue;
    if (out_index) *out_index = index;
    return d;
  }
  return -1;
}

static bool must_go(const greedy *g, const tsr_sub_axis *sub_axis) {
  for (int d = 0; d < g->rank; d++)
    if (list_find(&g->dims[d].in, sub_axis) >= 0) return true;
  return false;
}

// ---- steps ----

static void drop_last(axis_list *current, const tsr_sub_axis *sub_axis) {
  tsr_sub_axis *last = &current->items[current->count - 1];
  if (tsr_sub_axis_equal(last, sub_axis))
    current->count--;
  else if (sub_axis->size > 0)
    last->size /= sub_axis->size;  // it was joined with the axis before it
}

static void join_current(axis_list *current, tsr_sub_axis sub_axis) {
  list_append(current, sub_axis);
  current->count = tsr_sub_axes_join(current->items, current->count);
}

static void spread_now(const greedy *g, tsr_spread *out) {
  *out = (tsr_spread){.rank = g->rank};
  for (int d = 0; d < g->rank; d++)
    tsr_spread_add(out, d, g->dims[d].current.items, g->dims[d].current.count);
  tsr_sub_axis set[TSR_MAX_SUB_AXES];
  tsr_spread_add(out, g->rank, set,
                 tsr_sub_axes_normal_set(g->unreduced.items, g->unreduced.count, set));
}

static tsr_status add_step(greedy *g, tsr_step_kind kind, int split, int concat,
                           const axis_list *axes) {
  tsr_sequence_move move = {.kind = kind, .split_dim = split, .concat_dim = concat};
  memcpy(move.axes, axes->items, sizeof *axes->items * (size_t)axes->count);
  move.axis_count = tsr_sub_axes_join(move.axes, axes->count);
  spread_now(g, &move.after);
  return tsr_route_add(g->route, &move);
}

// ---- capacity ----

// The sub-axis that fits a capacity, which it uses up; false if none does. `out_rest` has size 0 if
// nothing is left over.
static bool fit(tsr_sub_axis sub_axis, int64_t *capacity, tsr_sub_axis *out_fits,
                tsr_sub_axis *out_rest) {
  if (*capacity <= 1 || !divisible(sub_axis.size, *capacity)) return false;
  *out_fits = sub_axis;
  *out_rest = (tsr_sub_axis){0};
  if (*capacity >= sub_axis.size) {
    *capacity /= sub_axis.size;
    return true;
  }
  out_fits->size = *capacity;
  *out_rest = (tsr_sub_axis){sub_axis.axis, sub_axis.pre * *capacity, sub_axis.size / *capacity};
  *capacity = 1;
  return true;
}

// Splits the `out` lists like an axis that was split.
static void cut_outs(greedy *g, const tsr_sub_axis *piece) {
  for (int d = 0; d < g->rank; d++)
    list_cut(&g->dims[d].out, piece->axis, piece->pre * piece->size);
}

// Moves axes of `available` to the dimension while it has capacity: to the end of its `in`, or to
// the front in order.
static void place(greedy *g, int dim, axis_list *available, bool front, axis_list *placed) {
  dim_state *state = &g->dims[dim];
  int at = front ? 0 : state->in.count;
  for (int i = 0; i < available->count && state->capacity > 1;) {
    tsr_sub_axis fits, rest;
    if (!fit(available->items[i], &state->capacity, &fits, &rest)) {
      i++;
      continue;
    }
    list_erase(available, i);
    list_insert(&state->in, at++, fits);
    if (placed) list_append(placed, fits);
    if (!rest.size) continue;
    list_insert(available, 0, rest);
    i++;
    cut_outs(g, &fits);
  }
}

// ---- 1: slices ----

// Axes that must follow the last axis of this dimension in another dimension, and that no dimension
// has yet: sliced here, they move there together. Returns their number, from `*out_first` of that
// dimension's `out`.
static int along_with(greedy *g, int dim, int *out_target, int *out_first) {
  const axis_list *in = &g->dims[dim].in;
  if (!in->count || g->dims[dim].out.count) return 0;
  int index = 0;
  const int target = out_dim(g, &in->items[in->count - 1], &index);
  if (target < 0 || g->dims[target].in.count) return 0;
  const axis_list *out = &g->dims[target].out;
  const int first = index + 1;
  if (first == out->count || must_go(g, &out->items[first])) return 0;
  int common = 0;
  int64_t common_size = 1, added = 1;
  while (common < in->count && common < first &&
         tsr_sub_axis_equal(&in->items[in->count - 1 - common], &out->items[first - 1 - common]))
    common_size *= in->items[in->count - 1 - common++].size;
  for (int i = 0; i < in->count - common; i++)
    if (list_find(out, &in->items[i]) >= 0) return 0;
  int count = 0;
  while (first + count < out->count && !must_go(g, &out->items[first + count]))
    added *= out->items[first + count++].size;
  const int64_t shards = list_size(&g->dims[dim].current) * added;
  if (g->job->shape.dims[dim] % shards) return 0;
  g->dims[target].capacity /= common_size * added;
  *out_target = target;
  *out_first = first;
  return count;
}

static void slice_along(greedy *g, int dim) {
  int target, first;
  const int count = along_with(g, dim, &target, &first);
  for (int i = 0; i < count; i++) {
    const tsr_sub_axis sub_axis = g->dims[target].out.items[first + i];
    list_append(&g->dims[dim].in, sub_axis);
    list_append(&g->dims[dim].slices, sub_axis);
  }
}

// Axes that must arrive here and that no dimension has.
static void slice_own(greedy *g, int dim, axis_list *left) {
  dim_state *state = &g->dims[dim];
  for (int i = 0; i < state->out.count;) {
    tsr_sub_axis fits, rest;
    const tsr_sub_axis sub_axis = state->out.items[i];
    if (must_go(g, &sub_axis)) {
      i++;
      continue;
    }
    if (!fit(sub_axis, &state->capacity, &fits, &rest)) {
      list_append(left, sub_axis);
      i++;
      continue;
    }
    list_append(&state->slices, fits);
    list_erase(&state->out, i);
    if (state->in.count || i > 0) {
      list_append(&state->in, fits);
      list_insert(&state->out, i++, fits);
    }
    if (!rest.size) continue;
    list_insert(&state->out, i, rest);
    list_append(left, rest);
    i++;
  }
}

static tsr_status try_slices(greedy *g) {
  axis_list left = {0};
  for (int d = 0; d < g->rank; d++) {
    const int64_t out = list_size(&g->dims[d].out);
    g->dims[d].capacity = out / tsr_gcd(list_size(&g->dims[d].in), out);
    g->dims[d].slices.count = 0;
  }
  for (int d = 0; d < g->rank; d++) slice_along(g, d);
  for (int d = 0; d < g->rank; d++) slice_own(g, d, &left);
  for (int d = 0; d < g->rank; d++) place(g, d, &left, false, &g->dims[d].slices);
  for (int d = 0; d < g->rank; d++) {
    const axis_list *slices = &g->dims[d].slices;
    for (int i = 0; i < slices->count; i++) join_current(&g->dims[d].current, slices->items[i]);
    if (slices->count) TSR_TRY(add_step(g, TSR_STEP_SLICE, d, -1, slices));
  }
  return NULL;
}

// ---- 2: permute ----

// Whether axes of one dimension with one destination are apart or out of order, or precede one that
// is only gathered. Reports an axis without destination.
static bool out_of_order(const greedy *g, int dim, tsr_sub_axis *unwanted) {
  const dim_state *state = &g->dims[dim];
  uint64_t seen = 0;
  int last = -1, last_index = 0;
  for (int i = 0; i < state->in.count; i++) {
    int index = 0;
    const int target = out_dim(g, &state->in.items[i], &index);
    if (target >= 0) {
      if ((target == dim || seen >> target & 1) && (last != target || index != last_index + 1))
        return true;
      seen |= UINT64_C(1) << target;
      last_index = index;
    } else if (last >= 0 && !state->out.count) {
      return true;
    } else {
      *unwanted = state->in.items[i];
    }
    last = target;
  }
  return false;
}

static bool should_permute(const greedy *g) {
  tsr_sub_axis unwanted = {0}, missing = {0};
  for (int d = 0; d < g->rank; d++) {
    const dim_state *state = &g->dims[d];
    if (state->in.count && state->out.count &&
        divisible(state->in.items[0].size, state->out.items[0].size))
      return true;
    for (int i = 0; i < state->out.count; i++)
      if (!must_go(g, &state->out.items[i])) missing = state->out.items[i];
    if (out_of_order(g, d, &unwanted)) return true;
  }
  return unwanted.size && missing.size && divisible(unwanted.size, missing.size);
}

static bool came_to(const greedy *g, const tsr_sub_axis *sub_axis) {
  for (int d = 0; d < g->rank; d++)
    if (list_find(&g->dims[d].came, sub_axis) >= 0) return true;
  return false;
}

// Places the axes that must arrive at a dimension, up to its old size. Axes that were there and
// have no destination are set aside, the last ones first.
static void refill(greedy *g, int dim, axis_list *loose) {
  dim_state *state = &g->dims[dim];
  tsr_sub_axis fits, rest;
  state->capacity = list_size(&state->in);
  int64_t used = state->capacity;
  for (int i = state->in.count; i-- > 0;) drop_last(&state->current, &state->in.items[i]);
  while (state->capacity > 1 && state->out.count &&
         fit(state->out.items[0], &state->capacity, &fits, &rest)) {
    list_erase(&state->out, 0);
    join_current(&state->current, fits);
    if (rest.size) list_insert(&state->out, 0, rest);
  }
  for (int i = 0; i < state->out.count; i++) list_append(loose, state->out.items[i]);
  used /= state->capacity;
  axis_list behind = state->in, *aside = &state->aside;
  state->in.count = 0;
  for (int i = behind.count; i-- > 0;)
    if (came_to(g, &behind.items[i])) list_erase(&behind, i);
  aside->count = 0;
  while (used > 1 && behind.count && fit(behind.items[0], &used, &fits, &rest)) {
    list_erase(&behind, 0);
    list_append(aside, fits);
    if (rest.size) list_insert(&behind, 0, rest);
  }
  for (int i = behind.count; i-- > 0;) list_insert(aside, 0, behind.items[i]);
}

// The sub-axes along which buffers move.
static tsr_status moved_sub_axes(greedy *g, const tsr_spread *before, axis_list *out) {
  tsr_space space;
  tsr_spread after;
  spread_now(g, &after);
  for (int d = 0; d < g->rank; d++)
    if (tsr_spread_shards(before, d) != tsr_spread_shards(&after, d)) g->broken = true;
  TSR_TRY(tsr_space_init(&space, g->job->mesh, before, &after, &g->job->shape, 0, 0));
  const uint64_t moved = tsr_space_moved(&space, &space.from, &space.to);
  for (int a = 0; a < space.atom_count; a++)
    if (moved >> a & 1) list_append(out, space.atoms[a]);
  return NULL;
}

static tsr_status permute(greedy *g) {
  tsr_spread before;
  axis_list loose = {0}, rest = {0}, moved = {0};
  spread_now(g, &before);
  for (int d = 0; d < g->rank; d++) g->dims[d].came = g->dims[d].out;
  for (int d = 0; d < g->rank; d++) refill(g, d, &loose);
  for (int d = 0; d < g->rank; d++) place(g, d, &loose, false, NULL);
  for (int d = 0; d < g->rank; d++) place(g, d, &g->dims[d].aside, true, NULL);
  for (int d = 0; d < g->rank; d++)
    for (int i = 0; i < g->dims[d].aside.count; i++) list_append(&rest, g->dims[d].aside.items[i]);
  for (int d = 0; d < g->rank; d++) place(g, d, &rest, true, NULL);
  for (int d = 0; d < g->rank; d++)
    for (int i = 0; i < g->dims[d].in.count; i++)
      join_current(&g->dims[d].current, g->dims[d].in.items[i]);
  TSR_TRY(moved_sub_axes(g, &before, &moved));
  return moved.count ? add_step(g, TSR_STEP_PERMUTE, -1, -1, &moved) : NULL;
}

// ---- 3: all-to-all ----

// The longest suffix of a dimension whose axes all go to one other dimension: its length and that
// dimension.
static int leaving(const greedy *g, int dim, bool in_order, int *out_target) {
  const axis_list *in = &g->dims[dim].in;
  int count = 0, target = -1;
  while (count < in->count) {
    const int next = out_dim(g, &in->items[in->count - 1 - count], NULL);
    if (next < 0 || next == dim || (target >= 0 && next != target)) break;
    target = next;
    count++;
  }
  if (!count) return 0;
  const axis_list *out = &g->dims[target].out;
  for (int i = 0; in_order && i < count; i++)
    if (i >= out->count || !tsr_sub_axis_equal(&in->items[in->count - count + i], &out->items[i]))
      return 0;
  *out_target = target;
  return count;
}

static tsr_status exchange(greedy *g, int dim, int target, int count) {
  dim_state *from = &g->dims[dim], *to = &g->dims[target];
  axis_list moved = {0};
  for (int i = from->in.count - count; i < from->in.count; i++)
    list_append(&moved, from->in.items[i]);
  for (int i = count; i-- > 0;) drop_last(&from->current, &moved.items[i]);
  from->in.count -= count;
  for (int i = 0; i < count; i++) {
    join_current(&to->current, moved.items[i]);
    if (!to->in.count && tsr_sub_axis_equal(&to->out.items[0], &moved.items[i]))
      list_erase(&to->out, 0);
    else
      list_append(&to->in, moved.items[i]);
  }
  return add_step(g, TSR_STEP_ALL_TO_ALL, target, dim, &moved);
}

static tsr_status try_exchanges(greedy *g, bool in_order) {
  for (int d = 0; d < g->rank; d++) {
    int target = -1;
    for (int count; (count = leaving(g, d, in_order, &target)) > 0;)
      TSR_TRY(exchange(g, d, target, count));
  }
  return NULL;
}

// ---- 4: all-gather ----

static tsr_status try_gathers(greedy *g) {
  for (int d = 0; d < g->rank; d++) {
    dim_state *state = &g->dims[d];
    axis_list gathered = {0};
    while (state->in.count && out_dim(g, &state->in.items[state->in.count - 1], NULL) < 0) {
      const tsr_sub_axis sub_axis = state->in.items[--state->in.count];
      list_insert(&gathered, 0, sub_axis);
      drop_last(&state->current, &sub_axis);
    }
    if (gathered.count) TSR_TRY(add_step(g, TSR_STEP_ALL_GATHER, -1, d, &gathered));
  }
  return NULL;
}

// ---- the order ----

static void cut_like(axis_list *list, const axis_list *other) {
  for (int i = 0; i < other->count; i++) {
    list_cut(list, other->items[i].axis, other->items[i].pre);
    list_cut(list, other->items[i].axis, other->items[i].pre * other->items[i].size);
  }
}

static void list_read(axis_list *list, const tsr_spread *spread, int from) {
  list->count = spread->first[from + 1] - spread->first[from];
  memcpy(list->items, spread->sub_axes + spread->first[from],
         sizeof *list->items * (size_t)list->count);
}

// Splits all lists so that sub-axes of both sides are equal or disjoint, and removes common
// prefixes.
static void line_up(greedy *g) {
  for (int d = 0; d < g->rank; d++)
    for (int e = 0; e < g->rank; e++) {
      cut_like(&g->dims[d].in, &g->dims[e].out);
      cut_like(&g->dims[d].out, &g->dims[e].in);
    }
  for (int d = 0; d < g->rank; d++) {
    axis_list *in = &g->dims[d].in, *out = &g->dims[d].out;
    while (in->count && out->count && tsr_sub_axis_equal(&in->items[0], &out->items[0])) {
      list_erase(in, 0);
      list_erase(out, 0);
    }
  }
}

static bool is_done(const greedy *g) {
  for (int d = 0; d < g->rank; d++)
    if (g->dims[d].in.count || g->dims[d].out.count) return false;
  return true;
}

// Members of `set` that are not in `other`, both split alike.
static axis_list only_in(axis_list set, axis_list other) {
  const axis_list given = set;
  cut_like(&set, &other);
  cut_like(&other, &given);
  for (int i = set.count; i-- > 0;)
    if (list_find(&other, &set.items[i]) >= 0) list_erase(&set, i);
  return set;
}

static tsr_status change_partials(greedy *g, tsr_step_kind kind, const axis_list *axes) {
  if (!axes->count) return NULL;
  if (kind == TSR_STEP_REDUCE)
    g->unreduced = only_in(g->unreduced, *axes);
  else
    for (int i = 0; i < axes->count; i++) list_append(&g->unreduced, axes->items[i]);
  return add_step(g, kind, -1, -1, axes);
}

static tsr_status walk(greedy *g) {
  axis_list wanted;
  list_read(&g->unreduced, &g->job->from, g->rank);
  list_read(&wanted, &g->job->to, g->rank);
  const axis_list gone = only_in(g->unreduced, wanted), come = only_in(wanted, g->unreduced);
  TSR_TRY(change_partials(g, TSR_STEP_REDUCE, &gone));
  for (int round = 0; round < 2 && !g->broken && !is_done(g); round++) {
    TSR_TRY(try_slices(g));
    if (should_permute(g)) TSR_TRY(permute(g));
    TSR_TRY(try_exchanges(g, true));
    TSR_TRY(try_exchanges(g, false));
    TSR_TRY(try_gathers(g));
  }
  return change_partials(g, TSR_STEP_ZERO, &come);
}

tsr_status tsr_route_greedy(const tsr_change_job *job, tsr_route *out_route, bool *out_found) {
  const int rank = job->shape.rank;
  greedy g = {.job = job, .route = out_route, .rank = rank};
  g.dims = calloc((size_t)rank + 1, sizeof *g.dims);
  if (!g.dims) return tsr_fail(NO_MEMORY, "a sequence for rank %d", rank);
  for (int d = 0; d < rank; d++) {
    list_read(&g.dims[d].in, &job->from, d);
    list_read(&g.dims[d].out, &job->to, d);
    g.dims[d].current = g.dims[d].in;
  }
  line_up(&g);
  tsr_status status = walk(&g);
  *out_found = !status && !g.broken && is_done(&g);
  free(g.dims);
  return status;
}
