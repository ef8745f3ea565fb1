// Which lanes hold the same bits: four lanes in a mesh of 2 x 2, whose body returns one value. The
// arguments are %a, cut along both axes, %x, cut along "x", %y, cut along "y", and %r, replicated.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lanes/lane_flow.h"
#include "support/sharded_programs.h"

#define GROUPS(groups, type)                                           \
  "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, " \
  "replica_groups = dense<" groups "> : tensor<" type "xi64>, use_global_device_ids"
#define CHANNEL "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
#define SUM                                      \
  "({ ^bb0(%p: tensor<i32>, %q: tensor<i32>):\n" \
  "%s = stablehlo.add %p, %q : tensor<i32>\n stablehlo.return %s : tensor<i32> })"
#define SAME " : (tensor<2xi32>) -> tensor<2xi32>\n"
#define RETURN "sdy.return %v : tensor<2xi32>\n"
#define TABLE "%table = stablehlo.constant dense<[5, 7, 5, 9]> : tensor<4xi32>\n"
#define LOOK_UP                                                                                \
  "%id = stablehlo.partition_id : tensor<ui32>\n"                                              \
  "%at = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n" TABLE                        \
  "%row = stablehlo.dynamic_slice %table, %at, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> " \
  "tensor<1xi32>\n"                                                                            \
  "%n = stablehlo.reshape %row : (tensor<1xi32>) -> tensor<i32>\n"
#define SPREAD "%v = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<2xi32>\n"

