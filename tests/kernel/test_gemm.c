// Products against plain loops over numbers: every element type, every order of dims, every way of
// computing, on 1, 2 and 5 workers. Elements are small whole numbers, so that every order of sums
// gives the same bits.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element/convert_blocks.h"
#include "kernel/gemm.h"
#include "support/test.h"

enum { MOST_WORKERS = 5 };

typedef struct product_case {
  int64_t batch, m, n, k;
  bool left_transposed, right_transposed;
  tsr_dtype left, right, result;
} product_case;

// ---- elements as numbers ----

static void write_number(tsr_dtype dtype, char *at, double complex number) {
  const double real = creal(number);
  const float narrow = (float)real;
  const int64_t whole = (int64_t)real;
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (dtype == TSR_C64) {
    const float pair[] = {narrow, (float)cimag(number)};
    memcpy(at, pair, sizeof pair);
  } else if (dtype == TSR_C128) {
    const double pair[] = {real, cimag(number)};
    memcpy(at, pair, sizeof pair);
  } else if (info->kind == TSR_CLASS_FLOAT) {
    tsr_block_store_f32(dtype, &narrow, at, 1);
  } else if (dtype == TSR_BOOL) {
    *at = whole != 0;
  } else {
    memcpy(at, &whole, (size_t)tsr_gemm_element_bytes(dtype));
  }
}

// What the type keeps of a sum.
static double complex kept(tsr_dtype dtype, double complex number) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const int64_t whole = (int64_t)creal(number);
  if (dtype == TSR_BOOL) return whole != 0;
  if (info->kind == TSR_CLASS_SIGNED && info->bits < 64)
    return (double)((int64_t)((uint64_t)whole << (64 - info->bits)) >> (64 - info->bits));
  if (info->kind == TSR_CLASS_UNSIGNED && info->bits < 64)
    return (double)(whole & ((INT64_C(1) << info->bits) - 1));
  return number;
}

static double complex small_number(test_random *random, tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const bool negative =
      info->kind != TSR_CLASS_UNSIGNED && dtype != TSR_BOOL && dtype != TSR_F8E8M0FNU;
  const int64_t low = dtype == TSR_F8E8M0FNU ? 1 : 0;
  const double real = (double)test_random_range(random, negative ? -1 : low, 1);
  if (info->kind != TSR_CLASS_COMPLEX) return real;
  return real + (double)test_random_range(random, -1, 1) * I;
}

typedef struct test_tensor {
  double complex *numbers;
  char *elements;
} test_tensor;

static test_tensor make_tensor(test_random *random, tsr_dtype dtype, int64_t count) {
  const int64_t bytes = tsr_gemm_element_bytes(dtype);
  test_tensor tensor = {calloc((size_t)count + 1, sizeof(double complex)),
                        calloc((size_t)count + 1, (size_t)bytes)};
  for (int64_t i = 0; i < count; i++) {
    tensor.numbers[i] = small_number(random, dtype);
    write_number(dtype, tensor.elements + i * bytes, tensor.numbers[i]);
  }
  return tensor;
}

static void free_tensor(test_tensor *tensor) {
  free(tensor->numbers);
  free(tensor->elements);
}

// ---- running ----

static void set_walk(tsr_gemm_walk *walk, int64_t size, int64_t stride) {
  tsr_gemm_walk_init(walk);
  tsr_gemm_walk_add(walk, size, stride);
}

static void set_side(tsr_gemm_side *side, int input, tsr_dtype dtype, const product_case *c,
                     int64_t rows, bool depth_inside) {
  *side = (tsr_gemm_side){.input = input, .dtype = dtype};
  set_walk(&side->batch, c->batch, rows * c->k);
  set_walk(&side->rows, rows, depth_inside ? c->k : 1);
  set_walk(&side->depth, c->k, depth_inside ? 1 : rows);
}

static tsr_gemm gemm_of(const product_case *c) {
  tsr_gemm gemm = {.result.dtype = c->result};
  set_side(&gemm.left, 0, c->left, c, c->m, !c->left_transposed);
  set_side(&gemm.right, 1, c->right, c, c->n, c->right_transposed);
  set_walk(&gemm.result.batch, c->batch, c->m * c->n);
  set_walk(&gemm.result.rows, c->m, c->n);
  set_walk(&gemm.result.columns, c->n, 1);
  return gemm;
}

