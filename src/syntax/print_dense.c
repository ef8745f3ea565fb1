// The elements of constants: one for all, nested lists, or hexadecimal digits for many.
#include <string.h>

#include "base/text_internal.h"
#include "syntax/float_literal.h"
#include "syntax/writer_parts.h"

enum { MOST_LISTED = 100, HEX_BLOCK = 4096 };

static uint64_t load(const char *bytes, size_t size) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size && i < sizeof bits; i++)
    bits |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
  return bits;
}

static void print_integer(const tsr_type *type, uint64_t bits, tsr_text *out) {
  const int width = type->kind == TSR_TYPE_INDEX ? 64 : type->width < 64 ? type->width : 64;
  const bool index = type->kind == TSR_TYPE_INDEX;
  bits <<= 64 - width;
  if (!index && type->sign == TSR_SIGNLESS && width == 1)
    tsr_text_add(out, bits ? "true" : "false");
  else if (!index && type->sign == TSR_UNSIGNED)
    tsr_text_addf(out, "%llu", (unsigned long long)(bits >> (64 - width)));
  else
    tsr_text_add_int(out, (int64_t)bits >> (64 - width));
}

static void print_element(const tsr_type *type, const char *bytes, tsr_text *out) {
  if (type->kind == TSR_TYPE_COMPLEX) {
    tsr_text_add_char(out, '(');
    print_element(type->element, bytes, out);
    tsr_text_add_char(out, ',');
    print_element(type->element, bytes + tsr_type_element_bytes(type->element), out);
    tsr_text_add_char(out, ')');
    return;
  }
  const uint64_t bits = load(bytes, tsr_type_element_bytes(type));
  if (type->kind != TSR_TYPE_FLOAT)
    print_integer(type, bits, out);
  else if (tsr_float_is_known(type->format))
    tsr_float_print(type->format, bits, out);
  else
    tsr_text_addf(out, "0x%llX", (unsigned long long)bits);
}

static void print_hex(const char *bytes, size_t length, tsr_text *out) {
  static const char digits[] = "0123456789ABCDEF";
  char block[HEX_BLOCK];
  tsr_text_add(out, "\"0x");
  for (size_t i = 0; i < length;) {
    size_t used = 0;
    for (; i < length && used < sizeof block; i++) {
      const unsigned char byte = (unsigned char)bytes[i];
      block[used++] = digits[byte >> 4];
      block[used++] = digits[byte & 15];
    }
    tsr_text_add_bytes(out, block, used);
  }
  tsr_text_add_char(out, '"');
}

// The elements of the dimensions from `dim` on; moves `*bytes` behind them.
static void print_level(const tsr_type *type, int dim, const char **bytes, tsr_text *out) {
  if (dim == type->rank) {
    print_element(type->element, *bytes, out);
    *bytes += tsr_type_element_bytes(type->element);
    return;
  }
  tsr_text_add_char(out, '[');
  for (int64_t i = 0; i < type->dims[dim]; i++) {
    if (i) tsr_text_add(out, ", ");
    print_level(type, dim + 1, bytes, out);
  }
  tsr_text_add_char(out, ']');
}

void tsr_dense_print(const tsr_attr *attr, tsr_text *out) {
  const int64_t count = tsr_type_element_count(attr->type);
  const char *bytes = attr->bytes;
  tsr_text_add(out, "dense<");
  if (attr->splat)
    print_element(attr->type->element, bytes, out);
  else if (count > MOST_LISTED)
    print_hex(bytes, attr->length, out);
  else if (count > 0)
    print_level(attr->type, 0, &bytes, out);
  tsr_text_add_char(out, '>');
}

void tsr_dense_array_print(const tsr_attr *attr, tsr_text *out) {
  const size_t size = tsr_type_element_bytes(attr->type);
  tsr_text_add(out, "array<");
  tsr_type_print(attr->type, out);
  for (int64_t i = 0; i < attr->count; i++) {
    tsr_text_add(out, i ? ", " : ": ");
    print_element(attr->type, attr->bytes + (size_t)i * size, out);
  }
  tsr_text_add_char(out, '>');
}
