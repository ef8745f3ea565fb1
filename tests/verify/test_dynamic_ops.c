// Ops of dynamic shapes, and quantisation.
#include "op_cases.h"

static const body_case shapes_cases[] = {
    {"", "%s: tensor<2xi32>",
     "%r = stablehlo.dynamic_iota %s, dim = 2 : (tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_iota: (C1) iota_dimension is 2, expected 0 or more and less than 2, the "
     "rank of tensor<?x?xf32>"},
    {"", "",
     "%k = stablehlo.constant dense<[4, 5]> : tensor<2xi32>\n"
     "%r = stablehlo.dynamic_iota %k, dim = 0 : (tensor<2xi32>) -> tensor<4x6xf32>",
     "stablehlo.dynamic_iota: (C2) operand 0 has the size 5 at 1, which tensor<4x6xf32> cannot "
     "have"},
    {"", "",
     "%k = stablehlo.constant dense<[-4, 5]> : tensor<2xi32>\n"
     "%r = stablehlo.dynamic_iota %k, dim = 0 : (tensor<2xi32>) -> tensor<?x5xf32>",
     "stablehlo.dynamic_iota: (C2) operand 0 has the size -4 at 0, which tensor<?x5xf32> cannot "
     "have"},
    {"", "%s: tensor<3xi32>",
     "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<3xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_iota: (C2) operand 0 has 3 sizes, expected 2 as tensor<?x?xf32>"},
    {"", "%s: tensor<2xi32>",
     "%r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>", ""},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_reshape %a, %s : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<?x?xi32>",
     "stablehlo.dynamic_reshape: (C1) result is tensor<?x?xi32>, expected the elements of "
     "tensor<3x?xf32>"},
    {"", "%a: tensor<6xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<2x4xf32>",
     "stablehlo.dynamic_reshape: (C2) tensor<6xf32> has 6 elements and tensor<2x4xf32> has 8, "
     "expected as many"},
    {"", "%a: tensor<6xf32>",
     "%k = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n"
     "%r = stablehlo.dynamic_reshape %a, %k : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_reshape: (C2) tensor<6xf32> has 6 elements, expected those of "
     "output_shape"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_reshape %a, %s : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<?xf32>",
     "stablehlo.dynamic_reshape: (C4) operand 1 has 2 sizes, expected 1 as tensor<?xf32>"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_reshape %a, %s : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
     ""},
};

static void shape_operands_fit_the_result(void **state) {
  (void)state;
  check_body_cases(shapes_cases, COUNT_OF(shapes_cases));
}

static const body_case broadcasts_cases[] = {
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<?x?xi32>",
     "stablehlo.dynamic_broadcast_in_dim: (C1) result is tensor<?x?xi32>, expected the elements of "
     "tensor<3x?xf32>"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C2) broadcast_dimensions is [0], expected a dimension "
     "for each of tensor<3x?xf32>"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 2] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C3) broadcast_dimensions is [0, 2], expected dimensions "
     "of 0 to 1"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 0] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C4) broadcast_dimensions is [0, 0], expected unique "
     "dimensions"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<4x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C5) dimension 0 of tensor<3x?xf32> is spread over "
     "dimension 0 of tensor<4x?xf32>, expected the same size or 1"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<?x?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C7) operand 1 has 2 sizes, expected 3 as "
     "tensor<?x?x?xf32>"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] {known_expanding_dimensions = "
     "array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C8) known dimensions are [0] and [0], expected each "
     "once"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] {known_expanding_dimensions = "
     "array<i64: 2>} : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C9) known_expanding_dimensions is [2], expected 0 or "
     "more and less than 2"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] {known_nonexpanding_dimensions "
     "= array<i64: -1>} : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C10) known_nonexpanding_dimensions is [-1], expected 0 "
     "or more and less than 2"},
    {"", "%a: tensor<3x2xf32>",
     "%k = stablehlo.constant dense<[4, 2]> : tensor<2xi32>\n"
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %k, dims = [0, 1] : (tensor<3x2xf32>, "
     "tensor<2xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_broadcast_in_dim: (C5) dimension 0 of tensor<3x2xf32> is spread over the "
     "size 4, expected the same size or 1"},
    {"", "%a: tensor<3x?xf32>, %s: tensor<2xi32>",
     "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<3x?xf32>, "
     "tensor<2xi32>) -> tensor<3x?xf32>",
     ""},
};

static void dynamic_broadcasts_follow_broadcast_in_dim(void **state) {
  (void)state;
  check_body_cases(broadcasts_cases, COUNT_OF(broadcasts_cases));
}

