// Ops that are others in short, against those others, written out and evaluated.
#include "base/text_internal.h"
#include "exec/evaluated.h"

typedef struct short_case {
  const char *arguments, *results;
  const char *op, *reference;  // the bodies of two functions
} short_case;

static void check_cases(const short_case *cases, size_t count, int64_t low, int64_t high) {
  test_random random = {11};
  for (size_t i = 0; i < count; i++) {
    TSR_OWN(text, text);
    TSR_OWN(text, reference);
    const char *form = "func.func @main(%s) -> (%s) {\n%s}\n";
    tsr_text_addf(&text, form, cases[i].arguments, cases[i].results, cases[i].op);
    tsr_text_addf(&reference, form, cases[i].arguments, cases[i].results, cases[i].reference);
    check_evaluated(&random, tsr_text_string(&text), tsr_text_string(&reference), low, high);
  }
}

// ---- shapes ----

static const short_case shapes[] = {
    {"%x: tensor<3xf32>", "tensor<2x4x3xf32>",
     "  %r = stablehlo.broadcast %x, sizes = [2, 4] : (tensor<3xf32>) -> tensor<2x4x3xf32>\n"
     "  return %r : tensor<2x4x3xf32>\n",
     "  %r = stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<3xf32>) -> tensor<2x4x3xf32>\n"
     "  return %r : tensor<2x4x3xf32>\n"},
    {"%x: tensor<4x3xf32>", "tensor<4x3xf32>, tensor<12xf32>, tensor<2x4x3xf32>",
     "  %s = stablehlo.constant dense<[12]> : tensor<1xi32>\n"
     "  %t = stablehlo.constant dense<[2, 4, 3]> : tensor<3xi32>\n"
     "  %i = stablehlo.constant dense<[4, 3]> : tensor<2xi32>\n"
     "  %a = stablehlo.dynamic_iota %i, dim = 0 : (tensor<2xi32>) -> tensor<4x3xf32>\n"
     "  %b = stablehlo.dynamic_reshape %x, %s : (tensor<4x3xf32>, tensor<1xi32>) -> "
     "tensor<12xf32>\n"
     "  %c = stablehlo.dynamic_broadcast_in_dim %x, %t, dims = [1, 2] : (tensor<4x3xf32>, "
     "tensor<3xi32>) -> tensor<2x4x3xf32>\n"
     "  return %a, %b, %c : tensor<4x3xf32>, tensor<12xf32>, tensor<2x4x3xf32>\n",
     "  %a = stablehlo.iota dim = 0 : tensor<4x3xf32>\n"
     "  %b = stablehlo.reshape %x : (tensor<4x3xf32>) -> tensor<12xf32>\n"
     "  %c = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x3xf32>) -> "
     "tensor<2x4x3xf32>\n"
     "  return %a, %b, %c : tensor<4x3xf32>, tensor<12xf32>, tensor<2x4x3xf32>\n"},
    {"%x: tensor<4x5xf32>, %z: tensor<f32>", "tensor<2x2xf32>, tensor<7x6xf32>",
     "  %s = stablehlo.constant dense<[1, 0]> : tensor<2xi64>\n"
     "  %l = stablehlo.constant dense<[3, 4]> : tensor<2xi64>\n"
     "  %t = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n"
     "  %i = stablehlo.constant dense<[0, 0]> : tensor<2xi64>\n"
     "  %h = stablehlo.constant dense<[2, 1]> : tensor<2xi64>\n"
     "  %a = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<4x5xf32>, tensor<2xi64>, "
     "tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>\n"
     "  %b = stablehlo.dynamic_pad %x, %z, %s, %h, %i : (tensor<4x5xf32>, tensor<f32>, "
     "tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<7x6xf32>\n"
     "  return %a, %b : tensor<2x2xf32>, tensor<7x6xf32>\n",
     "  %a = stablehlo.slice %x [1:3, 0:4:2] : (tensor<4x5xf32>) -> tensor<2x2xf32>\n"
     "  %b = stablehlo.pad %x, %z, low = [1, 0], high = [2, 1], interior = [0, 0] : "
     "(tensor<4x5xf32>, tensor<f32>) -> tensor<7x6xf32>\n"
     "  return %a, %b : tensor<2x2xf32>, tensor<7x6xf32>\n"},
    {"%x: tensor<5x3xf32>, %i: tensor<4xi32>", "tensor<4x3xf32>, tensor<5x4xf32>",
     "  %a = \"stablehlo.torch_index_select\"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : "
     "(tensor<5x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>\n"
     "  %b = \"stablehlo.torch_index_select\"(%x, %i) <{batch_dims = 0 : i64, dim = 1 : i64}> : "
     "(tensor<5x3xf32>, tensor<4xi32>) -> tensor<5x4xf32>\n"
     "  return %a, %b : tensor<4x3xf32>, tensor<5x4xf32>\n",
     "  %a = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = "
     "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes "
     "= array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>\n"
     "  %b = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = "
     "[0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes "
     "= array<i64: 5, 1>} : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<5x4xf32>\n"
     "  return %a, %b : tensor<4x3xf32>, tensor<5x4xf32>\n"},
    {"%x: tensor<2x5x3xf32>, %i: tensor<2x4xi32>", "tensor<2x4x3xf32>",
     "  %a = \"stablehlo.torch_index_select\"(%x, %i) <{batch_dims = 1 : i64, dim = 1 : i64}> : "
     "(tensor<2x5x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>\n"
     "  return %a : tensor<2x4x3xf32>\n",
     "  %a = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = "
     "[2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = "
     "[0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>} : "
     "(tensor<2x5x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>\n"
     "  return %a : tensor<2x4x3xf32>\n"},
};

