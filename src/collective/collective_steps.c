// The search: slice, permute, move, gather, at most twice.
#include "collective/collective_steps.h"

#include <string.h>

#include "collective/steps_state.h"
#include "verify/sdy_checks.h"

enum { ROUNDS = 2, ROUNDS_MOST = 6 };

// ---- places ----

void tsr_search_places(tsr_step_search *s) {
  s->place_count = 0;
  for (int d = 0; d < s->rank; d++)
    for (int64_t i = 0; i < s->out[d].parts.count; i++) {
      if (tsr_search_place(s, &s->out[d].parts.items[i])) continue;
      tsr_axis_place *places =
          tsr_arena_grow(s->pool.arena, s->places, s->place_count, sizeof *places);
      if (!places) {
        s->pool.failed = true;
        return;
      }
      s->places = places;
      s->places[s->place_count++] = (tsr_axis_place){s->out[d].parts.items[i], d, i};
    }
}

const tsr_axis_place *tsr_search_place(const tsr_step_search *s, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < s->place_count; i++)
    if (tsr_sdy_same(&s->places[i].part, part)) return &s->places[i];
  return NULL;
}

void tsr_search_note(tsr_step_search *s, tsr_sdy_part part) {
  if (tsr_axes_find(&s->in_set, &part) < 0) tsr_axes_push(&s->pool, &s->in_set, part);
}

static void forget(tsr_step_search *s, const tsr_sdy_part *part) {
  const int64_t at = tsr_axes_find(&s->in_set, part);
  if (at >= 0) tsr_axes_remove(&s->in_set, at);
}

// ---- steps ----

static bool copy_list(tsr_axis_pool *pool, const tsr_axis_list *list, tsr_sdy_parts *out) {
  tsr_sdy_part *items = tsr_arena_zeros(pool->arena, (size_t)list->parts.count + 1, sizeof *items);
  if (!items) return false;
  if (list->parts.count)
    memcpy(items, list->parts.items, sizeof *items * (size_t)list->parts.count);
  *out = (tsr_sdy_parts){items, list->parts.count};
  return true;
}

static const tsr_tensor_sharding *current_sharding(tsr_step_search *s) {
  tsr_tensor_sharding *sharding =
      tsr_sharding_empty(s->pool.arena, s->mesh_ref, s->to->mesh, s->rank, true);
  tsr_dim_sharding *dims = tsr_arena_zeros(s->pool.arena, (size_t)s->rank + 1, sizeof *dims);
  if (!sharding || !dims) return NULL;
  for (int d = 0; d < s->rank; d++) {
    dims[d] = sharding->dims[d];
    if (!copy_list(&s->pool, &s->current[d], &dims[d].axes)) return NULL;
  }
  sharding->dims = dims;
  sharding->unreduced = s->to->unreduced;
  sharding->reduction = s->to->reduction;
  return sharding;
}

void tsr_search_add(tsr_step_search *s, tsr_op_id op, const tsr_axis_list *axes, int count,
                    int source, int target) {
  tsr_collective_step *step = tsr_arena_zeros(s->pool.arena, 1, sizeof *step);
  tsr_sdy_parts *copies = tsr_arena_zeros(s->pool.arena, (size_t)count + 1, sizeof *copies);
  const tsr_tensor_sharding *sharding = current_sharding(s);
  bool made = step && copies && sharding;
  for (int i = 0; made && i < count; i++) made = copy_list(&s->pool, &axes[i], &copies[i]);
  if (!made) {
    s->pool.failed = true;
    return;
  }
  *step = (tsr_collective_step){
      .op = op, .axes = copies, .source = source, .target = target, .sharding = sharding};
  *s->end = step;
  s->end = &step->next;
}

// ---- filling ----

// Splitting a part of `available` splits it in `out` too.
static void align_out(tsr_step_search *s, tsr_axis_list *splits) {
  if (!splits->parts.count) return;
  tsr_sdy_parts_sort(&splits->parts);
  for (int d = 0; d < s->rank; d++) tsr_axes_align(&s->pool, &s->out[d], &splits->parts);
}

