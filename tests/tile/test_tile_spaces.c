// Spaces and strides: every way of reading and writing memory gives what plain loops give, with any
// number of workers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tile/tile_support.h"

enum { MEMORY = 1 << 21 };

// One program: out = (a + b) * 2 + c, over `rank` dims. Strides are of three inputs and the output.
typedef struct space_case {
  int rank, row_dims;
  int64_t dims[4], strides[4][4], offsets[4];
} space_case;

static const space_case spaces[] = {
    {1, 1, {5000}, {{1}, {1}, {1}, {1}}, {0}},
    {1, 0, {7}, {{1}, {0}, {-1}, {1}}, {0, 3, 6, 2}},
    {1, 1, {1}, {{1}, {0}, {1}, {1}}, {0}},
    {0, 0, {0}, {{0}, {0}, {0}, {0}}, {1, 2, 3, 4}},
    {2, 1, {37, 129}, {{129, 1}, {0, 1}, {1, 0}, {129, 1}}, {0}},
    {2, 1, {300, 5}, {{5, 1}, {0, 1}, {1, 0}, {5, 1}}, {0}},
    {2, 1, {1000, 3}, {{3, 1}, {1, 1000}, {3, 0}, {3, 1}}, {0}},
    {2, 1, {70, 90}, {{90, 1}, {1, 70}, {0, 0}, {90, 1}}, {0}},
    {2, 1, {70, 90}, {{90, 1}, {1, 70}, {0, 0}, {1, 70}}, {0}},
    {2, 2, {200, 300}, {{1, 200}, {300, -1}, {-300, 1}, {300, 1}}, {0, 299, 59700, 0}},
    {2, 1, {9, 5000}, {{5000, 1}, {0, 1}, {1, 0}, {5000, 1}}, {0}},
    {2, 1, {9, 5000}, {{0, 1}, {0, 1}, {0, 0}, {5000, 1}}, {0}},
    {3, 1, {6, 7, 80}, {{560, 80, 1}, {0, 80, 1}, {7, 1, 0}, {560, 80, 1}}, {0}},
    {3, 2, {6, 70, 8}, {{560, 8, 1}, {8, 48, 1}, {0, 1, 0}, {560, 8, 1}}, {0}},
    {3, 1, {40, 50, 20}, {{1, 40, 2000}, {1000, 20, 1}, {20, 0, 1}, {1000, 20, 1}}, {0}},
    {4,
     2,
     {3, 4, 50, 60},
     {{12000, 3000, 60, 1}, {3000, 9000, 1, 50}, {0, 60, 0, 1}, {12000, 3000, 60, 1}},
     {0}},
    {2, 1, {0, 5}, {{5, 1}, {5, 1}, {5, 1}, {5, 1}}, {0}},
    {2, 1, {5, 0}, {{5, 1}, {5, 1}, {5, 1}, {5, 1}}, {0}},
    {2, 1, {600, 900}, {{900, 1}, {0, 1}, {1, 0}, {900, 1}}, {0}},
    {1, 1, {900000}, {{1}, {0}, {1}, {1}}, {0}},
};

static int64_t place_of(const space_case *c, int which, const int64_t *index) {
  int64_t at = c->offsets[which];
  for (int k = 0; k < c->rank; k++) at += index[k] * c->strides[which][k];
  return at;
}

static bool next_index(const space_case *c, int64_t *index) {
  for (int k = c->rank - 1; k >= 0; k--) {
    if (++index[k] < c->dims[k]) return true;
    index[k] = 0;
  }
  return false;
}

static tsr_tile_program *space_program(const space_case *c, tsr_dtype dtype) {
  tsr_tile_space space = {.rank = c->rank, .row_dims = c->row_dims};
  memcpy(space.dims, c->dims, sizeof c->dims);
  tsr_tile_program *p = tsr_tile_create(&space);
  if (!p) return NULL;
  int in[3];
  for (int k = 0; k < 3; k++) in[k] = tsr_tile_load(p, k, dtype, c->strides[k], c->offsets[k]);
  char two[16] = {0};
  tsr_scalar_type type = tile_scalar(dtype);
  tsr_scalar_store(&type,
                   type.kind == TSR_CLASS_FLOAT ? (tsr_scalar){.f = 2} : (tsr_scalar){.i = 2}, two);
  const int sum = tsr_tile_apply(p, TSR_TILE_ADD, in);
  const int twice =
      tsr_tile_apply(p, TSR_TILE_MULTIPLY, (int[]){sum, tsr_tile_constant(p, dtype, two)});
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_ADD, (int[]){twice, in[2]}), 0, c->strides[3],
                 c->offsets[3]);
  return p;
}

