// Companions are cut as the tensor they go with. Optimiser state takes the row of its parameter.
// Scales of a quantised weight take the weight's cut, in blocks instead of elements, so that a
// device has the scales of exactly the elements it holds. A cut through a block fails.

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "plan/plan_internal.h"
#include "plan/spec_entry.h"
#include "plan/stand_ins.h"

typedef struct companion_pass {
  tsr_plan_builder *builder;
  const tsr_tree *tree;
  bool *done;                 // owned, by row
  const tsr_plan *weights;    // that tensors stand for; NULL = none
  const int64_t *stands_for;  // for each tensor its row there, -1 = none
} companion_pass;

// ---- which dimensions belong together ----

// For each dimension of the companion that of the weight; -1 = none.
typedef struct dim_pairs {
  int of[TSR_MAX_RANK];
  bool whole[TSR_MAX_RANK];  // paired, but not to be cut
} dim_pairs;

static int find_letter(const char *axes, char letter) {
  const char *at = strchr(axes, letter == 'g' ? 'i' : letter);
  return at ? (int)(at - axes) : -1;
}

// By letters: the companion's are found among the weight's. Dimensions before the letters are the
// same for both.
static bool pair_by_letters(const tsr_companion_dim *b, const tsr_companion *c, dim_pairs *out) {
  const int own = b->scale->rank - (int)strlen(c->axes);
  const int before = b->weight->rank - (int)strlen(c->of_axes);
  if (own != before || own < 0) return false;
  for (int d = 0; d < b->scale->rank; d++) {
    const char letter = d < own ? '\0' : c->axes[d - own];
    const int at = letter ? find_letter(c->of_axes, letter) : -1;
    out->of[d] = !letter ? d : at < 0 ? -1 : before + at;
    out->whole[d] = letter == 'g' && c->indexed;
  }
  return true;
}

// The weight's dimensions with outputs before inputs.
static int output_major(const tsr_companion_dim *b, const tsr_companion *c, int d) {
  const int before = b->weight->rank - (int)strlen(c->of_axes);
  if (before < 0 || d < before) return d;
  const int at = d - before < 2 ? find_letter(c->of_axes, "oi"[d - before]) : d - before;
  return before + at;
}

static bool aligns(const tsr_companion_dim *b, const tsr_companion *c, int first) {
  if (first < 0) return false;
  for (int d = 0; d < b->scale->rank; d++) {
    const int64_t was = b->weight->dims[output_major(b, c, first + d)];
    if (b->scale->dims[d] != 1 && b->scale->dims[d] != was) return false;
  }
  return true;
}

// A companion with fewer dimensions than letters usually has a number per output, sometimes per
// input: the sizes decide.
static bool pair_by_sizes(const tsr_companion_dim *b, const tsr_companion *c, dim_pairs *out) {
  const int more = b->weight->rank - b->scale->rank;
  const int places[] = {0, more - 1, more};
  int at = 0;
  while (at < 3 && (places[at] > more || !aligns(b, c, places[at]))) at++;
  if (at == 3) return false;
  for (int d = 0; d < b->scale->rank; d++) {
    out->of[d] = output_major(b, c, places[at] + d);
  }
  return true;
}

static tsr_status pair(const tsr_companion_dim *b, const tsr_companion *c, bool cut,
                       dim_pairs *out) {
  memset(out, 0, sizeof *out);
  if (pair_by_letters(b, c, out) || pair_by_sizes(b, c, out)) return NULL;
  for (int d = 0; d < b->scale->rank; d++) out->of[d] = -1;
  if (!cut || tsr_tensor_elements(b->scale) == 1) return NULL;
  tsr_text shapes = TSR_TEXT_EMPTY;
  const tsr_shape own = tsr_tensor_shape(b->scale), other = tsr_tensor_shape(b->weight);
  tsr_shape_print(&own, &shapes);
  tsr_text_addf(&shapes, " beside \"%s\" of ", b->weight->path);
  tsr_shape_print(&other, &shapes);
  return tsr_text_end(
      &shapes,
      tsr_fail(COMPANIONS_APART, "tensor \"%s\" has shape %s: its dimensions cannot be paired",
               b->scale->path, tsr_text_string(&shapes)));
}

// ---- specs ----

