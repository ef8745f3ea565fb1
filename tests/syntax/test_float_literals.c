// Numbers of every float format: rounded once from their text, printed in MLIR's digits.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "syntax/float_literal.h"

static uint64_t round_text(tsr_float format, const char *text) {
  const bool negative = *text == '-';
  return tsr_float_round(format, text + negative, strlen(text + negative), negative);
}

static void text_is_rounded_once_to_the_nearest_even(void **state) {
  (void)state;
  static const struct {
    tsr_float format;
    const char *text;
    uint64_t bits;
  } cases[] = {
      {TSR_FLOAT_F32, "1.0", 0x3f800000},
      {TSR_FLOAT_F32, "-0.0", 0x80000000},
      {TSR_FLOAT_F32, "16777217.0", 0x4b800000},
      // Just above a tie; the nearest double is the tie itself.
      {TSR_FLOAT_F32, "16777217.0000000000000000000000001", 0x4b800001},
      {TSR_FLOAT_F32, "16777218.9999999999999999999999999", 0x4b800001},
      {TSR_FLOAT_F32, "1.0e39", 0x7f800000},
      {TSR_FLOAT_F32, "1.0e-46", 0},
      {TSR_FLOAT_F32, "7.006492321624085354618e-46", 0},
      {TSR_FLOAT_F32, "7.006492321624085354619e-46", 1},
      {TSR_FLOAT_F64, "9007199254740993.0", 0x4340000000000000},
      {TSR_FLOAT_F64, "9007199254740993.00000000000000000001", 0x4340000000000001},
      {TSR_FLOAT_F64, "1.0e400", 0x7ff0000000000000},
      {TSR_FLOAT_F64, "4.9e-324", 1},
      {TSR_FLOAT_F64, "0.1", 0x3fb999999999999a},
      {TSR_FLOAT_F16, "65519.99", 0x7bff},
      {TSR_FLOAT_F16, "65520.0", 0x7c00},
      {TSR_FLOAT_F16, "1.92041015625", 0x3fae},
      {TSR_FLOAT_F16, "1.92041015625000001", 0x3faf},
      {TSR_FLOAT_BF16, "257.0", 0x4380},
      {TSR_FLOAT_BF16, "257.000000000000000001", 0x4381},
      {TSR_FLOAT_TF32, "0.1", 0x1ee66},
      {TSR_FLOAT_F8E4M3FN, "464.0", 0x7e},
      {TSR_FLOAT_F8E4M3FN, "-464.5", 0xff},
      {TSR_FLOAT_F8E4M3FNUZ, "-0.0", 0},
      {TSR_FLOAT_F8E5M2, "61440.0", 0x7c},
      {TSR_FLOAT_F8E3M4, "15.74", 0x6f},
      {TSR_FLOAT_F8E8M0FNU, "3.0", 129},
      {TSR_FLOAT_F8E8M0FNU, "0.0", 0},
      {TSR_FLOAT_F8E8M0FNU, "1.0e50", 0xff},
      {TSR_FLOAT_F6E2M3FN, "100.0", 0x1f},
      {TSR_FLOAT_F4E2M1FN, "-5.0", 0xe},
      {TSR_FLOAT_F4E2M1FN, "5.0000000000000000000000001", 7},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    if (round_text(cases[i].format, cases[i].text) != cases[i].bits)
      fail_msg("%s: 0x%llx", cases[i].text,
               (unsigned long long)round_text(cases[i].format, cases[i].text));
}

static void numbers_have_the_digits_of_mlir(void **state) {
  (void)state;
  static const struct {
    tsr_float format;
    const char *text, *printed;
  } cases[] = {
      {TSR_FLOAT_F64, "0.0", "0.000000e+00"},
      {TSR_FLOAT_F64, "-0.0", "-0.000000e+00"},
      {TSR_FLOAT_F64, "1.0", "1.000000e+00"},
      {TSR_FLOAT_F64, "123456.0", "1.234560e+05"},
      {TSR_FLOAT_F64, "1.0e308", "1.000000e+308"},
      {TSR_FLOAT_F64, "3.141592653589793", "3.1415926535897931"},
      {TSR_FLOAT_F64, "1234567.0", "0x4132D68700000000"},
      {TSR_FLOAT_F64, "1234567.5", "1234567.5"},
      {TSR_FLOAT_F64, "0.0012345678", "0.0012345678000000001"},
      {TSR_FLOAT_F64, "0.00012345678", "1.2345678000000001E-4"},
      {TSR_FLOAT_F64, "1.0e23", "9.9999999999999991E+22"},
      {TSR_FLOAT_F64, "4.9e-324", "4.940660e-324"},
      {TSR_FLOAT_F64, "1.0e400", "0x7FF0000000000000"},
      {TSR_FLOAT_F32, "0.333333343", "0.333333343"},
      {TSR_FLOAT_F32, "1.17549435e-38", "1.17549435E-38"},
      {TSR_FLOAT_F32, "999999.9", "999999.875"},
      {TSR_FLOAT_F32, "99999999.0", "1.000000e+08"},
      {TSR_FLOAT_F32, "16777216.0", "0x4B800000"},
      // Six digits are cut here, not rounded: 0.0999755859375.
      {TSR_FLOAT_F16, "0.1", "9.997550e-02"},
      {TSR_FLOAT_BF16, "0.1", "1.000980e-01"},
      {TSR_FLOAT_F8E4M3FN, "1000.0", "0x7F"},
      {TSR_FLOAT_F8E8M0FNU, "0.0", "5.877470e-39"},
      {TSR_FLOAT_F4E2M1FN, "100.0", "6.000000e+00"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text out = TSR_TEXT_EMPTY;
    const bool as_bits =
        tsr_float_print(cases[i].format, round_text(cases[i].format, cases[i].text), &out);
    assert_string_equal(tsr_text_string(&out), cases[i].printed);
    assert_int_equal(as_bits, cases[i].printed[1] == 'x');
    tsr_text_deinit(&out);
  }
}

// What is printed, read back: bits as they are, other forms rounded.
static uint64_t read_back(tsr_float format, const char *printed) {
  unsigned long long bits = 0;
  return sscanf(printed, "0x%llX", &bits) == 1 ? bits : round_text(format, printed);
}

static void check_code(tsr_float format, uint64_t code) {
  tsr_text out = TSR_TEXT_EMPTY;
  tsr_float_print(format, code, &out);
  if (read_back(format, tsr_text_string(&out)) != code)
    fail_msg("%s 0x%llx is printed %s", tsr_float_name(format), (unsigned long long)code,
             tsr_text_string(&out));
  tsr_text_deinit(&out);
}

static void every_code_of_a_narrow_format_survives(void **state) {
  (void)state;
  for (int format = 0; format < TSR_FLOAT_COUNT; format++) {
    const int bits = tsr_float_bits((tsr_float)format);
    if (bits > 16) continue;
    const uint64_t step = bits < 16 ? 1 : 7;
    for (uint64_t code = 0; code >> bits == 0; code += step) check_code((tsr_float)format, code);
  }
}

static void random_codes_survive(void **state) {
  (void)state;
  test_random random = {7};
  for (int i = 0; i < 3000; i++) {
    check_code(TSR_FLOAT_F64, test_random_next(&random));
    check_code(TSR_FLOAT_F32, test_random_next(&random) >> 32);
    check_code(TSR_FLOAT_TF32, test_random_next(&random) >> 45);
  }
}

SUITE(float_literals, TEST(text_is_rounded_once_to_the_nearest_even),
      TEST(numbers_have_the_digits_of_mlir), TEST(every_code_of_a_narrow_format_survives),
      TEST(random_codes_survive))
