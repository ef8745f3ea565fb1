// The rules by which a program compares its values with expected ones, and what a failure says.
#include <math.h>
#include <string.h>

#include "kernel/check_values.h"
#include "support/test.h"

static tsr_status compare(tsr_check_values check, const void *found, const void *expected) {
  static const int64_t dims[] = {2, 2};
  if (!check.dims) {
    check.rank = 2;
    check.dims = dims;
    check.count = 4;
  }
  check.title = "check.expect_eq at line 3";
  const char *inputs[] = {found, expected};
  return tsr_check_values_run(&check, &(tsr_kernel_call){.inputs = inputs});
}

static void integers_must_be_equal(void **state) {
  (void)state;
  const int32_t a[] = {1, 2, 3, 4}, b[] = {1, 2, 3, -4};
  const int8_t narrow[] = {1, -1, 0, 7}, other[] = {1, -2, 0, 7};
  assert_ok(compare((tsr_check_values){.dtype = TSR_I32}, a, a));
  assert_fails(compare((tsr_check_values){.dtype = TSR_I32}, a, b), CHECK_FAILED,
               "check.expect_eq at line 3: element [1, 1] is 4, expected -4");
  assert_fails(compare((tsr_check_values){.dtype = TSR_I4}, narrow, other), CHECK_FAILED,
               "check.expect_eq at line 3: element [0, 1] is -1, expected -2");
}

static void equal_floats_compare_as_numbers(void **state) {
  (void)state;
  const float a[] = {0.0F, 1, 2, INFINITY}, b[] = {-0.0F, 1, 2, INFINITY};
  const float nan[] = {NAN, 1, 2, 3};
  assert_ok(compare((tsr_check_values){.dtype = TSR_F32}, a, b));
  assert_fails(compare((tsr_check_values){.dtype = TSR_F32}, nan, nan), CHECK_FAILED,
               "check.expect_eq at line 3: element [0, 0] is nan, expected nan");
}

static void almost_equal_floats_differ_by_the_tolerance(void **state) {
  (void)state;
  const tsr_check_values almost = {.rule = TSR_CHECK_ALMOST, .dtype = TSR_F64, .tolerance = 0.25};
  const double a[] = {NAN, 1, INFINITY, 0}, b[] = {NAN, 1.25, INFINITY, -0.25};
  const double far[] = {NAN, 1.5, INFINITY, 0}, negative[] = {NAN, 1, -INFINITY, 0};
  assert_ok(compare(almost, a, b));
  assert_fails(compare(almost, a, far), CHECK_FAILED,
               "check.expect_eq at line 3: element [0, 1] is 1.0, expected 1.5 within 0.25");
  assert_fails(compare(almost, a, negative), CHECK_FAILED,
               "check.expect_eq at line 3: element [1, 0] is inf, expected -inf within 0.25");
}

static void close_floats_are_few_numbers_apart(void **state) {
  (void)state;
  const tsr_check_values close = {.rule = TSR_CHECK_CLOSE, .dtype = TSR_F32, .most_ulp = 3};
  const float a[] = {1, 0.0F, 0x1p-149F, NAN}, b[] = {1 + 0x3p-23F, -0.0F, -0x2p-149F, NAN};
  const float far[] = {1 + 0x4p-23F, 0, 0, NAN}, infinite[] = {INFINITY, 0, 0, NAN};
  assert_ok(compare(close, a, b));
  assert_fails(compare(close, a, far), CHECK_FAILED,
               "check.expect_eq at line 3: element [0, 0] is 1.0, expected 1.0000005 within 0 to 3 "
               "ULP, it differs by 4");
  assert_fails(compare(close, a, infinite), CHECK_FAILED,
               "check.expect_eq at line 3: element [0, 0] is 1.0, expected inf within 0 to 3 ULP");
  tsr_check_values apart = close;
  apart.least_ulp = 1;
  assert_fails_with(compare(apart, a, a), CHECK_FAILED, "it differs by 0");
}

static void complex_numbers_compare_by_component(void **state) {
  (void)state;
  const float a[] = {1, 2, 3, 4, 5, 6, 7, 8}, b[] = {1, 2, 3, 4, 5, 6, 7, 9};
  assert_ok(compare((tsr_check_values){.dtype = TSR_C64}, a, a));
  assert_fails_with(compare((tsr_check_values){.dtype = TSR_C64}, a, b), CHECK_FAILED,
                    "element [1, 1] is");
}

static void results_say_which_elements_agree(void **state) {
  (void)state;
  const int64_t dims[] = {3};
  const double a[] = {1, 2, 3}, b[] = {1, 2.5, 3};
  for (int64_t results = 1; results <= 3; results += 2) {
    const tsr_check_values check = {.dtype = TSR_F64,
                                    .rank = 1,
                                    .dims = dims,
                                    .count = 3,
                                    .result_count = results,
                                    .title = "x"};
    char truths[3] = {9, 9, 9};
    const char *inputs[] = {(const char *)a, (const char *)b};
    char *outputs[] = {truths};
    assert_ok(
        tsr_check_values_run(&check, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
    assert_memory_equal(truths, results == 1 ? "\0\x9\x9" : "\x1\0\x1", 3);
  }
}

// The message of a failure needs memory; without it the failure says so.
static tsr_status fail_a_check(void *context) {
  const int32_t a[] = {1, 2, 3, 4}, b[] = {1, 2, 3, -4};
  (void)context;
  tsr_status status = compare((tsr_check_values){.dtype = TSR_I32}, a, b);
  if (tsr_status_cause(status) != TSR_CAUSE_CHECK_FAILED) return status;
  tsr_status_free(status);
  return NULL;
}

static void failures_survive_a_lack_of_memory(void **state) {
  (void)state;
  test_allocation_sweep(fail_a_check, NULL);
}

SUITE(check_values, TEST(integers_must_be_equal), TEST(equal_floats_compare_as_numbers),
      TEST(almost_equal_floats_differ_by_the_tolerance), TEST(close_floats_are_few_numbers_apart),
      TEST(complex_numbers_compare_by_component), TEST(results_say_which_elements_agree),
      TEST(failures_survive_a_lack_of_memory))
