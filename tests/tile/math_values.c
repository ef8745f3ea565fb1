#include "math_values.h"

#include <float.h>
#include <math.h>

static double units(double got, long double want, int digits, int least, long double largest) {
  int exponent;
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : INFINITY;
  if (fabsl(want) > largest || isinf(got)) {
    // Around the largest number both it and infinity may be the rounded one.
    const long double ulp = ldexpl(1, 1 + ilogbl(largest) - digits);
    const long double bounded = isinf(got) ? copysignl(largest + ulp, (long double)got) : got;
    const long double limit = copysignl(largest + ulp, want);
    return (double)(fabsl(bounded - (fabsl(want) > largest ? limit : want)) / ulp);
  }
  if (want == 0) return got == 0 && !signbit(got) == !signbit(want) ? 0 : INFINITY;
  frexpl(want, &exponent);
  exponent = exponent - digits < least ? least : exponent - digits;
  return (double)ldexpl(fabsl((long double)got - want), -exponent);
}

double test_units32(float got, double want) {
  return units((double)got, (long double)want, FLT_MANT_DIG, -149, (long double)FLT_MAX);
}

double test_units64(double got, long double want) {
  return units(got, want, DBL_MANT_DIG, -1074, (long double)DBL_MAX);
}
