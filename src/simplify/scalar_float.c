// Elementwise ops on floats, computed in f64; the result is rounded where it is stored.
#include <math.h>

#include "simplify/scalar.h"

#define FLOAT_OP(name) \
  bool tsr_scalar_##name(const tsr_scalar_type *type, const tsr_scalar *in, tsr_scalar *out)
// Functions of one line: `x` and `y` are the operands.
#define FLOAT_RULE(name, expression)       \
  FLOAT_OP(name) {                         \
    const double x = in[0].f, y = in[1].f; \
    (void)type, (void)y;                   \
    out->f = (expression);                 \
    return true;                           \
  }
#define FLOAT_TEST(name, expression) \
  FLOAT_OP(name) {                   \
    const double x = in[0].f;        \
    (void)type;                      \
    out->i = (expression);           \
    return true;                     \
  }

// The larger of two: NaN wins, and 0 is above -0.
static double larger(double x, double y) {
  if (isnan(x) || isnan(y)) return isnan(x) ? x : y;
  if (x == y) return signbit(x) ? y : x;
  return x > y ? x : y;
}

static double smaller(double x, double y) { return -larger(-x, -y); }

static double sign_of(double x) {
  if (isnan(x) || x == 0) return x;
  return x > 0 ? 1 : -1;
}

// exp(x) / 2 by way of x + log(1/2) in f32, as programs that run have it for floats but f64.
static double half_exponential(double x) { return exp((double)(float)(x - 0x1.62e43p-1)); }

static double cosh_of(const tsr_scalar_type *type, double x) {
  return type->dtype == TSR_F64 ? cosh(x) : half_exponential(x) + half_exponential(-x);
}

static double sinh_of(const tsr_scalar_type *type, double x) {
  if (type->dtype == TSR_F64 || fabs(x) < 1) return sinh(x);
  return half_exponential(x) - half_exponential(-x);
}

FLOAT_RULE(float_same, x)
FLOAT_RULE(float_abs, fabs(x))
FLOAT_RULE(float_acos, acos(x))
FLOAT_RULE(float_acosh, acosh(x))
FLOAT_RULE(float_add, x + y)
FLOAT_RULE(float_asin, asin(x))
FLOAT_RULE(float_asinh, asinh(x))
FLOAT_RULE(float_atan, atan(x))
FLOAT_RULE(float_atan2, atan2(x, y))
FLOAT_RULE(float_atanh, atanh(x))
FLOAT_RULE(float_cbrt, cbrt(x))
FLOAT_RULE(float_ceil, ceil(x))
FLOAT_RULE(float_clamp, smaller(larger(x, y), in[2].f))
FLOAT_RULE(float_cosh, cosh_of(type, x))
FLOAT_RULE(float_cosine, cos(x))
FLOAT_RULE(float_divide, x / y)
FLOAT_RULE(float_erf, erf(x))
FLOAT_RULE(float_erfc, erfc(x))
FLOAT_RULE(float_exponential, exp(x))
FLOAT_RULE(float_exponential_minus_one, expm1(x))
FLOAT_RULE(float_floor, floor(x))
FLOAT_RULE(float_lgamma, lgamma(x))
FLOAT_RULE(float_log, log(x))
FLOAT_RULE(float_log_plus_one, log1p(x))
FLOAT_RULE(float_logistic, 1 / (1 + exp(-x)))
FLOAT_RULE(float_maximum, larger(x, y))
FLOAT_RULE(float_minimum, smaller(x, y))
FLOAT_RULE(float_multiply, x *y)
FLOAT_RULE(float_negate, -x)
FLOAT_RULE(float_power, pow(x, y))
FLOAT_RULE(float_remainder, fmod(x, y))
FLOAT_RULE(float_round_away, round(x))
FLOAT_RULE(float_round_even, nearbyint(x))
FLOAT_RULE(float_rsqrt, 1 / sqrt(x))
FLOAT_RULE(float_sign, sign_of(x))
FLOAT_RULE(float_sine, sin(x))
FLOAT_RULE(float_sinh, sinh_of(type, x))
FLOAT_RULE(float_sqrt, sqrt(x))
FLOAT_RULE(float_square, x *x)
FLOAT_RULE(float_subtract, x - y)
FLOAT_RULE(float_tan, tan(x))
FLOAT_RULE(float_tanh, tanh(x))
FLOAT_TEST(float_is_finite, isfinite(x) ? 1 : 0)
FLOAT_TEST(float_is_inf, isinf(x) ? 1 : 0)
FLOAT_TEST(float_is_neg_inf, isinf(x) && x < 0)
FLOAT_TEST(float_is_pos_inf, isinf(x) && x > 0)

// The imaginary component of a float.
FLOAT_OP(float_zero) {
  (void)type, (void)in;
  out->f = 0;
  return true;
}

FLOAT_OP(float_complex) {
  (void)type;
  *out = (tsr_scalar){.f = in[0].f, .imag = in[1].f};
  return true;
}
