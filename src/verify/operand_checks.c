// Questions about all operands and results of an op (do they match, have they one shape, one
// element type), about lists of integers, and the constants that operands are made of.
#include <string.h>

#include "verify/op_checks.h"

// ---- operands and results

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

tsr_status tsr_check_one_shape(const tsr_op *op, const char *constraint) {
  if (all_the_same(op)) return NULL;
  const tsr_type *first = type_at(op, 0);
  int known[TSR_RANK_LIMIT] = {0};  // the first type with a size for each dimension
  for (int i = 1; i < op->operand_count + op->result_count; i++) {
    const tsr_type *type = type_at(op, i);
    TSR_ASK(type->rank == first->rank, op, constraint, "types %s and %s have different shapes",
            SHOW_TYPE(first), SHOW_TYPE(type));
    for (int d = 0; d < type->rank; d++) {
      const tsr_type *other = type_at(op, known[d]);
      TSR_ASK(tsr_sizes_match(type->dims[d], other->dims[d]), op, constraint,
              "types %s and %s have different shapes", SHOW_TYPE(other), SHOW_TYPE(type));
      if (tsr_is_dynamic(other->dims[d])) known[d] = i;
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

tsr_status tsr_check_all_quantised(const tsr_op *op, const char *constraint) {
  const tsr_type *first = type_at(op, 0);
  for (int i = 1; i < op->operand_count + op->result_count; i++)
    TSR_ASK(tsr_is_quantised(type_at(op, i)) == tsr_is_quantised(first), op, constraint,
            "types %s and %s, expected both quantised or neither", SHOW_TYPE(first),
            SHOW_TYPE(type_at(op, i)));
  return NULL;
}

// ---- lists of integers

bool tsr_ints_within(const tsr_attr *ints, int64_t low, int64_t high) {
  const int64_t count = tsr_attr_int_count(ints);
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = tsr_attr_int_at(ints, i);
    if (value < low || value >= high) return false;
  }
  return true;
}

bool tsr_ints_at_least(const tsr_attr *ints, int64_t low) {
  const int64_t count = tsr_attr_int_count(ints);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(ints, i) < low) return false;
  return true;
}

bool tsr_ints_contain(const tsr_attr *ints, int64_t value) {
  const int64_t count = tsr_attr_int_count(ints);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(ints, i) == value) return true;
  return false;
}

bool tsr_ints_sorted(const tsr_attr *ints) {
  const int64_t count = tsr_attr_int_count(ints);
  for (int64_t i = 1; i < count; i++)
    if (tsr_attr_int_at(ints, i - 1) > tsr_attr_int_at(ints, i)) return false;
  return true;
}

enum { SEEN_WORDS = TSR_RANK_LIMIT / 64, LARGE_COMPARED = 64 };

// The integers of a list and those of another, which may be NULL, after them.
static int64_t int_of_either(const tsr_attr *a, int64_t a_count, const tsr_attr *b, int64_t index) {
  return index < a_count || !b ? tsr_attr_int_at(a, index) : tsr_attr_int_at(b, index - a_count);
}

// Whether the values are distinct: a bit for each of the small ones, which all lists of dimensions
// hold once they are checked; the first few larger ones are compared with all before. A list with
// more of them is wrong anyway.
bool tsr_ints_distinct(const tsr_attr *a, const tsr_attr *b) {
  uint64_t seen[SEEN_WORDS] = {0};
  const int64_t a_count = tsr_attr_int_count(a), count = a_count + tsr_attr_int_count(b);
  int64_t large = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = int_of_either(a, a_count, b, i);
    if (value >= 0 && value < TSR_RANK_LIMIT) {
      const uint64_t bit = UINT64_C(1) << (value % 64);
      if (seen[value / 64] & bit) return false;
      seen[value / 64] |= bit;
    } else if (++large > 1) {
      for (int64_t j = 0; j < i; j++)
        if (int_of_either(a, a_count, b, j) == value) return false;
      if (large > LARGE_COMPARED) return false;
    }
  }
  return true;
}

bool tsr_ints_unique(const tsr_attr *ints) { return tsr_ints_distinct(ints, NULL); }

bool tsr_ints_equal(const tsr_attr *a, const tsr_attr *b) {
  const int64_t count = tsr_attr_int_count(a);
  if (count != tsr_attr_int_count(b)) return false;
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(a, i) != tsr_attr_int_at(b, i)) return false;
  return true;
}

tsr_status tsr_check_dims(const tsr_op *op, const char *unique, const char *within,
                          const char *name, const tsr_attr *dims, int64_t rank) {
  TSR_ASK(tsr_ints_unique(dims), op, unique, "%s is %s, expected unique dimensions", name,
          SHOW_INTS(dims));
  TSR_ASK(tsr_ints_within(dims, 0, rank), op, within, "%s is %s, expected dimensions of 0 to %lld",
          name, SHOW_INTS(dims), (long long)rank - 1);
  return NULL;
}

// ---- records and constants

int64_t tsr_record_int(const tsr_attr *record, int field) {
  return tsr_attr_field(record, field)->integer;
}

const tsr_attr *tsr_constant_of(const tsr_value *value) {
  if (!value->def || value->def->info->id != TSR_OP_CONSTANT) return NULL;
  const tsr_attr *dense = tsr_op_attr(value->def, "value");
  // A constant that is wrong itself is reported where it stands.
  return dense && dense->kind == TSR_ATTR_DENSE && dense->type == value->type ? dense : NULL;
}

int64_t tsr_dense_int(const tsr_attr *dense, int64_t index) {
  const tsr_type *element = tsr_type_element(dense->type);
  const size_t bytes = tsr_type_element_bytes(element);
  uint64_t bits = 0;
  if (bytes > sizeof bits) return 0;
  memcpy(&bits, tsr_attr_element(dense, index), bytes);
  const int width = tsr_type_bits(element);
  if (width >= 64 || width < 1) return (int64_t)bits;
  const uint64_t sign = UINT64_C(1) << (width - 1);
  bits &= (sign << 1) - 1;
  if (element->sign == TSR_UNSIGNED || width == 1) return (int64_t)bits;
  return (int64_t)((bits ^ sign) - sign);
}
