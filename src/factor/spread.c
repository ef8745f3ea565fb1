// Axes spread along the factors of one op.
//
// Both strategies begin with the axes that a factor could have everywhere: those of its tensors,
// folded together, as far as they agree. The basic one cuts them where any tensor conflicts, so
// that all tensors get the same. The aggressive one lets each tensor take what it can, the factors
// in an order that prefers the axes of large tensors.
#include "factor/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "verify/sdy_checks.h"

typedef struct spreader {
  const tsr_spread_how *how;
  const tsr_op_rule *rule;
  tsr_projection projection;
  tsr_arena *scratch;
  tsr_spread_gain *gains;  // room for one of each place
  int gain_count;
} spreader;

static const tsr_sdy_parts none = {NULL, 0};

// ---- the axes that a factor could have ----

// Appends the axes from `from` on.
static void copy_axes(tsr_sdy_parts *out, const tsr_sdy_parts *axes, int64_t from) {
  for (int64_t i = from; i < axes->count; i++) out->items[out->count++] = axes->items[i];
}

// The axes of two lists as far as they agree; where they do to the end of one, the rest of the
// other, which is that of `axes` only if `expand`. Clears `expand` at a conflict.
static bool fold_slowly(tsr_arena *scratch, tsr_sdy_parts *folded, const tsr_sdy_parts *axes,
                        bool *expand) {
  const tsr_sdy_parts old = *folded;
  const int64_t both = tsr_least(old.count, axes->count);
  const bool may_expand = *expand;
  *folded = none;
  folded->items =
      tsr_arena_alloc(scratch, sizeof *folded->items * (size_t)(old.count + axes->count));
  if (!folded->items) return false;
  *expand = false;
  for (int64_t i = 0; i < both; i++) {
    const tsr_sdy_part *ours = &old.items[i], *theirs = &axes->items[i];
    if (ours->axis != theirs->axis) return true;
    if (tsr_sdy_same(ours, theirs)) {
      folded->items[folded->count++] = *ours;
    } else if (tsr_part_is_prefix(theirs, ours)) {
      // An axis after a shorter part conflicts with the rest of the longer one.
      const bool ends = i + 1 == axes->count;
      folded->items[folded->count++] = ends ? *ours : *theirs;
      if (!ends) return true;
    } else if (tsr_part_is_prefix(ours, theirs)) {
      const bool grows = may_expand && i + 1 == old.count;
      folded->items[folded->count++] = grows ? *theirs : *ours;
      if (!grows) return true;
    } else {
      return true;
    }
  }
  copy_axes(folded, &old, both);
  if (may_expand) copy_axes(folded, axes, both);
  *expand = may_expand;
  return true;
}

static bool fold(tsr_arena *scratch, tsr_sdy_parts *folded, const tsr_sdy_parts *axes,
                 bool *expand) {
  if (!axes->count) return true;
  if (!folded->count) {
    if (*expand) *folded = *axes;
    return true;
  }
  if (tsr_sdy_parts_equal(folded, axes)) return true;
  return fold_slowly(scratch, folded, axes, expand);
}

// Folds the axes of a factor in its places from `first` on, before `end`.
static bool fold_uses(const spreader *s, int first, int end, tsr_sdy_parts *axes, bool *expand) {
  for (int i = first; i < end; i++) {
    const tsr_factor_sharding *place = &s->projection.places[s->rule->uses[i]];
    if (place->present && !fold(s->scratch, axes, &place->axes, expand)) return false;
  }
  return true;
}

// Where the places of a factor in results begin among its uses.
static int first_result_use(const tsr_op_rule *rule, int factor) {
  int i = rule->used[factor];
  while (i < rule->used[factor + 1] && rule->places[rule->uses[i]].tensor < rule->operand_count)
    i++;
  return i;
}

