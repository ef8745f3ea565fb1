// Notes of propagation: which op each axis went through, which sharding of a user it comes from.
#include <stdio.h>
#include <string.h>

#include "program/pipelines.h"
#include "support/folder.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

// Texts as Shardy of jaxlib 0.10.2 prints them, but for the loop, whose notes its verifier refuses,
// and the origins of the last one: an axis that no user gave has none here, anything there.
static const sharded_case cases[] = {
    {"sdy-apply-sharding-constraints{debug-sharding-origins=true "
     "debug-propagation-edge-sharding=true},"
     "sdy-aggressive-propagate{debug-sharding-origins=true "
     "debug-propagation-edge-sharding=true}",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {?}]>}, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32> "
          "{sdy.sharding = #sdy.sharding<@mesh, [{?}, {\"b\", ?}]>}) {\n"
          "  %0 = stablehlo.negate %y : tensor<8x8xf32>\n"
          "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  %2 = stablehlo.add %x, %x : tensor<8x8xf32>\n"
          "  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {\"b\", ?}]>, sdy.sharding_origins = {a = \"self\", b = \"output: "
          "1\"}}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\", "
          "?}, {?}]>, sdy.sharding_origins = {c = \"constraint_0\"}}) -> "
          "(tensor<8x8xf32> {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = "
          "[{\"c\" = operand-0 -> [result-0]}]}, {step-2 = [{\"b\" = result-0 -> "
          "[operand-0]}]}, {step-5 = [{\"a\" = operand-0 -> [result-0]}]}]>, "
          "sdy.sharding = #sdy.sharding<@mesh, [{\"c\", ?}, {?}]>, sdy.sharding_origins "
          "= {c = \"constraint_0\"}}, tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\", ?}, {\"b\", ?}]>, sdy.sharding_origins = {a = "
          "\"input: 0\", b = \"self\"}}) {\n"
          "  %0 = stablehlo.negate %arg1 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-3 = [{\"c\" = result-0 -> [operand-0]}]}]>, "
          "sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}, {}]>]>, "
          "sdy.sharding_origins = [{c = \"constraint_0\"}]} : tensor<8x8xf32>\n"
          "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"c\"}, {}]> "
          "{sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{\"c\" = result-0 "
          "-> [operand-0]}]}]>, sdy.sharding_origin_name = \"constraint_0\", "
          "sdy.sharding_origins = {c = \"self\"}} : tensor<8x8xf32>\n"
          "  %2 = stablehlo.add %arg0, %arg0 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-4 = [{\"a\" = operand-0 -> [result-0]}, {\"b\" "
          "= result-0 -> [operand-0, operand-1]}]}]>, sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}, {\"b\", ?}]>]>, "
          "sdy.sharding_origins = [{a = \"input: 0\", b = \"output: 1\"}]} : "
          "tensor<8x8xf32>\n"
          "  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-add-data-flow-edges,"
     "sdy-aggressive-propagate{debug-sharding-origins=true "
     "debug-propagation-edge-sharding=true},"
     "sdy-sink-data-flow-edges{sink-debug-sharding-origins=true "
     "sink-debug-propagation-edge-sharding=true}",
     MESH "func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\"}]>}, %y: tensor<4x4xf32>, %i: tensor<i32>) -> tensor<4x4xf32> {\n"
          "  %0 = stablehlo.reshape %x : (tensor<16xf32>) -> tensor<2x8xf32>\n"
          "  %1 = stablehlo.reshape %0 : (tensor<2x8xf32>) -> tensor<16xf32>\n"
          "  %2 = sdy.sharding_constraint %y <@mesh, [{\"a\", ?}, {?}]> : tensor<4x4xf32>\n"
          "  %3:2 = stablehlo.while(%p = %2, %q = %i) : tensor<4x4xf32>, tensor<i32>\n"
          "    cond {\n"
          "    %9 = stablehlo.compare LT, %q, %i : (tensor<i32>, tensor<i32>) -> "
          "tensor<i1>\n"
          "    stablehlo.return %9 : tensor<i1>\n"
          "  } do {\n"
          "    %9 = stablehlo.negate %p : tensor<4x4xf32>\n"
          "    stablehlo.return %9, %q : tensor<4x4xf32>, tensor<i32>\n"
          "  }\n"
          "  %4 = sdy.manual_computation(%3#0) in_shardings=[<@mesh, [{\"a\", ?}, "
          "{\"b\", ?}]>] out_shardings=[<@mesh, [{\"a\", ?}, {?}]>] manual_axes={\"a\"} "
          "(%z: tensor<2x4xf32>) {\n"
          "    %9 = stablehlo.add %z, %z : tensor<2x4xf32>\n"
          "    sdy.return %9 : tensor<2x4xf32>\n"
          "  } : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
          "  %5 = stablehlo.custom_call @keep(%1) {has_side_effect = true} : "
          "(tensor<16xf32>) -> tensor<16xf32>\n"
          "  return %4 : tensor<4x4xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\"}]>, sdy.sharding_origins = {c = \"self\"}}, %arg1: tensor<4x4xf32> "
          "{sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}, {\"b\", ?}]>, "
          "sdy.sharding_origins = {a = \"constraint_0\", b = \"mc_0_input: 0\"}}, %arg2: "
          "tensor<i32>) -> (tensor<4x4xf32> {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-0 = [{\"a\" = operand-0 -> [result-0]}]}, "
          "{step-10 = [{\"b\" = operand-0 -> [result-0]}]}]>, sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\", ?}, {\"b\", ?}]>, sdy.sharding_origins = {a = "
          "\"mc_0_output: 0\", b = \"mc_0_input: 0\"}}) {\n"
          "  %0 = stablehlo.reshape %arg0 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-1 = [{\"c\":(1)2 = operand-0 -> [result-0]}, "
          "{\"c\":(2)2 = operand-0 -> [result-0]}]}]>, sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"c\":(1)2, ?}, {\"c\":(2)2, ?}]>]>, "
          "sdy.sharding_origins = [{\"c:(1)2\" = \"input: 0\", \"c:(2)2\" = \"input: "
          "0\"}]} : (tensor<16xf32>) -> tensor<2x8xf32>\n"
          "  %1 = stablehlo.reshape %0 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-2 = [{\"c\" = operand-0 -> [result-0]}]}]>, "
          "sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\", ?}]>]>, "
          "sdy.sharding_origins = [{c = \"input: 0\"}]} : (tensor<2x8xf32>) -> "
          "tensor<16xf32>\n"
          "  %2 = sdy.sharding_constraint %arg1 <@mesh, [{\"a\", ?}, {\"b\", ?}]> "
          "{sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{\"a\" = result-0 "
          "-> [operand-0]}]}, {step-7 = [{\"b\" = result-0 -> [operand-0]}]}]>, "
          "sdy.sharding_origin_name = \"constraint_0\", sdy.sharding_origins = {a = "
          "\"self\", b = \"mc_0_input: 0\"}} : tensor<4x4xf32>\n"
          "  %3:2 = stablehlo.while(%iterArg = %2, %iterArg_0 = %arg2) : "
          "tensor<4x4xf32>, tensor<i32> attributes {sdy.block_arg_propagation_edges = "
          "[], sdy.block_arg_sharding_origins = [], sdy.result_propagation_edges = "
          "[#sdy.propagation_edges<[{step-4 = [{\"a\" = operand-0 -> [operand-1, "
          "result-0]}]}, {step-6 = [{\"b\" = result-0 -> [operand-0, operand-1]}]}]>], "
          "sdy.result_sharding_origins = [{a = \"constraint_0\", b = \"mc_0_input: "
          "0\"}], sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\", ?}, {\"b\", "
          "?}]>, <@mesh, []>]>}\n"
          "  cond {\n"
          "    %6 = stablehlo.compare LT, %iterArg_0, %arg2 : (tensor<i32>, tensor<i32>) "
          "-> tensor<i1>\n"
          "    stablehlo.return %6 : tensor<i1>\n"
          "  } do {\n"
          "    %6 = stablehlo.negate %iterArg {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}, {\"b\", ?}]>]>, "
          "sdy.sharding_origins = [{a = \"constraint_0\", b = \"mc_0_input: 0\"}]} : "
          "tensor<4x4xf32>\n"
          "    stablehlo.return %6, %iterArg_0 : tensor<4x4xf32>, tensor<i32>\n"
          "  }\n"
          "  %4 = sdy.manual_computation(%3#0) in_shardings=[<@mesh, [{\"a\", ?}, "
          "{\"b\", ?}]>] out_shardings=[<@mesh, [{\"a\", ?}, {\"b\", ?}]>] "
          "manual_axes={\"a\"} (%arg3: tensor<2x4xf32>) {\n"
          "    %6 = stablehlo.add %arg3, %arg3 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-8 = [{\"b\" = operand-0 -> [result-0]}]}]>, "
          "sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {\"b\", ?}]>]>, "
          "sdy.sharding_origins = [{b = \"mc_0_input: 0\"}]} : tensor<2x4xf32>\n"
          "    sdy.return %6 : tensor<2x4xf32>\n"
          "  } {sdy.block_arg_propagation_edges = [#sdy.propagation_edges<[{step-5 = "
          "[{\"b\" = result-0 -> [operand-0]}]}]>], sdy.block_arg_sharding_origins = [{a "
          "= \"self\", b = \"self\"}], sdy.result_propagation_edges = "
          "[#sdy.propagation_edges<[{step-9 = [{\"b\" = operand-0 -> [result-0]}]}]>], "
          "sdy.result_sharding_origins = [{a = \"self\", b = \"mc_0_input: 0\"}], "
          "sdy.sharding_origin_name = \"mc_0\"} : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
          "  %5 = stablehlo.custom_call @keep(%1) {has_side_effect = true} : "
          "(tensor<16xf32>) -> tensor<16xf32>\n"
          "  return %4 : tensor<4x4xf32>\n"
          "}\n"},
    {"sdy-basic-propagate{debug-propagation-edge-sharding=true}",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\":(1)2, ?}]>}, %y: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32> "
          "{sdy.sharding = #sdy.sharding<@mesh, [{\"c\", ?}]>}, tensor<8xf32>) {\n"
          "  %0 = stablehlo.add %x, %y {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-6 = [{\"c\":(1)2 = operand-0 -> "
          "[result-0]}]}]>} : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %z {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\", ?}]>]>} : tensor<8xf32>\n"
          "  sdy.sharding_group %x group_id=3 : tensor<8xf32>\n"
          "  sdy.sharding_group %y group_id=3 : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\", ?}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\", ?}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\", ?}]>}) -> (tensor<8xf32> {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-7 = [{\"c\" = result-0 -> [operand-0]}]}, "
          "{step-8 = [{\"b\" = operand-0 -> [result-0]}]}]>, sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"c\", ?}]>}, tensor<8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"b\", ?}]>}) {\n"
          "  %0 = stablehlo.add %arg0, %arg1 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-9 = [{\"c\" = result-0 -> [operand-0, "
          "operand-1]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\", "
          "?}]>]>} : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %arg2 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-10 = [{\"b\" = result-0 -> [operand-0]}]}]>, "
          "sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\", ?}]>]>} : "
          "tensor<8xf32>\n"
          "  sdy.sharding_group %arg0 group_id=3 : tensor<8xf32>\n"
          "  sdy.sharding_group %arg1 group_id=3 : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
    {"sdy-basic-propagate{debug-sharding-origins=true}",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\":(1)2, ?}]>}, %y: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32> "
          "{sdy.sharding = #sdy.sharding<@mesh, [{\"c\", ?}]>}, tensor<8xf32>) {\n"
          "  %0 = stablehlo.add %x, %y {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-6 = [{\"c\":(1)2 = operand-0 -> "
          "[result-0]}]}]>} : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %z {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\", ?}]>]>} : tensor<8xf32>\n"
          "  sdy.sharding_group %x group_id=3 : tensor<8xf32>\n"
          "  sdy.sharding_group %y group_id=3 : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\", ?}]>, sdy.sharding_origins = {c = \"output: 0\", \"c:(1)2\" = "
          "\"self\"}}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\", ?}]>, sdy.sharding_origins = {c = \"output: 0\"}}, %arg2: "
          "tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\", ?}]>}) -> "
          "(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\", ?}]>, "
          "sdy.sharding_origins = {c = \"self\"}}, tensor<8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"b\", ?}]>}) {\n"
          "  %0 = stablehlo.add %arg0, %arg1 {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-6 = [{\"c\":(1)2 = operand-0 -> "
          "[result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\", "
          "?}]>]>, sdy.sharding_origins = [{c = \"output: 0\"}]} : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %arg2 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"b\", ?}]>]>} : tensor<8xf32>\n"
          "  sdy.sharding_group %arg0 group_id=3 : tensor<8xf32>\n"
          "  sdy.sharding_group %arg1 group_id=3 : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
};

static void notes_are_those_that_shardy_writes(void **state) {
  (void)state;
  assert_sharded(cases, COUNT_OF(cases));
}

static tsr_status read_and_note(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (!status)
    status = tsr_all_passes_run(
        ir,
        "sdy-apply-sharding-constraints{debug-sharding-origins debug-propagation-edge-sharding},"
        "sdy-basic-propagate{debug-sharding-origins debug-propagation-edge-sharding},"
        "sdy-sink-data-flow-edges{sink-debug-sharding-origins "
        "sink-debug-propagation-edge-sharding}",
        NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void notes_survive_every_failed_allocation(void **state) {
  (void)state;
  static char program[] = MESH
      "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
      "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
      "  return %1 : tensor<8xf32>\n}\n";
  test_allocation_sweep(read_and_note, program);
}

static const char two_priorities[] = MESH
    "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
    "{\"b\"}p1]>}) -> tensor<8x8xf32> {\n"
    "  %0 = stablehlo.negate %x : tensor<8x8xf32>\n"
    "  return %0 : tensor<8x8xf32>\n}\n";

// The first priority is written before the second begins, and does not disturb it.
static void programs_are_dumped_between_priorities(void **state) {
  (void)state;
  char passes[256], text[2048];
  test_folder folder;
  test_folder_make(&folder);
  snprintf(passes, sizeof passes, "sdy-user-priority-propagate{module-dump-directory=\"%s\"}",
           folder.path);
  const sharded_case both = {
      passes, two_priorities,
      MESH
      "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
      "[{\"a\"}, {\"b\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
      "[{\"a\", ?}, {\"b\", ?}]>}) {\n"
      "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
      "[{\"a\", ?}, {\"b\", ?}]>]>} : tensor<8x8xf32>\n"
      "  return %0 : tensor<8x8xf32>\n}\n"};
  assert_sharded(&both, 1);
  FILE *file = fopen(test_folder_path(&folder, "00.propagation_after_user_priority_0.mlir"), "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_non_null(strstr(text, "[{\"a\"}, {}], replicated={\"b\"}"));
  assert_non_null(strstr(text, "[{\"a\", ?}, {?}]"));
  test_folder_remove(&folder);
  assert_refused("sdy-user-priority-propagate{module-dump-directory=\"/missing/folder\"}",
                 two_priorities,
                 "in pass sdy-user-priority-propagate: "
                 "/missing/folder/00.propagation_after_user_priority_0.mlir: the folder that it "
                 "should lie in is not there");
}

SUITE(flow_notes, TEST(notes_are_those_that_shardy_writes),
      TEST(notes_survive_every_failed_allocation), TEST(programs_are_dumped_between_priorities))
