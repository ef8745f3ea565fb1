// Decimal text to the floats of every format, with one rounding.
//
// Most numbers have at most 19 digits and a small power of ten. Those are one 128-bit product or
// quotient, whose leading 64 bits and the knowledge whether anything follows them ("sticky") are
// enough for every format. The others go through the C library's nearest double. That is final for
// f64. A narrower format rounds it again, which errs only where the double lies exactly between two
// of its values but the text does not; there the text is compared with the double digit by digit.
#include "syntax/float_literal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "element/float_format.h"

__extension__ typedef unsigned __int128 wide;

enum { FAST_DIGITS = 19, KEPT_DIGITS = 800, MOST_EXPONENT = 100000 };

static const tsr_float_format tf32 = {19, 10, 127, 0x3fbff, 0x3fc00, 0x3fe00, TSR_STYLE_IEEE};
// Only for the search of ties: these two have their own conversions.
static const tsr_float_format f32 = {.bits = 32, .mantissa = 23, .bias = 127};
static const tsr_float_format e8m0 = {.bits = 8, .mantissa = 0, .bias = 128};

#define X(id, ...) [TSR_FLOAT_##id] = &tsr_format_##id,
static const tsr_float_format *const formats[TSR_FLOAT_COUNT] = {
    TSR_FLOAT_FORMATS(X)[TSR_FLOAT_TF32] = &tf32,
    [TSR_FLOAT_F32] = &f32,
    [TSR_FLOAT_F8E8M0FNU] = &e8m0,
};
#undef X

bool tsr_float_is_known(tsr_float format) { return format == TSR_FLOAT_F64 || formats[format]; }

// ---- the digits ----

typedef struct decimal_text {
  char digits[KEPT_DIGITS + 2];  // significant ones, none of them a leading zero
  int count;
  bool more;         // nonzero digits were dropped
  uint64_t leading;  // the number of the first FAST_DIGITS of them
  int64_t exponent;  // the number is 0.digits * 10^exponent
} decimal_text;

static const char *read_exponent(const char *at, const char *end, int64_t *out_exponent) {
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  int64_t exponent = 0;
  for (; at < end; at++)
    if (exponent < MOST_EXPONENT) exponent = exponent * 10 + (*at - '0');
  *out_exponent = negative ? -exponent : exponent;
  return at;
}

static void add_digit(decimal_text *d, char digit) {
  if (d->count < FAST_DIGITS) d->leading = d->leading * 10 + (uint64_t)(digit - '0');
  if (d->count < KEPT_DIGITS)
    d->digits[d->count++] = digit;
  else
    d->more = d->more || digit != '0';
}

static void scan(const char *at, const char *end, decimal_text *out) {
  decimal_text *d = out;
  d->count = 0;
  d->more = false;
  d->leading = 0;
  int64_t whole = 0, exponent = 0;
  bool after_point = false;
  for (; at < end; at++) {
    if (*at == '.') {
      after_point = true;
    } else if (*at == 'e' || *at == 'E') {
      at = read_exponent(at + 1, end, &exponent) - 1;
    } else if (*at != '0' || d->count) {
      add_digit(d, *at);
      whole += !after_point;
    } else if (after_point) {
      whole--;
    }
  }
  d->exponent = whole + exponent;
}

// ---- the short way ----

// A number: (leading * 2^63 <= it < ...) as 64 bits, the first of them set, times 2^exponent.
typedef struct scaled {
  uint64_t bits;
  int exponent;
  bool sticky;  // the number is larger than that, by less than the last bit
} scaled;

static scaled leading_bits(wide value, int exponent, bool sticky) {
  const uint64_t high = (uint64_t)(value >> 64);
  if (!high) {
    const int shift = __builtin_clzll((uint64_t)value);
    return (scaled){(uint64_t)value << shift, exponent - shift, sticky};
  }
  const int shift = 64 - __builtin_clzll(high);
  const wide dropped = value & (((wide)1 << shift) - 1);
  return (scaled){(uint64_t)(value >> shift), exponent + shift, sticky || dropped};
}

