#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math_values.h"
#include "support/test.h"
#include "tile/tile_math.h"

enum { LANES = 67 };  // some vectors and a rest

// ---- accuracy ----

static double logistic(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static long double logisticl(long double x) {
  return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}
static long double rsqrtl(long double x) { return 1 / sqrtl(x); }

// cosh and sinh of f32 begin with a sum in f32: see tile_trig_avx2.c.
static double half_exp(double x) { return exp((double)(float)(x + LOG_HALF32)); }
static double cosh_of_f32(double x) { return half_exp(x) + half_exp(-x); }
static double sinh_of_f32(double x) { return fabs(x) < 1 ? sinh(x) : half_exp(x) - half_exp(-x); }

static const struct {
  tsr_tile_op op;
  const char *name;
  double (*f)(double);
  long double (*fl)(long double);
  double units32, units64;  // the largest error allowed
} functions[] = {
    {TSR_TILE_ACOS, "acos", acos, acosl, 0.51, 1},
    {TSR_TILE_ACOSH, "acosh", acosh, acoshl, 0.51, 2},
    {TSR_TILE_ASIN, "asin", asin, asinl, 0.51, 1},
    {TSR_TILE_ASINH, "asinh", asinh, asinhl, 0.51, 2},
    {TSR_TILE_ATAN, "atan", atan, atanl, 0.52, 1},
    {TSR_TILE_ATANH, "atanh", atanh, atanhl, 0.51, 2},
    {TSR_TILE_CBRT, "cbrt", cbrt, cbrtl, 0.51, 0.51},
    {TSR_TILE_COSH, "cosh", cosh_of_f32, coshl, 0.51, 2},
    {TSR_TILE_COSINE, "cosine", cos, cosl, 0.51, 1},
    {TSR_TILE_DIGAMMA, "digamma", tsr_digamma, NULL, 2, 0},
    {TSR_TILE_ERF_INV, "erf_inv", tsr_erf_inv, NULL, 0.52, 0},
    {TSR_TILE_ERF, "erf", erf, erfl, 1.3, 1.5},
    {TSR_TILE_ERFC, "erfc", erfc, erfcl, 0.51, 0.51},
    {TSR_TILE_EXPONENTIAL, "exponential", exp, expl, 1, 1},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE, "exponential_minus_one", expm1, expm1l, 1.6, 2},
    {TSR_TILE_LGAMMA, "lgamma", tsr_lgamma, NULL, 2, 0},
    {TSR_TILE_LOG, "log", log, logl, 1, 1},
    {TSR_TILE_LOG_PLUS_ONE, "log_plus_one", log1p, log1pl, 1, 1},
    {TSR_TILE_LOGISTIC, "logistic", logistic, logisticl, 1.5, 1.5},
    {TSR_TILE_RSQRT, "rsqrt", rsqrt, rsqrtl, 0.51, 0.51},
    {TSR_TILE_SINE, "sine", sin, sinl, 0.51, 1},
    {TSR_TILE_SINH, "sinh", sinh_of_f32, sinhl, 0.51, 3},
    {TSR_TILE_TAN, "tan", tan, tanl, 0.51, 1},
    {TSR_TILE_TANH, "tanh", tanh, tanhl, 1.3, 2},
};

static void apply(tsr_tile_op op, tsr_dtype carrier, void *out, const void *in, int64_t count) {
  tsr_tile_loop *const loop = tsr_tile_math_loop(op, carrier);
  assert_non_null(loop);
  loop(out, &in, count);
}

// Every 20011th float, from all exponents, and NaNs and infinities among them.
static void functions_of_f32_are_accurate_over_all_floats(void **state) {
  (void)state;
  for (size_t f = 0; f < COUNT_OF(functions); f++) {
    float x[LANES], y[LANES];
    double worst = 0, at = 0;
    for (int64_t bits = 0x7f800000 % 20011; bits <= UINT32_MAX;) {
      for (int i = 0; i < LANES; i++, bits += 20011) {
        const uint32_t low = (uint32_t)bits;
        memcpy(&x[i], &low, sizeof low);
      }
      apply(functions[f].op, TSR_F32, y, x, LANES);
      for (int i = 0; i < LANES; i++) {
        const double units = test_units32(y[i], functions[f].f((double)x[i]));
        if (units > worst) worst = units, at = (double)x[i];
      }
    }
    if (worst > functions[f].units32)
      fail_msg("%s(%a) is wrong by %g units", functions[f].name, at, worst);
  }
}

