// reduce, map and sort: dimensions and regions.
#include "op_cases.h"

static const op_case cases[] = {
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
     ""},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f64") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf64>",
     ""},
    {"reduce(%a, %b, %c, %d) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C1) inputs 0 and 1 are tensor<4x6xf32> and tensor<4x5xf32>, expected one "
     "shape"},
    {"reduce(%a, %b, %c) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C3) has 3 operands, expected inputs and as many initial values"},
    {"reduce() <{dimensions = array<i64>}> " SUM("f32") " : () -> ()",
     "stablehlo.reduce: (C3) has 0 operands, expected inputs and as many initial values"},
    {"reduce(%a, %b) <{dimensions = array<i64: 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C4) dimensions is [2], expected dimensions of 0 to 1"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1, 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C5) dimensions is [1, 1], expected unique dimensions"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<i32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C2) an input is tensor<4x6xf32> and its initial value is tensor<i32>, "
     "expected one kind of elements"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "i32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C6) result 0 of region 0 is tensor<i32>, to which the initial value "
     "tensor<f32> cannot be promoted"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> ({ ^bb0(%x0: tensor<f32>): stablehlo.return "
     "%x0 : tensor<f32> }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
     "stablehlo.reduce: (C6) region 0 takes 1 arguments, expected 2"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>): "
     "stablehlo.return %x0, %x1 : tensor<f32>, tensor<f32> }) : (tensor<4x6xf32>, tensor<f32>) -> "
     "tensor<4xf32>",
     "stablehlo.reduce: (C6) region 0 returns 2 values, expected 1"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>): "
     "\"stablehlo.tanh\"(%x0) : (tensor<f32>) -> tensor<f32> }) : (tensor<4x6xf32>, tensor<f32>) "
     "-> tensor<4xf32>",
     "stablehlo.reduce: a block ends with stablehlo.tanh, expected stablehlo.return"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> ({}) : (tensor<4x6xf32>, tensor<f32>) -> "
     "tensor<4xf32>",
     "stablehlo.reduce: region 0 has 0 blocks, expected 1"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>",
     "stablehlo.reduce: (C7) result 0 is tensor<6xf32>, expected tensor<4xf32>"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf16>",
     "stablehlo.reduce: (C8) result 0 is tensor<4xf16>, expected tensor<4xf32>"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x!quant.uniform<i8:f32:0, {1.0, 1.0, 1.0, 1.0}>>, tensor<f32>) -> "
                "tensor<4xf32>",
     "stablehlo.reduce: (I1) operand 0 is tensor<4x!quant.uniform<i8:f32:0, "
     "{1.000000e+00,1.000000e+00,1.000000e+00,1.000000e+00}>>, expected tensor of boolean, "
     "integer, float, complex or per-tensor quantised"},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<f32>) -> tensor<?xf32, "
                "#stablehlo.bounds<4>>",
     ""},
    {"reduce(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<f32>) -> tensor<5xf32>",
     "stablehlo.reduce: (C7) result 0 is tensor<5xf32>, expected tensor<?xf32, "
     "#stablehlo.bounds<4>>"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> " SUM(
         "f32") " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
     ""},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> " SUM(
         "f32") " : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>",
     "stablehlo.map: (C1) types tensor<4xf32> and tensor<5xf32> have different shapes"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> " SUM(
         "f32") " : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>",
     "stablehlo.map: (C1) types tensor<4xf32> and tensor<5xf32> have different shapes"},
    {"map() <{dimensions = array<i64>}> " SUM("f32") " : () -> tensor<f32>",
     "stablehlo.map: (C2) has no inputs, expected at least 1"},
    {"map(%a, %b) <{dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.map: (C3) dimensions is [1], expected all of tensor<4xf32> in order"},
    {"map(%a, %b) <{dimensions = array<i64: 0, 1>}> " SUM(
         "f32") " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.map: (C3) dimensions is [0, 1], expected all of tensor<4xf32> in order"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> " SUM(
         "f64") " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.map: (C4) argument 0 of computation is tensor<f64>, expected a scalar of f32"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> ({ ^bb0(%x0: tensor<f32>): stablehlo.return %x0 : "
     "tensor<f32> }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.map: (C4) computation takes 1 arguments, expected 2"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>): "
     "stablehlo.return %x0, %x1 : tensor<f32>, tensor<f32> }) : (tensor<4xf32>, tensor<4xf32>) -> "
     "tensor<4xf32>",
     "stablehlo.map: (C4) computation returns 2 values, expected 1"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>): "
     "stablehlo.return %a : tensor<4xf32> }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.map: (C4) computation returns tensor<4xf32>, expected a scalar"},
    {"map(%a, %b) <{dimensions = array<i64: 0>}> " SUM(
         "f32") " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>",
     "stablehlo.map: (C4) result 0 is tensor<4xf64>, expected tensor<4xf32>"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> (" GE(
         "f32") ") : (tensor<4xf32>) -> tensor<4xf32>",
     ""},
    {"sort(%a) <{dimension = -1 : i64, is_stable = true}> (" GE(
         "f32") ") : (tensor<4xf32>) -> tensor<4xf32>",
     ""},
    {"sort() <{dimension = 0 : i64}> (" GE("f32") ") : () -> ()",
     "stablehlo.sort: has 0 operands, expected at least 1"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> (" GE(
         "f32") ") : (tensor<4xf32>) -> tensor<4xf64>",
     "stablehlo.sort: (C2) result 0 is tensor<4xf64>, expected tensor<4xf32>"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> (" GE(
         "f32") ") : (tensor<4xf32>) -> tensor<5xf32>",
     "stablehlo.sort: (C3) types tensor<4xf32> and tensor<5xf32> have different shapes"},
    {"sort(%a) <{dimension = 1 : i64, is_stable = true}> (" GE(
         "f32") ") : (tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.sort: (C4) dimension is 1, expected -1 to 0"},
    {"sort(%a) <{dimension = -2 : i64, is_stable = true}> (" GE(
         "f32") ") : (tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.sort: (C4) dimension is -2, expected -1 to 0"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%x0: tensor<f32>): "
     "stablehlo.return %x0 : tensor<f32> }) : (tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.sort: (C5) comparator takes 1 arguments, expected 2"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> (" GE(
         "f64") ") : (tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.sort: (C5) argument 0 of comparator is tensor<f64>, expected a scalar of f32"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%x0: tensor<f32>, %x1: "
     "tensor<f32>): stablehlo.return %x0 : tensor<f32> }) : (tensor<4xf32>) -> tensor<4xf32>",
     "stablehlo.sort: (C5) comparator returns tensor<f32>, expected tensor<i1>"},
    {"sort(%a) <{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%x0: tensor<f32>, %x1: "
     "tensor<f32>): stablehlo.return %x0, %x1 : tensor<f32>, tensor<f32> }) : (tensor<4xf32>) -> "
     "tensor<4xf32>",
     "stablehlo.sort: (C5) comparator returns 2 values, expected 1"},
};

static void constraints_of_reductions_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(reduce_ops, TEST(constraints_of_reductions_are_named))
