// Reductions of rows, and folds of columns: exact orders, any length, any number of workers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tile/tile_support.h"

enum { IN_ORDER = 32 };

static const tsr_tile_op reducers[] = {TSR_TILE_ADD,     TSR_TILE_MULTIPLY, TSR_TILE_MAXIMUM,
                                       TSR_TILE_MINIMUM, TSR_TILE_AND,      TSR_TILE_OR,
                                       TSR_TILE_XOR};
static const int workers[] = {1, 2, 5};

// ---- the order of sums ----

// The sum as a balanced tree: the largest power of two below the count, and the rest.
static float tree_sum(const float *x, int64_t count, int64_t stride) {
  if (count == 1) return x[0];
  int64_t left = 1;
  while (2 * left < count) left *= 2;
  return tree_sum(x, left, stride) + tree_sum(x + left * stride, count - left, stride);
}

static float ordered_sum(const float *x, int64_t count, int64_t stride) {
  float sum = count ? x[0] : 0;
  if (count > IN_ORDER) return tree_sum(x, count, stride);
  for (int64_t i = 1; i < count; i++) sum += x[i * stride];
  return sum;
}

static float some_float(int64_t i) { return (float)((i * 7919) % 10007) * 1e-3F - 3; }

static const int64_t lengths[] = {0,    1,    2,    3,    7,    8,     9,     31,     32,
                                  33,   63,   64,   65,   100,  511,   512,   1000,   1023,
                                  1025, 4095, 4096, 4097, 5000, 20000, 70000, 140001, 600000};

static void sums_of_rows_have_the_order_of_their_length(void **state) {
  (void)state;
  for (size_t n = 0; n < COUNT_OF(lengths); n++)
    for (int64_t rows = 1; rows <= (lengths[n] > 20000 ? 3 : 130); rows = 5 * rows + 1) {
      const int64_t length = lengths[n];
      float *in = malloc((size_t)(rows * length + 1) * sizeof *in),
            *out = malloc(200 * sizeof *out);
      for (int64_t i = 0; i < rows * length; i++) in[i] = some_float(i);
      for (size_t w = 0; w < COUNT_OF(workers); w++) {
        tsr_tile_program *p =
            tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {rows, length}, .row_dims = 1});
        const int x = tsr_tile_load(p, 0, TSR_F32, (int64_t[]){length, 1}, 0);
        tsr_tile_store(p, tsr_tile_reduce(p, TSR_TILE_ADD, x), 0, (int64_t[]){1, 0}, 0);
        tile_run(p, workers[w], (const void *[]){in}, (void *[]){out});
        for (int64_t i = 0; i < rows; i++)
          if (out[i] != ordered_sum(in + i * length, length, 1))
            fail_msg("row %lld of %lld", (long long)i, (long long)length);
      }
      free(in);
      free(out);
    }
}

static void folds_have_the_order_of_reductions(void **state) {
  (void)state;
  static const int64_t widths[] = {1, 2, 7, 64, 513, 3000};
  for (size_t n = 0; n < COUNT_OF(lengths); n++)
    for (size_t c = 0; c < COUNT_OF(widths); c++)
      for (int64_t batches = 1; batches < 4; batches += 2) {
        const int64_t length = lengths[n], columns = widths[c];
        if (batches * length * columns > 4000000) continue;
        float *in = malloc((size_t)(batches * length * columns + 1) * sizeof *in);
        float *out = malloc((size_t)(batches * columns) * sizeof *out);
        for (int64_t i = 0; i < batches * length * columns; i++) in[i] = some_float(i);
        for (size_t w = 0; w < COUNT_OF(workers); w++) {
          tsr_tile_program *p = tsr_tile_create(&(tsr_tile_space){
              .rank = 3, .dims = {batches, length, columns}, .row_dims = 1, .batch_dims = 1});
          const int x = tsr_tile_load(p, 0, TSR_F32, (int64_t[]){length * columns, columns, 1}, 0);
          tsr_tile_fold(p, TSR_TILE_ADD, x, 0);
          tile_run(p, workers[w], (const void *[]){in}, (void *[]){out});
          for (int64_t i = 0; i < batches * columns; i++) {
            const float *from = in + i / columns * length * columns + i % columns;
            if (out[i] != ordered_sum(from, length, columns))
              fail_msg("column %lld of %lld x %lld", (long long)i, (long long)length,
                       (long long)columns);
          }
        }
        free(in);
        free(out);
      }
}