static const body_case pads_and_slices_cases[] = {
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.dynamic_pad %a, %u, %l, %l, %l : (tensor<3xf32>, tensor<i32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
     "stablehlo.dynamic_pad: (C1) operand 1 is tensor<i32>, expected the elements of "
     "tensor<?xf32>"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.dynamic_pad %a, %v, %l, %w, %l : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, "
     "tensor<2xi32>, tensor<1xi32>) -> tensor<?xf32>",
     "stablehlo.dynamic_pad: (C2) operand 3 is tensor<2xi32>, expected tensor<1xi32>"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.dynamic_pad %a, %v, %w, %w, %w : (tensor<3xf32>, tensor<f32>, tensor<2xi32>, "
     "tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>",
     "stablehlo.dynamic_pad: (C2) operand 2 is tensor<2xi32>, expected a number for each of the 1 "
     "dimensions of tensor<3xf32>"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%k = stablehlo.constant dense<-1> : tensor<1xi32>\n"
     "%r = stablehlo.dynamic_pad %a, %v, %l, %l, %k : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
     "stablehlo.dynamic_pad: (C3) interior_padding has -1, expected 0 or more"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%k = stablehlo.constant dense<1> : tensor<1xi32>\n"
     "%r = stablehlo.dynamic_pad %a, %v, %k, %k, %k : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<8xf32>",
     "stablehlo.dynamic_pad: (C4) result is tensor<8xf32>, expected the size 7 at dimension 0"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.dynamic_pad %a, %v, %l, %l, %l : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>",
     "stablehlo.dynamic_pad: (C4) result is tensor<?x?xf32>, expected the rank of tensor<3xf32>"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%k = stablehlo.constant dense<1> : tensor<1xi32>\n"
     "%r = stablehlo.dynamic_pad %a, %v, %k, %k, %k : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<7xf32>",
     ""},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.real_dynamic_slice %a, %l, %l, %w : (tensor<3xf32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<2xi32>) -> tensor<?xf32>",
     "stablehlo.real_dynamic_slice: operand 3 is tensor<2xi32>, expected tensor<1xi32>"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.real_dynamic_slice %a, %w, %w, %w : (tensor<3xf32>, tensor<2xi32>, "
     "tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>",
     "stablehlo.real_dynamic_slice: operand 1 is tensor<2xi32>, expected a number for each of the "
     "1 dimensions of tensor<3xf32>"},
    {"",
     "%a: tensor<3xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %w: tensor<2xi32>, %u: tensor<i32>",
     "%r = stablehlo.real_dynamic_slice %a, %l, %l, %l : (tensor<3xf32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
     ""},
    {"", "%a: tensor<3xf32>",
     "%r = stablehlo.get_dimension_size %a, dim = 1 : (tensor<3xf32>) -> tensor<i32>",
     "stablehlo.get_dimension_size: (C1) dimension is 1, expected 0 or more and less than 1, the "
     "rank of tensor<3xf32>"},
    {"", "%a: tensor<3xf32>",
     "%r = stablehlo.get_dimension_size %a, dim = 0 : (tensor<3xf32>) -> tensor<i64>",
     "stablehlo.get_dimension_size: result 0 is tensor<i64>, expected 32 bit tensor of signed "
     "integer"},
    {"", "%a: tensor<3xf32>, %n: tensor<i32>",
     "%r = stablehlo.set_dimension_size %a, %n, dim = 1 : (tensor<3xf32>, tensor<i32>) -> "
     "tensor<?xf32, #stablehlo.bounds<3>>",
     "stablehlo.set_dimension_size: dimension is 1, expected 0 or more and less than 1, the rank "
     "of tensor<3xf32>"},
    {"", "%a: tensor<3xf32>, %n: tensor<i32>",
     "%r = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<3xf32>, tensor<i32>) -> "
     "tensor<4xf32>",
     "stablehlo.set_dimension_size: result 0 is tensor<4xf32>, expected tensor<?xf32, "
     "#stablehlo.bounds<3>>"},
    {"", "%a: tensor<3xf32>, %n: tensor<i32>",
     "%r = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<3xf32>, tensor<i32>) -> "
     "tensor<?xf32, #stablehlo.bounds<3>>",
     ""},
};

static void paddings_and_limits_fit_the_operand(void **state) {
  (void)state;
  check_body_cases(pads_and_slices_cases, COUNT_OF(pads_and_slices_cases));
}

static const body_case gathers_cases[] = {
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%k = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n"
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %k) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x?xf32>",
     "stablehlo.dynamic_gather: (C8) slice size of dimension 0 of collapsed_slice_dims is 2, "
     "expected at most 1"},
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%k = stablehlo.constant dense<[1, 9]> : tensor<2xi32>\n"
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %k) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x?xf32>",
     "stablehlo.dynamic_gather: (C12) slice size of dimension 1 is 9, expected 0 to 4"},
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%k = stablehlo.constant dense<[1, 4]> : tensor<2xi32>\n"
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %k) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.dynamic_gather: (C13) result 0 is tensor<2x3xf32>, expected tensor<2x4xf32>"},
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %s) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x?xi32>",
     "stablehlo.dynamic_gather: (C14) operand 0 is tensor<5x4xf32>, expected the elements of "
     "tensor<2x?xi32>"},
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %s) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x?xf32>",
     "stablehlo.dynamic_gather: (C1) offset_dims, collapsed_slice_dims and operand_batching_dims "
     "have 3 dimensions, expected 2 for tensor<5x4xf32>"},
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%k = stablehlo.constant dense<[1, 4]> : tensor<2xi32>\n"
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %k) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x4xf32>",
     ""},
    {"", "%a: tensor<5x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>",
     "%r = \"stablehlo.dynamic_gather\"(%a, %i, %s) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
     "index_vector_dim = 1>}> : (tensor<5x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> "
     "tensor<2x?xf32>",
     ""},
};

