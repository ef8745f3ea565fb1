// Plans by rules: every tensor is matched, on all cores; then the decisions become rows, and
// companions follow the tensors they go with.
//
// rules/rules_decide.c decides what a rule means for a tensor, as eformer does; plan_correct.c
// corrects that for the mesh.
#include <stdlib.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "layout/layout.h"
#include "plan/stand_ins.h"
#include "plan/together.h"
#include "rules/rules_internal.h"
#include "tessera/engine/pool.h"

enum {
  CHUNK = 1024,          // tensors in one task
  POOL_MIN = 8 * CHUNK,  // fewer tensors are not worth a pool
  NAMED = 3              // tensors that an error names
};

typedef struct match_job {
  const tsr_tree *tree;
  const tsr_rules *rules;
  tsr_match_options options;
  int64_t min_size;
  tsr_rule_decision *decisions;  // owned, with a reference to each spec
  tsr_stand_ins stand_ins;
  tsr_plan *weights;  // of the stand-ins; NULL = there are none
  tsr_together *groups;
} match_job;

// ---- matching ----

static tsr_status decide_chunk(void *context, int64_t chunk, int worker) {
  (void)worker;
  const match_job *work = context;
  const int64_t count = tsr_tree_count(work->tree);
  const int64_t end = (chunk + 1) * CHUNK < count ? (chunk + 1) * CHUNK : count;
  for (int64_t i = chunk * CHUNK; i < end; i++) {
    const tsr_tensor *tensor = tsr_tree_at(work->tree, i);
    const tsr_shape shape = tsr_tensor_shape(tensor);
    TSR_TRY(tsr_rules_decide(work->rules, tensor->path, &shape, work->min_size, work->options.raw,
                             &work->decisions[i]));
  }
  return NULL;
}

static tsr_status decide_all(match_job *work) {
  const int64_t count = tsr_tree_count(work->tree);
  tsr_pool *pool = NULL;
  work->decisions = calloc((size_t)count + 1, sizeof *work->decisions);
  if (!work->decisions) return tsr_fail(NO_MEMORY, "decisions on %lld tensors", (long long)count);
  if (count > POOL_MIN) TSR_TRY(tsr_pool_create(0, &pool));
  tsr_status status = tsr_pool_run(pool, (count + CHUNK - 1) / CHUNK, decide_chunk, work);
  tsr_pool_destroy(pool);
  return status;
}

// ---- small tensors of groups ----

static bool is_by_rule(const tsr_rule_decision *decision) {
  return decision->kind == TSR_DECIDED_BY_RULE || decision->kind == TSR_DECIDED_CUT_TO_RANK;
}

// A bias is small, but must be cut with its weight.
static tsr_status decide_again(const match_job *work, int64_t row) {
  const tsr_tensor *tensor = tsr_tree_at(work->tree, row);
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_rule_decision *decision = &work->decisions[row];
  bool large = false;
  TSR_TRY(tsr_together_find_large(work->groups, decision->rule, tensor->path, &large));
  if (!large) return NULL;
  tsr_spec_release(decision->spec);
  decision->spec = NULL;
  return tsr_rules_decide(work->rules, tensor->path, &shape, 0, work->options.raw, decision);
}

static tsr_status decide_small(const match_job *work) {
  const int64_t count = tsr_tree_count(work->tree);
  if (!work->groups->any_group || work->min_size <= 0) return NULL;
  for (int64_t i = 0; i < count; i++)
    if (is_by_rule(&work->decisions[i]))
      TSR_TRY(tsr_together_add_large(work->groups, work->decisions[i].rule,
                                     tsr_tree_at(work->tree, i)->path));
  for (int64_t i = 0; i < count; i++)
    if (work->decisions[i].kind == TSR_DECIDED_SMALL) TSR_TRY(decide_again(work, i));
  return NULL;
}

// ---- tensors without a rule ----

static void add_unmatched(const match_job *work, const char *path, tsr_text *out) {
  tsr_text_addf(out, "\"%s\"", path);
  const int64_t nearest = tsr_rules_nearest(work->rules, path);
  if (nearest < 0) return;
  tsr_text_add(out, " (nearest: ");
  tsr_rules_print_name(work->rules, nearest, out);
  tsr_text_add_char(out, ')');
}

// Companions need no rule: the tensor they go with has one, or the weight they stand for.
static bool needs_rule(const match_job *work, int64_t index) {
  if (work->decisions[index].kind != TSR_DECIDED_NO_RULE) return false;
  if (work->weights && work->stand_ins.of[index] >= 0) return false;
  return !work->options.companions || !tsr_companion_find(work->tree, index).kind;
}

