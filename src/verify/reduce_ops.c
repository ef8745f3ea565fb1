// reduce, map and sort: ops with a region that works on elements.
#include "verify/op_checks.h"

// ---- reduce

tsr_status tsr_check_inputs_and_inits(const tsr_op *op, const char *count, const char *shape,
                                      const char *element) {
  TSR_ASK(op->operand_count && op->operand_count % 2 == 0, op, count,
          "has %d operands, expected inputs and as many initial values", op->operand_count);
  const tsr_type *first = tsr_operand_type(op, 0);
  for (int i = 1; i < op->operand_count / 2; i++)
    TSR_ASK(tsr_dims_match(first, tsr_operand_type(op, i)), op, shape,
            "inputs 0 and %d are %s and %s, expected one shape", i, SHOW_TYPE(first),
            SHOW_TYPE(tsr_operand_type(op, i)));
  for (int i = 0; i < op->operand_count / 2; i++)
    TSR_TRY(tsr_check_one_kind(op, element, "an input", tsr_operand_type(op, i),
                               "its initial value",
                               tsr_operand_type(op, op->operand_count / 2 + i)));
  return NULL;
}

tsr_status tsr_check_reducer(tsr_ir *ir, const tsr_op *op, const char *constraint,
                             const int64_t *dims, int dim_count) {
  enum { FEW = 16 };
  const tsr_type *few[FEW];
  const int count = op->operand_count;
  const tsr_type **types = count <= FEW ? few : tsr_ir_alloc(ir, sizeof *types * (size_t)count);
  TSR_NEED(types);
  for (int i = 0; i < count; i++) types[i] = tsr_operand_type(op, i);
  return tsr_check_combiner_of(op, 0, constraint, types, types + count / 2, count / 2, dims,
                               dim_count);
}

// The dimensions that stay; gives their number.
static int kept_dims(const tsr_op *op, int64_t *out_dims, int64_t *out_bounds) {
  const tsr_type *input = tsr_operand_type(op, 0);
  const tsr_attr *reduced = tsr_op_attr(op, "dimensions");
  int count = 0;
  for (int i = 0; i < input->rank; i++) {
    if (tsr_ints_contain(reduced, i)) continue;
    out_bounds[count] = tsr_type_bound(input, i);
    out_dims[count++] = input->dims[i];
  }
  return count;
}

tsr_status tsr_verify_reduce(tsr_ir *ir, const tsr_op *op) {
  TSR_TRY(tsr_check_inputs_and_inits(op, "C3", "C1", "C2"));
  TSR_TRY(tsr_check_dims(op, "C5", "C4", "dimensions", tsr_op_attr(op, "dimensions"),
                         tsr_operand_type(op, 0)->rank));
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  const int count = kept_dims(op, dims, bounds);
  return tsr_check_reducer(ir, op, "C6", dims, count);
}

tsr_status tsr_infer_reduce(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  const int count = kept_dims(op, dims, bounds);
  for (int i = 0; i < op->operand_count / 2; i++)
    TSR_TRY(tsr_results_add(
        out, tsr_type_bounded(ir, tsr_combiner_element(op, 0, i), count, dims, bounds)));
  return NULL;
}

// ---- map

static tsr_status check_computation(const tsr_op *op) {
  const tsr_ir_block *block = tsr_only_block(op, 0);
  const tsr_op *end = tsr_block_terminator(block);
  TSR_ASK(block->arg_count == op->operand_count, op, "C4",
          "computation takes %d arguments, expected %d", block->arg_count, op->operand_count);
  for (int i = 0; i < block->arg_count; i++) {
    const tsr_type *type = block->args[i]->type, *input = tsr_operand_type(op, i);
    TSR_ASK(tsr_is_scalar(type) && tsr_same_element(type, input), op, "C4",
            "argument %d of computation is %s, expected a scalar of %s", i, SHOW_TYPE(type),
            SHOW_TYPE(input->element));
  }
  TSR_ASK(end->operand_count == 1, op, "C4", "computation returns %d values, expected 1",
          end->operand_count);
  TSR_ASK(tsr_is_scalar(tsr_operand_type(end, 0)), op, "C4",
          "computation returns %s, expected a scalar", SHOW_TYPE(tsr_operand_type(end, 0)));
  return NULL;
}

tsr_status tsr_verify_map(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_ASK(op->operand_count, op, "C2", "has no inputs, expected at least 1");
  TSR_TRY(tsr_check_one_shape(op, "C1"));
  TSR_TRY(check_computation(op));
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  const tsr_type *input = tsr_operand_type(op, 0);
  bool whole = tsr_attr_int_count(dims) == input->rank;
  for (int i = 0; whole && i < input->rank; i++) whole = tsr_attr_int_at(dims, i) == i;
  TSR_ASK(whole, op, "C3", "dimensions is %s, expected all of %s in order", SHOW_INTS(dims),
          SHOW_TYPE(input));
  return NULL;
}

tsr_status tsr_infer_map(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *input = tsr_operand_type(op, op->operand_count - 1);
  return tsr_results_add(
      out, tsr_type_tensor(ir, tsr_combiner_element(op, 0, 0), input->rank, input->dims, NULL));
}

// ---- sort

static tsr_status check_comparator(const tsr_op *op) {
  const tsr_ir_block *block = tsr_only_block(op, 0);
  const tsr_op *end = tsr_block_terminator(block);
  TSR_ASK(block->arg_count == 2 * op->operand_count, op, "C5",
          "comparator takes %d arguments, expected %d", block->arg_count, 2 * op->operand_count);
  for (int i = 0; i < block->arg_count; i++) {
    const tsr_type *type = block->args[i]->type, *input = tsr_operand_type(op, i / 2);
    TSR_ASK(tsr_is_scalar(type) && tsr_same_element(type, input), op, "C5",
            "argument %d of comparator is %s, expected a scalar of %s", i, SHOW_TYPE(type),
            SHOW_TYPE(input->element));
  }
  TSR_ASK(end->operand_count == 1, op, "C5", "comparator returns %d values, expected 1",
          end->operand_count);
  const tsr_type *result = tsr_operand_type(end, 0);
  TSR_ASK(tsr_is_scalar(result) && tsr_is_pred(result), op, "C5",
          "comparator returns %s, expected tensor<i1>", SHOW_TYPE(result));
  return NULL;
}

tsr_status tsr_verify_sort(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(tsr_check_one_shape(op, "C3"));
  const int64_t dim = tsr_op_int(op, "dimension", -1), rank = tsr_operand_type(op, 0)->rank;
  TSR_ASK(dim >= -rank && dim < rank, op, "C4", "dimension is %lld, expected %lld to %lld",
          (long long)dim, (long long)-rank, (long long)rank - 1);
  return check_comparator(op);
}
