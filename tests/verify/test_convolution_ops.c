// convolution: dimension numbers, groups, windows and quantised elements.
#include "op_cases.h"

static const op_case cases[] = {
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     ""},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = "
     "array<i64: 2, 2>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>, lhs_dilation = "
     "array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, "
     "false>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x4x4x12xf32>",
     ""},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C1) operands are tensor<4x8x8x6xf32> and tensor<3x6x12xf32>, "
     "expected one rank of 2 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = "
     "array<i64: 2>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C2) window_strides is [2], expected length 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = "
     "array<i64: 0, 1>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C3) window_strides is [0, 1], expected numbers of 1 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<0> : "
     "tensor<3x2xi64>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C4) padding is of type tensor<3x2xi64>, expected shape [2, 2]"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = "
     "array<i64: 2>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C5) lhs_dilation is [2], expected length 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = "
     "array<i64: 0, 1>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C6) lhs_dilation is [0, 1], expected numbers of 1 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = "
     "array<i64: 2>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C7) rhs_dilation is [2], expected length 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = "
     "array<i64: 0, 1>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C8) rhs_dilation is [0, 1], expected numbers of 1 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = "
     "array<i1: true>}> : (tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C9) window_reversal has 1 entries, expected 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 3 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C10) input_batch_dimension has size 4, expected a multiple of "
     "batch_group_count 3"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 4 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C11) input_feature_dimension has size 6, expected a multiple of "
     "feature_group_count 4"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, "
     "feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C12) input_spatial_dimensions is [1], expected length 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x5x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C14) kernel_input_feature_dimension has size 5, expected 6 / 1"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 4 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x10xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C15) kernel_output_feature_dimension has size 10, expected a "
     "multiple of batch_group_count 4"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x3x11xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C16) kernel_output_feature_dimension has size 11, expected a "
     "multiple of feature_group_count 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 0 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C21) feature_group_count is 0, expected 1 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 0 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C22) batch_group_count is 0, expected 1 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 2 : i64, batch_group_count = 2 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C23) feature_group_count is 2 and batch_group_count is 2, expected "
     "one of them to be 1"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = "
     "[#stablehlo<precision HIGH>, #stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : "
     "(tensor<4x8x8x6xf32>, tensor<3x3x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C24) precision_config has 3 entries, expected at most 2"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x6x6x13xf32>",
     "stablehlo.convolution: (C25) result 0 is tensor<4x6x6x13xf32>, expected "
     "tensor<4x6x6x12xf32>"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf32>) -> tensor<4x7x6x12xf32>",
     "stablehlo.convolution: (C25) result 0 is tensor<4x7x6x12xf32>, expected "
     "tensor<4x6x6x12xf32>"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12xf64>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C27) operands are tensor<4x8x8x6xf32> and tensor<3x3x6x12xf64>, "
     "expected one element type"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x0x6x12xf32>) -> tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C25) size 1 of the window is 0, expected 1 or more"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x3x12xf32>) -> tensor<4x6x6x12xf32>",
     ""},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x6x6x12x!quant.uniform<i8:f32, "
     "1.0>>",
     "stablehlo.convolution: (C28) operands and result are tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12x!quant.uniform<i8:f32, 1.000000e+00>> and "
     "tensor<4x6x6x12x!quant.uniform<i8:f32, 1.000000e+00>>, expected a quantised rhs and a result "
     "that is quantised as lhs is"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf32>, "
     "tensor<3x3x6x12x!quant.uniform<i8:f32:2, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) -> "
     "tensor<4x6x6x12xf32>",
     "stablehlo.convolution: (C29) rhs is quantised along dimension 2, expected "
     "kernel_output_feature_dimension 3"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : "
     "(tensor<4x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x6x2x!quant.uniform<i8:f32:3, {1.0, "
     "1.0}>>) -> tensor<4x6x6x2x!quant.uniform<i32:f32:3, {1.0, 1.0}>>",
     ""},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : "
     "(tensor<2x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x6x2x!quant.uniform<i8:f32:3, {1.0, "
     "1.0}>>) -> tensor<2x6x6x2x!quant.uniform<i32:f32:0, {1.0, 1.0}>>",
     "stablehlo.convolution: (C30) the result is quantised along dimension 0, expected "
     "output_feature_dimension 3"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : "
     "(tensor<4x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x6x12x!quant.uniform<i16:f32, 1.0>>) "
     "-> tensor<4x6x6x12x!quant.uniform<i32:f32, 1.0>>",
     "stablehlo.convolution: (C31) operands store i8 and i16, expected one type"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : "
     "(tensor<4x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x6x12x!quant.uniform<i8:f64, 1.0>>) "
     "-> tensor<4x6x6x12x!quant.uniform<i32:f32, 1.0>>",
     "stablehlo.convolution: (C32) operands and result express f32, f64 and f32, expected one "
     "type"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : "
     "(tensor<4x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x6x2x!quant.uniform<i8:f32, 1.0>>) "
     "-> tensor<4x6x6x2x!quant.uniform<i32:f32:3, {1.0, 1.0}>>",
     "stablehlo.convolution: (C33) the result is tensor<4x6x6x2x!quant.uniform<i32:f32:3, "
     "{1.000000e+00,1.000000e+00}>>, expected per-tensor quantisation as of rhs"},
    {"convolution(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
     "1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8x8x6xf64>, "
     "tensor<3x3x6x12x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x6x6x12xf64>",
     "stablehlo.convolution: (C34) lhs and result are tensor<4x8x8x6xf64> and "
     "tensor<4x6x6x12xf64>, expected elements of type f32 as rhs expresses"},
};

static void constraints_of_convolutions_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(convolution_ops, TEST(constraints_of_convolutions_are_named))
