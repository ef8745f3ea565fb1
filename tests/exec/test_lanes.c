// Collectives between the lanes of a manual computation: four lanes in a mesh of 2 x 2, each with a
// 2 x 2 piece of 0 .. 15.
#include <stdio.h>
#include <string.h>

#include "exec/runs.h"

#define CHANNEL "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
#define BODY(op)                                 \
  "({ ^bb0(%p: tensor<i32>, %q: tensor<i32>):\n" \
  "%s = stablehlo." op " %p, %q : tensor<i32>\n stablehlo.return %s : tensor<i32> })"

static const struct {
  const char *op, *type;  // of the result in a lane
  int rows, columns;      // of the whole result
  int32_t wanted[32];
} cases[] = {
    {"\"stablehlo.all_reduce\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> " BODY(
         "add") " : (tensor<2x2xi32>) -> tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {20, 24, 20, 24, 36, 40, 36, 40, 20, 24, 20, 24, 36, 40, 36, 40}},
    {"\"stablehlo.all_reduce\"(%a) <{" CHANNEL
     ", replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = "
     "[#stablehlo.axis_ref<name = \"x\">]>, use_global_device_ids}> " BODY(
         "maximum") " : (tensor<2x2xi32>) -> tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15}},
    // Groups of replicas, and there is one replica: with a channel all partitions are together.
    {"\"stablehlo.all_reduce\"(%a) <{" CHANNEL
     ", replica_groups = dense<0> : tensor<1x1xi64>}> " BODY(
         "minimum") " : (tensor<2x2xi32>) -> tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {0, 1, 0, 1, 4, 5, 4, 5, 0, 1, 0, 1, 4, 5, 4, 5}},
    {"\"stablehlo.all_reduce\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> " BODY(
         "add") " : (tensor<2x2xi32>) -> tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
    {"\"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, " CHANNEL
     ", replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : "
     "(tensor<2x2xi32>) -> tensor<2x4xi32>",
     "2x4",
     4,
     8,
     {2, 3, 0,  1,  2, 3, 0,  1,  6,  7,  4,  5,  6,  7,  4,  5,
      8, 9, 10, 11, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15}},
    {"\"stablehlo.all_to_all\"(%a) <{" CHANNEL
     ", split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, "
     "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2x2xi32>) -> "
     "tensor<1x4xi32>",
     "1x4",
     2,
     8,
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
    {"\"stablehlo.collective_permute\"(%a) <{" CHANNEL
     ", source_target_pairs = dense<[[0, 1], [1, 2], [3, 3]]> : tensor<3x2xi64>}> : "
     "(tensor<2x2xi32>) -> tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {0, 0, 0, 1, 0, 0, 4, 5, 2, 3, 10, 11, 6, 7, 14, 15}},
    {"\"stablehlo.collective_broadcast\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[3, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xi32>) -> "
     "tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {0, 0, 10, 11, 0, 0, 14, 15, 0, 0, 10, 11, 0, 0, 14, 15}},
    {"\"stablehlo.reduce_scatter\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, "
     "use_global_device_ids}> " BODY("add") " : (tensor<2x2xi32>) -> tensor<1x2xi32>",
     "1x2",
     2,
     4,
     {8, 10, 20, 22, 16, 18, 12, 14}},
    {"\"stablehlo.collective_reduce\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}> " BODY(
         "add") " : (tensor<2x2xi32>) -> tensor<2x2xi32>",
     "2x2",
     4,
     4,
     {0, 0, 2, 4, 0, 0, 10, 12, 18, 20, 0, 0, 26, 28, 0, 0}},
};

static const char *program_of(size_t i) {
  static char text[4096];
  const int rows = cases[i].rows, columns = cases[i].columns;
  snprintf(text, sizeof text,
           "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"
           "func.func @main(%%arg0: tensor<4x4xi32>) -> tensor<%dx%dxi32> {\n"
           "  %%0 = sdy.manual_computation(%%arg0) in_shardings=[<@mesh, [{\"x\"}, {\"y\"}]>] "
           "out_shardings=[<@mesh, [{\"x\"}, {\"y\"}]>] manual_axes={\"x\", \"y\"} (%%a: "
           "tensor<2x2xi32>) {\n"
           "  %%r = %s\n"
           "  sdy.return %%r : tensor<%sxi32>\n"
           "  } : (tensor<4x4xi32>) -> tensor<%dx%dxi32>\n"
           "  return %%0 : tensor<%dx%dxi32>\n}\n",
           rows, columns, cases[i].op, cases[i].type, rows, columns, rows, columns);
  return text;
}

static void collectives_exchange_values_of_lanes(void **state) {
  (void)state;
  int32_t in[16];
  for (int i = 0; i < 16; i++) in[i] = i;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    int32_t out[32] = {0};
    run_text(program_of(i), IN(in), OUT_TO(out));
    for (int k = 0; k < cases[i].rows * cases[i].columns; k++)
      if (out[k] != cases[i].wanted[k])
        fail_msg("case %zu: element %d is %d, expected %d", i, k, out[k], cases[i].wanted[k]);
  }
}

static void long_values_are_reduced_in_blocks(void **state) {
  (void)state;
  enum { LENGTH = 5003 };
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=4]>\n"
      "func.func @main(%arg0: tensor<20012xi32>) -> tensor<5003xi32> {\n"
      "  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\"}]>] "
      "out_shardings=[<@mesh, [{}]>] manual_axes={\"x\"} (%a: tensor<5003xi32>) {\n"
      "  %r = \"stablehlo.all_reduce\"(%a) <{" CHANNEL
      ", replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> " BODY(
          "add") " : (tensor<5003xi32>) -> tensor<5003xi32>\n"
      "  sdy.return %r : tensor<5003xi32>\n"
      "  } : (tensor<20012xi32>) -> tensor<5003xi32>\n"
      "  return %0 : tensor<5003xi32>\n}\n";
  static int32_t in[4 * LENGTH], out[LENGTH];
  for (int i = 0; i < 4 * LENGTH; i++) in[i] = i * i;
  run_text(text, IN(in), OUT_TO(out));
  for (int i = 0; i < LENGTH; i++)
    assert_int_equal(out[i], in[i] + in[LENGTH + i] + in[2 * LENGTH + i] + in[3 * LENGTH + i]);
  // Lanes read the argument where it lies, and their common sum is the result.
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  TSR_OWN(executable, executable);
  executable = compile_text(text, 1);
  assert_ok(tsr_executable_describe(executable, &info));
  assert_int_equal(info.temporary_bytes, info.work_bytes);
  assert_int_equal(info.bytes_moved, sizeof in + sizeof out);
}

// A sum of all lanes is one memory, a carry one for each lane.
static void sums_of_all_lanes_are_carried(void **state) {
  (void)state;
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=2]>\n"
      "func.func @main(%arg0: tensor<4xi32>, %arg1: tensor<2xi32>) -> (tensor<4xi32>, tensor<2xi32>) "
      "{\n"
      "  %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{\"x\"}]>, <@mesh, "
      "[{}]>] out_shardings=[<@mesh, [{\"x\"}]>, <@mesh, [{}]>] manual_axes={\"x\"} (%a: "
      "tensor<2xi32>, %b: tensor<2xi32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
      "  %r:3 = stablehlo.while(%i = %zero, %c = %a, %d = %b) : tensor<i32>, tensor<2xi32>, "
      "tensor<2xi32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %s = \"stablehlo.all_reduce\"(%c) <{" CHANNEL
      ", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> " BODY(
          "add") " : (tensor<2xi32>) -> tensor<2xi32>\n"
      "    %e = stablehlo.add %d, %a : tensor<2xi32>\n"
      "    %f = stablehlo.add %e, %b : tensor<2xi32>\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    stablehlo.return %j, %s, %f : tensor<i32>, tensor<2xi32>, tensor<2xi32>\n"
      "  }\n"
      "  %t = \"stablehlo.all_reduce\"(%r#2) <{" CHANNEL
      ", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> " BODY(
          "add") " : (tensor<2xi32>) -> tensor<2xi32>\n"
      "  sdy.return %r#1, %t : tensor<2xi32>, tensor<2xi32>\n"
      "  } : (tensor<4xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<2xi32>)\n"
      "  return %0#0, %0#1 : tensor<4xi32>, tensor<2xi32>\n}\n";
  const int32_t a[4] = {1, 2, 30, 40}, b[2] = {100, 200};
  int32_t sums[4] = {0}, total[2] = {0};
  run_text(text, IN(a, b), OUT_TO(sums, total));
  assert_memory_equal(sums, ((int32_t[]){124, 168, 124, 168}), sizeof sums);
  assert_memory_equal(total, ((int32_t[]){893, 1726}), sizeof total);
}

static void lanes_know_their_device(void **state) {
  (void)state;
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2], device_ids=[3, 1, 0, 2]>\n"
      "func.func @main() -> (tensor<4xui32>, tensor<4xui32>) {\n"
      "  %0:2 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{\"x\", \"y\"}]>, "
      "<@mesh, [{\"x\", \"y\"}]>] manual_axes={\"x\", \"y\"} () {\n"
      "  %p = stablehlo.partition_id : tensor<ui32>\n"
      "  %r = stablehlo.replica_id : tensor<ui32>\n"
      "  %p1 = stablehlo.reshape %p : (tensor<ui32>) -> tensor<1xui32>\n"
      "  %r1 = stablehlo.reshape %r : (tensor<ui32>) -> tensor<1xui32>\n"
      "  sdy.return %p1, %r1 : tensor<1xui32>, tensor<1xui32>\n"
      "  } : () -> (tensor<4xui32>, tensor<4xui32>)\n"
      "  return %0#0, %0#1 : tensor<4xui32>, tensor<4xui32>\n}\n";
  uint32_t partitions[4] = {0}, replicas[4] = {9, 9, 9, 9};
  run_text(text, NULL, OUT_TO(partitions, replicas));
  assert_memory_equal(partitions, ((uint32_t[]){3, 1, 0, 2}), sizeof partitions);
  assert_memory_equal(replicas, ((uint32_t[4]){0}), sizeof replicas);
}

static void one_process_has_groups_of_one(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<ui32>) {\n"
      "  %r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> " BODY(
          "add") " : (tensor<2xi32>) -> tensor<2xi32>\n"
      "  %p = stablehlo.partition_id : tensor<ui32>\n"
      "  return %r, %p : tensor<2xi32>, tensor<ui32>\n}\n";
  const int32_t in[2] = {4, 5};
  int32_t out[2] = {0};
  uint32_t id = 7;
  run_text(text, IN(in), OUT_TO(out, &id));
  assert_memory_equal(out, in, sizeof in);
  assert_int_equal(id, 0);
}

SUITE(lanes, TEST(collectives_exchange_values_of_lanes), TEST(long_values_are_reduced_in_blocks),
      TEST(sums_of_all_lanes_are_carried), TEST(lanes_know_their_device),
      TEST(one_process_has_groups_of_one))
