// Functions of 4 doubles: exponential and logarithm in full accuracy (about 1 unit in the last
// place); to the base 2, sine and cosine with at least 10 digits, for functions of f32.
#ifndef TESSERA_TILE_TILE_AVX2_F64_H
#define TESSERA_TILE_TILE_AVX2_F64_H

#include "tile/tile_avx2.h"

#define LN2_HIGH64 0x1.62e42fefa39efp-1  // ln 2 rounded, and the rest
#define LN2_LOW64 0x1.abc9e3b39803fp-56
#define LOG2_E64 0x1.71547652b82fep+0
#define PI_HALF 0x1.921fb54442d18p+0  // pi / 2 rounded, and the rest
#define PI_HALF_LOW 0x1.1a62633145c07p-54
#define ROUND_SHIFT64 0x1.8p+52  // added, it leaves the nearest whole number in the low bits

// x = n ln 2 + rest, where n is a whole number.
typedef struct tsr_reduced64 {
  tsr_f64x4 rest;
  tsr_i64x4 n;
} tsr_reduced64;

AVX2_INLINE tsr_reduced64 reduce64(tsr_f64x4 x) {
  const tsr_f64x4 shifted = fma64(x, all64(LOG2_E64), all64(ROUND_SHIFT64));
  const tsr_f64x4 n = shifted - all64(ROUND_SHIFT64);
  const tsr_f64x4 rest = fma64(n, all64(-LN2_HIGH64), x);
  return (tsr_reduced64){
      .rest = fma64(n, all64(-LN2_LOW64), rest),
      .n =
          _mm256_sub_epi64(_mm256_castpd_si256(shifted), _mm256_castpd_si256(all64(ROUND_SHIFT64))),
  };
}

// 2^n for -1022 <= n <= 1023
AVX2_INLINE tsr_f64x4 power_of_two64(tsr_i64x4 n) {
  return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_add_epi64(n, _mm256_set1_epi64x(1023)), 52));
}

// exp(rest) - 1 = rest + rest^2 * these.
static const double exp64_terms[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555555ap-5,  0x1.111111110f6adp-7,
    0x1.6c16c16c1447fp-10, 0x1.a01a01afe594cp-13, 0x1.a01a01b0af127p-16, 0x1.71ddf8527b390p-19,
    0x1.27e4c5a93cbd6p-22, 0x1.af5ec126a6e3dp-26, 0x1.1f955f655249fp-29};
AVX2_INLINE tsr_f64x4 exp64(tsr_f64x4 any) {
  const tsr_reduced64 x = reduce64(clamp64(any, -746, 710));
  const tsr_i64x4 half = _mm256_srai_epi32(x.n, 1);  // n is in the low half of its 64 bits
  const tsr_f64x4 scale = power_of_two64(half);
  const tsr_f64x4 slope = fma64(POLYNOMIAL64(exp64_terms, x.rest), x.rest, all64(1));
  const tsr_f64x4 value = fma64(slope, x.rest * scale, scale);
  return value * power_of_two64(_mm256_sub_epi64(x.n, half));
}

// The logarithm of 2^n (1 + f); f is between sqrt(1/2) - 1 and sqrt(2) - 1.
typedef struct tsr_split64 {
  tsr_f64x4 f, n;
} tsr_split64;

// `x` is positive and not subnormal.
AVX2_INLINE tsr_split64 split64(tsr_f64x4 x) {
  const tsr_i64x4 bits = _mm256_castpd_si256(x), one = _mm256_castpd_si256(all64(1));
  const tsr_i64x4 root_half = _mm256_set1_epi64x(0x3fe6a09e667f3bcd);
  const tsr_i64x4 from_root = _mm256_add_epi64(_mm256_sub_epi64(bits, root_half), one);
  const tsr_i64x4 n = _mm256_srli_epi64(from_root, 52);  // and 1023
  const tsr_i64x4 scaled = _mm256_sub_epi64(_mm256_add_epi64(bits, one), _mm256_slli_epi64(n, 52));
  const tsr_i64x4 shifted = _mm256_or_si256(n, _mm256_castpd_si256(all64(0x1p+52)));
  return (tsr_split64){.f = _mm256_castsi256_pd(scaled) - all64(1),
                       .n = _mm256_castsi256_pd(shifted) - all64(0x1p+52 + 1023)};
}

// log(1 + f) = 2 atanh(s) = 2 s + s^3 * these in s^2, where s = f / (2 + f).
static const double log64_terms[] = {
    0x1.5555555555555p-1, 0x1.9999999999e0fp-2, 0x1.249249242a07ep-2, 0x1.c71c725a707bdp-3,
    0x1.745cddc11830ep-3, 0x1.3b20bf8ffa79cp-3, 0x1.0f5b03ec64614p-3, 0x1.0f733bfdc511bp-3};

// log(2^n (1 + f)) + more, where `more` is tiny. 2 s is written as f - s f, and that as
// f - (f^2 / 2 - s f^2 / 2), to keep the digits that s lost.
AVX2_INLINE tsr_f64x4 log64_of_split(tsr_split64 x, tsr_f64x4 more) {
  const tsr_f64x4 s = x.f / (x.f + all64(2)), square = s * s, half = x.f * x.f * all64(0.5);
  const tsr_f64x4 inner = fma64(POLYNOMIAL64(log64_terms, square), square, half);
  const tsr_f64x4 rest = fma64(s, inner, fma64(x.n, all64(LN2_LOW64), more));
  return fma64(x.n, all64(LN2_HIGH64), x.f - (half - rest));
}

