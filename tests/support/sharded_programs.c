#include "support/sharded_programs.h"

#include <string.h>

#include "base/text_internal.h"
#include "program/pipelines.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

tsr_ir *sharded_program(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (!status) status = tsr_verify(ir, "test");
  if (status) print_error("%s\n", text);
  assert_ok(status);
  return ir;
}

static void print_sharded(const char *text, const char *passes, tsr_text *out) {
  tsr_ir *ir = sharded_program(text);
  if (*passes) assert_ok(tsr_all_passes_run(ir, passes, NULL));
  assert_ok(tsr_verify(ir, "after passes"));
  tsr_syntax_print(ir, NULL, out);
  tsr_ir_destroy(ir);
}

void assert_sharded(const sharded_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsr_text made = TSR_TEXT_EMPTY, wanted = TSR_TEXT_EMPTY;
    print_sharded(cases[i].before, cases[i].passes, &made);
    print_sharded(cases[i].after, "", &wanted);
    assert_string_equal(tsr_text_string(&made), tsr_text_string(&wanted));
    tsr_text_deinit(&made);
    tsr_text_deinit(&wanted);
  }
}

void assert_refused(const char *passes, const char *program, const char *message) {
  tsr_ir *ir = sharded_program(program);
  tsr_status status = tsr_all_passes_run(ir, passes, NULL);
  assert_message(status, message);
  tsr_status_free(status);
  tsr_ir_destroy(ir);
}
