// Batch normalisation, linear algebra, Fourier transforms and random numbers.
#include "op_cases.h"

static const op_case cases[] = {
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     ""},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C1) feature_index is 2, expected 0 to 1 for tensor<2x3xf32>"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = -1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C1) feature_index is -1, expected 0 to 1 for tensor<2x3xf32>"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C2) types tensor<2x3xf32> and tensor<3xf64> have different "
     "elements"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x4xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C3) operands 0 and 4 are tensor<2x3xf32> and tensor<2x4xf32>, "
     "expected one shape"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C4) operand 3 is tensor<4xf32>, expected 3 elements as dimension "
     "1 of tensor<2x3xf32>"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C5) operand 1 is tensor<4xf32>, expected 3 elements as dimension "
     "1 of tensor<2x3xf32>"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>)",
     "stablehlo.batch_norm_grad: (C4) result 2 is tensor<4xf32>, expected tensor<3xf32>"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x4xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: (C3) result 0 is tensor<2x4xf32>, expected tensor<2x3xf32>"},
    {"batch_norm_grad(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f64, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
     "stablehlo.batch_norm_grad: epsilon is 1.000000e-03 : f64, expected an f32"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<2x3xf32>",
     ""},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.batch_norm_inference: (C3) operand 1 is tensor<4xf32>, expected 3 elements as "
     "dimension 1 of tensor<2x3xf32>"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.batch_norm_inference: (C4) operand 2 is tensor<4xf32>, expected 3 elements as "
     "dimension 1 of tensor<2x3xf32>"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.batch_norm_inference: (C5) operand 3 is tensor<4xf32>, expected 3 elements as "
     "dimension 1 of tensor<2x3xf32>"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.batch_norm_inference: (C6) operand 4 is tensor<4xf32>, expected 3 elements as "
     "dimension 1 of tensor<2x3xf32>"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<2x4xf32>",
     "stablehlo.batch_norm_inference: (C7) result 0 is tensor<2x4xf32>, expected tensor<2x3xf32>"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.batch_norm_inference: (I5) operand 4 is tensor<2x3xf32>, expected 1-dimensional "
     "tensor of float or per-tensor quantised"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 5 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.batch_norm_inference: (C1) feature_index is 5, expected 0 to 1 for "
     "tensor<2x3xf32>"},
    {"batch_norm_inference(%a, %b, %c, %d, %e) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> "
     ": (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<2x3xf64>",
     "stablehlo.batch_norm_inference: (C2) types tensor<2x3xf32> and tensor<2x3xf64> have "
     "different elements"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, "
     "tensor<3xf32>)",
     ""},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, "
     "tensor<3xf32>)",
     "stablehlo.batch_norm_training: (C3) operand 1 is tensor<4xf32>, expected 3 elements as "
     "dimension 1 of tensor<2x3xf32>"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, "
     "tensor<3xf32>)",
     "stablehlo.batch_norm_training: (C4) operand 2 is tensor<4xf32>, expected 3 elements as "
     "dimension 1 of tensor<2x3xf32>"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, "
     "tensor<3xf32>)",
     "stablehlo.batch_norm_training: (C5) result 1 is tensor<4xf32>, expected tensor<3xf32>"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, "
     "tensor<4xf32>)",
     "stablehlo.batch_norm_training: (C6) result 2 is tensor<4xf32>, expected tensor<3xf32>"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4xf32>, tensor<3xf32>, "
     "tensor<3xf32>)",
     "stablehlo.batch_norm_training: (C7) result 0 is tensor<2x4xf32>, expected tensor<2x3xf32>"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, "
     "tensor<3xf16>)",
     "stablehlo.batch_norm_training: (C2) types tensor<2x3xf32> and tensor<3xf16> have different "
     "elements"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 7 : i64}> : "
     "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, "
     "tensor<3xf32>)",
     "stablehlo.batch_norm_training: (C1) feature_index is 7, expected 0 to 1 for tensor<2x3xf32>"},
    {"cholesky(%a) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3x3xf32>", ""},
    {"cholesky(%a) : (tensor<3xf32>) -> tensor<3xf32>",
     "stablehlo.cholesky: (C2) a is tensor<3xf32>, expected rank 2 or more"},
    {"cholesky(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>",
     "stablehlo.cholesky: (C3) a is tensor<3x4xf32>, expected square matrices in the last two "
     "dimensions"},
    {"cholesky(%a) : (tensor<3x3xf32>) -> tensor<3x3xf64>",
     "stablehlo.cholesky: (C1) types tensor<3x3xf32> and tensor<3x3xf64> have different elements"},
    {"cholesky(%a) : (tensor<3x3xi32>) -> tensor<3x3xi32>",
     "stablehlo.cholesky: (I1) operand 0 is tensor<3x3xi32>, expected tensor of float, complex or "
     "per-tensor quantised"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> "
     "tensor<3x2xf32>",
     ""},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf64>) -> "
     "tensor<3x2xf32>",
     "stablehlo.triangular_solve: (C1) types tensor<3x3xf32> and tensor<3x2xf64> have different "
     "elements"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3xf32>, tensor<3xf32>) -> "
     "tensor<3xf32>",
     "stablehlo.triangular_solve: (C2) a and b are tensor<3xf32> and tensor<3xf32>, expected one "
     "rank of 2 or more"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<1x3x2xf32>) -> "
     "tensor<1x3x2xf32>",
     "stablehlo.triangular_solve: (C2) a and b are tensor<3x3xf32> and tensor<1x3x2xf32>, expected "
     "one rank of 2 or more"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x4xf32>, tensor<3x2xf32>) -> "
     "tensor<3x2xf32>",
     "stablehlo.triangular_solve: (C3) a is tensor<3x4xf32>, expected square matrices in the last "
     "two dimensions"},
    {"triangular_solve(%a, %b) <{left_side = false, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> "
     "tensor<3x2xf32>",
     "stablehlo.triangular_solve: (C3) a and b are tensor<3x3xf32> and tensor<3x2xf32>, expected "
     "dimension 1 of b as large as a"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<5x3x3xf32>, tensor<4x3x2xf32>) "
     "-> tensor<4x3x2xf32>",
     "stablehlo.triangular_solve: (C3) a and b are tensor<5x3x3xf32> and tensor<4x3x2xf32>, "
     "expected the same size of dimension 0"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>}> : (tensor<3x3xf32>, tensor<3x2xf32>) "
     "-> tensor<3x2xf32>",
     "stablehlo.triangular_solve: (I6) transpose_a is TRANSPOSE_INVALID, expected NO_TRANSPOSE, "
     "TRANSPOSE or ADJOINT"},
    {"triangular_solve(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> "
     "tensor<2x3xf32>",
     "stablehlo.triangular_solve: (C4) result 0 is tensor<2x3xf32>, expected tensor<3x2xf32>"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>",
     ""},
    {"fft(%a) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xf32>) -> tensor<3x5xcomplex<f32>>",
     ""},
    {"fft(%a) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 16>}> : "
     "(tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>",
     ""},
    {"fft(%a) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 9, 9>}> : "
     "(tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>",
     "stablehlo.fft: (C1) fft_length is [9, 9], expected at most length 1 for "
     "tensor<9xcomplex<f32>>"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xf32>) -> tensor<3x9xcomplex<f32>>",
     "stablehlo.fft: (C2) operand is tensor<3x9xf32>, expected complex elements"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>",
     "stablehlo.fft: (C2) operand is tensor<3x9xcomplex<f32>>, expected f32 or f64 elements"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 1, 1, 1, 1>}> : "
     "(tensor<1x1x1x1xcomplex<f32>>) -> tensor<1x1x1x1xcomplex<f32>>",
     "stablehlo.fft: (C3) fft_length is [1, 1, 1, 1], expected 1 to 3 lengths"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>}> : "
     "(tensor<3x9xf32>) -> tensor<3x5xcomplex<f32>>",
     "stablehlo.fft: (C4) operand is tensor<3x9xf32>, expected 8 as the size of dimension 1 for "
     "fft_length [8]"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xcomplex<f32>>) -> tensor<3x9xf32>",
     "stablehlo.fft: (C5) operand is tensor<3x9xcomplex<f32>>, expected 5 as the size of dimension "
     "1 for fft_length [9]"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xf32>) -> tensor<3x9xcomplex<f32>>",
     "stablehlo.fft: (C5) result 0 is tensor<3x9xcomplex<f32>>, expected tensor<3x5xcomplex<f32>>"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 9>}> : "
     "(tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f64>>",
     "stablehlo.fft: (C2) result 0 is tensor<3x9xcomplex<f64>>, expected tensor<3x9xcomplex<f32>>"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, "
     "tensor<f32>, tensor<2xi64>) -> tensor<4x5xf32>",
     ""},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, "
     "tensor<f64>, tensor<2xi64>) -> tensor<4x5xf32>",
     "stablehlo.rng: (C1) a and b are tensor<f32> and tensor<f64>, expected one element type"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, "
     "tensor<f32>, tensor<2xi64>) -> tensor<4x5xf64>",
     "stablehlo.rng: (C1) result 0 is tensor<4x5xf64>, expected tensor<?x?xf32>"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<i32>, "
     "tensor<i32>, tensor<2xi64>) -> tensor<4x5xi32>",
     "stablehlo.rng: (C2) a is tensor<i32>, expected floats for the distribution NORMAL"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, "
     "tensor<f32>, tensor<2xi64>) -> tensor<4x5x6xf32>",
     "stablehlo.rng: (C3) result 0 is tensor<4x5x6xf32>, expected tensor<?x?xf32>"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, "
     "tensor<f32>, tensor<?xi64>) -> tensor<4x5xf32>",
     "stablehlo.rng: (I3) operand 2 is tensor<?xi64>, expected 1-dimensional statically shaped "
     "tensor of integer or index"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : "
     "(tensor<1xf32>, tensor<f32>, tensor<2xi64>) -> tensor<4x5xf32>",
     "stablehlo.rng: (I1) operand 0 is tensor<1xf32>, expected 0-dimensional tensor of boolean, "
     "integer or float"},
    {"rng_bit_generator(%a) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : "
     "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)",
     ""},
    {"rng_bit_generator(%a) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : "
     "(tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)",
     "stablehlo.rng_bit_generator: (C1) initial_state and output_state are tensor<2xui64> and "
     "tensor<3xui64>, expected one shape"},
    {"rng_bit_generator(%a) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xi1>) "
     "-> (tensor<2xi1>, tensor<4xui32>)",
     "stablehlo.rng_bit_generator: (I2) operand 0 is tensor<2xi1>, expected tensor of integer or "
     "float"},
};

static void constraints_of_numerical_ops_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(math_ops, TEST(constraints_of_numerical_ops_are_named))
