// Elementwise ops on constants of every class of elements.
#include "programs.h"
#include "support/test.h"

// One operand or two of the same type as the result.
#define UNARY(op, type, a, result)                                                           \
  {                                                                                          \
    "stablehlo." op " %a : " type, {"dense<" a "> : " type}, { "dense<" result "> : " type } \
  }
#define BINARY(op, type, a, b, result)                                                     \
  {                                                                                        \
    "stablehlo." op " %a, %b : " type, {"dense<" a "> : " type, "dense<" b "> : " type}, { \
      "dense<" result "> : " type                                                          \
    }                                                                                      \
  }
#define UNKNOWN(op, type, a, b)                                                                \
  {                                                                                            \
    "stablehlo." op " %a, %b : " type, {"dense<" a "> : " type, "dense<" b "> : " type}, { 0 } \
  }
#define CHLO(op, from, a, to, result)                                                           \
  {                                                                                             \
    "chlo." op " %a : " from " -> " to, {"dense<" a "> : " from}, { "dense<" result "> : " to } \
  }
#define CONVERT(from, a, to, result)                                        \
  {                                                                         \
    "stablehlo.convert %a : (" from ") -> " to, {"dense<" a "> : " from}, { \
      "dense<" result "> : " to                                             \
    }                                                                       \
  }
#define COMPARE(direction, kind, type, a, b, result)                                            \
  {                                                                                             \
    "stablehlo.compare " direction ", %a, %b, " kind " : (" type ", " type ") -> tensor<4xi1>", \
        {"dense<" a "> : " type, "dense<" b "> : " type}, {                                     \
      "dense<" result "> : tensor<4xi1>"                                                        \
    }                                                                                           \
  }

