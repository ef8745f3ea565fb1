#include "program_round_trip.h"

#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"

static void print_program(const char *text, const tsr_print_options *options, tsr_text *out) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  assert_ok(tsr_syntax_read(ir, "p", text, strlen(text)));
  tsr_syntax_print(ir, options, out);
  tsr_ir_destroy(ir);
}

void test_program_prints(const char *text, const char *printed, const tsr_print_options *options) {
  tsr_text once = TSR_TEXT_EMPTY, twice = TSR_TEXT_EMPTY;
  print_program(text, options, &once);
  assert_string_equal(tsr_text_string(&once), printed);
  print_program(tsr_text_string(&once), options, &twice);
  assert_string_equal(tsr_text_string(&twice), printed);
  tsr_text_deinit(&once);
  tsr_text_deinit(&twice);
}

static void add_function(tsr_text *out, const char *op) {
  tsr_text_addf(out,
                "module {\n  func.func @f(%%arg0: tensor<4xf32>, %%arg1: tensor<4xf32>) {\n    %s\n"
                "    return\n  }\n}\n",
                op);
}

void test_op_in_function(const char *op, const char *printed) {
  tsr_text text = TSR_TEXT_EMPTY, wanted = TSR_TEXT_EMPTY;
  add_function(&text, op);
  add_function(&wanted, printed);
  test_program_prints(tsr_text_string(&text), tsr_text_string(&wanted), NULL);
  tsr_text_deinit(&text);
  tsr_text_deinit(&wanted);
}

void test_ops_in_function(const char *const *ops, size_t count) {
  for (size_t i = 0; i < count; i++) test_op_in_function(ops[i], ops[i]);
}
