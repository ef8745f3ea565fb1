// Triangular systems and Cholesky factors: what they solve is put in again and compared, in all
// forms and types, by own loops and by the module of BLAS where it is there.
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/triangles.h"
#include "support/test.h"

static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_C64, TSR_C128};

static bool is_complex(tsr_dtype dtype) { return dtype == TSR_C64 || dtype == TSR_C128; }
static bool is_single(tsr_dtype dtype) { return dtype == TSR_F32 || dtype == TSR_C64; }

static double complex get(tsr_dtype dtype, const void *numbers, int64_t i) {
  const float *f = numbers;
  const double *d = numbers;
  if (!is_complex(dtype)) return is_single(dtype) ? (double)f[i] : d[i];
  return is_single(dtype) ? (double)f[2 * i] + (double)f[2 * i + 1] * I
                          : d[2 * i] + d[2 * i + 1] * I;
}

static void put(tsr_dtype dtype, void *numbers, int64_t i, double complex value) {
  float *f = numbers;
  double *d = numbers;
  const int64_t at = is_complex(dtype) ? 2 * i : i;
  if (is_single(dtype))
    f[at] = (float)creal(value);
  else
    d[at] = creal(value);
  if (is_complex(dtype) && is_single(dtype)) f[at + 1] = (float)cimag(value);
  if (is_complex(dtype) && !is_single(dtype)) d[at + 1] = cimag(value);
}

static double complex draw(test_random *random) {
  return (double)test_random_range(random, -1000, 1000) / 1000 +
         (double)test_random_range(random, -1000, 1000) / 1000 * I;
}

enum { MOST = 160, ROOM = 2 * MOST * MOST * 16 };

typedef struct memory {
  char a[ROOM], b[ROOM], x[ROOM];
} memory;

// Element (i, j) of op(A), zeros and ones in the places that are not read.
static double complex element(const tsr_triangular_solve *s, const char *a, int64_t i, int64_t j) {
  const bool turned = s->transposed != TSR_AS_IT_IS;
  const int64_t row = turned ? j : i, column = turned ? i : j;
  if (s->unit && i == j) return 1;
  if (s->lower ? column > row : column < row) return 0;
  const double complex value = get(s->dtype, a, row * s->size + column);
  return s->transposed == TSR_ADJOINT ? conj(value) : value;
}

static void check_solution(const tsr_triangular_solve *s, memory *m, int64_t batch) {
  const int64_t bytes = tsr_dtype_info_of(s->dtype)->bits / 8;
  const char *a = m->a + batch * s->size * s->size * bytes;
  const char *b = m->b + batch * s->size * s->others * bytes;
  const char *x = m->x + batch * s->size * s->others * bytes;
  for (int64_t i = 0; i < s->size; i++)
    for (int64_t c = 0; c < s->others; c++) {
      double complex sum = 0;
      for (int64_t k = 0; k < s->size; k++)
        sum += s->left ? element(s, a, i, k) * get(s->dtype, x, k * s->others + c)
                       : get(s->dtype, x, c * s->size + k) * element(s, a, k, i);
      const double complex wanted = get(s->dtype, b, s->left ? i * s->others + c : c * s->size + i);
      assert_true(cabs(sum - wanted) < (is_single(s->dtype) ? 2e-4 : 1e-12));
    }
}

static void fill(const tsr_triangular_solve *s, memory *m, test_random *random) {
  const int64_t square = s->size * s->size;
  for (int64_t i = 0; i < s->batches * square; i++) {
    const bool diagonal = i % square % (s->size + 1) == 0;
    const double scale = s->unit ? 1.0 / (double)(s->size + 1) : 1.0;
    put(s->dtype, m->a, i, diagonal ? draw(random) + 3.0 : draw(random) * scale / (double)s->size);
  }
  for (int64_t i = 0; i < s->batches * s->size * s->others; i++)
    put(s->dtype, m->b, i, draw(random));
}

