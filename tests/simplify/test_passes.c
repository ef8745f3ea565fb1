// Passes of local rules, and merging: programs before and after.
#include <stdio.h>

#include "programs.h"
#include "support/test.h"

typedef struct pass_case {
  const char *passes, *arguments, *before, *after;
} pass_case;

// Bodies of a function; `arguments` are its arguments and result.
static void assert_pass_cases(const pass_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char before[4096], after[4096];
    snprintf(before, sizeof before, "func.func @main%s {\n%s\n}\n", cases[i].arguments,
             cases[i].before);
    snprintf(after, sizeof after, "func.func @main%s {\n%s\n}\n", cases[i].arguments,
             cases[i].after);
    assert_passes(cases[i].passes, before, after);
  }
}

#define I32 "(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32>"
#define F32 "(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>"
#define RETURN_X "return %x : tensor<4xi32>"
#define RETURN_R "return %r : tensor<4xi32>"
#define C(number) "%c = stablehlo.constant dense<" number "> : tensor<4xi32>\n"
#define FC(number) "%c = stablehlo.constant dense<" number "> : tensor<4xf32>\n"
// A function of one op on %x and a constant that is %x, or that stays.
#define GIVES_X(passes, op, number) \
  { passes, I32, C(number) "%r = stablehlo." op " : tensor<4xi32>\n" RETURN_R, RETURN_X }
#define GIVES_CONSTANT(op, number, result)                                        \
  {                                                                               \
    "algebra", I32, C(number) "%r = stablehlo." op " : tensor<4xi32>\n" RETURN_R, \
        "%r = stablehlo.constant dense<" result "> : tensor<4xi32>\n" RETURN_R    \
  }
#define FLOAT_GIVES_X(op, number)                                                                  \
  {                                                                                                \
    "algebra", F32, FC(number) "%r = stablehlo." op " : tensor<4xf32>\nreturn %r : tensor<4xf32>", \
        "return %x : tensor<4xf32>"                                                                \
  }
#define FLOAT_STAYS(op, number)                                                                    \
  {                                                                                                \
    "algebra", F32, FC(number) "%r = stablehlo." op " : tensor<4xf32>\nreturn %r : tensor<4xf32>", \
        FC(number) "%r = stablehlo." op " : tensor<4xf32>\nreturn %r : tensor<4xf32>"              \
  }

