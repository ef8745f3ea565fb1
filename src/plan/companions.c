// Companions are cut as what they go with. The state that an optimiser keeps for a parameter takes
// its row; the scales of a quantised weight take its cut, in blocks instead of elements, so that a
// device has the scales of exactly those elements that it holds. A cut through a block has no such
// scales, and is refused.
#include "plan/companions.h"

#include <stdlib.h>

#include "base/arena.h"
#include "plan/plan.h"

typedef struct following {
  const tsr_plan *plan;
  tsr_plan_builder *builder;
  tsr_spec *uncut;
  unsigned char *set;  // owned: which rows are
} following;

// One dimension of a scale beside that of its weight.
typedef struct beside {
  const tsr_tensor *scale, *weight;
  int dim;           // of the scale
  int64_t has, was;  // its size, and the weight's
  int64_t block;     // elements for one of the scale, or
  int64_t factor;    // elements of the scale for one of the weight's
  tsr_arena *arena;
} beside;

// ---- cuts in blocks ----

static tsr_status through_block(const beside *b, int64_t size) {
  return tsr_fail(BAD_CUT,
                  "tensor \"%s\": \"%s\" is cut at %lld elements of dimension %d, through one of "
                  "the blocks of %lld that have a scale each",
                  b->scale->path, b->weight->path, (long long)size, b->dim, (long long)b->block);
}

// A size of the weight in elements of the scale.
static tsr_status in_blocks(const beside *b, int64_t size, int64_t *out_size) {
  if (b->factor > 1) {
    if (__builtin_mul_overflow(size, b->factor, out_size))
      return tsr_fail(OVERFLOW, "tensor \"%s\" is too large", b->scale->path);
    return NULL;
  }
  if (size % b->block) return through_block(b, size);
  *out_size = size / b->block;
  return NULL;
}

static tsr_status scale_sizes(const beside *b, tsr_stage *stage) {
  int64_t *sizes = tsr_arena_zeros(b->arena, (size_t)stage->count, sizeof *sizes);
  if (!sizes) return tsr_fail(NO_MEMORY, "the sizes of a cut");
  for (int i = 0; i < stage->count; i++) TSR_TRY(in_blocks(b, stage->sizes[i], &sizes[i]));
  stage->sizes = sizes;
  return NULL;
}

// Each shard's piece of a part becomes one grain: grains themselves may be smaller than blocks.
static tsr_status scale_parts(const beside *b, int64_t shards, tsr_stage *stage) {
  tsr_part *parts = tsr_arena_zeros(b->arena, (size_t)stage->count, sizeof *parts);
  if (!parts) return tsr_fail(NO_MEMORY, "the parts of a cut");
  for (int i = 0; i < stage->count; i++) {
    parts[i] = stage->parts[i];
    const int64_t pieces = parts[i].copies > 0 ? shards / parts[i].copies : shards;
    if (pieces < 1 || parts[i].size % pieces) return through_block(b, parts[i].size);
    TSR_TRY(in_blocks(b, parts[i].size / pieces, &parts[i].grain));
    parts[i].size = parts[i].grain * pieces;
  }
  stage->parts = parts;
  return NULL;
}

// What a stage divides is halved, quartered, ... by `left`; it must be so without a remainder.
static tsr_status scale_stage(const beside *b, const tsr_bound_stage *bound, int64_t *left,
                              tsr_stage *stage) {
  int64_t ignored = 0;
  switch (stage->kind) {
    case TSR_STAGE_SIZES:
      return scale_sizes(b, stage);
    case TSR_STAGE_PARTS:
      return scale_parts(b, bound->shards, stage);
    case TSR_STAGE_CYCLIC:
      return in_blocks(b, stage->block, &stage->block);
    case TSR_STAGE_EVEN:
      if (*left % bound->shards) return through_block(b, *left / bound->shards);
      *left /= bound->shards;
      return in_blocks(b, *left, &ignored);
  }
  return NULL;
}

