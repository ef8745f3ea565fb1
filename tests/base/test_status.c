#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status_internal.h"
#include "support/test.h"

static void success_is_silent(void **state) {
  (void)state;
  assert_message(NULL, "");
  assert_int_equal(tsr_status_code(NULL), TSR_CODE_OK);
  assert_int_equal(tsr_status_cause(NULL), TSR_CAUSE_NONE);
  assert_string_equal(tsr_status_origin(NULL), "");
  assert_null(tsr_note(NULL, "nowhere"));
  tsr_status_free(NULL);
}

static void failures_carry_cause_message_and_notes(void **state) {
  (void)state;
  tsr_status status = tsr_fail(INDIVISIBLE, "size %d in %d", 10, 4);
  status = tsr_note(status, "tensor \"%s\"", "w");
  status = tsr_note(status, "in plan");
  assert_message(status, "in plan: tensor \"w\": size 10 in 4");
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_INDIVISIBLE);
  assert_int_equal(tsr_status_code(status), TSR_CODE_INVALID);
  assert_true(!strncmp(tsr_status_origin(status), "test_status.c:", 14));
  tsr_status_free(status);
}

static void slugs_and_aliases_name_causes(void **state) {
  (void)state;
  assert_string_equal(tsr_cause_slug(TSR_CAUSE_INDIVISIBLE), "indivisible");
  assert_true(tsr_cause_matches(TSR_CAUSE_DUPLICATE_MESH_AXIS, "duplicate_mesh_axis"));
  assert_true(tsr_cause_matches(TSR_CAUSE_DUPLICATE_MESH_AXIS, "axis_used_twice"));
  assert_true(tsr_cause_matches(TSR_CAUSE_UNKNOWN_MESH_AXIS, "unknown_axis"));
  assert_true(tsr_cause_matches(TSR_CAUSE_UNKNOWN_MESH_AXIS, "axis_not_in_mesh"));
  assert_false(tsr_cause_matches(TSR_CAUSE_UNKNOWN_MESH_AXIS, "axis_not_in"));
  assert_false(tsr_cause_matches(TSR_CAUSE_UNKNOWN_MESH_AXIS, "unknown_axis axis_not_in_mesh"));
  assert_false(tsr_cause_matches(TSR_CAUSE_INDIVISIBLE, ""));
  assert_false(tsr_cause_matches(TSR_CAUSE_NONE, "indivisible"));
}

static const struct {
  int number;
  const char *id, *slug;
} rows[] = {
#define TSR_CAUSE_ROW(number, id, code, slug, alias) {number, #id, slug},
#include "tessera/causes.def"
#undef TSR_CAUSE_ROW
};

static const struct {
  int number;
  const char *slug;
} kept[] = {
#define KEPT(number, slug) {number, slug},
#include "causes_kept.def"
#undef KEPT
};

static void every_cause_has_its_own_slug_and_number(void **state) {
  (void)state;
  for (size_t a = 0; a < COUNT_OF(rows); a++) {
    assert_true(rows[a].number > 0 && *rows[a].slug);
    assert_string_equal(tsr_cause_slug((tsr_cause)rows[a].number), rows[a].slug);
    for (size_t b = 0; b < a; b++) {
      assert_string_not_equal(rows[a].slug, rows[b].slug);
      if (rows[a].number == rows[b].number)
        fail_msg("%s and %s have number %d both", rows[b].id, rows[a].id, rows[a].number);
    }
  }
}

// Compiled programs have the numbers in them: those once released stay, and new ones are kept.
static void numbers_of_causes_never_change(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT_OF(kept); k++) {
    const char *slug = tsr_cause_slug((tsr_cause)kept[k].number);
    if (strcmp(slug, kept[k].slug) && *slug)
      fail_msg("number %d was \"%s\" and is now \"%s\"", kept[k].number, kept[k].slug, slug);
  }
  for (size_t r = 0; r < COUNT_OF(rows); r++) {
    size_t k = 0;
    while (k < COUNT_OF(kept) && kept[k].number != rows[r].number) k++;
    if (k == COUNT_OF(kept))
      fail_msg("add KEPT(%d, \"%s\") to causes_kept.def", rows[r].number, rows[r].slug);
    assert_string_equal(kept[k].slug, rows[r].slug);
  }
}