static void fill_dim(tsr_step_search *s, int dim, tsr_axis_list *available, bool to_front,
                     bool slice, tsr_axis_list *splits) {
  tsr_axis_list *in = &s->in[dim];
  int64_t place = to_front ? 0 : in->parts.count;
  for (int64_t i = 0; i < available->parts.count && s->capacities[dim] > 1;) {
    tsr_sdy_part within, rest;
    if (!tsr_axis_fit(s->pool.mesh, &available->parts.items[i], &s->capacities[dim], &within,
                      &rest)) {
      i++;
      continue;
    }
    tsr_axes_remove(available, i);
    tsr_axes_insert(&s->pool, in, place++, within);
    if (s->pool.failed) return;
    tsr_search_note(s, within);
    if (slice) tsr_axes_join(&s->pool, &s->chosen[dim], within);
    if (slice) tsr_axes_join(&s->pool, &s->current[dim], within);
    if (!rest.size) continue;
    tsr_axes_push(&s->pool, splits, within);
    tsr_axes_insert(&s->pool, available, 0, rest);
  }
}

bool tsr_search_fill(tsr_step_search *s, tsr_axis_list *available, bool each_dim, bool to_front,
                     bool slice) {
  tsr_axis_list splits = {0};
  int64_t before = 0, after = 0;
  for (int d = 0; d < s->rank; d++) {
    before += s->in[d].parts.count;
    fill_dim(s, d, each_dim ? &available[d] : available, to_front, slice, &splits);
    after += s->in[d].parts.count;
  }
  align_out(s, &splits);
  return after > before;
}

// ---- moving ----

// How many axes at the end of a dim of `in` belong to one other dim of `out`, which `out_target`
// gets.
static int64_t movable(const tsr_step_search *s, int source, int *out_target) {
  const tsr_sdy_parts *axes = &s->in[source].parts;
  int64_t count = 0;
  *out_target = -1;
  for (; count < axes->count; count++) {
    const tsr_axis_place *place = tsr_search_place(s, &axes->items[axes->count - 1 - count]);
    if (!place || place->dim == source || (*out_target >= 0 && place->dim != *out_target)) break;
    *out_target = place->dim;
  }
  return count;
}

static bool begins(const tsr_sdy_parts *list, const tsr_sdy_part *first, int64_t count) {
  if (list->count < count) return false;
  for (int64_t i = 0; i < count; i++)
    if (!tsr_sdy_same(&list->items[i], &first[i])) return false;
  return true;
}

// Moves axes from the end of one dim to the end of another one; false if there are none to move.
static bool move_axes(tsr_step_search *s, int source, bool any_order) {
  int target = -1;
  const int64_t count = movable(s, source, &target);
  if (target < 0) return false;
  tsr_sdy_parts *from = &s->in[source].parts;
  const int64_t start = from->count - count;
  tsr_axis_list *out = &s->out[target], moved = {0};
  if (!any_order && !begins(&out->parts, from->items + start, count)) return false;
  tsr_axes_take(&s->pool, &s->current[source], from, start);
  from->count = start;
  for (int64_t i = start; i < start + count; i++) {
    const tsr_sdy_part part = from->items[i];
    tsr_axes_join(&s->pool, &moved, part);
    tsr_axes_join(&s->pool, &s->current[target], part);
    if (!s->in[target].parts.count && begins(&out->parts, &part, 1)) {
      tsr_axes_remove(out, 0);
      forget(s, &part);
    } else {
      tsr_axes_push(&s->pool, &s->in[target], part);
      tsr_search_note(s, part);
    }
  }
  tsr_search_add(s, TSR_OP_SDY_ALL_TO_ALL, &moved, 1, source, target);
  return true;
}

static void move_all(tsr_step_search *s, bool any_order) {
  for (int d = 0; d < s->rank; d++)
    while (!s->pool.failed && move_axes(s, d, any_order)) continue;
}

// ---- gathering ----

