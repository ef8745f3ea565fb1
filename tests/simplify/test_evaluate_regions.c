// Ops with regions on constants, blocks on their own, limits and memory.
#include "programs.h"
#include "simplify/evaluate.h"
#include <string.h>

#include "support/test.h"

#define M23 "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>"

// clang-format off
static const test_fold regions[] = {
    {"stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>",
     {M23, "dense<100> : tensor<i32>"}, {"dense<[106, 115]> : tensor<2xi32>"}},
    {"stablehlo.reduce(%a init: %b) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>",
     {M23, "dense<-100> : tensor<i32>"}, {"dense<6> : tensor<i32>"}},
    // The largest element and its index.
    {"\"stablehlo.reduce\"(%a, %b, %c, %d) <{dimensions = array<i64: 0>}> ({\n"
     "^bb0(%x: tensor<f32>, %i: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>):\n"
     "  %p = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "  %v = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>\n"
     "  %k = stablehlo.select %p, %i, %j : tensor<i1>, tensor<i32>\n"
     "  stablehlo.return %v, %k : tensor<f32>, tensor<i32>\n"
     "}) : (tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)",
     {"dense<[1.0, 7.0, 3.0]> : tensor<3xf32>", "dense<[0, 1, 2]> : tensor<3xi32>", "dense<0xFF800000> : tensor<f32>", "dense<-1> : tensor<i32>"},
     {"dense<7.0> : tensor<f32>", "dense<1> : tensor<i32>"}},
    {"\"stablehlo.sort\"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):\n"
     "  %p = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "  stablehlo.return %p : tensor<i1>\n}) : (tensor<5xi32>, tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>)",
     {"dense<[3, 1, 2, 1, 0]> : tensor<5xi32>", "dense<[0, 1, 2, 3, 4]> : tensor<5xi32>"},
     {"dense<[0, 1, 1, 2, 3]> : tensor<5xi32>", "dense<[4, 1, 3, 2, 0]> : tensor<5xi32>"}},
    {"\"stablehlo.map\"(%a) <{dimensions = array<i64: 0, 1>}> ({\n^bb0(%x: tensor<i32>):\n"
     "  %s = stablehlo.multiply %x, %x : tensor<i32>\n  stablehlo.return %s : tensor<i32>\n}) : (tensor<2x3xi32>) -> tensor<2x3xi32>",
     {M23}, {"dense<[[1, 4, 9], [16, 25, 36]]> : tensor<2x3xi32>"}},
    {"stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x2xi32>",
     {M23}, {"dense<[[14, 32], [32, 77]]> : tensor<2x2xi32>"}},
    {"stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2xi32>",
     {M23}, {"dense<[14, 77]> : tensor<2xi32>"}},
    // Sums of two neighbours two apart, one cell of padding before.
    {"\"stablehlo.reduce_window\"(%a, %b) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 2>, "
     "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     "  %s = stablehlo.add %x, %y : tensor<i32>\n  stablehlo.return %s : tensor<i32>\n}) : (tensor<6xi32>, tensor<i32>) -> tensor<3xi32>",
     {"dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>", "dense<0> : tensor<i32>"}, {"dense<[2, 6, 10]> : tensor<3xi32>"}},
    // 10 factorial, and how far it got.
    {"stablehlo.while(%i = %a, %p = %b) : tensor<i32>, tensor<i32>\n cond {\n"
     "  %n = stablehlo.constant dense<10> : tensor<i32>\n"
     "  %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "  stablehlo.return %t : tensor<i1>\n} do {\n"
     "  %one = stablehlo.constant dense<1> : tensor<i32>\n  %j = stablehlo.add %i, %one : tensor<i32>\n"
     "  %q = stablehlo.multiply %p, %j : tensor<i32>\n  stablehlo.return %j, %q : tensor<i32>, tensor<i32>\n}",
     {"dense<0> : tensor<i32>", "dense<1> : tensor<i32>"}, {"dense<10> : tensor<i32>", "dense<3628800> : tensor<i32>"}},
    // A loop without end stays.
    {"stablehlo.while(%i = %a) : tensor<i32>\n cond {\n  %t = stablehlo.constant dense<true> : tensor<i1>\n"
     "  stablehlo.return %t : tensor<i1>\n} do {\n  stablehlo.return %i : tensor<i32>\n}",
     {"dense<0> : tensor<i32>"}, {0}},
    {"\"stablehlo.case\"(%a) ({\n  stablehlo.return %b : tensor<i32>\n}, {\n  stablehlo.return %c : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>",
     {"dense<-3> : tensor<i32>", "dense<1> : tensor<i32>", "dense<2> : tensor<i32>"}, {"dense<2> : tensor<i32>"}},
    {"\"stablehlo.if\"(%a) ({\n  stablehlo.return %b : tensor<i32>\n}, {\n  stablehlo.return %c : tensor<i32>\n}) : (tensor<i1>) -> tensor<i32>",
     {"dense<true> : tensor<i1>", "dense<1> : tensor<i32>", "dense<2> : tensor<i32>"}, {"dense<1> : tensor<i32>"}},
};
// clang-format on