static void functions_of_f64_are_accurate_over_all_exponents(void **state) {
  (void)state;
  test_random random = {15};
  for (size_t f = 0; f < COUNT_OF(functions); f++) {
    double x[LANES], y[LANES], worst = 0, at = 0;
    for (int round = 0; functions[f].fl && round < 200; round++) {
      for (int i = 0; i < LANES; i++) {
        const uint64_t bits = test_random_next(&random);
        memcpy(&x[i], &bits, sizeof bits);
        if (i % 2) x[i] = (double)(int64_t)bits * 0x1p-63 * (i % 4 == 1 ? 2 : 750);
      }
      apply(functions[f].op, TSR_F64, y, x, LANES);
      for (int i = 0; i < LANES; i++) {
        const double units = test_units64(y[i], functions[f].fl((long double)x[i]));
        if (units > worst) worst = units, at = x[i];
      }
    }
    if (worst > functions[f].units64)
      fail_msg("%s(%a) is wrong by %g units", functions[f].name, at, worst);
  }
}

static void functions_of_two_f32_are_accurate(void **state) {
  static const struct {
    tsr_tile_op op;
    double (*f)(double, double);
  } pairs[] = {{TSR_TILE_POWER, pow}, {TSR_TILE_ATAN2, atan2}, {TSR_TILE_REMAINDER, fmod}};
  static const float special[] = {0,   -0.0f,     1,     -1,        0.5f,     -0.5f,
                                  2,   -2,        3,     -3,        INFINITY, -INFINITY,
                                  NAN, 0x1p-149f, 33.5f, -0x1p+24f, 1e38f,    0x1.fffffep+23f};
  test_random random = {7};
  (void)state;
  for (size_t f = 0; f < COUNT_OF(pairs); f++)
    for (int round = 0; round < 3000; round++) {
      float x[LANES], y[LANES], z[LANES];
      for (int i = 0; i < LANES; i++) {
        const uint64_t bits = test_random_next(&random);
        const uint32_t halves[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
        memcpy(&x[i], &halves[0], sizeof x[i]);
        memcpy(&y[i], &halves[1], sizeof y[i]);
        if (i % 3 == 1) x[i] = (float)(halves[0] % 100000) * 1e-4f, y[i] = fmodf(y[i], 40);
        if (i % 3 == 2)
          x[i] = special[halves[0] % COUNT_OF(special)],
          y[i] = special[halves[1] % COUNT_OF(special)];
      }
      tsr_tile_math_loop(pairs[f].op, TSR_F32)(z, (const void *const[]){x, y}, LANES);
      for (int i = 0; i < LANES; i++)
        if (test_units32(z[i], pairs[f].f((double)x[i], (double)y[i])) > 0.52)
          fail_msg("function %d of %a and %a is %a", (int)f, (double)x[i], (double)y[i],
                   (double)z[i]);
    }
}

// ---- limits: exact values ----

static const struct {
  tsr_tile_op op;
  double x, want;
} limits[] = {
    {TSR_TILE_EXPONENTIAL, -INFINITY, 0},
    {TSR_TILE_EXPONENTIAL, INFINITY, INFINITY},
    {TSR_TILE_EXPONENTIAL, NAN, NAN},
    {TSR_TILE_EXPONENTIAL, -1e30, 0},
    {TSR_TILE_EXPONENTIAL, 1e30, INFINITY},
    {TSR_TILE_EXPONENTIAL, -0.0, 1},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE, -0.0, -0.0},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE, -INFINITY, -1},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE, INFINITY, INFINITY},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE, 0x1p-140, 0x1p-140},
    {TSR_TILE_LGAMMA, 1, 0},
    {TSR_TILE_LGAMMA, 2, 0},
    {TSR_TILE_LOG, 0, -INFINITY},
    {TSR_TILE_LOG, -0.0, -INFINITY},
    {TSR_TILE_LOG, -1, NAN},
    {TSR_TILE_LOG, -INFINITY, NAN},
    {TSR_TILE_LOG, INFINITY, INFINITY},
    {TSR_TILE_LOG, 1, 0},
    {TSR_TILE_LOG_PLUS_ONE, -1, -INFINITY},
    {TSR_TILE_LOG_PLUS_ONE, -2, NAN},
    {TSR_TILE_LOG_PLUS_ONE, -0.0, -0.0},
    {TSR_TILE_LOG_PLUS_ONE, INFINITY, INFINITY},
    {TSR_TILE_LOG_PLUS_ONE, -0x1p-140, -0x1p-140},
    {TSR_TILE_LOGISTIC, 0, 0.5},
    {TSR_TILE_LOGISTIC, -INFINITY, 0},
    {TSR_TILE_LOGISTIC, INFINITY, 1},
    {TSR_TILE_TANH, -0.0, -0.0},
    {TSR_TILE_TANH, INFINITY, 1},
    {TSR_TILE_TANH, -INFINITY, -1},
    {TSR_TILE_TANH, NAN, NAN},
    {TSR_TILE_RSQRT, 0, INFINITY},
    {TSR_TILE_RSQRT, -0.0, -INFINITY},
    {TSR_TILE_RSQRT, INFINITY, 0},
    {TSR_TILE_RSQRT, -1, NAN},
    {TSR_TILE_RSQRT, 4, 0.5},
    {TSR_TILE_ERF, -0.0, -0.0},
    {TSR_TILE_ERF, INFINITY, 1},
    {TSR_TILE_ERFC, INFINITY, 0},
    {TSR_TILE_ERFC, -INFINITY, 2},
    {TSR_TILE_ERF_INV, 1, INFINITY},
    {TSR_TILE_ERF_INV, -1, -INFINITY},
    {TSR_TILE_ERF_INV, 1.5, NAN},
    {TSR_TILE_ERF_INV, -0.0, -0.0},
    {TSR_TILE_SINE, INFINITY, NAN},
    {TSR_TILE_SINE, -0.0, -0.0},
    {TSR_TILE_COSINE, 0, 1},
    {TSR_TILE_TAN, -0.0, -0.0},
    {TSR_TILE_ACOS, 1, 0},
    {TSR_TILE_ACOS, 1.5, NAN},
    {TSR_TILE_ACOSH, 1, 0},
    {TSR_TILE_ACOSH, 0.5, NAN},
    {TSR_TILE_ACOSH, -2, NAN},
    {TSR_TILE_ATANH, 1, INFINITY},
    {TSR_TILE_ATANH, -1, -INFINITY},
    {TSR_TILE_ATANH, 2, NAN},
    {TSR_TILE_CBRT, -27, -3},
    {TSR_TILE_CBRT, -0.0, -0.0},
    {TSR_TILE_CBRT, -INFINITY, -INFINITY},
    {TSR_TILE_LGAMMA, 0, INFINITY},
    {TSR_TILE_LGAMMA, 1, 0},
    {TSR_TILE_LGAMMA, -INFINITY, INFINITY},
    {TSR_TILE_DIGAMMA, 0, NAN},
    {TSR_TILE_DIGAMMA, -3, NAN},
    {TSR_TILE_DIGAMMA, INFINITY, INFINITY},
    {TSR_TILE_BESSEL_I1E, -0.0, -0.0},
    {TSR_TILE_BESSEL_I1E, INFINITY, 0},
};