static const struct {
  const char *name, *body, *classes;
} cases[] = {
    {"an argument", "sdy.return %x : tensor<2xi32>\n", "0011"},
    {"a replicated argument", "sdy.return %r : tensor<2xi32>\n", "0000"},
    {"a constant", "%v = stablehlo.constant dense<3> : tensor<2xi32>\n" RETURN, "0000"},
    {"the meet of two", "%v = stablehlo.add %x, %y : tensor<2xi32>\n" RETURN, "0123"},
    {"one with a replicated", "%v = stablehlo.add %y, %r : tensor<2xi32>\n" RETURN, "0101"},
    {"a sum over all",
     "%v = \"stablehlo.all_reduce\"(%a) <{" GROUPS("[[0, 1, 2, 3]]", "1x4") "}> " SUM SAME RETURN,
     "0000"},
    {"a sum along y",
     "%v = \"stablehlo.all_reduce\"(%a) <{" GROUPS("[[0, 1], [2, 3]]", "2x2") "}> " SUM SAME RETURN,
     "0011"},
    {"a sum along y of what is the same along x",
     "%v = \"stablehlo.all_reduce\"(%y) <{" GROUPS("[[0, 1], [2, 3]]", "2x2") "}> " SUM SAME RETURN,
     "0000"},
    {"a sum of the same values in another order",
     "%v = \"stablehlo.all_reduce\"(%y) <{" GROUPS("[[0, 1], [3, 2]]", "2x2") "}> " SUM SAME RETURN,
     "0011"},
    {"lanes in no group",
     "%v = \"stablehlo.collective_broadcast\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[3, 1]]> : tensor<1x2xi64>}>" SAME RETURN,
     "0101"},
    {"a broadcast",
     "%v = \"stablehlo.collective_broadcast\"(%x) <{" CHANNEL
     ", replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>}>" SAME RETURN,
     "0101"},
    {"a reduction to a root",
     "%v = \"stablehlo.collective_reduce\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}> " SUM SAME RETURN,
     "0120"},
    {"a permutation",
     "%v = \"stablehlo.collective_permute\"(%x) <{" CHANNEL
     ", source_target_pairs = dense<[[0, 1], [2, 3], [3, 2]]> : tensor<3x2xi64>}>" SAME RETURN,
     "0122"},
    {"parts of a sum",
     "%v = \"stablehlo.all_gather\"(%h) <{all_gather_dim = 0 : i64, " GROUPS(
         "[[0, 2], [1, 3]]", "2x2") "}> : (tensor<1xi32>) -> tensor<2xi32>\n" RETURN,
     "0101"},
    {"scattered sums",
     "%w = \"stablehlo.reduce_scatter\"(%x) <{" GROUPS(
         "[[0, 2], [1, 3]]",
         "2x2") ", scatter_dimension = 0 : i64}> " SUM " : (tensor<2xi32>) -> tensor<1xi32>\n"
                "%v = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<1xi32>) -> "
                "tensor<2xi32>\n" RETURN,
     "0011"},
    {"an exchange of what is the same",
     "%v = \"stablehlo.all_to_all\"(%r) <{" CHANNEL
     ", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, "
     "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}>" SAME RETURN,
     "0101"},
    {"numbers of devices differ", LOOK_UP SPREAD RETURN, "0102"},
    {"numbers that come out the same",
     LOOK_UP
     "%two = stablehlo.constant dense<2> : tensor<i32>\n"
     "%odd = stablehlo.remainder %n, %two : tensor<i32>\n"
     "%v = stablehlo.broadcast_in_dim %odd, dims = [] : (tensor<i32>) -> tensor<2xi32>\n" RETURN,
     "0000"},
    {"random numbers of each device",
     "%low = stablehlo.constant dense<0> : tensor<i32>\n"
     "%high = stablehlo.constant dense<9> : tensor<i32>\n"
     "%shape = stablehlo.constant dense<2> : tensor<1xi64>\n"
     "%v = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, "
     "tensor<1xi64>) -> tensor<2xi32>\n" RETURN,
     "0123"},
    {"a branch by a value that differs",
     "%pick = stablehlo.reshape %h : (tensor<1xi32>) -> tensor<i32>\n"
     "%v = \"stablehlo.case\"(%pick) ({\n stablehlo.return %x : tensor<2xi32>\n}, {\n"
     " stablehlo.return %r : tensor<2xi32>\n}) : (tensor<i32>) -> tensor<2xi32>\n" RETURN,
     "0123"},
    {"a branch all lanes take",
     "%pick = stablehlo.slice %r [0:1] : (tensor<2xi32>) -> tensor<1xi32>\n"
     "%at = stablehlo.reshape %pick : (tensor<1xi32>) -> tensor<i32>\n"
     "%v = \"stablehlo.case\"(%at) ({\n stablehlo.return %x : tensor<2xi32>\n}, {\n"
     " stablehlo.return %r : tensor<2xi32>\n}) : (tensor<i32>) -> tensor<2xi32>\n" RETURN,
     "0011"},
    {"carries that mix after two rounds",
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%w:4 = stablehlo.while(%i = %zero, %p = %r, %q = %r, %s = %y) : tensor<i32>, tensor<2xi32>, "
     "tensor<2xi32>, tensor<2xi32>\n"
     "cond {\n %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     " stablehlo.return %c : tensor<i1>\n} do {\n"
     " %j = stablehlo.add %i, %one : tensor<i32>\n"
     " %u = stablehlo.add %q, %r : tensor<2xi32>\n %t = stablehlo.add %s, %r : tensor<2xi32>\n"
     " stablehlo.return %j, %u, %t, %s : tensor<i32>, tensor<2xi32>, tensor<2xi32>, "
     "tensor<2xi32>\n}\n"
     "sdy.return %w#1 : tensor<2xi32>\n",
     "0101"},
    {"a loop whose rounds differ",
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%some = stablehlo.reshape %h : (tensor<1xi32>) -> tensor<i32>\n"
     "%w:2 = stablehlo.while(%i = %zero, %p = %r) : tensor<i32>, tensor<2xi32>\n"
     "cond {\n %c = stablehlo.compare LT, %i, %some : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     " stablehlo.return %c : tensor<i1>\n} do {\n"
     " %j = stablehlo.add %i, %one : tensor<i32>\n %u = stablehlo.add %p, %p : tensor<2xi32>\n"
     " stablehlo.return %j, %u : tensor<i32>, tensor<2xi32>\n}\n"
     "sdy.return %w#1 : tensor<2xi32>\n",
     "0123"},
};

