#include <math.h>

#include "math_values.h"
#include "support/test.h"
#include "tile/tile_math.h"

// Values computed with 75 digits, rounded to f64.
static const struct {
  tsr_tile_op op;
  double x, y, want;
} values[] = {
    {TSR_TILE_DIGAMMA, 0x1.56e1fc2f8f359p-997, 0, -0x1.7e43c8800759bp+996},
    {TSR_TILE_DIGAMMA, 0x1.0000000000000p-2, 0, -0x1.0e8e9943cd7c3p+2},
    {TSR_TILE_DIGAMMA, 1, 0, -0x1.2788cfc6fb619p-1},
    {TSR_TILE_DIGAMMA, 0x1.762d86356be3fp+0, 0, -0x1.aa2d9b3ce29e0p-54},
    {TSR_TILE_DIGAMMA, 0x1.762d86356be40p+0, 0, 0x1.1a5beef0723bbp-53},
    {TSR_TILE_DIGAMMA, 0x1.c000000000000p+0, 0, 0x1.fad2d675283d3p-3},
    {TSR_TILE_DIGAMMA, 0x1.4000000000000p+1, 0, 0x1.680425af12b5ep-1},
    {TSR_TILE_DIGAMMA, 0x1.7800000000000p+3, 0, 0x1.35d9655363b66p+1},
    {TSR_TILE_DIGAMMA, 12, 0, 0x1.38a9234f5821cp+1},
    {TSR_TILE_DIGAMMA, 1000, 0, 0x1.ba1078189c03cp+2},
    {TSR_TILE_DIGAMMA, 0x1.7e43c8800759cp+996, 0, 0x1.5963447f87fb5p+9},
    {TSR_TILE_DIGAMMA, -0x1.0000000000000p-1, 0, 0x1.2aed059bd608ap-5},
    {TSR_TILE_DIGAMMA, -0x1.e000000000000p+1, 0, -0x1.b1406111ded57p+0},
    {TSR_TILE_DIGAMMA, -0x1.e848080000000p+19, 0, 0x1.0f504c3e5bee8p+4},
    {TSR_TILE_LGAMMA, 0x1.56e1fc2f8f359p-997, 0, 0x1.5963447f87fb5p+9},
    {TSR_TILE_LGAMMA, 0x1.0000000000000p-2, 0, 0x1.49bbd81c16efbp+0},
    {TSR_TILE_LGAMMA, 0x1.8000000000000p+0, 0, -0x1.eeb95b094c191p-4},
    {TSR_TILE_LGAMMA, 5, 0, 0x1.96ca77c922cf9p+1},
    {TSR_TILE_LGAMMA, 20, 0, 0x1.3ab8153363985p+5},
    {TSR_TILE_LGAMMA, 0x1.7e43c8800759cp+996, 0, 0x1.017f38e7a1ab5p+1006},
    {TSR_TILE_LGAMMA, -0x1.0000000000000p-1, 0, 0x1.43f89a3f0edd6p+0},
    {TSR_TILE_LGAMMA, -0x1.e000000000000p+1, 0, -0x1.513878cce057fp+0},
    {TSR_TILE_BESSEL_I1E, 0x1.56e1fc2f8f359p-997, 0, 0x1.56e1fc2f8f359p-998},
    {TSR_TILE_BESSEL_I1E, -0x1.0000000000000p-2, 0, -0x1.91de8c3946cf7p-4},
    {TSR_TILE_BESSEL_I1E, 1, 0, 0x1.a9ccef9365f00p-3},
    {TSR_TILE_BESSEL_I1E, 0x1.ffef9db22d0e5p+2, 0, 0x1.12bd3882a0855p-3},
    {TSR_TILE_BESSEL_I1E, 0x1.00083126e978dp+3, 0, 0x1.12b561026deaap-3},
    {TSR_TILE_BESSEL_I1E, -25, 0, -0x1.41d906cf401cdp-4},
    {TSR_TILE_BESSEL_I1E, 10000, 0, 0x1.0570e5e95bf21p-8},
    {TSR_TILE_BESSEL_I1E, 0x1.7e43c8800759cp+996, 0, 0x1.4e4f1043a39ecp-500},
    {TSR_TILE_ERF_INV, 0x1.56e1fc2f8f359p-997, 0, 0x1.2fdf36bf69b9fp-997},
    {TSR_TILE_ERF_INV, 0x1.ad7f29abcaf48p-24, 0, 0x1.7ca1ae51f9c11p-24},
    {TSR_TILE_ERF_INV, -0x1.0000000000000p-2, 0, -0x1.cd70681d5ff70p-3},
    {TSR_TILE_ERF_INV, 0x1.fef9db22d0e56p-2, 0, 0x1.e73e7af424744p-2},
    {TSR_TILE_ERF_INV, 0x1.0083126e978d5p-1, 0, 0x1.e985cbad8f570p-2},
    {TSR_TILE_ERF_INV, 0x1.8000000000000p-1, 0, 0x1.a07890f6b2ba1p-1},
    {TSR_TILE_ERF_INV, -0x1.ff7ced916872bp-1, 0, -0x1.29d311405cdb4p+1},
    {TSR_TILE_ERF_INV, 0x1.fffffff800000p-1, 0, 0x1.14fe6a4f2e9d0p+2},
    {TSR_TILE_ERF_INV, 0x1.fffffffffffffp-1, 0, 0x1.7744f8f74e94ap+2},
    {TSR_TILE_ZETA, 1e33, 3, 0},
    {TSR_TILE_ZETA, 2, 0x1p+800, 0x1p-800},
    {TSR_TILE_ZETA, 1e33, 0.5, INFINITY},
    {TSR_TILE_ZETA, 2, 1, 0x1.a51a6625307d3p+0},
    {TSR_TILE_ZETA, 0x1.8000000000000p+0, 0x1.0000000000000p-2, 0x1.46d15979ae212p+3},
    {TSR_TILE_ZETA, 0x1.00068db8bac71p+0, 3, 0x1.38789e393c09fp+13},
    {TSR_TILE_ZETA, 3, 0x1.4f8b588e368f1p-17, 0x1.c6bf526340008p+49},
    {TSR_TILE_ZETA, 25, 0x1.f800000000000p+3, 0x1.e6cfe00107bbbp-100},
    {TSR_TILE_ZETA, 2, 0x1.2a05f20000000p+33, 0x1.b7cdfd9dda4e3p-34},
    {TSR_TILE_ZETA, 60, 0x1.0000000000000p-1, 0x1.0000000000000p+60},
    {TSR_TILE_ZETA, 2, -0x1.8000000000000p-1, 0x1.2f9a09ba04438p+4},
    {TSR_TILE_ZETA, 4, -0x1.9000000000000p+2, 0x1.03c1aa3da1fd7p+8},
    {TSR_TILE_ZETA, 3, -0x1.e8480c0000000p+19, -0x1.e17f20c6157fep+3},
    {TSR_TILE_POLYGAMMA, 0, 0x1.4000000000000p+1, 0x1.680425af12b5ep-1},
    {TSR_TILE_POLYGAMMA, 1, 0x1.0000000000000p-2, 0x1.1328429d927c6p+4},
    {TSR_TILE_POLYGAMMA, 2, 0x1.e000000000000p+2, -0x1.4cae66e53e02fp-6},
    {TSR_TILE_POLYGAMMA, 10, 0x1.8000000000000p+0, -0x1.48f9b7b091312p+15},
    {TSR_TILE_POLYGAMMA, 29, 0x1.a000000000000p+1, 0x1.ba7937e0419ddp+51},
    {TSR_TILE_POLYGAMMA, 100, 12, -0x1.9b59d3964ecc8p+162},
    {TSR_TILE_POLYGAMMA, 200, 30, -0x1.11e52bb7e477fp+259},
    {TSR_TILE_POLYGAMMA, 1, -0x1.8000000000000p-1, 0x1.2f9a09ba04438p+4},
    {TSR_TILE_POLYGAMMA, 3, -0x1.2000000000000p+1, 0x1.859d1f19949cdp+10},
};

