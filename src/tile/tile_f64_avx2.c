// The frequent functions of f64 in vectors of 4, without branches.
#if defined __x86_64__
#include "tile/tile_avx2_f64.h"

// 2^n (exp(rest) - 1) + (2^n - 1), all halved, so that 2^n does not overflow before the result.
AVX2_INLINE tsr_f64x4 exponential_minus_one(tsr_f64x4 any) {
  const tsr_reduced64 x = reduce64(clamp64(any, -60, 710));
  const tsr_f64x4 square = x.rest * x.rest;
  const tsr_f64x4 value = fma64(POLYNOMIAL64(exp64_terms, x.rest), square, x.rest);
  const tsr_f64x4 scale = power_of_two64(_mm256_sub_epi64(x.n, _mm256_set1_epi64x(1)));
  const tsr_f64x4 result = fma64(scale, value, scale - all64(0.5)) * all64(2);
  return select64(COMPARE64(size64(any), LT, all64(0x1p-54)), any, result);
}

// Of the negative number, so that nothing overflows.
AVX2_INLINE tsr_f64x4 logistic(tsr_f64x4 x) {
  const tsr_f64x4 e = exp64(_mm256_or_pd(x, all64(-0.0)));
  const tsr_f64x4 above = select64(x, e, all64(1)), below = e + all64(1);
  const tsr_f64x4 lost = e - (below - all64(1)), quotient = above / below;
  const tsr_f64x4 left = fma64(-quotient, lost, fma64(-quotient, below, above));
  return fma64(left, select64(x, all64(1) - quotient, quotient), quotient);
}

// e / (e + 2) for small numbers, where e = exp(2 x) - 1; 1 - 2 / (e + 2) for others.
AVX2_INLINE tsr_f64x4 hyperbolic_tangent(tsr_f64x4 x) {
  const tsr_f64x4 size = size64(x), is_small = COMPARE64(size, LT, all64(0.55));
  const tsr_f64x4 e = exponential_minus_one(_mm256_min_pd(all64(50), size + size));
  const tsr_f64x4 below = e + all64(2), above = select64(is_small, e, all64(-2));
  const tsr_f64x4 quotient = above / below;
  const tsr_f64x4 lost = e - (below - all64(2));
  const tsr_f64x4 left = fma64(-quotient, lost, fma64(-quotient, below, above)) / below;
  const tsr_f64x4 whole = _mm256_andnot_pd(is_small, all64(1));
  return with_sign64(whole + (quotient + left), x);
}

AVX2_INLINE tsr_f64x4 log_plus_one(tsr_f64x4 x) {
  const tsr_f64x4 sum = x + all64(1), from_x = sum - all64(1);
  const tsr_f64x4 lost = (x - from_x) + (all64(1) - (sum - from_x));
  const tsr_f64x4 log = log64_of_split(split64(sum), lost / sum);
  const tsr_f64x4 is_tiny = COMPARE64(size64(x), LT, all64(0x1p-54));
  return select64(is_tiny, x, log64_with_limits(sum, log));
}

// The quotient and a step of Newton, in which x y^2 is taken with all its digits.
AVX2_INLINE tsr_f64x4 reciprocal_root(tsr_f64x4 x) {
  const tsr_f64x4 y = all64(1) / _mm256_sqrt_pd(x);
  const tsr_f64x4 product = x * y, lost = fma64(x, y, -product);
  const tsr_f64x4 error = fma64(-lost, y, fma64(-product, y, all64(1)));
  const tsr_f64x4 result = fma64(error * all64(0.5), y, y);
  return select64(COMPARE64(size64(y) * x, LT, all64(INFINITY)), result, y);
}

F64_LOOP(exponential, exp64)
F64_LOOP(exponential_minus_one, exponential_minus_one)
F64_LOOP(log, log64)
F64_LOOP(log_plus_one, log_plus_one)
F64_LOOP(logistic, logistic)
F64_LOOP(rsqrt, reciprocal_root)
F64_LOOP(tanh, hyperbolic_tangent)
#else
typedef int tsr_tile_no_f64_avx2;  // a file must declare something
#endif