static void run_gemm(const tsr_gemm *gemm, const char *const *inputs, char *output, int workers) {
  tsr_pool *pool = NULL;
  if (workers > 1) assert_ok(tsr_pool_create(workers, &pool));
  const int64_t scratch_bytes = (gemm->scratch_bytes + 63) / 64 * 64;
  char *scratch = aligned_alloc(64, (size_t)(scratch_bytes * MOST_WORKERS + 64));
  memset(scratch, 0xff, (size_t)(scratch_bytes * MOST_WORKERS));  // NaNs
  char *temp = aligned_alloc(64, (size_t)(gemm->temp_bytes + 63) / 64 * 64 + 64);
  const tsr_kernel_call call = {.inputs = inputs,
                                .temp = temp,
                                .outputs = &output,
                                .scratch = scratch,
                                .scratch_bytes = scratch_bytes,
                                .pool = pool};
  assert_ok(tsr_gemm_run(gemm, &call));
  free(scratch);
  free(temp);
  tsr_pool_destroy(pool);
}

static double complex plain_sum(const product_case *c, const test_tensor *a, const test_tensor *b,
                                int64_t batch, int64_t row, int64_t column) {
  double complex sum = 0;
  for (int64_t k = 0; k < c->k; k++) {
    const int64_t left = c->left_transposed ? k * c->m + row : row * c->k + k;
    const int64_t right = c->right_transposed ? column * c->k + k : k * c->n + column;
    sum += a->numbers[batch * c->m * c->k + left] * b->numbers[batch * c->n * c->k + right];
  }
  return sum;
}

static void check_product(const product_case *c, test_random *random) {
  test_tensor a = make_tensor(random, c->left, c->batch * c->m * c->k);
  test_tensor b = make_tensor(random, c->right, c->batch * c->n * c->k);
  const int64_t count = c->batch * c->m * c->n, bytes = tsr_gemm_element_bytes(c->result);
  char *wanted = calloc((size_t)count + 1, (size_t)bytes);
  for (int64_t i = 0; i < count; i++)
    write_number(
        c->result, wanted + i * bytes,
        kept(c->result, plain_sum(c, &a, &b, i / (c->m * c->n), i / c->n % c->m, i % c->n)));
  tsr_gemm gemm = gemm_of(c);
  assert_ok(tsr_gemm_plan(&gemm));
  char *found = malloc((size_t)(count * bytes) + 1);
  const int workers[] = {1, 2, 5};
  for (size_t i = 0; i < COUNT_OF(workers); i++) {
    memset(found, 0x5a, (size_t)(count * bytes) + 1);
    run_gemm(&gemm, (const char *[]){a.elements, b.elements}, found, workers[i]);
    assert_memory_equal(found, wanted, (size_t)(count * bytes));
    assert_int_equal(found[count * bytes], 0x5a);
  }
  gemm.kernels = &tsr_gemm_plain[gemm.type];
  assert_ok(tsr_gemm_plan(&gemm));
  run_gemm(&gemm, (const char *[]){a.elements, b.elements}, found, 1);
  assert_memory_equal(found, wanted, (size_t)(count * bytes));
  free(found);
  free(wanted);
  free_tensor(&a);
  free_tensor(&b);
}

// ---- tests ----

static const int64_t sizes[][4] = {
    // batch, m, n, k
    {1, 1, 1, 1},    {1, 4, 4, 4},     {1, 6, 16, 8},  {1, 7, 17, 9},    {3, 5, 3, 2},
    {1, 1, 40, 33},  {1, 40, 1, 33},   {1, 1, 70, 90}, {1, 70, 1, 90},   {2, 13, 50, 65},
    {1, 3, 100, 70}, {1, 100, 20, 40}, {1, 9, 8, 300}, {1, 200, 35, 50}, {5, 1, 1, 100},
    {0, 3, 3, 3},    {2, 0, 3, 3},     {2, 3, 0, 3},   {2, 3, 4, 0},
};

