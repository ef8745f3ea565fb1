// The list of passes, the report, large programs, memory.
#include <string.h>

#include "base/text_internal.h"
#include "programs.h"
#include "simplify/passes.h"
#include "support/test.h"
#include "syntax/syntax.h"

static const char program[] =
    "func.func @main(%x: tensor<i32>) -> tensor<i32> {\n"
    "  %c = stablehlo.constant dense<2> : tensor<i32>\n"
    "  %0 = stablehlo.add %c, %c : tensor<i32>\n"
    "  %1 = stablehlo.multiply %x, %0 : tensor<i32>\n"
    "  %2 = func.call @f(%1) : (tensor<i32>) -> tensor<i32>\n"
    "  return %2 : tensor<i32>\n}\n"
    "func.func private @f(%x: tensor<i32>) -> tensor<i32> {\n"
    "  %0 = stablehlo.negate %x : tensor<i32>\n  %1 = stablehlo.negate %0 : tensor<i32>\n"
    "  return %1 : tensor<i32>\n}\n";

static const struct {
  const char *passes;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {"flod", TSR_CAUSE_UNKNOWN_PASS, "pass \"flod\" is unknown; did you mean \"fold\"?"},
    {"", TSR_CAUSE_UNKNOWN_PASS, "pass \"\" is unknown"},
    {"dce,", TSR_CAUSE_UNKNOWN_PASS, "pass \"\" is unknown"},
    {"dce,csee", TSR_CAUSE_UNKNOWN_PASS, "pass \"csee\" is unknown; did you mean \"cse\"?"},
    {"inline{al}", TSR_CAUSE_UNKNOWN_PASS,
     "option \"al\" of pass \"inline\" is unknown; did you mean \"all\"?"},
    {"fold{elements=x}", TSR_CAUSE_SYNTAX,
     "option \"elements\" of pass \"fold\" is \"x\", expected a positive number"},
    {"fold{elements=0}", TSR_CAUSE_SYNTAX,
     "option \"elements\" of pass \"fold\" is \"0\", expected a positive number"},
    {"inline{all", TSR_CAUSE_SYNTAX, "options of pass \"inline\" lack a closing brace"},
    {"inline{elements=2}", TSR_CAUSE_UNKNOWN_PASS,
     "option \"elements\" of pass \"inline\" is unknown"},
    {"inline{all=maybe}", TSR_CAUSE_SYNTAX,
     "option \"all\" of pass \"inline\" is \"maybe\", expected true or false"},
    {"inline{ops='3}", TSR_CAUSE_SYNTAX, "an option of pass \"inline\" lacks a closing quote"},
    {"inline{all}x", TSR_CAUSE_SYNTAX, "after pass \"inline\" stands \"x\", expected a comma"},
};

static void wrong_lists_are_refused(void **state) {
  (void)state;
  tsr_ir *ir = test_program(program);
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_status status = tsr_passes_run(ir, refused[i].passes, NULL);
    assert_int_equal(tsr_status_cause(status), refused[i].cause);
    assert_message(status, refused[i].message);
    tsr_status_free(status);
  }
  tsr_ir_destroy(ir);
}

static void passes_have_names_and_summaries_in_order(void **state) {
  (void)state;
  const tsr_pass_table table = tsr_simplify_passes();
  for (int i = 0; i < table.count; i++) {
    assert_true(strlen(table.passes[i].summary) > 10);
    if (i) assert_true(strcmp(table.passes[i - 1].name, table.passes[i].name) < 0);
  }
}

static void reports_count_changes_of_each_pass(void **state) {
  (void)state;
  static const tsr_pass_change expected[] = {
      {"fold", 2}, {"inline", 1}, {"algebra", 2}, {"dce", 0}, {"drop-locations", 0}};
  tsr_ir *ir = test_program(program);
  tsr_pass_report report;
  assert_ok(tsr_passes_run(ir, "fold, inline ,algebra,dce,drop-locations", &report));
  assert_int_equal(report.count, COUNT_OF(expected));
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    assert_string_equal(report.changes[i].name, expected[i].name);
    if (i < 4) assert_int_equal(report.changes[i].changes, expected[i].changes);
  }
  tsr_pass_report_deinit(&report);
  tsr_ir_destroy(ir);
}

// A chain of ops that folds from its start to its end.
static void long_programs_take_one_visit_per_op(void **state) {
  (void)state;
  enum { OPS = 20000 };
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(
      &text,
      "func.func @main() -> tensor<i32> {\n  %0 = stablehlo.constant dense<1> : tensor<i32>\n");
  for (int i = 1; i <= OPS; i++)
    tsr_text_addf(&text, "  %%%d = stablehlo.add %%%d, %%0 : tensor<i32>\n", i, i - 1);
  tsr_text_addf(&text, "  return %%%d : tensor<i32>\n}\n", OPS);
  tsr_ir *ir = test_program(tsr_text_string(&text));
  tsr_pass_report report;
  assert_ok(tsr_passes_run(ir, "fold", &report));
  assert_true(report.changes[0].changes >= OPS);
  const tsr_ir_block *body = tsr_func_body(tsr_ir_entry(ir));
  assert_ptr_equal(body->first->next, body->last);
  tsr_pass_report_deinit(&report);
  tsr_ir_destroy(ir);
  tsr_text_deinit(&text);
}

// Without symbols: looking one up goes on without memory for its index.
static const char plain_program[] =
    "func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n"
    "  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>\n"
    "  %0 = stablehlo.add %c, %c : tensor<4xi32>\n"
    "  %1 = stablehlo.multiply %0, %x : tensor<4xi32>\n"
    "  %2 = stablehlo.transpose %1, dims = [0] : (tensor<4xi32>) -> tensor<4xi32>\n"
    "  %3 = stablehlo.multiply %x, %0 : tensor<4xi32>\n"
    "  %4 = stablehlo.reshape %3 : (tensor<4xi32>) -> tensor<2x2xi32>\n"
    "  %5 = stablehlo.reshape %4 : (tensor<2x2xi32>) -> tensor<4xi32>\n"
    "  %6 = stablehlo.maximum %2, %5 : tensor<4xi32>\n"
    "  return %6 : tensor<4xi32>\n}\n";

static tsr_status read_and_simplify(void *context) {
  (void)context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", plain_program, strlen(plain_program));
  if (!status) status = tsr_passes_run(ir, "composites,simplify,drop-locations", NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void passes_survive_every_failed_allocation(void **state) {
  (void)state;
  test_allocation_sweep(read_and_simplify, NULL);
}

SUITE(passes_list, TEST(wrong_lists_are_refused), TEST(passes_have_names_and_summaries_in_order),
      TEST(reports_count_changes_of_each_pass), TEST(long_programs_take_one_visit_per_op),
      TEST(passes_survive_every_failed_allocation))
