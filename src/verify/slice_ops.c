// Ops that cut pieces out of tensors, put pieces into them, or pad them.
#include "verify/op_checks.h"

// ---- slice

static tsr_status check_list_length(const tsr_op *op, const char *constraint, const char *name) {
  const tsr_attr *list = tsr_op_attr(op, name);
  const tsr_type *operand = tsr_operand_type(op, 0);
  TSR_ASK(tsr_attr_int_count(list) == operand->rank, op, constraint,
          "%s is %s, expected length %d for %s", name, SHOW_INTS(list), operand->rank,
          SHOW_TYPE(operand));
  return NULL;
}

// The size of a dimension, or its bound; TSR_DYNAMIC = neither is known.
static int64_t size_or_bound(const tsr_type *type, int dim) {
  return tsr_is_dynamic(type->dims[dim]) ? tsr_type_bound(type, dim) : type->dims[dim];
}

tsr_status tsr_verify_slice(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0);
  TSR_TRY(check_list_length(op, "C2", "start_indices"));
  TSR_TRY(check_list_length(op, "C2", "limit_indices"));
  TSR_TRY(check_list_length(op, "C2", "strides"));
  const tsr_attr *starts = tsr_op_attr(op, "start_indices");
  const tsr_attr *limits = tsr_op_attr(op, "limit_indices"), *strides = tsr_op_attr(op, "strides");
  for (int i = 0; i < operand->rank; i++) {
    const int64_t start = tsr_attr_int_at(starts, i), limit = tsr_attr_int_at(limits, i);
    const int64_t size = size_or_bound(operand, i);
    TSR_ASK(start >= 0, op, "C3", "start index of dimension %d is %lld, expected 0 or more", i,
            (long long)start);
    TSR_ASK(tsr_is_dynamic(size) || limit <= size, op, "C3",
            "limit index of dimension %d is %lld, expected at most %lld", i, (long long)limit,
            (long long)size);
    TSR_ASK(start <= limit, op, "C3",
            "start index of dimension %d is %lld, expected at most the limit index %lld", i,
            (long long)start, (long long)limit);
    TSR_ASK(tsr_attr_int_at(strides, i) > 0, op, "C4",
            "stride of dimension %d is %lld, expected 1 or more", i,
            (long long)tsr_attr_int_at(strides, i));
  }
  return tsr_check_one_element(op, "C1", true);
}

tsr_status tsr_infer_slice(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *starts = tsr_op_attr(op, "start_indices");
  const tsr_attr *limits = tsr_op_attr(op, "limit_indices"), *strides = tsr_op_attr(op, "strides");
  int64_t dims[TSR_RANK_LIMIT];
  for (int i = 0; i < operand->rank; i++) {
    const int64_t length = tsr_attr_int_at(limits, i) - tsr_attr_int_at(starts, i);
    const int64_t stride = tsr_attr_int_at(strides, i);
    dims[i] = length / stride + (length % stride != 0);
  }
  return tsr_results_add(out, tsr_type_tensor(ir, operand->element, operand->rank, dims, NULL));
}

// ---- slices at places that operands give

// The start indices, operands from `first` on, have one type.
static tsr_status check_indices(const tsr_op *op, const char *constraint, int first) {
  for (int i = first + 1; i < op->operand_count; i++)
    TSR_ASK(tsr_same_element(tsr_operand_type(op, first), tsr_operand_type(op, i)), op, constraint,
            "start indices 0 and %d are %s and %s, expected one type", i - first,
            SHOW_TYPE(tsr_operand_type(op, first)), SHOW_TYPE(tsr_operand_type(op, i)));
  return NULL;
}

tsr_status tsr_verify_dynamic_slice(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *sizes = tsr_op_attr(op, "slice_sizes");
  TSR_ASK(op->operand_count - 1 == operand->rank, op, "C2",
          "has %d start indices, expected %d for %s", op->operand_count - 1, operand->rank,
          SHOW_TYPE(operand));
  TSR_TRY(check_list_length(op, "C2", "slice_sizes"));
  TSR_TRY(check_indices(op, "C3", 1));
  for (int i = 0; i < operand->rank; i++) {
    const int64_t size = tsr_attr_int_at(sizes, i), whole = operand->dims[i];
    TSR_ASK(size >= 0 && (tsr_is_dynamic(whole) || size <= whole), op, "C4",
            "slice size of dimension %d is %lld, expected 0 to %s", i, (long long)size,
            SHOW_INT(whole));
  }
  if (!op->result_count) return NULL;
  TSR_ASK(tsr_same_element(operand, op->results[0].type), op, "C1",
          "the result is %s, expected elements of %s", SHOW_TYPE(op->results[0].type),
          SHOW_TYPE(operand));
  return NULL;
}