static void products_of_every_order_are_exact(void **state) {
  (void)state;
  test_random random = {1};
  const tsr_dtype types[] = {TSR_F32, TSR_F64, TSR_I32, TSR_C64, TSR_BF16};
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
      for (int order = 0; order < 4; order++)
        check_product(&(product_case){sizes[s][0], sizes[s][1], sizes[s][2], sizes[s][3], order & 1,
                                      order & 2, types[t], types[t], types[t]},
                      &random);
}

// Left, right and result.
static const tsr_dtype mixed[][3] = {
    {TSR_I8, TSR_I8, TSR_I32},           {TSR_I8, TSR_U8, TSR_I32},
    {TSR_U8, TSR_U8, TSR_U64},           {TSR_I4, TSR_I8, TSR_I16},
    {TSR_BF16, TSR_BF16, TSR_F32},       {TSR_F16, TSR_F32, TSR_F32},
    {TSR_F8E4M3FN, TSR_F8E5M2, TSR_F32}, {TSR_F32, TSR_F64, TSR_F64},
    {TSR_C64, TSR_C128, TSR_C128},       {TSR_F8E8M0FNU, TSR_F4E2M1FN, TSR_BF16},
};

static void products_of_every_type_are_exact(void **state) {
  (void)state;
  test_random random = {2};
  const int64_t few[][4] = {{2, 5, 19, 21}, {1, 1, 33, 70}, {1, 20, 9, 3}};
  for (size_t s = 0; s < COUNT_OF(few); s++) {
    for (int order = 0; order < 4; order++) {
      product_case c = {few[s][0], few[s][1], few[s][2], few[s][3], order & 1, order & 2, 0, 0, 0};
      for (tsr_dtype type = TSR_DTYPE_NONE + 1; type < TSR_DTYPE_COUNT; type++) {
        if (type == TSR_F8E8M0FNU) continue;  // it has no zero
        const tsr_dtype_info *info = tsr_dtype_info_of(type);
        const bool coarse = info->kind == TSR_CLASS_FLOAT && info->bits <= 8;
        c.left = c.right = type;
        c.result = coarse ? TSR_F32 : type;
        check_product(&c, &random);
      }
      for (size_t i = 0; i < COUNT_OF(mixed); i++) {
        c.left = mixed[i][0], c.right = mixed[i][1], c.result = mixed[i][2];
        check_product(&c, &random);
      }
    }
  }
}

static void large_products_are_split_and_exact(void **state) {
  (void)state;
  test_random random = {3};
  const product_case cases[] = {
      {1, 300, 1100, 300, false, false, TSR_F32, TSR_F32, TSR_F32},
      {1, 301, 501, 270, true, true, TSR_F32, TSR_F32, TSR_F32},
      {1, 1500, 400, 330, false, false, TSR_F32, TSR_F32, TSR_F32},
      {1, 400, 900, 330, false, false, TSR_F32, TSR_F32, TSR_F32},
      {1, 390, 401, 200, true, true, TSR_F16, TSR_BF16, TSR_F32},
      {1, 400, 4200, 170, false, true, TSR_I32, TSR_I8, TSR_I32},
      {1, 403, 403, 100, false, true, TSR_F16, TSR_F16, TSR_F16},
      {40, 100, 60, 64, false, false, TSR_F64, TSR_F64, TSR_F64},
      {1, 1, 3000, 200, false, false, TSR_F32, TSR_F32, TSR_F32},
      {1, 3000, 1, 200, false, false, TSR_F32, TSR_F32, TSR_F32},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_gemm gemm = gemm_of(&cases[i]);
    assert_ok(tsr_gemm_plan(&gemm));
    check_product(&cases[i], &random);
  }
}

