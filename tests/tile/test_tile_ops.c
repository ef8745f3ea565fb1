// Every op on every element type gives what the evaluator of constants gives.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/tile_support.h"

enum { COUNT = 300 };

// Ops whose loops are here; functions such as exponential have tests of their own.
static const struct {
  tsr_tile_op op;
  tsr_op_id id;
  int operands;
  bool to_bool;
} ops[] = {
#define SAME(name, operands) {TSR_TILE_##name, TSR_OP_##name, operands, false},
#define CHLO(name, operands) {TSR_TILE_##name, TSR_OP_CHLO_##name, operands, false},
    // clang-format off
    SAME(ABS, 1) SAME(CEIL, 1) SAME(COUNT_LEADING_ZEROS, 1) SAME(FLOOR, 1) SAME(NOT, 1)
    SAME(NEGATE, 1) SAME(POPCNT, 1) SAME(ROUND_NEAREST_AFZ, 1) SAME(ROUND_NEAREST_EVEN, 1)
    SAME(SIGN, 1) SAME(SQRT, 1) CHLO(SQUARE, 1) CHLO(CONJ, 1)
    SAME(ADD, 2) SAME(AND, 2) SAME(DIVIDE, 2) SAME(MAXIMUM, 2) SAME(MINIMUM, 2) SAME(MULTIPLY, 2)
    SAME(OR, 2) SAME(REMAINDER, 2) SAME(SHIFT_LEFT, 2) SAME(SHIFT_RIGHT_ARITHMETIC, 2)
    SAME(SHIFT_RIGHT_LOGICAL, 2) SAME(SUBTRACT, 2) SAME(XOR, 2) CHLO(MULHI, 2) SAME(CLAMP, 3)
    {TSR_TILE_IS_FINITE, TSR_OP_IS_FINITE, 1, true}, {TSR_TILE_IS_INF, TSR_OP_CHLO_IS_INF, 1, true},
    {TSR_TILE_IS_NEG_INF, TSR_OP_CHLO_IS_NEG_INF, 1, true},
    {TSR_TILE_IS_POS_INF, TSR_OP_CHLO_IS_POS_INF, 1, true},
    // clang-format on
};

static bool is_complex(tsr_dtype dtype) {
  return tsr_dtype_info_of(dtype)->kind == TSR_CLASS_COMPLEX;
}

// What the evaluator leaves undefined: division by zero, and quotients out of range, as XLA's CPU
// back end has them.
static bool undefined_result(tsr_tile_op op, const tsr_scalar_type *type, const tsr_scalar *in,
                             tsr_scalar *out) {
  if (type->kind > TSR_CLASS_UNSIGNED) return false;
  if (op == TSR_TILE_DIVIDE)
    out->i = in[1].i == 0 ? -1 : in[0].i;
  else if (op == TSR_TILE_REMAINDER)
    out->i = in[1].i == 0 ? in[0].i : 0;
  else
    return false;
  return true;
}

// An integer in memory fills its byte.
static void extend(const tsr_scalar_type *type, char *bytes) {
  if (type->kind == TSR_CLASS_SIGNED && type->bits < 8)
    *bytes = (char)((signed char)((unsigned char)*bytes << (8 - type->bits)) >> (8 - type->bits));
}

static bool expected_of(size_t row, tsr_dtype dtype, const char *const *in, int64_t i,
                        char *out_bytes) {
  const tsr_scalar_type type = tile_scalar(dtype),
                        to = tile_scalar(ops[row].to_bool ? TSR_BOOL : dtype);
  tsr_scalar operands[3] = {{.i = 0}}, result = {.i = 0};
  for (int k = 0; k < ops[row].operands; k++)
    operands[k] = tsr_scalar_load(&type, in[k] + i * type.bytes);
  tsr_scalar_fn *function = tsr_scalar_op(ops[row].id, type.kind);
  if (!function(&type, operands, &result) &&
      !undefined_result(ops[row].op, &type, operands, &result))
    return false;
  if (!tsr_scalar_store(&to, result, out_bytes)) return false;
  extend(&to, out_bytes);
  return true;
}

