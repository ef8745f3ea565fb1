#include <string.h>

#include "support/test.h"

static void success_is_silent(void **state) {
  (void)state;
  assert_string_equal(tsr_status_text(NULL), "");
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
  assert_string_equal(tsr_status_text(status), "in plan: tensor \"w\": size 10 in 4");
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
  assert_string_equal(tsr_code_name(TSR_CODE_IO), "input or output failed");
}

static void every_cause_has_its_own_slug(void **state) {
  (void)state;
  for (int a = 1; a < TSR_CAUSE_COUNT; a++) {
    assert_true(*tsr_cause_slug((tsr_cause)a));
    for (int b = 1; b < a; b++)
      assert_string_not_equal(tsr_cause_slug((tsr_cause)a), tsr_cause_slug((tsr_cause)b));
  }
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

SUITE(status, TEST(success_is_silent), TEST(failures_carry_cause_message_and_notes),
      TEST(slugs_and_aliases_name_causes), TEST(every_cause_has_its_own_slug),
      TEST(failing_without_memory_still_fails))