static tsr_status check_matched(const match_job *work) {
  const int64_t count = tsr_tree_count(work->tree);
  int64_t unmatched = 0;
  tsr_text names = TSR_TEXT_EMPTY;
  if (work->options.allow_unmatched || work->options.default_spec) return NULL;
  for (int64_t i = 0; i < count; i++) {
    if (!needs_rule(work, i)) continue;
    if (unmatched++ >= NAMED) continue;
    if (unmatched > 1) tsr_text_add(&names, ", ");
    add_unmatched(work, tsr_tree_at(work->tree, i)->path, &names);
  }
  if (!unmatched) return NULL;
  return tsr_text_end(&names, tsr_fail(NO_RULE, "no rule matches %lld of %lld tensors: %s%s",
                                       (long long)unmatched, (long long)count,
                                       tsr_text_string(&names), unmatched > NAMED ? ", ..." : ""));
}

// ---- rows ----

static tsr_status add_notes(const match_job *work, tsr_plan_builder *builder, int64_t row) {
  const tsr_rule_decision *decision = &work->decisions[row];
  const tsr_plan_note by_rule = {.why = TSR_WHY_RULE, .dim = -1, .rule = decision->rule};
  if (decision->rule >= 0) TSR_TRY(tsr_plan_builder_note(builder, row, &by_rule));
  switch (decision->kind) {
    case TSR_DECIDED_SCALAR:
      return tsr_plan_builder_reason(builder, row, TSR_WHY_SCALAR, -1, 0);
    case TSR_DECIDED_SMALL:
      return tsr_plan_builder_reason(builder, row, TSR_WHY_SMALL, -1, work->min_size);
    case TSR_DECIDED_NO_RULE:
      TSR_TRY(tsr_plan_builder_reason(builder, row, TSR_WHY_NO_RULE, -1, 0));
      if (!work->options.default_spec) return NULL;
      return tsr_plan_builder_reason(builder, row, TSR_WHY_DEFAULT, -1, 0);
    case TSR_DECIDED_BY_RULE:
    case TSR_DECIDED_CUT_TO_RANK:
      break;
  }
  return NULL;
}

// Without correction a spec is still cut to the tensor's rank.
static tsr_status set_uncorrected(tsr_plan_builder *builder, int64_t row, const tsr_spec *wanted,
                                  const tsr_rule_decision *decision, tsr_policy policy) {
  if (decision->kind != TSR_DECIDED_CUT_TO_RANK)
    return tsr_plan_builder_set(builder, row, wanted, wanted, policy);
  const int length = tsr_spec_desc_of(wanted)->dim_count;
  TSR_TRY(tsr_plan_builder_reason(builder, row, TSR_WHY_CUT_TO_RANK, -1, length));
  return tsr_plan_builder_set(builder, row, wanted, decision->spec, policy);
}

static tsr_status set_row(const match_job *work, tsr_plan_builder *builder, int64_t row) {
  const tsr_rule_decision *decision = &work->decisions[row];
  const tsr_spec *wanted = decision->spec;
  if (decision->kind == TSR_DECIDED_CUT_TO_RANK)
    wanted = tsr_rules_at(work->rules, decision->rule)->spec;
  if (!wanted) wanted = work->options.default_spec;
  TSR_TRY(add_notes(work, builder, row));
  if (!builder->plan->mesh || work->options.no_correction)
    return set_uncorrected(builder, row, wanted, decision, work->options.policy);
  return tsr_plan_builder_correct(builder, row, wanted, work->options.policy);
}

// The role of a row in its group. A companion follows another tensor. A packed weight that cannot
// be cut stays whole, and so must the tensors beside it.
typedef enum group_role { MEMBER, KEPT_WHOLE, FOLLOWER } group_role;

static group_role find_group_role(const match_job *work, int64_t row) {
  if (!work->options.companions) return MEMBER;
  if (work->stand_ins.of && work->stand_ins.of[row] >= 0) return FOLLOWER;
  if (tsr_companion_find(work->tree, row).kind == TSR_COMPANION_NONE) return MEMBER;
  const bool whole = tsr_companion_find_part(work->tree, row).kind == TSR_COMPANION_WHOLE;
  return whole && tsr_tree_at(work->tree, row)->rank > 1 ? KEPT_WHOLE : FOLLOWER;
}

static tsr_status check_group(const match_job *work, const tsr_plan_builder *builder, int64_t row) {
  const int64_t rule = work->decisions[row].rule;
  const tsr_dtype dtype = tsr_tree_at(work->tree, row)->dtype;
  const bool packed = work->options.companions && tsr_dtype_info_of(dtype)->kind != TSR_CLASS_FLOAT;
  if (!packed && !tsr_together_may_break(work->groups, builder, row, rule)) return NULL;
  const group_role role = find_group_role(work, row);
  if (role == FOLLOWER) return NULL;
  return tsr_together_check_row(work->groups, builder, row, rule, role == KEPT_WHOLE);
}

static tsr_status cut_together(const match_job *work, tsr_plan_builder *builder) {
  const int64_t count = tsr_tree_count(work->tree);
  if (!work->groups->any_group || work->options.no_correction) return NULL;
  for (int64_t i = 0; i < count; i++) TSR_TRY(check_group(work, builder, i));
  for (int64_t i = 0; i < count; i++)
    TSR_TRY(tsr_together_apply(work->groups, builder, i, work->decisions[i].rule));
  return NULL;
}

