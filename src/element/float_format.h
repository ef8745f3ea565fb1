// Floats narrower than 32 bits: decoding to f32, and rounding f32 and f64 to them.
//
// Every function is inline and takes its format as a constant, so a loop over it is straight-line
// code that compilers vectorise. Two tricks make this possible. A code's fields are shifted to
// their places in f32 and the exponent is rebased by one addition. Subnormals come from adding and
// subtracting a power of two whose last place is the format's smallest number, which also rounds to
// nearest even; so the rounding mode must be the default.
//
// Overflow, NaNs and zeros are those of ml_dtypes (and of the processor for f16). Values are
// rounded once, also from f64.
#ifndef TESSERA_ELEMENT_FLOAT_FORMAT_H
#define TESSERA_ELEMENT_FLOAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum tsr_float_style {
  TSR_STYLE_IEEE,    // has infinities; overflow becomes one
  TSR_STYLE_FN,      // no infinities: NaN (all ones) instead
  TSR_STYLE_FNUZ,    // nor a negative zero, whose code is the only NaN
  TSR_STYLE_FINITE,  // no NaN either: overflow becomes the largest number, NaN a zero
} tsr_float_style;

typedef struct tsr_float_format {
  int bits, mantissa, bias;
  uint32_t largest;   // code of the largest finite number
  uint32_t overflow;  // code of larger numbers: infinity, NaN or the largest
  uint32_t nan;
  tsr_float_style style;
} tsr_float_format;

// X(id, bits, mantissa bits, bias, largest, overflow, nan, style); f8e8m0fnu is separate, below.
#define TSR_FLOAT_FORMATS(X)                         \
  X(F16, 16, 10, 15, 0x7bff, 0x7c00, 0x7e00, IEEE)   \
  X(BF16, 16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, IEEE)  \
  X(F8E3M4, 8, 4, 3, 0x6f, 0x70, 0x78, IEEE)         \
  X(F8E4M3, 8, 3, 7, 0x77, 0x78, 0x7c, IEEE)         \
  X(F8E4M3FN, 8, 3, 7, 0x7e, 0x7f, 0x7f, FN)         \
  X(F8E4M3FNUZ, 8, 3, 8, 0x7f, 0x80, 0x80, FNUZ)     \
  X(F8E4M3B11FNUZ, 8, 3, 11, 0x7f, 0x80, 0x80, FNUZ) \
  X(F8E5M2, 8, 2, 15, 0x7b, 0x7c, 0x7e, IEEE)        \
  X(F8E5M2FNUZ, 8, 2, 16, 0x7f, 0x80, 0x80, FNUZ)    \
  X(F6E2M3FN, 6, 3, 1, 0x1f, 0x1f, 0x20, FINITE)     \
  X(F6E3M2FN, 6, 2, 3, 0x1f, 0x1f, 0x20, FINITE)     \
  X(F4E2M1FN, 4, 1, 1, 0x7, 0x7, 0x8, FINITE)
// clang-format on

#define X(id, bits_, mantissa_, bias_, largest_, overflow_, nan_, style_)   \
  static const tsr_float_format tsr_format_##id __attribute__((unused)) = { \
      bits_, mantissa_, bias_, largest_, overflow_, nan_, TSR_STYLE_##style_};
TSR_FLOAT_FORMATS(X)
#undef X

#define TSR_INLINE static inline __attribute__((always_inline))

TSR_INLINE uint32_t tsr_f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

TSR_INLINE float tsr_f32_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TSR_INLINE uint64_t tsr_f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

TSR_INLINE double tsr_f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// ---- to f32, always exact ----

TSR_INLINE float tsr_float_decode(tsr_float_format f, uint32_t code) {
  const uint32_t sign_bit = 1u << (f.bits - 1), magnitude = code & (sign_bit - 1);
  const uint32_t sign = (code & sign_bit) << (32 - f.bits);
  const uint32_t field = magnitude << (23 - f.mantissa);
  // The smallest normal number; a subnormal is the fraction added to it.
  const uint32_t smallest = (uint32_t)(128 - f.bias) << 23;
  const float subnormal = tsr_f32_of(field + smallest) - tsr_f32_of(smallest);
  uint32_t bits =
      magnitude >> f.mantissa ? field + ((uint32_t)(127 - f.bias) << 23) : tsr_f32_bits(subnormal);
  if (f.style == TSR_STYLE_IEEE && magnitude >= f.overflow)
    bits = magnitude == f.overflow ? 0x7f800000 : 0x7fc00000;
  if (f.style == TSR_STYLE_FN && magnitude == f.nan) bits = 0x7fc00000;
  if (f.style == TSR_STYLE_FNUZ && code == f.nan) bits = 0x7fc00000;
  return tsr_f32_of(bits | sign);
}

// A NaN keeps the leading bits of its payload and becomes quiet, as on the processor.
TSR_INLINE float tsr_f16_decode(uint32_t code) {
  const uint32_t payload = (code & 0x7fff) > 0x7c00 ? (code & 0x3ff) << 13 : 0;
  return tsr_f32_of(tsr_f32_bits(tsr_float_decode(tsr_format_F16, code)) | payload);
}

