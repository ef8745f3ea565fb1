// Elementwise ops on complex numbers. Sums and products round every step to the component type, as
// the specification writes them; other functions are those of the C library in f64, rounded once.
// Functions of infinities and NaNs, on which implementations differ, stay unknown.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "simplify/scalar.h"

#define COMPLEX_OP(name) \
  bool tsr_scalar_##name(const tsr_scalar_type *type, const tsr_scalar *in, tsr_scalar *out)
#define COMPLEX_RULE(name, expression)                  \
  COMPLEX_OP(name) {                                    \
    const double _Complex z = complex_of(in[0]);        \
    (void)type;                                         \
    return is_finite(in[0]) && give((expression), out); \
  }

// CMPLX, which clang's headers lack: x + y * I would lose the signs of zeros and infinities.
static double _Complex number(double real, double imag) {
  const double components[2] = {real, imag};
  double _Complex value;
  memcpy(&value, components, sizeof value);
  return value;
}

static double _Complex complex_of(tsr_scalar scalar) { return number(scalar.f, scalar.imag); }

static bool give(double _Complex value, tsr_scalar *out) {
  *out = (tsr_scalar){.f = creal(value), .imag = cimag(value)};
  return true;
}

static bool is_finite(tsr_scalar value) { return isfinite(value.f) && isfinite(value.imag); }

static bool is_wide(const tsr_scalar_type *type) { return type->dtype == TSR_C128; }

static double rounded(const tsr_scalar_type *type, double value) {
  return is_wide(type) ? value : (double)(float)value;
}

COMPLEX_OP(complex_real) {
  (void)type;
  out->f = in[0].f;
  return true;
}

COMPLEX_OP(complex_imag) {
  (void)type;
  out->f = in[0].imag;
  return true;
}

COMPLEX_OP(complex_abs) {
  (void)type;
  out->f = hypot(in[0].f, in[0].imag);
  return true;
}

COMPLEX_OP(complex_add) {
  (void)type;
  *out = (tsr_scalar){.f = in[0].f + in[1].f, .imag = in[0].imag + in[1].imag};
  return true;
}

COMPLEX_OP(complex_subtract) {
  (void)type;
  *out = (tsr_scalar){.f = in[0].f - in[1].f, .imag = in[0].imag - in[1].imag};
  return true;
}

COMPLEX_OP(complex_multiply) {
  const tsr_scalar a = in[0], b = in[1];
  out->f = rounded(type, a.f * b.f) - rounded(type, a.imag * b.imag);
  out->imag = rounded(type, a.f * b.imag) + rounded(type, a.imag * b.f);
  return true;
}

COMPLEX_OP(complex_negate) {
  (void)type;
  *out = (tsr_scalar){.f = -in[0].f, .imag = -in[0].imag};
  return true;
}

COMPLEX_OP(complex_conjugate) {
  (void)type;
  *out = (tsr_scalar){.f = in[0].f, .imag = -in[0].imag};
  return true;
}

// (x - y) (x + y) is infinite, not NaN, where one of the squares is.
COMPLEX_OP(complex_square) {
  const double x = in[0].f, y = in[0].imag;
  (void)type;
  out->f = isfinite(x) && fabs(x) == fabs(y) ? 0 : (x - y) * (x + y);
  out->imag = 2 * (x * y);
  return true;
}

COMPLEX_OP(complex_divide) {
  (void)type;
  return is_finite(in[0]) && is_finite(in[1]) && give(complex_of(in[0]) / complex_of(in[1]), out);
}

COMPLEX_OP(complex_power) {
  (void)type;
  return is_finite(in[0]) && is_finite(in[1]) &&
         give(cpow(complex_of(in[0]), complex_of(in[1])), out);
}

// By the real component, then by the imaginary one.
static bool is_above(tsr_scalar a, tsr_scalar b) {
  return a.f == b.f ? a.imag > b.imag : a.f > b.f;
}

COMPLEX_OP(complex_maximum) {
  (void)type;
  *out = is_above(in[0], in[1]) ? in[0] : in[1];
  return true;
}

COMPLEX_OP(complex_minimum) {
  (void)type;
  *out = is_above(in[1], in[0]) ? in[0] : in[1];
  return true;
}

COMPLEX_OP(complex_sign) {
  const double x = in[0].f, y = in[0].imag;
  if (!is_finite(in[0])) return false;
  if (x == 0 && y == 0) return give(number(0.0, 0.0), out);
  return give(complex_of(in[0]) / number(rounded(type, hypot(x, y)), 0.0), out);
}

COMPLEX_RULE(complex_cosine, ccos(z))
COMPLEX_RULE(complex_exponential, cexp(z))
COMPLEX_RULE(complex_log, clog(z))
COMPLEX_RULE(complex_logistic, 1 / (1 + cexp(-z)))
COMPLEX_RULE(complex_rsqrt, 1 / csqrt(z))
COMPLEX_RULE(complex_sine, csin(z))
COMPLEX_RULE(complex_sqrt, csqrt(z))
COMPLEX_RULE(complex_tan, ctan(z))
COMPLEX_RULE(complex_tanh, ctanh(z))

// The plain formulas of the next two cancel, so they serve only where f64 has digits to spare.
COMPLEX_OP(complex_exponential_minus_one) {
  const double x = in[0].f, y = in[0].imag, half = sin(y / 2);
  return !is_wide(type) && is_finite(in[0]) &&
         give(number(expm1(x) * cos(y) - 2 * half * half, exp(x) * sin(y)), out);
}

COMPLEX_OP(complex_log_plus_one) {
  const double x = in[0].f, y = in[0].imag;
  const double real = log1p(x * (2 + x) + y * y) / 2;
  return !is_wide(type) && is_finite(in[0]) && give(number(real, atan2(y, 1 + x)), out);
}
