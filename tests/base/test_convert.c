// Every code of every narrow format, both ways, against a slow reference that knows a format only
// by its widths: a code's value by ldexp, a value's code by looking for the nearest of all codes.
// The answers for what has no nearest (too large, NaN) are ml_dtypes 0.6's, in a table.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element/convert_elements.h"
#include "element/convert_floats.h"
#include "element/convert_internal.h"
#include "support/test.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

typedef struct format {
  tsr_dtype dtype;
  int bits, mantissa, bias;
  unsigned largest;                             // code of the largest finite number
  unsigned too_large, too_low, nan, minus_nan;  // what these become
  bool minus_zero;                              // has one
} format;

static const format formats[] = {
    {TSR_F16, 16, 10, 15, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, true},
    {TSR_BF16, 16, 7, 127, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, true},
    {TSR_F8E3M4, 8, 4, 3, 0x6f, 0x70, 0xf0, 0x78, 0xf8, true},
    {TSR_F8E4M3, 8, 3, 7, 0x77, 0x78, 0xf8, 0x7c, 0xfc, true},
    {TSR_F8E4M3FN, 8, 3, 7, 0x7e, 0x7f, 0xff, 0x7f, 0xff, true},
    {TSR_F8E4M3FNUZ, 8, 3, 8, 0x7f, 0x80, 0x80, 0x80, 0x80, false},
    {TSR_F8E4M3B11FNUZ, 8, 3, 11, 0x7f, 0x80, 0x80, 0x80, 0x80, false},
    {TSR_F8E5M2, 8, 2, 15, 0x7b, 0x7c, 0xfc, 0x7e, 0xfe, true},
    {TSR_F8E5M2FNUZ, 8, 2, 16, 0x7f, 0x80, 0x80, 0x80, 0x80, false},
    {TSR_F6E2M3FN, 6, 3, 1, 0x1f, 0x1f, 0x3f, 0x20, 0x00, true},
    {TSR_F6E3M2FN, 6, 2, 3, 0x1f, 0x1f, 0x3f, 0x20, 0x00, true},
    {TSR_F4E2M1FN, 4, 1, 1, 0x7, 0x7, 0xf, 0x8, 0x0, true},
};

// ---- the reference ----

static double value_of(const format *f, unsigned magnitude) {
  const unsigned fraction = magnitude & ((1u << f->mantissa) - 1),
                 exponent = magnitude >> f->mantissa;
  if (!exponent) return ldexp(fraction, 1 - f->bias - f->mantissa);
  return ldexp(fraction + (1u << f->mantissa), (int)exponent - f->bias - f->mantissa);
}

// The nearest of all codes; of two, the even one. Beyond the largest lies one more step.
static unsigned nearest(const format *f, double value) {
  const bool negative = signbit(value) != 0;
  if (isnan(value)) return negative ? f->minus_nan : f->nan;
  unsigned low = 0, high = f->largest + 1;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (value_of(f, middle) <= fabs(value))
      low = middle;
    else
      high = middle;
  }
  const long double below = (long double)fabs(value) - value_of(f, low);
  const long double above = (long double)value_of(f, low + 1) - fabs(value);
  const unsigned code = below < above || (below == above && low % 2 == 0) ? low : low + 1;
  if (code > f->largest) return negative ? f->too_low : f->too_large;
  return code | (negative && (code || f->minus_zero) ? 1u << (f->bits - 1) : 0);
}

// ---- one element at a time, through the public door ----

static unsigned code_of(tsr_dtype from, const void *value, tsr_dtype to) {
  uint16_t code = 0;
  assert_ok(tsr_convert(from, value, to, &code, 1));
  return code;
}

static void check_value(const format *f, double value) {
  const unsigned wanted = nearest(f, value);
  // f16 keeps the leading part of a NaN's payload, which `value` is chosen not to have.
  assert_int_equal(code_of(TSR_F64, &value, f->dtype), wanted);
}

static void check_value_f32(const format *f, float value) {
  assert_int_equal(code_of(TSR_F32, &value, f->dtype), nearest(f, (double)value));
}

// ---- tests ----

