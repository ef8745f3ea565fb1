// Exponentials and logarithms of f32 in vectors of 8, without branches: arguments are reduced to
// around 0 or 1, where a short polynomial of least largest error gives more digits than f32 has.
#if defined __x86_64__
#include "tile/tile_avx2.h"

#define LOG2_E 0x1.715476p+0f
#define LN2_HIGH 0x1.62e43p-1f  // ln 2 rounded, and the rest
#define LN2_LOW -0x1.05c61p-29f
// Added to a number, it leaves the nearest whole number n in the low bits, and there 127 + n +
// more: the exponent of 2^(n + more), which need only be shifted to its place.
#define SHIFT(more) (0x1.8p+23f + 127 + (more))

// x = n ln 2 + rest, where n is a whole number; scale = 2^(n + more).
typedef struct tsr_reduced32 {
  tsr_f32x8 rest, scale;
} tsr_reduced32;

AVX2_INLINE tsr_reduced32 reduce(tsr_f32x8 x, tsr_f32x8 shift) {
  const tsr_f32x8 shifted = fma32(x, all32(LOG2_E), shift), n = shifted - shift;
  const tsr_f32x8 rest = fma32(n, all32(-LN2_HIGH), x);
  return (tsr_reduced32){
      .rest = fma32(n, all32(-LN2_LOW), rest),
      .scale = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23)),
  };
}

// exp(rest) = 1 + slope * rest
AVX2_INLINE tsr_f32x8 slope_of(tsr_f32x8 rest) {
  static const float terms[] = {0.5f, 0.166665182f, 0.0416662097f, 0.00836895313f, 0.00139502459f};
  return fma32(POLYNOMIAL32(terms, rest), rest, all32(1));
}

// Scaled in two steps, since 2^n itself may be too large or too small for f32.
AVX2_INLINE tsr_f32x8 exponential(tsr_f32x8 any) {
  const tsr_f32x8 shift = select32(any, all32(SHIFT(32)), all32(SHIFT(-1)));
  const tsr_reduced32 x = reduce(clamp32(any, -104, 89), shift);
  const tsr_f32x8 value = fma32(slope_of(x.rest), x.rest * x.scale, x.scale);
  return value * select32(any, all32(0x1p-32f), all32(2));
}

// Of numbers that are not positive.
AVX2_INLINE tsr_f32x8 exponential_of_negative(tsr_f32x8 any) {
  const tsr_reduced32 x = reduce(_mm256_max_ps(all32(-104), any), all32(SHIFT(32)));
  return fma32(slope_of(x.rest), x.rest * x.scale, x.scale) * all32(0x1p-32f);
}

// 2^n (exp(rest) - 1) + (2^n - 1), all halved, so that 2^n does not overflow before the result.
AVX2_INLINE tsr_f32x8 exponential_minus_one(tsr_f32x8 any) {
  static const float terms[] = {0.5f,          0.166666672f,   0.041666355f,
                                0.0083332723f, 0.00139411027f, 0.000199143731f};
  const tsr_reduced32 x = reduce(clamp32(any, -30, 89), all32(SHIFT(-1)));
  const tsr_f32x8 square = x.rest * x.rest;
  const tsr_f32x8 value = fma32(POLYNOMIAL32(terms, x.rest), square, x.rest);
  const tsr_f32x8 result = fma32(x.scale, value, x.scale - all32(0.5f)) * all32(2);
  return select32(COMPARE32(size32(any), LT, all32(0x1p-25f)), any, result);
}

// Of the negative number, so that nothing overflows.
AVX2_INLINE tsr_f32x8 logistic(tsr_f32x8 x) {
  const tsr_f32x8 e = exponential_of_negative(_mm256_or_ps(x, all32(-0.0f)));
  const tsr_f32x8 above = select32(x, e, all32(1)), below = e + all32(1);
  const tsr_f32x8 lost = e - (below - all32(1)), quotient = above / below;
  const tsr_f32x8 left = fma32(-quotient, lost, fma32(-quotient, below, above));
  return fma32(left, select32(x, all32(1) - quotient, quotient), quotient);
}

// Around 0 an odd polynomial, elsewhere 1 - 2 / (exp(2 x) + 1).
AVX2_INLINE tsr_f32x8 hyperbolic_tangent(tsr_f32x8 any) {
  static const float terms[] = {-0.333332986f, 0.133319587f, -0.0537866876f, 0.0208053906f,
                                -0.00590587314f};
  const tsr_f32x8 size = size32(any), square = any * any;
  const tsr_f32x8 small = fma32(POLYNOMIAL32(terms, square) * square, size, size);
  const tsr_reduced32 x = reduce(_mm256_min_ps(all32(20), size + size), all32(SHIFT(0)));
  const tsr_f32x8 e_plus_one = fma32(slope_of(x.rest), x.rest * x.scale, x.scale + all32(1));
  const tsr_f32x8 large = all32(1) - all32(2) / e_plus_one;
  return with_sign32(select32(COMPARE32(size, LT, all32(0.6f)), small, large), any);
}

// The logarithm of 2^n (1 + f).
typedef struct tsr_split32 {
  tsr_f32x8 f, n;
} tsr_split32;

