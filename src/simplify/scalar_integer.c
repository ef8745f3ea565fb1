// Elementwise ops on integers and bools. Arithmetic is modulo 2^64 here; storing keeps the low
// bits, which makes it modulo the width of the type.
#include "simplify/scalar.h"

#define INTEGER_OP(name) \
  bool tsr_scalar_##name(const tsr_scalar_type *type, const tsr_scalar *in, tsr_scalar *out)
// Functions of one line: `a` and `b` are the operands' bits.
#define INTEGER_RULE(name, expression)                           \
  INTEGER_OP(name) {                                             \
    const uint64_t a = (uint64_t)in[0].i, b = (uint64_t)in[1].i; \
    (void)type, (void)b;                                         \
    out->i = (int64_t)(expression);                              \
    return true;                                                 \
  }

static bool is_signed(const tsr_scalar_type *type) { return type->kind == TSR_CLASS_SIGNED; }

static uint64_t low_bits(const tsr_scalar_type *type, uint64_t value) {
  return type->bits >= 64 ? value : value & ((UINT64_C(1) << type->bits) - 1);
}

static bool is_less(const tsr_scalar_type *type, int64_t a, int64_t b) {
  return is_signed(type) ? a < b : (uint64_t)a < (uint64_t)b;
}

bool tsr_scalar_none(const tsr_scalar_type *type, const tsr_scalar *in, tsr_scalar *out) {
  (void)type, (void)in, (void)out;
  return false;
}

INTEGER_RULE(integer_add, a + b)
INTEGER_RULE(integer_subtract, a - b)
INTEGER_RULE(integer_multiply, a *b)
INTEGER_RULE(integer_and, a &b)
INTEGER_RULE(integer_or, a | b)
INTEGER_RULE(integer_xor, a ^ b)
INTEGER_RULE(integer_not, ~a)
INTEGER_RULE(integer_negate, 0 - a)
INTEGER_RULE(integer_abs, is_signed(type) && in[0].i < 0 ? 0 - a : a)
INTEGER_RULE(integer_maximum, is_less(type, in[0].i, in[1].i) ? b : a)
INTEGER_RULE(integer_minimum, is_less(type, in[1].i, in[0].i) ? b : a)
INTEGER_RULE(integer_ones, __builtin_popcountll(low_bits(type, a)))
INTEGER_RULE(bool_not, !a)

INTEGER_OP(integer_leading_zeros) {
  const uint64_t bits = low_bits(type, (uint64_t)in[0].i);
  out->i = bits ? __builtin_clzll(bits) - (64 - type->bits) : type->bits;
  return true;
}

INTEGER_OP(integer_sign) {
  out->i = in[0].i == 0 ? 0 : is_less(type, in[0].i, 0) ? -1 : 1;
  return true;
}

// In the order of the specification: the upper bound wins where the bounds are crossed.
INTEGER_OP(integer_clamp) {
  const int64_t raised = is_less(type, in[1].i, in[0].i) ? in[0].i : in[1].i;
  out->i = is_less(type, in[2].i, raised) ? in[2].i : raised;
  return true;
}

static int64_t least(const tsr_scalar_type *type) {
  return -1 - (int64_t)(UINT64_MAX >> (65 - type->bits));
}

// Division by zero, and the one quotient that is out of range, are undefined.
INTEGER_OP(integer_divide) {
  const int64_t a = in[0].i, b = in[1].i;
  if (b == 0 || (is_signed(type) && b == -1 && a == least(type))) return false;
  out->i = is_signed(type) ? a / b : (int64_t)((uint64_t)a / (uint64_t)b);
  return true;
}

INTEGER_OP(integer_remainder) {
  const int64_t a = in[0].i, b = in[1].i;
  if (b == 0) return false;
  if (is_signed(type))
    out->i = b == -1 ? 0 : a % b;
  else
    out->i = (int64_t)((uint64_t)a % (uint64_t)b);
  return true;
}

// Negative exponents give the integer part of the inverse: 0 but for bases 1 and -1.
INTEGER_OP(integer_power) {
  uint64_t base = (uint64_t)in[0].i, exponent = (uint64_t)in[1].i, result = 1;
  if (is_signed(type) && in[1].i < 0) {
    if (in[0].i != 1 && in[0].i != -1) {
      out->i = 0;
      return true;
    }
    exponent = 0 - exponent;
  }
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  out->i = (int64_t)result;
  return true;
}

// An amount of the width or more, or a negative one, shifts all bits out.
static bool is_shift(const tsr_scalar_type *type, int64_t amount) {
  return amount >= 0 && amount < type->bits;
}

INTEGER_OP(integer_shift_left) {
  out->i = is_shift(type, in[1].i) ? (int64_t)((uint64_t)in[0].i << in[1].i) : 0;
  return true;
}

INTEGER_OP(integer_shift_right) {
  const uint64_t bits = low_bits(type, (uint64_t)in[0].i);
  out->i = is_shift(type, in[1].i) ? (int64_t)(bits >> in[1].i) : 0;
  return true;
}

// The sign bit fills, also that of an unsigned number.
INTEGER_OP(integer_shift_signed) {
  const uint64_t up = (uint64_t)in[0].i << (64 - type->bits);
  const int64_t amount = is_shift(type, in[1].i) ? in[1].i : type->bits - 1;
  const int64_t value = (int64_t)up >> (64 - type->bits);
  out->i = value >> amount;
  return true;
}

// The upper half of a product of twice the width, from halves of 32 bits.
static uint64_t high_half(uint64_t a, uint64_t b) {
  const uint64_t low = UINT32_MAX;
  const uint64_t first = (a & low) * (b & low);
  const uint64_t second = (a >> 32) * (b & low) + (first >> 32);
  const uint64_t third = (a & low) * (b >> 32) + (second & low);
  return (a >> 32) * (b >> 32) + (second >> 32) + (third >> 32);
}

INTEGER_OP(integer_high_product) {
  const uint64_t a = (uint64_t)in[0].i, b = (uint64_t)in[1].i;
  uint64_t high = high_half(a, b);
  if (is_signed(type)) high -= (in[0].i < 0 ? b : 0) + (in[1].i < 0 ? a : 0);
  const uint64_t low = a * b;
  out->i = (int64_t)(type->bits >= 64 ? high : low >> type->bits | high << (64 - type->bits));
  return true;
}
