// Plans whose specs the caller gives.
#include "base/room.h"
#include "plan/plan.h"
#include "tessera/engine/plan.h"

static tsr_status set_all(tsr_plan_builder *builder, int64_t count, const tsr_spec *const *specs) {
  for (int64_t i = 0; i < count; i++) {
    TSR_TRY(tsr_plan_builder_reason(builder, i, TSR_WHY_USER, -1, 0));
    TSR_TRY(tsr_plan_builder_correct(builder, i, specs[i], TSR_POLICY_ERROR));
  }
  return NULL;
}

tsr_status tsr_plan_from_specs(const tsr_tree *tree, const tsr_mesh *mesh,
                               const tsr_spec *const *specs, tsr_plan **out_plan) {
  const int64_t count = tsr_tree_count(tree);
  tsr_plan_builder builder;
  TSR_TRY(tsr_list_check(specs, count, "specs"));
  TSR_TRY(tsr_plan_builder_init(&builder, tree, mesh));
  return tsr_plan_builder_end(&builder, set_all(&builder, count, specs), out_plan);
}
