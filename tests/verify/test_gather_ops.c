// gather and scatter: dimension numbers and slices.
#include "op_cases.h"

static const op_case cases[] = {
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     ""},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C1) offset_dims, collapsed_slice_dims and operand_batching_dims have 3 "
     "dimensions, expected 2 for tensor<8x4xf32>"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C2) index_vector_dim is 3, expected 0 to 2 for tensor<3x1xi32>"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C3) start_index_map is [0, 1], expected length 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 0], "
     "collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<1x4xf32>",
     "stablehlo.gather: (C4) offset_dims is [1, 0], expected sorted dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C5) offset_dims is [2], expected dimensions of 0 to 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [], "
     "collapsed_slice_dims = [0, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 1>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3xf32>",
     "stablehlo.gather: (C6) collapsed_slice_dims is [0, 0] and operand_batching_dims is [], "
     "expected unique dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [], "
     "collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 1>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3xf32>",
     "stablehlo.gather: (C7) collapsed_slice_dims is [1, 0], expected sorted dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C8) collapsed_slice_dims is [2], expected dimensions of 0 to 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 2, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C9) slice size 2 of dimension 0 in collapsed_slice_dims, expected at most "
     "1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [0], "
     "start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<3x4xf32>, tensor<3x5x1xi32>) -> tensor<3x5x4xf32>",
     ""},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [], "
     "collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [1, "
     "0], start_index_map = [], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : "
     "(tensor<8x4xf32>, tensor<8x4x0xi32>) -> tensor<8x4xf32>",
     "stablehlo.gather: (C10) operand_batching_dims is [1, 0], expected sorted dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [2], start_indices_batching_dims = [0], "
     "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C11) operand_batching_dims is [2], expected dimensions of 0 to 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [0], "
     "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 4>}> : "
     "(tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C12) slice size 2 of dimension 0 in operand_batching_dims, expected at "
     "most 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [], "
     "collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, "
     "0], start_index_map = [], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : "
     "(tensor<8x4xf32>, tensor<3x0xi32>) -> tensor<3xf32>",
     "stablehlo.gather: (C13) start_indices_batching_dims is [0, 0], expected unique dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [4], "
     "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C14) start_indices_batching_dims is [4], expected dimensions of 0 to 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [1], "
     "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C15) start_indices_batching_dims is [1], expected it not to hold "
     "index_vector_dim 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [], "
     "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C16) operand_batching_dims is [0] and start_indices_batching_dims is [], "
     "expected as many dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [0], "
     "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<2x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C17) dimensions 0 and 0 of tensor<2x4xf32> and tensor<3x1xi32> have "
     "different sizes"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [], operand_batching_dims = [0], start_indices_batching_dims = [0], "
     "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
     "(tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C18) start_index_map is [0] and operand_batching_dims is [0], expected "
     "unique dimensions"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C19) start_index_map is [2], expected dimensions of 0 to 1"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4, 1>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C20) slice_sizes has 3 sizes, expected 2 for tensor<8x4xf32>"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 5>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (C21) slice size of dimension 1 is 5, expected 0 to 4"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>",
     "stablehlo.gather: (C22) result 0 is tensor<3x5xf32>, expected tensor<3x4xf32>"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf64>",
     "stablehlo.gather: (C23) the result is tensor<3x4xf64>, expected elements of tensor<8x4xf32>"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>",
     "stablehlo.gather: (I2) operand 1 is tensor<3x1xf32>, expected tensor of integer"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     ""},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C2) update_window_dims, inserted_window_dims and input_batching_dims "
     "have 3 dimensions, expected 2 for tensor<8x4xf32>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[0, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C4) update 0 is tensor<3x4xf32>, expected rank 3"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1, 1], inserted_window_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C7) update_window_dims is [1, 1], expected unique dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xi32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C6) an input is tensor<8x4xf32> and its update is tensor<3x4xi32>, "
     "expected one kind of elements"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "3>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C22) index_vector_dim is 3, expected 0 to 2 for tensor<3x1xi32>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4x1xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C4) update 0 is tensor<3x4x1xf32>, expected rank 2"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x5xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C4) dimension 1 of tensor<3x5xf32> has size 5, expected at most 4 as "
     "dimension 1 of tensor<8x4xf32>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<2x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C4) dimension 0 of tensor<2x4xf32> is not as large as dimension 0 of "
     "tensor<3x1xi32>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1, 1], inserted_window_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C4) update 0 is tensor<3x4xf32>, expected rank 3"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C8) update_window_dims is [3], expected dimensions of 0 to 1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[], inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C9) inserted_window_dims is [0, 0] and input_batching_dims is [], "
     "expected unique dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C10) inserted_window_dims is [1, 0], expected sorted dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C11) inserted_window_dims is [2], expected dimensions of 0 to 1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[], inserted_window_dims = [], input_batching_dims = [1, 0], scatter_indices_batching_dims = "
     "[0, 1], scatter_dims_to_operand_dims = [], index_vector_dim = 2>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x1xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C12) input_batching_dims is [1, 0], expected sorted dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [], input_batching_dims = [2], scatter_indices_batching_dims = "
     "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C13) input_batching_dims is [2], expected dimensions of 0 to 1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[], inserted_window_dims = [], input_batching_dims = [0, 1], scatter_indices_batching_dims = "
     "[0, 0], scatter_dims_to_operand_dims = [], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<3x0xi32>, tensor<3xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C14) scatter_indices_batching_dims is [0, 0], expected unique "
     "dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [], input_batching_dims = [0], scatter_indices_batching_dims = "
     "[4], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
     "stablehlo.scatter: (C15) scatter_indices_batching_dims is [4], expected dimensions of 0 to "
     "1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [], input_batching_dims = [0], scatter_indices_batching_dims = "
     "[1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
     "stablehlo.scatter: (C16) scatter_indices_batching_dims is [1], expected it not to hold "
     "index_vector_dim 1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [], input_batching_dims = [0], scatter_indices_batching_dims = "
     "[], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
     "stablehlo.scatter: (C17) input_batching_dims is [0] and scatter_indices_batching_dims is [], "
     "expected as many dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [], input_batching_dims = [0], scatter_indices_batching_dims = "
     "[0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<2x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.scatter: (C18) dimensions 0 and 0 of tensor<2x4xf32> and tensor<3x1xi32> have "
     "different sizes"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C19) scatter_dims_to_operand_dims is [0, 1], expected length 1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [], input_batching_dims = [0], scatter_indices_batching_dims = "
     "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
     "stablehlo.scatter: (C20) scatter_dims_to_operand_dims is [0] and input_batching_dims is [0], "
     "expected unique dimensions"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C21) scatter_dims_to_operand_dims is [2], expected dimensions of 0 to 1"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f64") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C25) result 0 is tensor<8x4xf32>, expected tensor<8x4xf64>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("i32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C23) result 0 of region 0 is tensor<i32>, to which the initial value "
     "tensor<f32> cannot be promoted"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
     "({ ^bb0(%x0: tensor<f32>): stablehlo.return %x0 : tensor<f32> }) : (tensor<8x4xf32>, "
     "tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C23) region 0 takes 1 arguments, expected 2"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x5xf32>",
     "stablehlo.scatter: (C24) result 0 is tensor<8x5xf32>, expected tensor<8x4xf32>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf64>",
     "stablehlo.scatter: (C25) result 0 is tensor<8x4xf64>, expected tensor<8x4xf32>"},
    {"scatter(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
     "[1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (I2) scatter_indices is tensor<3x1xf32>, expected a tensor of integers"},
    {"scatter(%a, %b, %c, %d) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims "
     "= [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " SUM("f32") " : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) "
                        "-> tensor<8x4xf32>",
     "stablehlo.scatter: (C5) has 4 operands, expected as many updates as inputs"},
    {"scatter(%a, %b, %c, %d, %e) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<8x5xf32>, tensor<3x1xi32>, tensor<3x4xf32>, "
                "tensor<3x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C1) inputs 0 and 1 are tensor<8x4xf32> and tensor<8x5xf32>, expected one "
     "shape"},
    {"scatter(%a, %b, %c, %d, %e) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " SUM(
         "f32") " : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>, "
                "tensor<2x4xf32>) -> tensor<8x4xf32>",
     "stablehlo.scatter: (C3) updates 0 and 1 are tensor<3x4xf32> and tensor<2x4xf32>, expected "
     "one shape"},
};

static void constraints_of_gather_and_scatter_are_named(void **state) {
  (void)state;
  check_op_cases(cases, COUNT_OF(cases));
}

SUITE(gather_ops, TEST(constraints_of_gather_and_scatter_are_named))