// clang-format off
static const test_fold integers[] = {
    BINARY("add", "tensor<2xi8>", "[127, -1]", "[1, -1]", "[-128, -2]"),
    BINARY("add", "tensor<2xui8>", "[255, 1]", "[1, 2]", "[0, 3]"),
    BINARY("add", "tensor<2xi2>", "[1, -2]", "[1, -1]", "[-2, 1]"),
    BINARY("add", "tensor<4xi1>", "[false, false, true, true]", "[false, true, false, true]", "[false, true, true, true]"),
    BINARY("multiply", "tensor<4xi1>", "[false, false, true, true]", "[false, true, false, true]", "[false, false, false, true]"),
    BINARY("subtract", "tensor<2xui4>", "[0, 9]", "[1, 3]", "[15, 6]"),
    BINARY("multiply", "tensor<2xi4>", "[7, -8]", "[7, -8]", "[1, 0]"),
    BINARY("multiply", "tensor<1xi64>", "4611686018427387904", "2", "-9223372036854775808"),
    BINARY("divide", "tensor<4xi32>", "[7, -7, 7, -7]", "[2, 2, -2, -2]", "[3, -3, -3, 3]"),
    BINARY("divide", "tensor<2xui64>", "[18446744073709551615, 7]", "[2, 2]", "[9223372036854775807, 3]"),
    UNKNOWN("divide", "tensor<1xi32>", "1", "0"),
    UNKNOWN("divide", "tensor<1xi8>", "-128", "-1"),
    UNKNOWN("divide", "tensor<1xi64>", "-9223372036854775808", "-1"),
    UNKNOWN("remainder", "tensor<1xui32>", "1", "0"),
    BINARY("remainder", "tensor<4xi32>", "[7, -7, 7, -2147483648]", "[3, 3, -3, -1]", "[1, -1, 1, 0]"),
    BINARY("power", "tensor<6xi32>", "[2, 2, 1, -1, -1, 0]", "[10, -1, -5, -5, -4, 0]", "[1024, 0, 1, -1, 1, 1]"),
    BINARY("power", "tensor<1xui8>", "3", "6", "217"),
    BINARY("shift_left", "tensor<4xi8>", "[1, 1, -1, 3]", "[7, 8, -1, 1]", "[-128, 0, 0, 6]"),
    BINARY("shift_right_arithmetic", "tensor<3xi8>", "[-128, -128, 64]", "[7, 100, 9]", "[-1, -1, 0]"),
    BINARY("shift_right_logical", "tensor<3xi8>", "[-128, -128, 64]", "[7, 100, 1]", "[1, 0, 32]"),
    BINARY("and", "tensor<2xui2>", "[3, 2]", "[1, 3]", "[1, 2]"),
    BINARY("or", "tensor<2xi16>", "[1, 2]", "[2, 2]", "[3, 2]"),
    BINARY("xor", "tensor<2xi1>", "[true, false]", "[true, true]", "[false, true]"),
    BINARY("maximum", "tensor<2xui8>", "[200, 3]", "[100, 4]", "[200, 4]"),
    BINARY("minimum", "tensor<2xi8>", "[-56, 3]", "[100, 4]", "[-56, 3]"),
    UNARY("not", "tensor<2xi1>", "[true, false]", "[false, true]"),
    UNARY("not", "tensor<2xui4>", "[0, 5]", "[15, 10]"),
    UNARY("negate", "tensor<2xi8>", "[-128, 5]", "[-128, -5]"),
    UNARY("abs", "tensor<2xi8>", "[-128, -5]", "[-128, 5]"),
    UNARY("sign", "tensor<3xi32>", "[-9, 0, 9]", "[-1, 0, 1]"),
    UNARY("count_leading_zeros", "tensor<4xi8>", "[0, 1, 64, -1]", "[8, 7, 1, 0]"),
    UNARY("popcnt", "tensor<3xi4>", "[-1, 0, 5]", "[4, 0, 2]"),
    {"stablehlo.clamp %a, %b, %c : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>",
     {"dense<0> : tensor<i32>", "dense<[-5, 5, 50]> : tensor<3xi32>", "dense<10> : tensor<i32>"},
     {"dense<[0, 5, 10]> : tensor<3xi32>"}},
    {"chlo.mulhi %a, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>",
     {"dense<[127, -128]> : tensor<2xi8>", "dense<[127, 127]> : tensor<2xi8>"},
     {"dense<[63, -64]> : tensor<2xi8>"}},
};

