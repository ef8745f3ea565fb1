// Calls whose results are sharded otherwise than the function gives them: the call takes the
// shardings of the function, and a reshard after it makes what the caller had.
#include "factor/shardings.h"
#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"

static tsr_status reshard_result(tsr_ir *ir, tsr_op *call, int index, const tsr_attr *given,
                                 const tsr_attr *wanted) {
  tsr_value *value = tsr_op_result(call, index);
  if (tsr_sharding_is_equivalent(given, wanted)) return NULL;
  const tsr_named_attr attr = {
      tsr_ir_name(ir, "sharding", 8),
      wanted ? wanted
             : tsr_sharding_bare(ir, tsr_attr_field(given, TSR_SDY_SHARDING_MESH),
                                 tsr_type_rank(value->type), true)};
  if (!attr.name || !attr.attr) return tsr_fail(NO_MEMORY, "a reshard");
  tsr_op *reshard = tsr_op_like(ir, call, TSR_OP_SDY_RESHARD, value, &attr);
  TSR_NEED(reshard);
  tsr_op_insert_after_value(value, reshard);
  tsr_uses_move(value, tsr_op_result(reshard, 0), reshard);
  return NULL;
}

// What a function without shardings gives: all replicated, on the meshes that the call names.
static tsr_status replicated_like(tsr_ir *ir, const tsr_attr *shardings,
                                  const tsr_attr **out_shardings) {
  const tsr_attr *list = tsr_shardings_list(shardings);
  const tsr_attr **made = tsr_ir_alloc(ir, ((size_t)list->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(made);
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *dims = tsr_attr_field(list->items[i], TSR_SDY_SHARDING_DIMS);
    made[i] = tsr_sharding_bare(ir, tsr_attr_field(list->items[i], TSR_SDY_SHARDING_MESH),
                                (int)dims->count, true);
    TSR_NEED(made[i]);
  }
  *out_shardings = tsr_shardings_attr(ir, made, list->count);
  TSR_NEED(*out_shardings);
  return NULL;
}

static tsr_status reshard_call(tsr_op *call, void *context) {
  tsr_ir *ir = context;
  const tsr_op *func = tsr_op_is(call, TSR_OP_CALL) ? tsr_callee(ir, call) : NULL;
  const tsr_attr *wanted = tsr_op_attr(call, "sdy.sharding"), *given = NULL;
  if (!func) return NULL;
  TSR_TRY(tsr_func_result_shardings(ir, func, &given));
  if (!given && !tsr_shardings_list(wanted)) return NULL;
  if (!given) TSR_TRY(replicated_like(ir, wanted, &given));
  const tsr_attr *from = tsr_shardings_list(given), *to = tsr_shardings_list(wanted);
  for (int i = 0; i < call->result_count && i < from->count; i++)
    TSR_TRY(reshard_result(ir, call, i, from->items[i], to && i < to->count ? to->items[i] : NULL));
  return tsr_op_attr_set(ir, call, "sdy.sharding", given);
}

tsr_status tsr_pass_insert_func_call_reshards(tsr_ir *ir, const tsr_pass_options *options,
                                              int64_t *changes) {
  (void)options;
  (void)changes;
  return tsr_op_walk_after(ir->module, reshard_call, ir);
}
