#include <string.h>

#include "base/status_internal.h"
#include "support/test.h"

void test_assert_ok(tsr_status status, const char *call, const char *file, int line) {
  if (!status) return;
  print_error("%s failed (%s): %s\n", call, tsr_status_origin(status), tsr_status_text(status));
  tsr_status_free(status);
  _fail(file, line);
}

static void check_cause(tsr_status status, tsr_cause cause, const char *file, int line) {
  if (tsr_status_cause(status) == cause) return;
  print_error("cause %s, wanted %s: %s\n", tsr_cause_slug(tsr_status_cause(status)),
              tsr_cause_slug(cause), tsr_status_text(status));
  tsr_status_free(status);
  _fail(file, line);
}

static bool has_message(tsr_status status, const char *message) {
  // The lines below a message show the place that it names; tests of base/cursor.h judge them.
  const size_t length = strchr(message, '\n') ? strlen(tsr_status_text(status))
                                              : (size_t)tsr_status_line_length(status);
  return strlen(message) == length && !strncmp(tsr_status_text(status), message, length);
}

void test_assert_message(tsr_status status, const char *message, const char *file, int line) {
  if (has_message(status, message)) return;
  print_error("message: %s\n wanted: %s\n", tsr_status_text(status), message);
  _fail(file, line);
}

void test_assert_fails(tsr_status status, tsr_cause cause, const char *message, const char *file,
                       int line) {
  check_cause(status, cause, file, line);
  const bool same = has_message(status, message);
  if (!same) print_error("message: %s\n wanted: %s\n", tsr_status_text(status), message);
  tsr_status_free(status);
  if (!same) _fail(file, line);
}

void test_assert_fails_with(tsr_status status, tsr_cause cause, const char *part, const char *file,
                            int line) {
  check_cause(status, cause, file, line);
  const bool found = strstr(tsr_status_text(status), part) != NULL;
  if (!found) print_error("message: %s\n lacks: %s\n", tsr_status_text(status), part);
  tsr_status_free(status);
  if (!found) _fail(file, line);
}
