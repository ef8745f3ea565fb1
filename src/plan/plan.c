// Reading plans: rows, layouts, equality, groups.
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "base/suggest.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "plan/plan_internal.h"
#include "rules/logical_internal.h"
#include "tessera/engine/layout.h"

static const struct {
  const char *word, *text;
} reasons[TSR_WHY_COUNT] = {
#define X(id, why_word, why_text) [TSR_WHY_##id] = {why_word, why_text},
    TSR_REASONS(X)
#undef X
};

const char *tsr_why_word(tsr_why why) {
  return (unsigned)why < TSR_WHY_COUNT ? reasons[why].word : NULL;
}
const char *tsr_why_text(tsr_why why) {
  return (unsigned)why < TSR_WHY_COUNT ? reasons[why].text : NULL;
}

tsr_plan *tsr_plan_retain(const tsr_plan *plan) {
  tsr_plan *mine = (tsr_plan *)plan;
  atomic_fetch_add_explicit(&mine->references, 1, memory_order_relaxed);
  return mine;
}

void tsr_plan_release(const tsr_plan *plan) {
  tsr_plan *mine = (tsr_plan *)plan;
  if (!mine || atomic_fetch_sub_explicit(&mine->references, 1, memory_order_acq_rel) != 1) return;
  for (int64_t i = 0; i < mine->spec_count; i++) tsr_spec_release(mine->specs[i]);
  tsr_tree_release(mine->tree);
  tsr_mesh_release(mine->mesh);
  tsr_rules_release(mine->rules);
  tsr_logical_rules_release(mine->logical_rules);
  tsr_arena_deinit(&mine->names);
  free(mine->specs);
  free(mine->rows);
  free(mine->notes);
  free(mine);
}

const tsr_tree *tsr_plan_tree(const tsr_plan *plan) { return plan->tree; }
const tsr_mesh *tsr_plan_mesh(const tsr_plan *plan) { return plan->mesh; }
const tsr_rules *tsr_plan_rules(const tsr_plan *plan) { return plan->rules; }

int64_t tsr_plan_count(const tsr_plan *plan) { return tsr_tree_count(plan->tree); }
int64_t tsr_plan_bytes_per_device(const tsr_plan *plan) { return plan->bytes_per_device; }
int64_t tsr_plan_spec_count(const tsr_plan *plan) { return plan->spec_count; }
const tsr_spec *tsr_plan_spec_at(const tsr_plan *plan, int64_t spec) {
  return spec >= 0 && spec < tsr_plan_spec_count(plan) ? plan->specs[spec] : NULL;
}
static bool has_row(const tsr_plan *plan, int64_t index) {
  return index >= 0 && index < tsr_tree_count(plan->tree);
}

int64_t tsr_plan_final(const tsr_plan *plan, int64_t index) {
  return has_row(plan, index) ? plan->rows[index].final : -1;
}

const tsr_spec *tsr_plan_find_spec(const tsr_plan *plan, const char *path) {
  const int64_t index = tsr_tree_find(plan->tree, path);
  return index < 0 ? NULL : plan->specs[plan->rows[index].final];
}

bool tsr_plan_row_read(const tsr_plan *plan, int64_t index, tsr_plan_row *out_row) {
  if (!has_row(plan, index)) return false;
  const tsr_stored_row *row = &plan->rows[index];
  *out_row = (tsr_plan_row){.size = sizeof *out_row,
                            .tensor = tsr_tree_at(plan->tree, index),
                            .wanted = plan->specs[row->wanted],
                            .final = plan->specs[row->final],
                            .policy = (tsr_policy)row->policy,
                            .bytes_per_device = row->bytes_per_device,
                            .note_count = row->note_count,
                            .notes = plan->notes + row->first_note};
  return true;
}

int64_t tsr_plan_row_rule(const tsr_plan_row *row) {
  for (int64_t i = 0; i < row->note_count; i++)
    if (row->notes[i].why == TSR_WHY_RULE) return row->notes[i].rule;
  return -1;
}

tsr_status tsr_plan_need(const tsr_plan *plan, int64_t index, tsr_plan_row *out_row) {
  if (tsr_plan_row_read(plan, index, out_row)) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "tensor %lld of a plan for %lld", (long long)index,
                  (long long)tsr_plan_count(plan));
}

tsr_status tsr_plan_at(const tsr_plan *plan, int64_t index, tsr_plan_row *out_row) {
  tsr_plan_row row;
  TSR_TRY(tsr_sized_check(tsr_plan_row, out_row));
  TSR_TRY(tsr_plan_need(plan, index, &row));
  tsr_sized_fill(tsr_plan_row, &row, out_row);
  return NULL;
}

tsr_status tsr_plan_find(const tsr_plan *plan, const char *path, tsr_plan_row *out_row) {
  const int64_t index = tsr_tree_find(plan->tree, path);
  if (index >= 0) return tsr_plan_at(plan, index, out_row);
  const tsr_suggestion near = {.best = tsr_tree_nearest(plan->tree, path)};
  return tsr_fail(NOT_FOUND, "the plan has no tensor \"%s\"" TSR_DID_YOU_MEAN, path,
                  TSR_SUGGESTED(near));
}

// ---- layouts ----

