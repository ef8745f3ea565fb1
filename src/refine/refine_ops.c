// Single ops: the result types that constants among the operands give, and the static ops that ops
// of dynamic shapes become.
#include <string.h>

#include "refine/refine_internal.h"
#include "verify/group_checks.h"

// ---- constants among the operands

// The integers of a constant operand; false if it is none, or too long.
static bool operand_ints(const tsr_op *op, int operand, int64_t *out_values, int64_t *out_count) {
  const tsr_attr *dense = tsr_constant_of(tsr_op_operand(op, operand));
  if (!dense) return false;
  const int64_t count = tsr_type_element_count(dense->type);
  if (count < 0 || count > TSR_FOLD_MOST || !tsr_is_integer(dense->type)) return false;
  for (int64_t i = 0; i < count; i++) out_values[i] = tsr_dense_int(dense, i);
  *out_count = count;
  return true;
}

static tsr_status shape_of_operand(tsr_ir *ir, const tsr_op *op, int operand, int result,
                                   const tsr_type **out_type) {
  int64_t sizes[TSR_FOLD_MOST], count = 0;
  const tsr_type *type = op->results[result].type;
  if (!operand_ints(op, operand, sizes, &count)) return NULL;
  for (int64_t i = 0; i < count; i++)
    TSR_ASK(sizes[i] >= 0, op, "", "operand %d has the size %lld, expected 0 or more", operand,
            (long long)sizes[i]);
  *out_type = tsr_type_tensor(ir, tsr_type_element(type), (int)count, sizes, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

// ---- result types

static tsr_status padded_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type) {
  const tsr_type *from = tsr_operand_type(op, 0);
  int64_t low[TSR_FOLD_MOST], high[TSR_FOLD_MOST], interior[TSR_FOLD_MOST], count = 0;
  if (!operand_ints(op, 2, low, &count) || !operand_ints(op, 3, high, &count) ||
      !operand_ints(op, 4, interior, &count) || count != from->rank)
    return NULL;
  for (int i = 0; i < from->rank; i++) {
    const int64_t size = from->dims[i];
    int64_t padded = size > 0 ? size - 1 : 0;
    if (tsr_is_dynamic(size)) {
      low[i] = TSR_DYNAMIC;
      continue;
    }
    const bool fits = !__builtin_mul_overflow(padded, interior[i], &padded) &&
                      !__builtin_add_overflow(padded, size, &padded) &&
                      !__builtin_add_overflow(padded, low[i], &padded) &&
                      !__builtin_add_overflow(padded, high[i], &padded);
    TSR_ASK(fits && padded >= 0, op, "C4", "the padded size of dimension %d of %s is not 0 or more",
            i, SHOW_TYPE(from));
    low[i] = padded;
  }
  *out_type = tsr_type_tensor(ir, from->element, from->rank, low, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

// The sizes of a slice that starts somewhere: its limit is the start and a constant, its strides 1.
static bool floating_sizes(const tsr_op *op, int64_t *out_sizes) {
  const tsr_value *start = tsr_op_operand(op, 1);
  const tsr_op *limit = tsr_op_operand(op, 2)->def;
  int64_t strides[TSR_FOLD_MOST], count = 0;
  if (!limit || limit->info->id != TSR_OP_ADD || !operand_ints(op, 3, strides, &count))
    return false;
  for (int64_t i = 0; i < count; i++)
    if (strides[i] != 1) return false;
  for (int i = 0; i < 2; i++)
    if (tsr_op_operand(limit, i) == start && operand_ints(limit, 1 - i, out_sizes, &count))
      return count == tsr_operand_type(op, 0)->rank;
  return false;
}

static tsr_status sliced_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type) {
  const tsr_type *from = tsr_operand_type(op, 0);
  int64_t start[TSR_FOLD_MOST], limit[TSR_FOLD_MOST], stride[TSR_FOLD_MOST], count = 0;
  if (!operand_ints(op, 1, start, &count) || !operand_ints(op, 2, limit, &count) ||
      !operand_ints(op, 3, stride, &count) || count != from->rank) {
    if (!floating_sizes(op, start)) return NULL;
    *out_type = tsr_type_tensor(ir, from->element, from->rank, start, NULL);
    TSR_NEED(*out_type);
    return NULL;
  }
  for (int i = 0; i < from->rank; i++) {
    TSR_ASK(start[i] >= 0 && limit[i] >= start[i] && stride[i] >= 1 &&
                (tsr_is_dynamic(from->dims[i]) || limit[i] <= from->dims[i]),
            op, "", "the slice %lld:%lld:%lld of dimension %d does not fit %s", (long long)start[i],
            (long long)limit[i], (long long)stride[i], i, SHOW_TYPE(from));
    start[i] = (limit[i] - start[i] + stride[i] - 1) / stride[i];
  }
  *out_type = tsr_type_tensor(ir, from->element, from->rank, start, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

// all_gather and reduce_scatter: the size times, or divided by, the number of processes of a group.
static tsr_status exchanged_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type) {
  const bool gathers = op->info->id == TSR_OP_ALL_GATHER;
  const tsr_type *from = tsr_operand_type(op, 0);
  const int64_t dim = tsr_op_int(op, gathers ? "all_gather_dim" : "scatter_dimension", 0);
  const int64_t group = tsr_process_group_size(op);
  const bool across =
      tsr_op_attr(op, "channel_handle") && !tsr_op_flag(op, "use_global_device_ids");
  int64_t sizes[TSR_RANK_LIMIT];
  if (!group || across || op->operand_count != 1 || dim < 0 || dim >= from->rank) return NULL;
  for (int i = 0; i < from->rank; i++) sizes[i] = from->dims[i];
  if (!tsr_is_dynamic(sizes[dim]) && gathers &&
      __builtin_mul_overflow(sizes[dim], group, &sizes[dim]))
    TSR_VIOLATES(op, "C6", "dimension %lld of %s times %lld is too large", (long long)dim,
                 SHOW_TYPE(from), (long long)group);
  if (!tsr_is_dynamic(sizes[dim]) && !gathers) sizes[dim] /= group;
  *out_type = tsr_type_tensor(ir, tsr_type_element(op->results[0].type), from->rank, sizes, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

// One result of the shape of the first operand and elements of its own.
static tsr_status same_shape_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  if (from->kind != TSR_TYPE_TENSOR || !tsr_type_is_shaped(to)) return NULL;
  *out_type = tsr_type_with_element(ir, from, tsr_type_element(to));
  TSR_NEED(*out_type);
  return NULL;
}

static tsr_status bitcast_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  if (from->rank == to->rank) return same_shape_type(ir, op, out_type);
  int64_t sizes[TSR_RANK_LIMIT + 1];
  const tsr_type *shorter = from->rank < to->rank ? from : to;
  for (int i = 0; i < to->rank; i++) sizes[i] = i < shorter->rank ? from->dims[i] : to->dims[i];
  *out_type = tsr_type_tensor(ir, to->element, to->rank, sizes, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

tsr_status tsr_refined_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type) {
  *out_type = NULL;
  if (op->result_count != 1) return NULL;
  switch (op->info->id) {
    case TSR_OP_DYNAMIC_IOTA:
      return shape_of_operand(ir, op, 0, 0, out_type);
    case TSR_OP_DYNAMIC_RESHAPE:
    case TSR_OP_DYNAMIC_BROADCAST_IN_DIM:
      return shape_of_operand(ir, op, 1, 0, out_type);
    case TSR_OP_RNG:
      return shape_of_operand(ir, op, 2, 0, out_type);
    case TSR_OP_DYNAMIC_PAD:
      return padded_type(ir, op, out_type);
    case TSR_OP_REAL_DYNAMIC_SLICE:
      return sliced_type(ir, op, out_type);
    case TSR_OP_ALL_GATHER:
    case TSR_OP_REDUCE_SCATTER:
      return exchanged_type(ir, op, out_type);
    case TSR_OP_BITCAST_CONVERT:
      return bitcast_type(ir, op, out_type);
    case TSR_OP_CAST:
      return NULL;
    default:
      break;
  }
  const bool elementwise = op->operand_count && (op->info->traits & TSR_TRAIT_ELEMENTWISE);
  return elementwise ? same_shape_type(ir, op, out_type) : NULL;
}

// ---- static ops

enum { ATTRS_MOST = 24 };

// A static op in the making: the first operands of the dynamic one, its discardable attributes, and
// the inherent ones that `add_attr` gives it.
typedef struct static_op {
  tsr_ir *ir;
  tsr_op *old;
  tsr_op_parts parts;
  tsr_named_attr *attrs;
  tsr_value **operands;
} static_op;

static tsr_status start_static(tsr_ir *ir, tsr_op *old, tsr_op_id id, int operand_count,
                               static_op *out) {
  const tsr_op_info *info = tsr_op_info_of(id);
  *out = (static_op){.ir = ir, .old = old};
  out->attrs = tsr_ir_alloc(ir, sizeof *out->attrs * (size_t)(old->attr_count + ATTRS_MOST));
  out->operands = tsr_ir_alloc(ir, sizeof(tsr_value *) * (size_t)(operand_count + 1));
  const tsr_type **types = tsr_ir_alloc(ir, sizeof *types * (size_t)(old->result_count + 1));
  TSR_NEED(out->attrs && out->operands && types ? out : NULL);
  for (int i = 0; i < operand_count; i++) out->operands[i] = tsr_op_operand(old, i);
  for (int i = 0; i < old->result_count; i++) types[i] = old->results[i].type;
  out->parts = (tsr_op_parts){.id = id,
                              .operand_count = operand_count,
                              .operands = out->operands,
                              .result_count = old->result_count,
                              .result_types = types,
                              .region_count = info->regions > 0 ? info->regions : 0,
                              .attrs = out->attrs,
                              .location = old->location};
  // Attributes that both ops have stay as well.
  for (int i = 0; i < old->attr_count; i++) {
    bool kept = !tsr_op_is_inherent(old, old->attrs[i].name);
    for (int j = 0; !kept && j < info->attr_count; j++)
      kept = !strcmp(info->attrs[j].name, old->attrs[i].name);
    if (kept) out->attrs[out->parts.attr_count++] = old->attrs[i];
  }
  return NULL;
}

static tsr_status add_attr(static_op *made, const char *name, const tsr_attr *attr) {
  const char *kept = tsr_ir_name(made->ir, name, strlen(name));
  TSR_NEED(kept);
  TSR_NEED(attr);
  made->attrs[made->parts.attr_count++] = (tsr_named_attr){kept, attr};
  return NULL;
}

// Puts the new op in the place of the old one.
static tsr_status finish_static(static_op *made, tsr_op **out_op) {
  tsr_op *op = tsr_op_create(made->ir, &made->parts);
  TSR_NEED(op);
  op->line = made->old->line;
  op->column = made->old->column;
  tsr_op_insert_before(made->old, op);
  for (int i = 0; i < op->result_count; i++)
    tsr_value_replace(tsr_op_result(made->old, i), tsr_op_result(op, i));
  tsr_op_erase(made->old);
  *out_op = op;
  return NULL;
}

static tsr_status replace_by(tsr_ir *ir, tsr_op *old, tsr_op_id id, int operand_count,
                             tsr_op **out_op) {
  static_op made;
  TSR_TRY(start_static(ir, old, id, operand_count, &made));
  return finish_static(&made, out_op);
}

static tsr_status add_operand_list(static_op *made, const char *name, int operand) {
  int64_t values[TSR_FOLD_MOST], count = 0;
  operand_ints(made->old, operand, values, &count);
  return add_attr(made, name, tsr_attr_ints(made->ir, values, count));
}

// A list of pairs, as tensor<Nx2xi64>.
static tsr_status add_padding(static_op *made, int operand) {
  int64_t values[TSR_FOLD_MOST], count = 0;
  const tsr_attr *dense = NULL;
  operand_ints(made->old, operand, values, &count);
  const int64_t dims[2] = {count / 2, 2};
  const tsr_type *type = tsr_type_shaped(made->ir, TSR_I64, 2, dims);
  TSR_NEED(type);
  TSR_TRY(tsr_dense_of_ints(made->ir, type, values, count, &dense));
  return add_attr(made, "padding", dense);
}

static bool all_constant(const tsr_op *op, int first, int end) {
  int64_t values[TSR_FOLD_MOST], count = 0;
  for (int i = first; i < end; i++)
    if (!operand_ints(op, i, values, &count)) return false;
  return true;
}

static tsr_status static_reshape(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  if (tsr_operand_type(op, 0) != op->results[0].type)
    return replace_by(ir, op, TSR_OP_RESHAPE, 1, out_op);
  tsr_value_replace(tsr_op_result(op, 0), tsr_op_operand(op, 0));
  return NULL;  // it has no users now and goes with the dead ops
}

static tsr_status static_pad(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  if (!all_constant(op, 2, 5)) return NULL;
  TSR_TRY(start_static(ir, op, TSR_OP_PAD, 2, &made));
  TSR_TRY(add_operand_list(&made, "edge_padding_low", 2));
  TSR_TRY(add_operand_list(&made, "edge_padding_high", 3));
  TSR_TRY(add_operand_list(&made, "interior_padding", 4));
  return finish_static(&made, out_op);
}

static tsr_status insert_op(tsr_ir *ir, tsr_op *place, tsr_op_id id, tsr_value *operand,
                            const tsr_type *type, const tsr_named_attr *attrs, int attr_count,
                            tsr_value **out_value) {
  TSR_NEED(type);
  const tsr_op_parts parts = {.id = id,
                              .operand_count = 1,
                              .operands = &operand,
                              .result_count = 1,
                              .result_types = &type,
                              .attrs = attrs,
                              .attr_count = attr_count,
                              .location = place->location};
  tsr_op *op = tsr_op_create(ir, &parts);
  TSR_NEED(op);
  tsr_op_insert_before(place, op);
  *out_value = tsr_op_result(op, 0);
  return NULL;
}

// Element `index` of a list, as a scalar.
static tsr_status insert_element(tsr_ir *ir, tsr_op *place, tsr_value *list, int64_t index,
                                 tsr_value **out_value) {
  const int64_t one = 1, limit = index + 1;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "limit_indices", 13), tsr_attr_ints(ir, &limit, 1)},
      {tsr_ir_name(ir, "start_indices", 13), tsr_attr_ints(ir, &index, 1)},
      {tsr_ir_name(ir, "strides", 7), tsr_attr_ints(ir, &one, 1)}};
  const tsr_type *element = tsr_type_element(list->type);
  tsr_value *slice = NULL;
  for (int i = 0; i < 3; i++) TSR_NEED(attrs[i].name ? attrs[i].attr : NULL);
  TSR_TRY(insert_op(ir, place, TSR_OP_SLICE, list, tsr_type_tensor(ir, element, 1, &one, NULL),
                    attrs, 3, &slice));
  return insert_op(ir, place, TSR_OP_RESHAPE, slice, tsr_type_tensor(ir, element, 0, NULL, NULL),
                   NULL, 0, out_value);
}

static tsr_status static_dynamic_slice(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  int64_t sizes[TSR_FOLD_MOST];
  const int rank = tsr_operand_type(op, 0)->rank;
  if (!floating_sizes(op, sizes)) return NULL;
  TSR_TRY(start_static(ir, op, TSR_OP_DYNAMIC_SLICE, 1, &made));
  tsr_value **operands = tsr_ir_alloc(ir, sizeof(tsr_value *) * ((size_t)rank + 1));
  TSR_NEED(operands);
  operands[0] = tsr_op_operand(op, 0);
  for (int i = 0; i < rank; i++)
    TSR_TRY(insert_element(ir, op, tsr_op_operand(op, 1), i, &operands[i + 1]));
  made.parts.operands = operands;
  made.parts.operand_count = rank + 1;
  TSR_TRY(add_attr(&made, "slice_sizes", tsr_attr_ints(ir, sizes, rank)));
  return finish_static(&made, out_op);
}

static tsr_status static_slice(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  if (!all_constant(op, 1, 4)) return static_dynamic_slice(ir, op, out_op);
  TSR_TRY(start_static(ir, op, TSR_OP_SLICE, 1, &made));
  TSR_TRY(add_operand_list(&made, "start_indices", 1));
  TSR_TRY(add_operand_list(&made, "limit_indices", 2));
  TSR_TRY(add_operand_list(&made, "strides", 3));
  return finish_static(&made, out_op);
}

static tsr_status static_gather(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  if (!all_constant(op, 2, 3)) return NULL;
  TSR_TRY(start_static(ir, op, TSR_OP_GATHER, 2, &made));
  TSR_TRY(add_operand_list(&made, "slice_sizes", 2));
  return finish_static(&made, out_op);
}

static tsr_status static_conv(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  if (!all_constant(op, 2, 3)) return NULL;
  TSR_TRY(start_static(ir, op, TSR_OP_CONVOLUTION, 2, &made));
  TSR_TRY(add_padding(&made, 2));
  return finish_static(&made, out_op);
}

// ---- custom calls that stand for ops of dynamic shapes

static bool calls(const tsr_op *op, const char *target) {
  return tsr_attr_is_string(tsr_op_attr(op, "call_target_name"), target);
}

static tsr_status static_rng(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  const tsr_attr *algorithm = tsr_op_attr(op, "rng_algorithm");
  const tsr_type *output = NULL;
  if (op->operand_count != 2 || op->result_count != 2 || !algorithm) return NULL;
  TSR_TRY(shape_of_operand(ir, op, 1, 1, &output));
  if (!output) return NULL;
  op->results[1].type = output;
  TSR_TRY(start_static(ir, op, TSR_OP_RNG_BIT_GENERATOR, 1, &made));
  made.parts.attr_count = 0;
  TSR_TRY(add_attr(&made, "rng_algorithm", algorithm));
  return finish_static(&made, out_op);
}

static tsr_status static_top_k(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static_op made;
  int64_t k[TSR_FOLD_MOST], count = 0, sizes[TSR_RANK_LIMIT];
  if (op->operand_count != 2 || op->result_count != 2 || !operand_ints(op, 1, k, &count))
    return NULL;
  const tsr_type *from = tsr_operand_type(op, 0);
  if (count != 1 || from->kind != TSR_TYPE_TENSOR || !from->rank) return NULL;
  for (int i = 0; i < from->rank; i++) sizes[i] = from->dims[i];
  sizes[from->rank - 1] = k[0];
  for (int i = 0; i < 2; i++) {
    op->results[i].type =
        tsr_type_tensor(ir, tsr_type_element(op->results[i].type), from->rank, sizes, NULL);
    TSR_NEED(op->results[i].type);
  }
  TSR_TRY(start_static(ir, op, TSR_OP_CHLO_TOP_K, 1, &made));
  made.parts.attr_count = 0;
  TSR_TRY(add_attr(&made, "k", tsr_attr_i64(ir, k[0])));
  return finish_static(&made, out_op);
}

// Copies the body of a function into a region, which ends with stablehlo.return.
static tsr_status copy_body(tsr_ir *ir, const tsr_op *func, tsr_region *region) {
  const tsr_ir_block *from = tsr_func_body(func);
  tsr_ir_block *to = tsr_block_append(ir, region);
  tsr_value_map *map = tsr_value_map_create();
  bool fits = to && map;
  for (int i = 0; fits && i < from->arg_count; i++) {
    tsr_value *arg = tsr_block_add_arg(ir, to, from->args[i]->type, from->args[i]->location);
    fits = arg && tsr_value_map_add(map, from->args[i], arg);
  }
  for (const tsr_op *op = from->first; fits && op; op = op->next) {
    tsr_op *copy = tsr_op_clone(ir, op, map);
    fits = copy != NULL;
    if (!copy) break;
    if (op->info->id == TSR_OP_FUNC_RETURN) {
      copy->info = tsr_op_info_of(TSR_OP_RETURN);
      copy->name = copy->info->name;
    }
    tsr_op_append(to, copy);
  }
  tsr_value_map_destroy(map);
  TSR_NEED(fits ? to : NULL);
  return NULL;
}

static tsr_status infer_windows(tsr_ir *ir, tsr_op *op) {
  tsr_result_types types = {.ir = ir};
  TSR_TRY(tsr_verify_reduce_window(ir, op));
  TSR_TRY(tsr_infer_reduce_window(ir, op, &types));
  for (int i = 0; i < op->result_count && i < types.count; i++)
    op->results[i].type = types.types[i];
  return NULL;
}

// Inputs, inits, then the sizes, strides, dilations of the base and of the window, and the padding.
static tsr_status static_windows(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  static const char *const names[] = {"window_dimensions", "window_strides", "base_dilations",
                                      "window_dilations"};
  static_op made;
  const tsr_attr *callees = tsr_op_attr(op, "called_computations");
  const int data = 2 * op->result_count;
  if (op->operand_count != data + 5 || !callees || callees->count != 1) return NULL;
  if (!all_constant(op, data, data + 5)) return NULL;
  const tsr_op *func = tsr_ir_find_symbol(ir, callees->items[0]->bytes);
  if (!func || func->info->id != TSR_OP_FUNC || !tsr_func_body(func)) return NULL;
  TSR_TRY(start_static(ir, op, TSR_OP_REDUCE_WINDOW, data, &made));
  made.parts.attr_count = 0;
  for (int i = 0; i < 4; i++) TSR_TRY(add_operand_list(&made, names[i], data + i));
  TSR_TRY(add_padding(&made, data + 4));
  TSR_TRY(finish_static(&made, out_op));
  TSR_TRY(copy_body(ir, func, &(*out_op)->regions[0]));
  return infer_windows(ir, *out_op);
}

// A call that says which operands are the shapes of its results loses them.
static tsr_status drop_shape_operands(tsr_ir *ir, tsr_op *op, const tsr_attr *indices) {
  const int64_t count = tsr_attr_int_count(indices);
  if (count != op->result_count || op->operand_count < count) return NULL;
  for (int i = 0; i < op->result_count; i++) {
    const int64_t operand = tsr_attr_int_at(indices, i);
    const tsr_type *type = NULL;
    TSR_ASK(operand >= 0 && operand < op->operand_count, op, "",
            "indices_of_shape_operands has %lld, expected an operand", (long long)operand);
    TSR_TRY(shape_of_operand(ir, op, (int)operand, i, &type));
    if (!type) return NULL;
    op->results[i].type = type;
  }
  tsr_value **kept = tsr_ir_alloc(ir, sizeof(tsr_value *) * (size_t)(op->operand_count + 1));
  int kept_count = 0;
  TSR_NEED(kept);
  for (int i = 0; i < op->operand_count; i++)
    if (!tsr_ints_contain(indices, i)) kept[kept_count++] = tsr_op_operand(op, i);
  const char *name = tsr_ir_name(ir, "indices_of_shape_operands", 25);
  const bool done =
      name && tsr_op_set_operands(ir, op, kept, kept_count) && tsr_op_set_attr(ir, op, name, NULL);
  TSR_NEED(done ? kept : NULL);
  return NULL;
}

static tsr_status static_call(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  const tsr_attr *indices = tsr_op_attr(op, "indices_of_shape_operands");
  if (calls(op, "stablehlo.dynamic_rng_bit_generator")) return static_rng(ir, op, out_op);
  if (calls(op, "stablehlo.dynamic_top_k")) return static_top_k(ir, op, out_op);
  if (calls(op, "stablehlo.dynamic_reduce_window")) return static_windows(ir, op, out_op);
  if (calls(op, "stablehlo.shape_refinement_operand_wrapper") && op->operand_count &&
      op->result_count == 1) {
    op->results[0].type = tsr_operand_type(op, 0);
    tsr_value_replace(tsr_op_result(op, 0), tsr_op_operand(op, 0));
    tsr_op_erase(op);
    *out_op = NULL;
    return NULL;
  }
  const bool listed = indices && tsr_attr_has_form(indices, TSR_FORM_DENSE_I64, 0) &&
                      indices->type->rank == 1 && indices->type->dims[0] <= TSR_FOLD_MOST;
  return listed ? drop_shape_operands(ir, op, indices) : NULL;
}

tsr_status tsr_make_static(tsr_ir *ir, tsr_op *op, tsr_op **out_op) {
  *out_op = op;
  if (op->info->id == TSR_OP_CUSTOM_CALL) return static_call(ir, op, out_op);
  if (op->result_count != 1 || tsr_has_unknown_size(op->results[0].type)) return NULL;
  switch (op->info->id) {
    case TSR_OP_DYNAMIC_RESHAPE:
      return static_reshape(ir, op, out_op);
    case TSR_OP_DYNAMIC_BROADCAST_IN_DIM:
      return replace_by(ir, op, TSR_OP_BROADCAST_IN_DIM, 1, out_op);
    case TSR_OP_DYNAMIC_IOTA:
      return replace_by(ir, op, TSR_OP_IOTA, 0, out_op);
    case TSR_OP_DYNAMIC_PAD:
      return static_pad(ir, op, out_op);
    case TSR_OP_DYNAMIC_GATHER:
      return static_gather(ir, op, out_op);
    case TSR_OP_DYNAMIC_CONV:
      return static_conv(ir, op, out_op);
    case TSR_OP_REAL_DYNAMIC_SLICE:
      return static_slice(ir, op, out_op);
    default:
      return NULL;
  }
}

// ---- assertions

// "{0}" in the message is the first operand after the condition, and so on.
static void add_message(const tsr_op *op, const tsr_attr *message, tsr_text *out) {
  const char *text = message->bytes, *end = text + message->length;
  while (text < end) {
    int64_t values[TSR_FOLD_MOST], count = 0;
    const int operand = end - text > 2 && text[0] == '{' && text[2] == '}' ? text[1] - '0' + 1 : 0;
    if (operand >= 1 && operand < op->operand_count && operand_ints(op, operand, values, &count) &&
        count == 1) {
      tsr_text_add_int(out, values[0]);
      text += 3;
    } else {
      tsr_text_add_char(out, *text++);
    }
  }
}

tsr_status tsr_check_assertion(tsr_ir *ir, tsr_op *op, bool *out_gone) {
  const tsr_attr *message = tsr_op_attr(op, "error_message");
  int64_t holds[TSR_FOLD_MOST], count = 0;
  (void)ir;
  *out_gone = false;
  if (op->info->id != TSR_OP_CUSTOM_CALL || !calls(op, "shape_assertion")) return NULL;
  TSR_ASK(op->operand_count && !op->result_count && message && message->kind == TSR_ATTR_STRING, op,
          "", "@shape_assertion has no condition or no error_message");
  if (!operand_ints(op, 0, holds, &count) || count != 1)
    return tsr_fail(UNSUPPORTED,
                    "the condition of a shape assertion does not follow from the shapes");
  if (!holds[0]) {
    tsr_text text = TSR_TEXT_EMPTY;
    add_message(op, message, &text);
    return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
  }
  tsr_op_erase(op);
  *out_gone = true;
  return NULL;
}