// The entry of a spec for dimension `b->dim` of the companion, cut as `b->of` of the weight is.
static tsr_status follow_dim(companion_pass *work, int64_t row, tsr_companion_dim *b,
                             const tsr_sharding *sharding, bool whole, tsr_spec_dim *out) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(tsr_sharding_spec(sharding));
  *out = (tsr_spec_dim){0};
  if (b->of < 0 || b->of >= desc->dim_count || !desc->dims[b->of].stage_count) return NULL;
  if (b->scale->dims[b->dim] == 1 && b->weight->dims[b->of] != 1) return NULL;
  b->unit = 1;
  if (whole) return tsr_plan_builder_reason(work->builder, row, TSR_WHY_INDEXED, b->dim, b->unit);
  *out = desc->dims[b->of];
  TSR_TRY(tsr_companion_dim_cut(b, tsr_sharding_dim_at(sharding, b->of), out));
  return tsr_plan_builder_reason(work->builder, row, TSR_WHY_COMPANION, b->dim, b->unit);
}

static tsr_status make_spec(companion_pass *work, int64_t row, const tsr_sharding *sharding,
                            const tsr_companion *c, tsr_companion_dim *b, tsr_spec **out_spec) {
  tsr_spec_dim dims[TSR_MAX_RANK];
  dim_pairs pairs;
  const bool cut = tsr_spec_is_cut(tsr_spec_desc_of(tsr_sharding_spec(sharding)), b->weight->rank);
  TSR_TRY(pair(b, c, cut, &pairs));
  for (int d = 0; d < b->scale->rank; d++) {
    b->dim = d;
    b->of = pairs.of[d];
    TSR_TRY(follow_dim(work, row, b, sharding, pairs.whole[d], &dims[d]));
  }
  const tsr_spec_desc desc = {.size = sizeof desc, .dim_count = b->scale->rank, .dims = dims};
  return tsr_spec_create(&desc, out_spec);
}

// ---- rows ----

static tsr_status set_by_weight(companion_pass *work, int64_t row, const tsr_companion *c,
                                const tsr_plan_row *weight) {
  tsr_sharding *sharding = NULL;
  tsr_spec *spec = NULL;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_companion_dim b = {
      .scale = tsr_tree_at(work->tree, row), .weight = weight->tensor, .arena = &arena};
  TSR_TRY(tsr_sharding_bind(work->builder->plan->mesh, weight->final, false, &sharding));
  tsr_status status = make_spec(work, row, sharding, c, &b, &spec);
  if (!status) status = tsr_plan_builder_set(work->builder, row, spec, spec, weight->policy);
  tsr_spec_release(spec);
  tsr_arena_deinit(&arena);
  tsr_sharding_release(sharding);
  return status;
}

static tsr_status set_state(companion_pass *work, int64_t row, const tsr_plan_row *parameter) {
  const tsr_shape shape = tsr_tensor_shape(tsr_tree_at(work->tree, row));
  const tsr_shape other = tsr_tensor_shape(parameter->tensor);
  const tsr_spec *spec = tsr_shape_equal(&shape, &other) ? parameter->final : NULL;
  return tsr_plan_builder_set(work->builder, row, spec, spec, parameter->policy);
}

// The parameter's spec without one of its dimensions.
static tsr_status set_factor(companion_pass *work, int64_t row, int lacks,
                             const tsr_plan_row *parameter) {
  const tsr_spec_desc *whole = tsr_spec_desc_of(parameter->final);
  tsr_spec_dim dims[TSR_MAX_RANK];
  tsr_spec_desc desc = *whole;
  tsr_spec *spec = NULL;
  int count = 0;
  for (int d = 0; d < whole->dim_count; d++)
    if (d != lacks) dims[count++] = whole->dims[d];
  desc.dims = dims;
  desc.dim_count = count;
  TSR_TRY(tsr_spec_create(&desc, &spec));
  tsr_status status = tsr_plan_builder_set(work->builder, row, spec, spec, parameter->policy);
  tsr_spec_release(spec);
  return status;
}

// The row as decided so far.
static tsr_plan_row decided_row(const companion_pass *work, int64_t row) {
  const tsr_plan *plan = work->builder->plan;
  const tsr_stored_row *stored = &plan->rows[row];
  return (tsr_plan_row){.tensor = tsr_tree_at(work->tree, row),
                        .final = plan->specs[stored->final],
                        .policy = (tsr_policy)stored->policy};
}

// ---- weights in other forms ----

// The notes of the weight's row, moved to the dimensions of the tensor that stands for it.
static tsr_status copy_notes(companion_pass *work, int64_t row, const tsr_plan_row *weight,
                             const char *axes) {
  for (int64_t i = 0; i < weight->note_count; i++) {
    tsr_plan_note note = weight->notes[i];
    const char letter = note.dim == 0 ? 'o' : 'i';
    const char *at = axes && note.dim >= 0 ? strchr(axes, letter) : NULL;
    if (axes && note.dim >= 0 && !at) continue;
    if (at) note.dim = (int)(at - axes);
    TSR_TRY(tsr_plan_builder_note(work->builder, row, &note));
  }
  return NULL;
}