// What the logarithm of numbers outside of its range is: of 0, of infinity, of negative ones.
AVX2_INLINE tsr_f64x4 log64_with_limits(tsr_f64x4 x, tsr_f64x4 log) {
  log = select64(COMPARE64(x, EQ, all64(0)), all64(-INFINITY), log);
  log = _mm256_or_pd(COMPARE64(x, LT, all64(0)), log);  // all bits set are a NaN
  return select64(COMPARE64(x, LT, all64(INFINITY)), log, x);
}

AVX2_INLINE tsr_f64x4 log64(tsr_f64x4 x) {
  const tsr_f64x4 is_subnormal = COMPARE64(x, LT, all64(0x1p-1022));
  tsr_split64 parts = split64(select64(is_subnormal, x * all64(0x1p+54), x));
  parts.n = parts.n - _mm256_and_pd(is_subnormal, all64(54));
  return log64_with_limits(x, log64_of_split(parts, all64(0)));
}

// 2^x to 10 digits for -1000 < x < 1000.
AVX2_INLINE tsr_f64x4 exp2_of_bounded(tsr_f64x4 x) {
  static const double terms[] = {0x1.62e42fef7b615p-1, 0x1.ebfbe07adaf0ep-3,  0x1.c6b08df504732p-5,
                                 0x1.3b29f0db2e951p-7, 0x1.5d8722ae9de47p-10, 0x1.445e8989d3b5dp-13,
                                 0x1.00f1db59f27fcp-16};
  const tsr_f64x4 shift = all64(ROUND_SHIFT64 + 1023);
  const tsr_f64x4 shifted = x + shift, rest = x - (shifted - shift);
  const tsr_i64x4 scale = _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52);
  const tsr_f64x4 value = fma64(POLYNOMIAL64(terms, rest), rest, all64(1));
  return value * _mm256_castsi256_pd(scale);
}

// The same for every x, with a result that is rounded to f32: beyond its range it stays beyond.
AVX2_INLINE tsr_f64x4 exp2_short(tsr_f64x4 x) { return exp2_of_bounded(clamp64(x, -500, 500)); }

// log2(x) to 10 digits, for an x of f32 or not far beyond; NaN for those below 0.
AVX2_INLINE tsr_f64x4 log2_short(tsr_f64x4 any) {
  static const double terms[] = {0x1.ec709d43ff759p-1, 0x1.27776856064f1p-1, 0x1.a595ce218cf99p-2,
                                 0x1.5c6d2753fe077p-2};
  const tsr_split64 x = split64(any);
  const tsr_f64x4 s = x.f / (x.f + all64(2)), square = s * s;
  const tsr_f64x4 slope = fma64(POLYNOMIAL64(terms, square), square, all64(0x1.71547652b82fep+1));
  return log64_with_limits(any, fma64(slope, s, x.n));
}

// Sine and cosine of the rest of x after n quarter turns.
typedef struct tsr_turned {
  tsr_f64x4 sine, cosine;
  tsr_i64x4 n;
} tsr_turned;

AVX2_INLINE tsr_turned turn(tsr_f64x4 x) {
  static const double sine_terms[] = {-0x1.5555555552383p-3, 0x1.1111110c9a1bfp-7,
                                      -0x1.a019f94ed777dp-13, 0x1.71d7769c13759p-19,
                                      -0x1.a964877de9e2bp-26};
  static const double cosine_terms[] = {-0x1.ffffffffebca6p-2, 0x1.55555546d7f65p-5,
                                        -0x1.6c16b3ec906cep-10, 0x1.a00f06cfef43dp-16,
                                        -0x1.23d6071c54c19p-22};
  const tsr_f64x4 shifted = fma64(x, all64(0x1.45f306dc9c883p-1), all64(ROUND_SHIFT64));
  const tsr_f64x4 n = shifted - all64(ROUND_SHIFT64);
  const tsr_f64x4 near = fma64(n, all64(-PI_HALF), x), rest = fma64(n, all64(-PI_HALF_LOW), near);
  const tsr_f64x4 square = rest * rest;
  return (tsr_turned){
      .sine = fma64(POLYNOMIAL64(sine_terms, square), square, all64(1)) * rest,
      .cosine = fma64(POLYNOMIAL64(cosine_terms, square), square, all64(1)),
      .n = _mm256_castpd_si256(shifted),
  };
}

// The sine after n quarter turns: odd ones exchange sine and cosine, each two change the sign.
AVX2_INLINE tsr_f64x4 sine_after(tsr_turned x, tsr_i64x4 n) {
  const tsr_f64x4 is_odd = _mm256_castsi256_pd(_mm256_slli_epi64(n, 63));
  const tsr_f64x4 sign = sign_bit64(_mm256_castsi256_pd(_mm256_slli_epi64(n, 62)));
  return _mm256_xor_pd(select64(is_odd, x.cosine, x.sine), sign);
}

// A loop over vectors of 8 for a function of vectors of 4.
#define HALVES_LOOP(name, function)                               \
  AVX2_INLINE tsr_f32x8 name##_of_halves(tsr_f32x8 x) {           \
    return halves(function(low_half(x)), function(high_half(x))); \
  }                                                               \
  F32_LOOP(name, name##_of_halves)
#define HALVES_LOOP2(name, function)                                 \
  AVX2_INLINE tsr_f32x8 name##_of_halves(tsr_f32x8 x, tsr_f32x8 y) { \
    const tsr_f64x4 low = function(low_half(x), low_half(y));        \
    return halves(low, function(high_half(x), high_half(y)));        \
  }                                                                  \
  F32_LOOP2(name, name##_of_halves)

#endif
