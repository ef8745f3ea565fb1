// Plans by logical axes: each dimension has a name, and rules map names to mesh axes.
#include "plan/plan.h"
#include "rules/logical_internal.h"
#include "tessera/compat/flax_rules.h"

static tsr_status add_notes(tsr_plan_builder *builder, int64_t row, int rank,
                            const tsr_logical_reason *reasons) {
  for (int d = 0; d < rank; d++) {
    const tsr_plan_note served = {.why = TSR_WHY_LOGICAL, .dim = d, .rule = reasons[d].rule};
    const tsr_plan_note blocked = {.why = TSR_WHY_LOGICAL_BLOCKED,
                                   .dim = d,
                                   .rule = reasons[d].passed,
                                   .argument = reasons[d].blocked_by};
    if (blocked.rule >= 0) TSR_TRY(tsr_plan_builder_note(builder, row, &blocked));
    if (served.rule >= 0) TSR_TRY(tsr_plan_builder_note(builder, row, &served));
  }
  return NULL;
}

static tsr_status set_unnamed(tsr_plan_builder *builder, int64_t row) {
  TSR_TRY(tsr_plan_builder_reason(builder, row, TSR_WHY_NO_LOGICAL, -1, 0));
  return tsr_plan_builder_set(builder, row, NULL, NULL, TSR_POLICY_ERROR);
}

static tsr_status map_row(tsr_plan_builder *builder, int64_t row, const tsr_tensor *tensor,
                          const tsr_logical_rules *rules) {
  tsr_logical_names names;
  tsr_logical_reason reasons[TSR_MAX_RANK];
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_logical_names_of(tensor->logical, tensor->rank, &names));
  tsr_status status = tsr_logical_param_axes(tensor->path, &names, rules, &spec, reasons);
  if (!status) status = add_notes(builder, row, tensor->rank, reasons);
  if (!status) status = tsr_plan_builder_correct(builder, row, spec, TSR_POLICY_ERROR);
  tsr_spec_release(spec);
  tsr_logical_names_deinit(&names);
  return status;
}

static tsr_status map_all(tsr_plan_builder *builder, const tsr_tree *tree,
                          const tsr_logical_rules *rules) {
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    TSR_TRY(tensor->logical ? map_row(builder, i, tensor, rules) : set_unnamed(builder, i));
  }
  return NULL;
}

tsr_status tsr_plan_logical(const tsr_tree *tree, const tsr_mesh *mesh,
                            const tsr_logical_rules *rules, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  if (!rules) rules = tsr_logical_current();
  TSR_TRY(tsr_plan_builder_init(&builder, tree, mesh));
  tsr_plan_builder_rules(&builder, NULL, rules);
  return tsr_plan_builder_end(&builder, map_all(&builder, tree, rules), out_plan);
}
