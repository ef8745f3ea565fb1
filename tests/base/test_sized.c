#include "base/sized.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

// A struct as it was, is, and will be.
typedef struct old_form {
  size_t size;
  int64_t first;
} old_form;
typedef struct tsr_example_options {
  size_t size;
  int64_t first, second;
} tsr_example_options;
typedef struct new_form {
  size_t size;
  int64_t first, second, third;
} new_form;

// An exact copy in a block of its own, so that a sanitizer sees a byte read after it.
static void *boxed(const void *value, size_t bytes) {
  return memcpy(test_malloc(bytes), value, bytes);
}

static tsr_status read_boxed(const void *value, size_t bytes, tsr_example_options *out) {
  void *given = boxed(value, bytes);
  tsr_status status = tsr_sized_read(tsr_example_options, given, out);
  test_free(given);
  return status;
}

static void null_is_all_zero(void **state) {
  (void)state;
  tsr_example_options out = {7, 7, 7};
  const tsr_example_options *none = NULL;
  assert_ok(tsr_sized_read(tsr_example_options, none, &out));
  assert_int_equal(out.size, sizeof out);
  assert_int_equal(out.first, 0);
  assert_int_equal(out.second, 0);
}

static void older_and_newer_structs_are_read(void **state) {
  (void)state;
  tsr_example_options out = {7, 7, 7};
  assert_ok(read_boxed(&(old_form){sizeof(old_form), 3}, sizeof(old_form), &out));
  assert_int_equal(out.size, sizeof out);
  assert_int_equal(out.first, 3);
  assert_int_equal(out.second, 0);
  assert_ok(read_boxed(&(size_t){sizeof(size_t)}, sizeof(size_t), &out));
  assert_int_equal(out.first, 0);
  assert_ok(read_boxed(&(new_form){sizeof(new_form), 4, 5, 0}, sizeof(new_form), &out));
  assert_int_equal(out.size, sizeof out);
  assert_int_equal(out.first, 4);
  assert_int_equal(out.second, 5);
}

static void what_is_not_known_is_refused(void **state) {
  (void)state;
  tsr_example_options out = {7, 7, 7};
  assert_fails(
      read_boxed(&(new_form){sizeof(new_form), 4, 5, 1 << 8}, sizeof(new_form), &out), BAD_ARGUMENT,
      "tsr_example_options has size 32 and a field set at byte 25, but this library "
      "(" TSR_VERSION ") knows 24 bytes of it: leave that field zero, or use a newer library");
  static const size_t sizes[] = {0, 1, 7, 9, 23, 25, sizeof out + 4096 + 8, SIZE_MAX, SIZE_MAX - 7};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    char wanted[128];
    snprintf(wanted, sizeof wanted,
             "tsr_example_options has size %zu, wanted 24: initialise it with TSR_EXAMPLE_OPTIONS",
             sizes[i]);
    assert_fails(read_boxed(&sizes[i], sizeof(size_t), &out), BAD_ARGUMENT, wanted);
  }
  assert_int_equal(out.first, 7);  // untouched
}

static void structs_are_filled_as_far_as_the_caller_knows_them(void **state) {
  (void)state;
  const tsr_example_options value = {sizeof value, 1, 2};
  old_form *old = boxed(&(old_form){sizeof(old_form), 9}, sizeof(old_form));
  tsr_sized_fill_as(sizeof value, &value, old);
  assert_int_equal(old->size, sizeof *old);
  assert_int_equal(old->first, 1);
  test_free(old);
  new_form newer = {.size = sizeof newer, .second = 9};
  tsr_sized_fill_as(sizeof value, &value, &newer);
  assert_int_equal(newer.size, sizeof newer);
  assert_int_equal(newer.second, 2);
  assert_int_equal(newer.third, 0);
  tsr_example_options out = {0};
  assert_fails(tsr_sized_check(tsr_example_options, &out), BAD_ARGUMENT,
               "tsr_example_options has size 0, wanted 24: initialise it with TSR_EXAMPLE_OPTIONS");
  out = TSR_SIZED(tsr_example_options);
  assert_ok(tsr_sized_check(tsr_example_options, &out));
  tsr_sized_fill(tsr_example_options, &value, &out);
  assert_int_equal(out.second, 2);
}

static void refused_structs_may_be_legible(void **state) {
  (void)state;
  assert_true(tsr_sized_legible(tsr_example_options, &(tsr_example_options){0}));
  assert_true(tsr_sized_legible_as(24, &(new_form){sizeof(new_form), 0, 0, 1}));
  assert_false(tsr_sized_legible(tsr_example_options, &(tsr_example_options){.size = 3}));
  assert_false(tsr_sized_legible_as(24, &(old_form){sizeof(old_form), 0}));
  assert_false(tsr_sized_legible_as(24, NULL));
}

SUITE(sized, TEST(null_is_all_zero), TEST(older_and_newer_structs_are_read),
      TEST(what_is_not_known_is_refused), TEST(structs_are_filled_as_far_as_the_caller_knows_them),
      TEST(refused_structs_may_be_legible))