static tsr_status begin(const match_job *work, const tsr_mesh *mesh, tsr_plan_builder *builder) {
  TSR_TRY(tsr_plan_builder_init(builder, work->tree, mesh));
  tsr_plan_builder_rules(builder, work->rules, NULL);
  builder->keep_group_members = work->options.keep_group_members;
  return NULL;
}

static tsr_status set_rows(const match_job *work, tsr_plan_builder *builder) {
  for (int64_t i = 0; i < tsr_tree_count(work->tree); i++) TSR_TRY(set_row(work, builder, i));
  return cut_together(work, builder);
}

static tsr_status read_options(const tsr_match_options *options, match_job *work) {
  TSR_TRY(tsr_sized_read(tsr_match_options, options, &work->options));
  TSR_TRY(tsr_policy_check(work->options.policy));
  work->min_size = work->options.min_size;
  if (work->min_size < 0)
    return tsr_fail(BAD_ARGUMENT, "a minimum of %lld elements, wanted 0 or more",
                    (long long)work->min_size);
  if (!work->options.eformer_min_size) return NULL;
  if (work->min_size)
    return tsr_fail(BAD_ARGUMENT, "a minimum of %lld elements and eformer's, wanted one of them",
                    (long long)work->min_size);
  return tsr_min_sharding_size(&work->min_size);
}

// ---- companions ----

static void release_decisions(const tsr_tree *tree, tsr_rule_decision *decisions) {
  for (int64_t i = 0; decisions && i < tsr_tree_count(tree); i++)
    tsr_spec_release(decisions[i].spec);
  free(decisions);
}

// Plans the weights that tensors stand for. Weights without a rule are dropped.
static tsr_status plan_weights(match_job *work, const tsr_mesh *mesh) {
  tsr_plan_builder builder = {0};
  match_job inner = *work;
  inner.tree = work->stand_ins.tree;
  inner.decisions = NULL;
  inner.stand_ins = (tsr_stand_ins){0};
  tsr_status status = decide_all(&inner);
  if (!status) status = decide_small(&inner);
  for (int64_t i = 0; i < tsr_tree_count(work->tree) && !status; i++) {
    int64_t *of = &work->stand_ins.of[i];
    if (*of >= 0 && inner.decisions[*of].kind == TSR_DECIDED_NO_RULE) *of = -1;
  }
  if (!status) status = begin(&inner, mesh, &builder);
  if (!status) status = set_rows(&inner, &builder);
  status = tsr_plan_builder_end(&builder, status, &work->weights);
  release_decisions(inner.tree, inner.decisions);
  return status;
}

static tsr_status find_weights(match_job *work, const tsr_mesh *mesh) {
  const int64_t count = tsr_tree_count(work->tree);
  if (!work->options.companions) return NULL;
  bool *decided = calloc((size_t)count + 1, sizeof *decided);
  if (!decided) return tsr_fail(NO_MEMORY, "decisions on %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) decided[i] = work->decisions[i].kind != TSR_DECIDED_NO_RULE;
  tsr_status status = tsr_stand_ins_init(&work->stand_ins, work->tree, decided);
  free(decided);
  if (!status && work->stand_ins.tree) status = plan_weights(work, mesh);
  return status;
}

// Weights are decided before the tensors beside them in their groups. If a group then turns out not
// to be cut, they are decided again.
static tsr_status follow(match_job *work, const tsr_mesh *mesh, int64_t broken_before,
                         tsr_plan_builder *builder) {
  if (!work->options.companions) return NULL;
  if (work->weights && work->groups->broken > broken_before) {
    tsr_plan_release(work->weights);
    work->weights = NULL;
    TSR_TRY(plan_weights(work, mesh));
  }
  return tsr_plan_builder_follow(builder, work->weights, work->weights ? work->stand_ins.of : NULL);
}

static tsr_status build(match_job *work, const tsr_mesh *mesh, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  const int64_t broken = work->groups->broken;
  TSR_TRY(begin(work, mesh, &builder));
  tsr_status status = set_rows(work, &builder);
  if (!status) status = follow(work, mesh, broken, &builder);
  return tsr_plan_builder_end(&builder, status, out_plan);
}

tsr_status tsr_plan_match(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_rules *rules,
                          const tsr_match_options *options, tsr_plan **out_plan) {
  tsr_together groups;
  match_job work = {.tree = tree, .rules = rules, .groups = &groups};
  tsr_together_init(&groups, rules, mesh);
  tsr_status status = read_options(options, &work);
  if (!status) status = decide_all(&work);
  if (!status) status = find_weights(&work, mesh);
  if (!status) status = decide_small(&work);
  if (!status) status = check_matched(&work);
  if (!status) status = build(&work, mesh, out_plan);
  release_decisions(tree, work.decisions);
  tsr_stand_ins_deinit(&work.stand_ins);
  tsr_plan_release(work.weights);
  tsr_together_deinit(&groups);
  return status;
}
