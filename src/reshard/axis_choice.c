// The choice of axes: candidates are factors with lists of axes that a tensor has along them, and
// the beginnings of these lists.
#include "reshard/axis_choice.h"

#include <string.h>

typedef struct axes_candidate {
  int factor;
  tsr_sdy_parts axes;
  int64_t source_size;  // elements of the tensors that have these axes, or more
  int64_t size;         // of the axes beyond those that the factor has
} axes_candidate;

typedef struct choice {
  const tsr_projection *projection;
  tsr_arena *arena;
  tsr_sdy_parts *axes;  // that factors have
  bool *full, *ready;   // of factors: all of it is cut; the factors before it are full
  axes_candidate *candidates;
  int64_t count;
} choice;

bool tsr_parts_add_copy(tsr_arena *arena, tsr_sdy_parts *parts, tsr_sdy_part part) {
  tsr_sdy_part *items = tsr_arena_alloc(arena, ((size_t)parts->count + 1) * sizeof *items);
  if (!items) return false;
  if (parts->count) memcpy(items, parts->items, (size_t)parts->count * sizeof *items);
  items[parts->count] = part;
  *parts = (tsr_sdy_parts){items, parts->count + 1};
  return true;
}

bool tsr_axes_cut(tsr_arena *arena, const tsr_attr *mesh, const tsr_sdy_parts *taken,
                  tsr_sdy_parts *axes, bool *out_cut) {
  *out_cut = false;
  for (int64_t i = 0; i < axes->count; i++) {
    tsr_sdy_part part = axes->items[i];
    const bool left = tsr_part_cut(mesh, &part, taken);
    if (left && tsr_sdy_same(&part, &axes->items[i])) continue;
    axes->count = i;
    *out_cut = true;
    return !left || tsr_parts_add_copy(arena, axes, part);
  }
  return true;
}

// ---- candidates ----

static int64_t shared_count(const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  int64_t i = 0;
  while (i < a->count && i < b->count && tsr_sdy_same(&a->items[i], &b->items[i])) i++;
  return i;
}

// The candidates of one use of a factor that no use before it has.
static void add_candidates(choice *c, int factor, int use) {
  const tsr_op_rule *rule = c->projection->rule;
  const tsr_factor_sharding *place = &c->projection->places[rule->uses[use]];
  int64_t known = 0;
  if (!place->present) return;
  for (int i = rule->used[factor]; i < use; i++) {
    const tsr_factor_sharding *before = &c->projection->places[rule->uses[i]];
    const int64_t shared = before->present ? shared_count(&before->axes, &place->axes) : 0;
    if (shared > known) known = shared;
  }
  for (int64_t i = known + 1; i <= place->axes.count; i++) {
    const tsr_sdy_parts axes = {place->axes.items, i};
    c->candidates[c->count++] =
        (axes_candidate){.factor = factor, .axes = axes, .size = tsr_parts_size(&axes)};
  }
}

// Adds the size of a tensor to the candidates from `from` on whose axes it has.
static void weigh(choice *c, const int64_t *sizes, int64_t from, int use) {
  const tsr_op_rule *rule = c->projection->rule;
  const int place = rule->uses[use];
  const tsr_factor_sharding *source = &c->projection->places[place];
  const int64_t size = sizes[rule->places[place].tensor];
  if (!source->present) return;
  for (int64_t i = from; i < c->count; i++) {
    axes_candidate *one = &c->candidates[i];
    if (tsr_parts_prefix(&one->axes, &source->axes) == TSR_PREFIX_NOT) continue;
    if (__builtin_add_overflow(one->source_size, size, &one->source_size))
      one->source_size = INT64_MAX;
  }
}

static bool find_candidates(choice *c, const int64_t *sizes) {
  const tsr_op_rule *rule = c->projection->rule;
  int64_t most = 0;
  for (int i = 0; i < rule->place_count; i++) most += c->projection->places[i].axes.count;
  c->candidates = tsr_arena_alloc(c->arena, ((size_t)most + 1) * sizeof *c->candidates);
  if (!c->candidates) return false;
  for (int factor = 0; factor < rule->factor_count; factor++) {
    const int64_t first = c->count;
    for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) add_candidates(c, factor, i);
    for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) weigh(c, sizes, first, i);
  }
  return true;
}

// ---- the best one ----

static int precedence(tsr_factor_kind kind) {
  switch (kind) {
    case TSR_FACTOR_PASS:
      return 3;
    case TSR_FACTOR_REDUCTION:
      return 2;
    case TSR_FACTOR_PERMUTATION:
      return 1;
    default:
      return 0;
  }
}