static int direction_of(const spreader *s, int factor) {
  if (s->rule->factors[factor].blocked) return TSR_SDY_DIRECTION_NONE;
  return s->how->directions ? s->how->directions[factor] : s->how->direction;
}

// The axes that a factor could have in all its tensors if nothing else conflicted. Those of the
// side where axes go to only take part in conflicts.
static bool compatible_axes(const spreader *s, int factor, tsr_sdy_parts *axes) {
  const int direction = direction_of(s, factor);
  const int first = s->rule->used[factor], end = s->rule->used[factor + 1];
  *axes = none;
  if (direction == TSR_SDY_DIRECTION_NONE) return true;
  const int middle = first_result_use(s->rule, factor);
  const bool backward = direction == TSR_SDY_DIRECTION_BACKWARD;
  bool expand = true;
  if (!fold_uses(s, backward ? middle : first, backward ? end : middle, axes, &expand))
    return false;
  if (direction != TSR_SDY_DIRECTION_BOTH) expand = false;
  return fold_uses(s, backward ? first : middle, backward ? middle : end, axes, &expand);
}

// ---- conflicts ----

// Cuts an axis to what does not overlap the other factors of a tensor.
static bool cut_across(const spreader *s, int tensor, int factor, tsr_sdy_part *axis) {
  const int end = tsr_rule_tensor(s->rule, tensor + 1);
  for (int i = tsr_rule_tensor(s->rule, tensor); i < end; i++) {
    const tsr_factor_sharding *other = &s->projection.places[i];
    if (!other->present || s->rule->places[i].factor == factor) continue;
    if (!tsr_part_cut(s->projection.mesh, axis, &other->overflow) ||
        !tsr_part_cut(s->projection.mesh, axis, &other->axes))
      return false;
  }
  return true;
}

// Cuts an axis to what divides the rest of a factor that is not the last of its dim.
static bool cut_by_rest(const spreader *s, int64_t size, int64_t sharded, tsr_sdy_part *axis) {
  if (size % sharded) return false;
  const int64_t shared = tsr_gcd(size / sharded, axis->size);
  if (shared == 1 && axis->size != 1) return false;
  if (shared < axis->size) *axis = tsr_part_of(s->projection.mesh, axis->axis, axis->pre, shared);
  return true;
}

// Cuts an axis to what a tensor can have along one of its factors, whose axes before this one have
// the size `sharded`.
static bool cut_within(const spreader *s, int place, int64_t sharded, tsr_sdy_part *axis) {
  const tsr_rule_place *where = &s->rule->places[place];
  const tsr_factor_sharding *now = &s->projection.places[place];
  const tsr_tensor_sharding *sharding = s->projection.shardings[where->tensor];
  if (sharding && (!tsr_part_cut(s->projection.mesh, axis, &sharding->replicated) ||
                   !tsr_part_cut(s->projection.mesh, axis, &sharding->unreduced)))
    return false;
  for (int64_t i = 0; i < now->axes.count; i++)
    if (tsr_part_contains(&now->axes.items[i], axis)) return true;
  if (!now->closed && !now->overflow.count) {
    if (where->minor_most) return true;
    if (cut_by_rest(s, s->rule->factors[where->factor].size, sharded, axis)) return true;
  }
  // It cannot grow; what it has of this axis stays.
  const tsr_sdy_part *last = now->axes.count ? &now->axes.items[now->axes.count - 1] : NULL;
  if (!last || !tsr_part_is_prefix(last, axis)) return false;
  *axis = *last;
  return true;
}

static bool cut_for_tensor(const spreader *s, int tensor, int factor, int64_t sharded,
                           tsr_sdy_part *axis) {
  if (!cut_across(s, tensor, factor, axis)) return false;
  const int place = tsr_rule_place_of(s->rule, tensor, factor);
  if (place < 0 || !s->projection.places[place].present) return true;
  return cut_within(s, place, sharded, axis);
}

