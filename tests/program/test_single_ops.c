// Single ops that become manual computations.
#include <string.h>

#include "program/pipelines.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

static const sharded_case cases[] = {
    {"sdy-per-instruction-partitioning{filter=dot,add}",
     MESH "func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {\"a\"}]>}, %y: tensor<6x5xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\"}, {}]>}) -> tensor<8x5xf32> {\n"
          "  %0 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\"}, {\"c\"}]>]>} : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>\n"
          "  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\"}, {\"c\"}]>]>} : tensor<8x5xf32>\n"
          "  %2 = stablehlo.negate %1 : tensor<8x5xf32>\n"
          "  return %2 : tensor<8x5xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {\"a\"}]>}, %arg1: tensor<6x5xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\"}, {}]>}) -> tensor<8x5xf32> {\n"
          "  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
          "  %0 = stablehlo.pad %arg1, %cst, low = [0, 0], high = [0, 3], interior = [0, "
          "0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : "
          "(tensor<6x5xf32>, tensor<f32>) -> tensor<6x8xf32>\n"
          "  %1 = sdy.manual_computation(%arg0, %0) in_shardings=[<@mesh, [{\"b\"}, "
          "{\"a\"}]>, <@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, [{\"b\"}, "
          "{\"c\"}]>] manual_axes={\"b\", \"a\", \"c\"} (%arg2: tensor<4x3xf32>, %arg3: "
          "tensor<3x8xf32>) {\n"
          "    %c = stablehlo.constant dense<0> : tensor<i64>\n"
          "    %8 = stablehlo.partition_id : tensor<ui32>\n"
          "    %9 = stablehlo.convert %8 : (tensor<ui32>) -> tensor<i64>\n"
          "    %c_2 = stablehlo.constant dense<[0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, "
          "2, 4, 6]> : tensor<16xi64>\n"
          "    %10 = stablehlo.dynamic_slice %c_2, %9, sizes = [1] : (tensor<16xi64>, "
          "tensor<i64>) -> tensor<1xi64>\n"
          "    %11 = stablehlo.reshape %10 : (tensor<1xi64>) -> tensor<i64>\n"
          "    %12 = stablehlo.dynamic_slice %arg3, %c, %11, sizes = [3, 2] : "
          "(tensor<3x8xf32>, tensor<i64>, tensor<i64>) -> tensor<3x2xf32>\n"
          "    %13 = stablehlo.dot %arg2, %12 : (tensor<4x3xf32>, tensor<3x2xf32>) -> "
          "tensor<4x2xf32>\n"
          "    %14 = \"stablehlo.all_reduce\"(%13) <{channel_handle = "
          "#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, "
          "8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], [7, 15]]> : "
          "tensor<8x2xi64>, use_global_device_ids}> ({\n"
          "    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):\n"
          "      %15 = stablehlo.add %arg4, %arg5 : tensor<f32>\n"
          "      stablehlo.return %15 : tensor<f32>\n"
          "    }) : (tensor<4x2xf32>) -> tensor<4x2xf32>\n"
          "    sdy.return %14 : tensor<4x2xf32>\n"
          "  } : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>\n"
          "  %2 = stablehlo.slice %1 [0:8, 0:5] {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {\"c\"}]>]>} : (tensor<8x8xf32>) "
          "-> tensor<8x5xf32>\n"
          "  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
          "  %3 = stablehlo.pad %2, %cst_0, low = [0, 0], high = [0, 3], interior = [0, "
          "0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, {\"c\"}]>]>} : "
          "(tensor<8x5xf32>, tensor<f32>) -> tensor<8x8xf32>\n"
          "  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
          "  %4 = stablehlo.pad %2, %cst_1, low = [0, 0], high = [0, 3], interior = [0, "
          "0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, {\"c\"}]>]>} : "
          "(tensor<8x5xf32>, tensor<f32>) -> tensor<8x8xf32>\n"
          "  %5 = sdy.manual_computation(%3, %4) in_shardings=[<@mesh, [{\"b\"}, "
          "{\"c\"}]>, <@mesh, [{\"b\"}, {\"c\"}]>] out_shardings=[<@mesh, [{\"b\"}, "
          "{\"c\"}]>] manual_axes={\"b\", \"c\"} (%arg2: tensor<4x2xf32>, %arg3: "
          "tensor<4x2xf32>) {\n"
          "    %8 = stablehlo.add %arg2, %arg3 : tensor<4x2xf32>\n"
          "    sdy.return %8 : tensor<4x2xf32>\n"
          "  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %6 = stablehlo.slice %5 [0:8, 0:5] {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {\"c\"}]>]>} : (tensor<8x8xf32>) "
          "-> tensor<8x5xf32>\n"
          "  %7 = stablehlo.negate %6 : tensor<8x5xf32>\n"
          "  return %7 : tensor<8x5xf32>\n"
          "}\n"},
    {"sdy-per-instruction-partitioning{filter='selectLow=0, selectHigh=0'}",
     MESH "func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {\"a\"}]>}) -> tensor<8xf32> {\n"
          "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across "
          "dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\"}]>]>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>\n"
          "  %1 = sdy.reshard %0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {\"a\"}]>}) -> tensor<8xf32> {\n"
          "  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
          "  %0 = sdy.manual_computation(%arg0, %cst) in_shardings=[<@mesh, [{\"b\"}, "
          "{\"a\"}]>, <@mesh, []>] out_shardings=[<@mesh, [{\"b\"}]>] "
          "manual_axes={\"b\", \"a\"} (%arg1: tensor<4x3xf32>, %arg2: tensor<f32>) {\n"
          "    %2 = stablehlo.reduce(%arg1 init: %arg2) applies stablehlo.maximum across "
          "dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>\n"
          "    %3 = \"stablehlo.all_reduce\"(%2) <{channel_handle = "
          "#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, "
          "8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], [7, 15]]> : "
          "tensor<8x2xi64>, use_global_device_ids}> ({\n"
          "    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):\n"
          "      %4 = stablehlo.maximum %arg3, %arg4 : tensor<f32>\n"
          "      stablehlo.return %4 : tensor<f32>\n"
          "    }) : (tensor<4xf32>) -> tensor<4xf32>\n"
          "    sdy.return %3 : tensor<4xf32>\n"
          "  } : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>\n"
          "  %1 = sdy.reshard %0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-export-pipeline{enable-per-instruction-partitioning,"
     "per-instruction-partitioning-filter=maximum,inline-meshes=false}",
     MESH "func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {\"a\"}]>}) -> tensor<8xf32> {\n"
          "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across "
          "dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\"}]>]>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>\n"
          "  %1 = sdy.reshard %0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {\"a\"}]>}) -> tensor<8xf32> {\n"
          "  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
          "  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across "
          "dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\"}]>]>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>\n"
          "  %1 = sdy.all_reduce {\"a\"} %0 out_sharding=<@mesh, [{\"b\"}]> : "
          "tensor<8xf32>\n"
          "  %2 = sdy.reshard %1 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
          "  %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<8xf32>\n"
          "  return %3 : tensor<8xf32>\n"
          "}\n"},
};

