// Lints: mistakes in rules, found by matching them against a model.
//
// Each tensor is matched once. Rules that decide no tensor are then tried on all of them: some
// match nothing, others come too late.
#include <stdlib.h>
#include <string.h>

#include "advice/near.h"
#include "base/grow.h"
#include "base/name_index.h"
#include "element/shape_internal.h"
#include "plan/plan.h"
#include "advice/advice_internal.h"
#include "plan/spec_entry.h"
#include "plan/tree_internal.h"
#include "rules/rules_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/sharding.h"

enum {
  CHUNK = 1024,      // tensors in one task
  MOST_GROUPS = 256  // groups without a rule that are searched for near misses
};

// The tensors that a rule decides and, if there are none, those it would match.
typedef struct rule_use {
  int64_t decides, decided_bytes, first_decided;  // -1 = none
  int64_t matches, matched_bytes, first_matched;
  int repeats;     // the earlier rule with the same pattern, -1 = none
  bool near_miss;  // already reported as one
} rule_use;

typedef struct lint_job {
  const tsr_rules *rules;
  const tsr_tree *tree;
  const tsr_mesh *mesh;  // may be NULL
  tsr_pool *pool;
  int64_t *rule_of;  // owned: of each tensor; -1 = none
  rule_use *uses;    // owned: of each rule
  int64_t *idle;     // owned: rules that decide nothing
  int idle_count;
  tsr_lints lints;
  int64_t capacity;
} lint_job;

static tsr_status add(lint_job *work, tsr_lint lint) {
  tsr_lint *items = tsr_grow(work->lints.items, work->lints.count, &work->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "remarks on rules");
  work->lints.items = items;
  items[work->lints.count++] = lint;
  return NULL;
}

static int64_t bytes_of(const lint_job *work, int64_t row) {
  return tsr_tensor_bytes(tsr_tree_at(work->tree, row));
}

// ---- matching ----

static tsr_status match_chunk(void *context, int64_t chunk, int worker) {
  (void)worker;
  lint_job *work = context;
  const int64_t count = tsr_tree_count(work->tree);
  const int64_t end = (chunk + 1) * CHUNK < count ? (chunk + 1) * CHUNK : count;
  for (int64_t i = chunk * CHUNK; i < end; i++)
    TSR_TRY(tsr_rules_match(work->rules, tsr_tree_at(work->tree, i)->path, &work->rule_of[i]));
  return NULL;
}

static tsr_status match_idle(void *context, int64_t index, int worker) {
  (void)worker;
  lint_job *work = context;
  const int64_t rule = work->idle[index];
  rule_use *of = &work->uses[rule];
  for (int64_t i = 0; i < tsr_tree_count(work->tree); i++) {
    bool matches = false;
    TSR_TRY(tsr_rules_match_one(work->rules, rule, tsr_tree_at(work->tree, i)->path, &matches));
    if (!matches) continue;
    if (!of->matches++) of->first_matched = i;
    of->matched_bytes += bytes_of(work, i);
  }
  return NULL;
}

static void count_decisions(lint_job *work) {
  for (int64_t i = 0; i < tsr_tree_count(work->tree); i++) {
    if (work->rule_of[i] < 0) continue;
    rule_use *of = &work->uses[work->rule_of[i]];
    if (!of->decides++) of->first_decided = i;
    of->decided_bytes += bytes_of(work, i);
  }
  for (int64_t r = 0; r < tsr_rules_count(work->rules); r++)
    if (!work->uses[r].decides) work->idle[work->idle_count++] = r;
}

static tsr_status find_repeats(lint_job *work) {
  tsr_name_index patterns = TSR_NAME_INDEX_EMPTY;
  tsr_status status = NULL;
  for (int64_t r = 0; r < tsr_rules_count(work->rules) && !status; r++) {
    int64_t existing = -1;
    const char *pattern = tsr_rules_at(work->rules, r)->pattern;
    status = tsr_name_index_add(&patterns, pattern, r, &existing);
    work->uses[r] = (rule_use){.first_decided = -1, .first_matched = -1, .repeats = (int)existing};
  }
  tsr_name_index_deinit(&patterns);
  return status;
}

