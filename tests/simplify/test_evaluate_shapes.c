// Ops that move elements, on constants.
#include "programs.h"
#include "support/test.h"

#define M23 "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>"

// clang-format off
static const test_fold moves[] = {
    {"stablehlo.iota dim = 1 : tensor<2x3xi32>", {0}, {"dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>"}},
    {"stablehlo.iota dim = 0 : tensor<3xbf16>", {0}, {"dense<[0.0, 1.0, 2.0]> : tensor<3xbf16>"}},
    {"stablehlo.iota dim = 0 : tensor<2xcomplex<f32>>", {0}, {"dense<[(0.0, 0.0), (1.0, 0.0)]> : tensor<2xcomplex<f32>>"}},
    {"stablehlo.iota dim = 0 : tensor<1x100000x100000xf32>", {0}, {"dense<0.0> : tensor<1x100000x100000xf32>"}},
    {"stablehlo.iota dim = 1 : tensor<1x100000x100000xf32>", {0}, {0}},
    {"stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xi8>) -> tensor<3x2xi8>",
     {"dense<[1, 2]> : tensor<2xi8>"}, {"dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi8>"}},
    {"stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<2x1xi8>) -> tensor<3x2xi8>",
     {"dense<[[1], [2]]> : tensor<2x1xi8>"}, {"dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi8>"}},
    {"stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<100000x100000xf32>",
     {"dense<2.0> : tensor<f32>"}, {"dense<2.0> : tensor<100000x100000xf32>"}},
    {"stablehlo.broadcast %a, sizes = [2] : (tensor<2xi8>) -> tensor<2x2xi8>",
     {"dense<[1, 2]> : tensor<2xi8>"}, {"dense<[[1, 2], [1, 2]]> : tensor<2x2xi8>"}},
    {"stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<3x2xi32>", {M23}, {"dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>"}},
    {"stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>", {M23},
     {"dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>"}},
    {"stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>", {M23}, {"dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>"}},
    {"stablehlo.reverse %a, dims = [1] : tensor<2x3xi32>", {M23}, {"dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>"}},
    {"stablehlo.dynamic_slice %a, %b, %c, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>",
     {M23, "dense<-4> : tensor<i64>", "dense<9> : tensor<i64>"}, {"dense<[[2, 3]]> : tensor<1x2xi32>"}},
    {"stablehlo.dynamic_update_slice %a, %b, %c, %d : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xi32>",
     {M23, "dense<0> : tensor<1x2xi32>", "dense<1> : tensor<i32>", "dense<9> : tensor<i32>"},
     {"dense<[[1, 2, 3], [4, 0, 0]]> : tensor<2x3xi32>"}},
    {"stablehlo.pad %a, %b, low = [1], high = [-1], interior = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<5xi32>",
     {"dense<[1, 2, 3]> : tensor<3xi32>", "dense<9> : tensor<i32>"}, {"dense<[9, 1, 9, 2, 9]> : tensor<5xi32>"}},
    {"stablehlo.pad %a, %b, low = [-1], high = [1], interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>",
     {"dense<[1, 2, 3]> : tensor<3xi32>", "dense<9> : tensor<i32>"}, {"dense<[2, 3, 9]> : tensor<3xi32>"}},
    {"stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>",
     {M23, "dense<0> : tensor<2x1xi32>"}, {"dense<[[1, 2, 3, 0], [4, 5, 6, 0]]> : tensor<2x4xi32>"}},
    {"stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>",
     {"dense<1.0> : tensor<2xf32>", "dense<1.0> : tensor<3xf32>"}, {"dense<1.0> : tensor<5xf32>"}},
    {"stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>", {M23}, {"dense<3> : tensor<i32>"}},
    {"stablehlo.slice %a [2:2] : (tensor<4xi8>) -> tensor<0xi8>", {"dense<[1, 2, 3, 4]> : tensor<4xi8>"}, {"dense<> : tensor<0xi8>"}},
};

static const test_fold bits[] = {
    {"stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<2xi32>",
     {"dense<[1.0, -0.0]> : tensor<2xf32>"}, {"dense<[1065353216, -2147483648]> : tensor<2xi32>"}},
    {"stablehlo.bitcast_convert %a : (tensor<1xi32>) -> tensor<1x4xui8>",
     {"dense<67305985> : tensor<1xi32>"}, {"dense<[[1, 2, 3, 4]]> : tensor<1x4xui8>"}},
    {"stablehlo.bitcast_convert %a : (tensor<1x2xi16>) -> tensor<1xi32>",
     {"dense<[[1, 2]]> : tensor<1x2xi16>"}, {"dense<131073> : tensor<1xi32>"}},
    {"stablehlo.bitcast_convert %a : (tensor<1xi8>) -> tensor<1x2xi4>",
     {"dense<33> : tensor<1xi8>"}, {"dense<[[1, 2]]> : tensor<1x2xi4>"}},
    {"stablehlo.bitcast_convert %a : (tensor<2x2xui4>) -> tensor<2xui8>",
     {"dense<[[1, 2], [15, 15]]> : tensor<2x2xui4>"}, {"dense<[33, 255]> : tensor<2xui8>"}},
};

static const test_fold indices[] = {
    // Rows 1 and 5 (moved inside: 1) of a matrix.
    {"\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
     "start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> "
     ": (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>",
     {M23, "dense<[[1], [-5]]> : tensor<2x1xi32>"}, {"dense<[[4, 5, 6], [1, 2, 3]]> : tensor<2x3xi32>"}},
    // One element of each row.
    {"\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], "
     "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> "
     ": (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2xi32>",
     {M23, "dense<[[2], [0]]> : tensor<2x1xi32>"}, {"dense<[3, 4]> : tensor<2xi32>"}},
    // Added at 1, 1 and 7, which is outside and skipped.
    {"\"stablehlo.scatter\"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n  %s = stablehlo.add %x, %y : tensor<i32>\n"
     "  stablehlo.return %s : tensor<i32>\n}) : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>",
     {"dense<[1, 2, 3]> : tensor<3xi32>", "dense<[[1], [1], [7]]> : tensor<3x1xi32>", "dense<[10, 20, 30]> : tensor<3xi32>"},
     {"dense<[1, 32, 3]> : tensor<3xi32>"}},
};
// clang-format on

static void elements_move_to_their_places(void **state) {
  (void)state;
  assert_folds(moves, COUNT_OF(moves));
}

static void bitcasts_keep_the_low_bits_first(void **state) {
  (void)state;
  assert_folds(bits, COUNT_OF(bits));
}

static void gather_moves_inside_and_scatter_skips_outside(void **state) {
  (void)state;
  assert_folds(indices, COUNT_OF(indices));
}

SUITE(evaluate_shapes, TEST(elements_move_to_their_places), TEST(bitcasts_keep_the_low_bits_first),
      TEST(gather_moves_inside_and_scatter_skips_outside))