static void regions_run_on_scalars(void **state) {
  (void)state;
  assert_folds(regions, COUNT_OF(regions));
}

static const char reducer[] =
    "func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {\n"
    "  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
    "  %s = stablehlo.multiply %x, %c : tensor<f32>\n"
    "  %r = stablehlo.subtract %s, %y : tensor<f32>\n"
    "  return %r : tensor<f32>\n}\n";

static void blocks_run_on_arguments(void **state) {
  (void)state;
  tsr_ir *ir = test_program(reducer);
  const tsr_type *type = tsr_type_shaped(ir, TSR_F32, 0, NULL);
  const float x = 5, y = 3;
  const tsr_attr *arguments[] = {tsr_attr_dense(ir, type, &x, sizeof x),
                                 tsr_attr_dense(ir, type, &y, sizeof y)};
  const tsr_attr *result = NULL;
  bool known = false;
  assert_ok(
      tsr_evaluate_block(ir, tsr_func_body(tsr_ir_entry(ir)), arguments, NULL, &known, &result));
  assert_true(known);
  float value = 0;
  memcpy(&value, result->bytes, sizeof value);
  assert_true(value == 7);
  tsr_ir_destroy(ir);
}

static const char sum[] =
    "func.func @main() -> tensor<i32> {\n"
    "  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0] : "
    "(tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
    "  return %r : tensor<i32>\n}\n";

static tsr_status evaluate_sum(tsr_ir *ir, const tsr_evaluate_limits *limits, bool *out_known) {
  tsr_op *end = tsr_block_terminator(tsr_func_body(tsr_ir_entry(ir)));
  tsr_op *op = tsr_op_operand(end, 0)->def;
  const tsr_attr *operands[] = {tsr_value_constant(tsr_op_operand(op, 0)),
                                tsr_value_constant(tsr_op_operand(op, 1))};
  const tsr_attr *result = NULL;
  return tsr_evaluate_op(ir, op, operands, limits, out_known, &result);
}

static void steps_are_bounded_and_counted(void **state) {
  (void)state;
  tsr_ir *ir = test_program(sum);
  bool known = true;
  assert_ok(evaluate_sum(ir, &(tsr_evaluate_limits){.steps = 3}, &known));
  assert_false(known);
  int64_t budget = 7;
  const tsr_evaluate_limits limits = {.budget = &budget};
  assert_ok(evaluate_sum(ir, &limits, &known));
  assert_true(known);
  assert_int_equal(budget, 3);
  assert_ok(evaluate_sum(ir, &limits, &known));
  assert_false(known);
  tsr_ir_destroy(ir);
}

static tsr_status evaluate_again(void *context) {
  bool known = false;
  return evaluate_sum(context, NULL, &known);
}

static void evaluations_survive_every_failed_allocation(void **state) {
  (void)state;
  tsr_ir *ir = test_program(sum);
  test_allocation_sweep(evaluate_again, ir);
  tsr_ir_destroy(ir);
}

SUITE(evaluate_regions, TEST(regions_run_on_scalars), TEST(blocks_run_on_arguments),
      TEST(steps_are_bounded_and_counted), TEST(evaluations_survive_every_failed_allocation))
