// Floats in MLIR's digits.
//
// MLIR writes 1.000000e+00 where six significant digits identify the value. Otherwise it writes as
// many digits as the format may need, 0.333333343 or 1.17549435E-38; and where those show no
// decimal point, or the value is not finite, its bits. Digits are those of the exact value, cut
// after a few more than wanted (a number that depends on the bits of the exact value) and then
// rounded half up. The cut decides digits, so it is made here in the same way.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/float_format.h"
#include "syntax/float_literal.h"

// ---- the exact value as an integer times a power of ten ----

enum { LIMBS = 84, SHORT_DIGITS = 6, MOST_DIGITS = 24 };  // 2^-1074 has 2,550 bits

typedef struct big {
  uint32_t limbs[LIMBS];  // the least first
  int count;
} big;

static void big_multiply(big *number, uint32_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < number->count; i++) {
    carry += (uint64_t)number->limbs[i] * factor;
    number->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) number->limbs[number->count++] = (uint32_t)carry;
}

static void big_divide(big *number, uint32_t divisor) {
  uint64_t rest = 0;
  for (int i = number->count - 1; i >= 0; i--) {
    rest = rest << 32 | number->limbs[i];
    number->limbs[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  while (number->count && !number->limbs[number->count - 1]) number->count--;
}

static int big_bits(const big *number) {
  return 32 * number->count - __builtin_clz(number->limbs[number->count - 1]);
}

// Multiplies by base^power, or divides; `step` is the largest base^steps of 32 bits.
static void big_scale(big *number, uint32_t base, uint32_t step, int steps, int power,
                      void (*apply)(big *, uint32_t)) {
  for (; power >= steps; power -= steps) apply(number, step);
  uint32_t rest = 1;
  while (power-- > 0) rest *= base;
  apply(number, rest);
}

// A positive finite value as the integer times 10^exponent.
static big exact(double value, int *out_exponent) {
  int exponent;
  uint64_t whole = (uint64_t)ldexp(frexp(value, &exponent), 53);
  exponent -= 53;
  const unsigned zeros = (unsigned)__builtin_ctzll(whole);
  whole >>= zeros;
  exponent += (int)zeros;
  big number = {{(uint32_t)whole, (uint32_t)(whole >> 32)}, whole >> 32 ? 2 : 1};
  if (exponent >= 0)
    big_scale(&number, 2, 1u << 31, 31, exponent, big_multiply);
  else
    big_scale(&number, 5, 1220703125u, 13, -exponent, big_multiply);
  *out_exponent = exponent < 0 ? exponent : 0;
  return number;
}

// ---- digits ----

typedef struct shown {
  char digits[MOST_DIGITS];  // the first one is not 0
  int count;
  int exponent;  // of ten, of the last digit
} shown;

// Rounds half up to `wanted` digits; zeros at the end are dropped.
static void cut_digits(shown *s, int wanted) {
  if (s->count > wanted) {
    bool up = s->digits[wanted] >= '5';
    s->exponent += s->count - wanted;
    s->count = wanted;
    for (int i = wanted - 1; up && i >= 0; i--) {
      up = s->digits[i] == '9';
      s->digits[i] = up ? '0' : (char)(s->digits[i] + 1);
    }
    if (up) s->digits[0] = '1', s->exponent += wanted, s->count = 1;
  }
  for (; s->count > 1 && s->digits[s->count - 1] == '0'; s->count--) s->exponent++;
}

static shown digits_of(double value, int wanted) {
  shown s = {.count = 0};
  big number = exact(value, &s.exponent);
  const int bits = big_bits(&number), needed = (wanted * 196 + 58) / 59;
  const int cut = bits > needed ? (bits - needed) * 59 / 196 : 0;
  big_scale(&number, 10, 1000000000u, 9, cut, big_divide);
  s.exponent += cut;
  const uint64_t left = (uint64_t)(number.count > 1 ? number.limbs[1] : 0) << 32 | number.limbs[0];
  s.count = snprintf(s.digits, sizeof s.digits, "%llu", (unsigned long long)left);
  cut_digits(&s, wanted);
  return s;
}

// ---- forms ----

// d.dddddde+dd, filled with zeros up to `places` after the point.
static void print_scientific(const shown *s, int places, const char *exponent_form, tsr_text *out) {
  tsr_text_add_char(out, s->digits[0]);
  tsr_text_add_char(out, '.');
  tsr_text_add_bytes(out, s->digits + 1, (size_t)(s->count - 1));
  for (int i = s->count - 1; i < places; i++) tsr_text_add_char(out, '0');
  const int exponent = s->exponent + s->count - 1;
  tsr_text_addf(out, exponent_form, exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
}

// Digits with a point among them; no point after whole numbers.
static void print_plain(const shown *s, tsr_text *out) {
  const int whole = s->count + s->exponent;
  if (whole <= 0) tsr_text_add(out, "0.");
  for (int i = whole; i < 0; i++) tsr_text_add_char(out, '0');
  for (int i = 0; i < s->count; i++) {
    if (i && i == whole) tsr_text_add_char(out, '.');
    tsr_text_add_char(out, s->digits[i]);
  }
  for (int i = 0; i < s->exponent; i++) tsr_text_add_char(out, '0');
}

// At most three zeros are written to place the point.
static void print_longer(const shown *s, int wanted, tsr_text *out) {
  const int first = s->exponent + s->count - 1;
  const bool scientific =
      s->exponent >= 0 ? s->exponent > 3 || s->count + s->exponent > wanted : first < -3;
  if (scientific)
    print_scientific(s, 1, "E%c%d", out);
  else
    print_plain(s, out);
}

// Bits of the significand, the first one included.
static int precision_of(tsr_float format) {
#define X(id, bits, mantissa, ...) [TSR_FLOAT_##id] = (mantissa) + 1,
  static const int precisions[TSR_FLOAT_COUNT] = {
      TSR_FLOAT_FORMATS(X)[TSR_FLOAT_F32] = 24,
      [TSR_FLOAT_F64] = 53,
      [TSR_FLOAT_TF32] = 11,
      [TSR_FLOAT_F8E8M0FNU] = 1,
  };
#undef X
  return precisions[format];
}

// Whether the text added after `start` reads as the same bits.
static bool reads_back(tsr_float format, uint64_t bits, const tsr_text *out, size_t start,
                       bool negative) {
  return !out->failed &&
         tsr_float_round(format, out->data + start, out->length - start, negative) == bits;
}

static void take_back(tsr_text *out, size_t length) {
  if (out->failed) return;
  out->length = length;
  out->data[length] = '\0';
}

// False if the value has neither form.
static bool print_finite(tsr_float format, uint64_t bits, double value, tsr_text *out) {
  const size_t before = out->length;
  const bool negative = signbit(value);
  if (negative) tsr_text_add_char(out, '-');
  if (value == 0) {
    tsr_text_add(out, "0.000000e+00");
    return true;
  }
  const size_t start = out->length;
  shown s = digits_of(fabs(value), SHORT_DIGITS);
  print_scientific(&s, SHORT_DIGITS, "e%c%02d", out);
  if (out->failed || reads_back(format, bits, out, start, negative)) return true;
  take_back(out, start);
  const int wanted = 2 + precision_of(format) * 59 / 196;
  s = digits_of(fabs(value), wanted);
  print_longer(&s, wanted, out);
  if (out->failed || memchr(out->data + start, '.', out->length - start)) return true;
  take_back(out, before);
  return false;
}

bool tsr_float_print(tsr_float format, uint64_t bits, tsr_text *out) {
  const double value = tsr_float_value(format, bits);
  if (isfinite(value) && print_finite(format, bits, value, out)) return false;
  tsr_text_addf(out, "0x%llX", (unsigned long long)bits);
  return true;
}