// Only even cuts leave parts of one size for the stage that follows.
static tsr_status check_order(const beside *b, const tsr_sharding_dim *bound) {
  for (int i = 0; i + 1 < bound->stage_count; i++)
    if (bound->stages[i].kind != TSR_STAGE_EVEN)
      return tsr_fail(UNSUPPORTED,
                      "tensor \"%s\": \"%s\" is cut in stages that are not even in dimension %d, "
                      "which its scale cannot follow",
                      b->scale->path, b->weight->path, b->dim);
  return NULL;
}

static tsr_status scale_dim(const beside *b, const tsr_sharding_dim *bound, tsr_spec_dim *dim) {
  tsr_stage *stages = tsr_arena_zeros(b->arena, (size_t)dim->stage_count, sizeof *stages);
  int64_t left = b->was;
  if (!stages) return tsr_fail(NO_MEMORY, "the stages of a cut");
  TSR_TRY(check_order(b, bound));
  for (int i = 0; i < dim->stage_count; i++) {
    stages[i] = dim->stages[i];
    TSR_TRY(scale_stage(b, &bound->stages[i], &left, &stages[i]));
  }
  dim->stages = stages;
  return NULL;
}

// ---- which dimensions belong together ----

static bool aligns(const tsr_tensor *scale, const tsr_tensor *weight, int first) {
  for (int d = 0; d < scale->rank; d++)
    if (scale->dims[d] != 1 && scale->dims[d] != weight->dims[first + d]) return false;
  return true;
}

// The dimension of the weight that belongs to the scale's first: they stand at the same places, or
// the weight has some more before them.
static int first_dim(const tsr_tensor *scale, const tsr_tensor *weight) {
  const int more = weight->rank - scale->rank;
  return more > 0 && !aligns(scale, weight, 0) && aligns(scale, weight, more) ? more : 0;
}

// The entry of a spec for dimension `b->dim` of the scale.
static tsr_status follow_dim(beside *b, const tsr_sharding *sharding, int of, tsr_spec_dim *out) {
  const tsr_spec_desc *desc = tsr_spec_get(tsr_sharding_spec(sharding));
  *out = (tsr_spec_dim){.priority = TSR_NO_PRIORITY};
  if (of >= desc->dim_count || of >= b->weight->rank || !desc->dims[of].stage_count) return NULL;
  b->has = b->scale->dims[b->dim];
  b->was = b->weight->dims[of];
  if (b->has == 1 && b->was != 1) return NULL;
  *out = desc->dims[of];
  if (b->has == b->was || b->has == 0) return NULL;
  b->block = b->has < b->was ? (b->was + b->has - 1) / b->has : 1;
  b->factor = b->has > b->was && b->was > 0 ? b->has / b->was : 1;
  if (b->has > b->was && b->has != b->factor * b->was)
    return tsr_fail(BAD_CUT,
                    "tensor \"%s\": size %lld of dimension %d is no multiple of \"%s\"'s %lld",
                    b->scale->path, (long long)b->has, b->dim, b->weight->path, (long long)b->was);
  return scale_dim(b, tsr_sharding_dim_at(sharding, of), out);
}

static tsr_status note_dim(following *work, int64_t row, const beside *b) {
  const tsr_plan_note note = {
      .why = TSR_WHY_COMPANION, .dim = b->dim, .rule = -1, .argument = b->block};
  return tsr_plan_builder_note(work->builder, row, &note);
}

static tsr_status make_spec(following *work, int64_t row, const tsr_sharding *sharding, beside *b,
                            tsr_spec **out_spec) {
  tsr_spec_dim dims[TSR_MAX_RANK];
  const int first = first_dim(b->scale, b->weight);
  for (int d = 0; d < b->scale->rank; d++) {
    b->dim = d;
    b->block = 1;
    b->factor = 1;
    TSR_TRY(follow_dim(b, sharding, first + d, &dims[d]));
    if (dims[d].stage_count) TSR_TRY(note_dim(work, row, b));
  }
  const tsr_spec_desc desc = {.size = sizeof desc, .dim_count = b->scale->rank, .dims = dims};
  return tsr_spec_create(&desc, out_spec);
}

