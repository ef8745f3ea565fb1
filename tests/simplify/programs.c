#include "programs.h"

#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "simplify/evaluate.h"
#include "simplify/passes.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

tsr_ir *test_program(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (status) print_error("%s\n", text);
  assert_ok(status);
  return ir;
}

void assert_passes(const char *passes, const char *before, const char *after) {
  tsr_ir *ir = test_program(before);
  assert_ok(tsr_passes_run(ir, passes, NULL));
  assert_ok(tsr_verify(ir, "after passes"));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_syntax_print(ir, NULL, &text);
  tsr_ir *expected = test_program(after);
  tsr_text wanted = TSR_TEXT_EMPTY;
  tsr_syntax_print(expected, NULL, &wanted);
  assert_string_equal(tsr_text_string(&text), tsr_text_string(&wanted));
  tsr_text_deinit(&text);
  tsr_text_deinit(&wanted);
  tsr_ir_destroy(expected);
  tsr_ir_destroy(ir);
}

static tsr_op *find_op(tsr_ir *ir) {
  tsr_op *found = NULL;
  for (tsr_op *op = tsr_func_body(tsr_ir_entry(ir))->first; op; op = op->next)
    if (!(op->info->traits & TSR_TRAIT_TERMINATES)) found = op;
  return found;
}

static const tsr_attr *read_attr(tsr_ir *ir, const char *text) {
  const tsr_attr *attr = NULL;
  assert_ok(tsr_syntax_read_attr(ir, text, strlen(text), &attr));
  return attr;
}

static void assert_attr(const test_fold *row, const tsr_attr *made, const tsr_attr *wanted) {
  if (tsr_attr_equal(made, wanted)) return;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_attr_print(made, &text);
  fail_msg("%s gives %s, expected %s", row->op, tsr_text_string(&text), row->results[0]);
}

static void assert_fold(const test_fold *row) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "func.func @main() {\n");
  for (int i = 0; row->operands[i]; i++)
    tsr_text_addf(&text, "  %%%c = stablehlo.constant %s\n", 'a' + i, row->operands[i]);
  tsr_text_addf(&text, "  %%r%s = %s\n  return\n}\n", row->results[1] ? ":2" : "", row->op);
  tsr_ir *ir = test_program(tsr_text_string(&text));
  const tsr_attr *operands[5] = {0}, *results[3] = {0};
  bool known = false;
  tsr_op *op = find_op(ir);
  assert_non_null(op);
  assert_true(op->operand_count <= 5);
  for (int i = 0; i < op->operand_count; i++)
    operands[i] = tsr_value_constant(tsr_op_operand(op, i));
  assert_ok(tsr_evaluate_op(ir, op, operands, NULL, &known, results));
  if (known != (row->results[0] != NULL)) fail_msg("%s is %sknown", row->op, known ? "" : "not ");
  for (int i = 0; row->results[i]; i++)
    assert_attr(row, results[i], read_attr(ir, row->results[i]));
  tsr_ir_destroy(ir);
  tsr_text_deinit(&text);
}

void assert_folds(const test_fold *cases, size_t count) {
  for (size_t i = 0; i < count; i++) assert_fold(&cases[i]);
}
