// Arguments of functions that become constants, and go from the signature.
#include <string.h>

#include "refine/refine.h"
#include "refine/refine_internal.h"
#include "verify/verify.h"

tsr_status tsr_attr_replace(tsr_ir *ir, tsr_op *op, const char *name, const tsr_attr *attr) {
  const char *kept = tsr_ir_name(ir, name, strlen(name));
  TSR_NEED(kept && tsr_op_set_attr(ir, op, kept, attr) ? kept : NULL);
  return NULL;
}

tsr_status tsr_entries_drop(tsr_ir *ir, tsr_op *op, const char *name,
                            const tsr_attr *const *constants, int argument_count) {
  const tsr_attr *list = tsr_op_attr(op, name);
  if (!list || list->kind != TSR_ATTR_ARRAY || list->count != argument_count) return NULL;
  const tsr_attr **kept = tsr_ir_alloc(ir, sizeof *kept * (size_t)(list->count + 1));
  int64_t count = 0;
  TSR_NEED(kept);
  for (int i = 0; i < argument_count; i++)
    if (!constants[i]) kept[count++] = list->items[i];
  const tsr_attr *shorter = tsr_attr_array(ir, kept, count);
  TSR_NEED(shorter);
  return tsr_attr_replace(ir, op, name, shorter);
}

tsr_status tsr_constants_bind(tsr_ir *ir, tsr_op *func, const tsr_attr *const *constants) {
  tsr_ir_block *body = tsr_func_body(func);
  const int count = body->arg_count;
  int kept = 0;
  for (int i = 0; i < count; i++) {
    tsr_value *arg = body->args[i], *constant = NULL;
    if (constants[i] && body->first) {
      TSR_TRY(tsr_insert_constant(ir, body->first, constants[i], &constant));
      tsr_value_replace(arg, constant);
      continue;
    }
    arg->index = kept;
    body->args[kept++] = arg;
  }
  body->arg_count = kept;
  return tsr_entries_drop(ir, func, "arg_attrs", constants, count);
}

tsr_status tsr_signature_update(tsr_ir *ir, tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_op *end = tsr_block_terminator(body);
  TSR_ASK(end, func, "", "@%s does not end with a return", tsr_op_symbol(func));
  tsr_result_types inputs = {.ir = ir}, outputs = {.ir = ir};
  for (int i = 0; i < body->arg_count; i++) TSR_TRY(tsr_results_add(&inputs, body->args[i]->type));
  for (int i = 0; i < end->operand_count; i++)
    TSR_TRY(tsr_results_add(&outputs, tsr_operand_type(end, i)));
  const tsr_type *type =
      tsr_type_function(ir, inputs.types, inputs.count, outputs.types, outputs.count);
  TSR_NEED(type);
  const tsr_attr *attr = tsr_attr_type(ir, type);
  TSR_NEED(attr);
  return tsr_attr_replace(ir, func, "function_type", attr);
}

tsr_status tsr_bind_arguments(tsr_ir *ir, tsr_op *func, const tsr_attr *const *constants) {
  TSR_TRY(tsr_constants_bind(ir, func, constants));
  return tsr_signature_update(ir, func);
}
