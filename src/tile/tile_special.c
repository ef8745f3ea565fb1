// Special functions of f64 that the C library lacks, or that it does not compute reentrantly.
//
// Each is cut into ranges that have a fast series or a polynomial (of least largest error), and
// reflected from negative arguments, where sums would be as long as the argument is large. What
// poles and infinities give is what XLA gives for them.
#include <math.h>

#include "tile/tile_math.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define PI 0x1.921fb54442d18p+1

static const double digamma_terms[] = {
    0x1.e6f0cbb873617p-1,  -0x1.b1cb63005ee9ap-2,  0x1.eca189b8e6d96p-3,  -0x1.2feeeb98a748bp-3,
    0x1.8512e5905dd5bp-4,  -0x1.fb44202a81632p-5,  0x1.4de9aa0586f79p-5,  -0x1.b9f8b0fec7ee9p-6,
    0x1.256475f53e86bp-6,  -0x1.863568ecbd80bp-7,  0x1.03c0062ed38bbp-7,  -0x1.5a0623ab3c3abp-8,
    0x1.cd3e855c1799ap-9,  -0x1.3376171276afbp-9,  0x1.980cdaf4b4850p-10, -0x1.0f5d0b857ed23p-10,
    0x1.7b4f3f039426cp-11, -0x1.00ecda68360dap-11, 0x1.dbf413b13e774p-13, -0x1.20689f5dbf081p-13,
    0x1.10890898fbf30p-12, -0x1.8163e50f5e49cp-13};
static const double bessel_small_terms[] = {
    0x1.0000000000000p-1,   0x1.0000000000000p-4,  0x1.5555555555555p-9,   0x1.c71c71c71c71cp-15,
    0x1.6c16c16c16c16p-21,  0x1.845c8a0ce514bp-28, 0x1.27e4fb7789c94p-35,  0x1.522a43f659a3ap-43,
    0x1.2c9758da8a7e4p-51,  0x1.ab81ea82df749p-60, 0x1.f17696a854677p-69,  0x1.e2638fb4d2c1ep-78,
    0x1.8bcd5992539dep-87,  0x1.1668114d5868bp-96, 0x1.52d137c76696ap-106, 0x1.6f3f47b701d1fp-116,
    0x1.317e1885df917p-126, 0x1.a65bdf018e8e3p-136};
static const double bessel_large_terms[] = {
    0x1.8ebe783a84030p-2,   -0x1.3f796198ee60ap-6,  -0x1.cbc54df1d4a57p-11, -0x1.f89c23094e0c3p-14,
    -0x1.ec8e125a5f0dfp-16, -0x1.7613744c28161p-17, -0x1.ad8b1417ffda7p-18, -0x1.727e83825bf8ep-18,
    -0x1.91e64a80106bep-18, -0x1.21163737487c2p-18, 0x1.d67774388b19cp-18,  0x1.e01f243c98379p-16,
    0x1.7f044d7b02082p-16,  -0x1.00df9c1620956p-14, -0x1.dd2192b03d351p-14, 0x1.ae11d57be98c8p-14,
    0x1.46ee84c431a1fp-12,  -0x1.2cbd93e8a13d1p-13, -0x1.35d6bde6dd1c0p-11, 0x1.3308b6bf6a515p-13,
    0x1.71bb103a53d3fp-11,  -0x1.43457d94e5b16p-14, -0x1.9ca6fe174351cp-12};

// B(2k) / 2k
static const double digamma_asymptotic[] = {1.0 / 12,   -1.0 / 120,     1.0 / 252,
                                            -1.0 / 240, 1.0 / 132,      -691.0 / 32760,
                                            1.0 / 12,   -3617.0 / 8160, 43867.0 / 14364};
// B(2k) / (2k)!
static const double zeta_corrections[] = {1.0 / 12,
                                          -1.0 / 720,
                                          1.0 / 30240,
                                          -1.0 / 1209600,
                                          1.0 / 47900160,
                                          -5.28419013868749318e-10,
                                          1.33825365306846788e-11,
                                          -3.38968029632258287e-13,
                                          8.58606205627784456e-15,
                                          -2.17486869855806187e-16,
                                          5.50900282836022952e-18,
                                          -1.39544646858125233e-19};
#define ROOT_HIGH 0x1.762d86356be3fp+0
#define ROOT_LOW 0x1.b86a722197829p-54

static double polynomial(const double *terms, int count, double x) {
  double sum = terms[count - 1];
  for (int i = count - 2; i >= 0; i--) sum = sum * x + terms[i];
  return sum;
}

static bool is_whole(double x) { return floor(x) == x; }

double tsr_lgamma(double x) {
  int sign;  // lgamma() would write it to a global variable
  return lgamma_r(x, &sign);
}

// Digamma: log(x) - 1 / 2x - sum of B(2k) / (2k x^2k).
static double digamma_of_large(double x) {
  const double square = 1 / (x * x);
  return log(x) - 0.5 / x -
         square * polynomial(digamma_asymptotic, COUNT(digamma_asymptotic), square);
}

// Between 1 and 2 there is its root, from which the distance is taken with 106 bits.
static double digamma_of_middle(double x) {
  return ((x - ROOT_HIGH) - ROOT_LOW) * polynomial(digamma_terms, COUNT(digamma_terms), x - 1.5);
}

