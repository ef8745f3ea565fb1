// lgamma and digamma of f32, computed in f64: by the series of Stirling for large numbers, to which
// smaller ones are led by 8 steps of the recurrence, and negative ones by reflection.
#if defined __x86_64__
#include "tile/tile_avx2_f64.h"

enum { STEPS = 8 };

// size (size + 1) ... (size + 7), its derivative, and size + 8; without steps for large numbers.
typedef struct gamma_steps {
  tsr_f64x4 product, derivative, end;
} gamma_steps;

AVX2_INLINE gamma_steps take_steps(tsr_f64x4 size) {
  const tsr_f64x4 is_large = COMPARE64(size, GE, all64(STEPS));
  gamma_steps steps = {.product = size, .derivative = all64(1)};
  for (int i = 1; i < STEPS; i++) {
    const tsr_f64x4 factor = size + all64(i);
    steps.derivative = fma64(steps.derivative, factor, steps.product);
    steps.product = steps.product * factor;
  }
  steps.product = select64(is_large, all64(1), steps.product);
  steps.derivative = _mm256_andnot_pd(is_large, steps.derivative);
  steps.end = size + _mm256_andnot_pd(is_large, all64(STEPS));
  return steps;
}

// Sine and cosine of pi x; only the distance of x to a whole number counts, up to the signs.
AVX2_INLINE tsr_turned half_turns(tsr_f64x4 x) {
  const tsr_f64x4 whole = _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const tsr_f64x4 rest = x - whole;
  const tsr_turned turned = turn(rest * all64(2 * PI_HALF));
  return (tsr_turned){
      .sine = sine_after(turned, turned.n),
      .cosine = sine_after(turned, _mm256_add_epi64(turned.n, _mm256_set1_epi64x(1)))};
}

// gamma(x) gamma(-x) = -pi / (x sin(pi x)), so that one logarithm serves the steps and reflection.
AVX2_INLINE tsr_f64x4 log_of_gamma(tsr_f64x4 x) {
  static const double terms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  const tsr_f64x4 size = size64(x), is_negative = COMPARE64(x, LT, all64(0));
  const gamma_steps steps = take_steps(size);
  const tsr_f64x4 inverse = all64(1) / steps.end;
  const tsr_f64x4 series = POLYNOMIAL64(terms, inverse * inverse) * inverse;
  const tsr_f64x4 log = log64(steps.end), constant = all64(0x1.d67f1c864beb5p-1);  // ln(2 pi) / 2
  const tsr_f64x4 stirling = fma64(steps.end - all64(0.5), log, constant - steps.end) + series;
  const tsr_f64x4 below = size * size64(half_turns(size).sine);
  const tsr_f64x4 reflected = steps.product * all64(2 * PI_HALF) / below;
  const tsr_f64x4 value = stirling - log64(select64(is_negative, reflected, steps.product));
  const tsr_f64x4 is_root = _mm256_or_pd(COMPARE64(x, EQ, all64(1)), COMPARE64(x, EQ, all64(2)));
  const tsr_f64x4 result = _mm256_andnot_pd(is_root, _mm256_xor_pd(value, sign_bit64(is_negative)));
  return select64(COMPARE64(size, EQ, all64(INFINITY)), size, result);
}

// digamma(-x) = digamma(x) + 1 / x + pi cot(pi x); no number at the poles.
AVX2_INLINE tsr_f64x4 digamma(tsr_f64x4 x) {
  static const double terms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const tsr_f64x4 size = size64(x), is_negative = COMPARE64(x, LT, all64(0));
  const gamma_steps steps = take_steps(size);
  const tsr_f64x4 inverse = all64(1) / steps.end, square = inverse * inverse;
  const tsr_f64x4 series = fma64(POLYNOMIAL64(terms, square), square, inverse * all64(0.5));
  const tsr_f64x4 value = log64(steps.end) - series - steps.derivative / steps.product;
  const tsr_turned turned = half_turns(size);
  const tsr_f64x4 cotangent = turned.cosine / turned.sine;
  const tsr_f64x4 reflection = fma64(cotangent, all64(2 * PI_HALF), all64(1) / size);
  const tsr_f64x4 result = value + _mm256_and_pd(is_negative, reflection);
  const tsr_f64x4 is_pole =
      _mm256_and_pd(COMPARE64(turned.sine, EQ, all64(0)), COMPARE64(x, LE, all64(0)));
  return _mm256_or_pd(result, is_pole);  // all bits set are a NaN
}

HALVES_LOOP(digamma, digamma)
HALVES_LOOP(lgamma, log_of_gamma)
#else
typedef int tsr_tile_no_gamma_avx2;  // a file must declare something
#endif
