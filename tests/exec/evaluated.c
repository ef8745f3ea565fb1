// Programs run, and evaluated as constants: both give the same bits.
#include "exec/evaluated.h"

#include <stdlib.h>
#include <string.h>

#include "simplify/evaluate.h"
#include "syntax/syntax.h"
#include "tessera/engine/kernels.h"

enum { MOST_VALUES = 6 };

// Elements of a type: numbers from `low` to `high`, or small ones that every float holds.
static char *random_elements(test_random *random, const tsr_type *type, int64_t low, int64_t high) {
  const int64_t count = tsr_type_element_count(type);
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  const bool is_float = info->kind == TSR_CLASS_FLOAT || info->kind == TSR_CLASS_COMPLEX;
  if (is_float) low = -8, high = 8;
  if (info->kind == TSR_CLASS_UNSIGNED && low < 0) low = 0;
  int64_t *numbers = malloc(sizeof *numbers * (size_t)(count + 1));
  char *bytes = malloc((size_t)(count * info->bits / 8 + 1));
  for (int64_t i = 0; i < count; i++) numbers[i] = test_random_range(random, low, high);
  assert_ok(tsr_convert(TSR_I64, numbers, type->dtype, bytes, count));
  free(numbers);
  return bytes;
}

// What the evaluator gives for the entry on these arguments.
static void evaluate(tsr_ir *ir, char *const *inputs, const tsr_attr **out_results) {
  tsr_ir_block *body = tsr_func_body(tsr_ir_entry(ir));
  const tsr_attr *arguments[MOST_VALUES];
  const tsr_evaluate_limits limits = {.elements = 1 << 24, .steps = INT64_C(1) << 40};
  bool known = false;
  for (int i = 0; i < body->arg_count; i++) {
    const tsr_type *type = body->args[i]->type;
    const size_t bytes =
        (size_t)tsr_type_element_count(type) * tsr_type_element_bytes(tsr_type_element(type));
    arguments[i] = tsr_attr_dense(ir, type, inputs[i], bytes);
  }
  assert_ok(tsr_evaluate_block(ir, body, arguments, &limits, &known, out_results));
  assert_true(known);
}

static void check_result(const tsr_attr *wanted, const char *got) {
  const int64_t count = tsr_type_element_count(wanted->type);
  const size_t width = tsr_type_element_bytes(tsr_type_element(wanted->type));
  for (int64_t i = 0; i < count; i++)
    assert_memory_equal(got + i * (int64_t)width, tsr_attr_element(wanted, i), width);
}

void check_evaluated(test_random *random, const char *text, const char *reference, int64_t low,
                     int64_t high) {
  static const int workers[] = {1, 2, 5};
  tsr_ir *ir = tsr_ir_create();
  if (!reference) reference = text;
  assert_ok(tsr_syntax_read(ir, "test", reference, strlen(reference)));
  const tsr_ir_block *body = tsr_func_body(tsr_ir_entry(ir));
  const tsr_op *terminator = tsr_block_terminator(body);
  char *inputs[MOST_VALUES], *outputs[MOST_VALUES];
  const tsr_attr *results[MOST_VALUES];
  for (int i = 0; i < body->arg_count; i++)
    inputs[i] = random_elements(random, body->args[i]->type, low, high);
  evaluate(ir, inputs, results);
  for (int i = 0; i < terminator->operand_count; i++)
    outputs[i] = malloc((size_t)tsr_type_element_count(results[i]->type) * 16 + 1);
  for (size_t w = 0; w < COUNT_OF(workers); w++) {
    TSR_OWN(executable, executable);
    executable = compile_text(text, workers[w]);
    assert_ok(tsr_executable_run(executable, (const void *const *)inputs, (void *const *)outputs));
    for (int i = 0; i < terminator->operand_count; i++) check_result(results[i], outputs[i]);
  }
  for (int i = 0; i < terminator->operand_count; i++) free(outputs[i]);
  for (int i = 0; i < body->arg_count; i++) free(inputs[i]);
  tsr_ir_destroy(ir);
}
