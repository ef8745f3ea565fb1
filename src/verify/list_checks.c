// Lists of integers in attributes, and constants that operands are made of.
#include <string.h>

#include "verify/op_checks.h"

bool tsr_ints_within(const tsr_attr *ints, int64_t low, int64_t high) {
  const int64_t count = tsr_attr_int_count(ints);
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = tsr_attr_int_at(ints, i);
    if (value < low || value >= high) return false;
  }
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

// Whether the values are distinct: a bit for each of the small ones, which all lists of dimensions
// hold once they are checked; the first few larger ones are compared with all before. A list with
// more of them is wrong anyway.
bool tsr_ints_distinct(const tsr_attr *a, const tsr_attr *b) {
  uint64_t seen[SEEN_WORDS] = {0};
  const int64_t a_count = tsr_attr_int_count(a), count = a_count + tsr_attr_int_count(b);
  int64_t large = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = i < a_count ? tsr_attr_int_at(a, i) : tsr_attr_int_at(b, i - a_count);
    if (value >= 0 && value < TSR_RANK_LIMIT) {
      const uint64_t bit = UINT64_C(1) << (value % 64);
      if (seen[value / 64] & bit) return false;
      seen[value / 64] |= bit;
    } else if (++large > 1) {
      for (int64_t j = 0; j < i; j++)
        if ((j < a_count ? tsr_attr_int_at(a, j) : tsr_attr_int_at(b, j - a_count)) == value)
          return false;
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

int64_t tsr_record_int(const tsr_attr *record, int field) {
  return tsr_attr_field(record, field)->integer;
}

bool tsr_bool_at(const tsr_attr *bools, int64_t index) { return bools->bytes[index] != 0; }

const tsr_attr *tsr_constant_of(const tsr_value *value) {
  if (!value->def || value->def->info->id != TSR_OP_CONSTANT) return NULL;
  const tsr_attr *dense = tsr_op_attr(value->def, "value");
  return dense && dense->kind == TSR_ATTR_DENSE ? dense : NULL;
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
