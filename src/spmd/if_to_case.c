// if-to-case: Shardy propagates through stablehlo.case, and knows nothing of stablehlo.if.
#include "propagate/edits.h"
#include "simplify/decompose_build.h"
#include "spmd/spmd_passes.h"

// The first branch of a case is number 0, that of an if is for true.
static tsr_status change_op(tsr_op *op, void *context) {
  tsr_ir *ir = context;
  if (!tsr_op_is(op, TSR_OP_IF)) return NULL;
  tsr_site site = {.ir = ir, .place = op};
  const tsr_type *word = tsr_type_integer(ir, 32, TSR_SIGNLESS);
  const tsr_type **types = tsr_ir_alloc(ir, ((size_t)op->result_count + 1) * sizeof *types);
  TSR_NEED(word && types ? op : NULL);
  for (int i = 0; i < op->result_count; i++) types[i] = op->results[i].type;
  tsr_value *index = tsr_site_unary(&site, TSR_OP_NOT, tsr_op_operand(op, 0));
  index = tsr_site_convert(&site, index, word);
  tsr_op *made = tsr_site_op(&site, TSR_OP_CASE, &index, 1, types, op->result_count, 2, NULL, 0);
  if (site.failure) return site.failure;
  TSR_NEED(made);
  for (int i = 0; i < op->attr_count; i++)
    if (!tsr_op_set_attr(ir, made, op->attrs[i].name, op->attrs[i].attr))
      return tsr_fail(NO_MEMORY, "attributes of %s", op->name);
  for (int i = 0; i < 2; i++) tsr_body_take(&made->regions[i], &op->regions[i]);
  for (int i = 0; i < op->result_count; i++)
    tsr_value_replace(tsr_op_result(op, i), tsr_op_result(made, i));
  tsr_op_erase(op);
  return NULL;
}

tsr_status tsr_pass_if_to_case(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  (void)changes;
  return tsr_op_walk_after(ir->module, change_op, ir);
}
