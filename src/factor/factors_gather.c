// The factors of gather and scatter, which are alike: slices of a tensor, chosen by indices.
#include "factor/rule_build.h"

// What both have, with the names of gather: `input` is gathered from or scattered to, `slices` are
// the result of a gather or the updates of a scatter.
typedef struct slices_op {
  tsr_rule_builder *builder;
  bool scatter;
  int input_count;             // inputs, and as many updates and results; 1 for a gather
  tsr_factor_kind batch_kind;  // of batch dims that the input does not have
  tsr_dims input, indices, slices;
  int64_t index_vector_dim;
  const tsr_attr *offset_dims, *collapsed_dims, *input_batching, *indices_batching;
} slices_op;

static void add(const slices_op *op, int64_t input, int64_t indices, int64_t slices, int64_t size,
                tsr_factor_kind kind, bool blocked) {
  const int factor = tsr_add_factor(op->builder, size, kind, blocked);
  const int count = op->input_count;
  for (int i = 0; i < count; i++) tsr_map_dim(op->builder, i, input, factor);
  tsr_map_dim(op->builder, count, indices, factor);
  for (int i = 0; i < count; i++) {
    tsr_map_dim(op->builder, count + 1 + i, slices, factor);
    if (op->scatter) tsr_map_dim(op->builder, 2 * count + 1 + i, input, factor);
  }
}

// A dim of the slices that is one of the input, whole or sliced.
static void add_offset(const slices_op *op, int64_t input, int64_t slices) {
  const int64_t size = op->input.sizes[input], sliced = op->slices.sizes[slices];
  if (size == sliced) {
    add(op, input, TSR_NO_DIM, slices, size, TSR_FACTOR_PASS, false);
  } else if (op->scatter || sliced == 1) {
    add(op, input, TSR_NO_DIM, TSR_NO_DIM, size,
        op->scatter ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_REDUCTION, false);
    add(op, TSR_NO_DIM, TSR_NO_DIM, slices, sliced, TSR_FACTOR_NEED_REPLICATION, false);
  } else {
    add(op, input, TSR_NO_DIM, slices, size, TSR_FACTOR_NEED_REPLICATION, true);
  }
}

// A dim of the slices that is one of the indices, the one numbered `position` of these.
static void add_batch(const slices_op *op, int64_t position, int64_t slices) {
  const int64_t indices = position < op->index_vector_dim ? position : position + 1;
  int64_t input = TSR_NO_DIM;
  for (int64_t i = tsr_attr_int_count(op->indices_batching) - 1; i >= 0; i--)
    if (tsr_attr_int_at(op->indices_batching, i) == indices)
      input = tsr_attr_int_at(op->input_batching, i);
  add(op, input, indices, slices, op->slices.sizes[slices],
      input < 0 ? op->batch_kind : TSR_FACTOR_PASS, false);
}

static tsr_factor_kind collapsed_kind(const slices_op *op, int64_t size) {
  if (op->scatter) return TSR_FACTOR_PASS;
  return size == 1 ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_REDUCTION;
}

static bool add_slices_op(const slices_op *op) {
  int64_t input = 0, position = 0;
  for (int64_t dim = 0; dim < op->slices.rank; dim++) {
    if (!tsr_ints_have(op->offset_dims, dim)) {
      add_batch(op, position++, dim);
      continue;
    }
    while (tsr_ints_have(op->collapsed_dims, input) || tsr_ints_have(op->input_batching, input))
      input++;
    if (input >= op->input.rank) return false;
    add_offset(op, input++, dim);
  }
  for (int64_t i = 0; i < tsr_attr_int_count(op->collapsed_dims); i++) {
    const int64_t dim = tsr_attr_int_at(op->collapsed_dims, i), size = op->input.sizes[dim];
    add(op, dim, TSR_NO_DIM, TSR_NO_DIM, size, collapsed_kind(op, size), false);
  }
  if (op->index_vector_dim < op->indices.rank)
    add(op, TSR_NO_DIM, op->index_vector_dim, TSR_NO_DIM, op->indices.sizes[op->index_vector_dim],
        TSR_FACTOR_NEED_REPLICATION, false);
  return true;
}