// ---- every type and op ----

static tsr_op_id op_of(tsr_tile_op op) {
  static const tsr_op_id ids[] = {
      [TSR_TILE_ADD] = TSR_OP_ADD,         [TSR_TILE_MULTIPLY] = TSR_OP_MULTIPLY,
      [TSR_TILE_MAXIMUM] = TSR_OP_MAXIMUM, [TSR_TILE_MINIMUM] = TSR_OP_MINIMUM,
      [TSR_TILE_AND] = TSR_OP_AND,         [TSR_TILE_OR] = TSR_OP_OR,
      [TSR_TILE_XOR] = TSR_OP_XOR};
  return ids[op];
}

// In order, in the element type.
static void expected_sum(tsr_dtype dtype, tsr_tile_op op, const char *in, int64_t count,
                         char *out) {
  const tsr_scalar_type type = tile_scalar(dtype);
  memcpy(out, in, (size_t)type.bytes);
  for (int64_t i = 1; i < count; i++) {
    const tsr_scalar operands[2] = {tsr_scalar_load(&type, out),
                                    tsr_scalar_load(&type, in + i * type.bytes)};
    tsr_scalar result = {.i = 0};
    assert_true(tsr_scalar_op(op_of(op), type.kind)(&type, operands, &result));
    (void)tsr_scalar_store(&type, result, out);
  }
}

static bool equal_numbers(tsr_dtype dtype, const char *a, const char *b) {
  const tsr_scalar_type type = tile_scalar(dtype);
  const tsr_scalar x = tsr_scalar_load(&type, a), y = tsr_scalar_load(&type, b);
  if (type.kind < TSR_CLASS_FLOAT) return x.i == y.i;
  const bool real = x.f == y.f || (isnan(x.f) && isnan(y.f));
  return real &&
         (type.kind == TSR_CLASS_FLOAT || x.imag == y.imag || (isnan(x.imag) && isnan(y.imag)));
}

static bool is_exact(tsr_dtype dtype, tsr_tile_op op) {
  if (tsr_dtype_info_of(dtype)->kind == TSR_CLASS_COMPLEX) return false;
  return tsr_dtype_info_of(dtype)->kind < TSR_CLASS_FLOAT ||
         (op != TSR_TILE_ADD && op != TSR_TILE_MULTIPLY);
}

static void check_reduction(tsr_dtype dtype, tsr_tile_op op, int64_t length) {
  enum { ROWS = 5 };
  const int bytes = tile_bytes(dtype);
  char *in = calloc((size_t)(ROWS * length), 16), rows[ROWS * 16], columns[ROWS * 16];
  tile_fill(dtype, 13, in, ROWS * length);
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {ROWS, length}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, dtype, (int64_t[]){length, 1}, 0);
  tsr_tile_store(p, tsr_tile_reduce(p, op, x), 0, (int64_t[]){1, 0}, 0);
  tile_run(p, 1, (const void *[]){in}, (void *[]){rows});
  p = tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {length, ROWS}, .row_dims = 1});
  tsr_tile_fold(p, op, tsr_tile_load(p, 0, dtype, (int64_t[]){1, length}, 0), 0);
  tile_run(p, 1, (const void *[]){in}, (void *[]){columns});
  for (int i = 0; i < ROWS; i++) {
    char expected[16];
    expected_sum(dtype, op, in + i * length * bytes, length, expected);
    if ((length <= IN_ORDER || is_exact(dtype, op)) &&
        !equal_numbers(dtype, rows + i * bytes, expected))
      fail_msg("op %d of %lld %s", (int)op, (long long)length, tsr_dtype_info_of(dtype)->name);
    if (!equal_numbers(dtype, columns + i * bytes, rows + i * bytes))
      fail_msg("fold %d of %lld %s", (int)op, (long long)length, tsr_dtype_info_of(dtype)->name);
  }
  free(in);
}

