// reduce_window and select_and_scatter: windows and regions.
#include "op_cases.h"

static const op_case cases[] = {
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     ""},
    {"reduce_window(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C1) has 3 operands, expected inputs and as many initial values"},
    {"reduce_window(%a, %b, %c, %d) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>) -> "
                "tensor<4x5xf32>",
     "stablehlo.reduce_window: (C2) inputs 0 and 1 are tensor<4x6xf32> and tensor<4x5xf32>, "
     "expected one shape"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C4) window_dimensions is [1], expected length 2 for "
     "tensor<4x6xf32>"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 0>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C5) size 1 of the window is 0, expected 1 or more"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: "
     "2>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C6) window_strides is [2], expected length 2"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 2, "
     "0>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C7) window_strides is [2, 0], expected numbers of 1 or more"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: "
     "2>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C8) base_dilations is [2], expected length 2"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: 2, "
     "0>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C9) base_dilations is [2, 0], expected numbers of 1 or more"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, window_dilations = array<i64: "
     "2>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C10) window_dilations is [2], expected length 2"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, window_dilations = array<i64: "
     "2, 0>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C11) window_dilations is [2, 0], expected numbers of 1 or more"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, padding = dense<0> : "
     "tensor<3x2xi64>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C12) padding is of type tensor<3x2xi64>, expected shape [2, 2]"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, padding = dense<0> : "
     "tensor<2x3xi64>}> " SUM("f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C12) padding is of type tensor<2x3xi64>, expected shape [2, 2]"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f32>): "
     "stablehlo.return %x0 : tensor<f32> }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C13) region 0 takes 1 arguments, expected 2"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f32>, "
     "%x1: tensor<f32>): stablehlo.return %x0, %x1 : tensor<f32>, tensor<f32> }) : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C13) region 0 returns 2 values, expected 1"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "i32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C13) result 0 of region 0 is tensor<i32>, to which the initial "
     "value tensor<f32> cannot be promoted"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C13) result 0 of region 0 is tensor<f32>, expected the shape of "
     "the initial value tensor<1xf32>"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x5xf32>",
     "stablehlo.reduce_window: (C3) an input is tensor<4x6xf32> and its initial value is "
     "tensor<i32>, expected one kind of elements"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f32>, "
     "%x1: tensor<i32>): stablehlo.return %x0 : tensor<f32> }) : (tensor<4x6xf32>, tensor<f32>) -> "
     "tensor<4x5xf32>",
     "stablehlo.reduce_window: (C13) argument 1 of region 0 is tensor<i32>, expected tensor<f32> "
     "as it returns"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f64>, "
     "%x1: tensor<f32>): stablehlo.return %x1 : tensor<f32> }) : (tensor<4x6xf32>, tensor<f32>) -> "
     "tensor<4x5xf32>",
     "stablehlo.reduce_window: (C13) argument 0 of region 0 is tensor<f64>, expected tensor<f32> "
     "as it returns"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.reduce_window: (C15) result 0 is tensor<4x6xf32>, expected tensor<4x5xf32>"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf64>",
     "stablehlo.reduce_window: (C16) result 0 is tensor<4x5xf64>, expected tensor<4x5xf32>"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 1, 2>, padding = dense<[[1, 1], [0, "
     "1]]> : tensor<2x2xi64>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 1, "
     "2>, window_strides = array<i64: 1, 2>}> " SUM(
         "f32") " : (tensor<4x6xf32>, tensor<f32>) -> tensor<9x3xf32>",
     ""},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     ""},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xi32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C1) operand and source are tensor<4x6xf32> and "
     "tensor<4x3xi32>, expected one element type"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C2) source is tensor<4x4xf32>, expected shape [4, 3]"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<i32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C3) operand is tensor<4x6xf32> and init_value is tensor<i32>, "
     "expected one kind of elements"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C4) window_dimensions is [2], expected length 2 for "
     "tensor<4x6xf32>"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 0>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C5) size 1 of the window is 0, expected 1 or more"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C6) window_strides is [1], expected length 2"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 0, 1>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C7) window_strides is [0, 1], expected numbers of 1 or more"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>, padding = dense<0> : tensor<1x2xi64>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C8) padding is of type tensor<1x2xi64>, expected shape [2, "
     "2]"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f32>): stablehlo.return %x0 : tensor<f32> }, " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C9) select takes 1 arguments, expected 2"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("i32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C9) argument 0 of select is tensor<i32>, expected a scalar of "
     "f32"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>): stablehlo.return %x0 : "
     "tensor<f32> }, " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C9) select returns tensor<f32>, expected tensor<i1>"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>): stablehlo.return %x0, %x1 : "
     "tensor<f32>, tensor<f32> }, " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C9) select returns 2 values, expected 1"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "i32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "stablehlo.select_and_scatter: (C10) result 0 of region 1 is tensor<i32>, to which the "
     "initial value tensor<f32> cannot be promoted"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x7xf32>",
     "stablehlo.select_and_scatter: (C11) result 0 is tensor<4x7xf32>, expected tensor<4x6xf32>"},
    {"select_and_scatter(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = "
     "array<i64: 1, 2>}> (" GE("f32") ", " SUM_IN(
         "f32") ") : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf64>",
     "stablehlo.select_and_scatter: (C12) result 0 is tensor<4x6xf64>, expected tensor<4x6xf32>"},
};

static void constraints_of_windows_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(window_ops, TEST(constraints_of_windows_are_named))
