// Collectives in place of reshards, canonical forms, and the export pipeline.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "collective/collective_passes.h"
#include "program/pipelines.h"
#include "propagate/edits.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

static const sharded_case cases[] = {
    {"sdy-reshard-to-collectives",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\", \"b\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, "
          "tensor<8x8xf32>, tensor<8x8xf32>) {\n"
          "  %0 = sdy.reshard %x <@mesh, [{\"a\"}, {}]> : tensor<8x8xf32>\n"
          "  %1 = sdy.reshard %x <@mesh, [{\"a\", \"b\"}, {\"c\":(1)2}]> : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %x <@mesh, [{}, {\"a\", \"b\"}]> : tensor<8x8xf32>\n"
          "  %3 = sdy.reshard %x <@mesh, [{\"b\", \"a\"}, {}]> : tensor<8x8xf32>\n"
          "  %4 = sdy.reshard %x <@mesh, [{\"c\"}, {\"b\"}]> : tensor<8x8xf32>\n"
          "  return %0, %1, %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, "
          "tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\", \"b\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, "
          "tensor<8x8xf32>, tensor<8x8xf32>) {\n"
          "  %0 = sdy.all_gather [{\"b\"}, {}] %arg0 out_sharding=<@mesh, [{\"a\"}, {}]> : "
          "tensor<8x8xf32>\n"
          "  %1 = sdy.all_slice [{}, {\"c\":(1)2}] %arg0 out_sharding=<@mesh, [{\"a\", "
          "\"b\"}, {\"c\":(1)2}]> : tensor<8x8xf32>\n"
          "  %2 = sdy.all_to_all [{\"a\", \"b\"}: 0->1] %arg0 out_sharding=<@mesh, [{}, "
          "{\"a\", \"b\"}]> : tensor<8x8xf32>\n"
          "  %3 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{\"b\", \"a\"}, {}]> "
          ": tensor<8x8xf32>\n"
          "  %4 = sdy.all_slice [{}, {\"c\":(1)2}] %arg0 out_sharding=<@mesh, [{\"a\", "
          "\"b\"}, {\"c\":(1)2}]> : tensor<8x8xf32>\n"
          "  %5 = sdy.collective_permute %4 out_sharding=<@mesh, [{\"c\"}, {\"b\"}]> : "
          "tensor<8x8xf32>\n"
          "  return %0, %1, %2, %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>, "
          "tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-reshard-to-collectives{keep-redundant-reshards=true}",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", "
          "?}]>}) -> (tensor<8xf32>, tensor<8xf32>) {\n"
          "  %0 = sdy.reshard %x <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  %1 = sdy.reshard %x <@mesh, [{}]> : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\", ?}]>}) -> (tensor<8xf32>, tensor<8xf32>) {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  %1 = sdy.all_gather [{\"a\"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
    {"canonicalize",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{}], unreduced={\"a\"}>}, %y: tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"b\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, "
          "tensor<64xf32>, tensor<8x8xf32>) {\n"
          "  %c = stablehlo.constant dense<1.0> : tensor<8x8xf32>\n"
          "  %0 = sdy.all_reduce {\"a\"} %x out_sharding=<@mesh, [{}, {}]> : "
          "tensor<8x8xf32>\n"
          "  %d = stablehlo.constant dense<1.0> : tensor<8x8xf32>\n"
          "  %1 = sdy.all_slice [{\"a\"}, {\"b\"}] %0 out_sharding=<@mesh, [{\"a\"}, "
          "{\"b\"}]> : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %y <@mesh, [{}, {\"c\"}]> : tensor<8x8xf32>\n"
          "  %3 = sdy.reshard %2 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  %4 = stablehlo.reshape %y : (tensor<8x8xf32>) -> tensor<64xf32>\n"
          "  %5 = sdy.reshard %4 <@mesh, [{\"c\"}]> : tensor<64xf32>\n"
          "  %6 = stablehlo.add %c, %d : tensor<8x8xf32>\n"
          "  %7 = stablehlo.negate %6 : tensor<8x8xf32>\n"
          "  return %1, %3, %5, %6 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<64xf32>, "
          "tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{}, {}], unreduced={\"a\"}>}, %arg1: tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"b\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, "
          "tensor<64xf32>, tensor<8x8xf32>) {\n"
          "  %cst = stablehlo.constant dense<1.000000e+00> : tensor<8x8xf32>\n"
          "  %0 = sdy.reduce_scatter [{\"a\"}, {}] %arg0 out_sharding=<@mesh, [{\"a\"}, "
          "{}]> : tensor<8x8xf32>\n"
          "  %1 = sdy.all_slice [{}, {\"b\"}] %0 out_sharding=<@mesh, [{\"a\"}, {\"b\"}]> "
          ": tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %arg1 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  %3 = stablehlo.reshape %2 : (tensor<8x8xf32>) -> tensor<64xf32>\n"
          "  %4 = stablehlo.add %cst, %cst : tensor<8x8xf32>\n"
          "  return %1, %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<64xf32>, "
          "tensor<8x8xf32>\n"
          "}\n"},
    {"canonicalize{enable-patterns=sdy-reshard}",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {\n"
          "  %0 = sdy.all_gather [{}, {}] %x out_sharding=<@mesh, [{\"a\"}, {}]> : "
          "tensor<8x8xf32>\n"
          "  %1 = sdy.reshard %x <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %1 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  %3 = sdy.reshard %x <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  return %0, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {\n"
          "  %0 = sdy.all_gather [{}, {}] %arg0 out_sharding=<@mesh, [{\"a\"}, {}]> : "
          "tensor<8x8xf32>\n"
          "  %1 = sdy.reshard %arg0 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %arg0 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
          "  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n"},
    {"canonicalize",
     MESH "func.func @main(%x: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {\"b\"}, {}, {}]>}, %y: tensor<8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\"}]>}) -> (tensor<8x8x8x8xf32>, tensor<8xf32>, "
          "tensor<8xf32>) {\n"
          "  %0 = sdy.all_to_all [{\"b\"}: 1->3] %x out_sharding=<@mesh, [{\"a\"}, {}, {}, "
          "{\"b\"}]> : tensor<8x8x8x8xf32>\n"
          "  %1 = sdy.all_to_all [{\"a\"}: 0->2] %0 out_sharding=<@mesh, [{}, {}, {\"a\"}, "
          "{\"b\"}]> : tensor<8x8x8x8xf32>\n"
          "  %2 = sdy.collective_permute %y out_sharding=<@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  %3 = sdy.sharded_to_unreduced [{\"a\"}] %2 out_sharding=<@mesh, [{}], "
          "unreduced={\"a\"}> : tensor<8xf32>\n"
          "  %4 = sdy.all_reduce {\"a\"} %3 out_sharding=<@mesh, [{}]> : tensor<8xf32>\n"
          "  return %1, %2, %4 : tensor<8x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {\"b\"}, {}, {}]>}, %arg1: tensor<8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\"}]>}) -> (tensor<8x8x8x8xf32>, tensor<8xf32>, "
          "tensor<8xf32>) {\n"
          "  %0 = sdy.all_to_all [{\"a\"}: 0->2, {\"b\"}: 1->3] %arg0 out_sharding=<@mesh, "
          "[{}, {}, {\"a\"}, {\"b\"}]> : tensor<8x8x8x8xf32>\n"
          "  %1 = sdy.sharded_to_unreduced [{\"a\"}] %arg1 out_sharding=<@mesh, [{}], "
          "unreduced={\"a\"}> : tensor<8xf32>\n"
          "  %2 = sdy.all_gather [{\"a\"}] %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>\n"
          "  return %0, %arg1, %2 : tensor<8x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
    {"canonicalize",
     MESH "func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, "
          "tensor<8xf32>, tensor<8xf32>) {\n"
          "  %0 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{\"a\"}]>, <@mesh, "
          "[{\"a\"}]>] out_shardings=[<@mesh, [{\"a\"}]>] manual_axes={\"a\"} (%p: "
          "tensor<4xf32>, %q: tensor<4xf32>) {\n"
          "    sdy.return %q : tensor<4xf32>\n"
          "  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>\n"
          "  %1 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] "
          "out_shardings=[<@mesh, [{}]>] manual_axes={} (%p: tensor<8xf32>) {\n"
          "    %n = stablehlo.negate %p : tensor<8xf32>\n"
          "    sdy.return %n : tensor<8xf32>\n"
          "  } : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  %i = stablehlo.constant dense<1> : tensor<i32>\n"
          "  %2 = \"stablehlo.case\"(%i) ({\n"
          "    stablehlo.return %x : tensor<8xf32>\n"
          "  }, {\n"
          "    %n = stablehlo.abs %y : tensor<8xf32>\n"
          "    stablehlo.return %n : tensor<8xf32>\n"
          "  }) : (tensor<i32>) -> tensor<8xf32>\n"
          "  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, "
          "tensor<8xf32>, tensor<8xf32>) {\n"
          "  %0 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{\"a\"}]>] "
          "out_shardings=[<@mesh, [{\"a\"}]>] manual_axes={\"a\"} (%arg2: tensor<4xf32>) {\n"
          "    sdy.return %arg2 : tensor<4xf32>\n"
          "  } : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  %1 = stablehlo.negate %arg0 : tensor<8xf32>\n"
          "  %2 = stablehlo.abs %arg1 : tensor<8xf32>\n"
          "  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
    {"sdy-remove-all-gather-reduce-scatter-for-cmv1",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {\n"
          "  %0 = sdy.all_gather [{}, {\"a\"}] %x out_sharding=<@mesh, [{}, {}]> : "
          "tensor<8x8xf32>\n"
          "  %1 = stablehlo.dot %0, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %2 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %3 = sdy.reduce_scatter [{\"a\"}, {}] %2 out_sharding=<@mesh, [{\"a\"}, {}]> "
          ": tensor<8x8xf32>\n"
          "  return %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{}, {\"a\"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {\n"
          "  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, "
          "tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %1 = stablehlo.dot %arg0, %arg1 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : (tensor<8x8xf32>, "
          "tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-remove-propagation-debug-info",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>, sdy.sharding_origins = {a = \"self\"}}) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %x {sdy.propagation_edges = "
          "#sdy.propagation_edges<[{step-0 = [{\"a\" = operand-0 -> [result-0]}]}]>} : "
          "tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>}) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %arg0 : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-explicit-gather-scatter-batching",
     MESH "func.func @main(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>) -> tensor<4xf32> {\n"
          "  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>\n"
          "  %1 = stablehlo.concatenate %0, %i, dim = 1 : (tensor<4x1xi32>, "
          "tensor<4x1xi32>) -> tensor<4x2xi32>\n"
          "  %2 = \"stablehlo.gather\"(%x, %1) <{dimension_numbers = "
          "#stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
          "index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, "
          "tensor<4x2xi32>) -> tensor<4xf32>\n"
          "  return %2 : tensor<4xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>) -> "
          "tensor<4xf32> {\n"
          "  %0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = "
          "#stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], "
          "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = "
          "1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x1xi32>) -> "
          "tensor<4xf32>\n"
          "  return %0 : tensor<4xf32>\n"
          "}\n"},
    {"sdy-export-pipeline{enable-insert-explicit-collectives=true,inline-meshes=false}",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) {\n"
          "  %0 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}, {?}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{}, {\"a\"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) {\n"
          "  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, "
          "tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %1 = sdy.reduce_scatter [{\"a\"}, {}] %0 out_sharding=<@mesh, [{\"a\"}, {}]> "
          ": tensor<8x8xf32>\n"
          "  return %1 : tensor<8x8xf32>\n"
          "}\n"},
};

static void passes_change_programs_as_shardy_and_mlir_do(void **state) {
  (void)state;
  assert_sharded(cases, COUNT_OF(cases));
}

static void passes_have_names_and_summaries_in_order(void **state) {
  (void)state;
  const tsr_pass_table table = tsr_collective_passes();
  for (int i = 0; i < table.count; i++) {
    assert_true(strlen(table.passes[i].summary) > 10);
    if (i) assert_true(strcmp(table.passes[i - 1].name, table.passes[i].name) < 0);
  }
}

// Parts of an axis of size 6 that exclude each other; Shardy makes a sharding that it refuses.
static void parts_that_exclude_each_other_are_gathered_first(void **state) {
  static const sharded_case clash[] = {
      {"sdy-reshard-to-collectives",
       "sdy.mesh @mesh = <[\"x\"=6, \"y\"=2]>\n"
       "func.func @main(%x: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\":(1)3, "
       "\"y\"}]>}) -> tensor<24xf32> {\n"
       "  %0 = sdy.reshard %x <@mesh, [{\"x\":(2)3, \"x\":(1)2, \"y\"}]> : tensor<24xf32>\n"
       "  return %0 : tensor<24xf32>\n}\n",
       "sdy.mesh @mesh = <[\"x\"=6, \"y\"=2]>\n"
       "func.func @main(%x: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\":(1)3, "
       "\"y\"}]>}) -> tensor<24xf32> {\n"
       "  %0 = sdy.all_gather [{\"x\":(1)3, \"y\"}] %x out_sharding=<@mesh, [{}]> : "
       "tensor<24xf32>\n"
       "  %1 = sdy.all_slice [{\"x\":(2)3, \"x\":(1)2, \"y\"}] %0 out_sharding=<@mesh, "
       "[{\"x\":(2)3, \"x\":(1)2, \"y\"}]> : tensor<24xf32>\n"
       "  return %1 : tensor<24xf32>\n}\n"},
  };
  (void)state;
  assert_sharded(clash, COUNT_OF(clash));
}

// A value of so many reshards that the first ones of each kind are kept. Some stand in a branch,
// and share within it only; a reshape comes at last, after which all uses are looked through again.
static char *many_reshards(int count, bool reshape) {
  static const char *const kinds[] = {"{\"a\"}, {}", "{}, {\"a\"}", "{\"a\"}, {\"b\"}"};
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, MESH
               "func.func @main(%x: tensor<8x8xf32>, %i: tensor<i32>) -> "
               "tensor<8x8xf32> {\n");
  if (reshape)
    tsr_text_add(&text,
                 "  %s = stablehlo.reshape %x : (tensor<8x8xf32>) -> tensor<64xf32>\n"
                 "  %t = sdy.reshard %s <@mesh, [{\"c\"}]> : tensor<64xf32>\n"
                 "  %u = stablehlo.custom_call @keep(%t) {has_side_effect = true} : "
                 "(tensor<64xf32>) -> tensor<64xf32>\n");
  for (int i = 0; i < count; i++)
    tsr_text_addf(&text,
                  "  %%r%d = sdy.reshard %%x <@mesh, [%s]> : tensor<8x8xf32>\n"
                  "  %%a%d = stablehlo.add %%%s%d, %%r%d : tensor<8x8xf32>\n",
                  i, kinds[i % 3], i, i ? "a" : "r", i ? i - 1 : 0, i);
  tsr_text_addf(&text,
                "  %%c = \"stablehlo.case\"(%%i) ({\n"
                "    %%p = sdy.reshard %%x <@mesh, [{\"a\"}, {}]> : tensor<8x8xf32>\n"
                "    %%q = sdy.reshard %%x <@mesh, [{\"a\"}, {}]> : tensor<8x8xf32>\n"
                "    %%s1 = stablehlo.add %%p, %%q : tensor<8x8xf32>\n"
                "    stablehlo.return %%s1 : tensor<8x8xf32>\n"
                "  }) : (tensor<i32>) -> tensor<8x8xf32>\n"
                "  %%z = stablehlo.add %%c, %%a%d : tensor<8x8xf32>\n"
                "  return %%z : tensor<8x8xf32>\n}\n",
                count - 1);
  assert_ok(tsr_text_check(&text));
  return text.data;
}

static tsr_status count_reshard(tsr_op *op, void *context) {
  int *count = context;
  *count += tsr_op_is(op, TSR_OP_SDY_RESHARD);
  return NULL;
}

static void reshards_of_a_value_with_many_uses_are_shared(void **state) {
  (void)state;
  for (int reshape = 0; reshape < 2; reshape++) {
    char *text = many_reshards(100, reshape);
    tsr_ir *ir = sharded_program(text);
    int count = 0;
    assert_ok(tsr_all_passes_run(ir, "canonicalize", NULL));
    assert_ok(tsr_op_walk(ir->module, count_reshard, &count));
    assert_int_equal(count, 3 + 1 + reshape);
    tsr_ir_destroy(ir);
    free(text);
  }
}

static void unknown_patterns_are_refused(void **state) {
  (void)state;
  assert_refused("canonicalize{enable-patterns=sdy-rehard}", "",
                 "in pass canonicalize: patterns \"sdy-rehard\" of canonicalize are unknown, "
                 "expected sdy-reshard or sdy-collective");
}

static tsr_status read_and_run(void *context) {
  const sharded_case *one = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", one->before, strlen(one->before));
  if (!status) status = tsr_all_passes_run(ir, one->passes, NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void passes_survive_every_failed_allocation(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    sharded_case one = cases[i];
    test_allocation_sweep(read_and_run, &one);
  }
}

SUITE(collective_passes, TEST(passes_change_programs_as_shardy_and_mlir_do),
      TEST(passes_have_names_and_summaries_in_order),
      TEST(parts_that_exclude_each_other_are_gathered_first),
      TEST(reshards_of_a_value_with_many_uses_are_shared), TEST(unknown_patterns_are_refused),
      TEST(passes_survive_every_failed_allocation))
