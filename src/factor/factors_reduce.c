// The factors of reductions, windows, sorts, transforms, linear algebra, random numbers,
// collectives.
#include "factor/rule_build.h"

// ---- reductions and windows ----

bool tsr_factors_reduce(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_attr *reduced = tsr_op_attr(op, "dimensions");
  const int count = op->operand_count / 2;
  if (!count) return false;
  const tsr_dims dims = tsr_operand_dims(op, 0);
  for (int dim = 0, out = 0; dim < dims.rank; dim++) {
    const bool gone = tsr_ints_have(reduced, dim);
    const int factor = tsr_add_factor(builder, dims.sizes[dim],
                                      gone ? TSR_FACTOR_REDUCTION : TSR_FACTOR_PASS, false);
    for (int i = 0; i < count; i++) tsr_map_dim(builder, i, dim, factor);
    for (int i = 0; i < count; i++)
      tsr_map_dim(builder, 2 * count + i, gone ? TSR_NO_DIM : out, factor);
    out += !gone;
  }
  return true;
}

static bool is_one(const tsr_attr *list, int64_t index) {
  return index >= tsr_attr_int_count(list) || tsr_attr_int_at(list, index) == 1;
}

// Whether windows along a dim are single elements, one for each of the operand.
static bool has_trivial_window(const tsr_op *op, int64_t dim) {
  const tsr_attr *padding = tsr_op_attr(op, "padding");
  if (2 * dim + 1 < tsr_attr_int_count(padding) &&
      (tsr_attr_int_at(padding, 2 * dim) || tsr_attr_int_at(padding, 2 * dim + 1)))
    return false;
  return is_one(tsr_op_attr(op, "window_strides"), dim) &&
         is_one(tsr_op_attr(op, "window_dimensions"), dim);
}

bool tsr_factors_reduce_window(tsr_rule_builder *builder, const tsr_op *op) {
  const bool conservative = (builder->how & TSR_RULE_CONSERVATIVE) != 0;
  if (!op->result_count) return false;
  const tsr_dims dims = tsr_result_dims(op, 0);
  for (int dim = 0; dim < dims.rank; dim++) {
    const bool trivial = has_trivial_window(op, dim);
    tsr_add_common(builder, dim, dims.sizes[dim],
                   trivial ? TSR_FACTOR_PASS : TSR_FACTOR_PERMUTATION, !trivial && conservative);
  }
  return true;
}

bool tsr_factors_select_and_scatter(tsr_rule_builder *builder, const tsr_op *op) {
  const bool conservative = (builder->how & TSR_RULE_CONSERVATIVE) != 0;
  const tsr_dims dims = tsr_result_dims(op, 0), source = tsr_operand_dims(op, 1);
  for (int dim = 0; dim < dims.rank && dim < source.rank; dim++) {
    if (has_trivial_window(op, dim)) {
      tsr_add_common(builder, dim, dims.sizes[dim], TSR_FACTOR_PASS, false);
      continue;
    }
    const int windows =
        tsr_add_factor(builder, source.sizes[dim], TSR_FACTOR_NEED_REPLICATION, conservative);
    tsr_map_dim(builder, 1, dim, windows);
    const int factor =
        tsr_add_factor(builder, dims.sizes[dim], TSR_FACTOR_PERMUTATION, conservative);
    tsr_map_dim(builder, 0, dim, factor);
    tsr_map_dim(builder, builder->operand_count, dim, factor);
  }
  return true;
}

bool tsr_factors_batch_norm_inference(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims dims = tsr_operand_dims(op, 0);
  const int64_t feature = tsr_op_int(op, "feature_index", -1);
  for (int dim = 0; dim < dims.rank; dim++) {
    const int factor = tsr_add_factor(builder, dims.sizes[dim], TSR_FACTOR_PASS, false);
    tsr_map_dim(builder, 0, dim, factor);
    for (int i = 1; i < op->operand_count; i++)
      tsr_map_dim(builder, i, dim == feature ? 0 : TSR_NO_DIM, factor);
    tsr_map_dim(builder, builder->operand_count, dim, factor);
  }
  return true;
}

// ---- dims that must be whole ----

// All dims are common; those from `whole` on need replication.
static void add_batched(tsr_rule_builder *builder, tsr_dims dims, int whole) {
  for (int dim = 0; dim < dims.rank; dim++)
    tsr_add_common(builder, dim, dims.sizes[dim],
                   dim < whole ? TSR_FACTOR_PASS : TSR_FACTOR_NEED_REPLICATION, false);
}

bool tsr_factors_cholesky(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims dims = tsr_operand_dims(op, 0);
  add_batched(builder, dims, dims.rank - 2);
  return true;
}

bool tsr_factors_fft(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims from = tsr_operand_dims(op, 0), to = tsr_result_dims(op, 0);
  const int last = from.rank - 1;
  const int whole = from.rank - (int)tsr_attr_int_count(tsr_op_attr(op, "fft_length"));
  for (int dim = 0; dim < from.rank; dim++) {
    // Elements do not correspond along the last dim if it is cut.
    const bool blocked = dim == last && dim >= whole && from.sizes[last] != to.sizes[to.rank - 1];
    tsr_add_common(builder, dim, from.sizes[dim],
                   dim < whole ? TSR_FACTOR_PASS : TSR_FACTOR_NEED_REPLICATION, blocked);
  }
  return true;
}

