// Axes for all tensors of an op: kept where they fit, taken from one of two tensors, or chosen.
#include "reshard/common_axes.h"

#include <string.h>

#include "reshard/axis_choice.h"

// ---- shardings that fit ----

bool tsr_factor_axes(const tsr_projection *projection, int factor, tsr_sdy_parts *out_axes) {
  const tsr_op_rule *rule = projection->rule;
  bool seen = false;
  *out_axes = (tsr_sdy_parts){NULL, 0};
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_factor_sharding *place = &projection->places[rule->uses[i]];
    if (!place->present) continue;
    if (seen && !tsr_sdy_parts_equal(out_axes, &place->axes)) return false;
    *out_axes = place->axes;
    seen = true;
  }
  return true;
}

// Whether the factors after this one, and those that need replication, leave its axes to it.
static bool overlaps_before(const tsr_sdy_parts *axes, int factor) {
  for (int i = 0; i < factor; i++)
    if (tsr_parts_overlap(&axes[factor], &axes[i])) return true;
  return false;
}

static bool fit_already(const tsr_projection *projection, tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = projection->rule;
  for (int i = 0; i < rule->factor_count; i++) {
    if (!tsr_factor_axes(projection, i, &axes[i])) return false;
    if (!axes[i].count) continue;
    if (rule->factors[i].kind == TSR_FACTOR_NEED_REPLICATION || overlaps_before(axes, i))
      return false;
  }
  return true;
}

// ---- two tensors ----

// The two tensors with dims of an op that has only two, only one factor in each dim, and none that
// needs replication.
static bool is_unary(const tsr_op_rule *rule, int tensors[2]) {
  int count = 0;
  for (int i = 0; i < rule->tensor_count; i++) {
    if (!tsr_rule_rank(rule, i)) continue;
    if (count < 2) tensors[count] = i;
    count++;
  }
  if (count != 2 || rule->place_count != rule->tensors[rule->tensor_count]) return false;
  for (int i = 0; i < rule->factor_count; i++)
    if (rule->factors[i].kind == TSR_FACTOR_NEED_REPLICATION) return false;
  return true;
}

static bool permutes(const tsr_projection *projection, int tensor) {
  const tsr_op_rule *rule = projection->rule;
  for (int i = tsr_rule_tensor(rule, tensor); i < tsr_rule_tensor(rule, tensor + 1); i++)
    if (projection->places[i].axes.count &&
        rule->factors[rule->places[i].factor].kind == TSR_FACTOR_PERMUTATION)
      return true;
  return false;
}

int64_t tsr_projected_size(const tsr_projection *projection, int tensor) {
  const tsr_op_rule *rule = projection->rule;
  int64_t size = 1;
  for (int i = tsr_rule_tensor(rule, tensor); i < tsr_rule_tensor(rule, tensor + 1); i++) {
    const tsr_factor_sharding *place = &projection->places[i];
    if (__builtin_mul_overflow(size, tsr_parts_size(&place->axes), &size) ||
        __builtin_mul_overflow(size, tsr_parts_size(&place->overflow), &size))
      return INT64_MAX;
  }
  return size;
}

// Whether the second tensor is to keep its sharding: one where no data of neighbours is needed,
// then the larger one, then the one that is cut in more pieces; the first one if they are equal.
static bool prefers_second(const tsr_projection *projection, const int64_t *sizes,
                           const int tensors[2]) {
  const bool moves[2] = {permutes(projection, tensors[0]), permutes(projection, tensors[1])};
  if (moves[0] != moves[1]) return moves[0];
  if (sizes[tensors[0]] != sizes[tensors[1]]) return sizes[tensors[0]] < sizes[tensors[1]];
  return tsr_projected_size(projection, tensors[0]) < tsr_projected_size(projection, tensors[1]);
}