static void chosen_ops_become_manual_computations(void **state) {
  (void)state;
  assert_sharded(cases, COUNT_OF(cases));
}

#define SHARDED "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>}"
#define PASS "sdy-per-instruction-partitioning"
#define BEGIN "in pass " PASS ": "

static const struct {
  const char *passes, *program, *message;
} refused[] = {
    {PASS "{filter=\"selectLow=two\"}", MESH "func.func @main() {\n  return\n}\n",
     BEGIN "filter has \"selectLow=two\", expected a number from 0 on after \"=\""},
    {PASS,
     MESH "func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  return %x : tensor<8xf32>\n}\n"
          "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = call @f(%x) " SHARDED " : (tensor<8xf32>) -> tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n}\n",
     BEGIN "func.call at line 6 is not partitioned alone: it calls a function"},
    {PASS,
     MESH "func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {\n"
          "  %0 = stablehlo.reverse %x, dims = [0] " SHARDED " : tensor<5xf32>\n"
          "  return %0 : tensor<5xf32>\n}\n",
     BEGIN "stablehlo.reverse at line 3 is not partitioned alone: dimension 0 of operand 0 has "
           "size 5, which its axes do not divide, and padding would change the result"},
    {PASS,
     MESH "func.func @main() -> tensor<5xf32> {\n"
          "  %0 = sdy.constant " SHARDED " dense<1.0> : tensor<5xf32>\n"
          "  return %0 : tensor<5xf32>\n}\n",
     BEGIN "sdy.constant at line 3 is not partitioned alone: dimension 0 of result 0 has size 5, "
           "which its axes do not divide, and padding would change the result"},
    {PASS,
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[\"z\"=2]>, "
          "[{\"z\"}]>}) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n}\n",
     BEGIN "stablehlo.negate at line 3 is not partitioned alone: its mesh has no name; "
           "sdy-lift-inlined-meshes gives it one"},
    {PASS,
     MESH "sdy.mesh @other = <[\"z\"=16]>\n"
          "func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@other, [{\"z\"}]>}) "
          "-> tensor<16xf32> {\n"
          "  %0 = stablehlo.negate %x " SHARDED " : tensor<16xf32>\n"
          "  return %0 : tensor<16xf32>\n}\n",
     BEGIN "stablehlo.negate at line 4 is not partitioned alone: its values are on different "
           "meshes"},
    {PASS,
     MESH "func.func @main(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {\n"
          "  %0 = \"stablehlo.case\"(%i) ({\n    stablehlo.return %x : tensor<8xf32>\n  }) " SHARDED
          " : (tensor<i32>) -> tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n}\n",
     BEGIN
     "stablehlo.case at line 3 is not partitioned alone: its regions use values from outside"},
    {PASS,
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}, %t: "
          "!stablehlo.token) -> !stablehlo.token {\n"
          "  %0 = \"stablehlo.outfeed\"(%x, %t) <{outfeed_config = \"\"}> : (tensor<8xf32>, "
          "!stablehlo.token) -> !stablehlo.token\n"
          "  return %0 : !stablehlo.token\n}\n",
     BEGIN "stablehlo.outfeed at line 3 is not partitioned alone: it has a value that is no tensor "
           "of known sizes"},
};

