// Plans whose specs are given.
#include "base/room.h"
#include "plan/plan.h"
#include "spec/spec_internal.h"
#include "tessera/engine/plan.h"

static tsr_status set_all(tsr_plan_builder *builder, const tsr_tree *tree,
                          const tsr_spec *const *specs, const tsr_spec *uncut) {
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_plan_note user = {.why = TSR_WHY_USER, .dim = -1, .rule = -1};
    TSR_TRY(tsr_plan_builder_note(builder, i, &user));
    TSR_TRY(tsr_plan_builder_correct(builder, i, specs[i] ? specs[i] : uncut, TSR_POLICY_ERROR));
  }
  return NULL;
}

tsr_status tsr_plan_from_specs(const tsr_tree *tree, const tsr_mesh *mesh,
                               const tsr_spec *const *specs, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  tsr_spec *uncut = NULL;
  TSR_TRY(tsr_list_check(specs, tsr_tree_count(tree), "specs"));
  TSR_TRY(tsr_spec_of(NULL, 0, &uncut));
  tsr_status status = tsr_plan_builder_init(&builder, tree, mesh);
  if (!status) status = set_all(&builder, tree, specs, uncut);
  if (!status) status = tsr_plan_builder_finish(&builder, out_plan);
  tsr_plan_builder_deinit(&builder);
  tsr_spec_release(uncut);
  return status;
}
