// Chooses the rules that must be matched again on another mesh, and matches them.
#include "advice/rematch.h"

#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"

// The rule that decided a row; -1 = none, or the tensor was too small.
static int64_t rule_of(const tsr_plan_row *row) {
  for (int64_t i = 0; i < row->note_count; i++)
    if (row->notes[i].why == TSR_WHY_SMALL) return -1;
  return tsr_plan_row_rule(row);
}

bool tsr_rematch_has(const tsr_rematch *rematch, const tsr_plan_row *row) {
  const int64_t rule = rematch->plan ? rule_of(row) : -1;
  return rule >= 0 && rematch->affected[rule];
}

// ---- which rules ----

static bool same_group(const tsr_rule *a, const tsr_rule *b) {
  return a->together && b->together && !strcmp(a->together, b->together) &&
         !strcmp(a->over, b->over);
}

// Whether an axis has size 1 before or after. Converting numbers of shards alone would lose such an
// axis: tp=1 could never grow.
static bool is_idle(const tsr_plan *plan, const tsr_mesh *mesh,
                    const tsr_axis_successors *successors, const char *name) {
  const int axis = tsr_mesh_axis_find(plan->mesh, name);
  if (axis < 0 || successors->of[axis] < 0) return false;
  return tsr_mesh_axis_at(plan->mesh, axis)->size == 1 ||
         tsr_mesh_axis_at(mesh, successors->of[axis])->size == 1;
}

static bool has_idle_axis(const tsr_plan *plan, const tsr_mesh *mesh,
                          const tsr_axis_successors *successors, const tsr_spec_desc *desc) {
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      for (int i = 0; i < desc->dims[d].stages[s].axis_count; i++)
        if (is_idle(plan, mesh, successors, desc->dims[d].stages[s].axes[i].name)) return true;
  return false;
}

// Rules with expressions, the rules of their groups, and rules with axes of size 1.
static tsr_status find_rules(const tsr_plan *plan, const tsr_mesh *mesh,
                             const tsr_axis_successors *successors, bool **out_serves) {
  const tsr_rules *rules = plan->rules;
  const int64_t count = tsr_rules_count(rules);
  bool *affected = calloc((size_t)count + 1, sizeof *affected);
  if (!affected) return tsr_fail(NO_MEMORY, "%lld rules", (long long)count);
  for (int i = 0; i < count; i++) {
    const tsr_rule *rule = tsr_rules_at(rules, i);
    affected[i] |= has_idle_axis(plan, mesh, successors, tsr_spec_desc_of(rule->spec));
    for (int j = 0; rule->written && j < count; j++)
      affected[j] |= j == i || same_group(rule, tsr_rules_at(rules, j));
  }
  *out_serves = affected;
  return NULL;
}

// ---- matching ----

static tsr_status make_rules(tsr_rematch *rematch, const tsr_plan *plan, const tsr_mesh *mesh,
                             const tsr_axis_successors *successors) {
  const char *renames[2 * TSR_MAX_AXES];
  int count = 0;
  for (int axis = 0; axis < tsr_mesh_axis_count(plan->mesh); axis++) {
    if (successors->of[axis] < 0) continue;
    renames[2 * count] = tsr_mesh_axis_at(plan->mesh, axis)->name;
    renames[2 * count++ + 1] = tsr_mesh_axis_at(mesh, successors->of[axis])->name;
  }
  return tsr_rules_for_mesh(plan->rules, mesh, renames, count, &rematch->rules);
}

// The policy of the first affected row; false = there is none.
static bool find_policy(const tsr_rematch *rematch, const tsr_plan *plan, tsr_policy *out_policy) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row;
    tsr_plan_row_read(plan, i, &row);
    const int64_t rule = rule_of(&row);
    if (rule < 0 || !rematch->affected[rule]) continue;
    *out_policy = row.policy;
    return true;
  }
  return false;
}

static tsr_status match(tsr_rematch *rematch, const tsr_plan *plan, const tsr_mesh *mesh,
                        const tsr_axis_successors *successors) {
  tsr_match_options options = {
      .size = sizeof options, .allow_unmatched = true, .companions = tsr_plan_has_companions(plan)};
  TSR_TRY(find_rules(plan, mesh, successors, &rematch->affected));
  if (!find_policy(rematch, plan, &options.policy)) return NULL;
  TSR_TRY(make_rules(rematch, plan, mesh, successors));
  return tsr_plan_match(plan->tree, mesh, rematch->rules, &options, &rematch->plan);
}

tsr_status tsr_rematch_init(tsr_rematch *rematch, const tsr_plan *plan, const tsr_mesh *mesh,
                            const tsr_axis_successors *successors) {
  *rematch = (tsr_rematch){0};
  if (!plan->rules || !tsr_rules_have_expressions(plan->rules)) return NULL;
  const tsr_status status = match(rematch, plan, mesh, successors);
  if (status) tsr_rematch_deinit(rematch);
  return status;
}

void tsr_rematch_deinit(tsr_rematch *rematch) {
  tsr_rules_release(rematch->rules);
  tsr_plan_release(rematch->plan);
  free(rematch->affected);
  *rematch = (tsr_rematch){0};
}
