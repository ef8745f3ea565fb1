// Elementwise ops: operands and result have one shape, and mostly one type.
#include "verify/op_checks.h"

// ---- one type for all

tsr_status tsr_verify_same_type(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(tsr_check_operands_match(op, "C1", 0));
  return tsr_check_one_shape(op, "C1");
}

static tsr_status merge_operands(tsr_ir *ir, const tsr_op *op, const char *constraint, int first,
                                 tsr_result_types *out) {
  const tsr_type *types[2] = {tsr_operand_type(op, first), NULL};
  for (int i = first + 1; i < op->operand_count; i++) {
    types[1] = tsr_operand_type(op, i);
    TSR_TRY(tsr_merge_types(ir, op, constraint, types, 2, false, &types[0]));
  }
  return tsr_results_add(out, types[0]);
}

tsr_status tsr_infer_same_type(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return merge_operands(ir, op, "C1", 0, out);
}

// How exact the result must be: no negative tolerance, none at all but in the mode TOLERANCE.
static tsr_status check_accuracy(const tsr_op *op, const tsr_attr *accuracy) {
  const uint64_t sign = UINT64_C(1) << 63;
  const uint64_t atol = tsr_attr_field(accuracy, TSR_ACCURACY_ATOL)->bits;
  const uint64_t rtol = tsr_attr_field(accuracy, TSR_ACCURACY_RTOL)->bits;
  const int64_t ulps = tsr_record_int(accuracy, TSR_ACCURACY_ULPS);
  TSR_ASK(!(atol & sign) && !(rtol & sign) && ulps >= 0, op, "",
          "result_accuracy is %s, expected no negative tolerance", SHOW_ATTR(accuracy));
  const bool some = atol || rtol || ulps;
  const int64_t mode = tsr_record_int(accuracy, TSR_ACCURACY_MODE);
  TSR_ASK(!some || mode == TSR_ACCURACY_MODE_TOLERANCE, op, "",
          "result_accuracy is %s, expected tolerances of 0 in this mode", SHOW_ATTR(accuracy));
  return NULL;
}

tsr_status tsr_verify_accurate(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *accuracy = tsr_op_attr(op, "result_accuracy");
  if (accuracy) TSR_TRY(check_accuracy(op, accuracy));
  return tsr_verify_same_type(ir, op);
}

tsr_status tsr_verify_reduce_precision(tsr_ir *ir, const tsr_op *op) {
  const int64_t exponent = tsr_op_int(op, "exponent_bits", 0);
  const int64_t mantissa = tsr_op_int(op, "mantissa_bits", 0);
  TSR_ASK(exponent >= 1, op, "C2", "exponent_bits is %lld, expected 1 or more",
          (long long)exponent);
  TSR_ASK(mantissa >= 0, op, "C3", "mantissa_bits is %lld, expected 0 or more",
          (long long)mantissa);
  return tsr_verify_same_type(ir, op);
}

// ---- addition of quantised tensors

static tsr_status check_quantised_sum(const tsr_op *op) {
  TSR_TRY(tsr_check_all_quantised(op, "C2"));
  const tsr_quant *lhs = tsr_type_element(tsr_operand_type(op, 0))->quant;
  const tsr_quant *rhs = tsr_type_element(tsr_operand_type(op, 1))->quant;
  TSR_ASK(lhs->storage == rhs->storage, op, "C3", "operands store %s and %s, expected one type",
          SHOW_TYPE(lhs->storage), SHOW_TYPE(rhs->storage));
  TSR_ASK(lhs->expressed == rhs->expressed, op, "C4",
          "operands express %s and %s, expected one type", SHOW_TYPE(lhs->expressed),
          SHOW_TYPE(rhs->expressed));
  if (!op->result_count) return NULL;
  const tsr_quant *result = tsr_type_element(op->results[0].type)->quant;
  TSR_ASK(result->storage == lhs->storage, op, "C3", "the result stores %s, expected %s",
          SHOW_TYPE(result->storage), SHOW_TYPE(lhs->storage));
  TSR_ASK(result->expressed == lhs->expressed, op, "C4", "the result expresses %s, expected %s",
          SHOW_TYPE(result->expressed), SHOW_TYPE(lhs->expressed));
  TSR_ASK((lhs->axis >= 0 || rhs->axis >= 0) == (result->axis >= 0), op, "C5",
          "the result is %s, expected per-axis quantisation as of the operands",
          SHOW_TYPE(op->results[0].type));
  TSR_ASK(lhs->axis < 0 || lhs->axis == result->axis, op, "C6",
          "the result is quantised along dimension %d, expected %d as lhs", result->axis,
          lhs->axis);
  TSR_ASK(rhs->axis < 0 || rhs->axis == result->axis, op, "C7",
          "the result is quantised along dimension %d, expected %d as rhs", result->axis,
          rhs->axis);
  return NULL;
}