static tsr_status match_rules(lint_job *work) {
  const size_t tensors = (size_t)tsr_tree_count(work->tree);
  const size_t rules = (size_t)tsr_rules_count(work->rules);
  work->rule_of = calloc(tensors + 1, sizeof *work->rule_of);
  work->uses = calloc(rules + 1, sizeof *work->uses);
  work->idle = calloc(rules + 1, sizeof *work->idle);
  if (!work->rule_of || !work->uses || !work->idle)
    return tsr_fail(NO_MEMORY, "%zu rules on %zu tensors", rules, tensors);
  if (tensors > CHUNK) TSR_TRY(tsr_pool_create(0, &work->pool));
  TSR_TRY(find_repeats(work));
  TSR_TRY(tsr_pool_run(work->pool, ((int64_t)tensors + CHUNK - 1) / CHUNK, match_chunk, work));
  count_decisions(work);
  return tsr_pool_run(work->pool, work->idle_count, match_idle, work);
}

// ---- rules that decide nothing ----

static tsr_status lint_idle(lint_job *work, int64_t rule) {
  const rule_use *of = &work->uses[rule];
  if (of->near_miss) return NULL;
  tsr_lint lint = {.kind = TSR_LINT_NEVER_MATCHES,
                   .rule = rule,
                   .other_rule = of->repeats,
                   .row = of->first_matched,
                   .dim = -1,
                   .tensors = of->matches,
                   .bytes = of->matched_bytes};
  if (of->repeats >= 0) {
    lint.kind = TSR_LINT_DUPLICATE;
  } else if (of->matches) {
    lint.kind = TSR_LINT_SHADOWED;
    lint.other_rule = work->rule_of[of->first_matched];
  }
  return add(work, lint);
}

// ---- axes of one rule ----

static tsr_lint about_rule(const lint_job *work, tsr_lint_kind kind, int64_t rule) {
  const rule_use *of = &work->uses[rule];
  return (tsr_lint){.kind = kind,
                    .rule = rule,
                    .other_rule = -1,
                    .row = of->first_decided,
                    .dim = -1,
                    .tensors = of->decides,
                    .bytes = of->decided_bytes};
}

static tsr_status lint_unknown_axes(lint_job *work, int64_t rule) {
  const tsr_spec *spec = tsr_rules_at(work->rules, rule)->spec;
  const char **names = NULL;
  int count = 0;
  if (!work->mesh) return NULL;
  TSR_TRY(tsr_spec_axis_names(&spec, 1, &names, &count));
  tsr_status status = NULL;
  for (int i = 0; i < count && !status; i++) {
    if (tsr_mesh_axis_find(work->mesh, names[i]) >= 0) continue;
    tsr_lint lint = about_rule(work, TSR_LINT_AXIS_UNKNOWN, rule);
    lint.axis = names[i];
    status = add(work, lint);
  }
  free(names);
  return status;
}

// The first axis of a spec that overlaps one before it; NULL if there is none.
static const tsr_axis_ref *find_repeated(const tsr_spec_desc *desc, int *out_dim) {
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      for (int i = 0; i < desc->dims[d].stages[s].axis_count; i++) {
        const tsr_axis_ref *ref = &desc->dims[d].stages[s].axes[i];
        *out_dim = d;
        if (tsr_spec_is_repeated(desc, ref)) return ref;
      }
  return NULL;
}

static tsr_status lint_repeated_axis(lint_job *work, int64_t rule) {
  tsr_lint lint = about_rule(work, TSR_LINT_AXIS_TWICE, rule);
  const tsr_axis_ref *ref =
      find_repeated(tsr_spec_desc_of(tsr_rules_at(work->rules, rule)->spec), &lint.dim);
  if (!ref) return NULL;
  lint.axis = ref->name;
  return add(work, lint);
}

// ---- tensors that a rule cannot cut ----

static bool costs_a_cut(tsr_change_kind kind) {
  return kind == TSR_CHANGE_INDIVISIBLE || kind == TSR_CHANGE_CUT_MISFIT ||
         kind == TSR_CHANGE_SUB_AXIS_MISFIT;
}

