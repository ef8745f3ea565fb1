// Reshapes with axes that do not divide a factor. All axes of the side that is cut in more pieces
// are handed out to the factors of both sides, each axis to the first factor that it, or a part of
// it, divides; what both sides have then is kept.
#include "base/arithmetic.h"
#include "propagate/edits.h"
#include "reshard/axis_choice.h"
#include "reshard/op_reshards.h"

// ---- axes handed out ----

// The places of one tensor that take part, and what is left of their factors.
typedef struct tensor_places {
  tsr_factor_sharding **list;
  int64_t *left;
  int count;
} tensor_places;

static bool find_places(tsr_reshard_run *run, tsr_projection *projection, int tensor,
                        tensor_places *out) {
  const tsr_op_rule *rule = projection->rule;
  const int first = tsr_rule_tensor(rule, tensor), end = tsr_rule_tensor(rule, tensor + 1);
  const size_t most = (size_t)(end - first) + 1;
  *out = (tensor_places){tsr_arena_alloc(&run->scratch, most * sizeof(tsr_factor_sharding *)),
                         tsr_arena_alloc(&run->scratch, most * sizeof(int64_t)), 0};
  if (!out->list || !out->left) return false;
  for (int i = first; i < end; i++) {
    tsr_factor_sharding *place = &projection->places[i];
    if (!place->present) continue;
    place->axes = place->overflow = (tsr_sdy_parts){NULL, 0};
    out->list[out->count] = place;
    out->left[out->count++] = rule->factors[rule->places[i].factor].size;
  }
  return true;
}

static bool append(tsr_reshard_run *run, const tsr_attr *mesh, tsr_sdy_parts *axes,
                   tsr_sdy_part part) {
  if (!tsr_parts_add_copy(&run->scratch, axes, part)) return false;
  axes->count--;
  tsr_sdy_parts_append(mesh, axes, part);
  return true;
}

// Hands out one axis. Gives in `part` what is left of it, with `*used` whether any factor took
// some; a part of which nothing is left has `*done`. False without memory.
static bool hand_out_once(tsr_reshard_run *run, const tsr_attr *mesh, tensor_places *places,
                          tsr_sdy_part *part, bool *used, bool *done) {
  *used = *done = false;
  for (int i = 0; i < places->count && !*done; i++) {
    if (places->left[i] <= 1) continue;
    const int64_t shared = tsr_gcd(places->left[i], part->size);
    if (shared == 1 && part->size != 1) continue;
    const tsr_sdy_part taken = tsr_part_of(mesh, part->axis, part->pre, shared);
    *used = true;
    *done = part->size == shared;
    if (!append(run, mesh, &places->list[i]->axes, taken)) return false;
    places->left[i] /= shared;
    if (!*done) *part = tsr_part_of(mesh, part->axis, tsr_sdy_end(&taken), part->size / shared);
  }
  return true;
}

static bool hand_out(tsr_reshard_run *run, const tsr_attr *mesh, tensor_places *places,
                     const tsr_sdy_parts *axes) {
  for (int64_t i = 0; places->count && i < axes->count; i++) {
    tsr_sdy_part part = axes->items[i];
    for (bool done = false, used = false; !done;) {
      if (!hand_out_once(run, mesh, places, &part, &used, &done)) return false;
      if (used) continue;
      tsr_sdy_parts *overflow = &places->list[places->count - 1]->overflow;
      for (; i < axes->count; part = ++i < axes->count ? axes->items[i] : part)
        if (!append(run, mesh, overflow, part)) return false;
      return true;
    }
  }
  return true;
}

// ---- the axes of one side ----

