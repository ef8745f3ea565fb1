// Shardings read, and the ops that the insertion of reshards adds.
#include "reshard/reshard_run.h"

#include <string.h>

#include "propagate/edits.h"
#include "verify/sdy_checks.h"
#include "verify/verify.h"

// ---- shardings ----

tsr_status tsr_sharding_past_barriers(tsr_ir *ir, tsr_value *value, const tsr_attr **out_sharding) {
  while (tsr_op_is(value->def, TSR_OP_SDY_PROPAGATION_BARRIER))
    value = tsr_op_operand(value->def, 0);
  return tsr_sharding_get(ir, value, out_sharding);
}

tsr_status tsr_reshard_read(tsr_reshard_run *run, const tsr_op *op, const tsr_attr *attr,
                            const tsr_tensor_sharding **out_sharding) {
  tsr_tensor_sharding *made = NULL;
  *out_sharding = NULL;
  if (!attr) return NULL;
  const tsr_attr *mesh = tsr_sdy_mesh_of(run->ir, op, attr);
  if (!mesh) return tsr_fail(UNKNOWN_SYMBOL, "a sharding of %s names no mesh", op->name);
  TSR_TRY(tsr_sharding_read(&run->scratch, mesh, attr, &made));
  *out_sharding = made;
  return NULL;
}

bool tsr_sharding_has_no_dim_axes(const tsr_tensor_sharding *sharding) {
  for (int i = 0; sharding && i < sharding->rank; i++)
    if (sharding->dims[i].axes.count) return false;
  return true;
}

bool tsr_sharding_is_sound(const tsr_tensor_sharding *sharding) {
  for (int i = 0; i < sharding->rank; i++)
    if (tsr_parts_overlap(&sharding->dims[i].axes, &sharding->replicated) ||
        tsr_parts_overlap(&sharding->dims[i].axes, &sharding->unreduced))
      return false;
  return true;
}

// ---- new ops ----

// Adds an op. Shardings that contradict each other, such as unreduced axes that change from a sum
// to a maximum, make one that is wrong: it is refused.
static tsr_status add_op(tsr_reshard_run *run, const tsr_insertion *at, tsr_op_id id,
                         tsr_value *value, tsr_named_attr *attrs, int count,
                         tsr_value **out_value) {
  const tsr_op_parts parts = {.id = id,
                              .operand_count = 1,
                              .operands = &value,
                              .result_count = 1,
                              .result_types = &value->type,
                              .attrs = attrs,
                              .attr_count = count,
                              .location = value->def ? value->def->location : value->location};
  for (int i = 0; i < count; i++) {
    attrs[i].name = tsr_ir_name(run->ir, attrs[i].name, strlen(attrs[i].name));
    TSR_NEED(attrs[i].name && attrs[i].attr);
  }
  tsr_op *op = tsr_op_create(run->ir, &parts);
  TSR_NEED(op);
  if (at->before)
    tsr_op_insert_before(at->before, op);
  else
    tsr_op_append(at->block, op);
  *out_value = tsr_op_result(op, 0);
  ++*run->changes;
  return tsr_verify_op(run->ir, op);
}

tsr_status tsr_add_reshard(tsr_reshard_run *run, const tsr_insertion *at, tsr_value *value,
                           const tsr_attr *sharding, tsr_value **out_value) {
  tsr_named_attr attr = {"sharding", sharding};
  return add_op(run, at, TSR_OP_SDY_RESHARD, value, &attr, 1, out_value);
}

static const tsr_attr *axis_list(tsr_ir *ir, const tsr_attr *mesh, const tsr_sdy_parts *axes) {
  const tsr_attr *list = tsr_parts_attr(ir, mesh, axes);
  return list ? tsr_attr_record(ir, TSR_RECORD_SDY_AXIS_LIST, &list) : NULL;
}

tsr_status tsr_add_all_reduce(tsr_reshard_run *run, const tsr_insertion *at, tsr_value *value,
                              const tsr_sdy_parts *axes, const tsr_tensor_sharding *sharding,
                              tsr_value **out_value) {
  tsr_named_attr attrs[] = {
      {"out_sharding", tsr_sharding_attr(run->ir, sharding)},
      {"reduction_axes", axis_list(run->ir, sharding->mesh, axes)},
      {"reduction_op", tsr_attr_enum(run->ir, TSR_ENUM_SDY_REDUCTION, sharding->reduction)}};
  const int count = sharding->reduction == TSR_SDY_REDUCTION_SUM ? 2 : 3;
  return add_op(run, at, TSR_OP_SDY_ALL_REDUCE, value, attrs, count, out_value);
}

tsr_status tsr_add_replicated_to_unreduced(tsr_reshard_run *run, const tsr_insertion *at,
                                           tsr_value *value, const tsr_sdy_parts *axes,
                                           const tsr_tensor_sharding *sharding,
                                           tsr_value **out_value) {
  tsr_named_attr attrs[] = {{"axes", axis_list(run->ir, sharding->mesh, axes)},
                            {"out_sharding", tsr_sharding_attr(run->ir, sharding)}};
  return add_op(run, at, TSR_OP_SDY_REPLICATED_TO_UNREDUCED, value, attrs, 2, out_value);
}

tsr_status tsr_add_sharded_to_unreduced(tsr_reshard_run *run, const tsr_insertion *at,
                                        tsr_value *value, const tsr_sdy_parts *lists,
                                        const tsr_tensor_sharding *sharding,
                                        tsr_value **out_value) {
  const tsr_attr **items =
      tsr_arena_alloc(&run->scratch, ((size_t)sharding->rank + 1) * sizeof(const tsr_attr *));
  TSR_NEED(items);
  for (int i = 0; i < sharding->rank; i++) {
    items[i] = axis_list(run->ir, sharding->mesh, &lists[i]);
    TSR_NEED(items[i]);
  }
  const tsr_attr *array = tsr_attr_array(run->ir, items, sharding->rank);
  TSR_NEED(array);
  tsr_named_attr attrs[] = {{"axes", tsr_attr_record(run->ir, TSR_RECORD_SDY_AXIS_LISTS, &array)},
                            {"out_sharding", tsr_sharding_attr(run->ir, sharding)}};
  return add_op(run, at, TSR_OP_SDY_SHARDED_TO_UNREDUCED, value, attrs, 2, out_value);
}