// What axes are cut by.
typedef struct cutter {
  const spreader *s;
  int factor, tensor, place;
} cutter;
typedef bool cut_fn(const cutter *cutter, int64_t sharded, tsr_sdy_part *axis);

static bool cut_for_all(const cutter *c, int64_t sharded, tsr_sdy_part *axis) {
  for (int i = 0; i < c->s->rule->tensor_count; i++)
    if (!cut_for_tensor(c->s, i, c->factor, sharded, axis)) return false;
  return true;
}

static bool cut_in_place(const cutter *c, int64_t sharded, tsr_sdy_part *axis) {
  return cut_within(c->s, c->place, sharded, axis);
}

static bool cut_in_tensor(const cutter *c, int64_t sharded, tsr_sdy_part *axis) {
  (void)sharded;
  return cut_across(c->s, c->tensor, c->factor, axis);
}

// The list up to `count` axes, the last of them cut to `last`.
static bool shorten(tsr_arena *scratch, tsr_sdy_parts *axes, int64_t count,
                    const tsr_sdy_part *last) {
  tsr_sdy_part *items = tsr_arena_alloc(scratch, sizeof *items * (size_t)count);
  if (!items) return false;
  memcpy(items, axes->items, sizeof *items * (size_t)count);
  items[count - 1] = *last;
  *axes = (tsr_sdy_parts){items, count};
  return true;
}

// Cuts a list at the first axis that conflicts. False without memory.
static bool cut_list(const cutter *c, cut_fn *cut, tsr_sdy_parts *axes) {
  int64_t sharded = 1;
  for (int64_t i = 0; i < axes->count; i++) {
    tsr_sdy_part axis = axes->items[i];
    if (!cut(c, sharded, &axis) || (c->s->how->conservative && !axis.whole)) {
      axes->count = i;
      return true;
    }
    if (!tsr_sdy_same(&axis, &axes->items[i])) return shorten(c->s->scratch, axes, i + 1, &axis);
    if (__builtin_mul_overflow(sharded, axis.size, &sharded)) sharded = INT64_MAX;
  }
  return true;
}

// ---- growing ----

static void expand(spreader *s, int place, const tsr_sdy_parts *axes, int source) {
  if (!tsr_projection_expand(&s->projection, place, axes)) return;
  const tsr_rule_place *where = &s->rule->places[place];
  s->gains[s->gain_count++] = (tsr_spread_gain){
      .tensor = where->tensor, .factor = where->factor, .source = source, .axes = *axes};
}

// ---- basic ----

// The first tensor that has all of the axes along a factor; -1 if none has.
static int source_of(const spreader *s, int factor, const tsr_sdy_parts *axes) {
  for (int i = s->rule->used[factor]; i < s->rule->used[factor + 1]; i++) {
    const int place = s->rule->uses[i];
    const tsr_factor_sharding *now = &s->projection.places[place];
    if (now->present && tsr_parts_prefix(axes, &now->axes) != TSR_PREFIX_NOT)
      return s->rule->places[place].tensor;
  }
  return -1;
}

static bool spread_basic(spreader *s) {
  for (int factor = 0; factor < s->rule->factor_count; factor++) {
    const cutter c = {.s = s, .factor = factor};
    tsr_sdy_parts axes;
    if (!compatible_axes(s, factor, &axes) || !cut_list(&c, cut_for_all, &axes)) return false;
    if (!axes.count) continue;
    const int source = source_of(s, factor, &axes);
    for (int i = s->rule->used[factor]; i < s->rule->used[factor + 1]; i++)
      expand(s, s->rule->uses[i], &axes, source);
  }
  return true;
}

// ---- aggressive ----

// A factor that has axes to spread, and what decides when it is its turn.
typedef struct candidate {
  int64_t source_size;    // elements of the largest tensor that has the axes; -1 = none has
  int64_t sharding_size;  // of the axes, for pointwise ops
  int source, factor;
  tsr_sdy_parts axes;
} candidate;