static void every_code_has_its_value(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    const format *f = &formats[i];
    const unsigned sign = 1u << (f->bits - 1);
    for (unsigned code = 0; code < 2 * sign; code++) {
      const uint16_t stored = (uint16_t)code;
      const unsigned magnitude = code & (sign - 1);
      float f32 = 0;
      double f64 = 0;
      assert_ok(tsr_convert(f->dtype, &stored, TSR_F32, &f32, 1));
      assert_ok(tsr_convert(f->dtype, &stored, TSR_F64, &f64, 1));
      const bool minus_zero_is_nan = !f->minus_zero && code == sign;
      if (magnitude <= f->largest && !minus_zero_is_nan) {
        const double value = value_of(f, magnitude);
        assert_true(f64 == (code & sign ? -value : value));
        assert_true((signbit(f64) != 0) == ((code & sign) != 0));
      } else if (code == f->too_large && f->too_large != f->nan) {
        assert_true(f64 == INFINITY);
      } else if (code == f->too_low && f->too_low != f->minus_nan) {
        assert_true(f64 == -INFINITY);
      } else {
        assert_true(isnan(f64) && (signbit(f64) != 0) == ((code & sign) != 0));
      }
      assert_true(isnan(f64) ? isnan(f32) : (double)f32 == f64);
    }
  }
}

static void values_between_codes_go_to_the_nearest(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    const format *f = &formats[i];
    for (unsigned code = 0; code <= f->largest; code++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const double value = sign * value_of(f, code), next = sign * value_of(f, code + 1);
        const double middle = value + (next - value) / 2;
        check_value(f, value);
        check_value(f, middle);
        check_value(f, nextafter(middle, value));
        check_value(f, nextafter(middle, next));
        check_value_f32(f, (float)middle);
        check_value_f32(f, nextafterf((float)middle, (float)value));
        check_value_f32(f, nextafterf((float)middle, (float)next));
      }
  }
}

static void every_code_survives_the_way_to_f32_and_back(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    const format *f = &formats[i];
    enum { CODES = 1 << 16 };
    static uint8_t packed[2 * CODES], back[2 * CODES];
    static float wide[CODES];
    const int64_t count = INT64_C(1) << f->bits;
    for (int64_t code = 0; code < count; code++) {
      const uint16_t stored = (uint16_t)code;
      tsr_convert_run(f->dtype, &stored, 0, f->dtype, packed, code, 1);
    }
    assert_ok(tsr_convert(f->dtype, packed, TSR_F32, wide, count));
    assert_ok(tsr_convert(TSR_F32, wide, f->dtype, back, count));
    for (int64_t code = 0; code < count; code++) {
      uint16_t found = 0;
      tsr_convert_run(f->dtype, back, code, f->dtype, &found, 0, 1);
      if (!isnan(wide[code])) assert_int_equal(found, code);
    }
  }
}

static void any_float_goes_to_the_nearest(void **state) {
  (void)state;
  test_random random = {11};
  for (size_t i = 0; i < COUNT_OF(formats); i++)
    for (int turn = 0; turn < 3000; turn++) {
      // Any exponent at all, and those near the format's.
      uint64_t bits = test_random_next(&random);
      if (turn % 2) {
        const uint64_t exponent =
            (uint64_t)(1023 - formats[i].bias) + (uint64_t)test_random_range(&random, -12, 40);
        bits = (bits & ~(UINT64_C(0x7ff) << 52)) | exponent << 52;
      }
      double f64;
      memcpy(&f64, &bits, sizeof f64);
      if (isnan(f64)) continue;
      check_value(&formats[i], f64);
      check_value_f32(&formats[i], (float)f64);
    }
}

static void what_has_no_nearest_is_as_ml_dtypes_has_it(void **state) {
  (void)state;
  const double values[] = {0.0,          -0.0,  INFINITY, -INFINITY, (double)NAN,
                           -(double)NAN, 1e300, -1e300,   5e-324,    -5e-324};
  for (size_t i = 0; i < COUNT_OF(formats); i++)
    for (size_t k = 0; k < COUNT_OF(values); k++) {
      check_value(&formats[i], values[k]);
      check_value_f32(&formats[i], (float)values[k]);
    }
}

static const struct {
  double value;
  unsigned code;
} powers[] = {
    {0, 0xff},         {-0.0, 0xff},         {-1, 0xff},      {(double)NAN, 0xff},
    {INFINITY, 0xff},  {0x1p-149, 0},        {0x1p-127, 0},   {0x1.000004p-127, 1},
    {0x1p-126, 1},     {0x1.7ffffep-126, 1}, {0x1.8p-126, 2}, {1, 127},
    {1.25, 127},       {1.5, 128},           {3, 129},        {0x1.7ffffep127, 254},
    {0x1.8p127, 0xff}, {-INFINITY, 0xff},
};