static void shapes_that_are_known_make_static_ops(void **state) {
  (void)state;
  check_cases(shapes, COUNT_OF(shapes), 0, 2);
}

// ---- products ----

static const short_case products[] = {
    {"%x: tensor<4x3xf32>, %y: tensor<3x5xf32>", "tensor<4x5xf32>",
     "  %r = stablehlo.dot %x, %y : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>\n"
     "  return %r : tensor<4x5xf32>\n",
     "  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x3xf32>, "
     "tensor<3x5xf32>) -> tensor<4x5xf32>\n  return %r : tensor<4x5xf32>\n"},
    {"%x: tensor<3xf32>, %y: tensor<3xf32>", "tensor<f32>",
     "  %r = stablehlo.dot %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>\n"
     "  return %r : tensor<f32>\n",
     "  %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<3xf32>, "
     "tensor<3xf32>) -> tensor<f32>\n  return %r : tensor<f32>\n"},
    {"%x: tensor<2x4x3xf32>, %y: tensor<3x2x5x6xf32>", "tensor<5x2x4xf32>",
     "  %r = stablehlo.einsum %x, %y, config = \"bij,jbkm->kbi\" : (tensor<2x4x3xf32>, "
     "tensor<3x2x5x6xf32>) -> tensor<5x2x4xf32>\n  return %r : tensor<5x2x4xf32>\n",
     "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "  %s = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [3] : "
     "(tensor<3x2x5x6xf32>, tensor<f32>) -> tensor<3x2x5xf32>\n"
     "  %d = stablehlo.dot_general %x, %s, batching_dims = [0] x [1], contracting_dims = [2] x "
     "[0] : (tensor<2x4x3xf32>, tensor<3x2x5xf32>) -> tensor<2x4x5xf32>\n"
     "  %r = stablehlo.transpose %d, dims = [2, 0, 1] : (tensor<2x4x5xf32>) -> tensor<5x2x4xf32>\n"
     "  return %r : tensor<5x2x4xf32>\n"},
    {"%x: tensor<2x4x3xf32>", "tensor<3x2xf32>",
     "  %r = \"stablehlo.unary_einsum\"(%x) <{einsum_config = \"abc->ca\"}> : (tensor<2x4x3xf32>) "
     "-> tensor<3x2xf32>\n  return %r : tensor<3x2xf32>\n",
     "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n"
     "  %r = stablehlo.transpose %s, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
     "  return %r : tensor<3x2xf32>\n"},
};

static void products_become_dot_general(void **state) {
  (void)state;
  check_cases(products, COUNT_OF(products), 0, 2);
}

// ---- chlo ----

