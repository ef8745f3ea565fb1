// Functions of f32 that are computed in f64, in two vectors of 4: the spare digits let plain
// formulas give results that are nearly always correctly rounded.
#if defined __x86_64__
#include "tile/tile_avx2_f64.h"

AVX2_INLINE tsr_f64x4 sine(tsr_f64x4 any) {
  const tsr_turned x = turn(any);
  return sine_after(x, x.n);
}

AVX2_INLINE tsr_f64x4 cosine(tsr_f64x4 any) {
  const tsr_turned x = turn(any);
  return sine_after(x, _mm256_add_epi64(x.n, _mm256_set1_epi64x(1)));
}

AVX2_INLINE tsr_f64x4 tangent(tsr_f64x4 any) {
  const tsr_turned x = turn(any);
  const tsr_f64x4 is_odd = _mm256_castsi256_pd(_mm256_slli_epi64(x.n, 63));
  const tsr_f64x4 quotient =
      select64(is_odd, x.cosine, x.sine) / select64(is_odd, x.sine, x.cosine);
  return _mm256_xor_pd(quotient, sign_bit64(is_odd));
}

// Numbers of so many turns that n does not fit go through the C library, lane by lane.
AVX2 __attribute__((noinline)) static tsr_f32x8 lane_by_lane(tsr_f32x8 x, tsr_f32x8 result,
                                                             int lanes, double function(double)) {
  float in[8], out[8];
  _mm256_storeu_ps(in, x);
  _mm256_storeu_ps(out, result);
  for (int i = 0; i < 8; i++)
    if (lanes >> i & 1) out[i] = (float)function((double)in[i]);
  return _mm256_loadu_ps(out);
}