static void check_op(size_t row, tsr_dtype dtype, int form) {
  const int bytes = tile_bytes(dtype), count = ops[row].operands;
  const tsr_dtype to = ops[row].to_bool ? TSR_BOOL : dtype;
  char *in[3], *out = calloc(COUNT, 16);
  int values[3];
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT}, .row_dims = 1});
  for (int k = 0; k < count; k++) {
    in[k] = calloc(COUNT, 16);
    tile_fill(dtype, (uint64_t)(11 * k + 5), in[k], COUNT);
    // One element for all: the fourth.
    const bool single = form >> k & 1;
    if (single)
      for (int i = 0; i < COUNT; i++) memmove(in[k] + i * bytes, in[k] + 3 * bytes, (size_t)bytes);
    values[k] = tsr_tile_load(p, k, dtype, (int64_t[]){!single}, 0);
  }
  const int value = tsr_tile_apply(p, ops[row].op, values);
  assert_int_equal(tsr_tile_dtype(p, value), to);
  tsr_tile_store(p, value, 0, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *const *)in, (void *const *)&out);
  for (int64_t i = 0; i < COUNT; i++) {
    char expected[16] = {0};
    if (!expected_of(row, dtype, (const char *const *)in, i, expected)) continue;
    if (!tile_same(to, out + i * tile_bytes(to), expected))
      fail_msg("op %d on %s, form %d, element %lld differs", (int)ops[row].op,
               tsr_dtype_info_of(dtype)->name, form, (long long)i);
  }
  for (int k = 0; k < count; k++) free(in[k]);
  free(out);
}

// Functions of complex numbers are vector math. Products of scales leave the range of f32, in which
// they are computed.
static bool is_left_out(tsr_tile_op op, tsr_dtype dtype) {
  if (dtype == TSR_F8E8M0FNU)
    return op == TSR_TILE_SQUARE || op == TSR_TILE_MULTIPLY || op == TSR_TILE_DIVIDE;
  return is_complex(dtype) && (op == TSR_TILE_DIVIDE || op == TSR_TILE_SQRT ||
                               op == TSR_TILE_SIGN || op == TSR_TILE_ABS || op == TSR_TILE_SQUARE);
}

static void every_op_equals_the_evaluator_on_every_type(void **state) {
  (void)state;
  int checked = 0;
  for (size_t row = 0; row < COUNT_OF(ops); row++)
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
      const tsr_dtype dtype = (tsr_dtype)d;
      if (!tsr_scalar_op(ops[row].id, tsr_dtype_info_of(dtype)->kind) ||
          is_left_out(ops[row].op, dtype))
        continue;
      for (int form = 0; form < 1 << ops[row].operands; form++) check_op(row, dtype, form);
      checked++;
    }
  assert_true(checked > 300);
}

// ---- power of integers, compare, select ----

static void powers_of_integers_wrap(void **state) {
  (void)state;
  static const struct {
    int32_t base, exponent, power;
  } cases[] = {{3, 4, 81}, {2, 31, INT32_MIN}, {2, 32, 0}, {-1, -3, -1}, {-1, -2, 1},
               {1, -5, 1}, {2, -1, 0},         {0, 0, 1},  {7, 1, 7}};
  int32_t base[COUNT_OF(cases)], exponent[COUNT_OF(cases)], out[COUNT_OF(cases)];
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    base[i] = cases[i].base, exponent[i] = cases[i].exponent;
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT_OF(cases)}, .row_dims = 1});
  const int in[2] = {tsr_tile_load(p, 0, TSR_I32, (int64_t[]){1}, 0),
                     tsr_tile_load(p, 1, TSR_I32, (int64_t[]){1}, 0)};
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_POWER, in), 0, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *[]){base, exponent}, (void *[]){out});
  for (size_t i = 0; i < COUNT_OF(cases); i++) assert_int_equal(out[i], cases[i].power);
}

static void check_compare(tsr_dtype dtype, int direction, bool total) {
  const tsr_scalar_type type = tile_scalar(dtype);
  char *a = calloc(COUNT, 16), *b = calloc(COUNT, 16), out[COUNT];
  tile_fill(dtype, 3, a, COUNT);
  tile_fill(dtype, 4, b, COUNT);
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, dtype, (int64_t[]){1}, 0),
            y = tsr_tile_load(p, 1, dtype, (int64_t[]){1}, 0);
  tsr_tile_store(p, tsr_tile_compare(p, direction, total, x, y), 0, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *[]){a, b}, (void *[]){out});
  for (int64_t i = 0; i < COUNT; i++) {
    const tsr_scalar in[2] = {tsr_scalar_load(&type, a + i * type.bytes),
                              tsr_scalar_load(&type, b + i * type.bytes)};
    bool truth = false;
    assert_true(tsr_scalar_compare(&type, direction, total, in, &truth));
    if (out[i] != truth)
      fail_msg("compare %d of %s, element %lld", direction, tsr_dtype_info_of(dtype)->name,
               (long long)i);
  }
  free(a);
  free(b);
}

static void comparisons_equal_the_evaluator(void **state) {
  (void)state;
  for (int d = 1; d < TSR_DTYPE_COUNT; d++)
    for (int direction = 0; direction < (is_complex((tsr_dtype)d) ? 2 : 6); direction++)
      for (int total = 0; total < 2; total++) check_compare((tsr_dtype)d, direction, total);
}