static const char *program_of(size_t i) {
  static char text[8192];
  snprintf(text, sizeof text,
           "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"
           "func.func @main(%%A: tensor<8xi32>, %%X: tensor<4xi32>, %%Y: tensor<4xi32>, %%R: "
           "tensor<2xi32>, %%H: tensor<4xi32>) -> tensor<8xi32> {\n"
           "  %%0 = sdy.manual_computation(%%A, %%X, %%Y, %%R, %%H) in_shardings=[<@mesh, [{\"x\", "
           "\"y\"}]>, <@mesh, [{\"x\"}]>, <@mesh, [{\"y\"}]>, <@mesh, [{}]>, <@mesh, [{\"x\", "
           "\"y\"}]>] out_shardings=[<@mesh, [{\"x\", \"y\"}]>] manual_axes={\"x\", \"y\"} (%%a: "
           "tensor<2xi32>, %%x: tensor<2xi32>, %%y: tensor<2xi32>, %%r: tensor<2xi32>, %%h: "
           "tensor<1xi32>) {\n%s"
           "  } : (tensor<8xi32>, tensor<4xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>) -> "
           "tensor<8xi32>\n"
           "  return %%0 : tensor<8xi32>\n}\n",
           cases[i].body);
  return text;
}

// The classes of what the body of the first op returns, a digit for each lane.
static void flow_of(tsr_ir *ir, char *out) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_class_table table = {.arena = &arena};
  tsr_manual manual;
  tsr_lane_flow *flow = NULL;
  tsr_op *op = tsr_func_body(tsr_ir_entry(ir))->first;
  tsr_ir_block *body = op->regions[0].first;
  assert_null(tsr_manual_open(ir, &arena, op, NULL, &manual));
  const tsr_lane_classes *arguments[8] = {NULL};
  for (int i = 0; i < op->operand_count; i++) {
    const int64_t *starts = NULL;
    assert_null(tsr_manual_pieces(&arena, op, &manual, i, false, tsr_operand_type(op, i),
                                  body->args[i]->type, &starts));
    assert_null(tsr_classes_of_keys(&table, manual.lanes, starts, &arguments[i]));
  }
  assert_null(tsr_lane_flow_make(ir, &table, &manual, body, arguments, &flow));
  const tsr_lane_classes *classes =
      tsr_lane_flow_classes(flow, tsr_op_operand(tsr_block_terminator(body), 0));
  for (int lane = 0; lane < manual.lanes; lane++)
    out[lane] = (char)('0' + tsr_class_of(classes, lane));
  out[manual.lanes] = '\0';
  tsr_arena_deinit(&arena);
}

static void lanes_are_together_where_their_values_are_the_same(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char classes[8];
    tsr_ir *ir = sharded_program(program_of(i));
    flow_of(ir, classes);
    if (strcmp(classes, cases[i].classes) != 0)
      fail_msg("%s: the classes are %s, expected %s", cases[i].name, classes, cases[i].classes);
    tsr_ir_destroy(ir);
  }
}

// What depends on the device only is no op any more.
static void known_values_become_arguments(void **state) {
  (void)state;
  size_t i = 0;
  while (strcmp(cases[i].name, "numbers of devices differ") != 0) i++;
  tsr_ir *ir = sharded_program(program_of(i));
  char classes[8];
  flow_of(ir, classes);
  const tsr_ir_block *body = tsr_func_body(tsr_ir_entry(ir))->first->regions[0].first;
  for (const tsr_op *op = body->first; op; op = op->next)
    assert_true(op->info->id != TSR_OP_PARTITION_ID && op->info->id != TSR_OP_DYNAMIC_SLICE);
  assert_int_equal(body->arg_count, 6);
  tsr_ir_destroy(ir);
}

int suite_lane_flow(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_are_together_where_their_values_are_the_same),
      cmocka_unit_test(known_values_become_arguments),
  };
  return cmocka_run_group_tests_name("lane flow", tests, NULL, NULL);
}
