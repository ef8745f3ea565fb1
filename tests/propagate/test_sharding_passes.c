// Passes before and after propagation.
#include <string.h>

#include "program/pipelines.h"
#include "propagate/sharding_passes.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

static const sharded_case cases[] = {
    {"sdy-lift-inlined-meshes",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[\"z\"=8]>, "
          "[{\"z\"}]>}, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[\"a\"=2, "
          "\"b\"=2, \"c\"=4]>, [{\"a\"}]>}) -> tensor<8xf32> {\n"
          "  return %x : tensor<8xf32>\n"
          "}\n",
     "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=4]> {stablehlo.mesh = {axes = [{name = "
     "\"a\", size = 2 : i64}, {name = \"b\", size = 2 : i64}, {name = \"c\", size = 4 : "
     "i64}]}}\n"
     "sdy.mesh @mesh_0 = <[\"z\"=8]> {stablehlo.mesh = {axes = [{name = \"z\", size = 8 : "
     "i64}]}}\n"
     "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, "
     "[{\"z\"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
     "-> tensor<8xf32> {\n"
     "  return %arg0 : tensor<8xf32>\n"
     "}\n"},
    {"sdy-constant-or-scalar-splitter",
     MESH "func.func @main(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, "
          "tensor<8xf32>) {\n"
          "  %c = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
          "  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>\n"
          "  %0 = stablehlo.add %x, %c : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %c : tensor<8xf32>\n"
          "  %2 = stablehlo.add %x, %1 : tensor<8xf32>\n"
          "  %3 = stablehlo.add %0, %b : tensor<8xf32>\n"
          "  %4 = stablehlo.add %2, %b : tensor<8xf32>\n"
          "  return %3, %4 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> (tensor<8xf32>, "
          "tensor<8xf32>) {\n"
          "  %0 = sdy.constant dense<1.000000e+00> : tensor<8xf32>\n"
          "  %1 = sdy.constant dense<1.000000e+00> : tensor<8xf32>\n"
          "  %2 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> "
          "tensor<8xf32>\n"
          "  %3 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> "
          "tensor<8xf32>\n"
          "  %4 = stablehlo.add %arg0, %0 : tensor<8xf32>\n"
          "  %5 = stablehlo.negate %1 : tensor<8xf32>\n"
          "  %6 = stablehlo.add %arg0, %5 : tensor<8xf32>\n"
          "  %7 = stablehlo.add %4, %2 : tensor<8xf32>\n"
          "  %8 = stablehlo.add %6, %3 : tensor<8xf32>\n"
          "  return %7, %8 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
    {"sdy-manual-axes-cleanup",
     MESH "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] "
          "out_shardings=[<@mesh, [{\"a\"}, {}]>] manual_axes={\"b\", \"a\"} (%y: "
          "tensor<4x8xf32>) {\n"
          "    sdy.return %y : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"a\"}, {}], "
          "replicated={\"b\"}>] out_shardings=[<@mesh, [{\"a\"}, {}], replicated={\"b\"}>] "
          "manual_axes={\"a\", \"b\"} (%arg1: tensor<4x8xf32>) {\n"
          "    sdy.return %arg1 : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-apply-sharding-constraints",
     MESH "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
          "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\"}]>]>} : tensor<8xf32>\n"
          "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"a\"}]> {sdy.sharding_rule = "
          "#sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-sharding-group-import",
     MESH "func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) {\n"
          "  sdy.sharding_group %x group_id=7 : tensor<8xf32>\n"
          "  sdy.sharding_group %y group_id=3 : tensor<8xf32>\n"
          "  sdy.sharding_group %y group_id=7 : tensor<8xf32>\n"
          "  return\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) {\n"
          "  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>\n"
          "  sdy.sharding_group %arg1 group_id=0 : tensor<8xf32>\n"
          "  return\n"
          "}\n"},
    {"sdy-flatten-call-graph",
     MESH "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n"
          "func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n"
          "func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %arg0 : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n"
          "func.func private @f_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes "
          "{sdy.original_func_name = \"f\"} {\n"
          "  %0 = stablehlo.negate %arg0 : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-propagation-pipeline",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
          "-> tensor<8xf32> {\n"
          "  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n"
          "func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n",
     "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=4]> {stablehlo.mesh = {axes = [{name = "
     "\"a\", size = 2 : i64}, {name = \"b\", size = 2 : i64}, {name = \"c\", size = 4 : "
     "i64}]}}\n"
     "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
     "[{\"a\"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) {\n"
     "  %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
     "[{\"a\"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>\n"
     "  %1 = call @f(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>} : "
     "(tensor<8xf32>) -> tensor<8xf32>\n"
     "  return %1 : tensor<8xf32>\n"
     "}\n"
     "func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
     "[{\"a\"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) {\n"
     "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
     "[{\"a\"}]>]>} : tensor<8xf32>\n"
     "  return %0 : tensor<8xf32>\n"
     "}\n"},
    {"sdy-propagation-pipeline{dedup-functions-fully=true}",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
          "-> tensor<8xf32> {\n"
          "  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n"
          "func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n",
     "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=4]> {stablehlo.mesh = {axes = [{name = "
     "\"a\", size = 2 : i64}, {name = \"b\", size = 2 : i64}, {name = \"c\", size = 4 : "
     "i64}]}}\n"
     "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
     "[{\"a\"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) {\n"
     "  %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
     "[{\"a\"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>\n"
     "  return %0 : tensor<8xf32>\n"
     "}\n"
     "func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
     "[{\"a\"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) {\n"
     "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
     "[{\"a\"}]>]>} : tensor<8xf32>\n"
     "  return %0 : tensor<8xf32>\n"
     "}\n"},
    {"sdy-update-non-divisible-input-output-shardings",
     MESH "func.func @main(%x: tensor<6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\"}, "
          "{\"a\"}]>}) -> tensor<6x3xf32> {\n"
          "  return %x : tensor<6x3xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"c\":(1)2}, {}]>}) -> tensor<6x3xf32> {\n"
          "  return %arg0 : tensor<6x3xf32>\n"
          "}\n"},
    {"sdy-remove-sub-axes-in-input-output-shardings",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", "
          "\"c\":(1)2, ?}, {\"c\":(2)2}]>}) -> tensor<8x8xf32> {\n"
          "  return %x : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\", ?}, {\"c\":(2)2}]>}) -> tensor<8x8xf32> {\n"
          "  return %arg0 : tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-close-shardings",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", "
          "?}], replicated={\"b\"}>}) -> tensor<8xf32> {\n"
          "  return %x : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>}) -> tensor<8xf32> {\n"
          "  return %arg0 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-constant-or-scalar-merger,sdy-drop-sharding-and-mesh",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
          "-> tensor<8xf32> {\n"
          "  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
          "  %1 = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
          "  %2 = stablehlo.add %x, %0 : tensor<8xf32>\n"
          "  %3 = stablehlo.add %2, %1 : tensor<8xf32>\n"
          "  return %3 : tensor<8xf32>\n"
          "}\n",
     "func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
     "  %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>\n"
     "  %0 = stablehlo.add %arg0, %cst : tensor<8xf32>\n"
     "  %1 = stablehlo.add %0, %cst : tensor<8xf32>\n"
     "  return %1 : tensor<8xf32>\n"
     "}\n"},
    {"sdy-sharding-constraint-to-reshard,sdy-inline-meshes",
     MESH "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = sdy.sharding_constraint %x <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n",
     "func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
     "  %0 = sdy.reshard %arg0 <mesh<[\"a\"=2, \"b\"=2, \"c\"=4]>, [{\"a\"}]> : "
     "tensor<8xf32>\n"
     "  return %0 : tensor<8xf32>\n"
     "}\n"},
};

static void passes_change_programs_as_shardy_does(void **state) {
  (void)state;
  assert_sharded(cases, COUNT_OF(cases));
}

static void passes_have_names_and_summaries_in_order(void **state) {
  (void)state;
  const tsr_pass_table table = tsr_sharding_passes();
  for (int i = 0; i < table.count; i++) {
    assert_true(strlen(table.passes[i].summary) > 10);
    if (i) assert_true(strcmp(table.passes[i - 1].name, table.passes[i].name) < 0);
  }
}

static const struct {
  const char *passes, *program, *message;
} refused[] = {
    {"sdy-basic-propagat", "",
     "pass \"sdy-basic-propagat\" is unknown; did you mean "
     "\"sdy-basic-propagate\"?"},
    {"sdy-basic-propagate{propagation-strategy=basic}", "",
     "option \"propagation-strategy\" of pass \"sdy-basic-propagate\" is unknown"},
    {"sdy-aggressive-propagate{propagation-strategy=bold}", "",
     "option \"propagation-strategy\" of pass \"sdy-aggressive-propagate\" is \"bold\", "
     "expected basic|aggressive|basic-then-aggressive"},
    {"sdy-flatten-call-graph",
     "func.func @main() {\n  call @f() : () -> ()\n  return\n}\n"
     "func.func private @f() {\n  call @f() : () -> ()\n  return\n}\n",
     "in pass sdy-flatten-call-graph: function @f calls itself"},
    {"sdy-sharding-group-import",
     "func.func @main(%x: tensor<8xf32>, %y: tensor<4xf32>) {\n"
     "  sdy.sharding_group %x group_id=1 : tensor<8xf32>\n"
     "  sdy.sharding_group %y group_id=1 : tensor<4xf32>\n  return\n}\n",
     "in pass sdy-sharding-group-import: values of sharding group 1 have different shapes"},
    {"sdy-basic-propagate",
     "func.func @main(%x: tensor<8xf32>) {\n"
     "  sdy.sharding_group %x group_id=1 : tensor<8xf32>\n"
     "  sdy.sharding_group %x group_id=2 : tensor<8xf32>\n  return\n}\n",
     "in pass sdy-basic-propagate: a value is in the sharding groups 1 and 2"},
};

static void what_cannot_be_done_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++)
    assert_refused(refused[i].passes, refused[i].program, refused[i].message);
}

static tsr_status read_and_run(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (!status) status = tsr_all_passes_run(ir, "sdy-propagation-pipeline", NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void pipelines_survive_every_failed_allocation(void **state) {
  (void)state;
  static char program[] = MESH
      "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>})"
      " -> tensor<8xf32> {\n"
      "  %c = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
      "  %0 = stablehlo.add %x, %c : tensor<8xf32>\n"
      "  return %0 : tensor<8xf32>\n}\n";
  test_allocation_sweep(read_and_run, program);
}

SUITE(sharding_passes, TEST(passes_change_programs_as_shardy_does),
      TEST(passes_have_names_and_summaries_in_order), TEST(what_cannot_be_done_is_refused),
      TEST(pipelines_survive_every_failed_allocation))
