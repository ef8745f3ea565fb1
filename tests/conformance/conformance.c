#include "conformance/conformance.h"

#include <stdarg.h>
#include <string.h>

#include "tessera/engine/collectives.h"

void suite_begin(suite *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->what, sizeof s->what, format, arguments);
  va_end(arguments);
}

void suite_fail(suite *s, const char *format, ...) {
  if (s->failures++ > 20) return;  // one mistake shows in many places
  fprintf(s->out, "rank %d: %s: ", tsr_comm_rank(s->comm), s->what);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(s->out, format, arguments);
  va_end(arguments);
  fputc('\n', s->out);
}

bool suite_ok(suite *s, tsr_status status) {
  if (!status) return true;
  suite_fail(s, "%s", tsr_status_text(status));
  tsr_status_free(status);
  return false;
}

void suite_fails(suite *s, tsr_status status, tsr_cause cause, const char *part) {
  if (!status)
    suite_fail(s, "succeeds, wanted a failure with \"%s\"", part);
  else if (tsr_status_cause(status) != cause || !strstr(tsr_status_text(status), part))
    suite_fail(s, "fails with \"%s\" (%s), wanted \"%s\" (%s)", tsr_status_text(status),
               tsr_cause_slug(tsr_status_cause(status)), part, tsr_cause_slug(cause));
  tsr_status_free(status);
}

int conformance_run(tsr_comm *comm, FILE *out) {
  suite s = {.comm = comm, .out = out};
  test_moves(&s);
  test_exchanges(&s);
  test_reductions(&s);
  test_mistakes(&s);
  suite_begin(&s, "barrier");
  suite_ok(&s, tsr_comm_barrier(comm));
  return s.failures;
}