static void solve_all(int64_t batches, int64_t size, int64_t others, const tsr_blas *blas) {
  memory *m = malloc(sizeof *m);
  test_random random = {5};
  for (size_t d = 0; d < COUNT_OF(dtypes); d++)
    for (int form = 0; form < 24; form++) {
      const tsr_triangular_solve s = {.dtype = dtypes[d],
                                      .blas = blas,
                                      .batches = batches,
                                      .size = size,
                                      .others = others,
                                      .left = form & 1,
                                      .lower = form & 2,
                                      .unit = form & 4,
                                      .transposed = (tsr_transposed)(form / 8)};
      fill(&s, m, &random);
      const char *inputs[] = {m->a, m->b};
      char *outputs[] = {m->x};
      assert_ok(
          tsr_triangular_solve_run(&s, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
      for (int64_t batch = 0; batch < batches; batch++) check_solution(&s, m, batch);
    }
  free(m);
}

static void systems_are_solved_in_every_form(void **state) {
  (void)state;
  solve_all(2, 5, 3, NULL);
  solve_all(1, 1, 1, NULL);
  solve_all(1, 40, 33, NULL);
  solve_all(3, 0, 2, NULL);
  if (tsr_blas_load()) solve_all(2, 40, 33, tsr_blas_load());
}

static void factor(const tsr_cholesky *c, memory *m) {
  const char *inputs[] = {m->a};
  char *outputs[] = {m->x};
  assert_ok(tsr_cholesky_run(c, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
}

static void check_factor(const tsr_cholesky *c, const memory *m, const double complex *wanted) {
  const int64_t n = c->size;
  for (int64_t b = 0; b < c->batches; b++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        if (c->lower ? j > i : j < i) assert_true(get(c->dtype, m->x, b * n * n + i * n + j) == 0);
        double complex sum = 0;
        for (int64_t k = 0; k < n; k++) {
          const double complex x =
              get(c->dtype, m->x, b * n * n + (c->lower ? i * n + k : k * n + i));
          const double complex y =
              get(c->dtype, m->x, b * n * n + (c->lower ? j * n + k : k * n + j));
          sum += c->lower ? x * conj(y) : conj(x) * y;
        }
        assert_true(cabs(sum - wanted[i * n + j]) <
                    (double)n * (is_single(c->dtype) ? 1e-5 : 1e-13));
      }
}

// A = M M^H + n, with NaNs in the triangle that is not read.
static void factor_all(int64_t batches, int64_t n, const tsr_blas *blas) {
  memory *m = malloc(sizeof *m);
  double complex *wanted = calloc((size_t)(n * n) + 1, sizeof *wanted);
  double complex *root = calloc((size_t)(n * n) + 1, sizeof *root);
  assert_true(m && wanted && root);
  test_random random = {9};
  for (int form = 0; form < 8; form++) {
    const tsr_cholesky c = {dtypes[form / 2], blas, batches, n, form & 1, false};
    for (int64_t i = 0; i < n * n; i++)
      root[i] = is_complex(c.dtype) ? draw(&random) : creal(draw(&random));
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        double complex sum = i == j ? (double)n : 0;
        for (int64_t k = 0; k < n; k++) sum += root[i * n + k] * conj(root[j * n + k]);
        wanted[i * n + j] = sum;
        const bool read = c.lower ? j <= i : j >= i;
        for (int64_t b = 0; b < batches; b++)
          put(c.dtype, m->a, b * n * n + i * n + j, read ? sum : (double)NAN);
      }
    factor(&c, m);
    check_factor(&c, m, wanted);
  }
  free(root);
  free(wanted);
  free(m);
}

static void factors_multiply_to_their_matrix(void **state) {
  (void)state;
  factor_all(2, 7, NULL);
  factor_all(1, 0, NULL);
  factor_all(1, 40, NULL);
  if (!tsr_blas_load()) return;
  factor_all(2, 40, tsr_blas_load());
  factor_all(1, 160, tsr_blas_load());
}

static void matrices_without_a_factor_give_nans(void **state) {
  (void)state;
  const double bad[] = {1, 2, 2, 1, 4, 0, 0, 4};
  memory *m = malloc(sizeof *m);
  for (int lower = 0; lower < 2; lower++) {
    memcpy(m->a, bad, sizeof bad);
    factor(&(tsr_cholesky){TSR_F64, NULL, 2, 2, lower, false}, m);
    double x[8];
    memcpy(x, m->x, sizeof x);
    for (int i = 0; i < 4; i++) assert_true(isnan(x[i]));
    assert_true(x[4] == 2 && x[5] == 0 && x[6] == 0 && x[7] == 2);
  }
  free(m);
}

SUITE(triangles, TEST(systems_are_solved_in_every_form), TEST(factors_multiply_to_their_matrix),
      TEST(matrices_without_a_factor_give_nans))
