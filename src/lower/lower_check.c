// check.expect_eq and its relatives, as ops and as custom calls; and interpreter.print.
#include "lower/lower_check.h"

#include <string.h>

#include "base/log.h"
#include "base/text_internal.h"
#include "element/convert_elements.h"
#include "kernel/check_values.h"
#include "syntax/syntax.h"
#include "tessera/own.h"

static double tolerance_of(const tsr_op *op, double otherwise) {
  const tsr_attr *attr = tsr_op_attr(op, "tolerance");
  if (!attr || attr->kind != TSR_ATTR_FLOAT) return otherwise;
  double tolerance = otherwise;
  const tsr_dtype dtype = attr->type->dtype;
  if (dtype != TSR_DTYPE_NONE) tsr_convert_run(dtype, &attr->bits, 0, TSR_F64, &tolerance, 0, 1);
  return tolerance;
}

// The expected value of an op that has it as an attribute: as a constant before the op.
static tsr_status constant_operand(tsr_lowering *lowering, tsr_op *op, tsr_value **out) {
  const tsr_attr *value = tsr_op_attr(op, "value");
  const char *name = tsr_ir_name(lowering->ir, "value", strlen("value"));
  TSR_NEED(name);
  const tsr_op_parts parts = {.id = TSR_OP_CONSTANT,
                              .result_count = 1,
                              .attr_count = 1,
                              .result_types = (const tsr_type *[]){tsr_operand_type(op, 0)},
                              .attrs = (tsr_named_attr[]){{name, value}},
                              .location = op->location};
  tsr_op *constant = tsr_op_create(lowering->ir, &parts);
  TSR_NEED(constant);
  tsr_op_insert_before(op, constant);
  *out = tsr_op_result(constant, 0);
  return NULL;
}

tsr_status tsr_lower_comparison(tsr_lowering *lowering, tsr_op *op, tsr_value *expected,
                                tsr_check_values check) {
  const tsr_type *type = tsr_operand_type(op, 0);
  if (expected->type != type)
    return tsr_fail(CONSTRAINT, "%s: the types of both operands must be equal",
                    tsr_op_title(lowering, op));
  if (!tsr_type_runs(type))
    return tsr_fail(UNSUPPORTED, "%s: its operands do not compute", tsr_op_title(lowering, op));
  check.dtype = type->dtype;
  check.rank = type->rank;
  check.dims = type->dims;
  check.count = tsr_type_element_count(type);
  check.title = tsr_op_title(lowering, op);
  if (op->result_count) check.result_count = tsr_type_element_count(tsr_op_result(op, 0)->type);
  tsr_value *const inputs[] = {tsr_op_operand(op, 0), expected};
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel_on(lowering, op, inputs, 2, tsr_check_values_run, &check, sizeof check,
                             &step);
}

static const struct {
  tsr_op_id id;
  tsr_check_rule rule;
} rules[] = {
    {TSR_OP_CHECK_EXPECT_EQ, TSR_CHECK_EQUAL},
    {TSR_OP_CHECK_EXPECT_EQ_CONST, TSR_CHECK_EQUAL},
    {TSR_OP_CHECK_EXPECT_ALMOST_EQ, TSR_CHECK_ALMOST},
    {TSR_OP_CHECK_EXPECT_ALMOST_EQ_CONST, TSR_CHECK_ALMOST},
    {TSR_OP_CHECK_EXPECT_CLOSE, TSR_CHECK_CLOSE},
};

tsr_status tsr_lower_check(tsr_lowering *lowering, tsr_op *op) {
  tsr_check_values check = {.tolerance = tolerance_of(op, 1e-4)};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].id == op->info->id) check.rule = rules[i].rule;
  const int64_t least = tsr_op_int(op, "min_ulp_difference", 0);
  const int64_t most = tsr_op_int(op, "max_ulp_difference", 1);
  check.least_ulp = (uint64_t)least;
  check.most_ulp = (uint64_t)most;
  tsr_value *expected = op->operand_count > 1 ? tsr_op_operand(op, 1) : NULL;
  if (!expected) TSR_TRY(constant_operand(lowering, op, &expected));
  return tsr_lower_comparison(lowering, op, expected, check);
}

// ---- interpreter.print ----

typedef struct printed_value {
  const tsr_type *type;
  const char *title;
  int lanes;
} printed_value;

// A line of the log: the value as it is written in programs.
static tsr_status run_print(const void *description, const tsr_kernel_call *call) {
  const printed_value *p = description;
  const tsr_attr value = {.kind = TSR_ATTR_DENSE,
                          .type = p->type,
                          .bytes = call->inputs[0],
                          .length = (size_t)tsr_type_bytes(p->type)};
  TSR_OWN(text, line);
  tsr_text_add(&line, p->title);
  if (p->lanes > 1) tsr_text_addf(&line, " on device %lld", (long long)call->lane);
  tsr_text_add(&line, ": ");
  tsr_attr_print(&value, &line);
  TSR_TRY(tsr_text_check(&line));
  tsr_log_line(tsr_text_string(&line));
  return NULL;
}

tsr_status tsr_lower_print(tsr_lowering *lowering, tsr_op *op) {
  const printed_value p = {tsr_operand_type(op, 0), tsr_op_title(lowering, op), lowering->lanes};
  TSR_TRY(tsr_check_runs(lowering, tsr_op_operand(op, 0)));
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel(lowering, op, run_print, &p, sizeof p, &step);
}