// f is between -1/3 and 1/3. `x` is positive and not subnormal.
AVX2_INLINE tsr_split32 split(tsr_f32x8 x) {
  const tsr_i32x8 bits = _mm256_castps_si256(x), two_thirds = _mm256_set1_epi32(0x3f2aaaab);
  const tsr_i32x8 n = _mm256_srai_epi32(_mm256_sub_epi32(bits, two_thirds), 23);
  const tsr_i32x8 scaled = _mm256_sub_epi32(bits, _mm256_slli_epi32(n, 23));
  return (tsr_split32){.f = _mm256_castsi256_ps(scaled) - all32(1), .n = _mm256_cvtepi32_ps(n)};
}

// log(2^n (1 + f)) + more, where `more` is tiny.
AVX2_INLINE tsr_f32x8 log_of_split(tsr_split32 x, tsr_f32x8 more) {
  static const float terms[] = {0.333332241f, -0.249996886f, 0.200100467f, -0.166854545f,
                                0.140108824f, -0.121153161f, 0.139626414f, -0.13190791f};
  const tsr_f32x8 square = x.f * x.f;
  const tsr_f32x8 cube = fma32(POLYNOMIAL32(terms, x.f), x.f, all32(-0.5f));
  const tsr_f32x8 rest = fma32(cube, square, fma32(x.n, all32(LN2_LOW), more));
  return fma32(x.n, all32(LN2_HIGH), x.f + rest);
}

// What the logarithm of numbers outside of its range is: of 0, of infinity, of negative ones.
AVX2_INLINE tsr_f32x8 with_limits(tsr_f32x8 x, tsr_f32x8 log) {
  log = select32(COMPARE32(x, EQ, all32(0)), all32(-INFINITY), log);
  log = _mm256_or_ps(COMPARE32(x, LT, all32(0)), log);  // all bits set are a NaN
  return select32(COMPARE32(x, LT, all32(INFINITY)), log, x);
}

AVX2_INLINE tsr_f32x8 logarithm(tsr_f32x8 x) {
  const tsr_f32x8 is_subnormal = COMPARE32(x, LT, all32(0x1p-126f));
  tsr_split32 parts = split(select32(is_subnormal, x * all32(0x1p+23f), x));
  parts.n = parts.n - _mm256_and_ps(is_subnormal, all32(23));
  return with_limits(x, log_of_split(parts, all32(0)));
}

// 1 + x loses digits of x; what they add to the logarithm of the rounded sum is about lost / sum.
AVX2_INLINE tsr_f32x8 log_plus_one(tsr_f32x8 x) {
  const tsr_f32x8 sum = x + all32(1), from_x = sum - all32(1);
  const tsr_f32x8 lost = (x - from_x) + (all32(1) - (sum - from_x));
  const tsr_f32x8 log = log_of_split(split(sum), lost / sum);
  return select32(COMPARE32(size32(x), LT, all32(0x1p-25f)), x, with_limits(sum, log));
}

// Near 0 a polynomial; elsewhere 1 - erfc, whose logarithm is close to a polynomial.
AVX2_INLINE tsr_f32x8 error_function(tsr_f32x8 any) {
  static const float near_terms[] = {0.128379166f,   -0.376126051f,  0.112831429f,
                                     -0.0268221125f, 0.00508744642f, -0.000654963602f};
  static const float far_terms[] = {-4.14106908e-05f, -1.1283412f,  -0.636013985f,
                                    -0.104998134f,    0.022760557f, -0.00318185822f,
                                    0.000210541009f};
  const tsr_f32x8 size = size32(any);
  const tsr_f32x8 near = fma32(POLYNOMIAL32(near_terms, size * size), size, size);
  const tsr_f32x8 log = POLYNOMIAL32(far_terms, _mm256_min_ps(all32(4), size));
  const tsr_reduced32 x = reduce(log, all32(SHIFT(0)));
  const tsr_f32x8 far = fma32(-slope_of(x.rest), x.rest * x.scale, all32(1) - x.scale);
  return with_sign32(select32(COMPARE32(size, LT, all32(0.79f)), near, far), any);
}

// The quotient and a step of Newton, in which x y^2 is taken with all its digits.
AVX2_INLINE tsr_f32x8 reciprocal_root(tsr_f32x8 x) {
  const tsr_f32x8 y = all32(1) / _mm256_sqrt_ps(x);
  const tsr_f32x8 product = x * y, lost = fma32(x, y, -product);
  const tsr_f32x8 error = fma32(-lost, y, fma32(-product, y, all32(1)));
  const tsr_f32x8 result = fma32(error * all32(0.5f), y, y);
  return select32(COMPARE32(size32(y) * x, LT, all32(INFINITY)), result, y);
}

F32_LOOP(erf, error_function)
F32_LOOP(exponential, exponential)
F32_LOOP(exponential_minus_one, exponential_minus_one)
F32_LOOP(log, logarithm)
F32_LOOP(log_plus_one, log_plus_one)
F32_LOOP(logistic, logistic)
F32_LOOP(rsqrt, reciprocal_root)
F32_LOOP(tanh, hyperbolic_tangent)
#else
typedef int tsr_tile_no_exp_avx2;  // a file must declare something
#endif