static const short_case chlo[] = {
    {"%x: tensor<4x3xf32>, %y: tensor<3xf32>, %c: tensor<i1>",
     "tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>",
     "  %a = chlo.broadcast_subtract %x, %y : (tensor<4x3xf32>, tensor<3xf32>) -> "
     "tensor<4x3xf32>\n"
     "  %b = chlo.broadcast_compare %y, %x {comparison_direction = #chlo<comparison_direction "
     "LT>} : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>\n"
     "  %d = chlo.broadcast_select %c, %x, %y : (tensor<i1>, tensor<4x3xf32>, tensor<3xf32>) -> "
     "tensor<4x3xf32>\n"
     "  %e = \"chlo.constant_like\"(%x) <{value = 2.5 : f32}> : (tensor<4x3xf32>) -> "
     "tensor<4x3xf32>\n"
     "  return %a, %b, %d, %e : tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>, "
     "tensor<4x3xf32>\n",
     "  %w = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>\n"
     "  %a = stablehlo.subtract %x, %w : tensor<4x3xf32>\n"
     "  %b = stablehlo.compare LT, %w, %x : (tensor<4x3xf32>, tensor<4x3xf32>) -> "
     "tensor<4x3xi1>\n"
     "  %d = stablehlo.select %c, %x, %w : tensor<i1>, tensor<4x3xf32>\n"
     "  %e = stablehlo.constant dense<2.5> : tensor<4x3xf32>\n"
     "  return %a, %b, %d, %e : tensor<4x3xf32>, tensor<4x3xi1>, tensor<4x3xf32>, "
     "tensor<4x3xf32>\n"},
    {"%x: tensor<3x4xi32>, %y: tensor<3xi32>", "tensor<3x4xi32>",
     "  %a = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 0>} : "
     "(tensor<3x4xi32>, tensor<3xi32>) -> tensor<3x4xi32>\n  return %a : tensor<3x4xi32>\n",
     "  %w = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<3xi32>) -> tensor<3x4xi32>\n"
     "  %a = stablehlo.add %x, %w : tensor<3x4xi32>\n  return %a : tensor<3x4xi32>\n"},
    // Sums along a dim; the carry is the last one.
    {"%x: tensor<3x4xi32>, %c: tensor<3xi32>", "tensor<3x4xi32>, tensor<3xi32>",
     "  %r:2 = chlo.scan(%x) inits(%c) dimension=1 {\n"
     "  ^bb0(%a: tensor<3xi32>, %b: tensor<3xi32>):\n"
     "    %s = stablehlo.add %a, %b : tensor<3xi32>\n"
     "    stablehlo.return %s, %s : tensor<3xi32>, tensor<3xi32>\n"
     "  } : (tensor<3x4xi32>, tensor<3xi32>) -> (tensor<3x4xi32>, tensor<3xi32>)\n"
     "  return %r#0, %r#1 : tensor<3x4xi32>, tensor<3xi32>\n",
     "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
     "  %p = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<3xi32>) -> tensor<3x4xi32>\n"
     "  %w = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 1, 4>, padding = "
     "dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}> ({\n"
     "  ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
     "    %s = stablehlo.add %a, %b : tensor<i32>\n"
     "    stablehlo.return %s : tensor<i32>\n"
     "  }) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>\n"
     "  %o = stablehlo.add %w, %p : tensor<3x4xi32>\n"
     "  %l = stablehlo.slice %o [0:3, 3:4] : (tensor<3x4xi32>) -> tensor<3x1xi32>\n"
     "  %m = stablehlo.reshape %l : (tensor<3x1xi32>) -> tensor<3xi32>\n"
     "  return %o, %m : tensor<3x4xi32>, tensor<3xi32>\n"},
};

static void chlo_ops_broadcast_and_scan(void **state) {
  (void)state;
  check_cases(chlo, COUNT_OF(chlo), -3, 3);
}

// ---- normalisation ----

#define SPREAD(to, from)                          \
  "  %" to " = stablehlo.broadcast_in_dim %" from \
  ", dims = [1] : (tensor<2xf32>) -> "            \
  "tensor<4x2xf32>\n"
#define BINARY(to, op, a, b) "  %" to " = stablehlo." op " %" a ", %" b " : tensor<4x2xf32>\n"
#define SUM(to, from)                                      \
  "  %" to " = stablehlo.reduce(%" from                    \
  " init: %zero) applies stablehlo.add across dimensions " \
  "= [0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>\n"
#define NUMBERS                                                  \
  "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"      \
  "  %eps = stablehlo.constant dense<100.0> : tensor<4x2xf32>\n" \
  "  %four = stablehlo.constant dense<4.0> : tensor<2xf32>\n"    \
  "  %count = stablehlo.constant dense<4.0> : tensor<4x2xf32>\n"
#define NORMALISED(to)                                                                \
  SPREAD("mb", "m")                                                                   \
  SPREAD("vb", "v")                                                                   \
  SPREAD("sb", "s")                                                                   \
  SPREAD("ob", "o")                                                                   \
  BINARY("xc", "subtract", "x", "mb")                                                 \
  BINARY("ve", "add", "vb", "eps")                                                    \
  "  %sd = stablehlo.sqrt %ve : tensor<4x2xf32>\n" BINARY("xn", "divide", "xc", "sd") \
      BINARY("xs", "multiply", "sb", "xn") BINARY(to, "add", "xs", "ob")
#define EPSILON "<{epsilon = 100.0 : f32, feature_index = 1 : i64}>"
#define FIVE "tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>"

