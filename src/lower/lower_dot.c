// dot_general as a product of matrices in batches: dims are put in walks, so no form of it, and no
// transpose before it, needs a copy.
#include "base/arithmetic.h"
#include "kernel/gemm.h"
#include "lower/copy_parts.h"
#include "lower/dot_lower.h"
#include "simplify/evaluator.h"

// An operand, where it lies: the stride of each of its dims.
typedef struct dot_operand {
  tsr_value *value;  // whose memory is read
  const tsr_type *type;
  int64_t strides[TSR_MAX_RANK];
  const tsr_attr *batching, *contracting;
} dot_operand;

bool tsr_dot_absorbs(const tsr_use *use, const tsr_op *producer) {
  return use->user->info->id == TSR_OP_DOT_GENERAL && producer->info->id == TSR_OP_TRANSPOSE;
}

// Follows transposes that have no memory of their own.
static void read_operand(const tsr_lowering *lowering, tsr_value *value, dot_operand *out) {
  int dims[TSR_MAX_RANK];
  const int rank = value->type->rank;
  out->type = value->type;
  for (int i = 0; i < rank; i++) dims[i] = i;
  while (value->def && value->def->info->id == TSR_OP_TRANSPOSE &&
         !tsr_value_has_slot(lowering, value)) {
    const tsr_attr *permutation = tsr_op_attr(value->def, "permutation");
    for (int i = 0; i < rank; i++) dims[i] = (int)tsr_attr_int_at(permutation, dims[i]);
    value = tsr_op_operand(value->def, 0);
  }
  int64_t strides[TSR_MAX_RANK] = {0};
  tsr_strides_of(value->type, strides);
  for (int i = 0; i < rank; i++) out->strides[i] = strides[dims[i]];
  out->value = value;
}

static bool lists(const tsr_attr *dims, int64_t dim) {
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    if (tsr_attr_int_at(dims, i) == dim) return true;
  return false;
}

static void add_listed(const dot_operand *operand, const tsr_attr *dims, tsr_gemm_walk *walk) {
  tsr_gemm_walk_init(walk);
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    const int64_t dim = tsr_attr_int_at(dims, i);
    tsr_gemm_walk_add(walk, operand->type->dims[dim], operand->strides[dim]);
  }
}

static tsr_gemm_side side_of(const dot_operand *operand, int input) {
  tsr_gemm_side side = {.input = input, .dtype = operand->type->dtype};
  add_listed(operand, operand->batching, &side.batch);
  add_listed(operand, operand->contracting, &side.depth);
  tsr_gemm_walk_init(&side.rows);
  for (int d = 0; d < operand->type->rank; d++)
    if (!lists(operand->batching, d) && !lists(operand->contracting, d))
      tsr_gemm_walk_add(&side.rows, operand->type->dims[d], operand->strides[d]);
  return side;
}

// Adds the next `count` dims of the result, from `*dim` on, to a walk.
static void add_result_dims(const tsr_type *type, const int64_t *strides, int count, int *dim,
                            tsr_gemm_walk *walk) {
  tsr_gemm_walk_init(walk);
  for (int i = 0; i < count; i++, (*dim)++)
    tsr_gemm_walk_add(walk, type->dims[*dim], strides[*dim]);
}

static int free_dims(const dot_operand *operand) {
  return operand->type->rank - (int)tsr_attr_int_count(operand->batching) -
         (int)tsr_attr_int_count(operand->contracting);
}

// The dims of the result: batch, rows, columns. Elements that lie side by side make a row.
static void set_result(tsr_gemm *gemm, const tsr_type *type, const int64_t *strides,
                       const dot_operand *left, const dot_operand *right) {
  int dim = 0;
  gemm->result.dtype = type->dtype;
  add_result_dims(type, strides, (int)tsr_attr_int_count(left->batching), &dim,
                  &gemm->result.batch);
  add_result_dims(type, strides, free_dims(left), &dim, &gemm->result.rows);
  add_result_dims(type, strides, free_dims(right), &dim, &gemm->result.columns);
  const tsr_gemm_walk rows = gemm->result.rows, columns = gemm->result.columns;
  const tsr_gemm_side side = gemm->left;
  if (rows.rank == 0 || rows.strides[rows.rank - 1] != 1 || columns.rank == 0 ||
      columns.strides[columns.rank - 1] == 1)
    return;
  gemm->result.rows = columns;
  gemm->result.columns = rows;
  gemm->left = gemm->right;
  gemm->right = side;
}

// Lowers a product whose result `written` holds, with a stride for each dim of the product.
static tsr_status lower_product(tsr_lowering *lowering, tsr_op *op, tsr_op *written,
                                const int64_t *strides) {
  TSR_TRY(tsr_check_ranks(lowering, op));
  const tsr_attr *numbers = tsr_op_attr(op, "dot_dimension_numbers");
  dot_operand left = {.batching = tsr_attr_field(numbers, TSR_DOT_LHS_BATCHING),
                      .contracting = tsr_attr_field(numbers, TSR_DOT_LHS_CONTRACTING)};
  dot_operand right = {.batching = tsr_attr_field(numbers, TSR_DOT_RHS_BATCHING),
                       .contracting = tsr_attr_field(numbers, TSR_DOT_RHS_CONTRACTING)};
  read_operand(lowering, tsr_op_operand(op, 0), &left);
  read_operand(lowering, tsr_op_operand(op, 1), &right);
  tsr_gemm gemm = {.left = side_of(&left, 0), .right = side_of(&right, 1)};
  set_result(&gemm, op->results[0].type, strides, &left, &right);
  TSR_TRY_NOTE(tsr_gemm_plan(&gemm), "in %s", tsr_op_title(lowering, op));
  tsr_value *inputs[] = {left.value, right.value};
  tsr_schedule_step *step = NULL;
  TSR_TRY(
      tsr_lower_kernel_on(lowering, written, inputs, 2, tsr_gemm_run, &gemm, sizeof gemm, &step));
  step->op = op;
  step->scratch_bytes = gemm.scratch_bytes;
  step->temp_bytes = gemm.temp_bytes;
  step->flops = gemm.flops;
  return NULL;
}

tsr_status tsr_lower_dot_general(tsr_lowering *lowering, tsr_op *op) {
  int64_t strides[TSR_MAX_RANK] = {0};
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_strides_of(op->results[0].type, strides);
  return lower_product(lowering, op, op, strides);
}

tsr_status tsr_lower_dot_into(tsr_lowering *lowering, tsr_op *op, tsr_op *transpose) {
  const tsr_attr *permutation = tsr_op_attr(transpose, "permutation");
  int64_t strides[TSR_MAX_RANK] = {0}, moved[TSR_MAX_RANK] = {0};
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_strides_of(transpose->results[0].type, strides);
  for (int i = 0; i < transpose->results[0].type->rank; i++)
    moved[tsr_attr_int_at(permutation, i)] = strides[i];
  return lower_product(lowering, op, transpose, moved);
}
