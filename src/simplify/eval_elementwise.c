// Ops that compute each element of the result from the elements at its index.
#include <math.h>

#include "simplify/evaluator.h"

// What a loop over elements needs to know; `in` and `out` of its function are bytes.
typedef struct element_loop {
  tsr_scalar_type from, to;
  tsr_scalar_fn *function;
  int operand_count;
  int direction;  // compare
  bool total;
  int exponent, mantissa;  // reduce_precision
} element_loop;
typedef bool loop_fn(const element_loop *loop, const char *const *in, char *out);

// Operands of one element serve all indices: the predicate of a select, the bounds of a clamp.
static bool run_loop(tsr_evaluator *e, const element_loop *loop, loop_fn *function,
                     const tsr_op *op, const tsr_constant *const *operands, tsr_constant *out) {
  const tsr_type *type = op->results[0].type;
  bool splat = true;
  if (!tsr_constant_open(type, out)) return false;
  for (int i = 0; i < op->operand_count; i++) {
    if (operands[i]->count != out->count && operands[i]->count != 1) return false;
    splat = splat && !operands[i]->bytes;
  }
  char *bytes = out->one;
  if (!splat && !(bytes = tsr_constant_fill(e, type, out))) return false;
  const int64_t count = splat ? out->count > 0 : out->count;
  const int width = out->scalar.bytes;
  for (int64_t i = 0; i < count; i++) {
    const char *in[3] = {0};
    for (int k = 0; k < op->operand_count; k++) in[k] = tsr_constant_at(operands[k], i);
    if (!function(loop, in, bytes + i * width)) return false;
  }
  return true;
}

static bool open_loop(const tsr_op *op, int operand_count, element_loop *out) {
  *out = (element_loop){.operand_count = operand_count};
  return op->operand_count == operand_count && op->result_count == 1 &&
         tsr_scalar_type_of(tsr_operand_type(op, 0), &out->from) &&
         tsr_scalar_type_of(op->results[0].type, &out->to);
}

static bool is_nan(const tsr_scalar_type *type, tsr_scalar value) {
  if (type->kind == TSR_CLASS_COMPLEX) return isnan(value.f) || isnan(value.imag);
  return type->kind == TSR_CLASS_FLOAT && isnan(value.f);
}

// A NaN that no operand had: its sign, which processors do not agree on, becomes positive.
static tsr_scalar plain_nan(const element_loop *loop, tsr_scalar value) {
  if (isnan(value.f)) value.f = (double)NAN;
  if (loop->to.kind == TSR_CLASS_COMPLEX && isnan(value.imag)) value.imag = (double)NAN;
  return value;
}

static bool compute(const element_loop *loop, const char *const *in, char *out) {
  tsr_scalar operands[3] = {{.i = 0}}, result = {.i = 0};
  bool nan = false;
  for (int i = 0; i < loop->operand_count; i++) {
    operands[i] = tsr_scalar_load(&loop->from, in[i]);
    nan = nan || is_nan(&loop->from, operands[i]);
  }
  if (!loop->function(&loop->from, operands, &result)) return false;
  if (!nan && is_nan(&loop->to, result)) result = plain_nan(loop, result);
  return tsr_scalar_store(&loop->to, result, out);
}

bool tsr_eval_elementwise(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                          tsr_constant *results) {
  element_loop loop;
  if (op->operand_count < 1 || op->operand_count > 3 || !open_loop(op, op->operand_count, &loop))
    return false;
  loop.function = tsr_scalar_op(op->info->id, loop.from.kind);
  return loop.function && run_loop(e, &loop, compute, op, operands, results);
}

static bool compare(const element_loop *loop, const char *const *in, char *out) {
  const tsr_scalar operands[2] = {tsr_scalar_load(&loop->from, in[0]),
                                  tsr_scalar_load(&loop->from, in[1])};
  bool truth = false;
  if (!tsr_scalar_compare(&loop->from, loop->direction, loop->total, operands, &truth))
    return false;
  *out = (char)truth;
  return true;
}

bool tsr_eval_compare(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                      tsr_constant *results) {
  element_loop loop;
  if (!open_loop(op, 2, &loop)) return false;
  loop.direction = (int)tsr_op_int(op, "comparison_direction", TSR_DIRECTION_EQ);
  loop.total = tsr_op_int(op, "compare_type", 0) == TSR_COMPARE_TYPE_TOTALORDER;
  return run_loop(e, &loop, compare, op, operands, results);
}

static bool select_one(const element_loop *loop, const char *const *in, char *out) {
  memcpy(out, *in[0] ? in[1] : in[2], (size_t)loop->to.bytes);
  return true;
}

bool tsr_eval_select(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                     tsr_constant *results) {
  element_loop loop;
  if (!open_loop(op, 3, &loop)) return false;
  if (loop.from.kind != TSR_CLASS_BOOL || operands[1]->scalar.dtype != loop.to.dtype ||
      operands[2]->scalar.dtype != loop.to.dtype)
    return false;
  return run_loop(e, &loop, select_one, op, operands, results);
}

static bool convert_one(const element_loop *loop, const char *const *in, char *out) {
  return tsr_scalar_convert(&loop->from, &loop->to, tsr_scalar_load(&loop->from, in[0]), out);
}

bool tsr_eval_convert(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                      tsr_constant *results) {
  element_loop loop;
  return open_loop(op, 1, &loop) && run_loop(e, &loop, convert_one, op, operands, results);
}

static bool reduce_one(const element_loop *loop, const char *const *in, char *out) {
  return tsr_scalar_reduce_precision(&loop->from, loop->exponent, loop->mantissa, in[0], out);
}

bool tsr_eval_reduce_precision(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                               tsr_constant *results) {
  element_loop loop;
  if (!open_loop(op, 1, &loop) || loop.from.dtype != loop.to.dtype) return false;
  loop.exponent = (int)tsr_op_int(op, "exponent_bits", 0);
  loop.mantissa = (int)tsr_op_int(op, "mantissa_bits", -1);
  return run_loop(e, &loop, reduce_one, op, operands, results);
}
