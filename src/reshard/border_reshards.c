// Reshards where data flows from one place to another without an op: into loops, branches,
// computations and calls, and out of functions.
#include "propagate/edits.h"
#include "propagate/manual_axes.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"
#include "reshard/reshard_run.h"
#include "verify/sdy_checks.h"

// A missing sharding is replicated, whatever is unreduced on the other side.
static bool fits(const tsr_attr *sharding, const tsr_attr *target) {
  if (sharding || !target) return tsr_sharding_is_equivalent(sharding, target);
  return !tsr_sharding_cuts_dims(target);
}

tsr_status tsr_reshard_use(tsr_reshard_run *run, tsr_use *use, const tsr_attr *target,
                           tsr_insertion at, bool full) {
  const tsr_attr *sharding = NULL, *gained = NULL;
  tsr_value *result = NULL;
  TSR_TRY(tsr_sharding_get(run->ir, use->value, &sharding));
  TSR_TRY(tsr_reduce_use(run, &at, use, &sharding, target));
  TSR_TRY(tsr_unreduce_use(run, &at, use, target, &gained));
  if (gained) sharding = gained;
  if (!full || fits(sharding, target)) return NULL;
  if (!target) {
    const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
    target = tsr_sharding_bare(run->ir, tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH),
                               (int)dims->count, true);
    TSR_NEED(target);
  }
  TSR_TRY(tsr_add_reshard(run, &at, use->value, target, &result));
  tsr_use_set(use, result);
  return NULL;
}

// ---- data-flow ops ----

static tsr_status reshard_source(tsr_reshard_run *run, tsr_op *op, int index,
                                 const tsr_attr *target) {
  if (!op || index >= op->operand_count) return NULL;
  tsr_use *use = &op->operands[index];
  return tsr_reshard_use(run, use, target, tsr_insertion_after_value(use->value), run->full);
}

static tsr_op *end_of(const tsr_region *region) {
  return region->first ? tsr_block_terminator(region->first) : NULL;
}

// What flows into a result.
static tsr_status reshard_into_result(tsr_reshard_run *run, tsr_op *op, int index,
                                      const tsr_attr *target) {
  switch (op->info->id) {
    case TSR_OP_WHILE:
      TSR_TRY(reshard_source(run, op, index, target));
      return reshard_source(run, end_of(&op->regions[1]), index, target);
    case TSR_OP_CASE:
      for (int i = 0; i < op->region_count; i++)
        TSR_TRY(reshard_source(run, end_of(&op->regions[i]), index, target));
      return NULL;
    case TSR_OP_OPTIMIZATION_BARRIER:
      return reshard_source(run, op, index, target);
    default:
      return reshard_source(run, end_of(&op->regions[0]), index, target);
  }
}

static const tsr_attr *listed(const tsr_op *op, const char *name, int index) {
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, name));
  return list && index < list->count ? list->items[index] : NULL;
}

// A sharding of a manual computation, as the sources of its arguments or results see it.
static tsr_status across_border(tsr_reshard_run *run, const tsr_op *op, bool argument,
                                const tsr_attr **sharding) {
  const tsr_tensor_sharding *outer = NULL;
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION) || !*sharding) return NULL;
  TSR_TRY(tsr_reshard_read(run, op, *sharding, &outer));
  const tsr_tensor_sharding *inner = tsr_manual_inner(&run->scratch, op, outer);
  TSR_NEED(inner);
  const tsr_tensor_sharding *seen =
      argument ? tsr_manual_outer(&run->scratch, op, outer, inner) : inner;
  TSR_NEED(seen);
  *sharding = tsr_sharding_attr(run->ir, seen);
  TSR_NEED(*sharding);
  return NULL;
}

tsr_status tsr_reshard_data_flow(tsr_reshard_run *run, tsr_op *op) {
  const bool computes =
      tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION) || tsr_op_is(op, TSR_OP_SDY_NAMED_COMPUTATION);
  for (int i = 0; i < op->result_count; i++) {
    const tsr_attr *target = listed(op, computes ? "out_shardings" : "sdy.sharding", i);
    TSR_TRY(across_border(run, op, false, &target));
    TSR_TRY(reshard_into_result(run, op, i, target));
  }
  const tsr_ir_block *body = computes ? op->regions[0].first : NULL;
  for (int i = 0; body && i < body->arg_count; i++) {
    const tsr_attr *target = listed(op, "in_shardings", i);
    TSR_TRY(across_border(run, op, true, &target));
    TSR_TRY(reshard_source(run, op, i, target));
  }
  return NULL;
}

// ---- calls and functions ----

// The mesh, as it is written, of the first operand that is not on one device; NULL = there is none.
static tsr_status operand_mesh(tsr_reshard_run *run, const tsr_op *call,
                               const tsr_attr **out_mesh) {
  *out_mesh = NULL;
  for (int i = 0; i < call->operand_count && !*out_mesh; i++) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(run->ir, tsr_op_operand(call, i), &sharding));
    const tsr_attr *mesh = sharding ? tsr_sdy_mesh_of(run->ir, call, sharding) : NULL;
    if (mesh && !tsr_sdy_is_maximal(mesh))
      *out_mesh = tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH);
  }
  return NULL;
}

tsr_status tsr_reshard_call(tsr_reshard_run *run, tsr_op *call) {
  const tsr_op *func = tsr_callee(run->ir, call);
  const tsr_attr *shardings = NULL, *mesh = NULL;
  if (!func) return NULL;
  TSR_TRY(tsr_func_arg_shardings(run->ir, func, &shardings));
  if (!shardings) TSR_TRY(operand_mesh(run, call, &mesh));
  if (!shardings && !mesh) return NULL;
  const tsr_attr *list = tsr_shardings_list(shardings);
  for (int i = 0; i < call->operand_count && (!list || i < list->count); i++) {
    tsr_use *use = &call->operands[i];
    const tsr_attr *target =
        list ? list->items[i]
             : tsr_sharding_bare(run->ir, mesh, tsr_type_rank(use->value->type), true);
    TSR_NEED(target);
    TSR_TRY(tsr_reshard_use(run, use, target, tsr_insertion_after_value(use->value), true));
  }
  return NULL;
}

tsr_status tsr_reshard_return(tsr_reshard_run *run, tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  for (int i = 0; end && i < end->operand_count; i++)
    TSR_TRY(tsr_reshard_use(run, &end->operands[i], tsr_func_result_sharding(func, i),
                            tsr_insertion_before(end), run->full));
  return NULL;
}
