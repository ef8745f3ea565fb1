// Functions of f32 and f64 for every processor: those of the C library in f64. A result in f32 is
// computed in f64 and rounded once.
#include <math.h>
#include <string.h>

#include "tile/tile_math.h"

// Elements are copied, since they may lie at any address.
#define ELEMENT(type, name, operand)                                           \
  type name##_element;                                                         \
  memcpy(&name##_element, (const char *)(operand) + (size_t)i * width, width); \
  const double name = (double)name##_element;
#define REAL_LOOP_OF(type, name, load, expression)                        \
  void tsr_tile_##name(void *out, const void *const *in, int64_t count) { \
    const size_t width = sizeof(type);                                    \
    for (int64_t i = 0; i < count; i++) {                                 \
      load;                                                               \
      const type result = (type)(expression);                             \
      memcpy((char *)out + (size_t)i * width, &result, sizeof result);    \
    }                                                                     \
  }
#define REAL_LOOP(type, name, expression) \
  REAL_LOOP_OF(type, name, ELEMENT(type, x, in[0]), expression)
#define REAL_LOOP2(type, name, expression) \
  REAL_LOOP_OF(type, name, ELEMENT(type, x, in[0]) ELEMENT(type, y, in[1]), expression)
#define REAL_RULE(name, expression)        \
  REAL_LOOP(float, f32_##name, expression) \
  REAL_LOOP(double, f64_##name, expression)
#define REAL_RULE2(name, expression)        \
  REAL_LOOP2(float, f32_##name, expression) \
  REAL_LOOP2(double, f64_##name, expression)

// The exponential is taken of the negative number, so that it does not overflow.
static double logistic(double x) {
  const double e = exp(-fabs(x));
  return (signbit(x) ? e : 1) / (1 + e);
}

// As XLA has it: see tile_trig_avx2.c.
static double half_exponential(double x) { return exp((double)(float)(x + LOG_HALF32)); }

static double cosh_of_f32(double x) { return half_exponential(x) + half_exponential(-x); }

static double sinh_of_f32(double x) {
  return fabs(x) < 1 ? sinh(x) : half_exponential(x) - half_exponential(-x);
}

REAL_LOOP(float, f32_cbrt, cbrt(x))
REAL_LOOP(double, f64_cbrt, cbrtl(x))  // cbrt is wrong by up to 4 units
REAL_RULE(cosine, cos(x))
REAL_RULE(exponential, exp(x))
REAL_RULE(exponential_minus_one, expm1(x))
REAL_RULE(log, log(x))
REAL_RULE(log_plus_one, log1p(x))
REAL_RULE(logistic, logistic(x))
REAL_RULE(rsqrt, 1 / sqrt(x))
REAL_RULE(sine, sin(x))
REAL_RULE(tan, tan(x))
REAL_RULE(tanh, tanh(x))
REAL_RULE(acos, acos(x))
REAL_RULE(acosh, acosh(x))
REAL_RULE(asin, asin(x))
REAL_RULE(asinh, asinh(x))
REAL_RULE(atan, atan(x))
REAL_RULE(atanh, atanh(x))
REAL_RULE(bessel_i1e, tsr_bessel_i1e(x))
REAL_LOOP(float, f32_cosh, cosh_of_f32(x))
REAL_LOOP(double, f64_cosh, cosh(x))
REAL_RULE(digamma, tsr_digamma(x))
REAL_RULE(erf, erf(x))
REAL_RULE(erf_inv, tsr_erf_inv(x))
REAL_LOOP(float, f32_erfc, erfc(x))
REAL_LOOP(double, f64_erfc, erfcl(x))  // erfc is wrong by up to 5
REAL_RULE(lgamma, tsr_lgamma(x))
REAL_LOOP(float, f32_sinh, sinh_of_f32(x))
REAL_LOOP(double, f64_sinh, sinh(x))
REAL_RULE2(atan2, atan2(x, y))
REAL_RULE2(power, pow(x, y))
REAL_RULE2(remainder, fmod(x, y))
REAL_RULE2(polygamma, tsr_polygamma(x, y))
REAL_RULE2(zeta, tsr_zeta(x, y))
REAL_LOOP2(float, f32_next_after, nextafterf((float)x, (float)y))
REAL_LOOP2(double, f64_next_after, nextafter(x, y))
