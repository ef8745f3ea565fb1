// The table of all shardings of a program.
#include <string.h>

#include "base/text_internal.h"
#include "factor/shardings.h"
#include "support/test.h"
#include "syntax/syntax.h"

static tsr_ir *read_program(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  assert_ok(tsr_syntax_read(ir, "t", text, strlen(text)));
  return ir;
}

static tsr_op *first_op(const tsr_ir *ir) {
  return tsr_func_body(tsr_ir_find_symbol(ir, "main"))->first;
}

static void check_printed(const tsr_ir *ir, const char *part) {
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_print_options options = {0};
  tsr_syntax_print(ir, &options, &text);
  if (!strstr(tsr_text_string(&text), part)) assert_string_equal(tsr_text_string(&text), part);
  tsr_text_deinit(&text);
}

#define MESH "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>\n"

// The first value has a sharding, the others get it.
static const struct {
  const char *program;
  bool of_result;    // of the function, not of the first op
  const char *part;  // of the program after it
} writes[] = {
    {"%arg1: tensor<8xf32>) -> tensor<8xf32> {\n  %0 = stablehlo.negate %arg0 : tensor<8xf32>\n"
     "  return %0 : tensor<8xf32>\n}",
     false,
     "%0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\", "
     "?}]>]>} : tensor<8xf32>"},
    {"%arg1: tensor<8xf32>) -> tensor<8xf32> {\n  return %arg0 : tensor<8xf32>\n}", true,
     "-> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}]>})"},
    {"%arg1: tensor<8xf32>) -> tensor<8xf32> {\n"
     "  %0:2 = stablehlo.custom_call @f(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, "
     "tensor<4x2xf32>)\n  return %0#0 : tensor<8xf32>\n}",
     false, "#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}]>, <@mesh, [{?}, {?}]>]>"},
    {"%arg1: tensor<8xf32>) -> tensor<8xf32> {\n"
     "  %0 = sdy.sharding_constraint %arg0 <@mesh, [{\"b\"}]> : tensor<8xf32>\n"
     "  return %0 : tensor<8xf32>\n}",
     false, "sdy.sharding_constraint %arg0 <@mesh, [{\"a\", ?}]>"},
    {"%arg1: tensor<8xf32>) -> tensor<8xf32> {\n"
     "  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>\n"
     "  %1 = sdy.data_flow_edge %0 : tensor<8xf32>\n  return %1 : tensor<8xf32>\n}",
     false, "sdy.data_flow_edge %0 sharding=<@mesh, [{\"a\", ?}]>"},
};

static void shardings_are_written_where_values_keep_them(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(writes); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_sharding_table table;
    tsr_text_addf(&text, "%s%s%s", MESH,
                  "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
                  "[{\"a\", ?}]>}, ",
                  writes[i].program);
    tsr_ir *ir = read_program(tsr_text_string(&text));
    assert_ok(tsr_sharding_table_init(ir, &table));
    const tsr_op *func = tsr_ir_find_symbol(ir, "main");
    const tsr_value *arg = tsr_func_body(func)->args[0];
    const uint32_t slot = writes[i].of_result ? tsr_func_result_slot(func, 0)
                                              : tsr_sharding_slot_of(first_op(ir)->results);
    assert_non_null(tsr_sharding_of(&table, arg));
    assert_ok(tsr_sharding_put(&table, slot, tsr_sharding_of(&table, arg)));
    assert_ptr_equal(tsr_sharding_at(&table, slot), tsr_sharding_of(&table, arg));
    assert_ok(tsr_sharding_table_write(&table));
    check_printed(ir, writes[i].part);
    tsr_sharding_table_deinit(&table);
    tsr_ir_destroy(ir);
    tsr_text_deinit(&text);
  }
}

static const char loop[] = MESH
    "func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<i1>) -> tensor<8xf32> {\n"
    "  %0 = stablehlo.while(%it = %arg0) : tensor<8xf32>\n"
    "    cond {\n      stablehlo.return %arg1 : tensor<i1>\n    } do {\n"
    "      %z = stablehlo.negate %it : tensor<8xf32>\n"
    "      stablehlo.return %z : tensor<8xf32>\n    }\n"
    "  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{\"b\"}]> : tensor<8xf32>\n"
    "  return %1 : tensor<8xf32>\n}\n";