static const uint64_t powers_of_ten[] = {1u,
                                         10u,
                                         100u,
                                         1000u,
                                         10000u,
                                         100000u,
                                         1000000u,
                                         10000000u,
                                         100000000u,
                                         1000000000u,
                                         10000000000u,
                                         100000000000u,
                                         1000000000000u,
                                         10000000000000u,
                                         100000000000000u,
                                         1000000000000000u,
                                         10000000000000000u,
                                         100000000000000000u,
                                         1000000000000000000u,
                                         10000000000000000000u};

// number * 10^power, for a number that is not 0 and powers from -19 to 19.
static scaled scale(uint64_t number, int power) {
  if (power >= 0) return leading_bits((wide)number * powers_of_ten[power], 0, false);
  const int shift = __builtin_clzll(number);
  const wide dividend = (wide)(number << shift) << 64;
  const uint64_t divisor = powers_of_ten[-power];
  const wide quotient = dividend / divisor;
  return leading_bits(quotient, -64 - shift, quotient * divisor != dividend);
}

// The nearest double. All numbers here are far from the ends of its range.
static uint64_t nearest_double(scaled s) {
  const uint64_t mantissa = s.bits >> 11, rest = s.bits & 0x7ff;
  const bool up = rest > 0x400 || (rest == 0x400 && (s.sticky || mantissa & 1));
  const uint64_t exponent = (uint64_t)(s.exponent + 11 + 52 + 1023);
  // Without its first bit; a carry goes into the exponent.
  return (exponent << 52) + (mantissa - (UINT64_C(1) << 52)) + up;
}

// A double on the same side of every value and midpoint of the narrower formats as the number: cut
// off, with its last bit set where something was.
static double odd_double(scaled s) {
  const uint64_t exponent = (uint64_t)(s.exponent + 11 + 52 + 1023);
  const uint64_t mantissa = (s.bits >> 11) - (UINT64_C(1) << 52);
  return tsr_f64_of((exponent << 52) + (mantissa | ((s.bits & 0x7ff) != 0 || s.sticky)));
}

// ---- the long way ----

// The digits as a text of the C library.
static double library_double(const decimal_text *d) {
  char text[KEPT_DIGITS + 32];
  snprintf(text, sizeof text, "0.%.*s%se%lld", d->count, d->digits, d->more ? "1" : "",
           (long long)d->exponent);
  double value = 0;
  (void)tsr_decimal_read(text, &value);
  return value;
}

// Whether a positive double lies halfway between two values of the format.
static bool is_tie(const tsr_float_format *f, double value) {
  const uint64_t bits = tsr_f64_bits(value);
  const int exponent = (int)(bits >> 52) - 1023, least = 1 - f->bias;
  const int drop = 52 - f->mantissa + (exponent < least ? least - exponent : 0);
  if (drop > 53 || drop < 1) return false;
  const uint64_t whole = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  return (whole & ((UINT64_C(1) << drop) - 1)) == UINT64_C(1) << (drop - 1);
}

// The order of the text and a positive double: negative, 0 or positive.
static int compare_exactly(const decimal_text *d, double value) {
  char printed[KEPT_DIGITS + 16], digits[KEPT_DIGITS + 1];
  snprintf(printed, sizeof printed, "%.*e", KEPT_DIGITS - 1, value);
  int count = 0;
  const char *c = printed;
  for (; *c != 'e'; c++)
    if (*c >= '0' && *c <= '9') digits[count++] = *c;
  const int64_t exponent = atoi(c + 1) + 1;
  if (d->exponent != exponent) return d->exponent < exponent ? -1 : 1;
  const int order = memcmp(d->digits, digits, (size_t)(d->count < count ? d->count : count));
  if (order) return order;
  for (int i = d->count; i < count; i++)
    if (digits[i] != '0') return -1;
  return d->more;
}

