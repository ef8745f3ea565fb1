#include "builder/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "program/program_internal.h"

static tsr_status build_status(build_fn *build, tsr_program **out_program) {
  TSR_OWN(builder, b);
  TSR_TRY(tsr_builder_create("m", &b));
  build(b);
  return tsr_builder_finish(b, out_program);
}

tsr_program *build_program(build_fn *build) {
  tsr_program *program = NULL;
  assert_ok(build_status(build, &program));
  return program;
}

void expect_text(build_fn *build, const char *text) {
  TSR_OWN(text, printed);
  tsr_program *program = build_program(build);
  assert_ok(tsr_program_print(program, NULL, &printed));
  tsr_program_release(program);
  assert_string_equal(tsr_text_string(&printed), text);
}

// Drops the indentation of lines, which regions make deeper.
static char *body_of(const char *text) {
  char *body = calloc(1, strlen(text) + 1);
  assert_non_null(body);
  const char *at = strchr(strstr(text, "func.func public @main"), '\n') + 1;
  const char *end = strstr(at, "\n  }\n");
  char *out = body;
  bool starts = true;
  for (; at <= end; at++) {
    if (starts && *at == ' ') continue;
    starts = *at == '\n';
    *out++ = *at;
  }
  return body;
}

void expect_body(build_fn *build, const char *body) {
  TSR_OWN(text, printed);
  tsr_program *program = build_program(build);
  assert_ok(tsr_program_print(program, NULL, &printed));
  tsr_program_release(program);
  char *found = body_of(tsr_text_string(&printed));
  assert_string_equal(found, body);
  free(found);
}

void expect_ops(build_fn *build, const char *names) {
  TSR_OWN(text, found);
  tsr_program *program = build_program(build);
  const tsr_ir_block *body = tsr_func_body(tsr_ir_entry(tsr_program_ir(program)));
  for (const tsr_op *op = body->first; op->next; op = op->next)
    tsr_text_addf(&found, "%s%s", found.length ? ", " : "", strchr(op->name, '.') + 1);
  tsr_program_release(program);
  assert_string_equal(tsr_text_string(&found), names);
}

void expect_failure(build_fn *build, tsr_cause cause, const char *message) {
  tsr_program *program = NULL;
  const tsr_status status = build_status(build, &program);
  assert_null(program);
  assert_string_equal(tsr_status_text(status), message);
  assert_int_equal(tsr_status_cause(status), cause);
  tsr_status_free(status);
}

tsr_status build_and_print(void *context) {
  TSR_OWN(text, printed);
  TSR_OWN(program, program);
  TSR_TRY(build_status(*(build_fn **)context, &program));
  return tsr_program_print(program, NULL, &printed);
}
