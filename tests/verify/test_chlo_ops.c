// CHLO: elementwise ops, broadcasts, top_k, scan, ragged_dot.
#include "op_cases.h"

static const body_case elementwise_cases[] = {
    {"", "%a: tensor<2xi32>", "%r = chlo.erf %a : tensor<2xi32> -> tensor<2xi32>",
     "chlo.erf: operand 0 is tensor<2xi32>, expected tensor of float"},
    {"", "%a: tensor<2xf32>", "%r = chlo.erf %a : tensor<2xf32> -> tensor<3xf32>",
     "chlo.erf: result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"", "%a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = chlo.next_after %a, %b : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>",
     "chlo.next_after: operands 0 and 1 are tensor<2xf32> and tensor<3xf32>, expected compatible "
     "types"},
    {"", "%a: tensor<2xf32>", "%r = chlo.is_inf %a : tensor<2xf32> -> tensor<2xf32>",
     "chlo.is_inf: result 0 is tensor<2xf32>, expected tensor of boolean"},
    {"", "%a: tensor<*xf32>", "%r = chlo.erf %a : tensor<*xf32> -> tensor<*xf32>", ""},
    {"", "%a: tensor<2x1xf32>, %b: tensor<3xf64>",
     "%r = chlo.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<3xf64>) -> tensor<2x3xf32>",
     "chlo.broadcast_add: operand 1 is tensor<3xf64>, expected the elements of tensor<2x1xf32>"},
    {"", "%a: tensor<2x1xf32>, %b: tensor<3xf32>",
     "%r = chlo.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x4xf32>",
     "chlo.broadcast_add: result 0 is tensor<2x4xf32>, expected tensor<2x3xf32>"},
    {"", "%a: tensor<2x1xf32>, %b: tensor<3xf32>",
     "%r = chlo.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>", ""},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"chlo.constant_like\"(%a) <{value = 1 : i32}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "chlo.constant_like: result 0 is tensor<2x4xf32>, expected tensor<2x4xi32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"chlo.constant_like\"(%a) <{value = 1.000000e+00 : f32}> : (tensor<2x4xf32>) -> "
     "tensor<2x4xf32>",
     ""},
    {"", "%a: tensor<f32>",
     "%r:2 = chlo.top_k(%a, k = 1) : tensor<f32> -> (tensor<1xf32>, tensor<1xi32>)",
     "chlo.top_k: operand is tensor<f32>, expected rank 1 or more"},
    {"", "%a: tensor<2x4xf32>",
     "%r:2 = chlo.top_k(%a, k = 5) : tensor<2x4xf32> -> (tensor<2x5xf32>, tensor<2x5xi32>)",
     "chlo.top_k: operand is tensor<2x4xf32>, expected a last size of 5 or more"},
    {"", "%a: tensor<2x4xf32>",
     "%r:2 = chlo.top_k(%a, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi64>)",
     "chlo.top_k: result 1 is tensor<2x3xi64>, expected tensor<2x3xi32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r:2 = chlo.top_k(%a, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)", ""},
};

static void elementwise_ops_have_one_shape(void **state) {
  (void)state;
  check_body_cases(elementwise_cases, COUNT_OF(elementwise_cases));
}

static const body_case scan_cases[] = {
    {"", "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
     "%r:2 = chlo.scan (%a) inits (%b) dimension=2 {\n"
     "^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>):\n"
     "%s = stablehlo.add %x, %c : tensor<3xf32>\n"
     "stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>\n"
     "} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
     "chlo.scan: dimension is 2, expected less than the rank of operand 0, tensor<2x3xf32>"},
    {"", "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
     "%r:2 = chlo.scan (%a) inits (%b) dimension=0 attributes {scan_dim_size = 3 : i64} {\n"
     "^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>):\n"
     "%s = stablehlo.add %x, %c : tensor<3xf32>\n"
     "stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>\n"
     "} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
     "chlo.scan: operand 0 is tensor<2x3xf32>, expected the size 3 at dimension 0"},
    {"", "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
     "%r:2 = chlo.scan (%a) inits (%b) dimension=0 {\n"
     "^bb0(%x: tensor<3xf32>):\n"
     "stablehlo.return %x, %x : tensor<3xf32>, tensor<3xf32>\n"
     "} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
     "chlo.scan: the body has 1 arguments, expected 2 as there are operands"},
    {"", "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
     "%r:2 = chlo.scan (%a) inits (%b) dimension=0 {\n"
     "^bb0(%x: tensor<2xf32>, %c: tensor<3xf32>):\n"
     "stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>\n"
     "} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
     "chlo.scan: argument 0 of the body is tensor<2xf32>, expected tensor<3xf32>"},
    {"", "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
     "%r:2 = chlo.scan (%a) inits (%b) dimension=0 {\n"
     "^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>):\n"
     "%s = stablehlo.add %x, %c : tensor<3xf32>\n"
     "stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>\n"
     "} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)",
     "chlo.scan: result 0 is tensor<3x3xf32>, expected tensor<2x3xf32>"},
    {"", "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
     "%r:2 = chlo.scan (%a) inits (%b) dimension=0 {\n"
     "^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>):\n"
     "%s = stablehlo.add %x, %c : tensor<3xf32>\n"
     "stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>\n"
     "} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
     ""},
};

static void scans_take_off_one_dimension(void **state) {
  (void)state;
  check_body_cases(scan_cases, COUNT_OF(scan_cases));
}

