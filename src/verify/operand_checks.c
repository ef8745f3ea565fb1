// Questions about all operands and results of an op: do they match, have they one shape, one
// element type; and lists of dimensions.
#include "verify/op_checks.h"

tsr_status tsr_check_operands_match(const tsr_op *op, const char *constraint, int first) {
  const tsr_type *type = tsr_operand_type(op, first);
  for (int i = first + 1; i < op->operand_count; i++)
    TSR_ASK(tsr_types_match(type, tsr_operand_type(op, i)), op, constraint,
            "operands %d and %d are %s and %s, expected compatible types", first, i,
            SHOW_TYPE(type), SHOW_TYPE(tsr_operand_type(op, i)));
  return NULL;
}

// Operands first, then results.
static const tsr_type *type_at(const tsr_op *op, int index) {
  return index < op->operand_count ? tsr_operand_type(op, index)
                                   : op->results[index - op->operand_count].type;
}

static bool all_the_same(const tsr_op *op) {
  for (int i = 1; i < op->operand_count + op->result_count; i++)
    if (type_at(op, i) != type_at(op, 0)) return false;
  return true;
}

// The first type that knows the size of a dimension, before that of `index`.
static const tsr_type *first_with_size(const tsr_op *op, int index, int dim) {
  for (int i = 0; i < index; i++)
    if (!tsr_is_dynamic(type_at(op, i)->dims[dim])) return type_at(op, i);
  return type_at(op, index);
}

tsr_status tsr_check_one_shape(const tsr_op *op, const char *constraint) {
  if (all_the_same(op)) return NULL;
  const tsr_type *first = type_at(op, 0);
  for (int i = 1; i < op->operand_count + op->result_count; i++) {
    const tsr_type *type = type_at(op, i);
    TSR_ASK(type->rank == first->rank, op, constraint, "types %s and %s have different shapes",
            SHOW_TYPE(first), SHOW_TYPE(type));
    for (int d = 0; d < type->rank; d++) {
      const tsr_type *other = first_with_size(op, i, d);
      TSR_ASK(tsr_sizes_match(type->dims[d], other->dims[d]), op, constraint,
              "types %s and %s have different shapes", SHOW_TYPE(other), SHOW_TYPE(type));
    }
  }
  return NULL;
}

tsr_status tsr_check_one_element(const tsr_op *op, const char *constraint, bool exactly) {
  const tsr_type *first = type_at(op, 0);
  for (int i = 1; i < op->operand_count + op->result_count; i++) {
    const tsr_type *type = type_at(op, i);
    TSR_ASK(exactly ? tsr_same_element(first, type) : tsr_elements_match(first, type), op,
            constraint, "types %s and %s have different elements", SHOW_TYPE(first),
            SHOW_TYPE(type));
  }
  return NULL;
}

tsr_status tsr_check_dims(const tsr_op *op, const char *unique, const char *within,
                          const char *name, const tsr_attr *dims, int64_t rank) {
  TSR_ASK(tsr_ints_unique(dims), op, unique, "%s is %s, expected unique dimensions", name,
          SHOW_INTS(dims));
  TSR_ASK(tsr_ints_within(dims, 0, rank), op, within, "%s is %s, expected dimensions of 0 to %lld",
          name, SHOW_INTS(dims), (long long)rank - 1);
  return NULL;
}

tsr_status tsr_check_all_quantised(const tsr_op *op, const char *constraint) {
  const tsr_type *first = type_at(op, 0);
  for (int i = 1; i < op->operand_count + op->result_count; i++)
    TSR_ASK(tsr_is_quantised(type_at(op, i)) == tsr_is_quantised(first), op, constraint,
            "types %s and %s, expected both quantised or neither", SHOW_TYPE(first),
            SHOW_TYPE(type_at(op, i)));
  return NULL;
}