// ---- rows ----

static tsr_status set_scale(following *work, int64_t row, const tsr_plan_row *weight) {
  tsr_sharding *sharding = NULL;
  tsr_spec *spec = NULL;
  tsr_arena arena = TSR_ARENA_EMPTY;
  beside b = {
      .scale = tsr_tree_tensor(work->plan->tree, row), .weight = weight->tensor, .arena = &arena};
  TSR_TRY(tsr_sharding_bind(work->plan->mesh, weight->final, false, &sharding));
  tsr_status status = make_spec(work, row, sharding, &b, &spec);
  if (!status) status = tsr_plan_builder_set(work->builder, row, spec, spec, weight->policy);
  tsr_spec_release(spec);
  tsr_arena_deinit(&arena);
  tsr_sharding_release(sharding);
  return status;
}

static tsr_status set_state(following *work, int64_t row, const tsr_plan_row *parameter) {
  const tsr_shape shape = tsr_tensor_shape(tsr_tree_tensor(work->plan->tree, row));
  const tsr_shape other = tsr_tensor_shape(parameter->tensor);
  const tsr_spec *spec = tsr_shape_equal(&shape, &other) ? parameter->final : work->uncut;
  return tsr_plan_builder_set(work->builder, row, spec, spec, parameter->policy);
}

static tsr_status copy_row(following *work, int64_t row) {
  tsr_plan_row own;
  tsr_plan_get(work->plan, row, &own);
  TSR_TRY(tsr_plan_builder_set(work->builder, row, own.wanted, own.final, own.policy));
  for (int i = 0; i < own.note_count; i++)
    TSR_TRY(tsr_plan_builder_note(work->builder, row, &own.notes[i]));
  return NULL;
}

// The row as it was decided on so far: of the new plan.
static void get_set_row(const following *work, int64_t row, tsr_plan_row *out) {
  const tsr_plan *building = work->builder->plan;
  const tsr_stored_row *stored = &building->rows[row];
  tsr_plan_get(work->plan, row, out);
  out->final = building->specs[stored->final];
  out->policy = (tsr_policy)stored->policy;
}

// A companion may go with a companion, which is set first. Chains end: each name in one has a word
// less than the one before, or ends as no companion does.
static tsr_status set_row(following *work, int64_t row) {
  int64_t of = -1;
  tsr_plan_row parent;
  if (work->set[row]) return NULL;
  work->set[row] = 1;
  const tsr_companion_kind kind = tsr_companion_find(work->plan->tree, row, &of);
  if (kind == TSR_COMPANION_NONE) return copy_row(work, row);
  TSR_TRY(set_row(work, of));
  get_set_row(work, of, &parent);
  const tsr_plan_note note = {.why = TSR_WHY_COMPANION, .dim = -1, .rule = -1};
  TSR_TRY(tsr_plan_builder_note(work->builder, row, &note));
  return kind == TSR_COMPANION_SCALE ? set_scale(work, row, &parent)
                                     : set_state(work, row, &parent);
}

static tsr_status set_all(following *work, int64_t count) {
  work->set = calloc((size_t)count + 1, 1);
  if (!work->set) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  tsr_status status = tsr_spec_of(NULL, 0, &work->uncut);
  for (int64_t i = 0; i < count && !status; i++) status = set_row(work, i);
  tsr_spec_release(work->uncut);
  free(work->set);
  return status;
}

tsr_status tsr_plan_companions(const tsr_plan *plan, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  following work = {.plan = plan, .builder = &builder};
  if (!plan->mesh)
    return tsr_fail(BAD_ARGUMENT, "a plan without a mesh does not say how companions are cut");
  TSR_TRY(tsr_plan_builder_init(&builder, plan->tree, plan->mesh));
  tsr_plan_builder_rules(&builder, plan->rules, plan->logical_rules);
  tsr_status status = set_all(&work, tsr_plan_count(plan));
  if (!status) status = tsr_plan_builder_finish(&builder, out_plan);
  tsr_plan_builder_deinit(&builder);
  return status;
}