// A dim is gathered as a whole or not at all: its last axis decides. Of the axes that go, only that
// one is forgotten. Both are so because Shardy's loop over them ends after the first.
static bool gather_dim(tsr_step_search *s, int dim) {
  tsr_axis_list *in = &s->in[dim];
  s->chosen[dim].parts.count = 0;
  if (!in->parts.count) return false;
  const tsr_sdy_part last = in->parts.items[in->parts.count - 1];
  if (tsr_search_place(s, &last)) return false;
  forget(s, &last);
  tsr_axes_take(&s->pool, &s->current[dim], &in->parts, 0);
  for (int64_t i = 0; i < in->parts.count; i++)
    tsr_axes_join(&s->pool, &s->chosen[dim], in->parts.items[i]);
  in->parts.count = 0;
  return true;
}

static void gather(tsr_step_search *s) {
  bool any = false;
  for (int d = 0; d < s->rank; d++) any |= gather_dim(s, d);
  if (any) tsr_search_add(s, TSR_OP_SDY_ALL_GATHER, s->chosen, s->rank, 0, 0);
}

// ---- all of it ----

static bool is_done(const tsr_step_search *s) {
  if (!tsr_attr_equal(s->mesh_ref, s->to->mesh_ref)) return false;
  for (int d = 0; d < s->rank; d++)
    if (s->in[d].parts.count || s->out[d].parts.count) return false;
  return true;
}

// Whether at most axes of size 1, which cut nothing, are not where they belong.
static bool is_reached(const tsr_step_search *s) {
  for (int d = 0; d < s->rank; d++)
    if (tsr_parts_size(&s->in[d].parts) > 1 || tsr_parts_size(&s->out[d].parts) > 1) return false;
  return true;
}

// Shardy stops after two rounds, even where more would be needed.
static bool goes_on(const tsr_step_search *s, int round) {
  if (s->pool.failed || is_done(s)) return false;
  return round < ROUNDS || (round < ROUNDS_MOST && !is_reached(s));
}

static void align_lists(tsr_step_search *s, tsr_axis_list *lists, const tsr_axis_list *others) {
  tsr_axis_list sorted = {0};
  for (int d = 0; d < s->rank; d++) tsr_axes_push_all(&s->pool, &sorted, &others[d].parts);
  tsr_sdy_parts_sort(&sorted.parts);
  for (int d = 0; d < s->rank; d++) tsr_axes_align(&s->pool, &lists[d], &sorted.parts);
}

static void drop_common(tsr_axis_list *a, tsr_axis_list *b) {
  while (a->parts.count && b->parts.count && tsr_sdy_same(&a->parts.items[0], &b->parts.items[0])) {
    tsr_axes_remove(a, 0);
    tsr_axes_remove(b, 0);
  }
}

static bool allocate(tsr_step_search *s) {
  const size_t room = (size_t)s->rank + 1;
  s->in = tsr_arena_zeros(s->pool.arena, room, sizeof *s->in);
  s->out = tsr_arena_zeros(s->pool.arena, room, sizeof *s->out);
  s->current = tsr_arena_zeros(s->pool.arena, room, sizeof *s->current);
  s->chosen = tsr_arena_zeros(s->pool.arena, room, sizeof *s->chosen);
  s->capacities = tsr_arena_zeros(s->pool.arena, room, sizeof *s->capacities);
  return s->in && s->out && s->current && s->chosen && s->capacities;
}

// The parts that each list had before the other one was aligned decide.
static void prepare(tsr_step_search *s) {
  tsr_axis_list *before = tsr_arena_zeros(s->pool.arena, (size_t)s->rank + 1, sizeof *before);
  if (!before) {
    s->pool.failed = true;
    return;
  }
  for (int d = 0; d < s->rank; d++) {
    tsr_axes_push_all(&s->pool, &s->in[d], &s->from->dims[d].axes);
    tsr_axes_push_all(&s->pool, &before[d], &s->from->dims[d].axes);
    tsr_axes_push_all(&s->pool, &s->current[d], &s->from->dims[d].axes);
    tsr_axes_push_all(&s->pool, &s->out[d], &s->to->dims[d].axes);
  }
  align_lists(s, s->in, s->out);
  align_lists(s, s->out, before);
  for (int d = 0; d < s->rank; d++) drop_common(&s->in[d], &s->out[d]);
  for (int d = 0; d < s->rank; d++)
    for (int64_t i = 0; i < s->in[d].parts.count; i++) tsr_search_note(s, s->in[d].parts.items[i]);
  tsr_search_places(s);
}