static void f8e8m0fnu_takes_the_nearest_power_of_two(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(powers); i++) {
    const float f32 = (float)powers[i].value;
    assert_int_equal(code_of(TSR_F64, &powers[i].value, TSR_F8E8M0FNU), powers[i].code);
    assert_int_equal(code_of(TSR_F32, &f32, TSR_F8E8M0FNU), powers[i].code);
  }
  const double tiny = 1e-300, high = 1e300;
  assert_int_equal(code_of(TSR_F64, &tiny, TSR_F8E8M0FNU), 0);
  assert_int_equal(code_of(TSR_F64, &high, TSR_F8E8M0FNU), 0xff);
  for (unsigned code = 0; code < 256; code++) {
    const uint8_t stored = (uint8_t)code;
    double value = 0;
    assert_ok(tsr_convert(TSR_F8E8M0FNU, &stored, TSR_F64, &value, 1));
    assert_true(code == 255 ? isnan(value) : value == ldexp(1, (int)code - 127));
  }
}

static void f16_keeps_the_head_of_a_payload(void **state) {
  (void)state;
  const uint32_t signalling = 0xff802001;
  const uint64_t wide = UINT64_C(0x7ff0040000000001);
  assert_int_equal(code_of(TSR_F32, &signalling, TSR_F16), 0xfe01);
  assert_int_equal(code_of(TSR_F64, &wide, TSR_F16), 0x7e01);
  const uint16_t code = 0x7c01;
  uint32_t back = 0;
  assert_ok(tsr_convert(TSR_F16, &code, TSR_F32, &back, 1));
  assert_int_equal(back, 0x7fc02000);
}

static const struct {
  tsr_dtype to;
  double value;
  int64_t integer;
} truncated[] = {
    {TSR_I32, 2.9, 2},
    {TSR_I32, -2.9, -2},
    {TSR_I32, 3e9, INT32_MAX},
    {TSR_I32, -3e9, INT32_MIN},
    {TSR_I32, (double)NAN, 0},
    {TSR_U8, -1, 0},
    {TSR_U8, 255.9, 255},
    {TSR_U8, 256, 255},
    {TSR_I8, -128.9, -128},
    {TSR_I4, 7.5, 7},
    {TSR_I4, 8, 7},
    {TSR_I4, -9, -8},
    {TSR_U2, 99, 3},
    {TSR_I2, -1.5, -1},
    {TSR_I64, 0x1p63, INT64_MAX},
    {TSR_I64, -0x1p63, INT64_MIN},
    {TSR_I64, -INFINITY, INT64_MIN},
    {TSR_U64, -1, 0},
    {TSR_U64, 0x1p63, INT64_MIN},
    {TSR_U64, 0x1.fffffffffffffp63, -2048},
    {TSR_U64, INFINITY, -1},
    {TSR_BOOL, 0.25, 1},
    {TSR_BOOL, -0.0, 0},
    {TSR_BOOL, (double)NAN, 1},
};

static void floats_become_the_nearest_integer_towards_zero(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(truncated); i++) {
    int64_t stored = 0, found = 0;
    assert_ok(tsr_convert(TSR_F64, &truncated[i].value, truncated[i].to, &stored, 1));
    assert_ok(tsr_convert(truncated[i].to, &stored, TSR_I64, &found, 1));
    assert_int_equal(found, truncated[i].integer);
  }
}