#define TURNS_LOOP(name, function, scalar)                                               \
  AVX2_INLINE tsr_f32x8 name##_of_halves(tsr_f32x8 x) {                                  \
    const tsr_f32x8 result = halves(function(low_half(x)), function(high_half(x)));      \
    const int large = _mm256_movemask_ps(COMPARE32(size32(x), GT, all32(0x1p+30f)));     \
    return __builtin_expect(large, 0) ? lane_by_lane(x, result, large, scalar) : result; \
  }                                                                                      \
  F32_LOOP(name, name##_of_halves)

// The angle of a slope between 0 and 1.
AVX2_INLINE tsr_f64x4 small_angle(tsr_f64x4 slope) {
  static const double terms[] = {
      -0x1.5555516060828p-2, 0x1.9997fd24050bap-3, -0x1.247503d35b0e7p-3, 0x1.c50715d783d2ep-4,
      -0x1.693850e2f6e0ap-4, 0x1.14df1c52859a2p-4, -0x1.7032e4756666ap-5, 0x1.74e666dfe8909p-6,
      -0x1.e670279b28049p-8, 0x1.297db40e4cb74p-10};
  const tsr_f64x4 square = slope * slope;
  return fma64(POLYNOMIAL64(terms, square), square, all64(1)) * slope;
}

AVX2_INLINE tsr_f64x4 arc_tangent(tsr_f64x4 x) {
  const tsr_f64x4 size = size64(x), one = all64(1);
  const tsr_f64x4 angle = small_angle(_mm256_min_pd(one, size) / _mm256_max_pd(one, size));
  const tsr_f64x4 is_steep = COMPARE64(size, GT, one);
  return with_sign64(select64(is_steep, all64(PI_HALF) - angle, angle), x);
}

// The bounds are beyond f32: they make infinities large numbers, and the slope of 0 and 0 a zero.
AVX2_INLINE tsr_f64x4 arc_tangent2(tsr_f64x4 y, tsr_f64x4 x) {
  const tsr_f64x4 high = clamp64(size64(y), 0, 1e300), wide = clamp64(size64(x), 0, 1e300);
  const tsr_f64x4 largest = _mm256_max_pd(_mm256_max_pd(high, wide), all64(1e-300));
  tsr_f64x4 angle = small_angle(_mm256_min_pd(high, wide) / largest);
  angle = select64(COMPARE64(high, GT, wide), all64(PI_HALF) - angle, angle);
  angle = with_sign64(select64(x, all64(2 * PI_HALF) - angle, angle), y);
  return _mm256_or_pd(angle, _mm256_cmp_pd(x, y, _CMP_UNORD_Q));
}

// Up to 1/2, asin(size) = root + root square (...), above it pi/2 - 2 asin(root of (1 - size) / 2).
AVX2_INLINE tsr_f64x4 small_arc_sine(tsr_f64x4 size, tsr_f64x4 is_large) {
  static const double terms[] = {0x1.55555609bbc46p-3, 0x1.3332a79d7ba03p-4, 0x1.6ddb3dfb22205p-5,
                                 0x1.ed51392d98f15p-6, 0x1.9367ffdcba1f3p-6, 0x1.e8bf03d2105abp-8,
                                 0x1.1c5232b011e74p-5};
  const tsr_f64x4 square = select64(is_large, fma64(size, all64(-0.5), all64(0.5)), size * size);
  const tsr_f64x4 root = select64(is_large, _mm256_sqrt_pd(square), size);
  return fma64(POLYNOMIAL64(terms, square), square, all64(1)) * root;
}

AVX2_INLINE tsr_f64x4 arc_sine(tsr_f64x4 x) {
  const tsr_f64x4 size = size64(x), is_large = COMPARE64(size, GT, all64(0.5));
  const tsr_f64x4 angle = small_arc_sine(size, is_large);
  return with_sign64(select64(is_large, fma64(angle, all64(-2), all64(PI_HALF)), angle), x);
}

AVX2_INLINE tsr_f64x4 arc_cosine(tsr_f64x4 x) {
  const tsr_f64x4 size = size64(x), is_large = COMPARE64(size, GT, all64(0.5));
  const tsr_f64x4 angle = small_arc_sine(size, is_large), twice = angle + angle;
  const tsr_f64x4 large = select64(x, all64(2 * PI_HALF) - twice, twice);
  return select64(is_large, large, all64(PI_HALF) - _mm256_or_pd(angle, sign_bit64(x)));
}

AVX2_INLINE tsr_f64x4 natural_log(tsr_f64x4 x) { return log2_short(x) * all64(LN2_HIGH64); }

// x + x^3 (...), where the formulas below would cancel: up to 1/64.
AVX2_INLINE tsr_f64x4 or_series(tsr_f64x4 x, double cubic, double fifth, tsr_f64x4 result) {
  const tsr_f64x4 square = x * x, terms = fma64(square, all64(fifth), all64(cubic));
  const tsr_f64x4 series = fma64(terms, square, all64(1)) * x;
  return select64(COMPARE64(size64(x), LT, all64(0x1p-6)), series, result);
}

// exp(x) / 2 by way of x + log(1/2) in f32, as XLA and the test data of StableHLO have it: the
// error of this sum shows in large results.
AVX2_INLINE tsr_f64x4 half_exponential(tsr_f64x4 x) {
  const tsr_f64x4 sum = _mm256_cvtps_pd(_mm256_cvtpd_ps(x + all64(LOG_HALF32)));
  return exp2_short(sum * all64(LOG2_E64));
}

AVX2_INLINE tsr_f64x4 hyperbolic_sine(tsr_f64x4 x) {
  const tsr_f64x4 e = exp2_short(x * all64(LOG2_E64));
  const tsr_f64x4 small = or_series(x, 1.0 / 6, 1.0 / 120, (e - all64(1) / e) * all64(0.5));
  const tsr_f64x4 large = half_exponential(x) - half_exponential(-x);
  return select64(COMPARE64(size64(x), LT, all64(1)), small, large);
}

AVX2_INLINE tsr_f64x4 hyperbolic_cosine(tsr_f64x4 x) {
  return half_exponential(x) + half_exponential(-x);
}

AVX2_INLINE tsr_f64x4 inverse_sinh(tsr_f64x4 x) {
  const tsr_f64x4 size = size64(x), root = _mm256_sqrt_pd(fma64(x, x, all64(1)));
  const tsr_f64x4 result = with_sign64(natural_log(size + root), x);
  return or_series(x, -1.0 / 6, 3.0 / 40, result);
}

AVX2_INLINE tsr_f64x4 inverse_cosh(tsr_f64x4 x) {
  const tsr_f64x4 log = natural_log(x + _mm256_sqrt_pd(fma64(x, x, all64(-1))));
  return _mm256_or_pd(log, COMPARE64(x, LT, all64(1)));
}

AVX2_INLINE tsr_f64x4 inverse_tanh(tsr_f64x4 x) {
  const tsr_f64x4 log = log2_short((all64(1) + x) / (all64(1) - x));
  return or_series(x, 1.0 / 3, 1.0 / 5, log * all64(LN2_HIGH64 / 2));
}

AVX2_INLINE tsr_f64x4 cube_root(tsr_f64x4 x) {
  return with_sign64(exp2_short(log2_short(size64(x)) * all64(1.0 / 3)), x);
}

// exp(x^2) erfc(x) is a smooth function of (x - 3) / (x + 3); the square is exact.
AVX2_INLINE tsr_f64x4 error_function_complement(tsr_f64x4 x) {
  static const double terms[] = {
      0x1.6e9827d01c250p-3,   -0x1.4e102bb370f55p-2, 0x1.f6ff21aadd921p-3,  -0x1.336ff4a88ad5bp-3,
      0x1.258ad010153a9p-4,   -0x1.8fa890d126063p-6, 0x1.17e8db7fbbedcp-8,  0x1.757118a695e2ap-11,
      -0x1.3bed14329e781p-11, 0x1.04604aa5b948bp-15, 0x1.17ae211370029p-14, 0x1.5403afec38a6cp-18};
  const tsr_f64x4 size = _mm256_min_pd(all64(10.1), size64(x)), three = all64(3);
  const tsr_f64x4 scaled = POLYNOMIAL64(terms, (size - three) / (size + three));
  const tsr_f64x4 value = scaled * exp2_of_bounded(size * size * all64(-LOG2_E64));
  return select64(x, all64(2) - value, value);
}

// erf_inv(x) / x is smooth in w = -log(1 - x^2), and from w = 5 on in the root of w.
AVX2_INLINE tsr_f64x4 inverse_near_1(tsr_f64x4 x, tsr_f64x4 w) {
  static const double terms[] = {
      0x1.6a9efbdcf27fep+1,   0x1.006dc9fd84d75p+0,  0x1.3580d48344964p-7,  -0x1.f4e40879afc75p-8,
      0x1.74c21310207ffp-8,   -0x1.d363160f59bcap-9, 0x1.8283df701cbd8p-10, -0x1.00ee0c3199f2ap-13,
      -0x1.2161a65b6e88cp-12, 0x1.54483e66c46d8p-13, -0x1.01b4b1cf54615p-15};
  const tsr_f64x4 value = x * POLYNOMIAL64(terms, _mm256_sqrt_pd(w) - all64(3));
  return select64(COMPARE64(w, EQ, all64(INFINITY)), w * x, value);
}

// Few numbers are as near to 1 as the second form needs, mostly none of 4.
AVX2_INLINE tsr_f64x4 error_function_inverse(tsr_f64x4 x) {
  static const double terms[] = {
      0x1.805c5cff7f710p+0,  0x1.f91e89970238ep-3,   -0x1.11c3e1418f669p-8,  -0x1.4863d3d6f552ep-10,
      0x1.c9bb71b2aaaacp-13, -0x1.4f41ef98621b2p-18, -0x1.cbd76c75d98dbp-19, 0x1.00f0706b32ee2p-21,
      0x1.1af707427e9bfp-26, -0x1.74a065d139722p-27, 0x1.df928e4daf84dp-32,  0x1.0d4cf1dbbeacep-33};
  const tsr_f64x4 w = -natural_log(fma64(-x, x, all64(1)));
  const tsr_f64x4 value = x * POLYNOMIAL64(terms, w - all64(2.5));
  const tsr_f64x4 is_near_1 = COMPARE64(w, GE, all64(5));
  if (!_mm256_movemask_pd(is_near_1)) return value;
  return select64(is_near_1, inverse_near_1(x, w), value);
}

AVX2_INLINE tsr_f64x4 power_of_size(tsr_f64x4 size, tsr_f64x4 y) {
  const tsr_f64x4 is_one = COMPARE64(size, EQ, all64(1));  // 1 to an infinite power is 1
  return exp2_short(_mm256_andnot_pd(is_one, y * log2_short(size)));
}

AVX2_INLINE tsr_f32x8 is_whole(tsr_f32x8 x) { return COMPARE32(x, EQ, _mm256_floor_ps(x)); }

// 2^(y log2(x)), the sign of x for odd y, and what C says about 0, 1 and infinities.
AVX2_INLINE tsr_f32x8 power(tsr_f32x8 x, tsr_f32x8 y) {
  const tsr_f32x8 size = size32(x), whole = is_whole(y);
  const tsr_f32x8 is_odd = _mm256_andnot_ps(is_whole(y * all32(0.5f)), whole);
  tsr_f32x8 value = halves(power_of_size(low_half(size), low_half(y)),
                           power_of_size(high_half(size), high_half(y)));
  value = _mm256_or_ps(value, _mm256_and_ps(sign_bit32(x), is_odd));
  const tsr_f32x8 is_finite = COMPARE32(size, LT, all32(INFINITY));
  const tsr_f32x8 has_no_root = _mm256_and_ps(COMPARE32(x, LT, all32(0)), is_finite);
  value = _mm256_or_ps(value, _mm256_andnot_ps(whole, has_no_root));  // all bits set are a NaN
  const tsr_f32x8 is_one = _mm256_or_ps(COMPARE32(x, EQ, all32(1)), COMPARE32(y, EQ, all32(0)));
  return select32(is_one, all32(1), value);
}

TURNS_LOOP(sine, sine, sin)
TURNS_LOOP(cosine, cosine, cos)
TURNS_LOOP(tan, tangent, tan)
HALVES_LOOP(acos, arc_cosine)
HALVES_LOOP(acosh, inverse_cosh)
HALVES_LOOP(asin, arc_sine)
HALVES_LOOP(asinh, inverse_sinh)
HALVES_LOOP(atan, arc_tangent)
HALVES_LOOP(atanh, inverse_tanh)
HALVES_LOOP(cbrt, cube_root)
HALVES_LOOP(cosh, hyperbolic_cosine)
HALVES_LOOP(erf_inv, error_function_inverse)
HALVES_LOOP(erfc, error_function_complement)
HALVES_LOOP(sinh, hyperbolic_sine)
HALVES_LOOP2(atan2, arc_tangent2)
F32_LOOP2(power, power)
#else
typedef int tsr_tile_no_trig_avx2;  // a file must declare something
#endif