static const test_fold floats[] = {
    BINARY("add", "tensor<2xf32>", "[16777216.0, 0x7F800000]", "[1.0, 0xFF800000]", "[16777216.0, 0x7FC00000]"),
    BINARY("add", "tensor<1xf16>", "65504.0", "16.0", "0x7C00"),
    BINARY("add", "tensor<1xbf16>", "256.0", "1.0", "256.0"),
    BINARY("multiply", "tensor<2xf8E4M3FN>", "[448.0, 1.5]", "[2.0, 1.5]", "[0x7F, 2.25]"),
    BINARY("multiply", "tensor<2xf8E5M2>", "[57344.0, 1.5]", "[2.0, 1.5]", "[0x7C, 2.0]"),
    BINARY("subtract", "tensor<2xf64>", "[0.0, 1.0]", "[0.0, 0.9]", "[0.0, 0.099999999999999978]"),
    BINARY("divide", "tensor<4xf32>", "[1.0, -1.0, 0.0, 1.0]", "[0.0, 0.0, 0.0, 3.0]", "[0x7F800000, 0xFF800000, 0x7FC00000, 0x3EAAAAAB]"),
    BINARY("remainder", "tensor<3xf32>", "[5.5, -5.5, 5.5]", "[2.0, 2.0, -2.0]", "[1.5, -1.5, 1.5]"),
    BINARY("maximum", "tensor<3xf32>", "[0x7FC00001, -0.0, 1.0]", "[1.0, 0.0, 2.0]", "[0x7FC00001, 0.0, 2.0]"),
    BINARY("minimum", "tensor<3xf32>", "[1.0, 0.0, 1.0]", "[0xFFC00000, -0.0, 2.0]", "[0xFFC00000, -0.0, 1.0]"),
    BINARY("power", "tensor<3xf32>", "[2.0, 0x7FC00000, -8.0]", "[0.5, 0.0, 0.33333334]", "[0x3FB504F3, 1.0, 0x7FC00000]"),
    BINARY("atan2", "tensor<2xf32>", "[0.0, -0.0]", "[-1.0, -1.0]", "[0x40490FDB, 0xC0490FDB]"),
    UNARY("abs", "tensor<2xf32>", "[-0.0, 0xFFC00000]", "[0.0, 0x7FC00000]"),
    UNARY("negate", "tensor<2xf16>", "[0.0, 0x7E00]", "[-0.0, 0xFE00]"),
    UNARY("sign", "tensor<4xf32>", "[-3.0, -0.0, 0x7FC00000, 2.0]", "[-1.0, -0.0, 0x7FC00000, 1.0]"),
    UNARY("ceil", "tensor<2xf32>", "[1.2, -0.5]", "[2.0, -0.0]"),
    UNARY("floor", "tensor<2xf32>", "[1.8, -0.5]", "[1.0, -1.0]"),
    UNARY("round_nearest_afz", "tensor<4xf32>", "[2.5, -2.5, 0.5, 1.4]", "[3.0, -3.0, 1.0, 1.0]"),
    UNARY("round_nearest_even", "tensor<4xf32>", "[2.5, -2.5, 0.5, 1.5]", "[2.0, -2.0, 0.0, 2.0]"),
    UNARY("sqrt", "tensor<3xf32>", "[2.0, -0.0, -1.0]", "[0x3FB504F3, -0.0, 0x7FC00000]"),
    UNARY("rsqrt", "tensor<2xf32>", "[4.0, 0.0]", "[0.5, 0x7F800000]"),
    UNARY("cbrt", "tensor<2xf32>", "[27.0, -8.0]", "[3.0, -2.0]"),
    UNARY("exponential", "tensor<2xf32>", "[0.0, 1.0]", "[1.0, 0x402DF854]"),
    UNARY("exponential_minus_one", "tensor<1xf32>", "1.0e-10", "1.0e-10"),
    UNARY("log", "tensor<3xf32>", "[1.0, 0.0, 2.0]", "[0.0, 0xFF800000, 0x3F317218]"),
    UNARY("log_plus_one", "tensor<1xf32>", "1.0e-10", "1.0e-10"),
    UNARY("logistic", "tensor<3xf32>", "[0.0, 0xFF800000, 0x7F800000]", "[0.5, 0.0, 1.0]"),
    UNARY("sine", "tensor<1xf32>", "1.0", "0x3F576AA4"),
    UNARY("cosine", "tensor<1xf32>", "1.0", "0x3F0A5140"),
    UNARY("tan", "tensor<1xf32>", "1.0", "0x3FC75923"),
    UNARY("tanh", "tensor<2xf32>", "[1.0, 0xFF800000]", "[0x3F42F7D6, -1.0]"),
    {"stablehlo.is_finite %a : (tensor<3xf32>) -> tensor<3xi1>",
     {"dense<[1.0, 0x7F800000, 0x7FC00000]> : tensor<3xf32>"}, {"dense<[true, false, false]> : tensor<3xi1>"}},
    {"stablehlo.reduce_precision %a, format = e5m2 : tensor<5xf32>",
     {"dense<[1.1, 1.0e9, 1.0e-9, 0x7FC00000, -57345.0]> : tensor<5xf32>"},
     {"dense<[1.0, 0x7F800000, 0.0, 0x7FC00000, -57344.0]> : tensor<5xf32>"}},
    {"stablehlo.reduce_precision %a, format = e5m1 : tensor<2xf16>",
     {"dense<[1.25, 1.3]> : tensor<2xf16>"}, {"dense<[1.0, 1.5]> : tensor<2xf16>"}},
    {"stablehlo.reduce_precision %a, format = e5m7 : tensor<2xbf16>",
     {"dense<[1.5, 1.0e6]> : tensor<2xbf16>"}, {"dense<[1.5, 0x7F80]> : tensor<2xbf16>"}},
    {"stablehlo.reduce_precision %a, format = e4m1 : tensor<1xf8E5M2>",
     {"dense<1.75> : tensor<1xf8E5M2>"}, {0}},
    {"stablehlo.reduce_precision %a, format = e8m7 : tensor<2xf32>",
     {"dense<[1.00390625, 1.01171875]> : tensor<2xf32>"}, {"dense<[1.0, 1.015625]> : tensor<2xf32>"}},
};