static tsr_status set_stand_in(companion_pass *work, int64_t row) {
  tsr_plan_row weight;
  tsr_stand_in found;
  tsr_plan_row_read(work->weights, work->stands_for[row], &weight);
  if (!tsr_stand_in_find(work->tree, row, &found)) found.axes = NULL;
  TSR_TRY(tsr_plan_builder_reason(work->builder, row, TSR_WHY_COMPANION, -1, 0));
  TSR_TRY(copy_notes(work, row, &weight, found.axes));
  if (!found.axes)
    return tsr_plan_builder_set(work->builder, row, weight.wanted, weight.final, weight.policy);
  const tsr_companion c = {.kind = TSR_COMPANION_OF_WEIGHT, .axes = found.axes, .of_axes = "oi"};
  return set_by_weight(work, row, &c, &weight);
}

static bool has_stand_in(const companion_pass *work, int64_t row) {
  return work->stands_for && work->stands_for[row] >= 0;
}

static tsr_status set_row(companion_pass *work, int64_t row);

static tsr_status set_companion(companion_pass *work, int64_t row, tsr_companion c) {
  TSR_TRY(set_row(work, c.of));
  tsr_plan_row parent = decided_row(work, c.of);
  TSR_TRY(tsr_plan_builder_reason(work->builder, row, TSR_WHY_COMPANION, -1, 0));
  if (c.kind == TSR_COMPANION_OF_WEIGHT && has_stand_in(work, c.of)) {
    tsr_plan_row_read(work->weights, work->stands_for[c.of], &parent);
    c.of_axes = "oi";
  }
  if (c.kind == TSR_COMPANION_OF_WEIGHT) return set_by_weight(work, row, &c, &parent);
  if (c.kind == TSR_COMPANION_FACTOR) return set_factor(work, row, c.lacks, &parent);
  return set_state(work, row, &parent);
}

// A companion may go with a companion, which is set first. Chains end: each name in a chain is a
// word shorter than the one before, or ends as no companion's does.
static tsr_status set_row(companion_pass *work, int64_t row) {
  if (work->done[row]) return NULL;
  work->done[row] = true;
  const bool in_other_form = has_stand_in(work, row);
  tsr_companion c = {0};
  if (!in_other_form) c = tsr_companion_find(work->tree, row);
  if (!in_other_form && c.kind == TSR_COMPANION_NONE) return NULL;
  tsr_plan_builder_drop_notes(work->builder, row);
  if (in_other_form) return set_stand_in(work, row);
  if (c.kind != TSR_COMPANION_WHOLE) return set_companion(work, row, c);
  TSR_TRY(tsr_plan_builder_reason(work->builder, row, TSR_WHY_WHOLE, -1, 0));
  return tsr_plan_builder_set(work->builder, row, NULL, NULL, TSR_POLICY_ERROR);
}

tsr_status tsr_plan_builder_follow(tsr_plan_builder *builder, const tsr_plan *weights,
                                   const int64_t *stands_for) {
  const tsr_tree *tree = builder->plan->tree;
  const int64_t count = tsr_tree_count(tree);
  companion_pass work = {
      .builder = builder, .tree = tree, .weights = weights, .stands_for = stands_for};
  if (!builder->plan->mesh)
    return tsr_fail(BAD_ARGUMENT, "a plan without a mesh does not say how companions are cut");
  work.done = calloc((size_t)count + 1, sizeof *work.done);
  if (!work.done) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  tsr_status status = NULL;
  for (int64_t i = 0; i < count && !status; i++) status = set_row(&work, i);
  free(work.done);
  return status;
}

tsr_status tsr_plan_companions(const tsr_plan *plan, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  tsr_status status = NULL;
  TSR_TRY(tsr_plan_builder_init(&builder, plan->tree, plan->mesh));
  tsr_plan_builder_rules(&builder, plan->rules, plan->logical_rules);
  for (int64_t i = 0; i < tsr_plan_count(plan) && !status; i++) {
    tsr_plan_row row;
    tsr_plan_row_read(plan, i, &row);
    status = tsr_plan_builder_copy(&builder, i, &row);
  }
  if (!status) status = tsr_plan_builder_follow(&builder, NULL, NULL);
  return tsr_plan_builder_end(&builder, status, out_plan);
}

bool tsr_plan_has_companions(const tsr_plan *plan) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row;
    tsr_plan_row_read(plan, i, &row);
    for (int64_t n = 0; n < row.note_count; n++)
      if (row.notes[n].why == TSR_WHY_COMPANION || row.notes[n].why == TSR_WHY_WHOLE) return true;
  }
  return false;
}
