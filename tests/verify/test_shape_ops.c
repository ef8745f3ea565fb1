// Constants, broadcasts, reshapes, slices and padding.
#include "op_cases.h"

static const op_case cases[] = {
    {"constant() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>", ""},
    {"constant() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>",
     "stablehlo.constant: (C1) value is tensor<2xf32>, expected tensor<3xf32>"},
    {"constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.0>>",
     ""},
    {"constant() <{value = dense<1> : tensor<2xi16>}> : () -> tensor<2x!quant.uniform<i8:f32, "
     "1.0>>",
     "stablehlo.constant: (C1) value is tensor<2xi16>, expected tensor<2xi8>"},
    {"iota() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>", ""},
    {"iota() <{iota_dimension = 2 : i64}> : () -> tensor<2x3xi32>",
     "stablehlo.iota: (C1) iota_dimension is 2, expected 0 to 1 for tensor<2x3xi32>"},
    {"iota() <{iota_dimension = -1 : i64}> : () -> tensor<2x3xi32>",
     "stablehlo.iota: (C1) iota_dimension is -1, expected 0 to 1 for tensor<2x3xi32>"},
    {"iota() <{iota_dimension = 0 : i64}> : () -> tensor<?xi32>",
     "stablehlo.iota: result 0 is tensor<?xi32>, expected statically shaped tensor of integer, "
     "float, complex or per-tensor quantised"},
    {"bitcast_convert(%a) : (tensor<2xf64>) -> tensor<2x2xf32>", ""},
    {"bitcast_convert(%a) : (tensor<2xf64>) -> tensor<2x4xf32>",
     "stablehlo.bitcast_convert: (C1) converts tensor<2xf64> to tensor<2x4xf32>, expected 2 x 32 "
     "bits in the last dimension"},
    {"bitcast_convert(%a) : (tensor<2xf64>) -> tensor<3x2xf32>",
     "stablehlo.bitcast_convert: (C1) converts tensor<2xf64> to tensor<3x2xf32>, expected the same "
     "size of dimension 0"},
    {"bitcast_convert(%a) : (tensor<2xf64>) -> tensor<2xf32>",
     "stablehlo.bitcast_convert: (C1) converts tensor<2xf64> to tensor<2xf32>, expected rank 2 of "
     "tensor<2xf32>"},
    {"bitcast_convert(%a) : (tensor<2xf64>) -> tensor<2xcomplex<f32>>",
     "stablehlo.bitcast_convert: (C2) converts tensor<2xf64> to tensor<2xcomplex<f32>>, expected "
     "complex elements on both sides or neither"},
    {"broadcast(%a) <{broadcast_sizes = array<i64: 3>}> : (tensor<2xf32>) -> tensor<3x2xf32>", ""},
    {"broadcast(%a) <{broadcast_sizes = array<i64: -3>}> : (tensor<2xf32>) -> tensor<3x2xf32>",
     "stablehlo.broadcast: broadcast_sizes is [-3], expected sizes of 0 or more"},
    {"broadcast(%a) <{broadcast_sizes = array<i64: 3>}> : (tensor<2xf32>) -> tensor<2x3xf32>",
     "stablehlo.broadcast: result 0 is tensor<2x3xf32>, expected tensor<3x2xf32>"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> "
     "tensor<3x2xf32>",
     ""},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> "
     "tensor<3x2xf64>",
     "stablehlo.broadcast_in_dim: (C1) types tensor<2xf32> and tensor<3x2xf64> have different "
     "elements"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2xf32>) -> "
     "tensor<3x2xf32>",
     "stablehlo.broadcast_in_dim: (C2) broadcast_dimensions is [0, 1], expected a dimension for "
     "each of tensor<2xf32>"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2xf32>) -> "
     "tensor<3x2xf32>",
     "stablehlo.broadcast_in_dim: (C3) broadcast_dimensions is [2], expected dimensions of 0 to 1"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> "
     "tensor<3x2xf32>",
     "stablehlo.broadcast_in_dim: (C4) broadcast_dimensions is [1, 1], expected unique dimensions"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> "
     "tensor<3x2xf32>",
     "stablehlo.broadcast_in_dim: (C5) dimension 0 of tensor<2xf32> is spread over dimension 0 of "
     "tensor<3x2xf32>, expected the same size or 1"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 0>}> : "
     "(tensor<1x!quant.uniform<i8:f32:0, {1.0}>>) -> tensor<1x2x!quant.uniform<i8:f32:1, {1.0, "
     "1.0}>>",
     "stablehlo.broadcast_in_dim: (C6) the result is quantised along dimension 1, expected 0"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 1>}> : "
     "(tensor<1x!quant.uniform<i8:f32:0, {1.0}>>) -> tensor<1x2x!quant.uniform<i8:f32:1, {1.0, "
     "2.0}>>",
     "stablehlo.broadcast_in_dim: (C6) scale 1 of the result is 2:0, expected 1:0"},
    {"broadcast_in_dim(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> "
     "tensor<?x2xf32>",
     "stablehlo.broadcast_in_dim: result 0 is tensor<?x2xf32>, expected statically shaped or "
     "singly bounded tensor of boolean, integer, float, complex, per-tensor quantised or per-axis "
     "quantised"},
    {"reshape(%a) : (tensor<2x3xf32>) -> tensor<6xf32>", ""},
    {"reshape(%a) : (tensor<2x3xf32>) -> tensor<5xf32>",
     "stablehlo.reshape: (C2) tensor<2x3xf32> has 6 elements and tensor<5xf32> has 5, expected as "
     "many"},
    {"reshape(%a) : (tensor<2x3xf32>) -> tensor<6xi32>",
     "stablehlo.reshape: (C1) types tensor<2x3xf32> and tensor<6xi32> have different elements"},
    {"reshape(%a) : (tensor<2x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<6x!quant.uniform<i8:f32, "
     "2.0>>",
     "stablehlo.reshape: (C1) operand and result are tensor<2x3x!quant.uniform<i8:f32, "
     "1.000000e+00>> and tensor<6x!quant.uniform<i8:f32, 2.000000e+00>>, expected the same scales "
     "and zero points"},
    {"reshape(%a) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> "
     "tensor<2x2x1x!quant.uniform<i8:f32:1, {1.0, 2.0}>>",
     "stablehlo.reshape: (C3) tensor<2x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>> "
     "and tensor<2x2x1x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>> have different "
     "numbers of elements before the quantised dimension"},
    {"reverse(%a) <{dimensions = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>", ""},
    {"reverse(%a) <{dimensions = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "stablehlo.reverse: (C2) dimensions is [1, 1], expected unique dimensions"},
    {"reverse(%a) <{dimensions = array<i64: 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "stablehlo.reverse: (C3) dimensions is [2], expected dimensions of 0 to 1"},
    {"reverse(%a) <{dimensions = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     "stablehlo.reverse: (C1) result 0 is tensor<3x2xf32>, expected tensor<2x3xf32>"},
    {"transpose(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>", ""},
    {"transpose(%a) <{permutation = array<i64: 0, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     "stablehlo.transpose: (C2) permutation is [0, 0], expected a permutation of 0 to 1"},
    {"transpose(%a) <{permutation = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     "stablehlo.transpose: (C2) permutation is [0], expected a permutation of 0 to 1"},
    {"transpose(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "stablehlo.transpose: (C3) result 0 is tensor<2x3xf32>, expected tensor<3x2xf32>"},
    {"transpose(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf64>",
     "stablehlo.transpose: (C1) types tensor<2x3xf32> and tensor<3x2xf64> have different elements"},
    {"transpose(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x2x!quant.uniform<i8:f32:0, "
     "{1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>",
     "stablehlo.transpose: (C4) dimension 0 of the result is quantised, which is dimension 1 of "
     "the operand, expected 0"},
    {"transpose(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     "stablehlo.transpose: attribute \"permutation\" is missing"},
    {"transpose(%a) <{permutation = [1, 0]}> : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     "stablehlo.transpose: attribute \"permutation\" is [1, 0], expected array<i64: ...>"},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> "
     "tensor<3x3xf32>",
     ""},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>, "
     "tensor<1x3xf32>) -> tensor<?x3xf32, #stablehlo.bounds<5, ?>>",
     ""},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x3xf64>) -> "
     "tensor<3x3xf32>",
     "stablehlo.concatenate: (C1) types tensor<2x3xf32> and tensor<1x3xf64> have different "
     "elements"},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x4xf32>) -> "
     "tensor<3x3xf32>",
     "stablehlo.concatenate: (C2) inputs 0 and 1 are tensor<2x3xf32> and tensor<1x4xf32>, expected "
     "one shape but for dimension 0"},
    {"concatenate() <{dimension = 0 : i64}> : () -> tensor<3x3xf32>",
     "stablehlo.concatenate: has 0 operands, expected at least 1"},
    {"concatenate(%a, %b) <{dimension = 2 : i64}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> "
     "tensor<3x3xf32>",
     "stablehlo.concatenate: (C4) dimension is 2, expected 0 to 1 for tensor<2x3xf32>"},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> "
     "tensor<4x3xf32>",
     "stablehlo.concatenate: (C6) result 0 is tensor<4x3xf32>, expected tensor<3x3xf32>"},
    {"slice(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf32>",
     ""},
    {"slice(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf64>",
     "stablehlo.slice: (C1) types tensor<8xf32> and tensor<3xf64> have different elements"},
    {"slice(%a) <{start_indices = array<i64: 1, 2>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf32>",
     "stablehlo.slice: (C2) start_indices is [1, 2], expected length 1 for tensor<8xf32>"},
    {"slice(%a) <{start_indices = array<i64: -1>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf32>",
     "stablehlo.slice: (C3) start index of dimension 0 is -1, expected 0 or more"},
    {"slice(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 9>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf32>",
     "stablehlo.slice: (C3) limit index of dimension 0 is 9, expected at most 8"},
    {"slice(%a) <{start_indices = array<i64: 7>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf32>",
     "stablehlo.slice: (C3) start index of dimension 0 is 7, expected at most the limit index 6"},
    {"slice(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 0>}> : (tensor<8xf32>) -> tensor<3xf32>",
     "stablehlo.slice: (C4) stride of dimension 0 is 0, expected 1 or more"},
    {"slice(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 6>, strides = "
     "array<i64: 2>}> : (tensor<8xf32>) -> tensor<2xf32>",
     "stablehlo.slice: (C5) result 0 is tensor<2xf32>, expected tensor<3xf32>"},
    {"dynamic_slice(%a, %b) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> "
     "tensor<2xf32>",
     ""},
    {"dynamic_slice(%a, %b) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> "
     "tensor<2xf64>",
     "stablehlo.dynamic_slice: (C1) the result is tensor<2xf64>, expected elements of "
     "tensor<8xf32>"},
    {"dynamic_slice(%a, %b, %c) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<2xf32>",
     "stablehlo.dynamic_slice: (C2) has 2 start indices, expected 1 for tensor<8xf32>"},
    {"dynamic_slice(%a, %b) <{slice_sizes = array<i64: 2, 3>}> : (tensor<8xf32>, tensor<i32>) -> "
     "tensor<2xf32>",
     "stablehlo.dynamic_slice: (C2) slice_sizes is [2, 3], expected length 1 for tensor<8xf32>"},
    {"dynamic_slice(%a, %b, %c) <{slice_sizes = array<i64: 2, 2>}> : (tensor<8x8xf32>, "
     "tensor<i32>, tensor<i64>) -> tensor<2x2xf32>",
     "stablehlo.dynamic_slice: (C3) start indices 0 and 1 are tensor<i32> and tensor<i64>, "
     "expected one type"},
    {"dynamic_slice(%a, %b) <{slice_sizes = array<i64: 9>}> : (tensor<8xf32>, tensor<i32>) -> "
     "tensor<9xf32>",
     "stablehlo.dynamic_slice: (C4) slice size of dimension 0 is 9, expected 0 to 8"},
    {"dynamic_slice(%a, %b) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> "
     "tensor<3xf32>",
     "stablehlo.dynamic_slice: (C5) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"dynamic_slice(%a, %b) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<1xi32>) -> "
     "tensor<2xf32>",
     "stablehlo.dynamic_slice: (I2) operand 1 is tensor<1xi32>, expected 0-dimensional tensor of "
     "integer"},
    {"dynamic_update_slice(%a, %b, %c) : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> "
     "tensor<8xf32>",
     ""},
    {"dynamic_update_slice(%a, %b, %c) : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> "
     "tensor<7xf32>",
     "stablehlo.dynamic_update_slice: (C1) result 0 is tensor<7xf32>, expected tensor<8xf32>"},
    {"dynamic_update_slice(%a, %b, %c) : (tensor<8xf32>, tensor<2xf64>, tensor<i32>) -> "
     "tensor<8xf32>",
     "stablehlo.dynamic_update_slice: (C2) operand and update are tensor<8xf32> and tensor<2xf64>, "
     "expected one element type"},
    {"dynamic_update_slice(%a, %b, %c) : (tensor<8xf32>, tensor<2x2xf32>, tensor<i32>) -> "
     "tensor<8xf32>",
     "stablehlo.dynamic_update_slice: (C3) operand and update are tensor<8xf32> and "
     "tensor<2x2xf32>, expected one rank"},
    {"dynamic_update_slice(%a, %b, %c, %d) : (tensor<8xf32>, tensor<2xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<8xf32>",
     "stablehlo.dynamic_update_slice: (C4) has 2 start indices, expected 1 for tensor<8xf32>"},
    {"dynamic_update_slice(%a, %b, %c, %d) : (tensor<8x8xf32>, tensor<2x2xf32>, tensor<i32>, "
     "tensor<i64>) -> tensor<8x8xf32>",
     "stablehlo.dynamic_update_slice: (C5) start indices 0 and 1 are tensor<i32> and tensor<i64>, "
     "expected one type"},
    {"dynamic_update_slice(%a, %b, %c) : (tensor<8xf32>, tensor<9xf32>, tensor<i32>) -> "
     "tensor<8xf32>",
     "stablehlo.dynamic_update_slice: (C6) dimension 0 of the update has size 9, expected at most "
     "8"},
    {"dynamic_update_slice(%a, %b, %c) : (tensor<8xf32>, tensor<2xf32>, tensor<f32>) -> "
     "tensor<8xf32>",
     "stablehlo.dynamic_update_slice: (I3) operand 2 is tensor<f32>, expected 0-dimensional tensor "
     "of integer"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>",
     ""},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f64>) -> tensor<7xf32>",
     "stablehlo.pad: (C1) types tensor<4xf32> and tensor<f64> have different elements"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1, 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>",
     "stablehlo.pad: (C2) edge_padding_low is [1, 1], expected length 1 for tensor<4xf32>"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: -1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>",
     "stablehlo.pad: (C3) interior_padding is [-1], expected 0 or more"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: -9>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>",
     "stablehlo.pad: (C4) padding of dimension 0 of tensor<4xf32> gives a size that is negative or "
     "too large"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 9223372036854775807>}> : (tensor<4xf32>, tensor<f32>) -> "
     "tensor<7xf32>",
     "stablehlo.pad: (C4) padding of dimension 0 of tensor<4xf32> gives a size that is negative or "
     "too large"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>",
     "stablehlo.pad: (C4) result 0 is tensor<8xf32>, expected tensor<7xf32>"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, "
     "interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<1xf32>) -> tensor<7xf32>",
     "stablehlo.pad: (I2) operand 1 is tensor<1xf32>, expected 0-dimensional tensor of boolean, "
     "integer, float, complex or per-tensor quantised"},
};

static void constraints_of_ops_on_shapes_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(shape_ops, TEST(constraints_of_ops_on_shapes_are_named))