// ---- when the search fails ----

// Parts of an axis that exclude each other, such as "x":(1)2 and "x":(1)3, cannot be aligned.
static bool has_clash(const tsr_step_search *s) {
  for (int a = 0; a < s->rank; a++)
    for (int64_t i = 0; i < s->from->dims[a].axes.count; i++)
      for (int b = 0; b < s->rank; b++)
        for (int64_t k = 0; k < s->to->dims[b].axes.count; k++)
          if (!tsr_part_can_coexist(&s->from->dims[a].axes.items[i], &s->to->dims[b].axes.items[k]))
            return true;
  return false;
}

// Whether a sharding has an axis twice.
static bool is_sound(tsr_step_search *s, const tsr_tensor_sharding *sharding) {
  tsr_axis_list all = {0};
  for (int d = 0; d < s->rank; d++) tsr_axes_push_all(&s->pool, &all, &sharding->dims[d].axes);
  tsr_sdy_parts_sort(&all.parts);
  for (int64_t i = 1; i < all.parts.count; i++)
    if (tsr_sdy_overlap(&all.parts.items[i - 1], &all.parts.items[i])) return false;
  return true;
}

static bool has_failed(tsr_step_search *s) {
  if (!is_reached(s)) return true;
  if (!has_clash(s)) return false;
  for (const tsr_collective_step *step = s->first; step; step = step->next)
    if (!is_sound(s, step->sharding)) return true;
  return false;
}

// Gathers all axes behind the common ones, then slices along those that were asked for.
static void start_over(tsr_step_search *s) {
  s->first = NULL;
  s->end = &s->first;
  s->mesh_ref = s->from->mesh_ref;
  for (int d = 0; d < s->rank; d++) {
    const tsr_sdy_parts *from = &s->from->dims[d].axes, *to = &s->to->dims[d].axes;
    s->in[d].parts.count = s->out[d].parts.count = s->current[d].parts.count = 0;
    tsr_axes_push_all(&s->pool, &s->in[d], from);
    tsr_axes_push_all(&s->pool, &s->out[d], to);
    drop_common(&s->in[d], &s->out[d]);
    const tsr_sdy_parts common = {from->items, from->count - s->in[d].parts.count};
    tsr_axes_push_all(&s->pool, &s->current[d], &common);
  }
  tsr_search_add(s, TSR_OP_SDY_ALL_GATHER, s->in, s->rank, 0, 0);
  if (!tsr_attr_equal(s->mesh_ref, s->to->mesh_ref)) {
    s->mesh_ref = s->to->mesh_ref;
    tsr_search_add(s, TSR_OP_SDY_COLLECTIVE_PERMUTE, NULL, 0, 0, 0);
  }
  for (int d = 0; d < s->rank; d++) tsr_axes_push_all(&s->pool, &s->current[d], &s->out[d].parts);
  tsr_search_add(s, TSR_OP_SDY_ALL_SLICE, s->out, s->rank, 0, 0);
}

tsr_status tsr_collective_steps(tsr_arena *arena, const tsr_tensor_sharding *from,
                                const tsr_tensor_sharding *to, const int64_t *sizes,
                                const tsr_collective_step **out_first) {
  tsr_step_search s = {.pool = {.arena = arena, .mesh = from->mesh},
                       .rank = from->rank,
                       .sizes = sizes,
                       .from = from,
                       .to = to,
                       .mesh_ref = from->mesh_ref};
  s.end = &s.first;
  TSR_NEED(allocate(&s));
  prepare(&s);
  for (int round = 0; goes_on(&s, round); round++) {
    tsr_search_slice(&s);
    tsr_search_permute(&s);
    move_all(&s, false);
    move_all(&s, true);
    gather(&s);
  }
  if (!s.pool.failed && has_failed(&s)) start_over(&s);
  TSR_NEED(!s.pool.failed);
  *out_first = s.first;
  return NULL;
}
