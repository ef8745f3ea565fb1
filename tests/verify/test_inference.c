// Result types that follow from the rest of an op, unknown sizes and bounds among them.
#include <stdlib.h>

#include "base/text_internal.h"
#include "op_cases.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

// The types of the row itself do not count: `out` is what is inferred; "" = it is not.
static const struct {
  const char *op, *out;
} cases[] = {
    {"add(%a, %b) : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>", "tensor<2x3xf32>"},
    {"add(%a, %b) : (tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<3>>) -> "
     "tensor<?xf32>",
     "tensor<?xf32, #stablehlo.bounds<3>>"},
    {"abs(%a) : (tensor<?xcomplex<f64>, #stablehlo.bounds<5>>) -> tensor<?xf64>",
     "tensor<?xf64, #stablehlo.bounds<5>>"},
    {"is_finite(%a) : (tensor<2x?xf32>) -> tensor<2x?xi1>", "tensor<2x?xi1>"},
    {"complex(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>",
     "tensor<2xcomplex<f32>>"},
    {"select(%a, %b, %c) : (tensor<i1>, tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>",
     "tensor<2xf32>"},
    {"convert(%a) : (tensor<2xf32>) -> tensor<2xi8>", ""},
    {"reshape(%a) : (tensor<2x3xf32>) -> tensor<6xf32>", ""},
    {"constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2xi8>", "tensor<2xi8>"},
    {"broadcast(%a) <{broadcast_sizes = array<i64: 4, 5>}> : (tensor<2xf32>) -> tensor<4x5x2xf32>",
     "tensor<4x5x2xf32>"},
    {"transpose(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x?xf32, #stablehlo.bounds<?, "
     "8>>) -> tensor<?x2xf32>",
     "tensor<?x2xf32, #stablehlo.bounds<8, ?>>"},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>, "
     "tensor<2x?xf32>) -> tensor<?x3xf32>",
     "tensor<?x3xf32, #stablehlo.bounds<6, ?>>"},
    {"concatenate(%a, %b) <{dimension = 0 : i64}> : (tensor<?x3xf32>, tensor<2x?xf32>) -> "
     "tensor<?x3xf32>",
     "tensor<?x3xf32>"},
    {"pad(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, "
     "interior_padding = array<i64: 1>}> : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<f32>) -> "
     "tensor<?xf32>",
     "tensor<?xf32, #stablehlo.bounds<8>>"},
    {"slice(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 8>, strides = "
     "array<i64: 3>}> : (tensor<?xf32>) -> tensor<3xf32>",
     "tensor<3xf32>"},
    {"gather(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<1x?xi32, #stablehlo.bounds<?, 9>>) -> "
     "tensor<4x?xf32>",
     "tensor<4x?xf32, #stablehlo.bounds<?, 9>>"},
    {"dot_general(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
     "= [0]>}> : (tensor<?x3x4xbf16>, tensor<4x2x5xbf16>) -> tensor<2x3x5xf32>",
     "tensor<2x3x5xbf16>"},
    {"reduce_window(%a, %b) <{window_dimensions = array<i64: 2>, window_strides = array<i64: "
     "2>}> " SUM("f64") " : (tensor<?xf32, #stablehlo.bounds<9>>, tensor<f32>) -> tensor<?xf64>",
     "tensor<?xf64, #stablehlo.bounds<4>>"},
    {"reduce(%a, %b) <{dimensions = array<i64: 0>}> " SUM(
         "f32") " : (tensor<2x?xf32, #stablehlo.bounds<?, 7>>, tensor<f32>) -> tensor<?xf32>",
     "tensor<?xf32, #stablehlo.bounds<7>>"},
    {"sort(%a, %b) <{dimension = 0 : i64}> ({ ^bb0(%x0: tensor<f32>, %x1: tensor<f32>, %x2: "
     "tensor<i32>, %x3: tensor<i32>): %r = stablehlo.compare LT, %x0, %x1 : (tensor<f32>, "
     "tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }) : (tensor<4xf32>, "
     "tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)",
     "tensor<4xf32>, tensor<4xi32>"},
    {"batch_norm_training(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : "
     "(tensor<?x2xf32, #stablehlo.bounds<6, ?>>, tensor<?xf32>, tensor<?xf32>) -> "
     "(tensor<?x2xf32>, tensor<?xf32>, tensor<?xf32>)",
     "tensor<?x2xf32, #stablehlo.bounds<6, ?>>, tensor<?xf32, #stablehlo.bounds<6>>, tensor<?xf32, "
     "#stablehlo.bounds<6>>"},
    {"fft(%a) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 16>}> : "
     "(tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>",
     "tensor<3x16xf32>"},
    {"rng(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, "
     "tensor<f32>, tensor<2xi64>) -> tensor<4x5xf32>",
     "tensor<?x?xf32>"},
};

static void result_types_follow_from_operands_and_attributes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_ir *ir = tsr_ir_create();
    char *text = NULL;
    const tsr_op *op = read_op_case(cases[i].op, ir, &text);
    tsr_inferred inferred = {NULL, 0};
    assert_ok(tsr_infer_op(ir, op, &inferred));
    assert_true((inferred.count < 0) == !*cases[i].out);
    tsr_text out = TSR_TEXT_EMPTY;
    for (int t = 0; t < inferred.count; t++) {
      if (t) tsr_text_add(&out, ", ");
      tsr_type_print(inferred.types[t], &out);
    }
    assert_string_equal(tsr_text_string(&out), cases[i].out);
    tsr_text_deinit(&out);
    tsr_ir_destroy(ir);
    free(text);
  }
}

static void types_of_a_wrong_op_are_not_inferred(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  char *text = NULL;
  const tsr_op *op = read_op_case(
      "transpose(%a) <{permutation = array<i64: 0, 0>}> : (tensor<2x3xf32>) -> tensor<f32>", ir,
      &text);
  tsr_inferred inferred = {NULL, 0};
  assert_fails(tsr_infer_op(ir, op, &inferred), CONSTRAINT,
               "stablehlo.transpose: (C2) permutation is [0, 0], expected a permutation of 0 to 1");
  tsr_ir_destroy(ir);
  free(text);
}

// A builder asks before the op has results.
static void an_op_without_results_is_enough(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  tsr_ir_block *block = ir->module->regions[0].first;
  const tsr_type *type = tsr_type_shaped(ir, TSR_F32, 1, (const int64_t[]){2});
  tsr_value *arg = tsr_block_add_arg(ir, block, type, NULL);
  const tsr_op *op =
      tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_TANH, .operand_count = 1, .operands = &arg});
  tsr_inferred inferred = {NULL, 0};
  assert_ok(tsr_infer_op(ir, op, &inferred));
  assert_int_equal(inferred.count, 1);
  assert_ptr_equal(inferred.types[0], type);
  tsr_ir_destroy(ir);
}

SUITE(inference, TEST(result_types_follow_from_operands_and_attributes),
      TEST(types_of_a_wrong_op_are_not_inferred), TEST(an_op_without_results_is_enough))