static void check_select(tsr_dtype dtype, int form) {
  const int bytes = tile_bytes(dtype);
  char *in[3], *out = calloc(COUNT, 16);
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT}, .row_dims = 1});
  int values[3];
  for (int k = 0; k < 3; k++) {
    in[k] = calloc(COUNT, 16);
    tile_fill(k ? dtype : TSR_BOOL, (uint64_t)k, in[k], COUNT);
    values[k] = tsr_tile_load(p, k, k ? dtype : TSR_BOOL, (int64_t[]){!(form >> k & 1)}, 0);
  }
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_SELECT, values), 0, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *const *)in, (void *const *)&out);
  for (int64_t i = 0; i < COUNT; i++) {
    const bool which = in[0][form & 1 ? 0 : i];
    const int64_t at = form >> (which ? 1 : 2) & 1 ? 0 : i;
    assert_true(tile_same(dtype, out + i * bytes, in[which ? 1 : 2] + at * bytes));
  }
  for (int k = 0; k < 3; k++) free(in[k]);
  free(out);
}

static void selects_take_any_form_of_operands(void **state) {
  (void)state;
  for (int d = 1; d < TSR_DTYPE_COUNT; d++)
    for (int form = 0; form < 8; form++) check_select((tsr_dtype)d, form);
}

// ---- conversions ----

static void check_convert(tsr_dtype from, tsr_dtype to) {
  const tsr_scalar_type source = tile_scalar(from), target = tile_scalar(to);
  char *in = calloc(COUNT, 16), *out = calloc(COUNT, 16);
  tile_fill(from, 9, in, COUNT);
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, from, (int64_t[]){1}, 0);
  tsr_tile_store(p, tsr_tile_convert(p, to, x), 0, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *[]){in}, (void *[]){out});
  for (int64_t i = 0; i < COUNT; i++) {
    char expected[16] = {0};
    const tsr_scalar x0 = tsr_scalar_load(&source, in + i * source.bytes);
    if (!tsr_scalar_convert(&source, &target, x0, expected)) continue;
    extend(&target, expected);
    if (!tile_same(to, out + i * target.bytes, expected))
      fail_msg("%s to %s, element %lld", tsr_dtype_info_of(from)->name, tsr_dtype_info_of(to)->name,
               (long long)i);
  }
  free(in);
  free(out);
}

static void every_type_converts_to_every_type(void **state) {
  (void)state;
  for (int from = 1; from < TSR_DTYPE_COUNT; from++)
    for (int to = 1; to < TSR_DTYPE_COUNT; to++) check_convert((tsr_dtype)from, (tsr_dtype)to);
}

static void bits_cast_to_every_type_of_equal_width_and_back(void **state) {
  (void)state;
  for (int from = 2; from < TSR_DTYPE_COUNT; from++)
    for (int to = 2; to < TSR_DTYPE_COUNT; to++) {
      const tsr_dtype a = (tsr_dtype)from, b = (tsr_dtype)to;
      if (tsr_dtype_info_of(a)->bits != tsr_dtype_info_of(b)->bits) continue;
      char in[64 * 16], middle[64 * 16], out[64 * 16];
      tile_fill(a, 1, in, 64);
      tsr_tile_program *p =
          tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {64}, .row_dims = 1});
      const int x = tsr_tile_load(p, 0, a, (int64_t[]){1}, 0), y = tsr_tile_bitcast(p, b, x);
      tsr_tile_store(p, y, 0, (int64_t[]){1}, 0);
      tsr_tile_store(p, tsr_tile_bitcast(p, a, y), 1, (int64_t[]){1}, 0);
      tile_run(p, 1, (const void *[]){in}, (void *[]){middle, out});
      const int bits = tsr_dtype_info_of(a)->bits;
      for (int64_t i = 0; i < 64; i++) {
        const int64_t at = i * tile_bytes(a);
        if (!tile_same(a, out + at, in + at) && tsr_dtype_info_of(b)->kind != TSR_CLASS_FLOAT)
          fail_msg("%s by way of %s", tsr_dtype_info_of(a)->name, tsr_dtype_info_of(b)->name);
        if (bits >= 8 && tsr_dtype_info_of(b)->kind != TSR_CLASS_FLOAT)
          assert_memory_equal(middle + at, in + at, (size_t)tile_bytes(a));
      }
    }
}