static void causes_of_later_libraries_are_strangers(void **state) {
  (void)state;
  static const int strangers[] = {-1, 100000, INT_MAX, INT_MIN};
  for (size_t i = 0; i < COUNT_OF(strangers); i++) {
    const tsr_cause cause = (tsr_cause)strangers[i];
    assert_string_equal(tsr_cause_slug(cause), "");
    assert_false(tsr_cause_matches(cause, "io"));
  }
}

// Scripts test for the command's exit codes, which follow from these.
static void numbers_of_codes_never_change(void **state) {
  (void)state;
  static const struct {
    int number;
    tsr_code code;
  } cases[] = {
      {0, TSR_CODE_OK},          {1, TSR_CODE_INVALID},   {2, TSR_CODE_NOT_FOUND},
      {3, TSR_CODE_UNSUPPORTED}, {4, TSR_CODE_NO_MEMORY}, {5, TSR_CODE_IO},
      {6, TSR_CODE_COMM},        {7, TSR_CODE_CANCELLED},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) assert_int_equal(cases[i].code, cases[i].number);
}

static void cancelled_is_no_failure_of_a_disk(void **state) {
  (void)state;
  tsr_status status = tsr_fail(CANCELLED, "cancelled");
  assert_int_equal(tsr_status_code(status), TSR_CODE_CANCELLED);
  tsr_status_free(status);
}

// What tsr_status_exit writes to stderr, and its code.
static int exit_code_of(tsr_status status, char *out_text, size_t size) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stderr);
  const int stderr_before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  const int code = tsr_status_exit(status);
  fflush(stderr);
  dup2(stderr_before, STDERR_FILENO);
  close(stderr_before);
  rewind(file);
  out_text[fread(out_text, 1, size - 1, file)] = '\0';
  fclose(file);
  return code;
}

static void the_exit_code_follows_from_the_kind_of_failure(void **state) {
  (void)state;
  char text[128];
  assert_int_equal(exit_code_of(NULL, text, sizeof text), 0);
  assert_string_equal(text, "");
  assert_int_equal(exit_code_of(tsr_fail(SYNTAX, "a %s message", "plain"), text, sizeof text), 3);
  assert_string_equal(text, "a plain message\n");
  assert_int_equal(exit_code_of(tsr_fail(NOT_FOUND, "no file"), text, sizeof text), 4);
  assert_int_equal(exit_code_of(tsr_fail(NO_MEMORY, "a block"), text, sizeof text),
                   2 + TSR_CODE_NO_MEMORY);
  assert_string_equal(text, "out of memory: a block\n");
}

static tsr_status fail_with_note(void *context) {
  (void)context;
  tsr_status status = tsr_note(tsr_fail(SYNTAX, "%s", "a message"), "a note");
  const bool lost = tsr_status_cause(status) != TSR_CAUSE_SYNTAX;
  // A note that found no memory is dropped, which is no failure of its own.
  const bool short_of_note = !lost && strcmp(tsr_status_text(status), "a note: a message") != 0;
  tsr_status_free(status);
  return lost || short_of_note ? tsr_fail(NO_MEMORY, "as expected") : NULL;
}

static void failing_without_memory_still_fails(void **state) {
  (void)state;
  test_allocation_sweep(fail_with_note, NULL);
}

static void a_failure_for_want_of_memory_says_what_it_was_for(void **state) {
  (void)state;
  assert_fails(tsr_fail(NO_MEMORY, "buffer of %d bytes", 64), NO_MEMORY,
               "out of memory: buffer of 64 bytes");
  assert_fails(tsr_note(tsr_fail(NO_MEMORY, "buffer of 64 bytes"), "device 3"), NO_MEMORY,
               "device 3: out of memory: buffer of 64 bytes");
  assert_fails(tsr_fail(NO_MEMORY, "rank 1: out of memory: 3 arrays"), NO_MEMORY,
               "rank 1: out of memory: 3 arrays");
}

SUITE(status, TEST(success_is_silent), TEST(failures_carry_cause_message_and_notes),
      TEST(slugs_and_aliases_name_causes), TEST(every_cause_has_its_own_slug_and_number),
      TEST(numbers_of_causes_never_change), TEST(causes_of_later_libraries_are_strangers),
      TEST(numbers_of_codes_never_change), TEST(cancelled_is_no_failure_of_a_disk),
      TEST(the_exit_code_follows_from_the_kind_of_failure),
      TEST(failing_without_memory_still_fails),
      TEST(a_failure_for_want_of_memory_says_what_it_was_for))