static double split_tie(const tsr_float_format *f, const decimal_text *d, double value) {
  if (!is_tie(f, value)) return value;
  const int order = compare_exactly(d, value);
  return order ? nextafter(value, order > 0 ? INFINITY : 0.0) : value;
}

// ---- all formats ----

// Powers of two from 2^-127 on; what is smaller becomes the smallest, halves go up.
static uint64_t encode_e8m0(double value) {
  if (value < 0x1p-127) return 0;
  const uint64_t half = UINT64_C(1) << 51;
  const uint64_t code = ((tsr_f64_bits(value) + half) >> 52) - (1023 - 127);
  return code > 0xfe ? 0xff : code;
}

static uint64_t encode(tsr_float format, double value, bool negative) {
  const double signed_value = negative ? -value : value;
  if (format == TSR_FLOAT_F32) return tsr_f32_bits((float)signed_value);
  if (format == TSR_FLOAT_F8E8M0FNU) return encode_e8m0(value);
  return tsr_float_encode_f64(*formats[format], signed_value);
}

// number * 10^power as the nearest double, where both are doubles themselves. That is also the way
// to the nearest f32, unless the double lies between two of those.
static bool round_exactly(tsr_float format, uint64_t number, int64_t power, bool negative,
                          uint64_t *out_bits) {
  if (number >> 53) return false;
  const double factor = (double)powers_of_ten[power < 0 ? -power : power];
  const double value = power < 0 ? (double)number / factor : (double)number * factor;
  const uint64_t bits = tsr_f64_bits(value);
  if (format == TSR_FLOAT_F64) {
    *out_bits = bits | (uint64_t)negative << 63;
    return true;
  }
  if ((bits & 0x1fffffff) == 0x10000000 || value < 0x1p-126) return false;
  *out_bits = encode(format, value, negative);
  return true;
}

bool tsr_float_round_quickly(tsr_float format, uint64_t number, int64_t power, bool negative,
                             uint64_t *out_bits) {
  if (power < -19 || power > 19) return false;
  const bool wide_format = format == TSR_FLOAT_F64 || format == TSR_FLOAT_F32;
  if (wide_format && round_exactly(format, number, power, negative, out_bits)) return true;
  const uint64_t sign = (uint64_t)negative << 63;
  if (!number) {
    *out_bits = format == TSR_FLOAT_F64 ? sign : encode(format, 0.0, negative);
    return true;
  }
  const scaled s = scale(number, (int)power);
  *out_bits =
      format == TSR_FLOAT_F64 ? nearest_double(s) | sign : encode(format, odd_double(s), negative);
  return true;
}

uint64_t tsr_float_round(tsr_float format, const char *text, size_t length, bool negative) {
  decimal_text d;
  uint64_t bits = 0;
  scan(text, text + length, &d);
  const int64_t power = d.count ? d.exponent - d.count : 0;
  if (d.count <= FAST_DIGITS && tsr_float_round_quickly(format, d.leading, power, negative, &bits))
    return bits;
  const double value = library_double(&d);
  if (format == TSR_FLOAT_F64) return tsr_f64_bits(value) | (uint64_t)negative << 63;
  if (value == 0 || isinf(value)) return encode(format, value, negative);
  return encode(format, split_tie(formats[format], &d, value), negative);
}

double tsr_float_value(tsr_float format, uint64_t bits) {
  if (format == TSR_FLOAT_F64) return tsr_f64_of(bits);
  if (format == TSR_FLOAT_F32) return (double)tsr_f32_of((uint32_t)bits);
  if (format == TSR_FLOAT_BF16) return (double)tsr_bf16_decode((uint32_t)bits);
  if (format == TSR_FLOAT_TF32) return (double)tsr_f32_of((uint32_t)bits << 13);
  if (format == TSR_FLOAT_F8E8M0FNU) return (double)tsr_e8m0_decode((uint32_t)bits);
  return (double)tsr_float_decode(*formats[format], (uint32_t)bits);
}