TSR_INLINE float tsr_bf16_decode(uint32_t code) { return tsr_f32_of(code << 16); }

// Powers of two from 2^-127 on, nothing else.
TSR_INLINE float tsr_e8m0_decode(uint32_t code) {
  const uint32_t bits = code ? code << 23 : 0x00400000;
  return tsr_f32_of(code == 0xff ? 0x7fc00000 : bits);
}

// ---- from f32 and f64 ----

// Adds sign, overflow and NaN to a rounded magnitude.
TSR_INLINE uint32_t tsr_float_finish(tsr_float_format f, uint32_t rounded, bool negative,
                                     bool nan) {
  const uint32_t sign = (uint32_t)negative << (f.bits - 1);
  uint32_t code = rounded > f.largest ? f.overflow : rounded;
  code = nan ? f.nan : code;
  // A NaN becomes a zero of the opposite sign, as in ml_dtypes.
  if (f.style == TSR_STYLE_FINITE) return code ^ sign;
  if (f.style == TSR_STYLE_FNUZ) return code ? code | sign : 0;
  return code | sign;
}

TSR_INLINE uint32_t tsr_float_encode(tsr_float_format f, float value) {
  const uint32_t bits = tsr_f32_bits(value), magnitude = bits & 0x7fffffff;
  const int drop = 23 - f.mantissa;
  const uint32_t odd = magnitude >> drop & 1;
  const uint32_t rebased = magnitude + ((uint32_t)(f.bias - 127) << 23);
  uint32_t rounded = (rebased + (1u << (drop - 1)) - 1 + odd) >> drop;
  // Formats with the exponents of f32 have its subnormals too, without rebasing.
  if (f.bias != 127) {
    const uint32_t step = (uint32_t)(128 - f.bias + drop) << 23;
    const uint32_t small = tsr_f32_bits(tsr_f32_of(magnitude) + tsr_f32_of(step)) - step;
    if (magnitude < (uint32_t)(128 - f.bias) << 23) rounded = small;
  }
  return tsr_float_finish(f, rounded, bits >> 31, magnitude > 0x7f800000);
}

TSR_INLINE uint32_t tsr_float_encode_f64(tsr_float_format f, double value) {
  const uint64_t bits = tsr_f64_bits(value), magnitude = bits & (UINT64_MAX >> 1);
  const int drop = 52 - f.mantissa;
  const uint64_t odd = magnitude >> drop & 1;
  const uint64_t rebased = magnitude - ((uint64_t)(1023 - f.bias) << 52);
  const uint64_t normal = (rebased + (UINT64_C(1) << (drop - 1)) - 1 + odd) >> drop;
  const uint64_t step = (uint64_t)(1024 - f.bias + drop) << 52;
  const uint64_t small = tsr_f64_bits(tsr_f64_of(magnitude) + tsr_f64_of(step)) - step;
  const uint64_t rounded = magnitude < (uint64_t)(1024 - f.bias) << 52 ? small : normal;
  const uint32_t bounded = rounded > f.largest ? f.largest + 1 : (uint32_t)rounded;
  return tsr_float_finish(f, bounded, bits >> 63, magnitude > UINT64_C(0x7ff) << 52);
}

TSR_INLINE uint32_t tsr_f16_encode(float value) {
  const uint32_t bits = tsr_f32_bits(value);
  const uint32_t payload = (bits & 0x7fffffff) > 0x7f800000 ? bits >> 13 & 0x1ff : 0;
  return tsr_float_encode(tsr_format_F16, value) | payload;
}

TSR_INLINE uint32_t tsr_f16_encode_f64(double value) {
  const uint64_t bits = tsr_f64_bits(value);
  const bool nan = (bits & (UINT64_MAX >> 1)) > UINT64_C(0x7ff) << 52;
  return tsr_float_encode_f64(tsr_format_F16, value) | (nan ? (uint32_t)(bits >> 42) & 0x1ff : 0);
}

// To the nearest power of two, halves upwards; but numbers above the smallest, 2^-127, up to the
// next half become 2^-126, as in ml_dtypes. Zero, negative and too large numbers become NaN.
TSR_INLINE uint32_t tsr_e8m0_encode(float value) {
  const uint32_t bits = tsr_f32_bits(value);
  const uint32_t code = bits <= 0x00400000 ? 0 : (bits + 0x00400000) >> 23;
  return bits == 0 || bits >= 0x7f400000 ? 0xff : code;
}

TSR_INLINE uint32_t tsr_e8m0_encode_f64(double value) {
  const uint64_t bits = tsr_f64_bits(value), smallest = (uint64_t)(1023 - 127) << 52;
  const uint64_t half = UINT64_C(1) << 51;
  const uint64_t next = bits < smallest + (UINT64_C(1) << 52) ? 1 : (bits - smallest + half) >> 52;
  const bool nan = bits == 0 || bits >= ((uint64_t)(1023 + 127) << 52) + half;
  return nan ? 0xff : bits <= smallest ? 0 : (uint32_t)next;
}

#endif
