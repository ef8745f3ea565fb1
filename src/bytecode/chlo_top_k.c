// The decomposition of chlo.top_k: the last dimension sorted with its indices, and cut.
#include "bytecode/chlo_body.h"

// An op at the end of a block, with any number of results.
static tsr_op *append(tsr_ir *ir, tsr_ir_block *block, const tsr_op_parts *parts) {
  tsr_op *op = tsr_op_create(ir, parts);
  if (op) tsr_op_append(block, op);
  return op;
}

static bool has_all(const tsr_named_attr *attrs, int count) {
  for (int i = 0; i < count; i++)
    if (!attrs[i].name || !attrs[i].attr) return false;
  return true;
}

// Larger elements come first; floats in their total order, so that NaN has a place.
static tsr_status fill_comparator(tsr_ir *ir, tsr_op *sort, const tsr_type *const *types) {
  tsr_ir_block *block = tsr_block_append(ir, &sort->regions[0]);
  TSR_NEED(block);
  tsr_value *args[4];
  for (int i = 0; i < 4; i++) {
    const tsr_type *scalar = tsr_type_tensor(ir, types[i / 2]->element, 0, NULL, NULL);
    args[i] = scalar ? tsr_block_add_arg(ir, block, scalar, NULL) : NULL;
    TSR_NEED(args[i]);
  }
  const tsr_type *element = types[0]->element;
  const int kind = element->kind == TSR_TYPE_FLOAT ? TSR_COMPARE_TYPE_TOTALORDER
                   : element->sign == TSR_UNSIGNED ? TSR_COMPARE_TYPE_UNSIGNED
                                                   : TSR_COMPARE_TYPE_SIGNED;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "compare_type", 12), tsr_attr_enum(ir, TSR_ENUM_COMPARE_TYPE, kind)},
      {tsr_ir_name(ir, "comparison_direction", 20),
       tsr_attr_enum(ir, TSR_ENUM_DIRECTION, TSR_DIRECTION_GT)}};
  const tsr_type *i1 = tsr_type_shaped(ir, TSR_BOOL, 0, NULL);
  if (!i1 || !has_all(attrs, 2)) return tsr_fail(NO_MEMORY, "a comparator");
  const tsr_chlo_site site = {.ir = ir, .block = block};
  tsr_value *greater = tsr_chlo_build(&site, TSR_OP_COMPARE, i1, args, 2, attrs, 2);
  TSR_NEED(greater);
  TSR_NEED(append(ir, block,
                  &(tsr_op_parts){.id = TSR_OP_RETURN, .operand_count = 1, .operands = &greater}));
  return NULL;
}

static tsr_status build_sort(tsr_ir *ir, tsr_ir_block *block, const tsr_type *const *types,
                             tsr_value **values) {
  const tsr_attr *dim = tsr_attr_i64(ir, types[0]->rank - 1);
  const tsr_named_attr iota = {tsr_ir_name(ir, "iota_dimension", 14), dim};
  const tsr_named_attr attrs[] = {{tsr_ir_name(ir, "dimension", 9), dim},
                                  {tsr_ir_name(ir, "is_stable", 9), tsr_attr_bool(ir, true)}};
  if (!has_all(&iota, 1) || !has_all(attrs, 2)) return tsr_fail(NO_MEMORY, "a sort");
  const tsr_chlo_site site = {.ir = ir, .block = block};
  values[1] = tsr_chlo_build(&site, TSR_OP_IOTA, types[1], NULL, 0, &iota, 1);
  TSR_NEED(values[1]);
  tsr_op *sort = append(ir, block,
                        &(tsr_op_parts){.id = TSR_OP_SORT,
                                        .operand_count = 2,
                                        .operands = values,
                                        .result_count = 2,
                                        .result_types = types,
                                        .region_count = 1,
                                        .attr_count = 2,
                                        .attrs = attrs});
  TSR_NEED(sort);
  for (int i = 0; i < 2; i++) values[i] = tsr_op_result(sort, i);
  return fill_comparator(ir, sort, types);
}

// Cuts the last dimension of both values to that of the result.
static tsr_status build_slices(tsr_ir *ir, tsr_ir_block *block, const tsr_type *const *results,
                               tsr_value **values) {
  const int rank = results[0]->rank;
  int64_t starts[TSR_MAX_RANK] = {0}, strides[TSR_MAX_RANK];
  for (int i = 0; i < rank; i++) strides[i] = 1;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "limit_indices", 13), tsr_attr_ints(ir, results[0]->dims, rank)},
      {tsr_ir_name(ir, "start_indices", 13), tsr_attr_ints(ir, starts, rank)},
      {tsr_ir_name(ir, "strides", 7), tsr_attr_ints(ir, strides, rank)}};
  if (!has_all(attrs, 3)) return tsr_fail(NO_MEMORY, "a slice");
  const tsr_chlo_site site = {.ir = ir, .block = block};
  for (int i = 0; i < 2; i++) {
    values[i] = tsr_chlo_build(&site, TSR_OP_SLICE, results[i], &values[i], 1, attrs, 3);
    TSR_NEED(values[i]);
  }
  return NULL;
}

bool tsr_chlo_can_top_k(const tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_type_kind kind = tsr_type_element(type)->kind;
  return tsr_type_is_static(type) && type->rank > 0 && type->rank <= TSR_MAX_RANK &&
         op->result_count == 2 && tsr_type_is_static(op->results[0].type) &&
         op->results[0].type->rank == type->rank && op->results[1].type->rank == type->rank &&
         (kind == TSR_TYPE_FLOAT || kind == TSR_TYPE_INTEGER);
}

tsr_status tsr_chlo_build_top_k(tsr_ir *ir, tsr_ir_block *block, const tsr_type *const *results,
                                tsr_value **values) {
  const tsr_type *type = values[0]->type;
  const tsr_type *types[] = {type, tsr_chlo_retype(ir, type, results[1]->element)};
  TSR_NEED(types[1]);
  TSR_TRY(build_sort(ir, block, types, values));
  return build_slices(ir, block, results, values);
}