static void limits_are_exact(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(limits); i++) {
    const float x = (float)limits[i].x;
    float y;
    double wide;
    apply(limits[i].op, TSR_F32, &y, &x, 1);
    apply(limits[i].op, TSR_F64, &wide, &limits[i].x, 1);
    if (test_units32(y, limits[i].want) != 0) fail_msg("row %d in f32 gives %a", (int)i, (double)y);
    if (test_units64(wide, (long double)limits[i].want) != 0)
      fail_msg("row %d in f64 gives %a", (int)i, wide);
  }
}

static void results_below_the_normal_floats_are_kept(void **state) {
  const float x[] = {-90, -100, -103};
  float y[3];
  (void)state;
  apply(TSR_TILE_EXPONENTIAL, TSR_F32, y, x, 3);
  for (int i = 0; i < 3; i++) assert_true(y[i] == (float)exp((double)x[i]) && y[i] > 0);
  apply(TSR_TILE_LOGISTIC, TSR_F32, y, x, 3);
  for (int i = 0; i < 3; i++) assert_true(y[i] == (float)exp((double)x[i]));
}

// ---- places ----

static size_t bytes_of(tsr_dtype carrier) {
  return carrier == TSR_F32 ? 4 : carrier == TSR_C128 ? 16 : 8;
}

static void fill(test_random *random, char *bytes, size_t count, tsr_dtype carrier) {
  const bool is_narrow = carrier == TSR_F32 || carrier == TSR_C64;
  for (size_t i = 0; i < count / (is_narrow ? 4 : 8); i++) {
    const double wide = (double)test_random_range(random, -4000, 4000) * 1e-3;
    const float narrow = (float)wide;
    if (is_narrow)
      memcpy(bytes + 4 * i, &narrow, 4);
    else
      memcpy(bytes + 8 * i, &wide, 8);
  }
}