// Dims that have no common stride: rows (3, 4), columns (2, 5), depth (2, 3), each interleaved.
static void dims_without_one_stride_are_walked(void **state) {
  (void)state;
  float a[3][2][4][3], b[2][5][3][2], wanted[2][3][5][4], found[2][3][5][4];
  float *numbers[] = {&a[0][0][0][0], &b[0][0][0][0]};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < (t ? 60 : 72); i++) numbers[t][i] = (float)(i * 7 % 11 - 5);
  tsr_gemm gemm = {.left = {.input = 0, .dtype = TSR_F32},
                   .right = {.input = 1, .dtype = TSR_F32},
                   .result = {.dtype = TSR_F32}};
  tsr_gemm_walk *walks[] = {&gemm.left.batch,   &gemm.left.rows,   &gemm.left.depth,
                            &gemm.right.batch,  &gemm.right.rows,  &gemm.right.depth,
                            &gemm.result.batch, &gemm.result.rows, &gemm.result.columns};
  const int64_t dims[COUNT_OF(walks)][4] = {{1, 0, 1, 0}, {3, 24, 4, 3}, {2, 12, 3, 1},
                                            {1, 0, 1, 0}, {2, 30, 5, 6}, {2, 1, 3, 2},
                                            {1, 0, 1, 0}, {3, 20, 4, 1}, {2, 60, 5, 4}};
  for (size_t i = 0; i < COUNT_OF(walks); i++) {
    tsr_gemm_walk_init(walks[i]);
    tsr_gemm_walk_add(walks[i], dims[i][0], dims[i][1]);
    tsr_gemm_walk_add(walks[i], dims[i][2], dims[i][3]);
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      for (int p = 0; p < 2; p++)
        for (int q = 0; q < 5; q++) {
          float sum = 0;
          for (int d = 0; d < 2; d++)
            for (int e = 0; e < 3; e++) sum += a[i][d][j][e] * b[p][q][e][d];
          wanted[p][i][q][j] = sum;
        }
  assert_ok(tsr_gemm_plan(&gemm));
  run_gemm(&gemm, (const char *[]){(char *)a, (char *)b}, (char *)found, 1);
  assert_memory_equal(found, wanted, sizeof found);
}

// In one order, whatever the blocks: as close to the exact sum as a loop is.
static void long_sums_are_as_accurate_as_a_loop(void **state) {
  (void)state;
  enum { K = 3000, M = 8, N = 20 };
  static float a[M][K], b[K][N], found[M][N];
  test_random random = {4};
  for (int i = 0; i < M * K; i++)
    a[i / K][i % K] = (float)test_random_range(&random, -1000, 1000) / 999;
  for (int i = 0; i < K * N; i++)
    b[i / N][i % N] = (float)test_random_range(&random, -1000, 1000) / 999;
  tsr_gemm gemm = gemm_of(&(product_case){1, M, N, K, false, false, TSR_F32, TSR_F32, TSR_F32});
  assert_ok(tsr_gemm_plan(&gemm));
  run_gemm(&gemm, (const char *[]){(char *)a, (char *)b}, (char *)found, 2);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0, size = 0;
      for (int k = 0; k < K; k++) {
        sum += (double)a[i][k] * (double)b[k][j];
        size += fabs((double)a[i][k] * (double)b[k][j]);
      }
      assert_true(fabs((double)found[i][j] - sum) < size * 1e-6);
    }
}

static void types_that_do_not_multiply_are_refused(void **state) {
  (void)state;
  tsr_gemm gemm = gemm_of(&(product_case){1, 2, 2, 2, false, false, TSR_F32, TSR_I32, TSR_F32});
  assert_fails(tsr_gemm_plan(&gemm), UNSUPPORTED, "a product of i32 with result f32");
  gemm = gemm_of(&(product_case){1, 2, 2, 2, false, false, TSR_F32, TSR_F32, TSR_C64});
  assert_fails(tsr_gemm_plan(&gemm), UNSUPPORTED, "a product of f32 with result complex<f32>");
}

// ---- epilogues ----

// (product + bias of the column) * element of a tensor, on blocks of a planned product.
static tsr_tile_program *make_epilogue(const tsr_gemm *gemm) {
  const tsr_dtype dtype = gemm->result.dtype;
  const int64_t columns = gemm->result.columns.count, down[] = {columns, 1}, bias[] = {0, 1};
  tsr_tile_space space = {.rank = 2, .row_dims = 1, .by_blocks = true};
  tsr_gemm_largest_block(gemm, &space.dims[0], &space.dims[1]);
  tsr_tile_program *p = tsr_tile_create(&space);
  const int product = tsr_tile_load(p, 0, dtype, down, 0), b = tsr_tile_load(p, 1, dtype, bias, 0);
  const int sum = tsr_tile_apply(p, TSR_TILE_ADD, (int[]){product, b});
  const int factor = tsr_tile_load(p, 2, dtype, down, 0);
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_MULTIPLY, (int[]){sum, factor}), 0, down, 0);
  assert_ok(tsr_tile_finish(p));
  return p;
}