static int compare_names(const tsr_attr *mesh, int left, int right) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  const tsr_attr *a = tsr_attr_field(axes->items[left], TSR_SDY_MESH_AXIS_NAME);
  const tsr_attr *b = tsr_attr_field(axes->items[right], TSR_SDY_MESH_AXIS_NAME);
  const size_t shared = a->length < b->length ? a->length : b->length;
  const int order = shared ? memcmp(a->bytes, b->bytes, shared) : 0;
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

// Axes by name; a whole axis stands behind parts at its beginning.
static int compare_part(const tsr_attr *mesh, const tsr_sdy_part *a, const tsr_sdy_part *b) {
  if (a->axis != b->axis) return compare_names(mesh, a->axis, b->axis);
  if (a->pre != b->pre) return a->pre < b->pre ? -1 : 1;
  return (a->size > b->size) - (a->size < b->size);
}

static int compare_axes(const tsr_attr *mesh, const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int64_t i = 0; i < a->count; i++)
    if (!tsr_sdy_same(&a->items[i], &b->items[i]))
      return compare_part(mesh, &a->items[i], &b->items[i]);
  return 0;
}

static bool is_better(const choice *c, const axes_candidate *a, const axes_candidate *b) {
  const tsr_factor *factors = c->projection->rule->factors;
  const int rank[2] = {precedence(factors[a->factor].kind), precedence(factors[b->factor].kind)};
  if (a->source_size != b->source_size) return a->source_size > b->source_size;
  if (rank[0] != rank[1]) return rank[0] > rank[1];
  if (a->size != b->size) return a->size > b->size;
  if (a->factor != b->factor) return a->factor > b->factor;
  return compare_axes(c->projection->mesh, &a->axes, &b->axes) > 0;
}

static const axes_candidate *find_best(const choice *c) {
  const axes_candidate *best = NULL;
  for (int64_t i = 0; i < c->count; i++) {
    const axes_candidate *one = &c->candidates[i];
    if (c->ready[one->factor] && (!best || is_better(c, one, best))) best = one;
  }
  return best;
}

// ---- turns ----

// A factor has to wait for those right before it in any dim.
static void find_ready(choice *c) {
  const tsr_op_rule *rule = c->projection->rule;
  memset(c->ready, 1, (size_t)rule->factor_count);
  for (int i = 1; i < rule->place_count; i++) {
    const tsr_rule_place *before = &rule->places[i - 1], *place = &rule->places[i];
    if (before->tensor == place->tensor && before->dim == place->dim && !c->full[before->factor])
      c->ready[place->factor] = false;
  }
}

// What a candidate is after `taken` was given to a factor; false if it is none any more.
static bool is_left(choice *c, axes_candidate *one, int factor, const tsr_sdy_parts *taken,
                    bool *ok) {
  const tsr_sdy_parts *has = &c->axes[one->factor];
  int64_t had = 1;
  if (one->factor == factor) {
    if (tsr_parts_prefix(taken, &one->axes) != TSR_PREFIX_STRICT) return false;
    had = tsr_parts_size(taken);
  } else {
    bool cut = false;
    *ok = tsr_axes_cut(c->arena, c->projection->mesh, taken, &one->axes, &cut);
    if (cut && tsr_sdy_parts_equal(&one->axes, has)) return false;
    if (cut) had = tsr_parts_size(has);
  }
  one->size = tsr_parts_size(&one->axes) / had;
  return true;
}

static bool give(choice *c, int factor, tsr_sdy_parts taken) {
  int64_t kept = 0;
  bool ok = true;
  c->axes[factor] = taken;
  if (tsr_parts_size(&taken) == c->projection->rule->factors[factor].size) {
    c->full[factor] = true;
    find_ready(c);
  }
  for (int64_t i = 0; ok && i < c->count; i++) {
    axes_candidate one = c->candidates[i];
    if (is_left(c, &one, factor, &taken, &ok)) c->candidates[kept++] = one;
  }
  c->count = kept;
  return ok;
}

bool tsr_axes_choose(tsr_arena *arena, const tsr_projection *projection, const int64_t *sizes,
                     tsr_sdy_parts *out_axes) {
  const size_t factors = (size_t)projection->rule->factor_count + 1;
  choice c = {.projection = projection, .arena = arena, .axes = out_axes};
  c.full = tsr_arena_zeros(arena, factors, sizeof *c.full);
  c.ready = tsr_arena_zeros(arena, factors, sizeof *c.ready);
  if (!c.full || !c.ready || !find_candidates(&c, sizes)) return false;
  find_ready(&c);
  for (const axes_candidate *best = find_best(&c); best; best = find_best(&c))
    if (!give(&c, best->factor, best->axes)) return false;
  return true;
}
