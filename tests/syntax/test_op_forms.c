// Ops in their forms, each as MLIR prints it.
#include "program_round_trip.h"
#include "support/test.h"

static void elementwise_ops_print_as_they_are_read(void **state) {
  (void)state;
  static const char *const ops[] = {
      "%0 = stablehlo.abs %arg0 : tensor<4xf32>",
      "%0 = stablehlo.abs %arg0 {a.b = 1 : i32} : tensor<4xf32>",
      "%0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>",
      "%0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>",
      "%0 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>",
      "%0 = stablehlo.clamp %arg0, %arg1, %arg0 : tensor<4xf32>",
      "%0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
      "%0 = stablehlo.compare EQ, %arg0, %arg1, TOTALORDER {a} : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xi1>",
      "%0 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>",
      // Operands of other types than the short form has.
      "%0 = stablehlo.complex %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<?xcomplex<f32>>",
      "%0 = stablehlo.select %arg0, %arg1, %arg1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) "
      "-> tensor<?xf32>",
      "%0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>",
      "%0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = "
      "#stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>",
  };
  test_ops_in_function(ops, COUNT_OF(ops));
}

static void ops_that_move_or_contract_print_as_they_are_read(void **state) {
  (void)state;
  static const char *const ops[] = {
      "%0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>",
      "%0 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>",
      "%0 = stablehlo.iota dim = 0 : tensor<4xi32>",
      "%0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<8xf32>",
      "%0 = stablehlo.slice %arg0 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>",
      "%0 = stablehlo.slice %arg0 [1:4] {a = 2 : i64} : (tensor<4xf32>) -> tensor<3xf32>",
      "%0 = stablehlo.reverse %arg0, dims = [0] : tensor<4xf32>",
      "%0 = stablehlo.transpose %arg0, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>",
      "%0 = stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<2x2xf32>",
      "%0 = stablehlo.fft %arg0, type = RFFT, length = [4] : (tensor<4xf32>) -> "
      "tensor<3xcomplex<f32>>",
      "%0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4xf32>) -> tensor<i32>",
      "%0 = stablehlo.einsum %arg0, %arg1, config = \"a,b->ab\" : (tensor<4xf32>, tensor<4xf32>) "
      "-> tensor<4x4xf32>",
      "%0 = stablehlo.dot %arg0, %arg1, precision = [HIGH, DEFAULT] : (tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<f32>",
      "%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<f32>",
      "%0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [] x "
      "[], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
      "window = {stride = [1], pad = [[0, 1]], lhs_dilate = [1], rhs_dilate = [2], reverse = "
      "[false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<4xf32>",
  };
  test_ops_in_function(ops, COUNT_OF(ops));
}

static void other_ops_print_as_they_are_read(void **state) {
  (void)state;
  static const char *const ops[] = {
      "%c = stablehlo.constant dense<1> : tensor<4xi32>",
      "%cst = stablehlo.constant {a = \"b\"} dense<1.000000e+00> : tensor<4xf32>",
      "%0 = stablehlo.create_token : !stablehlo.token",
      "%0 = stablehlo.after_all  : !stablehlo.token",
      "%0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<4xf32>, tensor<4xf32>>",
      "%0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>",
      "stablehlo.optimization_barrier()",
      "stablehlo.custom_call @\"a b\"(%arg0) {backend_config = \"\", has_side_effect = true} : "
      "(tensor<4xf32>) -> ()",
      "%0:2 = stablehlo.custom_call @f() {api_version = 2 : i32} : () -> (tensor<f32>, "
      "tensor<f32>)",
      "%0 = stablehlo.composite \"a.b\" %arg0 {composite_attributes = {n = 1 : i64}, decomposition "
      "= @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>",
      "%0 = builtin.unrealized_conversion_cast %arg0 : tensor<4xf32> to tensor<?xf32>",
      "%0 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>",
      "%0 = chlo.next_after %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>",
      "%values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, "
      "tensor<2xi32>)",
      "%0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 0>} : "
      "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      "%0 = sdy.sharding_constraint %arg0 <@mesh, [{\"x\"}]> : tensor<4xf32>",
      "%0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<4xf32>",
      "sdy.sharding_group %arg0 group_id=3 : tensor<4xf32>",
      "%0 = sdy.all_gather [{\"x\"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<4xf32>",
      "%0 = sdy.all_reduce max {\"x\"} %arg0 out_sharding=<@mesh, [{}]> : tensor<4xf32>",
      "check.expect_eq %arg0, %arg1 : tensor<4xf32>",
      "check.expect_eq_const %arg0, dense<0.000000e+00> : tensor<4xf32>",
      "check.expect_almost_eq %arg0, %arg1, tolerance = 1.000000e-01 : tensor<4xf32>",
      "check.expect_close %arg0, %arg1, max_ulp_difference = 3, min_ulp_difference = 1 : "
      "tensor<4xf32>, tensor<4xf32>",
      "%0 = interpreter.probe %arg0, probe_id = \"p\" : tensor<4xf32>",
      "%0 = \"a.b\"(%arg0) {c = 1 : i32, d} : (tensor<4xf32>) -> i32",
  };
  test_ops_in_function(ops, COUNT_OF(ops));
}

static void defaults_and_generic_forms_print_short(void **state) {
  (void)state;
  static const struct {
    const char *read, *printed;
  } cases[] = {
      {"%0 = stablehlo.cholesky %arg0, lower = false : tensor<4xf32>",
       "%0 = stablehlo.cholesky %arg0 : tensor<4xf32>"},
      {"\"stablehlo.custom_call\"(%arg0) <{api_version = 1 : i32, call_target_name = \"f\", "
       "called_computations = [], has_side_effect = false}> : (tensor<4xf32>) -> ()",
       "stablehlo.custom_call @f(%arg0) : (tensor<4xf32>) -> ()"},
      {"%0 = \"stablehlo.add\"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
       "%0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>"},
      {"%c = stablehlo.constant() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>",
       "%c = stablehlo.constant dense<1> : tensor<i32>"},
      {"\"a.b\"() <{z = 1 : i32}> {a} : () -> ()", "\"a.b\"() {a, z = 1 : i32} : () -> ()"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) test_op_in_function(cases[i].read, cases[i].printed);
}

static void ops_that_do_not_fit_their_form_print_generic(void **state) {
  (void)state;
  static const char *const ops[] = {
      "%0 = \"stablehlo.add\"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>",
      "%0 = \"stablehlo.iota\"() : () -> tensor<4xi32>",
      "%0 = \"stablehlo.iota\"() <{iota_dimension = \"a\"}> : () -> tensor<4xi32>",
      "%0 = \"stablehlo.tuple\"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>",
      ("%0 = \"sdy.propagation_barrier\"(%arg0) <{allowed_direction = 7 : i32}> : (tensor<4xf32>) "
       "-> tensor<4xf32>"),
      "\"stablehlo.reduce\"() <{dimensions = array<i64>}> ({\n    }) : () -> ()",
  };
  test_ops_in_function(ops, COUNT_OF(ops));
}

SUITE(op_forms, TEST(elementwise_ops_print_as_they_are_read),
      TEST(ops_that_move_or_contract_print_as_they_are_read),
      TEST(other_ops_print_as_they_are_read), TEST(defaults_and_generic_forms_print_short),
      TEST(ops_that_do_not_fit_their_form_print_generic))