static void every_type_reduces_in_rows_and_columns(void **state) {
  (void)state;
  for (int d = 1; d < TSR_DTYPE_COUNT; d++)
    for (size_t k = 0; k < COUNT_OF(reducers); k++) {
      const tsr_dtype_class kind = tsr_dtype_info_of((tsr_dtype)d)->kind;
      // Types without infinities or NaN differ in what they make of them on the way.
      if (!tsr_scalar_op(op_of(reducers[k]), kind)) continue;
      if (kind == TSR_CLASS_FLOAT && tsr_dtype_info_of((tsr_dtype)d)->bits < 16) continue;
      static const int64_t counts[] = {1, 2, 5, 31, 32, 33, 200, 1000};
      for (size_t n = 0; n < COUNT_OF(counts); n++)
        check_reduction((tsr_dtype)d, reducers[k], counts[n]);
    }
}

static void sums_of_many_halves_are_rounded_once(void **state) {
  (void)state;
  enum { N = 4000 };
  uint16_t in[N], out[2];
  for (int i = 0; i < N; i++) in[i] = 0x3f80;  // 1 in bf16
  tsr_tile_program *p = tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {N}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, TSR_BF16, (int64_t[]){1}, 0);
  tsr_tile_store(p, tsr_tile_reduce(p, TSR_TILE_ADD, x), 0, (int64_t[]){0}, 0);
  tile_run(p, 1, (const void *[]){in}, (void *[]){out});
  assert_int_equal(out[0], 0x457a);  // 4000
}

static void reductions_of_nothing_give_what_changes_nothing(void **state) {
  (void)state;
  int8_t out[2][3] = {{9, 9, 9}, {9, 9, 9}};
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {3, 0}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, TSR_I4, (int64_t[]){0, 1}, 0);
  tsr_tile_store(p, tsr_tile_reduce(p, TSR_TILE_MAXIMUM, x), 0, (int64_t[]){1, 0}, 0);
  tsr_tile_store(p, tsr_tile_reduce(p, TSR_TILE_MULTIPLY, x), 1, (int64_t[]){1, 0}, 0);
  tile_run(p, 1, (const void *[]){NULL}, (void *[]){out[0], out[1]});
  for (int i = 0; i < 3; i++) assert_true(out[0][i] == -8 && out[1][i] == 1);
  p = tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {0, 3}, .row_dims = 1});
  const int y = tsr_tile_load(p, 0, TSR_U8, (int64_t[]){3, 1}, 0);
  tsr_tile_fold(p, TSR_TILE_MINIMUM, y, 0);
  tsr_tile_fold(p, TSR_TILE_ADD, y, 1);
  tile_run(p, 1, (const void *[]){NULL}, (void *[]){out[0], out[1]});
  for (int i = 0; i < 3; i++) assert_true((uint8_t)out[0][i] == 255 && out[1][i] == 0);
}

// ---- programs of several reductions ----

// Rows minus their maximum, over the sum of that; with the column sums of the result.
static tsr_tile_program *normalise(int64_t rows, int64_t columns, bool folds) {
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {rows, columns}, .row_dims = 1});
  const int64_t strides[] = {columns, 1}, by_row[] = {1, 0};
  const int x = tsr_tile_load(p, 0, TSR_F32, strides, 0);
  const int scale = tsr_tile_load(p, 1, TSR_F32, (int64_t[]){0, 1}, 0);
  const int top = tsr_tile_reduce(p, TSR_TILE_MAXIMUM, x);
  const int e = tsr_tile_apply(p, TSR_TILE_SUBTRACT, (int[]){top, x});
  const int sum = tsr_tile_reduce(p, TSR_TILE_ADD, e);
  const int share = tsr_tile_apply(p, TSR_TILE_DIVIDE, (int[]){e, sum});
  const int result = tsr_tile_apply(p, TSR_TILE_MULTIPLY, (int[]){share, scale});
  tsr_tile_store(p, result, 0, strides, 0);
  tsr_tile_store(p, sum, 1, by_row, 0);
  if (folds) tsr_tile_fold(p, TSR_TILE_ADD, result, 2);
  return p;
}

