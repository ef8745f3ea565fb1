// Wraps an op in a function whose arguments are its operands, reads it and verifies it.
#include "op_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

// The arguments of the function: a letter for each type in the list that ends at depth 0.
static void add_args(tsr_text *text, const char *types) {
  int depth = 0;
  char letter = 'a';
  if (*types != ')') tsr_text_add(text, "%a: ");
  for (const char *c = types; *c != ')' || depth; c++) {
    depth += *c == '<' || *c == '{' || *c == '(';
    depth -= (*c == '>' && c[-1] != '-') || *c == '}' || *c == ')';
    tsr_text_add_char(text, *c);
    if (*c == ',' && !depth) tsr_text_addf(text, " %%%c:", ++letter);
  }
}

static char *program_of(const char *op) {
  const char *types = op;
  for (const char *next = op; (next = strstr(next, " : (")); next += 4) types = next + 4;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "func.func @f(");
  add_args(&text, types);
  const size_t name = strcspn(op, "(");
  tsr_text_addf(&text, ") {\n\"stablehlo.%.*s\"%s\nreturn\n}\n", (int)name, op, op + name);
  char *program = NULL;
  assert_ok(tsr_text_take(&text, &program));
  return program;
}

tsr_op *read_op_case(const char *op, tsr_ir *ir, char **out_text) {
  *out_text = program_of(op);
  assert_ok(tsr_syntax_read(ir, "t", *out_text, strlen(*out_text)));
  return tsr_func_body(tsr_ir_find_symbol(ir, "f"))->first;
}

tsr_status verify_text(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  assert_ok(tsr_syntax_read(ir, "t", text, strlen(text)));
  tsr_status status = tsr_verify(ir, "t");
  tsr_ir_destroy(ir);
  return status;
}

// What follows the place "t:2:1: ".
static const char *without_place(const char *message) {
  const char *name = strstr(message, ": ");
  return !strncmp(message, "t:", 2) && name ? name + 2 : message;
}

static void check_text(const char *text, const char *wanted) {
  tsr_status status = verify_text(text);
  const char *message = without_place(tsr_status_text(status));
  if (strcmp(message, wanted)) print_error("%s\n", text);
  assert_string_equal(message, wanted);
  if (status) assert_int_equal(tsr_status_cause(status), TSR_CAUSE_CONSTRAINT);
  tsr_status_free(status);
}

void check_op_cases(const op_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *text = program_of(cases[i].op);
    check_text(text, cases[i].message);
    free(text);
  }
}

void check_body_cases(const body_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_addf(&text, "%sfunc.func @f(%s) {\n%s\nreturn\n}\n", cases[i].before, cases[i].args,
                  cases[i].body);
    check_text(tsr_text_string(&text), cases[i].message);
    tsr_text_deinit(&text);
  }
}