static bool take_from_one(tsr_arena *arena, const tsr_projection *projection, int preferred,
                          int other, tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = projection->rule;
  const int first = tsr_rule_tensor(rule, preferred), end = tsr_rule_tensor(rule, preferred + 1);
  tsr_sdy_parts taken = {NULL, 0};
  bool cut = false;
  for (int i = first; i < end; i++) taken.count += projection->places[i].axes.count;
  taken.items = tsr_arena_alloc(arena, ((size_t)taken.count + 1) * sizeof *taken.items);
  if (!taken.items) return false;
  taken.count = 0;
  for (int i = first; i < end; i++) {
    const tsr_sdy_parts *from = &projection->places[i].axes;
    axes[rule->places[i].factor] = *from;
    for (int64_t k = 0; k < from->count; k++) taken.items[taken.count++] = from->items[k];
  }
  for (int i = tsr_rule_tensor(rule, other); i < tsr_rule_tensor(rule, other + 1); i++) {
    const int factor = rule->places[i].factor;
    if (tsr_rule_place_of(rule, preferred, factor) >= 0) continue;
    axes[factor] = projection->places[i].axes;
    if (!tsr_axes_cut(arena, projection->mesh, &taken, &axes[factor], &cut)) return false;
  }
  return true;
}

// ---- factors that need replication ----

// Whether all tensors with dims have a factor.
static bool is_everywhere(const tsr_op_rule *rule, int factor) {
  int count = 0;
  for (int i = 0; i < rule->tensor_count; i++) count += tsr_rule_rank(rule, i) > 0;
  return rule->used[factor + 1] - rule->used[factor] == count;
}

// Appends axes to a factor as long as they divide what is left of it. Gives how many were taken;
// -1 without memory.
static int64_t fill(tsr_arena *arena, const tsr_attr *mesh, int64_t size, const tsr_sdy_parts *from,
                    int64_t at, tsr_sdy_parts *axes) {
  const int64_t cut = tsr_parts_size(axes);
  if (!size || size % cut) return 0;
  int64_t left = size / cut, taken = 0;
  for (; at + taken < from->count && left % from->items[at + taken].size == 0; taken++) {
    const tsr_sdy_part part = from->items[at + taken];
    tsr_sdy_parts longer = {
        tsr_arena_alloc(arena, ((size_t)axes->count + 1) * sizeof *longer.items), axes->count};
    if (!longer.items) return -1;
    if (axes->count) memcpy(longer.items, axes->items, (size_t)axes->count * sizeof *longer.items);
    tsr_sdy_parts_append(mesh, &longer, part);
    *axes = longer;
    left /= part.size;
  }
  return taken;
}

static bool hand_out(tsr_arena *arena, const tsr_projection *projection, const tsr_sdy_parts *from,
                     tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = projection->rule;
  int64_t at = 0;
  for (int i = 0; i < rule->factor_count && at < from->count; i++) {
    if (rule->factors[i].kind != TSR_FACTOR_PASS || !is_everywhere(rule, i)) continue;
    const int64_t taken = fill(arena, projection->mesh, rule->factors[i].size, from, at, &axes[i]);
    if (taken < 0) return false;
    at += taken;
  }
  return true;
}

static bool replicate(tsr_arena *arena, const tsr_projection *projection, tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = projection->rule;
  for (int i = 0; i < rule->factor_count; i++) {
    if (rule->factors[i].kind != TSR_FACTOR_NEED_REPLICATION) continue;
    const tsr_sdy_parts had = axes[i];
    axes[i] = (tsr_sdy_parts){NULL, 0};
    if (had.count && is_everywhere(rule, i) && !hand_out(arena, projection, &had, axes))
      return false;
  }
  return true;
}

tsr_status tsr_common_axes(tsr_arena *arena, const tsr_projection *projection, const int64_t *sizes,
                           tsr_sdy_parts *out_axes) {
  int tensors[2] = {0, 0};
  if (fit_already(projection, out_axes)) return NULL;
  memset(out_axes, 0, (size_t)projection->rule->factor_count * sizeof *out_axes);
  bool ok = false;
  if (is_unary(projection->rule, tensors)) {
    const int second = prefers_second(projection, sizes, tensors) ? 1 : 0;
    ok = take_from_one(arena, projection, tensors[second], tensors[!second], out_axes);
  } else {
    ok = tsr_axes_choose(arena, projection, sizes, out_axes) &&
         replicate(arena, projection, out_axes);
  }
  return ok ? NULL : tsr_fail(NO_MEMORY, "axes of the factors of an op");
}
