// Every allocation may fail: rules, the table, propagation.
#include <string.h>

#include "factor/factor_passes.h"
#include "factor/rule.h"
#include "factor/spread.h"
#include "support/test.h"
#include "syntax/syntax.h"

static const char program[] =
    "sdy.mesh @mesh = <[\"x\"=4, \"a\"=2]>\n"
    "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\", ?}, {?}]>}, "
    "%y: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {\"a\", ?}], "
    "replicated={\"x\"}>}) -> tensor<2x4x6xf32> {\n"
    "  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x4xf32>, "
    "tensor<4x6xf32>) -> tensor<8x6xf32>\n"
    "  %1 = stablehlo.reshape %0 : (tensor<8x6xf32>) -> tensor<2x4x6xf32>\n"
    "  %2:2 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, "
    "j])->([i, j], [j]) {i=8, j=4}, custom>} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, "
    "tensor<4xf32>)\n"
    "  return %1 : tensor<2x4x6xf32>\n}\n";

enum { TENSORS_MOST = 8 };

static tsr_status spread_op(tsr_sharding_table *table, const tsr_op *op, tsr_arena *scratch,
                            tsr_spread_strategy strategy) {
  const tsr_spread_how how = {.strategy = strategy, .direction = TSR_SDY_DIRECTION_BOTH};
  const tsr_tensor_sharding *shardings[TENSORS_MOST] = {0};
  const tsr_value *values[TENSORS_MOST];
  const tsr_op_rule *rule = NULL;
  tsr_spread_result result;
  TSR_TRY(tsr_rule_of(scratch, op, TSR_RULE_PLAIN, &rule));
  if (!rule) return NULL;
  for (int i = 0; i < rule->tensor_count; i++) {
    values[i] =
        i < op->operand_count ? tsr_op_operand(op, i) : tsr_op_result(op, i - op->operand_count);
    shardings[i] = tsr_sharding_of(table, values[i]);
  }
  TSR_TRY(tsr_spread_op(&how, rule, shardings, scratch, &table->arena, &result));
  for (int i = 0; i < result.change_count; i++)
    TSR_TRY(tsr_sharding_put(table, tsr_sharding_slot_of(values[result.changes[i].tensor]),
                             result.changes[i].sharding));
  return NULL;
}

static tsr_status spread_program(tsr_ir *ir, tsr_spread_strategy strategy) {
  tsr_sharding_table table;
  tsr_arena scratch = TSR_ARENA_EMPTY;
  TSR_TRY(tsr_sharding_table_init(ir, &table));
  tsr_status status = NULL;
  for (const tsr_op *op = tsr_func_body(tsr_ir_find_symbol(ir, "main"))->first; op && !status;
       op = op->next) {
    tsr_arena_reset(&scratch);
    status = spread_op(&table, op, &scratch, strategy);
  }
  if (!status) status = tsr_sharding_table_write(&table);
  tsr_sharding_table_deinit(&table);
  tsr_arena_deinit(&scratch);
  return status;
}

static tsr_status run_all(void *context) {
  const tsr_pass_table table = tsr_factor_passes();
  tsr_ir *ir = tsr_ir_create();
  (void)context;
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "t", program, strlen(program));
  if (!status) status = spread_program(ir, TSR_SPREAD_BASIC);
  if (!status) status = spread_program(ir, TSR_SPREAD_AGGRESSIVE);
  if (!status) status = tsr_pass_list_run(ir, &table, 1, "sdy-populate-op-sharding-rules", NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(run_all, NULL);
}

// The op gets what its operands have, and the reshape splits it.
static void a_program_is_propagated_op_by_op(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_print_options options = {0};
  assert_ok(tsr_syntax_read(ir, "t", program, strlen(program)));
  assert_ok(spread_program(ir, TSR_SPREAD_BASIC));
  tsr_syntax_print(ir, &options, &text);
  assert_non_null(strstr(tsr_text_string(&text), "[<@mesh, [{\"x\", ?}, {\"a\", ?}]>]"));
  assert_non_null(
      strstr(tsr_text_string(&text), "[<@mesh, [{\"x\":(1)2, ?}, {\"x\":(2)2, ?}, {\"a\", ?}]>]"));
  assert_non_null(strstr(tsr_text_string(&text), "[<@mesh, [{\"x\", ?}, {?}]>, <@mesh, [{?}]>]"));
  tsr_text_deinit(&text);
  tsr_ir_destroy(ir);
}

SUITE(factor_memory, TEST(every_allocation_may_fail), TEST(a_program_is_propagated_op_by_op))