bool tsr_factors_gather(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const slices_op gather = {
      .builder = builder,
      .input_count = 1,
      .batch_kind = TSR_FACTOR_PASS,
      .input = tsr_operand_dims(op, 0),
      .indices = tsr_operand_dims(op, 1),
      .slices = tsr_result_dims(op, 0),
      .index_vector_dim = tsr_attr_field(numbers, TSR_GATHER_INDEX_VECTOR_DIM)->integer,
      .offset_dims = tsr_attr_field(numbers, TSR_GATHER_OFFSET_DIMS),
      .collapsed_dims = tsr_attr_field(numbers, TSR_GATHER_COLLAPSED_SLICE_DIMS),
      .input_batching = tsr_attr_field(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS),
      .indices_batching = tsr_attr_field(numbers, TSR_GATHER_START_INDICES_BATCHING_DIMS)};
  return add_slices_op(&gather);
}

// ---- scatter ----

static bool reduces(const tsr_value *value) {
  if (!value->def || value->def->operand_count != 2 || value->type->kind != TSR_TYPE_TENSOR)
    return false;
  switch (value->def->info->id) {
    case TSR_OP_ADD:
    case TSR_OP_MULTIPLY:
    case TSR_OP_MAXIMUM:
    case TSR_OP_MINIMUM:
      return true;
    case TSR_OP_AND:
    case TSR_OP_OR:
      return value->type->dtype == TSR_BOOL;
    default:
      return false;
  }
}

static bool is_argument(const tsr_value *value, const tsr_ir_block *block, int index) {
  return value->block == block && value->index == index;
}

// Whether the body combines each input with its update by the same reduction.
static bool is_reduction(const tsr_op *op, int input_count) {
  const tsr_ir_block *block = op->regions[0].first;
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  if (!end || block->arg_count != 2 * input_count || end->operand_count != input_count)
    return false;
  for (int i = 0; i < input_count; i++) {
    const tsr_value *value = tsr_op_operand(end, i);
    if (!reduces(value) || value->def->info != tsr_op_operand(end, 0)->def->info) return false;
    const tsr_value *a = tsr_op_operand(value->def, 0), *b = tsr_op_operand(value->def, 1);
    const int update = i + input_count;
    if (!(is_argument(a, block, i) && is_argument(b, block, update)) &&
        !(is_argument(b, block, i) && is_argument(a, block, update)))
      return false;
  }
  return true;
}

bool tsr_factors_scatter(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "scatter_dimension_numbers");
  const int count = op->operand_count / 2;
  if (op->result_count != count) return false;
  const slices_op scatter = {
      .builder = builder,
      .scatter = true,
      .input_count = count,
      .batch_kind = is_reduction(op, count) ? TSR_FACTOR_REDUCTION : TSR_FACTOR_NEED_REPLICATION,
      .input = tsr_operand_dims(op, 0),
      .indices = tsr_operand_dims(op, count),
      .slices = tsr_operand_dims(op, count + 1),
      .index_vector_dim = tsr_attr_field(numbers, TSR_SCATTER_INDEX_VECTOR_DIM)->integer,
      .offset_dims = tsr_attr_field(numbers, TSR_SCATTER_UPDATE_WINDOW_DIMS),
      .collapsed_dims = tsr_attr_field(numbers, TSR_SCATTER_INSERTED_WINDOW_DIMS),
      .input_batching = tsr_attr_field(numbers, TSR_SCATTER_INPUT_BATCHING_DIMS),
      .indices_batching = tsr_attr_field(numbers, TSR_SCATTER_INDICES_BATCHING_DIMS)};
  return add_slices_op(&scatter);
}