static void dynamic_gathers_follow_gather(void **state) {
  (void)state;
  check_body_cases(gathers_cases, COUNT_OF(gathers_cases));
}

static const body_case quantisation_cases[] = {
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, "
     "2.000000e+00:15>>",
     "stablehlo.uniform_quantize: (C1) result is tensor<3x!quant.uniform<i8:f32, "
     "2.000000e+00:15>>, expected the shape of tensor<2xf32>"},
    {"", "%a: tensor<2xf64>",
     "%r = stablehlo.uniform_quantize %a : (tensor<2xf64>) -> tensor<2x!quant.uniform<i8:f32, "
     "2.000000e+00:15>>",
     "stablehlo.uniform_quantize: (C2) result is tensor<2x!quant.uniform<i8:f32, "
     "2.000000e+00:15>>, expected to express f64"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2xi8>",
     "stablehlo.uniform_quantize: result 0 is tensor<2xi8>, expected tensor of per-tensor "
     "quantised or per-axis quantised"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, "
     "2.000000e+00:15>>",
     ""},
    {"", "%a: tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>",
     "%r = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>) "
     "-> tensor<2xf64>",
     "stablehlo.uniform_dequantize: (C2) result 0 is tensor<2xf64>, expected tensor<2xf32>"},
    {"", "%a: tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>",
     "%r = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>) "
     "-> tensor<3xf32>",
     "stablehlo.uniform_dequantize: (C1) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.uniform_dequantize %a : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.uniform_dequantize: (I1) operand 0 is tensor<2xf32>, expected tensor of per-tensor "
     "quantised or per-axis quantised"},
    {"", "%a: tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>",
     "%r = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>) "
     "-> tensor<2xf32>",
     ""},
};

static void quantisation_keeps_shape_and_expressed_type(void **state) {
  (void)state;
  check_body_cases(quantisation_cases, COUNT_OF(quantisation_cases));
}

// clang-format off
#define DYNAMIC_CONV(padding, result) \
  "%r = \"stablehlo.dynamic_conv\"(%a, %b, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, " \
  "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : " \
  "(tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>, " padding ") -> " result
#define DYNAMIC_CONV_ARGS "%a: tensor<1x4x4x2xf32>, %b: tensor<3x3x2x5xf32>"
#define PADDING "%p = stablehlo.constant dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>\n"

static const body_case dynamic_conv_cases[] = {
    {"", DYNAMIC_CONV_ARGS, PADDING DYNAMIC_CONV("tensor<2x2xi64>", "tensor<1x4x4x5xf32>"), ""},
    {"", DYNAMIC_CONV_ARGS, PADDING DYNAMIC_CONV("tensor<2x2xi64>", "tensor<1x4x4x5xf64>"), ""},
    {"", DYNAMIC_CONV_ARGS, PADDING DYNAMIC_CONV("tensor<2x2xi64>", "tensor<1x4x5x5xf32>"),
     "stablehlo.dynamic_conv: (C25) result 0 is tensor<1x4x5x5xf32>, expected tensor<1x4x4x5xf32>"},
    {"", DYNAMIC_CONV_ARGS ", %p: tensor<2x2xi64>", DYNAMIC_CONV("tensor<2x2xi64>", "tensor<1x?x?x5xf32>"), ""},
    {"", DYNAMIC_CONV_ARGS ", %p: tensor<3x2xi64>", DYNAMIC_CONV("tensor<3x2xi64>", "tensor<1x4x4x5xf32>"),
     "stablehlo.dynamic_conv: (C4) padding is tensor<3x2xi64>, expected pairs for each of the 2 spatial dimensions"},
};
// clang-format on

static void dynamic_convolutions_know_their_padding_if_it_is_constant(void **state) {
  (void)state;
  check_body_cases(dynamic_conv_cases, COUNT_OF(dynamic_conv_cases));
}

SUITE(dynamic_ops, TEST(shape_operands_fit_the_result),
      TEST(dynamic_broadcasts_follow_broadcast_in_dim), TEST(paddings_and_limits_fit_the_operand),
      TEST(dynamic_gathers_follow_gather), TEST(quantisation_keeps_shape_and_expressed_type),
      TEST(dynamic_convolutions_know_their_padding_if_it_is_constant))