static void check_epilogue(const product_case *c, test_random *random) {
  test_tensor a = make_tensor(random, c->left, c->batch * c->m * c->k);
  test_tensor b = make_tensor(random, c->right, c->batch * c->n * c->k);
  const int64_t count = c->batch * c->m * c->n, bytes = tsr_gemm_element_bytes(c->result);
  test_tensor bias = make_tensor(random, c->result, c->n);
  test_tensor factors = make_tensor(random, c->result, count);
  char *wanted = calloc((size_t)count, (size_t)bytes), *found = malloc((size_t)(count * bytes));
  for (int64_t i = 0; i < count; i++)
    write_number(c->result, wanted + i * bytes,
                 (plain_sum(c, &a, &b, i / (c->m * c->n), i / c->n % c->m, i % c->n) +
                  bias.numbers[i % c->n]) *
                     factors.numbers[i]);
  tsr_gemm gemm = gemm_of(c);
  assert_ok(tsr_gemm_plan(&gemm));
  assert_true(tsr_gemm_takes_epilogue(&gemm));
  const tsr_gemm_argument whole = {0, c->m * c->n * bytes, c->n * bytes, bytes};
  const tsr_gemm_argument inputs[] = {{2, 0, 0, bytes}, {3, whole.batch, whole.row, whole.column}};
  const tsr_gemm_epilogue epilogue = {.program = make_epilogue(&gemm),
                                      .input_count = 2,
                                      .output_count = 1,
                                      .inputs = inputs,
                                      .outputs = &whole,
                                      .scratch = (gemm.scratch_bytes + 63) / 64 * 64};
  gemm.epilogue = &epilogue;
  gemm.scratch_bytes = epilogue.scratch + tsr_tile_scratch_bytes(epilogue.program);
  for (int workers = 1; workers < 6; workers += workers == 1 ? 1 : 3) {
    run_gemm(&gemm, (const char *[]){a.elements, b.elements, bias.elements, factors.elements},
             found, workers);
    assert_memory_equal(found, wanted, (size_t)(count * bytes));
  }
  tsr_tile_destroy(epilogue.program);
  free(found);
  free(wanted);
  test_tensor *made[] = {&a, &b, &bias, &factors};
  for (size_t i = 0; i < COUNT_OF(made); i++) free_tensor(made[i]);
}

static void epilogues_run_on_every_block_of_a_product(void **state) {
  (void)state;
  test_random random = {11};
  // Shared panels with two blocks of the depth; tiles of their own; batches; one row; few rows of a
  // large matrix; sums that are kept apart.
  static const product_case cases[] = {
      {1, 390, 403, 330, false, false, TSR_F32, TSR_F32, TSR_F32},
      {1, 700, 90, 340, true, false, TSR_F32, TSR_F32, TSR_F32},
      {3, 250, 131, 100, false, true, TSR_F32, TSR_F32, TSR_F32},
      {1, 2, 3001, 90, false, false, TSR_F32, TSR_F32, TSR_F32},
      {1, 8, 1030, 200, false, false, TSR_F32, TSR_F32, TSR_F32},
      {2, 300, 310, 60, false, false, TSR_BF16, TSR_BF16, TSR_BF16},
      {1, 420, 390, 170, false, false, TSR_I32, TSR_I32, TSR_I32},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) check_epilogue(&cases[i], &random);
}

SUITE(gemm, TEST(products_of_every_order_are_exact), TEST(products_of_every_type_are_exact),
      TEST(large_products_are_split_and_exact), TEST(dims_without_one_stride_are_walked),
      TEST(long_sums_are_as_accurate_as_a_loop), TEST(types_that_do_not_multiply_are_refused),
      TEST(epilogues_run_on_every_block_of_a_product))