static int by_turn(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  if (a->source_size != b->source_size) return a->source_size > b->source_size ? -1 : 1;
  if (a->sharding_size != b->sharding_size) return a->sharding_size > b->sharding_size ? -1 : 1;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return (a->factor > b->factor) - (a->factor < b->factor);
}

static int64_t tensor_size(const spreader *s, int tensor) {
  const int end = tsr_rule_tensor(s->rule, tensor + 1);
  int64_t size = 1;
  for (int i = tsr_rule_tensor(s->rule, tensor); i < end; i++)
    if (s->projection.places[i].present &&
        __builtin_mul_overflow(size, s->rule->factors[s->rule->places[i].factor].size, &size))
      return INT64_MAX;
  return size;
}

static void find_source(const spreader *s, candidate *c) {
  c->source = -1;
  c->source_size = -1;
  for (int i = s->rule->used[c->factor]; i < s->rule->used[c->factor + 1]; i++) {
    const int place = s->rule->uses[i];
    const tsr_factor_sharding *now = &s->projection.places[place];
    if (!now->present || tsr_parts_prefix(&c->axes, &now->axes) == TSR_PREFIX_NOT) continue;
    const int tensor = s->rule->places[place].tensor;
    const int64_t size = tensor_size(s, tensor);
    if (size <= c->source_size) continue;
    c->source_size = size;
    c->source = tensor;
  }
}

static bool find_candidates(const spreader *s, candidate *candidates, int *out_count) {
  int count = 0;
  for (int factor = 0; factor < s->rule->factor_count; factor++) {
    candidate *c = &candidates[count];
    *c = (candidate){.factor = factor};
    if (!compatible_axes(s, factor, &c->axes)) return false;
    if (!c->axes.count) continue;
    find_source(s, c);
    c->sharding_size = s->how->pointwise ? tsr_parts_size(&c->axes) : 0;
    count++;
  }
  qsort(candidates, (size_t)count, sizeof *candidates, by_turn);
  *out_count = count;
  return true;
}

// An operand of a pointwise op is not sharded more than each result that has the factor: axes do
// not go sideways where the result cannot take them.
static void limit_by_results(const spreader *s, int factor, tsr_sdy_parts *axes) {
  for (int i = first_result_use(s->rule, factor); i < s->rule->used[factor + 1]; i++) {
    const tsr_factor_sharding *result = &s->projection.places[s->rule->uses[i]];
    if (result->present && tsr_parts_prefix(&result->axes, axes) == TSR_PREFIX_STRICT)
      *axes = result->axes;
  }
}

static bool grow_place(spreader *s, int place, const candidate *from) {
  const int tensor = s->rule->places[place].tensor;
  const cutter c = {.s = s, .factor = from->factor, .tensor = tensor, .place = place};
  const tsr_factor_sharding *now = &s->projection.places[place];
  tsr_sdy_parts axes = from->axes;
  if (!now->present) return true;
  if (!cut_list(&c, cut_in_place, &axes)) return false;
  if (tsr_parts_prefix(&now->axes, &axes) != TSR_PREFIX_STRICT) return true;
  if (!cut_list(&c, cut_in_tensor, &axes)) return false;
  if (!axes.count) return true;
  if (s->how->pointwise && tensor < s->rule->operand_count)
    limit_by_results(s, from->factor, &axes);
  expand(s, place, &axes, from->source);
  return true;
}

static bool grow_tensor(spreader *s, int tensor, const candidate *candidates, int count) {
  for (int i = 0; i < count; i++) {
    const int place = tsr_rule_place_of(s->rule, tensor, candidates[i].factor);
    if (place >= 0 && !grow_place(s, place, &candidates[i])) return false;
  }
  return true;
}

