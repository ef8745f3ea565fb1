// Sorts by keys and the largest elements, against insertion of one element after another.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/sort.h"
#include "reduce/top_k.h"
#include "reduce/kernel_runs.h"
#include "support/test.h"

typedef struct numbers {
  tsr_dtype dtype;
  int bytes;
} numbers;

static const numbers types[] = {{TSR_F32, 4}, {TSR_I32, 4},  {TSR_U32, 4}, {TSR_I8, 1},
                                {TSR_U16, 2}, {TSR_F64, 8},  {TSR_I64, 8}, {TSR_U64, 8},
                                {TSR_F16, 2}, {TSR_BF16, 2}, {TSR_BOOL, 1}};

// ---- numbers ----

static double value_at(const numbers *type, const char *elements, int64_t index) {
  const char *at = elements + index * type->bytes;
  switch (type->dtype) {
#define READ(id, c)                 \
  case TSR_##id: {                  \
    c number;                       \
    memcpy(&number, at, sizeof(c)); \
    return (double)number;          \
  }
    READ(F32, float)
    READ(I32, int32_t)
    READ(U32, uint32_t)
    READ(I8, int8_t)
    READ(U16, uint16_t)
    READ(F64, double)
    READ(I64, int64_t)
    READ(U64, uint64_t)
    READ(BOOL, uint8_t)
    default: {
      uint16_t bits;
      memcpy(&bits, at, 2);
      const uint32_t wide = (uint32_t)bits << 16;
      float number;
      memcpy(&number, &wide, 4);
      return type->dtype == TSR_BF16 ? (double)number
                                     : ((bits & 0x8000) ? -1.0 : 1.0) * (bits & 0x7fff);
    }
  }
}

// Few different numbers, so that many are equal; zeros of both signs among floats.
static void fill(test_random *random, const numbers *type, char *out, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const int64_t number = test_random_range(random, -20, 20);
    const float f = number == 1 ? -0.0f : (float)number / 4;
    const double d = (double)f;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t half = (uint16_t)(bits >> 16);
    if (type->dtype == TSR_F16) half = (uint16_t)(number < 0 ? 0x8000 - number * 64 : number * 64);
    const int64_t whole =
        type->dtype == TSR_BOOL ? number & 1
        : type->dtype == TSR_U32 || type->dtype == TSR_U16 || type->dtype == TSR_U64
            ? (number + 20) << 7
            : number;
    const void *from = type->dtype == TSR_F32                              ? (const void *)&f
                       : type->dtype == TSR_F64                            ? (const void *)&d
                       : type->dtype == TSR_F16 || type->dtype == TSR_BF16 ? (const void *)&half
                                                                           : (const void *)&whole;
    memcpy(out + i * type->bytes, from, (size_t)type->bytes);
  }
}

// ---- sorting ----

// Places in sorted order, by the first key and then the second; equal ones stay in order.
static void naive_order(const tsr_sort *sort, const numbers *kinds, char *const *operands,
                        int64_t line, int64_t *places) {
  const tsr_sort_lines *l = &sort->lines;
  const int64_t start = tsr_sort_line_start(l, line);
  for (int64_t i = 0; i < l->length; i++) {
    int64_t k = i;
    for (; k > 0; k--) {
      bool before = false;
      for (int j = 0; j < sort->key_count; j++) {
        const tsr_sort_key *key = &sort->keys[j];
        const double a =
            value_at(&kinds[key->operand], operands[key->operand], start + i * l->inner);
        const double b = value_at(&kinds[key->operand], operands[key->operand],
                                  start + places[k - 1] * l->inner);
        if (a == b) continue;
        before = key->order.descending ? a > b : a < b;
        break;
      }
      if (!before) break;
      places[k] = places[k - 1];
    }
    places[k] = i;
  }
}

