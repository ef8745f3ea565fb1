// The first step of a search: slice along axes that are missing.
#include "base/arithmetic.h"
#include "collective/steps_state.h"

static bool is_in(const tsr_step_search *s, const tsr_sdy_part *part) {
  return tsr_axes_find(&s->in_set, part) >= 0;
}

// A dim may be sliced by as much as its target is sharded more than it is now.
static void set_capacities(tsr_step_search *s) {
  for (int d = 0; d < s->rank; d++) {
    const int64_t now = tsr_parts_size(&s->in[d].parts), then = tsr_parts_size(&s->out[d].parts);
    s->capacities[d] = then / tsr_gcd(now, then);
  }
}

// ---- slicing where an all-to-all begins ----

// The size of the axes at the end of `in` that stand in the same order in `out` before `next`; 0 if
// other axes of `in` belong to this target too.
static int64_t common_size(const tsr_step_search *s, const tsr_sdy_parts *in,
                           const tsr_sdy_parts *out, int target, int64_t next) {
  int64_t count = 0, size = 1;
  while (count < in->count && count < next &&
         tsr_sdy_same(&in->items[in->count - 1 - count], &out->items[next - 1 - count]))
    size *= in->items[in->count - 1 - count++].size;
  for (; count < in->count; count++) {
    const tsr_axis_place *place = tsr_search_place(s, &in->items[in->count - 1 - count]);
    if (place && place->dim == target) return 0;
  }
  return size;
}

// Slices a dim along the axes that follow its own in the dim where these are to go, if that saves a
// permute: both will go there together.
static bool slice_for_move(tsr_step_search *s, int source) {
  tsr_axis_list *in = &s->in[source];
  if (!in->parts.count || s->out[source].parts.count) return false;
  const tsr_axis_place *place = tsr_search_place(s, &in->parts.items[in->parts.count - 1]);
  if (!place || s->in[place->dim].parts.count) return false;
  const int target = place->dim;
  const tsr_sdy_parts *out = &s->out[target].parts;
  const int64_t next = tsr_axes_find(&s->out[target], &place->part) + 1;
  if (!next || next == out->count || is_in(s, &out->items[next])) return false;
  const int64_t common = common_size(s, &in->parts, out, target, next);
  if (!common) return false;
  int64_t end = next, added = 1;
  while (end < out->count && !is_in(s, &out->items[end])) added *= out->items[end++].size;
  if (s->sizes[source] % (tsr_parts_size(&s->current[source].parts) * added)) return false;
  s->capacities[target] /= common * added;
  for (int64_t i = next; i < end; i++) {
    tsr_axes_push(&s->pool, in, out->items[i]);
    tsr_search_note(s, out->items[i]);
    tsr_axes_join(&s->pool, &s->chosen[source], out->items[i]);
    tsr_axes_join(&s->pool, &s->current[source], out->items[i]);
  }
  return true;
}

// ---- slicing where axes are to be ----

// Slices a dim along the part of `out` at `at`; gives the place of the next one.
static int64_t slice_part(tsr_step_search *s, int dim, int64_t at, tsr_axis_list *available,
                          bool *any) {
  tsr_axis_list *in = &s->in[dim], *out = &s->out[dim];
  const tsr_sdy_part part = out->parts.items[at];
  tsr_sdy_part within, rest;
  if (is_in(s, &part)) return at + 1;
  if (!tsr_axis_fit(s->pool.mesh, &part, &s->capacities[dim], &within, &rest)) {
    tsr_axes_push(&s->pool, available, part);
    return at + 1;
  }
  *any = true;
  tsr_axes_join(&s->pool, &s->chosen[dim], within);
  tsr_axes_join(&s->pool, &s->current[dim], within);
  if (!in->parts.count && !at) {
    tsr_axes_remove(out, 0);  // it is where it belongs
  } else {
    tsr_search_note(s, within);
    tsr_axes_push(&s->pool, in, within);
    out->parts.items[at++] = within;
  }
  if (!rest.size) return at;
  tsr_axes_insert(&s->pool, out, at, rest);
  tsr_axes_push(&s->pool, available, rest);
  return at + 1;
}

void tsr_search_slice(tsr_step_search *s) {
  tsr_axis_list available = {0};
  bool any = false;
  set_capacities(s);
  for (int d = 0; d < s->rank; d++) s->chosen[d].parts.count = 0;
  for (int d = 0; d < s->rank; d++) any |= slice_for_move(s, d);
  for (int d = 0; d < s->rank; d++)
    for (int64_t at = 0; !s->pool.failed && at < s->out[d].parts.count;)
      at = slice_part(s, d, at, &available, &any);
  any |= tsr_search_fill(s, &available, false, false, true);
  tsr_search_places(s);
  if (any) tsr_search_add(s, TSR_OP_SDY_ALL_SLICE, s->chosen, s->rank, 0, 0);
}