static void every_space_equals_plain_loops(void **state) {
  (void)state;
  static const int workers[] = {1, 2, 5};
  float *in[3], *out = malloc(MEMORY * sizeof *out), *expected = malloc(MEMORY * sizeof *out);
  for (int k = 0; k < 3; k++) {
    in[k] = malloc(MEMORY * sizeof *out);
    for (int64_t i = 0; i < MEMORY; i++) in[k][i] = (float)((i * (7 + k)) % 1013 - 500);
  }
  for (size_t i = 0; i < COUNT_OF(spaces) * COUNT_OF(workers); i++) {
    const space_case *c = &spaces[i / COUNT_OF(workers)];
    int64_t index[4] = {0};
    bool some = true;
    for (int k = 0; k < c->rank; k++) some = some && c->dims[k] > 0;
    memset(expected, 0, MEMORY * sizeof *out);
    memset(out, 0, MEMORY * sizeof *out);
    do {
      if (some)
        expected[place_of(c, 3, index)] =
            (in[0][place_of(c, 0, index)] + in[1][place_of(c, 1, index)]) * 2 +
            in[2][place_of(c, 2, index)];
    } while (some && next_index(c, index));
    tile_run(space_program(c, TSR_F32), workers[i % COUNT_OF(workers)], (const void *const *)in,
             (void *[]){out});
    if (memcmp((const char *)out, (const char *)expected, MEMORY * sizeof *out))
      fail_msg("case %d differs", (int)(i / COUNT_OF(workers)));
  }
  for (int k = 0; k < 3; k++) free(in[k]);
  free(out);
  free(expected);
}

// Small whole numbers are exact in every type used here.
static void narrow_and_wide_types_take_the_same_ways(void **state) {
  (void)state;
  static const tsr_dtype dtypes[] = {TSR_BF16, TSR_F16, TSR_I8, TSR_U16, TSR_I64, TSR_F64};
  for (size_t d = 0; d < COUNT_OF(dtypes); d++)
    for (size_t i = 0; i + 2 < COUNT_OF(spaces); i++) {
      const space_case *c = &spaces[i];
      const tsr_scalar_type type = tile_scalar(dtypes[d]);
      const int64_t count = 1 << 17;
      char *in[3], *out = calloc((size_t)count, 8);
      for (int k = 0; k < 3; k++) {
        in[k] = malloc((size_t)count * 8);
        for (int64_t e = 0; e < count; e++) {
          const int64_t number = (e * (7 + k)) % 11;
          tsr_scalar_store(&type,
                           type.kind == TSR_CLASS_FLOAT ? (tsr_scalar){.f = (double)number}
                                                        : (tsr_scalar){.i = number},
                           in[k] + e * type.bytes);
        }
      }
      int64_t index[4] = {0};
      bool some = true;
      for (int k = 0; k < c->rank; k++) some = some && c->dims[k] > 0;
      tile_run(space_program(c, dtypes[d]), 1, (const void *const *)in, (void *[]){out});
      if (some) do {
          double x[4];
          for (int k = 0; k < 4; k++) {
            const char *element = (k < 3 ? in[k] : out) + place_of(c, k, index) * type.bytes;
            const tsr_scalar s = tsr_scalar_load(&type, element);
            x[k] = type.kind == TSR_CLASS_FLOAT ? s.f : (double)s.i;
          }
          if (x[3] != (x[0] + x[1]) * 2 + x[2])
            fail_msg("case %d on %s differs", (int)i, tsr_dtype_info_of(dtypes[d])->name);
        } while (next_index(c, index));
      for (int k = 0; k < 3; k++) free(in[k]);
      free(out);
    }
}

static void indices_count_along_their_dim(void **state) {
  (void)state;
  enum { A = 5, B = 70, C = 11 };
  static const tsr_dtype dtypes[] = {TSR_I32, TSR_F32, TSR_U8, TSR_BF16, TSR_I4, TSR_F64, TSR_C64};
  for (int dim = 0; dim < 3; dim++)
    for (size_t d = 0; d < COUNT_OF(dtypes); d++) {
      const tsr_scalar_type type = tile_scalar(dtypes[d]), i64 = tile_scalar(TSR_I64);
      char *out = calloc(A * B * C, 16);
      tsr_tile_program *p =
          tsr_tile_create(&(tsr_tile_space){.rank = 3, .dims = {A, B, C}, .row_dims = 1});
      tsr_tile_store(p, tsr_tile_index(p, dtypes[d], dim, 3, -2), 0, (int64_t[]){B * C, C, 1}, 0);
      tile_run(p, 1, NULL, (void *[]){out});
      for (int64_t i = 0; i < A * B * C; i++) {
        const int64_t at[] = {i / (B * C), i / C % B, i % C};
        char expected[16] = {0};
        if (!tsr_scalar_convert(&i64, &type, (tsr_scalar){.i = 3 - 2 * at[dim]}, expected))
          continue;
        const tsr_scalar x = tsr_scalar_load(&type, out + i * type.bytes),
                         y = tsr_scalar_load(&type, expected);
        assert_true(type.kind >= TSR_CLASS_FLOAT ? x.f == y.f : x.i == y.i);
      }
      free(out);
    }
}

