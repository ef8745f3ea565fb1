#include "tessera/dtype.h"

#include <string.h>

#include "element/dtype_internal.h"
#include "support/test.h"

static void names_are_found_in_every_ecosystem(void **state) {
  (void)state;
  for (int i = 1; i < TSR_DTYPE_COUNT; i++)
    for (int e = 0; e < TSR_ECOSYSTEM_COUNT; e++) {
      const char *name = tsr_dtype_name((tsr_dtype)i, (tsr_ecosystem)e);
      if (!name) continue;
      // No name stands in two rows, else the earlier row would be found for the later.
      assert_int_equal(tsr_dtype_find(name), i);
      assert_int_equal(tsr_dtype_find_in((tsr_ecosystem)e, name, strlen(name)), i);
      tsr_dtype dtype = TSR_DTYPE_NONE;
      assert_ok(tsr_dtype_parse(name, &dtype));
      assert_int_equal(dtype, i);
    }
}

static const struct {
  const char *name;
  tsr_dtype dtype;
} known[] = {
    {"bool", TSR_BOOL},
    {"i1", TSR_BOOL},
    {"BF16", TSR_BF16},
    {"F8_E4M3", TSR_F8E4M3FN},
    {"f8E4M3", TSR_F8E4M3},
    {"float8_e4m3fn", TSR_F8E4M3FN},
    {"F8_E8M0", TSR_F8E8M0FNU},
    {"F4", TSR_F4E2M1FN},
    {"ui4", TSR_U4},
    {"complex<f32>", TSR_C64},
    {"complex64", TSR_C64},
    {"C64", TSR_C64},
    {"F6_E2M3", TSR_F6E2M3FN},
    {"int2", TSR_I2},
    {"half", TSR_DTYPE_NONE},
    {"f8_e4m3", TSR_DTYPE_NONE},
    {"", TSR_DTYPE_NONE},
    {"f3", TSR_DTYPE_NONE},
    {"f321", TSR_DTYPE_NONE},
    {"Float32", TSR_DTYPE_NONE},
};

static void a_name_means_one_type(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(known); i++)
    assert_int_equal(tsr_dtype_find(known[i].name), known[i].dtype);
}

static void an_ecosystem_knows_only_its_own_names(void **state) {
  (void)state;
  assert_int_equal(tsr_dtype_find_in(TSR_NAMES_SAFETENSORS, "F32,", 3), TSR_F32);
  assert_int_equal(tsr_dtype_find_in(TSR_NAMES_SAFETENSORS, "F32", 2), TSR_DTYPE_NONE);
  assert_int_equal(tsr_dtype_find_in(TSR_NAMES_SAFETENSORS, "F32\0", 4), TSR_DTYPE_NONE);
  assert_int_equal(tsr_dtype_find_in(TSR_NAMES_SAFETENSORS, "f32", 3), TSR_DTYPE_NONE);
  assert_int_equal(tsr_dtype_find_in(TSR_NAMES_TORCH, "float8_e3m4", 11), TSR_DTYPE_NONE);
  assert_int_equal(tsr_dtype_find_in(TSR_ECOSYSTEM_COUNT, "f32", 3), TSR_DTYPE_NONE);
}

static void safetensors_has_22_types(void **state) {
  (void)state;
  int count = 0;
  for (int i = 0; i <= TSR_DTYPE_COUNT; i++)
    count += tsr_dtype_name((tsr_dtype)i, TSR_NAMES_SAFETENSORS) != NULL;
  assert_int_equal(count, 22);
}

static void only_types_below_eight_bits_share_bytes(void **state) {
  (void)state;
  assert_null(tsr_dtype_info_of(TSR_DTYPE_NONE));
  assert_null(tsr_dtype_info_of(TSR_DTYPE_COUNT));
  for (int i = 1; i < TSR_DTYPE_COUNT; i++) {
    const tsr_dtype_info *info = tsr_dtype_info_of((tsr_dtype)i);
    assert_true(info->sub_byte == (info->bits < 8));
    assert_true(info->sub_byte || info->bits % 8 == 0);
    assert_true(info->kind != TSR_CLASS_COMPLEX || info->bits >= 64);
  }
}

static void unknown_names_get_a_suggestion(void **state) {
  (void)state;
  tsr_dtype dtype;
  assert_fails(tsr_dtype_parse("flaot32", &dtype), UNKNOWN_DTYPE,
               "element type \"flaot32\" is unknown; did you mean \"float32\"?");
  assert_fails(tsr_dtype_parse("Bf16", &dtype), UNKNOWN_DTYPE,
               "element type \"Bf16\" is unknown; did you mean \"bf16\"?");
  assert_fails(tsr_dtype_parse("string", &dtype), UNKNOWN_DTYPE,
               "element type \"string\" is unknown, wanted one such as f32, bf16 or i8");
}

static const struct {
  tsr_dtype dtype;
  int64_t count, bytes;
} sizes[] = {
    {TSR_F32, 0, 0},
    {TSR_F32, 3, 12},
    {TSR_BOOL, 9, 9},
    {TSR_I4, 1, 1},
    {TSR_I4, 3, 2},
    {TSR_U2, 4, 1},
    {TSR_U2, 5, 2},
    {TSR_F6E2M3FN, 1, 1},
    {TSR_F6E2M3FN, 4, 3},
    {TSR_C128, 5, 80},
    {TSR_F6E3M2FN, 9, 7},
    {TSR_I2, INT64_MAX, (INT64_C(1) << 61)},
    {TSR_I8, INT64_MAX, INT64_MAX},
};

static void bytes_are_packed_and_rounded_up(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    int64_t bytes = -1;
    assert_ok(tsr_dtype_bytes(sizes[i].dtype, sizes[i].count, &bytes));
    assert_int_equal(bytes, sizes[i].bytes);
  }
}

static void bytes_beyond_63_bits_are_refused(void **state) {
  (void)state;
  int64_t bytes = 7;
  assert_fails(tsr_dtype_bytes(TSR_F64, INT64_C(1) << 60, &bytes), OVERFLOW,
               "1152921504606846976 elements of f64 take more than 2^63-1 bytes");
  assert_fails(tsr_dtype_bytes(TSR_F32, -1, &bytes), BAD_ARGUMENT, "-1 elements, wanted 0 or more");
  assert_fails(tsr_dtype_bytes(TSR_DTYPE_NONE, 1, &bytes), BAD_ARGUMENT,
               "element type 0 does not exist");
  assert_int_equal(bytes, 7);
}

SUITE(dtype, TEST(names_are_found_in_every_ecosystem), TEST(a_name_means_one_type),
      TEST(an_ecosystem_knows_only_its_own_names), TEST(safetensors_has_22_types),
      TEST(only_types_below_eight_bits_share_bytes), TEST(unknown_names_get_a_suggestion),
      TEST(bytes_are_packed_and_rounded_up), TEST(bytes_beyond_63_bits_are_refused))
