#include "collective/collective_build.h"

#include <string.h>

enum { MOST_ATTRS = 3 };

static bool add_attr(tsr_ir *ir, tsr_named_attr *attrs, int *count, const char *name,
                     const tsr_attr *attr) {
  if (!attr || !name) return true;
  attrs[*count] = (tsr_named_attr){tsr_ir_name(ir, name, strlen(name)), attr};
  return attrs[(*count)++].name;
}

tsr_op *tsr_collective_create(tsr_ir *ir, const tsr_op *like, tsr_value *operand,
                              const tsr_collective_parts *parts) {
  tsr_named_attr attrs[MOST_ATTRS];
  int count = 0;
  if (!parts->sharding || (parts->name && !parts->axes)) return NULL;
  if (!add_attr(ir, attrs, &count, parts->name, parts->axes) ||
      !add_attr(ir, attrs, &count, "out_sharding", parts->sharding) ||
      !add_attr(ir, attrs, &count, "reduction_op", parts->reduction))
    return NULL;
  const tsr_op_parts made = {.id = parts->id,
                             .operand_count = 1,
                             .operands = &operand,
                             .result_count = 1,
                             .result_types = &operand->type,
                             .attrs = attrs,
                             .attr_count = count,
                             .location = like->location};
  tsr_op *op = tsr_op_create(ir, &made);
  if (op) op->origin = like->origin;  // a constraint of the user stays known as one
  return op;
}

const tsr_attr *tsr_axis_lists_attr(tsr_ir *ir, const tsr_attr *mesh, const tsr_sdy_parts *lists,
                                    int count) {
  const tsr_attr **items = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *items);
  if (!items) return NULL;
  for (int i = 0; i < count; i++) {
    const tsr_attr *axes = tsr_parts_attr(ir, mesh, &lists[i]);
    items[i] = axes ? tsr_attr_record(ir, TSR_RECORD_SDY_AXIS_LIST, &axes) : NULL;
    if (!items[i]) return NULL;
  }
  const tsr_attr *array = tsr_attr_array(ir, items, count);
  return array ? tsr_attr_record(ir, TSR_RECORD_SDY_AXIS_LISTS, &array) : NULL;
}

// ---- comparing ----

static const tsr_attr *axes_of(const tsr_attr *sharding, int64_t dim) {
  return tsr_attr_field(tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS)->items[dim],
                        TSR_SDY_DIM_AXES);
}

bool tsr_sharding_is_whole(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++)
    if (axes_of(sharding, i)->count) return false;
  return true;
}