static void check_sort(test_random *random, const int64_t dims[3], const numbers *kinds, int count,
                       int key_count, bool descending) {
  const int64_t all = dims[0] * dims[1] * dims[2];
  char *in[3], *out[3];
  int widths[3];
  size_t sizes[3];
  tsr_sort_key keys[3];
  for (int k = 0; k < count; k++) {
    widths[k] = kinds[k].bytes;
    sizes[k] = (size_t)(all * widths[k]);
    in[k] = malloc(sizes[k] + 1), out[k] = malloc(sizes[k] + 1);
    fill(random, &kinds[k], in[k], all);
    keys[k] = (tsr_sort_key){k, 0, {kinds[k].dtype, descending && k == 0, true}};
  }
  const tsr_sort sort = {{dims[0], dims[1], dims[2], count, widths}, key_count, keys};
  run_kernel(&(kernel_trial){tsr_sort_run, &sort, (const char *const *)in, count, out, sizes,
                             tsr_sort_scratch_bytes(&sort), tsr_sort_temp_bytes(&sort)});
  int64_t *places = malloc((size_t)dims[1] * sizeof *places);
  for (int64_t line = 0; line < dims[0] * dims[2]; line++) {
    const int64_t start = tsr_sort_line_start(&sort.lines, line);
    naive_order(&sort, kinds, in, line, places);
    for (int64_t i = 0; i < dims[1]; i++)
      for (int k = 0; k < count; k++)
        assert_memory_equal(out[k] + (start + i * dims[2]) * widths[k],
                            in[k] + (start + places[i] * dims[2]) * widths[k], (size_t)widths[k]);
  }
  free(places);
  for (int k = 0; k < count; k++) free(in[k]), free(out[k]);
}

static void lines_of_every_type_are_sorted(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{3, 1, 2}, {4, 5, 1}, {2, 40, 3}, {2, 700, 1}, {1, 0, 4}};
  test_random random = {7};
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
      for (int descending = 0; descending < 2; descending++)
        check_sort(&random, shapes[s], &types[t], 1, 1, descending != 0);
}

static void operands_move_with_their_keys(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{2, 33, 2}, {1, 900, 1}};
  test_random random = {8};
  for (size_t a = 0; a < COUNT_OF(types); a++)
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
      const numbers kinds[3] = {types[a], types[(a + 3) % COUNT_OF(types)],
                                types[(a + 5) % COUNT_OF(types)]};
      for (int keys = 1; keys <= 3; keys++)
        check_sort(&random, shapes[s], kinds, 3, keys, keys == 2);
    }
}

static int compare_floats(const void *a, const void *b) {
  float x, y;
  memcpy(&x, a, 4), memcpy(&y, b, 4);
  return x < y ? -1 : x > y;
}

// A line of several blocks, with and without a second operand.
static void long_lines_are_sorted(void **state) {
  (void)state;
  enum { LENGTH = 300001 };
  test_random random = {9};
  float *in = malloc(LENGTH * sizeof *in), *out = malloc(LENGTH * sizeof *out);
  int32_t *places = malloc(LENGTH * sizeof *places), *moved = malloc(LENGTH * sizeof *moved);
  float *wanted = malloc(LENGTH * sizeof *wanted);
  for (int i = 0; i < LENGTH; i++) {
    in[i] = wanted[i] = (float)test_random_range(&random, -1000000, 1000000) / 8;
    places[i] = i;
  }
  qsort(wanted, LENGTH, sizeof *wanted, compare_floats);
  const tsr_sort_key key = {0, 0, {TSR_F32, false, true}};
  const int widths[2] = {4, 4};
  const size_t sizes[2] = {LENGTH * 4, LENGTH * 4};
  for (int count = 1; count <= 2; count++) {
    const tsr_sort sort = {{1, LENGTH, 1, count, widths}, 1, &key};
    run_kernel(&(kernel_trial){tsr_sort_run, &sort,
                               (const char *const[]){(char *)in, (char *)places}, count,
                               (char *const[]){(char *)out, (char *)moved}, sizes,
                               tsr_sort_scratch_bytes(&sort), tsr_sort_temp_bytes(&sort)});
    assert_memory_equal(out, wanted, sizes[0]);
  }
  for (int i = 0; i < LENGTH; i++) {
    assert_true(in[moved[i]] == wanted[i]);
    if (i && wanted[i] == wanted[i - 1]) assert_true(moved[i] > moved[i - 1]);
  }
  free(in), free(out), free(places), free(moved), free(wanted);
}