static void integers_are_rounded_once(void **state) {
  (void)state;
  test_random random = {12};
  for (int turn = 0; turn < 4000; turn++) {
    const int64_t value = (int64_t)test_random_next(&random) >> test_random_range(&random, 0, 63);
    float f32 = 0;
    double f64 = 0;
    assert_ok(tsr_convert(TSR_I64, &value, TSR_F32, &f32, 1));
    assert_ok(tsr_convert(TSR_I64, &value, TSR_F64, &f64, 1));
    assert_true(f32 == (float)value && f64 == (double)value);
    assert_ok(tsr_convert(TSR_U64, &value, TSR_F32, &f32, 1));
    assert_ok(tsr_convert(TSR_U64, &value, TSR_F64, &f64, 1));
    assert_true(f32 == (float)(uint64_t)value && f64 == (double)(uint64_t)value);
  }
  // Just above a half of bf16, by less than f64 can tell: two roundings would go down.
  const int64_t above = (INT64_C(0x101) << 54) + 1, below = (INT64_C(0x103) << 54) - 1;
  assert_int_equal(code_of(TSR_I64, &above, TSR_BF16), 0x5e81);
  assert_int_equal(code_of(TSR_I64, &below, TSR_BF16), 0x5e81);
  const int64_t minus = -above;
  assert_int_equal(code_of(TSR_I64, &minus, TSR_BF16), 0xde81);
  const uint64_t large = UINT64_MAX;
  assert_int_equal(code_of(TSR_U64, &large, TSR_BF16), 0x5f80);
  const int32_t seven = 7;
  assert_int_equal(code_of(TSR_I32, &seven, TSR_F4E2M1FN), 0x7);
}

static int64_t wrapped(int64_t value, const tsr_dtype_info *info) {
  if (info->kind == TSR_CLASS_BOOL) return value != 0;
  const int unused = 64 - info->bits;
  const uint64_t high = (uint64_t)value << unused;
  return info->kind == TSR_CLASS_SIGNED ? (int64_t)high >> unused : (int64_t)(high >> unused);
}

// Offsets reach every place in a byte, and neighbours must stay as they were.
static void integers_wrap_at_any_offset(void **state) {
  (void)state;
  test_random random = {13};
  enum { COUNT = 23, ROOM = 512 };
  for (int from = TSR_BOOL; from <= TSR_U64; from++)
    for (int to = TSR_BOOL; to <= TSR_U64; to++) {
      const tsr_dtype_info *from_info = tsr_dtype_info_of((tsr_dtype)from);
      const tsr_dtype_info *to_info = tsr_dtype_info_of((tsr_dtype)to);
      const int64_t at = test_random_range(&random, 0, 9), to_at = test_random_range(&random, 0, 9);
      uint8_t source[ROOM], target[ROOM + 1], before[ROOM + 1];
      for (int i = 0; i < ROOM; i++) source[i] = (uint8_t)(test_random_next(&random) >> 5);
      if (from == TSR_BOOL)
        for (int i = 0; i < ROOM; i++) source[i] &= 1;
      memset(target, 0x5a, sizeof target);
      memcpy(before, target, sizeof before);
      tsr_convert_run((tsr_dtype)from, source, at, (tsr_dtype)to, target + 1, to_at, COUNT);
      for (int64_t i = 0; i < COUNT; i++) {
        int64_t in = 0, out = 0;
        tsr_convert_run((tsr_dtype)from, source, at + i, TSR_I64, &in, 0, 1);
        tsr_convert_run((tsr_dtype)to, target + 1, to_at + i, TSR_I64, &out, 0, 1);
        assert_int_equal(in, wrapped(in, from_info));
        assert_int_equal(out, wrapped(in, to_info));
      }
      // With its elements put back, the target is as it was.
      tsr_convert_run((tsr_dtype)to, before + 1, to_at, (tsr_dtype)to, target + 1, to_at, COUNT);
      assert_memory_equal(target, before, sizeof target);
    }
}

static void sub_byte_floats_are_packed_first_in_the_lowest_bits(void **state) {
  (void)state;
  const float values[] = {1, -6, 0.5f, 3, 2};
  uint8_t packed[3] = {0, 0, 0xf0};
  assert_ok(tsr_convert(TSR_F32, values, TSR_F4E2M1FN, packed, 5));
  assert_memory_equal(packed, ((uint8_t[]){0xf2, 0x51, 0xf4}), 3);
  uint8_t six[4] = {0, 0, 0, 0xc0};
  assert_ok(tsr_convert(TSR_F32, values, TSR_F6E3M2FN, six, 5));
  // 0x0c, 0x36, 0x08, 0x12, 0x10
  assert_memory_equal(six, ((uint8_t[]){0x8c, 0x8d, 0x48, 0xd0}), 4);
  float back[5];
  assert_ok(tsr_convert(TSR_F6E3M2FN, six, TSR_F32, back, 5));
  assert_memory_equal(back, values, sizeof values);
}

