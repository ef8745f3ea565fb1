// dot_general of every form against the evaluator of constants, with transposes before and after
// it, and ragged dots.
#include <string.h>

#include "base/text_internal.h"
#include "exec/evaluated.h"

// Shapes without their element type, dims by the attribute, the shape of the result.
static const struct {
  const char *left, *right, *dims, *result;
} forms[] = {
    {"4x4x", "4x4x", "contracting_dims = [1] x [0]", "4x4x"},
    {"7x33x", "33x20x", "contracting_dims = [1] x [0]", "7x20x"},
    {"33x7x", "20x33x", "contracting_dims = [0] x [1]", "7x20x"},
    {"90x", "90x", "contracting_dims = [0] x [0]", ""},
    {"90x", "90x70x", "contracting_dims = [0] x [0]", "70x"},
    {"70x90x", "90x", "contracting_dims = [1] x [0]", "70x"},
    {"5x", "6x", "contracting_dims = [] x []", "5x6x"},
    {"3x5x", "3x6x", "batching_dims = [0] x [0], contracting_dims = [] x []", "3x5x6x"},
    {"3x4x5x", "3x5x6x", "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "3x4x6x"},
    {"4x3x5x2x", "2x5x6x3x", "batching_dims = [1, 3] x [3, 0], contracting_dims = [2] x [1]",
     "3x2x4x6x"},
    {"2x3x4x5x", "5x7x3x", "contracting_dims = [1, 3] x [2, 0]", "2x4x7x"},
    {"4x0x", "0x3x", "contracting_dims = [1] x [0]", "4x3x"},
    {"0x4x", "4x3x", "contracting_dims = [1] x [0]", "0x3x"},
};

static const struct {
  const char *operand, *result;
} types[] = {{"f32", "f32"},   {"f64", "f64"},  {"i32", "i32"},
             {"i8", "i8"},     {"i8", "i32"},   {"i1", "i1"},
             {"ui16", "ui16"}, {"bf16", "f32"}, {"complex<f32>", "complex<f32>"},
             {"i64", "i64"}};

static void products_of_every_form_equal_the_evaluator(void **state) {
  (void)state;
  test_random random = {1};
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
      TSR_OWN(text, text);
      const char *in = types[t].operand, *out = types[t].result;
      tsr_text_addf(&text,
                    "func.func @main(%%a: tensor<%s%s>, %%b: tensor<%s%s>) -> tensor<%s%s> {\n"
                    "  %%0 = stablehlo.dot_general %%a, %%b, %s : (tensor<%s%s>, tensor<%s%s>) -> "
                    "tensor<%s%s>\n  return %%0 : tensor<%s%s>\n}",
                    forms[f].left, in, forms[f].right, in, forms[f].result, out, forms[f].dims,
                    forms[f].left, in, forms[f].right, in, forms[f].result, out, forms[f].result,
                    out);
      check_evaluated(&random, tsr_text_string(&text), NULL, !strcmp(in, "i1") ? 0 : -3,
                      !strcmp(in, "i1") ? 1 : 3);
    }
}

static void transposes_around_a_product_change_nothing(void **state) {
  (void)state;
  test_random random = {2};
  check_evaluated(
      &random,
      "func.func @main(%a: tensor<5x7x3xf32>, %b: tensor<9x3x7xf32>) -> (tensor<9x5x3xf32>, "
      "tensor<7x5x3xf32>) {\n"
      "  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<5x7x3xf32>) -> "
      "tensor<3x5x7xf32>\n"
      "  %1 = stablehlo.transpose %b, dims = [1, 2, 0] : (tensor<9x3x7xf32>) -> "
      "tensor<3x7x9xf32>\n"
      "  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x "
      "[1] : (tensor<3x5x7xf32>, tensor<3x7x9xf32>) -> tensor<3x5x9xf32>\n"
      "  %3 = stablehlo.transpose %2, dims = [2, 1, 0] : (tensor<3x5x9xf32>) -> "
      "tensor<9x5x3xf32>\n"
      "  %4 = stablehlo.transpose %0, dims = [2, 1, 0] : (tensor<3x5x7xf32>) -> "
      "tensor<7x5x3xf32>\n"
      "  return %3, %4 : tensor<9x5x3xf32>, tensor<7x5x3xf32>\n}",
      NULL, -3, 3);
}

// Groups of 2, 0 and 3 of 6 rows, the last row in none; and of a depth of 6.
static void ragged_dots_multiply_each_group(void **state) {
  (void)state;
  const float left[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // 6 x 2
  const float right[6] = {1, 10, 2, 20, 3, 30};                    // 3 x 2 x 1
  const int32_t sizes[3] = {2, 0, 3};
  float rows[6] = {0}, depths[12] = {0};
  run_text(
      "func.func @main(%a: tensor<6x2xf32>, %b: tensor<3x2x1xf32>, %s: tensor<3xi32>) -> "
      "(tensor<6x1xf32>, tensor<3x2x2xf32>) {\n"
      "  %0 = \"chlo.ragged_dot\"(%a, %b, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<"
      "lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = "
      "[1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = "
      "[0]>} : (tensor<6x2xf32>, tensor<3x2x1xf32>, tensor<3xi32>) -> tensor<6x1xf32>\n"
      "  %1 = \"chlo.ragged_dot\"(%a, %a, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<"
      "lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = "
      "[0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = "
      "[]>} : (tensor<6x2xf32>, tensor<6x2xf32>, tensor<3xi32>) -> tensor<3x2x2xf32>\n"
      "  return %0, %1 : tensor<6x1xf32>, tensor<3x2x2xf32>\n}",
      IN(left, right, sizes), OUT_TO(rows, depths));
  const float wanted_rows[] = {21, 43, 195, 261, 327, 0};
  const float wanted_depths[] = {10, 14, 14, 20, 0, 0, 0, 0, 155, 176, 176, 200};
  assert_memory_equal(rows, wanted_rows, sizeof rows);
  assert_memory_equal(depths, wanted_depths, sizeof depths);
}

SUITE(products, TEST(products_of_every_form_equal_the_evaluator),
      TEST(transposes_around_a_product_change_nothing), TEST(ragged_dots_multiply_each_group))
