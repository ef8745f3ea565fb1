// A plan used for another tree with some or all of its tensors, possibly of other dtypes: a model
// that was cast or filtered keeps its specs and reasons.
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"

static tsr_status check_shape(const tsr_tensor *planned, const tsr_tensor *tensor) {
  const tsr_shape was = tsr_tensor_shape(planned), is = tsr_tensor_shape(tensor);
  tsr_text text = TSR_TEXT_EMPTY;
  if (tsr_shape_equal(&was, &is)) return NULL;
  tsr_shape_print(&is, &text);
  tsr_text_add(&text, ", but in the plan ");
  tsr_shape_print(&was, &text);
  tsr_status status =
      tsr_fail(SHAPES_DIFFER, "tensor \"%s\" has shape %s", tensor->path, tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
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