static bool collect(tsr_reshard_run *run, const tsr_projection *projection, int tensor,
                    tsr_sdy_parts *out) {
  size_t most = 1;
  for (int i = 0; i < projection->rule->place_count; i++)
    most += (size_t)(projection->places[i].axes.count + projection->places[i].overflow.count);
  *out = (tsr_sdy_parts){tsr_arena_alloc(&run->scratch, most * sizeof *out->items), 0};
  if (!out->items) return false;
  for (int factor = 0; factor < projection->rule->factor_count; factor++) {
    const tsr_factor_sharding *place = tsr_projected(projection, tensor, factor);
    if (!place) continue;
    for (int64_t i = 0; i < place->axes.count; i++) out->items[out->count++] = place->axes.items[i];
    for (int64_t i = 0; i < place->overflow.count; i++)
      out->items[out->count++] = place->overflow.items[i];
  }
  return true;
}

// ---- what both sides have ----

// Cuts `axes` to what `other` begins with too. False without memory.
static bool keep_shared(tsr_reshard_run *run, tsr_sdy_parts *axes, const tsr_sdy_parts *other) {
  const int64_t most = tsr_least(axes->count, other->count);
  for (int64_t i = 0; i < most; i++) {
    const tsr_sdy_part a = axes->items[i], b = other->items[i];
    if (tsr_sdy_same(&a, &b)) continue;
    axes->count = i;
    if (tsr_part_is_prefix(&a, &b)) return tsr_parts_add_copy(&run->scratch, axes, a);
    if (tsr_part_is_prefix(&b, &a)) return tsr_parts_add_copy(&run->scratch, axes, b);
    return true;
  }
  axes->count = most;
  return true;
}

static bool shared_axes(tsr_reshard_run *run, const tsr_projection *projection,
                        tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = projection->rule;
  for (int factor = 0; factor < rule->factor_count; factor++) {
    bool seen = false;
    for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
      const tsr_factor_sharding *place = &projection->places[rule->uses[i]];
      if (!place->present) continue;
      if (!seen)
        axes[factor] = place->axes;
      else if (!keep_shared(run, &axes[factor], &place->axes))
        return false;
      seen = true;
    }
  }
  return true;
}

// ---- all of it ----

// The axes that both sides have if their shardings are projected anew.
static tsr_status settle(tsr_reshard_run *run, tsr_op_reshards *r, tsr_sdy_parts *out_axes) {
  const tsr_tensor_sharding **made = tsr_arena_alloc(&run->scratch, 2 * sizeof *made);
  tsr_projection again;
  TSR_NEED(made);
  for (int i = 0; i < 2; i++) {
    made[i] = tsr_unproject(&run->scratch, &r->projection, i, r->mesh->mesh_ref);
    TSR_NEED(made[i]);
  }
  TSR_TRY(tsr_project(&run->scratch, r->projection.rule, r->projection.mesh, made, false, &again));
  if (!shared_axes(run, &again, out_axes)) return tsr_fail(NO_MEMORY, "axes of a reshape");
  return NULL;
}

tsr_status tsr_reshard_reshape(tsr_reshard_run *run, tsr_op_reshards *r, tsr_sdy_parts *out_axes) {
  tsr_projection *projection = &r->projection;
  const bool input = tsr_projected_size(projection, 0) >= tsr_projected_size(projection, 1);
  tsr_sdy_parts all;
  bool ok = collect(run, projection, input ? 0 : 1, &all);
  for (int i = 0; ok && i < 2; i++) {
    tensor_places places;
    ok = find_places(run, projection, i, &places) && hand_out(run, projection->mesh, &places, &all);
  }
  if (!ok) return tsr_fail(NO_MEMORY, "axes of a reshape");
  TSR_TRY(settle(run, r, out_axes));
  tsr_op_reshards_update(r, out_axes);
  for (int i = 0; i < 2; i++) {
    const tsr_attr *attr = NULL, *old = r->attrs[i];
    TSR_TRY(tsr_op_reshards_made(run, r, i, &attr));
    if (!i) TSR_TRY(tsr_sharding_get(run->ir, tsr_op_operand(r->op, 0), &old));
    r->changed[i] = !tsr_sharding_is_equivalent(i ? attr : old, i ? old : attr);
  }
  return tsr_op_reshards_add(run, r);
}