static double digamma_of_positive(double x) {
  double sum = 0;
  if (x >= 12) return digamma_of_large(x);
  if (x < 1) return digamma_of_middle(x + 1) - 1 / x;
  const int steps = x > 2 ? (int)ceil(x) - 2 : 0;
  for (int i = 1; i <= steps; i++) sum += 1 / (x - i);
  return digamma_of_middle(x - steps) + sum;
}

// cot(pi x) for a distance to a whole number, without the rounding of pi / 2 where it is near 0.
static double cotangent(double x) {
  if (fabs(x) < 0.25) return 1 / tan(PI * x);
  return copysign(tan(PI * (0.5 - fabs(x))), x);
}

double tsr_digamma(double x) {
  if (x > 0) return digamma_of_positive(x);
  if (is_whole(x)) return NAN;  // the poles
  return digamma_of_positive(1 - x) - PI * cotangent(x - nearbyint(x));
}

// A number with the digits that rounding took from it: a large power would show them.
typedef struct exact_sum {
  double value, rest;
} exact_sum;

static exact_sum sum_of(exact_sum a, double b) {
  const double sum = a.value + b, from_b = sum - a.value;
  return (exact_sum){sum, a.rest + ((a.value - (sum - from_b)) + (b - from_b))};
}

// x^-s
static double power_of(exact_sum x, double s) {
  return pow(x.value, -s) * (1 - s * (x.rest / x.value));
}

// Hurwitz zeta by Euler and Maclaurin: the first terms, then the integral of the rest and its
// corrections by derivatives.
static double zeta_of_positive(double s, exact_sum q) {
  enum { FIRST = 10 };
  exact_sum sum = {0, 0};
  for (int i = 0; i < FIRST; i++) {
    const double term = power_of(sum_of(q, i), s);
    sum = sum_of(sum, term);
    if (term < sum.value * 0x1p-60 || isinf(sum.value)) return sum.value;
  }
  const exact_sum end = sum_of(q, FIRST);
  const double inverse = 1 / end.value, power = power_of(end, s);
  double corrections = 0.5, factor = s * inverse;
  for (int k = 0; k < COUNT(zeta_corrections); k++) {
    corrections += factor * zeta_corrections[k];
    factor *= (s + 2 * k + 1) * inverse * (s + 2 * k + 2) * inverse;
  }
  // For large q the power may be 0 where the integral is not, and its corrections no number.
  const double integral = power_of(end, s - 1) / (s - 1);
  return sum.value + (sum.rest + (power > 0 ? power * corrections : 0) + integral);
}

// The sum of (q + k)^-s over all whole k repeats with q, so that
// zeta(s, q) +- zeta(s, 1 - q) is the same for q and for its fraction.
static double zeta_of_negative(double s, double q) {
  const double fraction = q - floor(q);
  const exact_sum one = {1, 0};
  const double other =
      zeta_of_positive(s, sum_of(one, -fraction)) - zeta_of_positive(s, sum_of(one, -q));
  return zeta_of_positive(s, (exact_sum){fraction, 0}) + (fmod(s, 2) == 0 ? other : -other);
}

double tsr_zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (!(s > 1) || isnan(q) || isinf(s) || q == INFINITY) return NAN;
  if (q > 0) return zeta_of_positive(s, (exact_sum){q, 0});
  if (is_whole(q)) return fmod(s, 2) == 0 ? INFINITY : NAN;  // the poles
  return is_whole(s) ? zeta_of_negative(s, q) : NAN;
}

double tsr_polygamma(double order, double x) {
  if (!(order >= 0) || !is_whole(order) || isinf(order)) return NAN;
  if (order == 0) return tsr_digamma(x);
  const double sign = fmod(order, 2) == 0 ? -1 : 1, zeta = tsr_zeta(order + 1, x);
  return (double)(tgammal((long double)order + 1) * (long double)(sign * zeta));
}

double tsr_bessel_i1e(double x) {
  const double size = fabs(x);
  if (size <= 8)
    return x * exp(-size) * polynomial(bessel_small_terms, COUNT(bessel_small_terms), size * size);
  const double value =
      polynomial(bessel_large_terms, COUNT(bessel_large_terms), 8 / size - 0.5) / sqrt(size);
  return copysign(value, x);
}

// A first guess of the inverse of erf, exact to a few percent: its tail grows with the root of the
// logarithm (Winitzki).
static double guess_of_erf_inv(double size, double left) {
  const double a = 0.147, l = log(left * (1 + size)), b = 2 / (PI * a) + l / 2;
  return sqrt(sqrt(b * b - l / a) - b);
}

// Each step of Halley triples the digits. Near 1 the difference is taken of erfc, which has all its
// digits there.
double tsr_erf_inv(double x) {
  const double size = fabs(x), left = 1 - size, slope = 2 / sqrt(PI);
  if (!(size < 1)) return size == 1 ? copysign(INFINITY, x) : NAN;
  if (size < 0x1p-20) return x * (sqrt(PI) / 2 * (1 + PI / 12 * x * x));
  double y = guess_of_erf_inv(size, left);
  for (int i = 0; i < 3; i++) {
    const double error = size < 0.5 ? erf(y) - size : left - erfc(y);
    const double step = error / (slope * exp(-y * y));
    y -= step / (1 + y * step);
  }
  return copysign(y, x);
}
