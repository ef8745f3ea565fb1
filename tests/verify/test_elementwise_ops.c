// Elementwise ops: one shape, and mostly one type, for operands and results.
#include "op_cases.h"

static const op_case cases[] = {
    {"add(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", ""},
    {"add(%a, %b) : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>", ""},
    {"add(%a, %b) : (tensor<?xf32>, tensor<2xf32>) -> tensor<3xf32>",
     "stablehlo.add: (C1) types tensor<2xf32> and tensor<3xf32> have different shapes"},
    {"add(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>",
     "stablehlo.add: (C1) operands 0 and 1 are tensor<2xf32> and tensor<3xf32>, expected "
     "compatible types"},
    {"add(%a, %b) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>",
     "stablehlo.add: (C1) operands 0 and 1 are tensor<2xf32> and tensor<2xf64>, expected "
     "compatible types"},
    {"add(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>",
     "stablehlo.add: (C1) result 0 is tensor<2xf16>, expected tensor<2xf32>"},
    {"add(%a) : (tensor<2xf32>) -> tensor<2xf32>", "stablehlo.add: has 1 operands, expected 2"},
    {"add(%a, %b) : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>",
     "stablehlo.add: (I1) operand 0 is tensor<2xsi32>, expected tensor of boolean, integer, float, "
     "complex, per-tensor quantised or per-axis quantised"},
    {"add(%a, %b) : (tensor<?xf32, #stablehlo.bounds<2>>, tensor<3xf32>) -> tensor<3xf32>",
     "stablehlo.add: (C1) operands 0 and 1 are tensor<?xf32, #stablehlo.bounds<2>> and "
     "tensor<3xf32>, expected compatible types"},
    {"add(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.add: (C2) types tensor<2x!quant.uniform<i8:f32, 1.000000e+00>> and tensor<2xf32>, "
     "expected both quantised or neither"},
    {"add(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i16:f32, "
     "1.0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.add: (C3) operands store i8 and i16, expected one type"},
    {"add(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f64, 1.0>>) "
     "-> tensor<2x!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.add: (C4) operands express f32 and f64, expected one type"},
    {"add(%a, %b) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, "
     "tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.add: (C5) the result is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>, expected "
     "per-axis quantisation as of the operands"},
    {"add(%a, %b) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, "
     "tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, "
     "{1.0, 2.0}>>",
     "stablehlo.add: (C6) the result is quantised along dimension 1, expected 0 as lhs"},
    {"add(%a, %b) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32:0, "
     "{1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>",
     "stablehlo.add: (C7) the result is quantised along dimension 1, expected 0 as rhs"},
    {"add(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 2.0>>) "
     "-> tensor<2x!quant.uniform<i8:f32, 3.0>>",
     ""},
    {"abs(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>", ""},
    {"abs(%a) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>",
     "stablehlo.abs: (C1) types tensor<2xcomplex<f32>> and tensor<3xf32> have different shapes"},
    {"abs(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>",
     "stablehlo.abs: (C2) result 0 is tensor<2xf64>, expected tensor<2xf32>"},
    {"abs(%a) : (tensor<2xui32>) -> tensor<2xui32>",
     "stablehlo.abs: (I1) operand 0 is tensor<2xui32>, expected tensor of signed integer, float, "
     "complex or per-tensor quantised"},
    {"and(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.and: (I1) operand 0 is tensor<2xf32>, expected tensor of boolean or integer"},
    {"convert(%a) : (tensor<2xf32>) -> tensor<2xi8>", ""},
    {"convert(%a) : (tensor<2xf32>) -> tensor<3xi8>",
     "stablehlo.convert: (C1) types tensor<2xf32> and tensor<3xi8> have different shapes"},
    {"convert(%a) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.convert: result 0 is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>, expected "
     "tensor of boolean, integer, float or complex"},
    {"tanh(%a) : (tensor<2xi32>) -> tensor<2xi32>",
     "stablehlo.tanh: (I1) operand 0 is tensor<2xi32>, expected tensor of float, complex or "
     "per-tensor quantised"},
    {"tanh(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, "
     "mode = #stablehlo.result_accuracy_mode<DEFAULT>>}> : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.tanh: result_accuracy is #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, "
     "mode = #stablehlo.result_accuracy_mode<DEFAULT>>, expected tolerances of 0 in this mode"},
    {"tanh(%a) <{result_accuracy = #stablehlo.result_accuracy<ulps = -1, mode = "
     "#stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.tanh: result_accuracy is #stablehlo.result_accuracy<ulps = -1, mode = "
     "#stablehlo.result_accuracy_mode<TOLERANCE>>, expected no negative tolerance"},
    {"imag(%a) : (tensor<2xcomplex<f64>>) -> tensor<2xf32>",
     "stablehlo.imag: (C2) result 0 is tensor<2xf32>, expected tensor<2xf64>"},
    {"is_finite(%a) : (tensor<2xf32>) -> tensor<2xi1>", ""},
    {"is_finite(%a) : (tensor<2xf32>) -> tensor<3xi1>",
     "stablehlo.is_finite: (C1) types tensor<2xf32> and tensor<3xi1> have different shapes"},
    {"is_finite(%a) : (tensor<2xf32>) -> tensor<2xi8>",
     "stablehlo.is_finite: result 0 is tensor<2xi8>, expected tensor of boolean"},
    {"complex(%a, %b) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>",
     "stablehlo.complex: (C1) operands 0 and 1 are tensor<2xf32> and tensor<2xf64>, expected one "
     "type"},
    {"complex(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>",
     "stablehlo.complex: (C2) types tensor<2xf32> and tensor<3xcomplex<f32>> have different "
     "shapes"},
    {"complex(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>",
     "stablehlo.complex: (C3) result 0 is tensor<2xcomplex<f64>>, expected tensor<2xcomplex<f32>>"},
    {"complex(%a, %b) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>",
     "stablehlo.complex: (I1) operand 0 is tensor<2xf16>, expected 32 or 64 bit tensor of float"},
    {"compare(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : "
     "(tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>",
     "stablehlo.compare: (C1) operands 0 and 1 are tensor<2xf32> and tensor<2xi32>, expected one "
     "element type"},
    {"compare(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : "
     "(tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>",
     "stablehlo.compare: (C2) types tensor<2xf32> and tensor<3xf32> have different shapes"},
    {"compare(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>",
     "stablehlo.compare: attribute \"comparison_direction\" is missing"},
    {"compare(%a, %b) <{comparison_direction = 3 : i32}> : (tensor<2xf32>, tensor<2xf32>) -> "
     "tensor<2xi1>",
     "stablehlo.compare: attribute \"comparison_direction\" is 3 : i32, expected "
     "#stablehlo.comparison_direction"},
    {"clamp(%a, %b, %c) : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>", ""},
    {"clamp(%a, %b, %c) : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
     "stablehlo.clamp: (C1) min is tensor<3xf32>, expected a scalar or the shape of tensor<2xf32>"},
    {"clamp(%a, %b, %c) : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>",
     "stablehlo.clamp: (C2) max is tensor<3xf32>, expected a scalar or the shape of tensor<2xf32>"},
    {"clamp(%a, %b, %c) : (tensor<f32>, tensor<2xf32>, tensor<f64>) -> tensor<2xf32>",
     "stablehlo.clamp: (C3) types tensor<f32> and tensor<f64> have different elements"},
    {"clamp(%a, %b, %c) : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<3xf32>",
     "stablehlo.clamp: (C4) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"select(%a, %b, %c) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", ""},
    {"select(%a, %b, %c) : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.select: (C1) pred is tensor<3xi1>, expected a scalar or the shape of "
     "tensor<2xf32>"},
    {"select(%a, %b, %c) : (tensor<i1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>",
     "stablehlo.select: (C2) on_true and on_false are tensor<2xf32> and tensor<2xf64>, expected "
     "one type"},
    {"select(%a, %b, %c) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>",
     "stablehlo.select: (C2) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"select(%a, %b, %c) : (tensor<i8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.select: (I1) operand 0 is tensor<i8>, expected tensor of boolean"},
    {"reduce_precision(%a) <{exponent_bits = 0 : i32, mantissa_bits = 3 : i32}> : (tensor<2xf32>) "
     "-> tensor<2xf32>",
     "stablehlo.reduce_precision: (C2) exponent_bits is 0, expected 1 or more"},
    {"reduce_precision(%a) <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}> : (tensor<2xf32>) "
     "-> tensor<2xf32>",
     "stablehlo.reduce_precision: (C3) mantissa_bits is -1, expected 0 or more"},
    {"reduce_precision(%a) <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}> : (tensor<2xf32>) "
     "-> tensor<3xf32>",
     "stablehlo.reduce_precision: (C1) types tensor<2xf32> and tensor<3xf32> have different "
     "shapes"},
    {"reduce_precision(%a) <{exponent_bits = 5 : i64, mantissa_bits = 2 : i32}> : (tensor<2xf32>) "
     "-> tensor<2xf32>",
     "stablehlo.reduce_precision: attribute \"exponent_bits\" is 5 : i64, expected an integer of "
     "type i32"},
};

static void constraints_of_elementwise_ops_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(elementwise_ops, TEST(constraints_of_elementwise_ops_are_named))