// The first dimension of a corrected spec with an uneven cut.
static tsr_status uneven_dim(const lint_job *work, const tsr_spec *spec, const tsr_tensor *tensor,
                             int *out_dim) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  for (int d = 0; d < desc->dim_count; d++) {
    bool fits = true;
    if (desc->dims[d].stage_count)
      TSR_TRY(tsr_spec_entry_fits(&desc->dims[d], work->mesh, tensor->dims[d], TSR_POLICY_ERROR,
                                  &fits));
    if (fits) continue;
    *out_dim = d;
    return NULL;
  }
  return NULL;
}

// The first dimension that a spec should cut and cannot; -1 = none.
static tsr_status dropped_dim(const lint_job *work, const tsr_spec *spec, const tsr_tensor *tensor,
                              int *out_dim) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_changes changes = {0};
  tsr_spec *corrected = NULL;
  *out_dim = -1;
  tsr_status status = tsr_spec_correct(spec, work->mesh, &shape, NULL, &corrected, &changes);
  if (tsr_status_cause(status) == TSR_CAUSE_DUPLICATE_MESH_AXIS) {  // a remark of its own
    tsr_status_free(status);
    return NULL;
  }
  for (int64_t i = 0; i < changes.count && *out_dim < 0; i++)
    if (costs_a_cut(changes.items[i].kind)) *out_dim = changes.items[i].dim;
  if (!status && *out_dim < 0) status = uneven_dim(work, corrected, tensor, out_dim);
  tsr_changes_deinit(&changes);
  tsr_spec_release(corrected);
  return status;
}

// The remarks on one rule that are summed over its tensors.
typedef struct rule_lints {
  tsr_lint dropped, too_long;
} rule_lints;

static void count_tensor(tsr_lint *lint, tsr_lint_kind kind, int64_t rule, int64_t row, int dim,
                         int64_t bytes) {
  if (!lint->tensors)
    *lint = (tsr_lint){.kind = kind, .rule = rule, .other_rule = -1, .row = row, .dim = dim};
  lint->tensors++;
  lint->bytes += bytes;
}

static tsr_status count_row(lint_job *work, tsr_shape_table *known, rule_lints *of, int64_t row) {
  const tsr_tensor *tensor = tsr_tree_at(work->tree, row);
  const int64_t rule = work->rule_of[row];
  const tsr_spec *spec = tsr_rules_at(work->rules, rule)->spec;
  bool is_new = false;
  if (tsr_spec_desc_of(spec)->dim_count > tensor->rank)
    count_tensor(&of->too_long, TSR_LINT_TOO_LONG, rule, row, -1, bytes_of(work, row));
  if (!work->mesh) return NULL;
  int *dim = tsr_shape_table_value(known, (uint64_t)rule, tensor, &is_new);
  if (!dim) return tsr_fail(NO_MEMORY, "shapes of tensors");
  if (is_new) TSR_TRY(dropped_dim(work, spec, tensor, dim));
  if (*dim >= 0)
    count_tensor(&of->dropped, TSR_LINT_AXIS_DROPPED, rule, row, *dim, bytes_of(work, row));
  return NULL;
}

static tsr_status count_rows(lint_job *work, tsr_shape_table *known, rule_lints *rules) {
  for (int64_t i = 0; i < tsr_tree_count(work->tree); i++)
    if (work->rule_of[i] >= 0 && tsr_tree_at(work->tree, i)->rank)
      TSR_TRY(count_row(work, known, &rules[work->rule_of[i]], i));
  for (int64_t r = 0; r < tsr_rules_count(work->rules); r++) {
    if (rules[r].dropped.tensors) TSR_TRY(add(work, rules[r].dropped));
    if (rules[r].too_long.tensors) TSR_TRY(add(work, rules[r].too_long));
  }
  return NULL;
}

static tsr_status lint_cuts(lint_job *work) {
  tsr_shape_table known = TSR_SHAPE_TABLE(int);  // dimension that cannot be cut, by rule
  rule_lints *rules = calloc((size_t)tsr_rules_count(work->rules) + 1, sizeof *rules);
  tsr_status status = rules ? count_rows(work, &known, rules) : tsr_fail(NO_MEMORY, "rules");
  tsr_shape_table_deinit(&known);
  free(rules);
  return status;
}

// ---- tensors without a rule ----

