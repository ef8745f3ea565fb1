// dot and dot_general: dimensions, algorithms and quantised elements.
#include "op_cases.h"

static const op_case cases[] = {
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     ""},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf64>",
     ""},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, "
     "1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
     "rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
     "tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C1) batching dimensions are [0, 1] of lhs and [0] of rhs, expected "
     "as many"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2, 1], "
     "rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
     "tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C2) contracting dimensions are [2, 1] of lhs and [1] of rhs, "
     "expected as many"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [2], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C3) batching and contracting dimensions of lhs are [2] and [2], "
     "expected unique ones"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C4) batching and contracting dimensions of rhs are [1] and [1], "
     "expected unique ones"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C5) lhs_batching_dimensions is [3], expected dimensions of 0 to 2 "
     "for tensor<2x3x4xf32>"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [3], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C6) lhs_contracting_dimensions is [3], expected dimensions of 0 to 2 "
     "for tensor<2x3x4xf32>"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [3], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C7) rhs_batching_dimensions is [3], expected dimensions of 0 to 2 "
     "for tensor<2x4x5xf32>"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [3]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C8) rhs_contracting_dimensions is [3], expected dimensions of 0 to 2 "
     "for tensor<2x4x5xf32>"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<3x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C9) batching dimensions 0 of tensor<3x3x4xf32> and 0 of "
     "tensor<2x4x5xf32> have different sizes"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x3xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C10) contracting dimensions 2 of tensor<2x3x3xf32> and 1 of "
     "tensor<2x4x5xf32> have different sizes"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>, "
     "#stablehlo<precision HIGH>]}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C11) precision_config has 3 entries, expected at most 2"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x6xf32>",
     "stablehlo.dot_general: (C12) result 0 is tensor<2x3x6xf32>, expected tensor<2x3x5xf32>"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = "
     "f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
     "num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     ""},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>], "
     "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, "
     "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
     "num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C21) precision_config is [#stablehlo<precision HIGHEST>, "
     "#stablehlo<precision HIGHEST>], expected DEFAULT beside an algorithm"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = "
     "f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, "
     "num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C22) lhs_component_count is 0, expected 1 or more"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = "
     "f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, "
     "num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C23) rhs_component_count is 0, expected 1 or more"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = "
     "f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
     "num_primitive_operations = 0, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (C24) num_primitive_operations is 0, expected 1 or more"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = "
     "f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
     "num_primitive_operations = 2, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (I8) algorithm #stablehlo.dot_algorithm<lhs_precision_type = f32, "
     "rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, "
     "rhs_component_count = 1, num_primitive_operations = 2, allow_imprecise_accumulation = false> "
     "is not known on any hardware"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = "
     "bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
     "num_primitive_operations = 6, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     ""},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f8E4M3FN, "
     "rhs_precision_type = f8E5M2, accumulation_type = f32, lhs_component_count = 1, "
     "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = "
     "true>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     ""},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = "
     "f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
     "num_primitive_operations = 1, allow_imprecise_accumulation = true>}> : (tensor<2x3x4xf32>, "
     "tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
     "stablehlo.dot_general: (I8) algorithm #stablehlo.dot_algorithm<lhs_precision_type = f32, "
     "rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, "
     "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true> "
     "is not known on any hardware"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.dot_general: (C14) operands and result are tensor<2xf32>, tensor<2xf32> and "
     "tensor<!quant.uniform<i8:f32, 1.000000e+00>>, expected a quantised rhs and a result that is "
     "quantised as lhs is"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 1.0:3>>) -> "
     "tensor<!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.dot_general: (C15) rhs is tensor<2x!quant.uniform<i8:f32, 1.000000e+00:3>>, "
     "expected zero points of 0"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32:0, {1.0, "
     "2.0}>>) -> tensor<!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.dot_general: (C16) rhs is quantised along dimension 0, which is contracted"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i16:f32, 1.0>>) -> "
     "tensor<!quant.uniform<i8:f32, 1.0>>",
     "stablehlo.dot_general: (C17) operands store i8 and i16, expected one type"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> "
     "tensor<!quant.uniform<i8:f64, 1.0>>",
     "stablehlo.dot_general: (C18) operands and result express f32, f32 and f64, expected one "
     "type"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2x3x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> "
     "tensor<3x!quant.uniform<i32:f32:0, {1.0, 1.0, 1.0}>>",
     "stablehlo.dot_general: (C19) the result is tensor<3x!quant.uniform<i32:f32:0, "
     "{1.000000e+00,1.000000e+00,1.000000e+00}>>, expected per-tensor quantisation as of rhs"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2xf64>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<f64>",
     "stablehlo.dot_general: (C20) lhs and result are tensor<2xf64> and tensor<f64>, expected "
     "elements of type f32 as rhs expresses"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], "
     "rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
     "[0]>}> : (tensor<2xf32>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<f32>",
     ""},
    {"dot(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>", ""},
    {"dot(%a, %b) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2xf32>",
     "stablehlo.dot: operands are tensor<2x3xf32> and tensor<4xf32>, expected equal sizes of the "
     "dimensions that are summed"},
    {"dot(%a, %b) : (tensor<1x2x3xf32>, tensor<3xf32>) -> tensor<2xf32>",
     "stablehlo.dot: operands are tensor<1x2x3xf32> and tensor<3xf32>, expected ranks of 1 or 2"},
    {"dot(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>",
     "stablehlo.dot: result 0 is tensor<3xf32>, expected tensor<2xf32>"},
};

static void constraints_of_dot_products_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(dot_ops, TEST(constraints_of_dot_products_are_named))