static void nans_are_last_and_zeros_are_equal(void **state) {
  (void)state;
  const uint32_t in[] = {0x80000000, 0xffc00001, 0x3f800000, 0, 0x7f800000, 0xbf800000, 0x80000000};
  const uint32_t wanted[] = {0xbf800000, 0x80000000, 0,         0x80000000,
                             0x3f800000, 0x7f800000, 0xffc00001};
  const uint32_t total[] = {0xffc00001, 0xbf800000, 0x80000000, 0x80000000,
                            0,          0x3f800000, 0x7f800000};
  uint32_t out[COUNT_OF(in)];
  const int width = 4;
  const size_t size = sizeof in;
  for (int joined = 0; joined < 2; joined++) {
    const tsr_sort_key key = {0, 0, {TSR_F32, false, joined != 0}};
    const tsr_sort sort = {{1, COUNT_OF(in), 1, 1, &width}, 1, &key};
    run_kernel(&(kernel_trial){tsr_sort_run, &sort, (const char *const[]){(const char *)in}, 1,
                               (char *const[]){(char *)out}, &size, tsr_sort_scratch_bytes(&sort),
                               0});
    assert_memory_equal(out, joined ? wanted : total, size);
  }
}

// ---- the largest ----

static void check_top(test_random *random, const numbers *type, int64_t rows, int64_t length,
                      int64_t k, bool rising) {
  char *in = malloc((size_t)(rows * length * type->bytes) + 1);
  char *values = malloc((size_t)(rows * k * type->bytes) + 1);
  int32_t *places = malloc((size_t)(rows * k) * 4 + 4);
  fill(random, type, in, rows * length);
  for (int64_t i = 0; rising && i < length; i++) {
    const float number = (float)i;
    memcpy(in + i * 4, &number, 4);
  }
  const tsr_top_k top = {.order = {type->dtype, true, true},
                         .element_bytes = type->bytes,
                         .rows = rows,
                         .length = length,
                         .k = k,
                         .places = 1};
  const size_t sizes[2] = {(size_t)(rows * k * type->bytes), (size_t)(rows * k) * 4};
  run_kernel(&(kernel_trial){tsr_top_k_run, &top, (const char *const[]){in}, 2,
                             (char *const[]){values, (char *)places}, sizes,
                             tsr_top_k_scratch_bytes(&top), 0});
  const tsr_sort_key key = {0, 0, {type->dtype, true, true}};
  const tsr_sort sort = {{rows, length, 1, 1, &type->bytes}, 1, &key};
  int64_t *order = malloc((size_t)length * sizeof *order + 8);
  for (int64_t row = 0; row < rows; row++) {
    naive_order(&sort, type, &in, row, order);
    for (int64_t i = 0; i < k; i++) {
      assert_int_equal(places[row * k + i], order[i]);
      assert_memory_equal(values + (row * k + i) * type->bytes,
                          in + (row * length + order[i]) * type->bytes, (size_t)type->bytes);
    }
  }
  free(in), free(values), free(places), free(order);
}

static void the_largest_come_first_to_last(void **state) {
  (void)state;
  test_random random = {10};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    check_top(&random, &types[t], 3, 50, 7, false);
    check_top(&random, &types[t], 2, 1500, 20, false);
    check_top(&random, &types[t], 1, 8, 8, false);
    check_top(&random, &types[t], 2, 8, 0, false);
  }
  check_top(&random, &types[0], 1, 3000, 30, true);  // every element replaces another
}

SUITE(sort_lines, TEST(lines_of_every_type_are_sorted), TEST(operands_move_with_their_keys),
      TEST(long_lines_are_sorted), TEST(nans_are_last_and_zeros_are_equal),
      TEST(the_largest_come_first_to_last))