static void constants_and_rows_are_stored_to_every_index(void **state) {
  (void)state;
  float rows[100], out[100 * 7], sums[100], spread[100 * 7];
  for (int i = 0; i < 100; i++) rows[i] = (float)i;
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {100, 7}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, TSR_F32, (int64_t[]){1, 0}, 0);
  tsr_tile_store(p, x, 0, (int64_t[]){7, 1}, 0);
  const int sum = tsr_tile_reduce(p, TSR_TILE_ADD, x);
  tsr_tile_store(p, sum, 1, (int64_t[]){1, 1}, 0);
  tsr_tile_store(p, tsr_tile_spread_out(p, sum), 2, (int64_t[]){7, 1}, 0);
  tile_run(p, 1, (const void *[]){rows}, (void *[]){out, sums, spread});
  for (int i = 0; i < 700; i++) {
    const int row = i / 7;
    assert_true(out[i] == (float)row);
    assert_true(spread[i] == (float)(7 * row));
  }
  for (int i = 0; i < 100; i++) assert_true(sums[i] == (float)(7 * i));
}

// Outputs in the memory of inputs: x + y in place of x, x - y in place of y, and a copy of x.
static void outputs_may_be_inputs(void **state) {
  (void)state;
  enum { N = 10000 };
  static float x[N], y[N], copy[N];
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = (float)(3 * i % 101);
  tsr_tile_program *p = tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {N}, .row_dims = 1});
  const int in[2] = {tsr_tile_load(p, 0, TSR_F32, (int64_t[]){1}, 0),
                     tsr_tile_load(p, 1, TSR_F32, (int64_t[]){1}, 0)};
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_ADD, in), 0, (int64_t[]){1}, 0);
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_SUBTRACT, in), 1, (int64_t[]){1}, 0);
  tsr_tile_store(p, in[0], 2, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *[]){x, y}, (void *[]){x, y, copy});
  for (int i = 0; i < N; i++) {
    const float a = (float)i, b = (float)(3 * i % 101);
    assert_true(x[i] == a + b && y[i] == a - b && copy[i] == a);
  }
}

static void few_elements_run_without_a_call(void **state) {
  (void)state;
  for (int64_t most = 1; most <= 5000; most = 7 * most + 1)
    for (int64_t count = 1; count <= most; count = 3 * count + 1) {
      float *in = malloc((size_t)most * sizeof *in), *out = calloc((size_t)most + 1, sizeof *out);
      const float one = 10;
      for (int64_t i = 0; i < most; i++) in[i] = (float)i;
      tsr_tile_program *p =
          tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {most}, .row_dims = 1});
      const int x = tsr_tile_load(p, 0, TSR_F32, (int64_t[]){1}, 0);
      const int y = tsr_tile_load(p, 1, TSR_F32, (int64_t[]){0}, 0);
      tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_MAXIMUM, (int[]){x, y}), 0, (int64_t[]){1}, 0);
      assert_ok(tsr_tile_finish(p));
      char *scratch = aligned_alloc(64, (size_t)tsr_tile_scratch_bytes(p) + 64);
      tsr_tile_run_few(p, count, (const char *[]){(char *)in, (const char *)&one},
                       (char *[]){(char *)out}, scratch);
      for (int64_t i = 0; i < count; i++) assert_true(out[i] == (float)(i > 10 ? i : 10));
      for (int64_t i = count; i <= most; i++) assert_true(out[i] == 0);
      free(in);
      free(out);
      free(scratch);
      tsr_tile_destroy(p);
    }
}

static void flops_count_ops_and_indices(void **state) {
  (void)state;
  tsr_tile_program *p = space_program(&spaces[0], TSR_F32);
  assert_ok(tsr_tile_finish(p));
  assert_int_equal(tsr_tile_flops(p), 3 * 5000);
  assert_int_equal(tsr_tile_temp_bytes(p), 0);
  tsr_tile_destroy(p);
}

static tsr_status build(void *context) {
  const space_case *c = context;
  tsr_tile_program *p = space_program(c, TSR_BF16);
  if (!p) return tsr_fail(NO_MEMORY, "tile program");
  const tsr_status status = tsr_tile_finish(p);
  tsr_tile_destroy(p);
  return status;
}

static void allocations_that_fail_are_reported(void **state) {
  (void)state;
  test_allocation_sweep(build, (void *)&spaces[6]);
}

static void spaces_of_too_many_indices_are_refused(void **state) {
  (void)state;
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {INT64_MAX / 2, 3}, .row_dims = 1});
  assert_fails(tsr_tile_finish(p), TOO_LARGE, "tile program over more than 2^63-1 indices");
  tsr_tile_destroy(p);
}

SUITE(tile_spaces, TEST(every_space_equals_plain_loops),
      TEST(narrow_and_wide_types_take_the_same_ways), TEST(indices_count_along_their_dim),
      TEST(constants_and_rows_are_stored_to_every_index), TEST(outputs_may_be_inputs),
      TEST(few_elements_run_without_a_call), TEST(flops_count_ops_and_indices),
      TEST(allocations_that_fail_are_reported), TEST(spaces_of_too_many_indices_are_refused))