static void special_functions_are_accurate(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    const void *const in[] = {&values[i].x, &values[i].y};
    double got;
    tsr_tile_math_loop(values[i].op, TSR_F64)(&got, in, 1);
    if (test_units64(got, (long double)values[i].want) > 4) fail_msg("row %d: %a", (int)i, got);
  }
}

// What cancels for negative arguments in f64 has digits to spare for f32.
static void special_functions_of_f32_are_rounded_once(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    const float x = (float)values[i].x, y = (float)values[i].y;
    const double wide_x = (double)x, wide_y = (double)y;
    float got;
    double want;
    tsr_tile_math_loop(values[i].op, TSR_F32)(&got, (const void *const[]){&x, &y}, 1);
    tsr_tile_math_loop(values[i].op, TSR_F64)(&want, (const void *const[]){&wide_x, &wide_y}, 1);
    if (test_units32(got, want) > 0.52) fail_msg("row %d: %a", (int)i, (double)got);
  }
}

static const struct {
  tsr_tile_op op;
  double x, y, want;
} limits[] = {
    {TSR_TILE_ZETA, 1, 3, INFINITY},
    {TSR_TILE_ZETA, 0.5, 3, NAN},
    {TSR_TILE_ZETA, 2, -1, INFINITY},
    {TSR_TILE_ZETA, 3, -1, NAN},
    {TSR_TILE_ZETA, 2.5, -0.5, NAN},
    {TSR_TILE_ZETA, 2, 0, INFINITY},
    {TSR_TILE_ZETA, NAN, 1, NAN},
    {TSR_TILE_ZETA, 2, NAN, NAN},
    {TSR_TILE_POLYGAMMA, -1, 2, NAN},
    {TSR_TILE_POLYGAMMA, 0.5, 2, NAN},
    {TSR_TILE_POLYGAMMA, 1, 0, INFINITY},
    {TSR_TILE_POLYGAMMA, 2, -1, NAN},
    {TSR_TILE_POLYGAMMA, 300, 2.5, -INFINITY},
};

static void poles_give_what_xla_gives(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(limits); i++) {
    double got;
    tsr_tile_math_loop(limits[i].op, TSR_F64)(&got,
                                              (const void *const[]){&limits[i].x, &limits[i].y}, 1);
    if (test_units64(got, (long double)limits[i].want) != 0) fail_msg("row %d: %a", (int)i, got);
  }
}

SUITE(math_special, TEST(special_functions_are_accurate),
      TEST(special_functions_of_f32_are_rounded_once), TEST(poles_give_what_xla_gives))