static void memory_is_asked_for_only_where_elements_are(void **state) {
  (void)state;
  float from[2] = {1, 2};
  unsigned char to[2 * 2];
  assert_fails(tsr_convert(TSR_F32, NULL, TSR_BF16, to, 2), BAD_ARGUMENT,
               "2 elements of f32, but no memory to read them from");
  assert_fails(tsr_convert(TSR_F32, from, TSR_BF16, NULL, 2), BAD_ARGUMENT,
               "2 elements of bf16, but no memory to write them to");
  assert_ok(tsr_convert(TSR_F32, NULL, TSR_BF16, NULL, 0));
}

static void complex_numbers_stay_complex(void **state) {
  (void)state;
  const float c64[] = {1.5f, -2, 3, 4};
  double c128[4] = {0};
  assert_ok(tsr_convert(TSR_C64, c64, TSR_C128, c128, 2));
  assert_true(c128[0] == 1.5 && c128[1] == -2 && c128[2] == 3 && c128[3] == 4);
  float back[4] = {0};
  assert_ok(tsr_convert(TSR_C128, c128, TSR_C64, back, 2));
  assert_memory_equal(back, c64, sizeof c64);
  const int8_t integers[] = {-7, 9};
  assert_ok(tsr_convert(TSR_I8, integers, TSR_C64, back, 2));
  assert_true(back[0] == -7 && back[1] == 0 && back[2] == 9 && back[3] == 0);
  const uint16_t half = 0x3800;
  assert_ok(tsr_convert(TSR_F16, &half, TSR_C128, c128, 1));
  assert_true(c128[0] == 0.5 && c128[1] == 0);
  assert_false(tsr_convertible(TSR_C64, TSR_F32));
  assert_true(tsr_convertible(TSR_F32, TSR_C64));
  assert_false(tsr_convertible(TSR_DTYPE_NONE, TSR_F32));
  assert_fails(tsr_convert(TSR_C64, c64, TSR_BOOL, back, 1), UNSUPPORTED,
               "c64 does not become bool: the imaginary parts would be lost");
  assert_fails(tsr_convert(TSR_DTYPE_COUNT, c64, TSR_BOOL, back, 1), BAD_ARGUMENT,
               "element type 31 does not exist");
  assert_fails(tsr_convert(TSR_F32, c64, TSR_F64, back, -1), BAD_ARGUMENT,
               "-1 elements, wanted 0 or more");
}

// Long runs, at odd addresses, give what single elements do: blocks join without a seam.
static void runs_of_any_length_give_the_same(void **state) {
  (void)state;
  enum { COUNT = 1300 };
  static uint8_t source[8 * COUNT + 1], whole[16 * COUNT + 1], single[16 * COUNT + 1];
  test_random random = {14};
  for (size_t i = 0; i < sizeof source; i++) source[i] = (uint8_t)(test_random_next(&random) >> 5);
  const tsr_dtype types[] = {TSR_F16,      TSR_BF16, TSR_F32, TSR_F64,      TSR_F8E5M2,
                             TSR_F6E2M3FN, TSR_I4,   TSR_U64, TSR_F8E8M0FNU};
  for (size_t i = 0; i < COUNT_OF(types); i++)
    for (size_t k = 0; k < COUNT_OF(types); k++) {
      memset(whole, 0, sizeof whole);
      memset(single, 0, sizeof single);
      tsr_convert_run(types[i], source + 1, 0, types[k], whole + 1, 0, COUNT);
      for (int64_t e = 0; e < COUNT; e++)
        tsr_convert_run(types[i], source + 1, e, types[k], single + 1, e, 1);
      assert_memory_equal(whole, single, sizeof whole);
    }
}