static const body_case ragged_dot_cases[] = {
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x2x7xf32>, %g: tensor<3xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, "
     "tensor<3x2x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>",
     "chlo.ragged_dot: contracting dimensions have the sizes 5 and 2, expected equal"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3x2xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<3x2xi64>) -> tensor<11x7xf32>",
     "chlo.ragged_dot: group_sizes is tensor<3x2xi64>, expected the sizes [] before the groups"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<2xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<2xi64>) -> tensor<11x7xf32>",
     "chlo.ragged_dot: the group dimension of rhs has size 3, expected 2"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0, 1], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>",
     "chlo.ragged_dot: lhs_ragged_dimensions is [0, 1], expected one"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = []>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>",
     "chlo.ragged_dot: rhs_group_dimensions is [], expected 1 of them"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>",
     "chlo.ragged_dot: dimensions are [1] and [1], expected each once"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x8xf32>",
     "chlo.ragged_dot: result 0 is tensor<11x8xf32>, expected tensor<11x7xf32>"},
    {"", "%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>",
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, "
     "tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>",
     ""},
};

static void ragged_dots_have_groups_of_the_ragged_dimension(void **state) {
  (void)state;
  check_body_cases(ragged_dot_cases, COUNT_OF(ragged_dot_cases));
}

static const body_case broadcast_cases[] = {
    {"", "%a: tensor<2xf32>", "%r = chlo.is_inf %a : tensor<2xf32> -> tensor<2xi1>", ""},
    {"", "%a: tensor<2xf32>", "%r = chlo.is_inf %a : tensor<2xf32> -> tensor<3xi1>",
     "chlo.is_inf: result 0 is tensor<3xi1>, expected tensor<2xi1>"},
    // Unknown sizes give way to known ones; sizes that do not fit give a result without a rank.
    {"", "%a: tensor<?x4xf32>, %b: tensor<2x4xf32>",
     "%r = chlo.broadcast_add %a, %b : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<2x5xf32>",
     "chlo.broadcast_add: result 0 is tensor<2x5xf32>, expected tensor<2x4xf32>"},
    {"", "%a: tensor<2x?xf32>, %b: tensor<?xf32>",
     "%r = chlo.broadcast_add %a, %b : (tensor<2x?xf32>, tensor<?xf32>) -> tensor<3x?xf32>",
     "chlo.broadcast_add: result 0 is tensor<3x?xf32>, expected tensor<2x?xf32>"},
    {"", "%a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = chlo.broadcast_add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>", ""},
    {"", "%a: tensor<2xf32>, %b: tensor<2x3xf32>",
     "%r = \"chlo.broadcast_add\"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : "
     "(tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>",
     "chlo.broadcast_add: result 0 is tensor<2x4xf32>, expected tensor<2x3xf32>"},
    {"", "%a: tensor<2x3xf32>, %b: tensor<2xf32>",
     "%r = \"chlo.broadcast_add\"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : "
     "(tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>",
     ""},
    {"", "%a: tensor<2x3xf32>, %b: tensor<2xf32>",
     "%r = \"chlo.broadcast_add\"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : "
     "(tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>",
     ""},
    // Bounds: that of all operands which do not spread.
    {"", "%a: tensor<?xf32, #stablehlo.bounds<4>>, %b: tensor<?xf32, #stablehlo.bounds<4>>",
     "%r = chlo.broadcast_add %a, %b : (tensor<?xf32, #stablehlo.bounds<4>>, "
     "tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>",
     "chlo.broadcast_add: result 0 is tensor<5xf32>, expected tensor<?xf32, "
     "#stablehlo.bounds<4>>"},
    {"", "%a: tensor<2x1xf32>, %b: tensor<3xf32>",
     "%r = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>} : "
     "(tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x4xi1>",
     "chlo.broadcast_compare: result 0 is tensor<2x4xi1>, expected tensor<2x3xi1>"},
    {"", "%a: tensor<2x1xf32>, %b: tensor<3xf32>",
     "%r = chlo.broadcast_complex %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> "
     "tensor<2x4xcomplex<f32>>",
     "chlo.broadcast_complex: result 0 is tensor<2x4xcomplex<f32>>, expected "
     "tensor<2x3xcomplex<f32>>"},
    {"", "%p: tensor<2x1xi1>, %a: tensor<3xf32>, %b: tensor<f32>",
     "%r = chlo.broadcast_select %p, %a, %b : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> "
     "tensor<3xf32>",
     "chlo.broadcast_select: result 0 is tensor<3xf32>, expected tensor<2x3xf32>"},
    {"", "%p: tensor<2x1xi1>, %a: tensor<3xf32>, %b: tensor<f64>",
     "%r = chlo.broadcast_select %p, %a, %b : (tensor<2x1xi1>, tensor<3xf32>, tensor<f64>) -> "
     "tensor<2x3xf32>",
     "chlo.broadcast_select: operand 2 is tensor<f64>, expected the elements of tensor<3xf32>"},
    {"", "%a: tensor<*xf32>",
     "%r:2 = chlo.top_k(%a, k = 3) : tensor<*xf32> -> (tensor<*xf32>, tensor<*xi32>)", ""},
};

static void broadcasts_have_the_joined_shape(void **state) {
  (void)state;
  check_body_cases(broadcast_cases, COUNT_OF(broadcast_cases));
}

SUITE(chlo_ops, TEST(elementwise_ops_have_one_shape), TEST(broadcasts_have_the_joined_shape),
      TEST(scans_take_off_one_dimension), TEST(ragged_dots_have_groups_of_the_ragged_dimension))
