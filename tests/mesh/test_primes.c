#include "mesh/mesh_build_internal.h"
#include "support/test.h"

static const struct {
  int64_t n;
  int count;
  int64_t factors[8];
} numbers[] = {
    {1, 0, {0}},
    {2, 1, {2}},
    {10, 2, {2, 5}},
    {58, 2, {2, 29}},
    {4096 / 16, 8, {2, 2, 2, 2, 2, 2, 2, 2}},
    {1001, 3, {7, 11, 13}},
    {9973, 1, {9973}},
    {1021 * 1021, 2, {1021, 1021}},
    {1031 * 1031, 2, {1031, 1031}},
    // Products of large primes: what trial division could not take apart in time.
    {INT64_C(2147483629) * 2147483647, 2, {2147483629, 2147483647}},
    {INT64_C(2147483647) * 2147483647, 2, {2147483647, 2147483647}},
    {INT64_C(1031) * 1033 * 1039 * 1049 * 1051 * 1061, 6, {1031, 1033, 1039, 1049, 1051, 1061}},
    {INT64_C(9223372036854775783), 1, {INT64_C(9223372036854775783)}},
    {INT64_MAX, 7, {7, 7, 73, 127, 337, 92737, 649657}},
};

static void numbers_fall_into_ascending_primes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    int64_t factors[62];
    int count = -1;
    assert_ok(tsr_prime_factors(numbers[i].n, factors, &count));
    assert_int_equal(count, numbers[i].count);
    for (int k = 0; k < count; k++) assert_int_equal(factors[k], numbers[i].factors[k]);
  }
}

static void the_largest_power_of_two_fills_the_room(void **state) {
  (void)state;
  int64_t factors[62];
  int count = 0;
  assert_ok(tsr_prime_factors(INT64_C(1) << 62, factors, &count));
  assert_int_equal(count, 62);
  assert_int_equal(factors[61], 2);
}

static void factors_multiply_back(void **state) {
  (void)state;
  test_random random = {7};
  for (int round = 0; round < 2000; round++) {
    const int64_t n = test_random_range(&random, 1, INT64_C(1) << (round % 62));
    int64_t factors[62], product = 1;
    int count = 0;
    assert_ok(tsr_prime_factors(n, factors, &count));
    for (int k = 0; k < count; k++) {
      assert_true(factors[k] > 1 && (k == 0 || factors[k - 1] <= factors[k]));
      product *= factors[k];
      // A factor is prime when it is its own only factor.
      int64_t own[62];
      int own_count = 0;
      assert_ok(tsr_prime_factors(factors[k], own, &own_count));
      assert_int_equal(own_count, 1);
    }
    assert_int_equal(product, n);
  }
}

static void numbers_below_one_are_refused(void **state) {
  (void)state;
  int64_t factors[62];
  int count = -1;
  assert_fails(tsr_prime_factors(0, factors, &count), BAD_ARGUMENT,
               "prime factors of 0, wanted 1 or more");
  assert_fails(tsr_prime_factors(-6, factors, &count), BAD_ARGUMENT,
               "prime factors of -6, wanted 1 or more");
  assert_int_equal(count, -1);
}

SUITE(primes, TEST(numbers_fall_into_ascending_primes),
      TEST(the_largest_power_of_two_fills_the_room), TEST(factors_multiply_back),
      TEST(numbers_below_one_are_refused))
