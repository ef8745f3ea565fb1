// XLA's older form of sharded programs becomes Shardy's.
#include <string.h>

#include "program/pipelines.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

#define AXIS(name, size) "{name = \"" name "\", size = " size " : i64}"
#define AXES                                                                            \
  "sdy.mesh @mesh = <[\"_axis_0\"=2, \"_axis_1\"=4]> {stablehlo.mesh = {axes = [" AXIS( \
      "_axis_0", "2") ", " AXIS("_axis_1", "4") "]}}\n"

static const sharded_case cases[] = {
    // arguments, results and a constraint; the axes are cut at the borders of all shardings
    {"import-gspmd",
     "func.func @main(%x: tensor<8x8xf32> {mhlo.sharding = \"{devices=[2,1,4]<=[8] "
     "last_tile_dim_replicate}\"}, %y: tensor<8x8xf32> {mhlo.sharding = \"{replicated}\"}) -> "
     "(tensor<8x8xf32> {mhlo.sharding = \"{devices=[4,1,2]<=[2,4]T(1,0) "
     "last_tile_dim_replicate}\"}) {\n"
     "  %0 = stablehlo.add %x, %y : tensor<8x8xf32>\n"
     "  %1 = stablehlo.custom_call @Sharding(%0) {backend_config = \"unspecified_dims=[1]\", "
     "mhlo.sharding = \"{devices=[2,4]<=[8]}\"} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  return %1 : tensor<8x8xf32>\n"
     "}\n",
     AXES "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"_axis_0\"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"_axis_1\"}, "
          "{}]>}) {\n"
          "  %0 = stablehlo.add %x, %y : tensor<8x8xf32>\n"
          "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"_axis_0\"}, {\"_axis_1\", ?}]> : "
          "tensor<8x8xf32>\n"
          "  return %1 : tensor<8x8xf32>\n"
          "}\n"},
    // [4,2] and [2,4] have [2,2,2] in common; a tuple is one sharding for each result
    {"import-gspmd",
     "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
     "  %0:2 = stablehlo.optimization_barrier {mhlo.sharding = \"{{devices=[4,2]<=[8]}, "
     "{devices=[2,4]<=[8]}}\"} %x, %x : tensor<8x8xf32>, tensor<8x8xf32>\n"
     "  return %0#0 : tensor<8x8xf32>\n"
     "}\n",
     "sdy.mesh @mesh = <[\"_axis_0\"=2, \"_axis_1\"=2, \"_axis_2\"=2]> {stablehlo.mesh = {axes = "
     "[" AXIS("_axis_0", "2") ", " AXIS("_axis_1", "2") ", " AXIS(
         "_axis_2",
         "2") "]}}\n"
              "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
              "  %0:2 = stablehlo.optimization_barrier {sdy.sharding = "
              "#sdy.sharding_per_value<[<@mesh, [{\"_axis_0\", \"_axis_1\"}, {\"_axis_2\"}]>, "
              "<@mesh, "
              "[{\"_axis_0\"}, {\"_axis_1\", \"_axis_2\"}]>]>} %x, %x : tensor<8x8xf32>, "
              "tensor<8x8xf32>\n"
              "  return %0#0 : tensor<8x8xf32>\n"
              "}\n"},
    // devices in another order; replicas of a list say nothing about it
    {"import-gspmd",
     "func.func @main(%x: tensor<4x4xf32> {mhlo.sharding = \"{devices=[2,1,2]0,1,2,3 "
     "last_tile_dim_replicate}\"}, %y: tensor<4x4xf32> {mhlo.sharding = "
     "\"{devices=[2,2]0,1,3,2}\"}) -> tensor<4x4xf32> {\n"
     "  return %x : tensor<4x4xf32>\n"
     "}\n",
     "sdy.mesh @mesh = <[\"_axis_0\"=2, \"_axis_1\"=2], device_ids=[0, 1, 3, 2]> {stablehlo.mesh = "
     "{axes = [" AXIS("_axis_0", "2") ", " AXIS(
         "_axis_1",
         "2") "], device_ids = dense<[0, 1, 3, 2]> "
              ": tensor<4xi64>}}\n"
              "func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
              "[{\"_axis_0\"}, "
              "{}]>}, %y: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"_axis_0\"}, "
              "{\"_axis_1\"}]>}) -> tensor<4x4xf32> {\n"
              "  return %x : tensor<4x4xf32>\n"
              "}\n"},
    // one device, unknown, unreduced
    {"import-gspmd",
     "func.func @main(%x: tensor<8xf32> {mhlo.sharding = \"{maximal device=3}\"}, %y: "
     "tensor<8xf32> {mhlo.sharding = \"{unknown}\"}, %z: tensor<8xf32> {mhlo.sharding = "
     "\"{devices=[2,4]<=[8] last_tile_dims={unreduced}}\"}) -> tensor<8xf32> {\n"
     "  return %x : tensor<8xf32>\n"
     "}\n",
     "sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]> {stablehlo.mesh = {axes = [], device_ids = "
     "dense<3> : tensor<1xi64>}}\n" AXES
     "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3, []>}, %y: "
     "tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, %z: tensor<8xf32> {sdy.sharding "
     "= #sdy.sharding<@mesh, [{\"_axis_0\"}], unreduced={\"_axis_1\"}>}) -> tensor<8xf32> {\n"
     "  return %x : tensor<8xf32>\n"
     "}\n"},
    // shard_map over one of two axes; the function is used up
    {"import-gspmd,symbol-dce",
     "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
     "  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = \"unspecified_dims=[0,1]\", "
     "mhlo.sharding = \"{devices=[2,1,4]<=[8] last_tile_dim_replicate}\"} : (tensor<8x8xf32>) -> "
     "tensor<8x8xf32>\n"
     "  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "
     "\"{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}\"} : (tensor<8x8xf32>) -> "
     "tensor<4x8xf32>\n"
     "  %2:2 = call @body(%1) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)\n"
     "  %3 = stablehlo.custom_call @Sharding(%2#1) {mhlo.sharding = \"{devices=[1,1,2,4]<=[8] "
     "last_tile_dims={manual, replicated}}\"} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
     "  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "
     "\"{devices=[2,1,4]<=[8] last_tile_dim_replicate}\"} : (tensor<4x8xf32>) -> "
     "tensor<8x8xf32>\n"
     "  return %4 : tensor<8x8xf32>\n"
     "}\n"
     "func.func private @body(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {\n"
     "  %0 = stablehlo.negate %x : tensor<4x8xf32>\n"
     "  return %x, %0 : tensor<4x8xf32>, tensor<4x8xf32>\n"
     "}\n",
     AXES "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"_axis_0\", ?}, {?}]>] "
          "out_shardings=[<@mesh, [{\"_axis_0\"}, {}]>] manual_axes={\"_axis_0\"} (%y: "
          "tensor<4x8xf32>) {\n"
          "    %1 = stablehlo.negate %y : tensor<4x8xf32>\n"
          "    sdy.return %1 : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"},
    // a program in the newer form is left alone
    {"import-gspmd",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) -> "
          "tensor<8xf32> {\n"
          "  return %x : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) -> "
          "tensor<8xf32> {\n"
          "  return %x : tensor<8xf32>\n"
          "}\n"},
};