static const short_case norms[] = {
    {"%x: tensor<4x2xf32>, %s: tensor<2xf32>, %o: tensor<2xf32>, %m: tensor<2xf32>, %v: "
     "tensor<2xf32>",
     "tensor<4x2xf32>",
     "  %r = \"stablehlo.batch_norm_inference\"(%x, %s, %o, %m, %v) " EPSILON
     " : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> "
     "tensor<4x2xf32>\n  return %r : tensor<4x2xf32>\n",
     NUMBERS NORMALISED("r") "  return %r : tensor<4x2xf32>\n"},
    {"%x: tensor<4x2xf32>, %s: tensor<2xf32>, %o: tensor<2xf32>", FIVE,
     "  %r:3 = \"stablehlo.batch_norm_training\"(%x, %s, %o) " EPSILON
     " : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (" FIVE ")\n"
     "  return %r#0, %r#1, %r#2 : " FIVE "\n",
     NUMBERS SUM("sum", "x") "  %m = stablehlo.divide %sum, %four : tensor<2xf32>\n" SPREAD(
         "mt", "m") BINARY("ct", "subtract", "x", "mt") BINARY("qt", "multiply", "ct", "ct")
         SUM("sq", "qt") "  %v = stablehlo.divide %sq, %four : tensor<2xf32>\n" NORMALISED(
             "r") "  return %r, %m, %v : " FIVE "\n"},
    {"%x: tensor<4x2xf32>, %s: tensor<2xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>, %g: "
     "tensor<4x2xf32>",
     FIVE,
     "  %r:3 = \"stablehlo.batch_norm_grad\"(%x, %s, %m, %v, %g) " EPSILON
     " : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2xf32>) -> (" FIVE
     ")\n  return %r#0, %r#1, %r#2 : " FIVE "\n",
     NUMBERS SPREAD("mb", "m") SPREAD("vb", "v") SPREAD("sb", "s") BINARY("xc", "subtract", "x",
                                                                          "mb")
         BINARY("ve", "add", "vb", "eps") "  %sd = stablehlo.sqrt %ve : tensor<4x2xf32>\n" BINARY(
             "xn", "divide", "xc", "sd") BINARY("i1", "multiply", "g", "count") SUM("gs", "g")
             SPREAD("i2", "gs") BINARY("gc", "multiply", "g", "xc") SUM("gt", "gc") SPREAD(
                 "i3", "gt") BINARY("i4", "multiply", "i3", "xc") BINARY("i5", "divide", "i4", "ve")
                 BINARY("i12", "subtract", "i1", "i2") BINARY("i6", "subtract", "i12", "i5")
                     BINARY("f", "divide", "sb", "sd") BINARY("fc", "divide", "f", "count")
                         BINARY("r", "multiply", "fc", "i6") BINARY("gn", "multiply", "g", "xn")
                             SUM("rs", "gn") "  return %r, %rs, %gs : " FIVE "\n"},
};

static void normalisations_are_the_formulas(void **state) {
  (void)state;
  check_cases(norms, COUNT_OF(norms), 0, 9);
}

// ---- bodies in place ----

static const short_case bodies[] = {
    // A wider body than its input.
    {"%x: tensor<4x3xbf16>", "tensor<4xf32>",
     "  %z = stablehlo.constant dense<0.0> : tensor<bf16>\n"
     "  %r = \"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 1>}> ({\n"
     "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "    %s = stablehlo.add %a, %b : tensor<f32>\n"
     "    stablehlo.return %s : tensor<f32>\n"
     "  }) : (tensor<4x3xbf16>, tensor<bf16>) -> tensor<4xf32>\n  return %r : tensor<4xf32>\n",
     "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "  %w = stablehlo.convert %x : (tensor<4x3xbf16>) -> tensor<4x3xf32>\n"
     "  %r = stablehlo.reduce(%w init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>\n  return %r : tensor<4xf32>\n"},
    {"%x: tensor<4xf32>, %y: tensor<4xf32>", "tensor<4xf32>",
     "  %r = sdy.named_computation<\"f\">(%x, %y) (%a: tensor<4xf32>, %b: tensor<4xf32>) {\n"
     "    %s = stablehlo.subtract %a, %b : tensor<4xf32>\n"
     "    sdy.return %s : tensor<4xf32>\n"
     "  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return %r : tensor<4xf32>\n",
     "  %r = stablehlo.subtract %x, %y : tensor<4xf32>\n  return %r : tensor<4xf32>\n"},
};

static void bodies_move_out(void **state) {
  (void)state;
  check_cases(bodies, COUNT_OF(bodies), -3, 3);
}

SUITE(decompose, TEST(shapes_that_are_known_make_static_ops), TEST(products_become_dot_general),
      TEST(chlo_ops_broadcast_and_scan), TEST(normalisations_are_the_formulas),
      TEST(bodies_move_out))