tsr_status tsr_infer_dynamic_slice(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *sizes = tsr_op_attr(op, "slice_sizes");
  int64_t dims[TSR_RANK_LIMIT];
  for (int i = 0; i < operand->rank; i++) dims[i] = tsr_attr_int_at(sizes, i);
  return tsr_results_add(out, tsr_type_tensor(ir, operand->element, operand->rank, dims, NULL));
}

tsr_status tsr_verify_dynamic_update_slice(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0), *update = tsr_operand_type(op, 1);
  TSR_ASK(tsr_same_element(operand, update), op, "C2",
          "operand and update are %s and %s, expected one element type", SHOW_TYPE(operand),
          SHOW_TYPE(update));
  TSR_ASK(update->rank == operand->rank, op, "C3",
          "operand and update are %s and %s, expected one rank", SHOW_TYPE(operand),
          SHOW_TYPE(update));
  TSR_ASK(op->operand_count - 2 == operand->rank, op, "C4",
          "has %d start indices, expected %d for %s", op->operand_count - 2, operand->rank,
          SHOW_TYPE(operand));
  TSR_TRY(check_indices(op, "C5", 2));
  for (int i = 0; i < operand->rank; i++) {
    const int64_t size = update->dims[i], whole = operand->dims[i];
    TSR_ASK(tsr_is_dynamic(size) || tsr_is_dynamic(whole) || size <= whole, op, "C6",
            "dimension %d of the update has size %lld, expected at most %lld", i, (long long)size,
            (long long)whole);
  }
  if (!op->result_count) return NULL;
  TSR_ASK(tsr_same_element(operand, op->results[0].type), op, "C1",
          "the result is %s, expected elements of %s", SHOW_TYPE(op->results[0].type),
          SHOW_TYPE(operand));
  return NULL;
}

// ---- pad

// The size after padding; -1 if it is negative or too large.
static int64_t padded_size(const tsr_op *op, int64_t size, int dim) {
  const int64_t low = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), dim);
  const int64_t high = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_high"), dim);
  const int64_t inside = tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), dim);
  int64_t sum = 0, holes = 0;
  if (__builtin_mul_overflow(size > 1 ? size - 1 : 0, inside, &holes)) return -1;
  if (__builtin_add_overflow(size, holes, &sum)) return -1;
  if (__builtin_add_overflow(sum, low, &sum) || __builtin_add_overflow(sum, high, &sum)) return -1;
  return sum < 0 ? -1 : sum;
}

tsr_status tsr_verify_pad(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0);
  TSR_TRY(tsr_check_one_element(op, "C1", true));
  TSR_TRY(check_list_length(op, "C2", "edge_padding_low"));
  TSR_TRY(check_list_length(op, "C2", "edge_padding_high"));
  TSR_TRY(check_list_length(op, "C2", "interior_padding"));
  const tsr_attr *inside = tsr_op_attr(op, "interior_padding");
  TSR_ASK(tsr_ints_at_least(inside, 0), op, "C3", "interior_padding is %s, expected 0 or more",
          SHOW_INTS(inside));
  for (int i = 0; i < operand->rank; i++) {
    const int64_t size = size_or_bound(operand, i);
    TSR_ASK(tsr_is_dynamic(size) || padded_size(op, size, i) >= 0, op, "C4",
            "padding of dimension %d of %s gives a size that is negative or too large", i,
            SHOW_TYPE(operand));
  }
  return NULL;
}

tsr_status tsr_infer_pad(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  for (int i = 0; i < operand->rank; i++) {
    const int64_t bound = tsr_type_bound(operand, i);
    const bool known = !tsr_is_dynamic(operand->dims[i]);
    dims[i] = known ? padded_size(op, operand->dims[i], i) : TSR_DYNAMIC;
    bounds[i] = known || tsr_is_dynamic(bound) ? TSR_DYNAMIC : padded_size(op, bound, i);
  }
  return tsr_results_add(out, tsr_type_bounded(ir, operand->element, operand->rank, dims, bounds));
}
