// Triangular systems and Cholesky factors, by BLAS and LAPACK where matrices are large, by own
// loops otherwise.
//
// Row-major matrices are the transposes of what BLAS reads: sides and triangles change places.
// Large Cholesky factors go panel by panel: the factor of a block on the diagonal, the rows below
// it, then the rest of the matrix less the product of those rows, tile by tile on all workers.
#include "kernel/triangles.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

// ---- own loops ----

typedef struct complex_f32 {
  float re, im;
} complex_f32;
typedef struct complex_f64 {
  double re, im;
} complex_f64;

#define LESS_PRODUCT(x, a, b) ((x) -= (a) * (b))
#define QUOTIENT(x, a) ((x) /= (a))
#define CONJUGATE(a) (a)
#define REAL_PART(a) (a)
#define FROM_REAL(a) (a)
#define NUMBER float
#define SQUARE_ROOT sqrtf
#define NOT_A_NUMBER NAN
#define NAMED(name) name##_f32
#include "kernel/triangles.inc"
#undef SQUARE_ROOT
#undef NOT_A_NUMBER
#define NUMBER double
#define SQUARE_ROOT sqrt
#define NOT_A_NUMBER ((double)NAN)
#define NAMED(name) name##_f64
#include "kernel/triangles.inc"
#undef LESS_PRODUCT
#undef QUOTIENT
#undef CONJUGATE
#undef REAL_PART
#undef FROM_REAL
#undef SQUARE_ROOT
#undef NOT_A_NUMBER

// Quotients scale by the larger component, so that no square overflows.
#define COMPLEX_QUOTIENT(type, real, absolute)                            \
  static inline void quotient_##type(type *x, type a) {                   \
    const bool wide = absolute(a.re) >= absolute(a.im);                   \
    const real ratio = wide ? a.im / a.re : a.re / a.im;                  \
    const real below = wide ? a.re + a.im * ratio : a.re * ratio + a.im;  \
    const real re = wide ? x->re + x->im * ratio : x->re * ratio + x->im; \
    const real im = wide ? x->im - x->re * ratio : x->im * ratio - x->re; \
    x->re = re / below;                                                   \
    x->im = im / below;                                                   \
  }
COMPLEX_QUOTIENT(complex_f32, float, fabsf)
COMPLEX_QUOTIENT(complex_f64, double, fabs)

#define LESS_PRODUCT(x, a, b)                \
  do {                                       \
    const NUMBER a_ = (a), b_ = (b);         \
    (x).re -= a_.re * b_.re - a_.im * b_.im; \
    (x).im -= a_.re * b_.im + a_.im * b_.re; \
  } while (0)
#define CONJUGATE(a) ((NUMBER){(a).re, -(a).im})
#define REAL_PART(a) (a).re
#define FROM_REAL(a) ((NUMBER){(a), 0})
#define NOT_A_NUMBER ((NUMBER){NAN, NAN})
#define NUMBER complex_f32
#define QUOTIENT(x, a) quotient_complex_f32(&(x), (a))
#define SQUARE_ROOT sqrtf
#define NAMED(name) name##_c64
#include "kernel/triangles.inc"
#undef QUOTIENT
#undef SQUARE_ROOT
#define NUMBER complex_f64
#define QUOTIENT(x, a) quotient_complex_f64(&(x), (a))
#define SQUARE_ROOT sqrt
#define NAMED(name) name##_c128
#include "kernel/triangles.inc"

typedef struct triangle_functions {
  void (*solve)(const tsr_triangular_solve *solve, const void *a, void *b, int64_t first,
                int64_t count);
  bool (*factor)(void *matrix, int64_t size, int64_t stride);
  void (*mirror)(void *matrix, int64_t size, bool to_lower);
  void (*finish)(void *matrix, int64_t size, bool lower, bool failed);
  int64_t bytes;
} triangle_functions;