static bool any_quantised(const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_is_quantised(tsr_operand_type(op, i))) return true;
  return op->result_count && tsr_is_quantised(op->results[0].type);
}

tsr_status tsr_verify_add(tsr_ir *ir, const tsr_op *op) {
  if (!any_quantised(op)) return tsr_verify_same_type(ir, op);
  TSR_TRY(tsr_check_one_shape(op, "C1"));
  return check_quantised_sum(op);
}

// The operand that is quantised per axis gives the element type.
tsr_status tsr_infer_add(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  if (lhs == rhs) return tsr_results_add(out, lhs);
  const bool swap = tsr_is_axis_quantised(rhs) && !tsr_is_axis_quantised(lhs);
  const tsr_type *types[2] = {swap ? rhs : lhs, swap ? lhs : rhs}, *merged = NULL;
  TSR_TRY(tsr_merge_types(ir, op, "C1", types, 2, false, &merged));
  return tsr_results_add(out, merged);
}

// ---- results with other elements

static const tsr_type *real_of(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  return element->kind == TSR_TYPE_COMPLEX ? element->element : element;
}

// One shape; the element type is that of the parts.
tsr_status tsr_verify_same_shape(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return tsr_check_one_shape(op, "C1");
}

tsr_status tsr_infer_real_type(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  return tsr_results_add(out, tsr_type_with_element(ir, operand, real_of(operand)));
}

tsr_status tsr_infer_pred(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *pred = tsr_type_integer(ir, 1, TSR_SIGNLESS);
  TSR_NEED(pred);
  return tsr_results_add(out, tsr_type_with_element(ir, tsr_operand_type(op, 0), pred));
}

tsr_status tsr_verify_compare(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  TSR_ASK(tsr_elements_match(lhs, rhs), op, "C1",
          "operands 0 and 1 are %s and %s, expected one element type", SHOW_TYPE(lhs),
          SHOW_TYPE(rhs));
  return tsr_check_one_shape(op, "C2");
}

tsr_status tsr_verify_complex(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  TSR_ASK(tsr_same_element(lhs, rhs) && tsr_dims_match(lhs, rhs), op, "C1",
          "operands 0 and 1 are %s and %s, expected one type", SHOW_TYPE(lhs), SHOW_TYPE(rhs));
  return tsr_check_one_shape(op, "C2");
}

tsr_status tsr_infer_complex(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *lhs = tsr_operand_type(op, 0);
  const tsr_type *element = tsr_type_complex(ir, lhs->element);
  TSR_NEED(element);
  return tsr_results_add(out, tsr_type_with_element(ir, lhs, element));
}

// ---- three operands

static tsr_status check_limit(const tsr_op *op, const char *constraint, const char *name,
                              int index) {
  const tsr_type *limit = tsr_operand_type(op, index), *operand = tsr_operand_type(op, 1);
  TSR_ASK(!limit->rank || tsr_dims_match(limit, operand), op, constraint,
          "%s is %s, expected a scalar or the shape of %s", name, SHOW_TYPE(limit),
          SHOW_TYPE(operand));
  return NULL;
}

tsr_status tsr_verify_clamp(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_limit(op, "C1", "min", 0));
  TSR_TRY(check_limit(op, "C2", "max", 2));
  return tsr_check_one_element(op, "C3", false);
}

tsr_status tsr_infer_second_operand(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  return tsr_results_add(out, tsr_operand_type(op, 1));
}

tsr_status tsr_verify_select(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *pred = tsr_operand_type(op, 0);
  const tsr_type *yes = tsr_operand_type(op, 1), *no = tsr_operand_type(op, 2);
  TSR_ASK(tsr_same_element(yes, no) && tsr_dims_match(yes, no), op, "C2",
          "on_true and on_false are %s and %s, expected one type", SHOW_TYPE(yes), SHOW_TYPE(no));
  TSR_ASK(!pred->rank || tsr_dims_match(pred, yes), op, "C1",
          "pred is %s, expected a scalar or the shape of %s", SHOW_TYPE(pred), SHOW_TYPE(yes));
  return NULL;
}

tsr_status tsr_infer_select(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return merge_operands(ir, op, "C2", 1, out);
}