bool tsr_factors_sort(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims dims = tsr_operand_dims(op, 0);
  const int64_t along = tsr_op_int(op, "dimension", -1);
  bool alone = true;  // no other dim could be sharded instead
  for (int dim = 0; dim < dims.rank; dim++) alone &= dim == along || dims.sizes[dim] == 1;
  for (int dim = 0; dim < dims.rank; dim++)
    tsr_add_common(builder, dim, dims.sizes[dim],
                   dim == along ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_PASS,
                   dim == along && alone);
  return true;
}

static void add_solve(tsr_rule_builder *builder, int64_t a, int64_t b, int64_t out, int64_t size) {
  const int factor = tsr_add_factor(builder, size, TSR_FACTOR_NEED_REPLICATION, false);
  tsr_map_dim(builder, 0, a, factor);
  tsr_map_dim(builder, 1, b, factor);
  tsr_map_dim(builder, 2, out, factor);
}

// op(a) times the result is b, or the result times op(a).
bool tsr_factors_triangular_solve(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims a = tsr_operand_dims(op, 0), b = tsr_operand_dims(op, 1);
  const int64_t transpose = tsr_op_int(op, "transpose_a", TSR_TRANSPOSE_NO);
  const bool transposed = transpose == TSR_TRANSPOSE_YES || transpose == TSR_TRANSPOSE_ADJOINT;
  const bool left = tsr_op_flag(op, "left_side");
  const int row = a.rank - 2, column = a.rank - 1;
  if (a.rank < 2 || b.rank != a.rank) return false;
  tsr_add_leading(builder, a, a.rank - 2);
  const int free = left != transposed ? row : column, contracted = row + column - free;
  const int solved = left ? row : column, other = row + column - solved;
  if (!left) add_solve(builder, TSR_NO_DIM, other, other, b.sizes[other]);
  add_solve(builder, free, solved, TSR_NO_DIM, a.sizes[free]);
  if (left) add_solve(builder, TSR_NO_DIM, other, other, b.sizes[other]);
  add_solve(builder, contracted, TSR_NO_DIM, solved, a.sizes[contracted]);
  return true;
}

bool tsr_factors_rng_bit_generator(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims state = tsr_operand_dims(op, 0), output = tsr_result_dims(op, 1);
  for (int dim = 0; dim < state.rank; dim++) {
    const int factor = tsr_add_factor(builder, state.sizes[dim], TSR_FACTOR_NEED_REPLICATION, true);
    tsr_map_dim(builder, 0, dim, factor);
    tsr_map_dim(builder, 1, dim, factor);
  }
  for (int dim = 0; dim < output.rank; dim++)
    tsr_map_dim(builder, 2, dim,
                tsr_add_factor(builder, output.sizes[dim], TSR_FACTOR_PASS, false));
  return true;
}

// ---- collectives ----

// A dim whose size or content the collective changes: apart on both sides.
static void add_worked(tsr_rule_builder *builder, const tsr_op *op, int64_t dim) {
  const tsr_dims from = tsr_operand_dims(op, 0), to = tsr_result_dims(op, 0);
  if (dim < 0 || dim >= from.rank || dim >= to.rank) return;
  const int before = tsr_add_factor(builder, from.sizes[dim], TSR_FACTOR_NEED_REPLICATION, false);
  tsr_map_dims(builder, 0, builder->operand_count, dim, before);
  const int after = tsr_add_factor(builder, to.sizes[dim], TSR_FACTOR_NEED_REPLICATION, false);
  tsr_map_dims(builder, builder->operand_count, builder->tensor_count, dim, after);
}

static bool add_collective(tsr_rule_builder *builder, const tsr_op *op, int64_t first,
                           int64_t second) {
  const tsr_dims dims = tsr_operand_dims(op, 0);
  for (int dim = 0; dim < dims.rank; dim++)
    if (dim != first && dim != second)
      tsr_add_common(builder, dim, dims.sizes[dim], TSR_FACTOR_PASS, false);
  add_worked(builder, op, first);
  if (second != first) add_worked(builder, op, second);
  return true;
}

bool tsr_factors_all_gather(tsr_rule_builder *builder, const tsr_op *op) {
  const int64_t dim = tsr_op_int(op, "all_gather_dim", -1);
  return add_collective(builder, op, dim, dim);
}

bool tsr_factors_all_to_all(tsr_rule_builder *builder, const tsr_op *op) {
  return add_collective(builder, op, tsr_op_int(op, "split_dimension", -1),
                        tsr_op_int(op, "concat_dimension", -1));
}

bool tsr_factors_reduce_scatter(tsr_rule_builder *builder, const tsr_op *op) {
  const int64_t dim = tsr_op_int(op, "scatter_dimension", -1);
  return add_collective(builder, op, dim, dim);
}
