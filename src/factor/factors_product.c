// The factors of products and convolutions.
#include "base/arithmetic.h"
#include "factor/rule_build.h"

// The tensors of a product.
enum { LHS, RHS, OUT };

// A factor of a product: the dims of the left and right operand and of the result.
static void add_product(tsr_rule_builder *builder, int64_t lhs, int64_t rhs, int64_t out,
                        int64_t size, tsr_factor_kind kind) {
  const int factor = tsr_add_factor(builder, size, kind, false);
  tsr_map_dim(builder, LHS, lhs, factor);
  tsr_map_dim(builder, RHS, rhs, factor);
  tsr_map_dim(builder, OUT, out, factor);
}

// The dims of an operand that are neither batching nor contracting; they come one after the other
// in the result, from `out` on.
static int add_free_dims(tsr_rule_builder *builder, const tsr_op *op, int side,
                         const tsr_attr *batching, const tsr_attr *contracting, int out) {
  const tsr_dims dims = tsr_operand_dims(op, side);
  for (int i = 0; i < dims.rank; i++)
    if (!tsr_ints_have(batching, i) && !tsr_ints_have(contracting, i))
      add_product(builder, side == LHS ? i : TSR_NO_DIM, side == RHS ? i : TSR_NO_DIM, out++,
                  dims.sizes[i], TSR_FACTOR_PASS);
  return out;
}

bool tsr_factors_dot_general(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dot_dimension_numbers");
  const tsr_attr *lhs_batching = tsr_attr_field(numbers, TSR_DOT_LHS_BATCHING);
  const tsr_attr *rhs_batching = tsr_attr_field(numbers, TSR_DOT_RHS_BATCHING);
  const tsr_attr *lhs_contracting = tsr_attr_field(numbers, TSR_DOT_LHS_CONTRACTING);
  const tsr_attr *rhs_contracting = tsr_attr_field(numbers, TSR_DOT_RHS_CONTRACTING);
  const tsr_dims lhs = tsr_operand_dims(op, LHS);
  int out = 0;
  for (int64_t i = 0; i < tsr_attr_int_count(lhs_batching); i++) {
    const int64_t dim = tsr_attr_int_at(lhs_batching, i);
    add_product(builder, dim, tsr_attr_int_at(rhs_batching, i), out++, lhs.sizes[dim],
                TSR_FACTOR_PASS);
  }
  out = add_free_dims(builder, op, LHS, lhs_batching, lhs_contracting, out);
  add_free_dims(builder, op, RHS, rhs_batching, rhs_contracting, out);
  for (int64_t i = 0; i < tsr_attr_int_count(lhs_contracting); i++) {
    const int64_t dim = tsr_attr_int_at(lhs_contracting, i);
    add_product(builder, dim, tsr_attr_int_at(rhs_contracting, i), TSR_NO_DIM, lhs.sizes[dim],
                TSR_FACTOR_REDUCTION);
  }
  return true;
}

bool tsr_factors_dot(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims lhs = tsr_operand_dims(op, LHS), rhs = tsr_operand_dims(op, RHS);
  const bool lhs_matrix = lhs.rank == 2;
  if (lhs_matrix) add_product(builder, 0, TSR_NO_DIM, 0, lhs.sizes[0], TSR_FACTOR_PASS);
  if (rhs.rank == 2) add_product(builder, TSR_NO_DIM, 1, lhs_matrix, rhs.sizes[1], TSR_FACTOR_PASS);
  add_product(builder, lhs_matrix, 0, TSR_NO_DIM, rhs.sizes[0], TSR_FACTOR_REDUCTION);
  return true;
}

// ---- convolution ----

// An input dim is sharded by windows, which are elements of the result, or by what is inside of
// them, which is summed up. The larger of both is major; they share the size of the dim.
static void add_spatial(tsr_rule_builder *builder, int64_t lhs, int64_t rhs, int64_t out,
                        int64_t *left, int64_t size, bool contracting) {
  size = tsr_least(*left, size);
  if (size <= 1) return;
  add_product(builder, lhs, contracting ? rhs : TSR_NO_DIM, contracting ? TSR_NO_DIM : out, size,
              contracting ? TSR_FACTOR_REDUCTION : TSR_FACTOR_PERMUTATION);
  *left /= size;
}

static void add_spatials(tsr_rule_builder *builder, const tsr_op *op, const tsr_attr *numbers) {
  const tsr_attr *lhs_dims = tsr_attr_field(numbers, TSR_CONV_INPUT_SPATIAL);
  const tsr_attr *rhs_dims = tsr_attr_field(numbers, TSR_CONV_KERNEL_SPATIAL);
  const tsr_attr *out_dims = tsr_attr_field(numbers, TSR_CONV_OUTPUT_SPATIAL);
  for (int64_t i = 0; i < tsr_attr_int_count(lhs_dims); i++) {
    const int64_t lhs = tsr_attr_int_at(lhs_dims, i), rhs = tsr_attr_int_at(rhs_dims, i);
    const int64_t out = tsr_attr_int_at(out_dims, i);
    const int64_t windows = tsr_result_dims(op, 0).sizes[out];
    const int64_t window = tsr_operand_dims(op, RHS).sizes[rhs];
    const bool window_first = windows < window;
    int64_t left = tsr_operand_dims(op, LHS).sizes[lhs];
    add_spatial(builder, lhs, rhs, out, &left, window_first ? window : windows, window_first);
    add_spatial(builder, lhs, rhs, out, &left, window_first ? windows : window, !window_first);
  }
}

static int64_t number(const tsr_attr *numbers, int field) {
  return tsr_attr_field(numbers, field)->integer;
}

bool tsr_factors_convolution(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_dims rhs = tsr_operand_dims(op, RHS), out = tsr_result_dims(op, 0);
  const int64_t batch_groups = tsr_op_int(op, "batch_group_count", 1);
  const int64_t feature_groups = tsr_op_int(op, "feature_group_count", 1);
  const int64_t in_batch = number(numbers, TSR_CONV_INPUT_BATCH);
  const int64_t in_feature = number(numbers, TSR_CONV_INPUT_FEATURE);
  const int64_t kernel_in = number(numbers, TSR_CONV_KERNEL_INPUT_FEATURE);
  const int64_t kernel_out = number(numbers, TSR_CONV_KERNEL_OUTPUT_FEATURE);
  const int64_t out_batch = number(numbers, TSR_CONV_OUTPUT_BATCH);
  const int64_t out_feature = number(numbers, TSR_CONV_OUTPUT_FEATURE);
  if (batch_groups < 1 || feature_groups < 1) return false;
  if (batch_groups > 1)
    add_product(builder, in_batch, kernel_out, out_feature, batch_groups, TSR_FACTOR_PASS);
  add_product(builder, in_batch, TSR_NO_DIM, out_batch, out.sizes[out_batch], TSR_FACTOR_PASS);
  if (!(builder->how & TSR_RULE_CONSERVATIVE)) add_spatials(builder, op, numbers);
  if (feature_groups > 1)
    add_product(builder, in_feature, kernel_out, out_feature, feature_groups, TSR_FACTOR_PASS);
  add_product(builder, in_feature, kernel_in, TSR_NO_DIM, rhs.sizes[kernel_in],
              TSR_FACTOR_REDUCTION);
  const int64_t features = out.sizes[out_feature] / batch_groups / feature_groups;
  if (features > 1)
    add_product(builder, TSR_NO_DIM, kernel_out, out_feature, features, TSR_FACTOR_PASS);
  return true;
}