static void programs_reduce_several_times(void **state) {
  (void)state;
  static const int64_t shapes[][2] = {{1, 1},     {1, 33},    {100, 7},    {70, 64},   {9, 1000},
                                      {33, 5000}, {2, 70000}, {1, 300000}, {300, 300}, {2, 200001}};
  for (size_t s = 0; s < COUNT_OF(shapes); s++)
    for (int folds = 0; folds < 2; folds++) {
      const int64_t rows = shapes[s][0], columns = shapes[s][1], count = rows * columns;
      float *x = malloc((size_t)count * sizeof *x), *scale = malloc((size_t)columns * sizeof *x);
      float *out = malloc((size_t)count * sizeof *x), *sums = malloc((size_t)rows * sizeof *x);
      float *down = malloc((size_t)columns * sizeof *x), *e = malloc((size_t)columns * sizeof *x);
      for (int64_t i = 0; i < count; i++) x[i] = some_float(i + 3);
      for (int64_t i = 0; i < columns; i++) scale[i] = some_float(5 * i);
      for (size_t w = 0; w < COUNT_OF(workers); w++) {
        tile_run(normalise(rows, columns, folds), workers[w], (const void *[]){x, scale},
                 (void *[]){out, sums, down});
        for (int64_t i = 0; i < rows; i++) {
          float top = -INFINITY;
          for (int64_t j = 0; j < columns; j++) top = fmaxf(top, x[i * columns + j]);
          for (int64_t j = 0; j < columns; j++) e[j] = top - x[i * columns + j];
          const float sum = ordered_sum(e, columns, 1);
          assert_true(sums[i] == sum);
          for (int64_t j = 0; j < columns; j++) {
            const float expected = e[j] / sum * scale[j], got = out[i * columns + j];
            assert_true(got == expected || (isnan(got) && isnan(expected)));
          }
        }
        for (int64_t j = 0; folds && j < columns; j++) {
          const float expected = ordered_sum(out + j, rows, columns);
          assert_true(down[j] == expected || (isnan(down[j]) && isnan(expected)));
        }
      }
      // In the memory of the input.
      float *again = malloc((size_t)count * sizeof *x);
      memcpy(again, x, (size_t)count * sizeof *x);
      tile_run(normalise(rows, columns, folds), 2, (const void *[]){again, scale},
               (void *[]){again, sums, down});
      assert_memory_equal(again, out, (size_t)count * sizeof *x);
      free(x), free(scale), free(out), free(sums), free(down), free(e), free(again);
    }
}

static tsr_status build(void *context) {
  (void)context;
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {100, 9}, .row_dims = 1});
  if (!p) return tsr_fail(NO_MEMORY, "tile program");
  const int x = tsr_tile_load(p, 0, TSR_I4, (int64_t[]){9, 1}, 0);
  const int sum = tsr_tile_reduce(p, TSR_TILE_ADD, x);
  const int more = tsr_tile_apply(p, TSR_TILE_SUBTRACT, (int[]){x, sum});
  tsr_tile_store(p, more, 0, (int64_t[]){9, 1}, 0);
  tsr_tile_fold(p, TSR_TILE_MAXIMUM, sum, 1);
  const tsr_status status = tsr_tile_finish(p);
  tsr_tile_destroy(p);
  return status;
}

static void allocations_that_fail_are_reported(void **state) {
  (void)state;
  test_allocation_sweep(build, NULL);
}

SUITE(tile_sums, TEST(sums_of_rows_have_the_order_of_their_length),
      TEST(folds_have_the_order_of_reductions), TEST(every_type_reduces_in_rows_and_columns),
      TEST(sums_of_many_halves_are_rounded_once),
      TEST(reductions_of_nothing_give_what_changes_nothing), TEST(programs_reduce_several_times),
      TEST(allocations_that_fail_are_reported))