static void what_cannot_be_partitioned_alone_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++)
    assert_refused(refused[i].passes, refused[i].program, refused[i].message);
}

// Ops about shardings are no candidates: the filter names none, so the program stays.
static void ops_about_shardings_are_left_alone(void **state) {
  (void)state;
  static const char program[] = MESH
      "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) -> "
      "tensor<8xf32> {\n"
      "  %0 = sdy.sharding_constraint %arg0 <@mesh, [{\"a\"}]> : tensor<8xf32>\n"
      "  %1 = stablehlo.custom_call @Sharding(%0) : (tensor<8xf32>) -> tensor<8xf32>\n"
      "  %2 = sdy.all_gather [{\"a\"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>\n"
      "  %3 = stablehlo.add %1, %2 : tensor<8xf32>\n"
      "  return %3 : tensor<8xf32>\n}\n";
  const sharded_case same = {PASS, program, program};
  assert_sharded(&same, 1);
}

static tsr_status read_and_partition(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (!status) status = tsr_all_passes_run(ir, PASS, NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void single_ops_survive_every_failed_allocation(void **state) {
  (void)state;
  static char program[] = MESH
      "func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {\n"
      "  %0 = stablehlo.negate %x " SHARDED
      " : tensor<5xf32>\n"
      "  return %0 : tensor<5xf32>\n}\n";
  test_allocation_sweep(read_and_partition, program);
}

SUITE(single_ops, TEST(chosen_ops_become_manual_computations),
      TEST(what_cannot_be_partitioned_alone_is_refused), TEST(ops_about_shardings_are_left_alone),
      TEST(single_ops_survive_every_failed_allocation))