// An element alone, and in place of an operand, gives the bits that it gives among others.
static void check_places(tsr_tile_op op, tsr_dtype carrier, tsr_tile_loop *loop) {
  const size_t width = bytes_of(carrier);
  const bool is_abs = op == TSR_TILE_ABS;
  char x[LANES * 16 + 1], y[LANES * 16 + 1], all[LANES * 16], one[16];
  const void *const in[] = {x + 1, y + 1};
  test_random random = {3};
  fill(&random, x + 1, LANES * width, carrier);
  fill(&random, y + 1, LANES * width, carrier);
  loop(all, in, LANES);
  for (size_t i = 0; i < LANES; i++) {
    const void *const place[] = {x + 1 + i * width, y + 1 + i * width};
    const size_t size = is_abs ? width / 2 : width;
    loop(one, place, 1);
    if (memcmp(one, all + i * size, size) != 0) fail_msg("op %d, element %d", (int)op, (int)i);
  }
  loop(y + 1, in, LANES);
  assert_memory_equal(y + 1, all, LANES * (is_abs ? width / 2 : width));
}

static void results_do_not_depend_on_places(void **state) {
  static const tsr_dtype carriers[] = {TSR_F32, TSR_F64, TSR_C64, TSR_C128};
  int checked = 0;
  (void)state;
  for (int op = 0; op < TSR_TILE_OP_COUNT; op++)
    for (size_t c = 0; c < COUNT_OF(carriers); c++) {
      tsr_tile_loop *const loop = tsr_tile_math_loop((tsr_tile_op)op, carriers[c]);
      if (!loop) continue;
      check_places((tsr_tile_op)op, carriers[c], loop);
      checked++;
    }
  assert_true(checked > 100);
}

// The loops for every processor, whatever this one has.
static void plain_loops_of_f32_are_those_of_f64_rounded(void **state) {
  static const struct {
    tsr_tile_loop *narrow, *wide;
  } loops[] = {
#define MATH_REAL(op, name) {tsr_tile_f32_##name, tsr_tile_f64_##name},
#include "tile/tile_math.def"
  };
  float x[LANES], y[LANES], z[LANES];
  double wide_x[LANES], wide_y[LANES], wide_z[LANES];
  test_random random = {9};
  (void)state;
  for (int i = 0; i < LANES; i++) {
    x[i] = (float)test_random_range(&random, -4000, 4000) * 1e-3f, wide_x[i] = (double)x[i];
    y[i] = (float)test_random_range(&random, -4000, 4000) * 1e-3f, wide_y[i] = (double)y[i];
  }
  for (size_t l = 0; l < COUNT_OF(loops); l++) {
    if (loops[l].narrow == tsr_tile_f32_next_after || loops[l].narrow == tsr_tile_f32_cosh ||
        loops[l].narrow == tsr_tile_f32_sinh)
      continue;  // these compute in f32
    loops[l].narrow(z, (const void *const[]){x, y}, LANES);
    loops[l].wide(wide_z, (const void *const[]){wide_x, wide_y}, LANES);
    for (int i = 0; i < LANES; i++) assert_true(test_units32(z[i], wide_z[i]) <= 0.5);
  }
}

static void the_float_after_another_is_that_of_its_type(void **state) {
  const float x = 1, y = 2;
  const double wide_x = 1, wide_y = 2;
  float z;
  double wide_z;
  (void)state;
  tsr_tile_math_loop(TSR_TILE_NEXT_AFTER, TSR_F32)(&z, (const void *const[]){&x, &y}, 1);
  tsr_tile_math_loop(TSR_TILE_NEXT_AFTER, TSR_F64)(&wide_z, (const void *const[]){&wide_x, &wide_y},
                                                   1);
  assert_true(z == 0x1.000002p+0f && wide_z == 0x1.0000000000001p+0);
}

SUITE(math, TEST(functions_of_f32_are_accurate_over_all_floats),
      TEST(functions_of_f64_are_accurate_over_all_exponents),
      TEST(functions_of_two_f32_are_accurate), TEST(limits_are_exact),
      TEST(results_below_the_normal_floats_are_kept), TEST(results_do_not_depend_on_places),
      TEST(plain_loops_of_f32_are_those_of_f64_rounded),
      TEST(the_float_after_another_is_that_of_its_type))