// clang-format off
static const pass_case identities[] = {
    GIVES_X("algebra", "add %x, %c", "0"),
    GIVES_X("algebra", "add %c, %x", "0"),
    GIVES_X("algebra", "subtract %x, %c", "0"),
    GIVES_X("algebra", "multiply %x, %c", "1"),
    GIVES_X("algebra", "divide %x, %c", "1"),
    GIVES_X("algebra", "power %x, %c", "1"),
    GIVES_X("algebra", "and %x, %c", "-1"),
    GIVES_X("algebra", "or %c, %x", "0"),
    GIVES_X("algebra", "xor %x, %c", "0"),
    GIVES_X("algebra", "shift_left %x, %c", "0"),
    GIVES_X("algebra", "and %x, %x", "7"),
    GIVES_X("algebra", "maximum %x, %x", "7"),
    GIVES_CONSTANT("multiply %x, %c", "0", "0"),
    GIVES_CONSTANT("and %x, %c", "0", "0"),
    GIVES_CONSTANT("or %x, %c", "-1", "-1"),
    GIVES_CONSTANT("subtract %x, %x", "5", "0"),
    GIVES_CONSTANT("xor %x, %x", "5", "0"),
    GIVES_CONSTANT("power %x, %c", "0", "1"),
    FLOAT_GIVES_X("add %x, %c", "-0.0"),
    FLOAT_GIVES_X("subtract %x, %c", "0.0"),
    FLOAT_GIVES_X("multiply %x, %c", "1.0"),
    FLOAT_GIVES_X("divide %x, %c", "1.0"),
    FLOAT_GIVES_X("power %x, %c", "1.0"),
    FLOAT_GIVES_X("minimum %x, %x", "1.0"),
    FLOAT_STAYS("add %x, %c", "0.0"),
    FLOAT_STAYS("subtract %x, %c", "-0.0"),
    FLOAT_STAYS("multiply %x, %c", "0.0"),
    {"algebra", F32, "%r = stablehlo.subtract %x, %x : tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "%r = stablehlo.subtract %x, %x : tensor<4xf32>\nreturn %r : tensor<4xf32>"},
    {"algebra", I32, "%0 = stablehlo.negate %x : tensor<4xi32>\n%r = stablehlo.negate %0 : tensor<4xi32>\n" RETURN_R, RETURN_X},
    {"algebra", I32, "%0 = stablehlo.reverse %x, dims = [0] : tensor<4xi32>\n%r = stablehlo.reverse %0, dims = [0] : tensor<4xi32>\n" RETURN_R, RETURN_X},
    {"algebra", I32, "%p = stablehlo.constant dense<true> : tensor<i1>\n%r = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4xi32>\n" RETURN_R, RETURN_X},
    {"algebra", I32, "%r = stablehlo.convert %x : tensor<4xi32>\n" RETURN_R, RETURN_X},
    {"algebra", I32, "%0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi64>\n%r = stablehlo.convert %0 : (tensor<4xi64>) -> tensor<4xi32>\n" RETURN_R, RETURN_X},
    {"algebra", I32, "%0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf32>\n%r = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>\n" RETURN_R,
     "%0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf32>\n%r = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>\n" RETURN_R},
    {"algebra", "(%x: tensor<4xi32>) -> tensor<4xi1>", "%r = stablehlo.compare LE, %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>",
     "%r = stablehlo.constant dense<true> : tensor<4xi1>\nreturn %r : tensor<4xi1>"},
    {"algebra", "(%x: tensor<4xf32>) -> tensor<4xi1>", "%r = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>",
     "%r = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>"},
    {"algebra", "(%x: tensor<4x6xf32>) -> tensor<2x6xf32>",
     "%i = stablehlo.constant dense<9> : tensor<i32>\n%j = stablehlo.constant dense<0> : tensor<i32>\n"
     "%r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>\nreturn %r : tensor<2x6xf32>",
     "%r = stablehlo.slice %x [2:4, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>\nreturn %r : tensor<2x6xf32>"},
    // Attributes that others read keep their op.
    {"algebra", I32, C("0") "%r = stablehlo.add %x, %c {mhlo.frontend_attributes = {a = \"b\"}} : tensor<4xi32>\n" RETURN_R,
     C("0") "%r = stablehlo.add %x, %c {mhlo.frontend_attributes = {a = \"b\"}} : tensor<4xi32>\n" RETURN_R},
};

#define PERMUTED "(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> "
static const pass_case shapes[] = {
    {"transposes", PERMUTED "tensor<2x3x4xf32>",
     "%0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>\n"
     "%r = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>\nreturn %r : tensor<2x3x4xf32>",
     "return %x : tensor<2x3x4xf32>"},
    {"transposes", PERMUTED "tensor<2x4x3xf32>",
     "%0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>\n"
     "%r = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>\nreturn %r : tensor<2x4x3xf32>",
     "%r = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>\nreturn %r : tensor<2x4x3xf32>"},
    {"transposes", "(%x: tensor<1x3xf32>) -> tensor<3x1xf32>",
     "%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x1xf32>\nreturn %r : tensor<3x1xf32>",
     "%r = stablehlo.reshape %x : (tensor<1x3xf32>) -> tensor<3x1xf32>\nreturn %r : tensor<3x1xf32>"},
    {"transposes", PERMUTED "tensor<2x3x5xf32>",
     "%0 = stablehlo.transpose %y, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>\n"
     "%r = stablehlo.dot_general %x, %0, contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>\nreturn %r : tensor<2x3x5xf32>",
     "%r = stablehlo.dot_general %x, %y, contracting_dims = [2] x [0] : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>\nreturn %r : tensor<2x3x5xf32>"},
    // The free dimensions would change places.
    {"transposes", PERMUTED "tensor<3x2x5xf32>",
     "%0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>\n"
     "%r = stablehlo.dot_general %0, %y, contracting_dims = [2] x [0] : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>\nreturn %r : tensor<3x2x5xf32>",
     "%0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>\n"
     "%r = stablehlo.dot_general %0, %y, contracting_dims = [2] x [0] : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>\nreturn %r : tensor<3x2x5xf32>"},
    {"transposes", "(%x: tensor<3xf32>) -> tensor<2x3xf32>",
     "%0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>\n"
     "%r = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>",
     "%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>"},
    {"reshapes", PERMUTED "tensor<24xf32>",
     "%0 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>\n%r = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>\nreturn %r : tensor<24xf32>",
     "%r = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<24xf32>\nreturn %r : tensor<24xf32>"},
    {"reshapes", PERMUTED "tensor<2x3x4xf32>",
     "%0 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>\n%r = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>\nreturn %r : tensor<2x3x4xf32>",
     "return %x : tensor<2x3x4xf32>"},
    {"reshapes", "(%x: tensor<3xf32>) -> tensor<1x3xf32>",
     "%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>\nreturn %r : tensor<1x3xf32>",
     "%r = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<1x3xf32>\nreturn %r : tensor<1x3xf32>"},
    {"reshapes", "(%x: tensor<3xf32>) -> tensor<2x3xf32>",
     "%0 = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<1x3xf32>\n"
     "%r = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>",
     "%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>"},
    {"reshapes", "(%x: tensor<3xf32>) -> tensor<4x3x2xf32>",
     "%0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>\n"
     "%r = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<4x3x2xf32>\nreturn %r : tensor<4x3x2xf32>",
     "%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<4x3x2xf32>\nreturn %r : tensor<4x3x2xf32>"},
};

static const pass_case inverses[] = {
    // A pair of conversions goes if the type between them holds every number.
#define THERE_AND_BACK(type, between) \
    {"algebra", "(%x: " type ") -> " type, \
     "%1 = stablehlo.convert %x : (" type ") -> " between "\n%r = stablehlo.convert %1 : (" between ") -> " type "\nreturn %r : " type, \
     "return %x : " type}
#define THERE_AND_NOT_BACK(type, between) \
    {"algebra", "(%x: " type ") -> " type, \
     "%1 = stablehlo.convert %x : (" type ") -> " between "\n%r = stablehlo.convert %1 : (" between ") -> " type "\nreturn %r : " type, \
     "%1 = stablehlo.convert %x : (" type ") -> " between "\n%r = stablehlo.convert %1 : (" between ") -> " type "\nreturn %r : " type}
    THERE_AND_BACK("tensor<4xi8>", "tensor<4xi16>"),
    THERE_AND_BACK("tensor<4xui8>", "tensor<4xi16>"),
    THERE_AND_BACK("tensor<4xbf16>", "tensor<4xf32>"),
    THERE_AND_BACK("tensor<4xf16>", "tensor<4xf64>"),
    THERE_AND_BACK("tensor<4xf32>", "tensor<4xf64>"),
    THERE_AND_NOT_BACK("tensor<4xui8>", "tensor<4xi8>"),
    THERE_AND_NOT_BACK("tensor<4xf32>", "tensor<4xbf16>"),
    THERE_AND_NOT_BACK("tensor<4xbf16>", "tensor<4xf16>"),
    THERE_AND_NOT_BACK("tensor<4xi32>", "tensor<4xf32>"),
    {"algebra", "(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>",
     "%n = stablehlo.not %p : tensor<4xi1>\n%r = stablehlo.select %n, %x, %y : tensor<4xi1>, tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "%r = stablehlo.select %p, %y, %x : tensor<4xi1>, tensor<4xf32>\nreturn %r : tensor<4xf32>"},
    {"algebra", "(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>",
     "%a = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>\n%b = stablehlo.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>\n"
     "%r = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>\nreturn %r : tensor<4xcomplex<f32>>",
     "return %x : tensor<4xcomplex<f32>>"},
    {"algebra", F32,
     "%t = stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<4xf32>>\n"
     "%r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "return %y : tensor<4xf32>"},
    {"algebra", F32, "%r = stablehlo.reduce_precision %x, format = e8m23 : tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "return %x : tensor<4xf32>"},
    {"algebra", F32, "%r = stablehlo.reduce_precision %x, format = e8m22 : tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "%r = stablehlo.reduce_precision %x, format = e8m22 : tensor<4xf32>\nreturn %r : tensor<4xf32>"},
    {"algebra", "(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32>",
     "%r = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "return %y : tensor<4xf32>"},
};

// A constant goes to the right, and the comparison turns around.
#define TURNED(from, to) \
  {"operand-order", "(%x: tensor<4xi32>) -> tensor<4xi1>", \
   C("7") "%r = stablehlo.compare " from ", %c, %x, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>", \
   C("7") "%r = stablehlo.compare " to ", %x, %c, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>"}
static const pass_case turned_comparisons[] = {
    TURNED("EQ", "EQ"), TURNED("NE", "NE"), TURNED("GE", "LE"), TURNED("GT", "LT"), TURNED("LE", "GE"), TURNED("LT", "GT"),
};

static const pass_case foldings[] = {
    {"fold", I32, C("2") "%0 = stablehlo.multiply %c, %c : tensor<4xi32>\n%r = stablehlo.add %x, %0 : tensor<4xi32>\n" RETURN_R,
     C("4") "%r = stablehlo.add %x, %c : tensor<4xi32>\n" RETURN_R},
    // An iota stays, but is computed with.
    {"fold", I32, "%c = stablehlo.iota dim = 0 : tensor<4xi32>\n%r = stablehlo.add %x, %c : tensor<4xi32>\n" RETURN_R,
     "%c = stablehlo.iota dim = 0 : tensor<4xi32>\n%r = stablehlo.add %x, %c : tensor<4xi32>\n" RETURN_R},
    {"fold", I32, "%c = stablehlo.iota dim = 0 : tensor<4xi32>\n%0 = stablehlo.negate %c : tensor<4xi32>\n%r = stablehlo.add %x, %0 : tensor<4xi32>\n" RETURN_R,
     C("[0, -1, -2, -3]") "%r = stablehlo.add %x, %c : tensor<4xi32>\n" RETURN_R},
    // A constant that would grow stays a broadcast.
    {"fold", "() -> tensor<4096x2xi32>", "%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
     "%r = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2xi32>) -> tensor<4096x2xi32>\nreturn %r : tensor<4096x2xi32>",
     "%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
     "%r = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2xi32>) -> tensor<4096x2xi32>\nreturn %r : tensor<4096x2xi32>"},
    {"fold{elements=3}", "() -> tensor<4xi32>", C("[1, 2, 3, 4]") "%r = stablehlo.negate %c : tensor<4xi32>\n" RETURN_R,
     C("[1, 2, 3, 4]") "%r = stablehlo.negate %c : tensor<4xi32>\n" RETURN_R},
    {"fold", I32, "%p = stablehlo.constant dense<false> : tensor<i1>\n%r = \"stablehlo.if\"(%p) ({\n  stablehlo.return %x : tensor<4xi32>\n}, {\n"
     "  %0 = stablehlo.add %x, %y : tensor<4xi32>\n  stablehlo.return %0 : tensor<4xi32>\n}) : (tensor<i1>) -> tensor<4xi32>\n" RETURN_R,
     "%r = stablehlo.add %x, %y : tensor<4xi32>\n" RETURN_R},
    {"fold", I32, "%r = stablehlo.while(%i = %x) : tensor<4xi32>\n cond {\n  %p = stablehlo.constant dense<false> : tensor<i1>\n"
     "  %q = stablehlo.and %p, %p : tensor<i1>\n  stablehlo.return %q : tensor<i1>\n} do {\n  stablehlo.return %y : tensor<4xi32>\n}\n" RETURN_R, RETURN_X},
    {"fold", "(%x: tensor<2x7xf32>) -> tensor<i32>", "%r = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x7xf32>) -> tensor<i32>\nreturn %r : tensor<i32>",
     "%r = stablehlo.constant dense<7> : tensor<i32>\nreturn %r : tensor<i32>"},
};

static const pass_case mergings[] = {
    {"cse", I32, "%0 = stablehlo.add %x, %y : tensor<4xi32>\n%1 = stablehlo.add %y, %x : tensor<4xi32>\n%r = stablehlo.multiply %0, %1 : tensor<4xi32>\n" RETURN_R,
     "%0 = stablehlo.add %x, %y : tensor<4xi32>\n%r = stablehlo.multiply %0, %0 : tensor<4xi32>\n" RETURN_R},
    {"cse", I32, "%0 = stablehlo.subtract %x, %y : tensor<4xi32>\n%1 = stablehlo.subtract %y, %x : tensor<4xi32>\n%r = stablehlo.multiply %0, %1 : tensor<4xi32>\n" RETURN_R,
     "%0 = stablehlo.subtract %x, %y : tensor<4xi32>\n%1 = stablehlo.subtract %y, %x : tensor<4xi32>\n%r = stablehlo.multiply %0, %1 : tensor<4xi32>\n" RETURN_R},
    // Attributes count, also those that others read.
    {"cse", I32, "%0 = stablehlo.negate %x {mhlo.sharding = \"{replicated}\"} : tensor<4xi32>\n%1 = stablehlo.negate %x : tensor<4xi32>\n%r = stablehlo.add %0, %1 : tensor<4xi32>\n" RETURN_R,
     "%0 = stablehlo.negate %x {mhlo.sharding = \"{replicated}\"} : tensor<4xi32>\n%1 = stablehlo.negate %x : tensor<4xi32>\n%r = stablehlo.add %0, %1 : tensor<4xi32>\n" RETURN_R},
    // Regions are compared; an op inside a region is replaced by one before it.
    {"cse", I32, C("1") "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
     "%1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
     "%2 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
     "%3 = stablehlo.add %0, %1 : tensor<i32>\n%4 = stablehlo.add %3, %2 : tensor<i32>\n"
     "%r = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<4xi32>\n" RETURN_R,
     C("1") "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
     "%2 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>\n"
     "%3 = stablehlo.add %0, %0 : tensor<i32>\n%4 = stablehlo.add %3, %2 : tensor<i32>\n"
     "%r = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<4xi32>\n" RETURN_R},
    {"cse", "(%p: tensor<i1>, %x: tensor<4xi32>) -> tensor<4xi32>", "%0 = stablehlo.negate %x : tensor<4xi32>\n%r = \"stablehlo.if\"(%p) ({\n"
     "  %1 = stablehlo.negate %x : tensor<4xi32>\n  stablehlo.return %1 : tensor<4xi32>\n}, {\n  stablehlo.return %0 : tensor<4xi32>\n}) : (tensor<i1>) -> tensor<4xi32>\n" RETURN_R,
     "%0 = stablehlo.negate %x : tensor<4xi32>\n%r = \"stablehlo.if\"(%p) ({\n"
     "  stablehlo.return %0 : tensor<4xi32>\n}, {\n  stablehlo.return %0 : tensor<4xi32>\n}) : (tensor<i1>) -> tensor<4xi32>\n" RETURN_R},
    // A comparator keeps its constants.
    {"cse", "(%x: tensor<4xi32>) -> tensor<4xi32>", "%c = stablehlo.constant dense<0> : tensor<i32>\n%0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>\n"
     "%1 = stablehlo.add %x, %0 : tensor<4xi32>\n%r = \"stablehlo.sort\"(%1) <{dimension = 0 : i64, is_stable = false}> ({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
     "  %d = stablehlo.constant dense<0> : tensor<i32>\n  %p = stablehlo.compare LT, %a, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>\n}) : (tensor<4xi32>) -> tensor<4xi32>\n" RETURN_R,
     "%c = stablehlo.constant dense<0> : tensor<i32>\n%0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>\n"
     "%1 = stablehlo.add %x, %0 : tensor<4xi32>\n%r = \"stablehlo.sort\"(%1) <{dimension = 0 : i64, is_stable = false}> ({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
     "  %d = stablehlo.constant dense<0> : tensor<i32>\n  %p = stablehlo.compare LT, %a, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>\n}) : (tensor<4xi32>) -> tensor<4xi32>\n" RETURN_R},
    // Ops with effects are not merged.
    {"cse", I32, "%0 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<4xi32>) -> tensor<4xi32>\n"
     "%1 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<4xi32>) -> tensor<4xi32>\n%r = stablehlo.add %0, %1 : tensor<4xi32>\n" RETURN_R,
     "%0 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<4xi32>) -> tensor<4xi32>\n"
     "%1 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<4xi32>) -> tensor<4xi32>\n%r = stablehlo.add %0, %1 : tensor<4xi32>\n" RETURN_R},
    {"operand-order", I32, C("3") "%0 = stablehlo.add %c, %x : tensor<4xi32>\n%1 = stablehlo.multiply %0, %y : tensor<4xi32>\n%r = stablehlo.subtract %c, %1 : tensor<4xi32>\n" RETURN_R,
     C("3") "%0 = stablehlo.add %x, %c : tensor<4xi32>\n%1 = stablehlo.multiply %y, %0 : tensor<4xi32>\n%r = stablehlo.subtract %c, %1 : tensor<4xi32>\n" RETURN_R},
    {"operand-order", "(%x: tensor<4xi32>) -> tensor<4xi1>", C("3") "%r = stablehlo.compare LT, %c, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>",
     C("3") "%r = stablehlo.compare GT, %x, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>\nreturn %r : tensor<4xi1>"},
    {"dce", I32, "%0 = stablehlo.negate %x : tensor<4xi32>\n%1 = stablehlo.negate %0 : tensor<4xi32>\n"
     "%2 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<4xi32>) -> tensor<4xi32>\n"
     "%3 = stablehlo.while(%i = %x) : tensor<4xi32>\n cond {\n  %p = stablehlo.constant dense<false> : tensor<i1>\n"
     "  stablehlo.return %p : tensor<i1>\n} do {\n  stablehlo.return %i : tensor<4xi32>\n}\n" RETURN_X,
     "%2 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<4xi32>) -> tensor<4xi32>\n" RETURN_X},
};
// clang-format on

static void identities_are_exact(void **state) {
  (void)state;
  assert_pass_cases(identities, COUNT_OF(identities));
}

static void transposes_and_reshapes_compose(void **state) {
  (void)state;
  assert_pass_cases(shapes, COUNT_OF(shapes));
}

static void constants_are_folded_where_nothing_grows(void **state) {
  (void)state;
  assert_pass_cases(foldings, COUNT_OF(foldings));
}

static void equal_ops_are_merged_and_unused_ones_dropped(void **state) {
  (void)state;
  assert_pass_cases(mergings, COUNT_OF(mergings));
}

static void ops_that_undo_each_other_go(void **state) {
  (void)state;
  assert_pass_cases(inverses, COUNT_OF(inverses));
}

static void comparisons_with_a_constant_turn_around(void **state) {
  (void)state;
  assert_pass_cases(turned_comparisons, COUNT_OF(turned_comparisons));
}

SUITE(passes, TEST(identities_are_exact), TEST(transposes_and_reshapes_compose),
      TEST(constants_are_folded_where_nothing_grows),
      TEST(equal_ops_are_merged_and_unused_ones_dropped), TEST(ops_that_undo_each_other_go),
      TEST(comparisons_with_a_constant_turn_around))