static tsr_status lint_near_miss(lint_job *work, int64_t rule, int64_t first, int64_t end) {
  const char *pattern = tsr_rules_at(work->rules, rule)->pattern;
  int best = -1;
  tsr_lint lint = {.kind = TSR_LINT_NEAR_MISS};
  if (end - first > MOST_GROUPS) end = first + MOST_GROUPS;
  for (int64_t i = first; i < end; i++) {
    const tsr_lint *unmatched = &work->lints.items[i];
    const int distance =
        tsr_pattern_distance(pattern, tsr_tree_at(work->tree, unmatched->row)->path);
    if (distance < 0 || (best >= 0 && distance >= best)) continue;
    best = distance;
    lint = *unmatched;
    lint.kind = TSR_LINT_NEAR_MISS;
    lint.rule = rule;
  }
  work->uses[rule].near_miss = best >= 0;
  return best < 0 ? NULL : add(work, lint);
}

static tsr_status lint_groups(lint_job *work, const tsr_tree_groups *groups) {
  const int64_t first = work->lints.count;
  for (int64_t g = 0; g < groups->count; g++) {
    const tsr_tree_group *group = &groups->items[g];
    const int64_t row = group->members[0];
    if (work->rule_of[row] >= 0 || !tsr_tree_at(work->tree, row)->rank) continue;
    TSR_TRY(add(work, (tsr_lint){.kind = TSR_LINT_UNMATCHED,
                                 .rule = -1,
                                 .other_rule = -1,
                                 .row = row,
                                 .dim = -1,
                                 .tensors = group->count,
                                 .bytes = group->count * bytes_of(work, row)}));
  }
  const int64_t end = work->lints.count;
  for (int i = 0; i < work->idle_count; i++)
    if (!work->uses[work->idle[i]].matches)
      TSR_TRY(lint_near_miss(work, work->idle[i], first, end));
  return NULL;
}

static tsr_status lint_unmatched(lint_job *work) {
  const size_t count = (size_t)tsr_tree_count(work->tree);
  uint64_t *keys = malloc(sizeof *keys * (count + 1));
  tsr_tree_groups groups = {0};
  if (!keys) return tsr_fail(NO_MEMORY, "groups of %zu tensors", count);
  for (size_t i = 0; i < count; i++) keys[i] = work->rule_of[i] < 0;
  tsr_status status = tsr_tree_group_by(work->tree, keys, &groups);
  if (!status) status = lint_groups(work, &groups);
  tsr_tree_groups_deinit(&groups);
  free(keys);
  return status;
}

// ---- all ----

static int by_kind_and_bytes(const void *left, const void *right) {
  const tsr_lint *a = left, *b = right;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  if (a->rule != b->rule) return a->rule < b->rule ? -1 : 1;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return a->axis && b->axis ? strcmp(a->axis, b->axis) : 0;
}

static tsr_status lint_all(lint_job *work) {
  TSR_TRY(match_rules(work));
  TSR_TRY(lint_unmatched(work));
  for (int64_t r = 0; r < tsr_rules_count(work->rules); r++) {
    TSR_TRY(lint_unknown_axes(work, r));
    TSR_TRY(lint_repeated_axis(work, r));
  }
  for (int i = 0; i < work->idle_count; i++) TSR_TRY(lint_idle(work, work->idle[i]));
  return lint_cuts(work);
}

tsr_status tsr_rules_lint(const tsr_rules *rules, const tsr_tree *tree, const tsr_mesh *mesh,
                          tsr_lints *out_lints) {
  lint_job work = {.rules = rules, .tree = tree, .mesh = mesh};
  tsr_status status = lint_all(&work);
  tsr_pool_destroy(work.pool);
  free(work.rule_of);
  free(work.uses);
  free(work.idle);
  if (status) {
    tsr_lints_deinit(&work.lints);
    return status;
  }
  if (work.lints.count)
    qsort(work.lints.items, (size_t)work.lints.count, sizeof *work.lints.items, by_kind_and_bytes);
  *out_lints = work.lints;
  return NULL;
}

void tsr_lints_deinit(tsr_lints *lints) {
  if (!lints) return;
  free(lints->items);
  *lints = (tsr_lints){0};
}
