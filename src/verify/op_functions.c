// The verify and infer columns of ir/ops.def as a table, and the lists of result types they fill.
#include <string.h>

#include "verify/op_rows.h"

tsr_status tsr_verify_none(tsr_ir *ir, const tsr_op *op) {
  (void)ir, (void)op;
  return NULL;
}

tsr_status tsr_infer_none(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir, (void)op;
  return tsr_results_unknown(out);
}

#define OP(id, name, form, operands, results, regions, traits, attrs, verify, infer, ...) \
  [TSR_OP_##id] = {tsr_verify_##verify, tsr_infer_##infer},
static const tsr_op_row rows[TSR_OP_COUNT] = {
    [TSR_OP_UNKNOWN] = {tsr_verify_none, tsr_infer_none},
#include "ir/ops.def"
};
#undef OP

const tsr_op_row *tsr_op_row_of(tsr_op_id id) { return &rows[id]; }

bool tsr_op_has_verifier(tsr_op_id id) { return rows[id].verify != tsr_verify_none; }

bool tsr_op_has_inference(tsr_op_id id) { return rows[id].infer != tsr_infer_none; }

static bool grow_results(tsr_result_types *out) {
  const int capacity = out->capacity ? 2 * out->capacity : 8;
  const tsr_type **types = out->few;
  if (out->capacity) types = tsr_ir_alloc(out->ir, sizeof *types * (size_t)capacity);
  if (!types) return false;
  if (out->count) memcpy(types, out->types, sizeof *types * (size_t)out->count);
  out->types = types;
  out->capacity = capacity;
  return true;
}

tsr_status tsr_results_add(tsr_result_types *out, const tsr_type *type) {
  TSR_NEED(type);
  if (out->count == out->capacity && !grow_results(out))
    return tsr_fail(NO_MEMORY, "memory of a program");
  out->types[out->count++] = type;
  return NULL;
}

tsr_status tsr_results_unknown(tsr_result_types *out) {
  out->unknown = true;
  return NULL;
}