static void targets_of_an_edge_share_its_slot(void **state) {
  (void)state;
  tsr_sharding_table table;
  tsr_ir *ir = read_program(loop);
  assert_ok(tsr_sharding_table_init(ir, &table));
  const tsr_op *op = first_op(ir);
  const uint32_t slot = tsr_sharding_slot_of(op->next->results);
  assert_int_equal(tsr_sharding_slot_of(op->results), slot);
  assert_int_equal(tsr_sharding_slot_of(op->regions[0].first->args[0]), slot);
  assert_int_equal(tsr_sharding_slot_of(op->regions[1].first->args[0]), slot);
  assert_ptr_equal(tsr_sharding_owner(&table, slot), op->next->results);
  assert_int_equal(tsr_sharding_of(&table, op->results)->dims[0].axes.count, 1);
  tsr_sharding_table_deinit(&table);
  tsr_ir_destroy(ir);
}

static void arguments_of_a_reducing_body_have_no_slot(void **state) {
  (void)state;
  tsr_sharding_table table;
  tsr_ir *ir = read_program(
      "func.func @main(%x: tensor<8xf32>, %z: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : "
      "(tensor<8xf32>, tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n");
  assert_ok(tsr_sharding_table_init(ir, &table));
  const tsr_value *arg = first_op(ir)->regions[0].first->args[0];
  assert_int_equal(tsr_sharding_slot_of(arg), 0);
  assert_null(tsr_sharding_of(&table, arg));
  assert_ok(tsr_sharding_put(&table, 0, NULL));
  assert_ok(tsr_sharding_table_write(&table));
  tsr_sharding_table_deinit(&table);
  tsr_ir_destroy(ir);
}

static void single_shardings_are_set_without_a_table(void **state) {
  (void)state;
  tsr_ir *ir = read_program(
      MESH
      "func.func @main(%arg0: tensor<8xf32> {jax.x = 1 : i32, sdy.sharding = #sdy.sharding<@mesh, "
      "[{\"a\"}]>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {\n"
      "  %0:2 = stablehlo.custom_call @f(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)\n"
      "  return %0#0 : tensor<8xf32>\n}\n");
  tsr_op *func = tsr_ir_find_symbol(ir, "main");
  tsr_value **args = tsr_func_body(func)->args;
  const tsr_attr *sharding = tsr_dict_find(tsr_func_arg_attrs(func, 0), "sdy.sharding");
  assert_ok(tsr_value_sharding_set(ir, first_op(ir)->results, sharding));
  check_printed(ir, "#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>, <@mesh, []>]>");
  assert_ok(tsr_value_sharding_set(ir, args[1], sharding));
  assert_ok(tsr_value_sharding_set(ir, args[0], NULL));
  check_printed(ir,
                "(%arg0: tensor<8xf32> {jax.x = 1 : i32}, %arg1: tensor<8xf32> {sdy.sharding = "
                "#sdy.sharding<@mesh, [{\"a\"}]>})");
  assert_ok(tsr_func_result_sharding_set(ir, func, 0, sharding));
  assert_ptr_equal(tsr_func_result_sharding(func, 0), sharding);
  tsr_ir_destroy(ir);
}

static void a_mesh_that_is_not_there_is_named(void **state) {
  (void)state;
  tsr_sharding_table table;
  tsr_ir *ir = read_program(
      "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@none, [{}]>}) {\n"
      "  return\n}\n");
  assert_fails(tsr_sharding_table_init(ir, &table), UNKNOWN_SYMBOL,
               "func.func: the mesh of a sharding is not in the program");
  tsr_ir_destroy(ir);
}

SUITE(sharding_table, TEST(shardings_are_written_where_values_keep_them),
      TEST(targets_of_an_edge_share_its_slot), TEST(arguments_of_a_reducing_body_have_no_slot),
      TEST(single_shardings_are_set_without_a_table), TEST(a_mesh_that_is_not_there_is_named))