static bool spread_aggressive(spreader *s) {
  candidate *candidates =
      tsr_arena_alloc(s->scratch, sizeof *candidates * ((size_t)s->rule->factor_count + 1));
  int count = 0;
  if (!candidates || !find_candidates(s, candidates, &count)) return false;
  if (!count) return true;
  for (int i = s->rule->operand_count; i < s->rule->tensor_count; i++)
    if (!grow_tensor(s, i, candidates, count)) return false;
  for (int i = 0; i < s->rule->operand_count; i++)
    if (!grow_tensor(s, i, candidates, count)) return false;
  return true;
}

// ---- shardings again ----

static bool has_changed(const tsr_tensor_sharding *old, const tsr_tensor_sharding *now) {
  return old ? !tsr_tensor_sharding_equal(old, now) : tsr_sharding_has_axes(now);
}

static int by_tensor(const void *left, const void *right) {
  const tsr_spread_gain *a = left, *b = right;
  if (a->tensor != b->tensor) return a->tensor < b->tensor ? -1 : 1;
  return (a->factor > b->factor) - (a->factor < b->factor);
}

// Makes the new sharding of a tensor.
static bool add_change(const spreader *s, const tsr_attr *mesh_ref, int tensor, tsr_arena *kept,
                       tsr_spread_result *result, bool *changed) {
  const tsr_tensor_sharding *made = tsr_unproject(s->scratch, &s->projection, tensor, mesh_ref);
  if (!made) return false;
  *changed = has_changed(s->projection.shardings[tensor], made);
  if (!*changed) return true;
  const tsr_tensor_sharding *copy = tsr_sharding_copy(kept, made);
  result->changes[result->change_count++] = (tsr_spread_change){tensor, copy};
  return copy != NULL;
}

static bool finish(spreader *s, const tsr_attr *mesh_ref, tsr_arena *kept,
                   tsr_spread_result *result) {
  if (!s->gain_count) return true;
  qsort(s->gains, (size_t)s->gain_count, sizeof *s->gains, by_tensor);
  result->gains = s->gains;
  result->changes = tsr_arena_alloc(s->scratch, sizeof *result->changes * (size_t)s->gain_count);
  if (!result->changes) return false;
  for (int i = 0, end; i < s->gain_count; i = end) {
    const int tensor = s->gains[i].tensor;
    bool changed = false;
    if (!add_change(s, mesh_ref, tensor, kept, result, &changed)) return false;
    for (end = i; end < s->gain_count && s->gains[end].tensor == tensor; end++)
      if (changed) result->gains[result->gain_count++] = s->gains[end];
  }
  return true;
}

static bool any_axes(const tsr_tensor_sharding *const *shardings, int count) {
  for (int i = 0; i < count; i++)
    for (int dim = 0; shardings[i] && dim < shardings[i]->rank; dim++)
      if (shardings[i]->dims[dim].axes.count) return true;
  return false;
}

tsr_status tsr_spread_op(const tsr_spread_how *how, const tsr_op_rule *rule,
                         const tsr_tensor_sharding *const *shardings, tsr_arena *scratch,
                         tsr_arena *kept, tsr_spread_result *out_result) {
  spreader s = {.how = how, .rule = rule, .scratch = scratch};
  *out_result = (tsr_spread_result){0};
  if (!any_axes(shardings, rule->tensor_count)) return NULL;
  const tsr_tensor_sharding *common = tsr_common_mesh(shardings, rule->tensor_count, false);
  if (!common || tsr_sdy_is_maximal(common->mesh)) return NULL;
  TSR_TRY(tsr_project(scratch, rule, common->mesh, shardings, false, &s.projection));
  s.gains = tsr_arena_alloc(scratch, sizeof *s.gains * ((size_t)rule->place_count + 1));
  const bool done =
      s.gains && (how->strategy == TSR_SPREAD_BASIC ? spread_basic(&s) : spread_aggressive(&s));
  if (!done || !finish(&s, common->mesh_ref, kept, out_result))
    return tsr_fail(NO_MEMORY, "propagation through an op");
  return NULL;
}
