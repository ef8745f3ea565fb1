// The factors of custom calls, by target.
//
// Anything may be written as a custom call: each function checks the numbers of operands, results
// and dims before it relies on them, and gives no rule where they are not as expected.
#include "factor/rule_build.h"

static bool has_counts(const tsr_op *op, int operands, int results) {
  return op->operand_count == operands && op->result_count == results;
}

// Eigenvectors and eigenvalues. The second result has one dim less, which goes with the last one of
// the operand.
static bool eigh(tsr_rule_builder *builder, const tsr_op *op) {
  if (!has_counts(op, 1, 2)) return false;
  const tsr_dims dims = tsr_operand_dims(op, 0);
  const int row = dims.rank - 2, column = dims.rank - 1;
  if (row < 0) return false;
  tsr_add_leading(builder, dims, row);
  const int rows = tsr_add_factor(builder, dims.sizes[row], TSR_FACTOR_PASS, false);
  tsr_map_dim(builder, 0, row, rows);
  tsr_map_dim(builder, 1, row, rows);
  const int columns = tsr_add_factor(builder, dims.sizes[column], TSR_FACTOR_PASS, false);
  tsr_map_dim(builder, 0, column, columns);
  tsr_map_dim(builder, 1, column, columns);
  tsr_map_dim(builder, 2, row, columns);
  return true;
}

// The matrix dims of the first operand and of the tensor `like` must be whole, and so must the dim
// of the vectors in the tensor `vectors`.
static bool add_reflectors(tsr_rule_builder *builder, tsr_dims dims, int like, int vectors,
                           tsr_dims vector_dims) {
  const int row = dims.rank - 2;
  if (row < 0 || vector_dims.rank <= row) return false;
  tsr_add_leading(builder, dims, row);
  for (int dim = row; dim < dims.rank; dim++) {
    const int factor = tsr_add_factor(builder, dims.sizes[dim], TSR_FACTOR_NEED_REPLICATION, false);
    tsr_map_dim(builder, 0, dim, factor);
    tsr_map_dim(builder, like, dim, factor);
  }
  tsr_map_dim(builder, vectors, row,
              tsr_add_factor(builder, vector_dims.sizes[row], TSR_FACTOR_NEED_REPLICATION, false));
  return true;
}

static bool qr(tsr_rule_builder *builder, const tsr_op *op) {
  if (!has_counts(op, 1, 2)) return false;
  return add_reflectors(builder, tsr_operand_dims(op, 0), 1, 2, tsr_result_dims(op, 1));
}

static bool householder(tsr_rule_builder *builder, const tsr_op *op) {
  if (!has_counts(op, 2, 1)) return false;
  return add_reflectors(builder, tsr_operand_dims(op, 0), 2, 1, tsr_operand_dims(op, 1));
}

static bool top_k(tsr_rule_builder *builder, const tsr_op *op) {
  return has_counts(op, 1, 2) && tsr_factors_top_k(builder, op);
}

// Operands: values, indices and what to start from of both. Results: values, indices.
static bool approximate_top_k(tsr_rule_builder *builder, const tsr_op *op) {
  if (!has_counts(op, 4, 2)) return false;
  const tsr_dims from = tsr_operand_dims(op, 0), to = tsr_result_dims(op, 0);
  if (from.rank != to.rank) return false;
  for (int dim = 0; dim < from.rank; dim++) {
    if (from.sizes[dim] == to.sizes[dim]) {
      tsr_add_common(builder, dim, from.sizes[dim], TSR_FACTOR_PASS, false);
      continue;
    }
    const int searched = tsr_add_factor(builder, from.sizes[dim], TSR_FACTOR_PASS, false);
    tsr_map_dim(builder, 0, dim, searched);
    tsr_map_dim(builder, 1, dim, searched);
    const int found = tsr_add_factor(builder, to.sizes[dim], TSR_FACTOR_NEED_REPLICATION, true);
    tsr_map_dim(builder, 4, dim, found);
    tsr_map_dim(builder, 5, dim, found);
  }
  return true;
}

// The state of random numbers must be whole, and numbers made of two halves cannot be resharded.
static bool combine_halves(tsr_rule_builder *builder, const tsr_op *op) {
  if (!op->result_count) return false;
  const tsr_value *result = tsr_op_result(op, 0);
  bool is_state = false;
  for (int i = 0; i < op->result_count; i++)
    for (const tsr_use *use = tsr_op_result(op, i)->uses; use; use = use->next)
      is_state |= use->user->info->id == TSR_OP_RNG_BIT_GENERATOR;
  const tsr_dims dims = tsr_dims_of(result->type);
  if (!is_state || dims.rank != 1) return tsr_add_elementwise(builder, op);
  tsr_add_common(builder, 0, dims.sizes[0], TSR_FACTOR_NEED_REPLICATION, true);
  return true;
}

static bool pointwise(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_add_elementwise(builder, op);
}

static bool none(tsr_rule_builder *builder, const tsr_op *op) {
  (void)builder, (void)op;
  return false;
}

typedef struct custom_call_row {
  const char *target;
  tsr_factors_fn *add;
} custom_call_row;

static const custom_call_row rows[] = {
#define CUSTOM_CALL(target, function) {target, function},
#include "factor/custom_calls.def"
#undef CUSTOM_CALL
};

static const custom_call_row *find(const tsr_op *op) {
  const tsr_attr *target = tsr_op_attr(op, "call_target_name");
  for (size_t i = 0; target && i < sizeof rows / sizeof *rows; i++)
    if (tsr_attr_is_string(target, rows[i].target)) return &rows[i];
  return NULL;
}

bool tsr_custom_call_is_ruled(const tsr_op *op) { return find(op) != NULL; }

bool tsr_factors_custom_call(tsr_rule_builder *builder, const tsr_op *op) {
  const custom_call_row *row = find(op);
  return row && row->add(builder, op);
}
