// Plans whose specs are given: by the caller, or by a plan for another tree with some or all of the
// tensors, possibly of other dtypes. A model that was cast or filtered keeps its specs and reasons.
#include "base/room.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "tessera/engine/plan.h"

// ---- by the caller ----

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

// ---- by another plan ----

static tsr_status check_shape(const tsr_tensor *planned, const tsr_tensor *tensor) {
  const tsr_shape was = tsr_tensor_shape(planned), is = tsr_tensor_shape(tensor);
  tsr_text text = TSR_TEXT_EMPTY;
  if (tsr_shape_equal(&was, &is)) return NULL;
  tsr_shape_print(&is, &text);
  tsr_text_add(&text, ", but in the plan ");
  tsr_shape_print(&was, &text);
  return tsr_text_end(&text, tsr_fail(SHAPES_DIFFER, "tensor \"%s\" has shape %s", tensor->path,
                                      tsr_text_string(&text)));
}

static tsr_status take_row(tsr_plan_builder *builder, const tsr_plan *plan, int64_t row,
                           const tsr_tensor *tensor) {
  const int64_t found = tsr_tree_find(tsr_plan_tree(plan), tensor->path);
  tsr_plan_row planned;
  if (found < 0) return tsr_fail(NOT_FOUND, "tensor \"%s\" is not in the plan", tensor->path);
  tsr_plan_row_read(plan, found, &planned);
  TSR_TRY(check_shape(planned.tensor, tensor));
  return tsr_plan_builder_copy(builder, row, &planned);
}

tsr_status tsr_plan_for_tree(const tsr_plan *plan, const tsr_tree *tree, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  tsr_status status = NULL;
  TSR_TRY(tsr_plan_builder_init(&builder, tree, plan->mesh));
  tsr_plan_builder_rules(&builder, plan->rules, plan->logical_rules);
  for (int64_t i = 0; i < tsr_tree_count(tree) && !status; i++)
    status = take_row(&builder, plan, i, tsr_tree_at(tree, i));
  return tsr_plan_builder_end(&builder, status, out_plan);
}
