// dot_general of every form against the evaluator of constants, with transposes before and after
// it, ragged dots, and elementwise ops that run on the blocks of a product.
#include <stdlib.h>
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

// ---- epilogues ----

#define PLAIN_DOT "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"

// An op that is a product, its shapes, and the last dim of the result: products of one task, and
// one whose result is large.
static const struct {
  const char *op, *left, *right, *result, *element;
  int dim, size;
  int64_t count;
} followed[] = {
    {PLAIN_DOT, "100x37x", "37x53x", "100x53x", "f32", 1, 53, 5300},
    {PLAIN_DOT, "60x37x", "37x53x", "60x53x", "bf16", 1, 53, 3180},
    {PLAIN_DOT, "60x40x", "40x17x", "60x17x", "i32", 1, 17, 1020},
    {PLAIN_DOT, "1x512x", "512x100x", "1x100x", "f32", 1, 100, 100},
    {"stablehlo.dot_general %a, %b, contracting_dims = [0] x [1]", "512x", "100x512x", "100x",
     "f32", 0, 100, 100},
    {"stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]",
     "4x5x6x", "4x6x7x", "4x5x7x", "f32", 2, 7, 140},
    {"stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window "
     "= {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
     "2x9x7x3x", "3x3x3x20x", "2x9x7x20x", "f32", 3, 20, 2520},
    {PLAIN_DOT, "2100x4x", "4x4100x", "2100x4100x", "f32", 1, 4100, 2100 * 4100},
};

// A bias, an activation, a residual and a second result.
static void write_followed(size_t row, bool unfused, tsr_text *text) {
  const char *e = followed[row].element, *result = followed[row].result;
  const char *act = strcmp(e, "i32") != 0 ? "tanh" : "negate";
  tsr_text_addf(text,
                "module%s {\nfunc.func @main(%%a: tensor<%s%s>, %%b: tensor<%s%s>, %%c: "
                "tensor<%dx%s>, %%r: tensor<%s%s>) -> (tensor<%s%s>, tensor<%s%s>) {\n",
                unfused ? " attributes {tessera.unfused}" : "", followed[row].left, e,
                followed[row].right, e, followed[row].size, e, result, e, result, e, result, e);
  tsr_text_addf(text, "  %%p = %s : (tensor<%s%s>, tensor<%s%s>) -> tensor<%s%s>\n",
                followed[row].op, followed[row].left, e, followed[row].right, e, result, e);
  tsr_text_addf(text,
                "  %%w = stablehlo.broadcast_in_dim %%c, dims = [%d] : (tensor<%dx%s>) -> "
                "tensor<%s%s>\n",
                followed[row].dim, followed[row].size, e, result, e);
  tsr_text_addf(text,
                "  %%s = stablehlo.add %%p, %%w : tensor<%s%s>\n"
                "  %%t = stablehlo.%s %%s : tensor<%s%s>\n"
                "  %%u = stablehlo.multiply %%t, %%r : tensor<%s%s>\n"
                "  %%v = stablehlo.subtract %%r, %%t : tensor<%s%s>\n"
                "  return %%u, %%v : tensor<%s%s>, tensor<%s%s>\n}\n}",
                result, e, act, result, e, result, e, result, e, result, e, result, e);
}

// Runs a row and gives the number of its steps.
static int64_t run_followed(size_t row, bool unfused, int workers, const void *const *inputs,
                            void *const *outputs) {
  TSR_OWN(text, text);
  TSR_OWN(executable, executable);
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  write_followed(row, unfused, &text);
  executable = compile_text(tsr_text_string(&text), workers);
  assert_ok(tsr_executable_run(executable, inputs, outputs));
  assert_ok(tsr_executable_describe(executable, &info));
  return info.step_count;
}

static void fill_small(test_random *random, const char *element, void *out, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const int number = (int)test_random_range(random, -4, 4);
    const float real = (float)number / 8;
    uint32_t bits = 0;
    memcpy(&bits, &real, sizeof bits);
    if (!strcmp(element, "bf16"))
      ((uint16_t *)out)[i] = (uint16_t)(bits >> 16);
    else
      ((uint32_t *)out)[i] = !strcmp(element, "i32") ? (uint32_t)number : bits;
  }
}

static void what_follows_a_product_runs_on_its_blocks_with_the_same_bits(void **state) {
  (void)state;
  enum { MOST_SIDE = 100 * 512, MOST_RESULT = 2100 * 4100 };
  test_random random = {3};
  void *sides[3], *residual = malloc(4 * (size_t)MOST_RESULT), *results[4];
  for (int i = 0; i < 3; i++) sides[i] = malloc(4 * (size_t)MOST_SIDE);
  for (int i = 0; i < 4; i++) results[i] = malloc(4 * (size_t)MOST_RESULT);
  for (size_t row = 0; row < COUNT_OF(followed); row++) {
    const char *e = followed[row].element;
    const size_t bytes = (size_t)followed[row].count * (strcmp(e, "bf16") != 0 ? 4 : 2);
    for (int i = 0; i < 3; i++) fill_small(&random, e, sides[i], MOST_SIDE);
    fill_small(&random, e, residual, followed[row].count);
    const void *const *inputs = IN(sides[0], sides[1], sides[2], residual);
    assert_true(run_followed(row, true, 1, inputs, OUT_TO(results[0], results[1])) > 1);
    for (int workers = 1; workers < 6; workers += workers == 1 ? 1 : 3) {
      assert_int_equal(1,
                       run_followed(row, false, workers, inputs, OUT_TO(results[2], results[3])));
      for (int i = 0; i < 2; i++)
        if (memcmp(results[i], results[i + 2], bytes))
          fail_msg("row %zu, %d workers: result %d differs", row, workers, i);
    }
  }
  for (int i = 0; i < 3; i++) free(sides[i]);
  for (int i = 0; i < 4; i++) free(results[i]);
  free(residual);
}

SUITE(products, TEST(products_of_every_form_equal_the_evaluator),
      TEST(transposes_around_a_product_change_nothing), TEST(ragged_dots_multiply_each_group),
      TEST(what_follows_a_product_runs_on_its_blocks_with_the_same_bits))
