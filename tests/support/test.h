// What every test file includes: cmocka, and the few assertions it lacks.
#ifndef TESSERA_TESTS_SUPPORT_TEST_H
#define TESSERA_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first.
#include <cmocka.h>

#include "tessera/status.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

// A suite is one function that runs a file's tests; a room's main.c lists its suites.
#define SUITE(name, ...)                                          \
  int suite_##name(void);                                         \
  int suite_##name(void) {                                        \
    const struct CMUnitTest tests[] = {__VA_ARGS__};              \
    return cmocka_run_group_tests_name(#name, tests, NULL, NULL); \
  }
#define TEST(function) cmocka_unit_test(function)

// The call succeeds; otherwise its message is shown.
#define assert_ok(call) test_assert_ok((call), #call, __FILE__, __LINE__)
// The call fails with this cause and this message; frees the failure.
#define assert_fails(call, cause, message) \
  test_assert_fails((call), TSR_CAUSE_##cause, (message), __FILE__, __LINE__)
// The failure has this message. Without line breaks in `message`, the lines below the failure's
// own, which show its place, do not count.
#define assert_message(status, message) test_assert_message((status), (message), __FILE__, __LINE__)
// The call fails with this cause and a message that contains `part`.
#define assert_fails_with(call, cause, part) \
  test_assert_fails_with((call), TSR_CAUSE_##cause, (part), __FILE__, __LINE__)

void test_assert_ok(tsr_status status, const char *call, const char *file, int line);
void test_assert_message(tsr_status status, const char *message, const char *file, int line);
void test_assert_fails(tsr_status status, tsr_cause cause, const char *message, const char *file,
                       int line);
void test_assert_fails_with(tsr_status status, tsr_cause cause, const char *part, const char *file,
                            int line);

// Runs `body` again and again, failing its first, second, third, ... allocation, until it gets
// through without reaching the failing one. `body` returns the status of what it tried, frees all
// it made, and must report NO_MEMORY exactly when an allocation failed under it.
void test_allocation_sweep(tsr_status (*body)(void *context), void *context);

// A seeded generator for property tests: the same numbers on every machine.
typedef struct test_random {
  uint64_t state;
} test_random;
uint64_t test_random_next(test_random *random);
int64_t test_random_range(test_random *random, int64_t low, int64_t high);  // both included

#endif
