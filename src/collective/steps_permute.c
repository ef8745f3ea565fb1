// The second step of a search: put other axes, or the same in another order, where axes are.
#include <string.h>

#include "collective/steps_state.h"

// ---- whether it helps ----

static bool sizes_divide(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  return a->size % b->size == 0 || b->size % a->size == 0;
}

// Whether axes of a dim must change places; `spare` gets an axis that shall go.
static bool is_disordered(const tsr_step_search *s, int dim, bool *seen,
                          const tsr_sdy_part **spare) {
  const tsr_sdy_parts *in = &s->in[dim].parts;
  const tsr_axis_place *last = NULL;
  memset(seen, 0, (size_t)s->rank * sizeof *seen);
  for (int64_t i = 0; i < in->count; i++) {
    const tsr_axis_place *place = tsr_search_place(s, &in->items[i]);
    if (place) {
      const bool follows = last && last->dim == place->dim && place->index == last->index + 1;
      if ((place->dim == dim || seen[place->dim]) && !follows) return true;
      seen[place->dim] = true;
    } else if (last && !s->out[dim].parts.count) {
      return true;  // what is gathered must stand before what is moved
    } else {
      *spare = &in->items[i];
    }
    last = place;
  }
  return false;
}

static bool shall_permute(tsr_step_search *s) {
  const tsr_sdy_part *spare = NULL, *missing = NULL;
  bool *seen = tsr_arena_zeros(s->pool.arena, (size_t)s->rank + 1, sizeof *seen);
  if (!seen) {
    s->pool.failed = true;
    return false;
  }
  for (int d = 0; d < s->rank; d++) {
    const tsr_sdy_parts *in = &s->in[d].parts, *out = &s->out[d].parts;
    if (in->count && out->count && sizes_divide(&in->items[0], &out->items[0])) return true;
    for (int64_t i = 0; i < out->count; i++)
      if (tsr_axes_find(&s->in_set, &out->items[i]) < 0) missing = &out->items[i];
    if (is_disordered(s, d, seen, &spare)) return true;
  }
  return spare && missing && sizes_divide(missing, spare);
}

// ---- doing it ----

// Puts axes of `out` where they belong, as many as there is room for.
static void place_dim(tsr_step_search *s, int dim, int64_t *capacity) {
  tsr_axis_list *out = &s->out[dim];
  while (*capacity > 1 && out->parts.count) {
    tsr_sdy_part within, rest;
    if (!tsr_axis_fit(s->pool.mesh, &out->parts.items[0], capacity, &within, &rest)) return;
    tsr_axes_join(&s->pool, &s->current[dim], within);
    if (rest.size)
      out->parts.items[0] = rest;
    else
      tsr_axes_remove(out, 0);
  }
}

// The axes of a dim that shall go: first those which still have room, then those that others
// replaced.
static void spare_dim(tsr_step_search *s, int dim, int64_t used, tsr_axis_list *spare) {
  tsr_axis_list *in = &s->in[dim], replaced = {0};
  int64_t at = 0;
  for (int64_t i = 0; i < in->parts.count; i++)
    if (!tsr_search_place(s, &in->parts.items[i])) in->parts.items[at++] = in->parts.items[i];
  in->parts.count = at;
  while (used > 1 && in->parts.count) {
    tsr_sdy_part within, rest;
    if (!tsr_axis_fit(s->pool.mesh, &in->parts.items[0], &used, &within, &rest)) break;
    tsr_axes_push(&s->pool, &replaced, within);
    if (rest.size)
      in->parts.items[0] = rest;
    else
      tsr_axes_remove(in, 0);
  }
  tsr_axes_push_all(&s->pool, spare, &in->parts);
  tsr_axes_push_all(&s->pool, spare, &replaced.parts);
  in->parts.count = 0;
}

static void permute(tsr_step_search *s) {
  tsr_axis_list available = {0}, left = {0};
  tsr_axis_list *spare = tsr_arena_zeros(s->pool.arena, (size_t)s->rank + 1, sizeof *spare);
  if (!spare) {
    s->pool.failed = true;
    return;
  }
  s->in_set.parts.count = 0;
  for (int d = 0; d < s->rank; d++) {
    const int64_t size = tsr_parts_size(&s->in[d].parts);
    s->capacities[d] = size;
    tsr_axes_take(&s->pool, &s->current[d], &s->in[d].parts, 0);
    place_dim(s, d, &s->capacities[d]);
    tsr_axes_push_all(&s->pool, &available, &s->out[d].parts);
    spare_dim(s, d, size / s->capacities[d], &spare[d]);
  }
  tsr_search_fill(s, &available, false, false, false);
  tsr_search_fill(s, spare, true, true, false);
  for (int d = 0; d < s->rank; d++) tsr_axes_push_all(&s->pool, &left, &spare[d].parts);
  tsr_search_fill(s, &left, false, true, false);
  tsr_search_places(s);
  for (int d = 0; d < s->rank; d++)
    for (int64_t i = 0; i < s->in[d].parts.count; i++)
      tsr_axes_join(&s->pool, &s->current[d], s->in[d].parts.items[i]);
}

void tsr_search_permute(tsr_step_search *s) {
  const bool shall = shall_permute(s);
  if (!shall && tsr_attr_equal(s->mesh_ref, s->to->mesh_ref)) return;
  if (shall) permute(s);
  s->mesh_ref = s->to->mesh_ref;
  tsr_search_add(s, TSR_OP_SDY_COLLECTIVE_PERMUTE, NULL, 0, 0, 0);
}