#ifdef TSR_FLOAT_BLOCKS_AVX2
static void loops_for_avx2_give_the_same_bits(void **state) {
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip();
  enum { COUNT = 1003 };
  static double in[COUNT];
  static float narrow[COUNT], a[COUNT], b[COUNT];
  static uint8_t codes[8 * COUNT], wanted[8 * COUNT], found[8 * COUNT];
  test_random random = {15};
  for (int i = 0; i < COUNT; i++) {
    const uint64_t bits = test_random_next(&random);
    const uint32_t narrow_bits = (uint32_t)(bits >> 7) | (i % 5 ? 0 : 0x7f800000);
    memcpy(&in[i], &bits, sizeof bits);
    memcpy(&narrow[i], &narrow_bits, sizeof narrow_bits);
    memcpy(codes + 4 * i, &narrow_bits, sizeof narrow_bits);
  }
  for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
    if (tsr_float_blocks_plain.loads[d]) {
      tsr_float_blocks_plain.loads[d](codes, a, COUNT);
      tsr_float_blocks_avx2.loads[d](codes, b, COUNT);
      assert_memory_equal(a, b, sizeof a);
    }
    if (!tsr_float_blocks_plain.stores[d]) continue;
    memset(wanted, 0, sizeof wanted);
    memset(found, 0, sizeof found);
    tsr_float_blocks_plain.stores[d](narrow, wanted, COUNT);
    tsr_float_blocks_avx2.stores[d](narrow, found, COUNT);
    assert_memory_equal(wanted, found, sizeof wanted);
    tsr_float_blocks_plain.stores_f64[d](in, wanted, COUNT);
    tsr_float_blocks_avx2.stores_f64[d](in, found, COUNT);
    assert_memory_equal(wanted, found, sizeof wanted);
  }
}
#else
static void loops_for_avx2_give_the_same_bits(void **state) {
  (void)state;
  skip();
}
#endif

// The buffer is the only allocation: another that failed would go unreported, which a sweep
// refuses.
static tsr_status convert_some(void *context) {
  float *out = malloc(1000 * sizeof *out);
  if (!out) return tsr_fail(NO_MEMORY, "buffer");
  tsr_status status = tsr_convert(TSR_F4E2M1FN, context, TSR_F32, out, 1000);
  free(out);
  return status;
}

static void nothing_is_allocated(void **state) {
  (void)state;
  uint8_t codes[500] = {0};
  test_allocation_sweep(convert_some, codes);
}

// ---- elements in words ----

static const struct {
  tsr_dtype dtype;
  unsigned char bytes[16];
  int64_t index;
  const char *text;
} printed[] = {
    {TSR_BOOL, {0, 1}, 1, "true"},
    {TSR_BOOL, {0, 1}, 0, "false"},
    {TSR_I8, {0xff}, 0, "-1"},
    {TSR_I4, {0xf1}, 1, "-1"},
    {TSR_U2, {0xe4}, 3, "3"},
    {TSR_U64, {255, 255, 255, 255, 255, 255, 255, 255}, 0, "18446744073709551615"},
    {TSR_F32, {0xcd, 0xcc, 0xcc, 0x3d}, 0, "0.1"},
    {TSR_F64, {0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}, 0, "0.1"},
    {TSR_BF16, {0, 0, 0x80, 0xbf}, 1, "-1.0"},
    {TSR_F16, {0, 0x7c}, 0, "inf"},
    {TSR_F16, {0, 0xfc}, 0, "-inf"},
    {TSR_F16, {1, 0x7c}, 0, "nan"},
    {TSR_F4E2M1FN, {0x7f}, 0, "-6.0"},
    {TSR_C64, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}, 0, "1.0-2.0j"},
    {TSR_C128, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 0, "1.0+0.0j"},
};

static void elements_are_printed_in_the_fewest_digits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(printed); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_element_print(printed[i].dtype, printed[i].bytes, printed[i].index, &text);
    assert_string_equal(tsr_text_string(&text), printed[i].text);
    tsr_text_deinit(&text);
  }
}

SUITE(convert, TEST(memory_is_asked_for_only_where_elements_are),
      TEST(elements_are_printed_in_the_fewest_digits), TEST(every_code_has_its_value),
      TEST(values_between_codes_go_to_the_nearest),
      TEST(every_code_survives_the_way_to_f32_and_back), TEST(any_float_goes_to_the_nearest),
      TEST(what_has_no_nearest_is_as_ml_dtypes_has_it),
      TEST(f8e8m0fnu_takes_the_nearest_power_of_two), TEST(f16_keeps_the_head_of_a_payload),
      TEST(floats_become_the_nearest_integer_towards_zero), TEST(integers_are_rounded_once),
      TEST(integers_wrap_at_any_offset), TEST(sub_byte_floats_are_packed_first_in_the_lowest_bits),
      TEST(complex_numbers_stay_complex), TEST(runs_of_any_length_give_the_same),
      TEST(loops_for_avx2_give_the_same_bits), TEST(nothing_is_allocated))