static const test_fold complexes[] = {
    BINARY("add", "tensor<1xcomplex<f32>>", "(1.0, 2.0)", "(3.0, -1.0)", "(4.0, 1.0)"),
    BINARY("multiply", "tensor<1xcomplex<f32>>", "(1.0, 2.0)", "(3.0, -1.0)", "(5.0, 5.0)"),
    BINARY("divide", "tensor<1xcomplex<f32>>", "(5.0, 5.0)", "(3.0, -1.0)", "(1.0, 2.0)"),
    UNARY("negate", "tensor<1xcomplex<f64>>", "(5.0, 0.0)", "(-5.0, -0.0)"),
    UNARY("sqrt", "tensor<1xcomplex<f32>>", "(-4.0, 0.0)", "(0.0, 2.0)"),
    BINARY("subtract", "tensor<1xcomplex<f32>>", "(1.0, 2.0)", "(3.0, -1.0)", "(-2.0, 3.0)"),
    // In the order of real parts, then of imaginary ones.
    BINARY("maximum", "tensor<3xcomplex<f32>>", "[(1.0, 2.0), (1.0, 2.0), (3.0, 0.0)]", "[(1.0, 3.0), (0.0, 9.0), (3.0, 0.0)]", "[(1.0, 3.0), (1.0, 2.0), (3.0, 0.0)]"),
    BINARY("minimum", "tensor<2xcomplex<f32>>", "[(1.0, 2.0), (1.0, 2.0)]", "[(1.0, 3.0), (0.0, 9.0)]", "[(1.0, 2.0), (0.0, 9.0)]"),
    UNARY("cosine", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3FD420B3, 0x3F449BB5)"),
    UNARY("exponential", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3F0516C5, 0xBFC8452D)"),
    UNARY("log", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3E983EBA, 0xBF985B6C)"),
    UNARY("logistic", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3F2E3996, 0xBEA85D19)"),
    UNARY("rsqrt", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3F36B2EF, 0x3EF762ED)"),
    UNARY("sine", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3F67C595, 0xBFB3F1C9)"),
    UNARY("sqrt", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3F75F74B, 0xBF2686EF)"),
    UNARY("tan", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3E01229B, 0xBF681F1E)"),
    UNARY("tanh", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3FCABF51, 0xBF4E7F9D)"),
    UNARY("exponential_minus_one", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0xBEF5D276, 0xBFC8452D)"),
    UNARY("log_plus_one", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3F2B4CED, 0xBF31DA5E)"),
    UNARY("sign", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(0x3EBE26EB, 0xBF6DB0A6)"),
    BINARY("power", "tensor<1xcomplex<f32>>", "(0.5, -1.25)", "(2.0, 0.5)", "(0xC00125EB, 0xC0260699)"),
    UNARY("sign", "tensor<1xcomplex<f32>>", "(0.0, -0.0)", "(0.0, 0.0)"),
    UNKNOWN("divide", "tensor<1xcomplex<f32>>", "(1.0, 0x7F800000)", "(1.0, 1.0)"),
    UNKNOWN("power", "tensor<1xcomplex<f32>>", "(1.0, 0.0)", "(0x7FC00000, 1.0)"),
    {"stablehlo.sign %a : tensor<1xcomplex<f32>>", {"dense<(1.0, 0x7F800000)> : tensor<1xcomplex<f32>>"}, {0}},
    {"stablehlo.log_plus_one %a : tensor<1xcomplex<f64>>", {"dense<(1.0, 2.0)> : tensor<1xcomplex<f64>>"}, {0}},
    {"stablehlo.real %a : (tensor<1xf32>) -> tensor<1xf32>", {"dense<2.5> : tensor<1xf32>"}, {"dense<2.5> : tensor<1xf32>"}},
    {"stablehlo.imag %a : (tensor<1xf32>) -> tensor<1xf32>", {"dense<2.5> : tensor<1xf32>"}, {"dense<0.0> : tensor<1xf32>"}},
    CHLO("conj", "tensor<1xcomplex<f32>>", "(1.0, 2.0)", "tensor<1xcomplex<f32>>", "(1.0, -2.0)"),
    CHLO("square", "tensor<1xcomplex<f32>>", "(1.0, 2.0)", "tensor<1xcomplex<f32>>", "(-3.0, 4.0)"),
    CHLO("square", "tensor<1xcomplex<f32>>", "(1.0e+38, 0x7F800000)", "tensor<1xcomplex<f32>>",
         "(0xFF800000, 0x7F800000)"),
    CHLO("cosh", "tensor<1xf32>", "9.0", "tensor<1xf32>", "4051.54"),
    {"stablehlo.abs %a : (tensor<1xcomplex<f32>>) -> tensor<1xf32>",
     {"dense<(3.0, 4.0)> : tensor<1xcomplex<f32>>"}, {"dense<5.0> : tensor<1xf32>"}},
    {"stablehlo.real %a : (tensor<2xcomplex<f32>>) -> tensor<2xf32>",
     {"dense<[(3.0, 4.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>"}, {"dense<[3.0, 1.0]> : tensor<2xf32>"}},
    {"stablehlo.imag %a : (tensor<1xcomplex<f32>>) -> tensor<1xf32>",
     {"dense<(3.0, 4.0)> : tensor<1xcomplex<f32>>"}, {"dense<4.0> : tensor<1xf32>"}},
    {"stablehlo.complex %a, %b : tensor<1xcomplex<f64>>",
     {"dense<3.0> : tensor<1xf64>", "dense<4.0> : tensor<1xf64>"}, {"dense<(3.0, 4.0)> : tensor<1xcomplex<f64>>"}},
};

static const test_fold functions_of_chlo[] = {
    CHLO("acos", "tensor<1xf32>", "0.5", "tensor<1xf32>", "0x3F860A92"),
    CHLO("acosh", "tensor<1xf32>", "2.0", "tensor<1xf32>", "0x3FA89214"),
    CHLO("asin", "tensor<1xf32>", "0.5", "tensor<1xf32>", "0x3F060A92"),
    CHLO("asinh", "tensor<1xf32>", "-2.0", "tensor<1xf32>", "0xBFB8C90C"),
    CHLO("atan", "tensor<1xf32>", "3.0", "tensor<1xf32>", "0x3F9FE0BB"),
    CHLO("atanh", "tensor<1xf32>", "0.5", "tensor<1xf32>", "0x3F0C9F54"),
    CHLO("cosh", "tensor<1xf32>", "1.5", "tensor<1xf32>", "0x40168DE1"),
    CHLO("erf", "tensor<1xf32>", "0.5", "tensor<1xf32>", "0x3F053F7B"),
    CHLO("erfc", "tensor<1xf32>", "2.0", "tensor<1xf32>", "0x3B9947AF"),
    CHLO("lgamma", "tensor<1xf32>", "0.5", "tensor<1xf32>", "0x3F128682"),
    CHLO("sinh", "tensor<1xf32>", "-1.5", "tensor<1xf32>", "0xC008461D"),
    CHLO("square", "tensor<1xf32>", "-1.5", "tensor<1xf32>", "0x40100000"),
    CHLO("tan", "tensor<1xf32>", "1.0", "tensor<1xf32>", "0x3FC75923"),
    CHLO("conj", "tensor<1xf32>", "-1.5", "tensor<1xf32>", "-1.5"),
    CHLO("is_inf", "tensor<4xf32>", "[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]", "tensor<4xi1>", "[true, true, false, false]"),
    CHLO("is_neg_inf", "tensor<4xf32>", "[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]", "tensor<4xi1>", "[false, true, false, false]"),
    CHLO("is_pos_inf", "tensor<4xf32>", "[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]", "tensor<4xi1>", "[true, false, false, false]"),
};

static const test_fold conversions[] = {
    CONVERT("tensor<4xf32>", "[1.9, -1.9, 1.0e20, 0x7FC00000]", "tensor<4xi32>", "[1, -1, 2147483647, 0]"),
    CONVERT("tensor<3xf32>", "[-1.0, 300.0, 7.5]", "tensor<3xui8>", "[0, 255, 7]"),
    CONVERT("tensor<3xf32>", "[-9.0, 9.0, 3.0]", "tensor<3xi4>", "[-8, 7, 3]"),
    CONVERT("tensor<3xf32>", "[0.0, -0.0, 0x7FC00000]", "tensor<3xi1>", "[false, false, true]"),
    CONVERT("tensor<2xi32>", "[300, -1]", "tensor<2xi8>", "[44, -1]"),
    CONVERT("tensor<2xi8>", "[-1, 5]", "tensor<2xui32>", "[4294967295, 5]"),
    CONVERT("tensor<2xui8>", "[255, 5]", "tensor<2xi32>", "[255, 5]"),
    CONVERT("tensor<2xi32>", "[256, 0]", "tensor<2xi1>", "[true, false]"),
    CONVERT("tensor<2xi1>", "[true, false]", "tensor<2xf32>", "[1.0, 0.0]"),
    // Rounded once: in f64 both are halfway between two numbers of the result.
    CONVERT("tensor<1xui64>", "9259400833873739777", "tensor<1xbf16>", "9295429630892703744.0"),
    CONVERT("tensor<1xi64>", "9007199791611905", "tensor<1xf32>", "9007200328482816.0"),
    CONVERT("tensor<2xf64>", "[65520.0, 0.1]", "tensor<2xf16>", "[0x7C00, 0x2E66]"),
    CONVERT("tensor<2xf32>", "[0.1, 3.0e38]", "tensor<2xbf16>", "[0x3DCD, 0x7F62]"),
    CONVERT("tensor<2xi64>", "[-9223372036854775808, -3]", "tensor<2xf32>", "[-9223372036854775808.0, -3.0]"),
    // f8E8M0FNU has powers of two only: no zero, no sign.
    CONVERT("tensor<2xf32>", "[4.0, 0x7FC00000]", "tensor<2xf8E8M0FNU>", "[4.0, 0xFF]"),
    {"stablehlo.convert %a : (tensor<1xf32>) -> tensor<1xf8E8M0FNU>", {"dense<-1.0> : tensor<1xf32>"}, {0}},
    {"stablehlo.convert %a : (tensor<1xf32>) -> tensor<1xf6E2M3FN>", {"dense<0x7FC00000> : tensor<1xf32>"}, {0}},
    CONVERT("tensor<1xf32>", "1.0", "tensor<1xcomplex<f32>>", "(1.0, 0.0)"),
    CONVERT("tensor<1xcomplex<f32>>", "(1.5, 2.0)", "tensor<1xf64>", "1.5"),
    CONVERT("tensor<1xcomplex<f32>>", "(1.5, 2.0)", "tensor<1xi32>", "1"),
};

static const test_fold comparisons[] = {
    COMPARE("LT", "SIGNED", "tensor<4xi32>", "[1, 2, 3, -1]", "[2, 2, 2, 0]", "[true, false, false, true]"),
    COMPARE("LT", "UNSIGNED", "tensor<4xui32>", "[1, 2, 3, 4294967295]", "[2, 2, 2, 0]", "[true, false, false, false]"),
    COMPARE("LE", "FLOAT", "tensor<4xf32>", "[1.0, 2.0, 0x7FC00000, -0.0]", "[2.0, 1.0, 0x7FC00000, 0.0]", "[true, false, false, true]"),
    COMPARE("NE", "FLOAT", "tensor<4xf32>", "[1.0, 2.0, 0x7FC00000, -0.0]", "[1.0, 1.0, 0x7FC00000, 0.0]", "[false, true, true, false]"),
    COMPARE("LT", "TOTALORDER", "tensor<4xf32>", "[-0.0, 0xFFC00000, 1.0, 0x7F800000]", "[0.0, 0xFF800000, 1.0, 0x7FC00000]", "[true, true, false, true]"),
    COMPARE("EQ", "TOTALORDER", "tensor<4xbf16>", "[-0.0, 0x7FC0, 1.0, 2.0]", "[0.0, 0x7FC0, 1.0, 1.0]", "[false, true, true, false]"),
    COMPARE("GE", "UNSIGNED", "tensor<4xi1>", "[false, false, true, true]", "[false, true, false, true]", "[true, false, true, true]"),
    COMPARE("EQ", "FLOAT", "tensor<4xcomplex<f32>>", "[(1.0, 2.0), (0.0, 0.0), (1.0, 2.0), (1.0, 0x7FC00000)]",
            "[(1.0, 2.0), (-0.0, 0.0), (1.0, 3.0), (1.0, 0x7FC00000)]", "[true, true, false, false]"),
    {"stablehlo.select %a, %b, %c : tensor<2xi1>, tensor<2xi4>",
     {"dense<[true, false]> : tensor<2xi1>", "dense<[1, 2]> : tensor<2xi4>", "dense<[-1, -2]> : tensor<2xi4>"},
     {"dense<[1, -2]> : tensor<2xi4>"}},
    {"stablehlo.select %a, %b, %c : tensor<i1>, tensor<2xf32>",
     {"dense<false> : tensor<i1>", "dense<1.0> : tensor<2xf32>", "dense<[3.0, 4.0]> : tensor<2xf32>"},
     {"dense<[3.0, 4.0]> : tensor<2xf32>"}},
};
// clang-format on

static void integers_wrap_and_undefined_results_stay_unknown(void **state) {
  (void)state;
  assert_folds(integers, COUNT_OF(integers));
}

static void floats_are_rounded_once_and_keep_nans_and_zeros(void **state) {
  (void)state;
  assert_folds(floats, COUNT_OF(floats));
}

static void complex_numbers_follow_their_formulas(void **state) {
  (void)state;
  assert_folds(complexes, COUNT_OF(complexes));
}

static void functions_of_chlo_are_computed_in_double(void **state) {
  (void)state;
  assert_folds(functions_of_chlo, COUNT_OF(functions_of_chlo));
}

static void conversions_truncate_wrap_and_saturate(void **state) {
  (void)state;
  assert_folds(conversions, COUNT_OF(conversions));
}

static void comparisons_know_nans_and_the_total_order(void **state) {
  (void)state;
  assert_folds(comparisons, COUNT_OF(comparisons));
}

SUITE(evaluate, TEST(integers_wrap_and_undefined_results_stay_unknown),
      TEST(floats_are_rounded_once_and_keep_nans_and_zeros),
      TEST(complex_numbers_follow_their_formulas), TEST(functions_of_chlo_are_computed_in_double),
      TEST(conversions_truncate_wrap_and_saturate), TEST(comparisons_know_nans_and_the_total_order))