static void precision_is_reduced_as_the_evaluator_does(void **state) {
  (void)state;
  static const tsr_dtype dtypes[] = {TSR_F16, TSR_BF16, TSR_F32, TSR_F64};
  static const int bits[][2] = {{8, 7}, {5, 10}, {4, 3}, {5, 2}, {11, 52}, {8, 23}, {3, 0}, {1, 5}};
  for (size_t d = 0; d < COUNT_OF(dtypes); d++)
    for (size_t k = 0; k < COUNT_OF(bits); k++) {
      const tsr_scalar_type type = tile_scalar(dtypes[d]);
      char in[COUNT * 8], out[COUNT * 8];
      tile_fill(dtypes[d], 2, in, COUNT);
      tsr_tile_program *p =
          tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT}, .row_dims = 1});
      const int x = tsr_tile_load(p, 0, dtypes[d], (int64_t[]){1}, 0);
      tsr_tile_store(p, tsr_tile_reduce_precision(p, bits[k][0], bits[k][1], x), 0, (int64_t[]){1},
                     0);
      tile_run(p, 1, (const void *[]){in}, (void *[]){out});
      for (int64_t i = 0; i < COUNT; i++) {
        char expected[8];
        assert_true(tsr_scalar_reduce_precision(&type, bits[k][0], bits[k][1], in + i * type.bytes,
                                                expected));
        assert_true(tile_same(dtypes[d], out + i * type.bytes, expected));
      }
    }
}

static void next_numbers_are_neighbours_of_their_own_type(void **state) {
  (void)state;
  const uint16_t from[] = {0x0000, 0x8000, 0x3f80, 0x3f80, 0xbf80, 0x0001, 0x7f7f, 0x3f80};
  const uint16_t toward[] = {0x3f80, 0xbf80, 0x4000, 0x0000, 0x0000, 0x0000, 0x7f80, 0x3f80};
  const uint16_t next[] = {0x0001, 0x8001, 0x3f81, 0x3f7f, 0xbf7f, 0x0000, 0x7f80, 0x3f80};
  uint16_t out[COUNT_OF(from)];
  tsr_tile_program *p =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {COUNT_OF(from)}, .row_dims = 1});
  const int in[2] = {tsr_tile_load(p, 0, TSR_BF16, (int64_t[]){1}, 0),
                     tsr_tile_load(p, 1, TSR_BF16, (int64_t[]){1}, 0)};
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_NEXT_AFTER, in), 0, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *[]){from, toward}, (void *[]){out});
  assert_memory_equal(out, next, sizeof next);
}

static void complex_numbers_have_components(void **state) {
  (void)state;
  const float in[] = {1, 2, -3, 4.5F, 0, -0.0F};
  float real[3], imag[3], again[6];
  tsr_tile_program *p = tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {3}, .row_dims = 1});
  const int z = tsr_tile_load(p, 0, TSR_C64, (int64_t[]){1}, 0);
  const int parts[2] = {tsr_tile_apply(p, TSR_TILE_REAL, &z), tsr_tile_apply(p, TSR_TILE_IMAG, &z)};
  tsr_tile_store(p, parts[0], 0, (int64_t[]){1}, 0);
  tsr_tile_store(p, parts[1], 1, (int64_t[]){1}, 0);
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_COMPLEX, parts), 2, (int64_t[]){1}, 0);
  tile_run(p, 1, (const void *[]){in}, (void *[]){real, imag, again});
  assert_memory_equal(again, in, sizeof in);
  for (int i = 0; i < 3; i++) assert_true(real[i] == in[2 * i] && imag[i] == in[2 * i + 1]);
}

static void ops_without_code_are_reported_when_the_program_is_finished(void **state) {
  (void)state;
  tsr_tile_program *p = tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {3}, .row_dims = 1});
  const int x = tsr_tile_load(p, 0, TSR_I32, (int64_t[]){1}, 0);
  assert_int_equal(tsr_tile_apply(p, TSR_TILE_FLOOR, &x), -1);
  assert_int_equal(tsr_tile_apply(p, TSR_TILE_NEGATE, (int[]){-1}), -1);
  assert_fails(tsr_tile_finish(p), UNSUPPORTED, "tile op FLOOR has no code for i32");
  tsr_tile_destroy(p);
  p = tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {3}, .row_dims = 1});
  const int in[2] = {tsr_tile_load(p, 0, TSR_I32, (int64_t[]){1}, 0),
                     tsr_tile_load(p, 1, TSR_F32, (int64_t[]){1}, 0)};
  assert_int_equal(tsr_tile_apply(p, TSR_TILE_ADD, in), -1);
  assert_fails_with(tsr_tile_finish(p), CONSTRAINT, "operands of tile op ADD have different types");
  tsr_tile_destroy(p);
}

SUITE(tile_ops, TEST(every_op_equals_the_evaluator_on_every_type), TEST(powers_of_integers_wrap),
      TEST(comparisons_equal_the_evaluator), TEST(selects_take_any_form_of_operands),
      TEST(every_type_converts_to_every_type),
      TEST(bits_cast_to_every_type_of_equal_width_and_back),
      TEST(precision_is_reduced_as_the_evaluator_does),
      TEST(next_numbers_are_neighbours_of_their_own_type), TEST(complex_numbers_have_components),
      TEST(ops_without_code_are_reported_when_the_program_is_finished))