tsr_status tsr_tensor_layout(const tsr_tensor *tensor, const tsr_mesh *mesh, const tsr_spec *spec,
                             tsr_policy policy, tsr_layout **out_layout) {
  tsr_sharding *sharding = NULL;
  const tsr_shape shape = tsr_tensor_shape(tensor);
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_status status = tsr_layout_create(sharding, &shape, policy, out_layout);
  tsr_sharding_release(sharding);
  return status;
}

tsr_status tsr_tensor_try_layout(const tsr_tensor *tensor, const tsr_mesh *mesh,
                                 const tsr_spec *spec, tsr_policy policy, tsr_layout **out_layout) {
  *out_layout = NULL;
  tsr_status status = tsr_tensor_layout(tensor, mesh, spec, policy, out_layout);
  if (!status || tsr_status_code(status) == TSR_CODE_NO_MEMORY) return status;
  tsr_status_free(status);
  return NULL;
}

tsr_status tsr_plan_try_layout(const tsr_plan *plan, int64_t index, tsr_layout **out_layout) {
  const tsr_stored_row *row = &plan->rows[index];
  return tsr_tensor_try_layout(tsr_tree_at(plan->tree, index), plan->mesh, plan->specs[row->final],
                               (tsr_policy)row->policy, out_layout);
}

// Every combination of shards along the dimensions is a shard, so the longest ones meet.
int64_t tsr_layout_largest(const tsr_layout *layout) {
  int64_t elements = 1;
  for (int d = 0; d < tsr_layout_rank(layout); d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    elements *= tsr_cut_longest(&cut);
  }
  return elements;
}

tsr_status tsr_plan_layout(const tsr_plan *plan, int64_t index, tsr_layout **out_layout) {
  tsr_plan_row row;
  TSR_TRY(tsr_plan_need(plan, index, &row));
  if (!plan->mesh) return tsr_fail(NO_MESH_ACTIVE, "the plan was made without a mesh");
  return tsr_note(tsr_tensor_layout(row.tensor, plan->mesh, row.final, row.policy, out_layout),
                  "tensor \"%s\"", row.tensor->path);
}

// ---- equality ----

static bool same_name(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static bool same_note(const tsr_plan_note *a, const tsr_plan_note *b) {
  return a->why == b->why && a->dim == b->dim && a->rule == b->rule && a->argument == b->argument &&
         same_name(a->axis, b->axis);
}

static bool same_row(const tsr_plan_row *a, const tsr_plan_row *b) {
  if (a->policy != b->policy || a->note_count != b->note_count) return false;
  if (!tsr_spec_equal(a->wanted, b->wanted) || !tsr_spec_equal(a->final, b->final)) return false;
  for (int64_t i = 0; i < a->note_count; i++)
    if (!same_note(&a->notes[i], &b->notes[i])) return false;
  return true;
}

static bool same_mesh(const tsr_mesh *a, const tsr_mesh *b) {
  return a && b ? tsr_mesh_equal(a, b) : a == b;
}

static bool same_rules(const tsr_rules *a, const tsr_rules *b) {
  if (a == b || !a || !b) return a == b;
  bool same = tsr_rules_count(a) == tsr_rules_count(b);
  for (int64_t i = 0; same && i < tsr_rules_count(a); i++) {
    const tsr_rule *left = tsr_rules_at(a, i), *right = tsr_rules_at(b, i);
    same = !strcmp(left->pattern, right->pattern) && !strcmp(left->file, right->file) &&
           left->line == right->line && tsr_spec_equal(left->spec, right->spec) &&
           same_name(left->together, right->together) && same_name(left->over, right->over) &&
           same_name(left->written, right->written);
  }
  return same;
}

static bool same_logical_rules(const tsr_logical_rules *a, const tsr_logical_rules *b) {
  return a && b ? tsr_logical_rules_equal(a, b) : a == b;
}

bool tsr_plan_equal(const tsr_plan *a, const tsr_plan *b) {
  if (!same_mesh(a->mesh, b->mesh) || !tsr_tree_equal(a->tree, b->tree)) return false;
  if (!same_rules(a->rules, b->rules)) return false;
  if (!same_logical_rules(a->logical_rules, b->logical_rules)) return false;
  for (int64_t i = 0; i < tsr_plan_count(a); i++) {
    tsr_plan_row left, right;
    tsr_plan_row_read(a, i, &left);
    tsr_plan_row_read(b, i, &right);
    if (!same_row(&left, &right)) return false;
  }
  return true;
}

// ---- groups ----

tsr_status tsr_plan_group(const tsr_plan *plan, tsr_tree_groups *out_groups) {
  const size_t count = (size_t)tsr_plan_count(plan);
  uint64_t *keys = malloc(sizeof *keys * (count + 1));
  if (!keys) return tsr_fail(NO_MEMORY, "groups of %zu tensors", count);
  for (size_t i = 0; i < count; i++) {
    const tsr_stored_row *row = &plan->rows[i];
    keys[i] = (uint64_t)row->wanted << 34 | (uint64_t)row->final << 4 | row->policy;
  }
  tsr_status status = tsr_tree_group_by(plan->tree, keys, out_groups);
  free(keys);
  return status;
}