#define ROW(name, bytes) \
  { solve_##name, factor_##name, mirror_##name, finish_##name, bytes }
static const triangle_functions functions[TSR_BLAS_TYPES] = {
    [TSR_BLAS_F32] = ROW(f32, 4),
    [TSR_BLAS_F64] = ROW(f64, 8),
    [TSR_BLAS_C64] = ROW(c64, 8),
    [TSR_BLAS_C128] = ROW(c128, 16),
};

// 1 and -1 of each type, as BLAS wants them.
static const float units_f32[2][2] = {{1, 0}, {-1, 0}};
static const double units_f64[2][2] = {{1, 0}, {-1, 0}};
static const void *unit_of(int type, bool negative) {
  const bool single = type == TSR_BLAS_F32 || type == TSR_BLAS_C64;
  return single ? (const void *)units_f32[negative] : (const void *)units_f64[negative];
}

// ---- systems ----

enum { OWN_SIZE = 24 };  // matrices up to this size are not worth a call of BLAS

static void solve_by_blas(const tsr_triangular_solve *solve, const char *a, char *b, int64_t first,
                          int64_t count) {
  const int type = tsr_blas_type(solve->dtype);
  const int size = (int)solve->size, number = (int)count;
  const int stride = solve->left ? (int)solve->others : size;
  char *start = b + (solve->left ? first : first * size) * functions[type].bytes;
  const char *transposed = &"NTC"[solve->transposed];
  const int *rows = solve->left ? &number : &size, *columns = solve->left ? &size : &number;
  solve->blas->of[type].trsm(solve->left ? "R" : "L", solve->lower ? "U" : "L", transposed,
                             solve->unit ? "U" : "N", rows, columns, unit_of(type, false), a, &size,
                             start, &stride, 1, 1, 1, 1);
}

typedef struct solve_run {
  const tsr_triangular_solve *solve;
  const char *a;
  char *b;
  int64_t chunk, chunks;  // of the columns, or rows, of B
} solve_run;

static tsr_status solve_chunk(void *context, int64_t index, int worker) {
  (void)worker;
  const solve_run *run = context;
  const tsr_triangular_solve *solve = run->solve;
  const triangle_functions *own = &functions[tsr_blas_type(solve->dtype)];
  const int64_t batch = index / run->chunks, first = index % run->chunks * run->chunk;
  const int64_t count = tsr_least(run->chunk, solve->others - first);
  const char *a = run->a + batch * solve->size * solve->size * own->bytes;
  char *b = run->b + batch * solve->size * solve->others * own->bytes;
  if (solve->blas && solve->size > OWN_SIZE)
    solve_by_blas(solve, a, b, first, count);
  else
    own->solve(solve, a, b, first, count);
  return NULL;
}

tsr_status tsr_triangular_solve_run(const void *description, const tsr_kernel_call *call) {
  const tsr_triangular_solve *solve = description;
  const int64_t bytes = functions[tsr_blas_type(solve->dtype)].bytes;
  const int64_t numbers = solve->batches * solve->size * solve->others;
  if (numbers == 0) return NULL;
  if (call->outputs[0] != call->inputs[1])
    memcpy(call->outputs[0], call->inputs[1], (size_t)(numbers * bytes));
  enum { TASK = 1 << 21 };  // products
  const int64_t square = solve->size * solve->size;
  solve_run run = {solve, call->inputs[0], call->outputs[0], TASK / (square + 1) + 16, 1};
  run.chunk = tsr_least(run.chunk, solve->others);
  run.chunks = (solve->others + run.chunk - 1) / run.chunk;
  const bool worth = solve->batches * solve->others * square > TASK;
  return tsr_pool_run(worth ? call->pool : NULL, solve->batches * run.chunks, solve_chunk, &run);
}

// ---- Cholesky ----

enum { PANEL = 128, TILE = 128 };

// One matrix in panels. `from` is the first row below the block on the diagonal at `at`.
typedef struct cholesky_panel {
  const tsr_cholesky *cholesky;
  char *matrix;
  int64_t at, from;
} cholesky_panel;

static char *element_of(const cholesky_panel *panel, int64_t row, int64_t column) {
  const int64_t bytes = functions[tsr_blas_type(panel->cholesky->dtype)].bytes;
  return panel->matrix + (row * panel->cholesky->size + column) * bytes;
}

// Some rows below the block: X L^H = A.
static tsr_status solve_rows(void *context, int64_t index, int worker) {
  (void)worker;
  const cholesky_panel *panel = context;
  const int type = tsr_blas_type(panel->cholesky->dtype);
  const int64_t first = panel->from + index * TILE;
  const int stride = (int)panel->cholesky->size, width = (int)(panel->from - panel->at);
  const int rows = (int)tsr_least(TILE, panel->cholesky->size - first);
  panel->cholesky->blas->of[type].trsm("L", "U", "C", "N", &width, &rows, unit_of(type, false),
                                       element_of(panel, panel->at, panel->at), &stride,
                                       element_of(panel, first, panel->at), &stride, 1, 1, 1, 1);
  return NULL;
}

// One tile of the rest, of the lower triangle: less the product of its rows and columns.
static tsr_status update_tile(void *context, int64_t index, int worker) {
  (void)worker;
  const cholesky_panel *panel = context;
  const int type = tsr_blas_type(panel->cholesky->dtype);
  int64_t row = 0;
  while ((row + 1) * (row + 2) / 2 <= index) row++;
  const int64_t i = panel->from + row * TILE;
  const int64_t j = panel->from + (index - row * (row + 1) / 2) * TILE;
  const int64_t size = panel->cholesky->size;
  const int stride = (int)size, width = (int)(panel->from - panel->at);
  const int rows = (int)tsr_least(TILE, size - i), columns = (int)tsr_least(TILE, size - j);
  panel->cholesky->blas->of[type].gemm(
      "C", "N", &columns, &rows, &width, unit_of(type, true), element_of(panel, j, panel->at),
      &stride, element_of(panel, i, panel->at), &stride, unit_of(type, false),
      element_of(panel, i, j), &stride, 1, 1);
  return NULL;
}

static tsr_status factor_by_panels(const tsr_cholesky *cholesky, char *matrix, tsr_pool *pool,
                                   bool *out_factored) {
  const tsr_blas_functions *blas = &cholesky->blas->of[tsr_blas_type(cholesky->dtype)];
  const int stride = (int)cholesky->size;
  *out_factored = true;
  for (int64_t at = 0; at < cholesky->size && *out_factored; at += PANEL) {
    cholesky_panel panel = {cholesky, matrix, at, tsr_least(at + PANEL, cholesky->size)};
    const int width = (int)(panel.from - at);
    int info = 0;
    blas->potrf("U", &width, element_of(&panel, at, at), &stride, &info, 1);
    *out_factored = info == 0;
    const int64_t tiles = (cholesky->size - panel.from + TILE - 1) / TILE;
    TSR_TRY(tsr_pool_run(pool, tiles, solve_rows, &panel));
    TSR_TRY(tsr_pool_run(pool, tiles * (tiles + 1) / 2, update_tile, &panel));
  }
  return NULL;
}

static tsr_status factor_matrix(const tsr_cholesky *cholesky, char *matrix, tsr_pool *pool,
                                char *out_info) {
  const triangle_functions *own = &functions[tsr_blas_type(cholesky->dtype)];
  const int64_t size = cholesky->size;
  if (!cholesky->lower) own->mirror(matrix, size, true);
  bool factored = true;
  if (cholesky->blas && size > OWN_SIZE)
    TSR_TRY(factor_by_panels(cholesky, matrix, pool, &factored));
  else
    factored = own->factor(matrix, size, size);
  if (!cholesky->lower) own->mirror(matrix, size, false);
  const int32_t info = !factored;
  if (cholesky->reports && out_info)
    memcpy(out_info, &info, sizeof info);
  else
    own->finish(matrix, size, cholesky->lower, !factored);
  return NULL;
}

typedef struct cholesky_run {
  const tsr_cholesky *cholesky;
  char *matrices, *infos;
} cholesky_run;

static tsr_status factor_one(void *context, int64_t index, int worker) {
  (void)worker;
  const cholesky_run *run = context;
  const int64_t bytes = functions[tsr_blas_type(run->cholesky->dtype)].bytes;
  const int64_t square = run->cholesky->size * run->cholesky->size;
  return factor_matrix(run->cholesky, run->matrices + index * square * bytes, NULL,
                       run->infos ? run->infos + index * (int64_t)sizeof(int32_t) : NULL);
}

tsr_status tsr_cholesky_run(const void *description, const tsr_kernel_call *call) {
  const tsr_cholesky *cholesky = description;
  const int64_t bytes = functions[tsr_blas_type(cholesky->dtype)].bytes;
  const int64_t square = cholesky->size * cholesky->size, batches = cholesky->batches;
  cholesky_run run = {cholesky, call->outputs[0], cholesky->reports ? call->outputs[1] : NULL};
  if (cholesky->reports && batches) memset(run.infos, 0, sizeof(int32_t) * (size_t)batches);
  if (square * batches == 0) return NULL;
  if (call->outputs[0] != call->inputs[0])
    memcpy(call->outputs[0], call->inputs[0], (size_t)(batches * square * bytes));
  if (batches == 1) return factor_matrix(cholesky, run.matrices, call->pool, run.infos);
  const bool worth = batches * square * cholesky->size > 1 << 20;
  return tsr_pool_run(worth ? call->pool : NULL, batches, factor_one, &run);
}