static void older_shardings_become_shardys(void **state) {
  (void)state;
  assert_sharded(cases, sizeof cases / sizeof *cases);
}

#define ONE(sharding)                                              \
  "func.func @main(%x: tensor<8xf32> {mhlo.sharding = \"" sharding \
  "\"}) -> tensor<8xf32> {\n"                                      \
  "  return %x : tensor<8xf32>\n"                                  \
  "}\n"

static void what_has_no_counterpart_is_refused(void **state) {
  (void)state;
  assert_refused("import-gspmd", ONE("{devices=[2,2]<=[4]}"),
                 "in pass import-gspmd: a sharding of rank 2 on a value of rank 1");
  assert_refused("import-gspmd",
                 ONE("{devices=[8]<=[8]}") "func.func @g(%x: tensor<8xf32> {mhlo.sharding = "
                                           "\"{devices=[4]<=[4]}\"}) {\n  return\n}\n",
                 "in pass import-gspmd: shardings of 4 and of 8 devices in one program");
  assert_refused("import-gspmd",
                 ONE("{devices=[2,3]<=[6] last_tile_dim_replicate}")
                 "func.func @g(%x: tensor<8xf32> {mhlo.sharding = \"{devices=[3,2]<=[6] "
                 "last_tile_dim_replicate}\"}) {\n  return\n}\n",
                 "in pass import-gspmd: shardings that cut 6 devices into runs of 3 and of 2 have "
                 "no mesh in common");
  assert_refused("import-gspmd", ONE("{devices=[2]5,7}"),
                 "in pass import-gspmd: a sharding of 2 devices with device 5");
  assert_refused(
      "import-gspmd",
      "func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {\n"
      "  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = \"{manual}\"} : "
      "(tensor<8xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n"
      "}\n",
      "in pass import-gspmd: @SPMDFullToShardShape at line 2 stands at no call: bodies of "
      "shard_map are calls of functions");
}

static tsr_status read_and_import(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (!status) status = tsr_all_passes_run(ir, "import-gspmd", NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++)
    test_allocation_sweep(read_and_import, (void *)(uintptr_t)cases[i].before);
}

SUITE(gspmd, TEST(older_shardings_become_shardys), TEST(what_has_no_counterpart_is_refused),
      TEST(every_allocation_may_fail))
