// Refinement of single ops, calls, regions and assertions.
#include <string.h>

#include "base/text_internal.h"
#include "refine/refine.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

static tsr_status refine_text(const char *before, const tsr_shape *shapes, int count,
                              tsr_text *out_after) {
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "t", before, strlen(before));
  if (!status) status = tsr_refine(ir, shapes, count);
  if (!status) status = tsr_verify(ir, "t");
  if (!status) tsr_syntax_print(ir, NULL, out_after);
  if (!status) status = tsr_text_check(out_after);
  tsr_ir_destroy(ir);
  return status;
}

// ---- bodies of a function of %x, whose first size 4 is %b, and %s as a list

typedef struct body_pair {
  const char *type_before, *before, *type_after, *after;
} body_pair;

static void assert_bodies(const body_pair *pairs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsr_text before = TSR_TEXT_EMPTY, after = TSR_TEXT_EMPTY, wanted = TSR_TEXT_EMPTY;
    tsr_text_addf(&before,
                  "func.func @main(%%x: tensor<?x3xf32>) -> %s {\n%%b = "
                  "stablehlo.get_dimension_size %%x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>\n"
                  "%%s = stablehlo.reshape %%b : (tensor<i32>) -> tensor<1xi32>\n"
                  "%s\nreturn %%r : %s\n}\n",
                  pairs[i].type_before, pairs[i].before, pairs[i].type_before);
    tsr_text_addf(&wanted,
                  "module {\n  func.func @main(%%arg0: tensor<4x3xf32>) -> %s {\n%s  }\n}\n",
                  pairs[i].type_after, pairs[i].after);
    assert_ok(refine_text(tsr_text_string(&before), TSR_SHAPE(4, 3), 1, &after));
    assert_string_equal(tsr_text_string(&after), tsr_text_string(&wanted));
    tsr_text_deinit(&before);
    tsr_text_deinit(&after);
    tsr_text_deinit(&wanted);
  }
}

#define LIST(name, number) "%" name " = stablehlo.constant dense<" number "> : tensor<1xi32>\n"
#define SHAPE(name, a, b)                         \
  "%" name " = stablehlo.concatenate %" a ", %" b \
  ", dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"

static const body_pair dynamic_ops[] = {
    {"tensor<?xf32>",
     LIST("three", "3") "%n = stablehlo.multiply %s, %three : tensor<1xi32>\n"
                        "%r = stablehlo.dynamic_reshape %x, %n : (tensor<?x3xf32>, tensor<1xi32>) "
                        "-> tensor<?xf32>",
     "tensor<12xf32>",
     "    %0 = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<12xf32>\n"
     "    return %0 : tensor<12xf32>\n"},
    {"tensor<?x3xf32>",
     LIST("three", "3")
         SHAPE("t", "s", "three") "%r = stablehlo.dynamic_reshape %x, %t : (tensor<?x3xf32>, "
                                  "tensor<2xi32>) -> tensor<?x3xf32>",
     "tensor<4x3xf32>", "    return %arg0 : tensor<4x3xf32>\n"},
    {"tensor<?x?xf32>",
     "%c = stablehlo.constant dense<1.0> : tensor<f32>\n" SHAPE(
         "t", "s", "s") "%r = stablehlo.dynamic_broadcast_in_dim %c, %t, dims = [] : (tensor<f32>, "
                        "tensor<2xi32>) -> "
                        "tensor<?x?xf32>",
     "tensor<4x4xf32>",
     "    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n"
     "    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>\n"
     "    return %0 : tensor<4x4xf32>\n"},
    {"tensor<?xi32>", "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>",
     "tensor<4xi32>",
     "    %0 = stablehlo.iota dim = 0 : tensor<4xi32>\n    return %0 : tensor<4xi32>\n"},
    {"tensor<?x?xf32>",
     "%c = stablehlo.constant dense<0.0> : tensor<f32>\n" LIST("zero", "0") LIST("one", "1")
         SHAPE("l", "s", "zero") SHAPE("h", "zero", "one")
             SHAPE("i", "zero", "zero") "%r = stablehlo.dynamic_pad %x, %c, %l, %h, %i : "
                                        "(tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, "
                                        "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
     "tensor<8x4xf32>",
     "    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
     "    %0 = stablehlo.pad %arg0, %cst, low = [4, 0], high = [0, 1], interior = [0, 0] : "
     "(tensor<4x3xf32>, tensor<f32>) -> tensor<8x4xf32>\n"
     "    return %0 : tensor<8x4xf32>\n"},
    {"tensor<?x?xf32>",
     LIST("zero", "0") LIST("one", "1") LIST("two", "2") SHAPE("a", "one", "zero")
         SHAPE("z", "s", "two")
             SHAPE("t", "two", "one") "%r = stablehlo.real_dynamic_slice %x, %a, %z, %t : "
                                      "(tensor<?x3xf32>, tensor<2xi32>, "
                                      "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
     "tensor<2x2xf32>",
     "    %0 = stablehlo.slice %arg0 [1:4:2, 0:2] : (tensor<4x3xf32>) -> tensor<2x2xf32>\n"
     "    return %0 : tensor<2x2xf32>\n"},
    {"tensor<?x3xf32>",
     LIST("zero", "0") LIST("three", "3")
         SHAPE("n", "s", "three") "%i = stablehlo.constant dense<0> : tensor<2xi32>\n"
                                  "%r = \"stablehlo.dynamic_gather\"(%x, %i, %n) "
                                  "<{dimension_numbers = #stablehlo.gather<"
                                  "offset_dims = [0, 1], start_index_map = [0, 1]>}> : "
                                  "(tensor<?x3xf32>, tensor<2xi32>, "
                                  "tensor<2xi32>) -> tensor<?x3xf32>",
     "tensor<4x3xf32>",
     "    %c = stablehlo.constant dense<0> : tensor<2xi32>\n"
     "    %0 = \"stablehlo.gather\"(%arg0, %c) <{dimension_numbers = #stablehlo.gather<offset_dims "
     "= "
     "[0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 4, 3>}> : (tensor<4x3xf32>, "
     "tensor<2xi32>) -> tensor<4x3xf32>\n"
     "    return %0 : tensor<4x3xf32>\n"},
};

static void dynamic_ops_become_static_ones(void **state) {
  (void)state;
  assert_bodies(dynamic_ops, COUNT_OF(dynamic_ops));
}

static const body_pair more_ops[] = {
    {"tensor<?x3x2xi16>",
     "%r = stablehlo.bitcast_convert %x : (tensor<?x3xf32>) -> tensor<?x3x2xi16>\n",
     "tensor<4x3x2xi16>",
     "    %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3x2xi16>\n"
     "    return %0 : tensor<4x3x2xi16>\n"},
    {"tensor<?xf64>",
     "%two = stablehlo.constant dense<2> : tensor<1xi32>\n"
     "%t = stablehlo.concatenate %s, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> "
     "tensor<2xi32>\n"
     "%m = stablehlo.dynamic_iota %t, dim = 0 : (tensor<2xi32>) -> tensor<?x2xf32>\n"
     "%r = stablehlo.bitcast_convert %m : (tensor<?x2xf32>) -> tensor<?xf64>\n",
     "tensor<4xf64>",
     "    %0 = stablehlo.iota dim = 0 : tensor<4x2xf32>\n"
     "    %1 = stablehlo.bitcast_convert %0 : (tensor<4x2xf32>) -> tensor<4xf64>\n"
     "    return %1 : tensor<4xf64>\n"},
    {"tensor<?xf32>",
     "%lo = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%hi = stablehlo.constant dense<1.0> : tensor<f32>\n"
     "%r = stablehlo.rng %lo, %hi, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, "
     "tensor<1xi32>) -> tensor<?xf32>\n",
     "tensor<4xf32>",
     "    %c = stablehlo.constant dense<4> : tensor<1xi32>\n"
     "    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
     "    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n"
     "    %0 = stablehlo.rng %cst, %cst_0, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, "
     "tensor<1xi32>) -> tensor<4xf32>\n"
     "    return %0 : tensor<4xf32>\n"},
    {"tensor<?x?xf32>",
     "%r = \"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<?x3xf32>) -> tensor<?x?xf32>\n",
     "tensor<8x3xf32>",
     "    %0 = \"stablehlo.all_gather\"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x3xf32>) -> tensor<8x3xf32>\n"
     "    return %0 : tensor<8x3xf32>\n"},
    {"tensor<?x?xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%x) <{scatter_dimension = 0 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
     "%o = stablehlo.add %p, %q : tensor<f32>\n"
     "stablehlo.return %o : tensor<f32>\n"
     "}) : (tensor<?x3xf32>) -> tensor<?x?xf32>\n",
     "tensor<2x3xf32>",
     "    %0 = \"stablehlo.reduce_scatter\"(%arg0) <{replica_groups = dense<[[0, 1]]> : "
     "tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({\n"
     "    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):\n"
     "      %1 = stablehlo.add %arg1, %arg2 : tensor<f32>\n"
     "      stablehlo.return %1 : tensor<f32>\n"
     "    }) : (tensor<4x3xf32>) -> tensor<2x3xf32>\n"
     "    return %0 : tensor<2x3xf32>\n"},
    {"tensor<?x?xf32>",
     "%two = stablehlo.constant dense<2> : tensor<i32>\n"
     "%r, %j = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %two) : (tensor<?x3xf32>, "
     "tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)\n",
     "tensor<4x2xf32>",
     "    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4x3xf32> -> (tensor<4x2xf32>, "
     "tensor<4x2xi32>)\n"
     "    return %values : tensor<4x2xf32>\n"},
    {"tensor<?xui32>",
     "%z = stablehlo.constant dense<1> : tensor<2xui64>\n"
     "%o, %r = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%z, %s) {rng_algorithm = "
     "#stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, "
     "tensor<?xui32>)\n",
     "tensor<4xui32>",
     "    %c = stablehlo.constant dense<1> : tensor<2xui64>\n"
     "    %output_state, %output = stablehlo.rng_bit_generator %c, algorithm = DEFAULT : "
     "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)\n"
     "    return %output : tensor<4xui32>\n"},
    {"tensor<?xf32>",
     "%r = stablehlo.custom_call @f(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>, "
     "has_side_effect = false} : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>\n",
     "tensor<4xf32>",
     "    %0 = stablehlo.custom_call @f(%arg0) : (tensor<4x3xf32>) -> tensor<4xf32>\n"
     "    return %0 : tensor<4xf32>\n"},
    {"tensor<?x3xf32>",
     "%r = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s) : "
     "(tensor<?x3xf32>, tensor<1xi32>) -> tensor<?x3xf32>\n",
     "tensor<4x3xf32>", "    return %arg0 : tensor<4x3xf32>\n"},
    {"tensor<?x?x?x?xf32>",
     "%one = stablehlo.constant dense<1> : tensor<1xi32>\n"
     "%three = stablehlo.constant dense<3> : tensor<1xi32>\n"
     "%t = stablehlo.concatenate %one, %s, %three, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>, "
     "tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>\n"
     "%i = stablehlo.dynamic_reshape %x, %t : (tensor<?x3xf32>, tensor<4xi32>) -> "
     "tensor<1x?x?x1xf32>\n"
     "%k = stablehlo.constant dense<1.0> : tensor<2x2x1x5xf32>\n"
     "%p = stablehlo.constant dense<[[0, 1], [0, 0]]> : tensor<2x2xi32>\n"
     "%r = \"stablehlo.dynamic_conv\"(%i, %k, %p) <{batch_group_count = 1 : i64, "
     "feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, "
     "o]->[b, 0, 1, f]>}> : (tensor<1x?x?x1xf32>, tensor<2x2x1x5xf32>, tensor<2x2xi32>) -> "
     "tensor<?x?x?x?xf32>\n",
     "tensor<1x4x2x5xf32>",
     "    %0 = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<1x4x3x1xf32>\n"
     "    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x2x1x5xf32>\n"
     "    %1 = stablehlo.convolution(%0, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
     "f], window = {pad = [[0, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 "
     ": i64} : (tensor<1x4x3x1xf32>, tensor<2x2x1x5xf32>) -> tensor<1x4x2x5xf32>\n"
     "    return %1 : tensor<1x4x2x5xf32>\n"},
    {"tensor<?x?xf32>",
     "%z = stablehlo.constant dense<0> : tensor<2xi32>\n"
     "%c = stablehlo.convert %x : (tensor<?x3xf32>) -> tensor<?x3xi32>\n"
     "%e = stablehlo.slice %c [0:1, 0:2] : (tensor<?x3xi32>) -> tensor<1x2xi32>\n"
     "%a = stablehlo.reshape %e : (tensor<1x2xi32>) -> tensor<2xi32>\n"
     "%n = stablehlo.constant dense<[2, 1]> : tensor<2xi32>\n"
     "%l = stablehlo.add %a, %n : tensor<2xi32>\n"
     "%t = stablehlo.constant dense<1> : tensor<2xi32>\n"
     "%r = stablehlo.real_dynamic_slice %x, %a, %l, %t : (tensor<?x3xf32>, tensor<2xi32>, "
     "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>\n",
     "tensor<2x1xf32>",
     "    %0 = stablehlo.convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3xi32>\n"
     "    %1 = stablehlo.slice %0 [0:1, 0:2] : (tensor<4x3xi32>) -> tensor<1x2xi32>\n"
     "    %2 = stablehlo.reshape %1 : (tensor<1x2xi32>) -> tensor<2xi32>\n"
     "    %3 = stablehlo.slice %2 [0:1] : (tensor<2xi32>) -> tensor<1xi32>\n"
     "    %4 = stablehlo.reshape %3 : (tensor<1xi32>) -> tensor<i32>\n"
     "    %5 = stablehlo.slice %2 [1:2] : (tensor<2xi32>) -> tensor<1xi32>\n"
     "    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>\n"
     "    %7 = stablehlo.dynamic_slice %arg0, %4, %6, sizes = [2, 1] : (tensor<4x3xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<2x1xf32>\n"
     "    return %7 : tensor<2x1xf32>\n"},
};

static void other_ops_take_the_sizes_they_compute(void **state) {
  (void)state;
  assert_bodies(more_ops, COUNT_OF(more_ops));
}

// Each expression of %b gives a number, the first size of an iota.
static const struct {
  const char *lines;
  int size;
} sums[] = {
    {"%n = stablehlo.add %b, %b : tensor<i32>", 8},
    {"%n = stablehlo.subtract %b, %k : tensor<i32>", 1},
    {"%n = stablehlo.multiply %b, %k : tensor<i32>", 12},
    {"%n = stablehlo.divide %b, %k : tensor<i32>", 1},
    {"%n = stablehlo.remainder %b, %k : tensor<i32>", 1},
    {"%n = stablehlo.maximum %b, %k : tensor<i32>", 4},
    {"%n = stablehlo.minimum %b, %k : tensor<i32>", 3},
    {"%m = stablehlo.negate %b : tensor<i32>\n%n = stablehlo.abs %m : tensor<i32>", 4},
    {"%n = stablehlo.sign %b : tensor<i32>", 1},
    {"%n = stablehlo.and %b, %k : tensor<i32>", 0},
    {"%n = stablehlo.or %b, %k : tensor<i32>", 7},
    {"%n = stablehlo.xor %b, %b : tensor<i32>", 0},
    {"%m = stablehlo.not %b : tensor<i32>\n%n = stablehlo.negate %m : tensor<i32>", 5},
    {"%m = stablehlo.constant dense<-1> : tensor<i32>\n%o = stablehlo.divide %b, %m : tensor<i32>\n"
     "%n = stablehlo.abs %o : tensor<i32>",
     4},
    {"%m = stablehlo.constant dense<-1> : tensor<i32>\n%n = stablehlo.remainder %b, %m : "
     "tensor<i32>",
     0},
    // 252 as ui8, which -4 is.
    {"%m = stablehlo.negate %b : tensor<i32>\n"
     "%u = stablehlo.convert %m : (tensor<i32>) -> tensor<ui8>\n"
     "%v = stablehlo.constant dense<100> : tensor<ui8>\n%w = stablehlo.divide %u, %v : "
     "tensor<ui8>\n"
     "%y = stablehlo.remainder %u, %v : tensor<ui8>\n%z = stablehlo.add %w, %y : tensor<ui8>\n"
     "%n = stablehlo.convert %z : (tensor<ui8>) -> tensor<i32>",
     54},
    {"%p = stablehlo.convert %b : (tensor<i32>) -> tensor<i1>\n"
     "%n = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>",
     1},
    {"%i = stablehlo.iota dim = 0 : tensor<7xi32>\n"
     "%f = stablehlo.slice %i [5:6] : (tensor<7xi32>) -> tensor<1xi32>\n"
     "%n = stablehlo.reshape %f : (tensor<1xi32>) -> tensor<i32>",
     5},
    {"%n = stablehlo.clamp %k, %b, %k : tensor<i32>", 3},
    {"%p = stablehlo.compare LT, %b, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%n = stablehlo.select %p, %b, %k : tensor<i1>, tensor<i32>",
     3},
    {"%p = stablehlo.compare NE, %b, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%n = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>",
     1},
    {"%w = stablehlo.convert %b : (tensor<i32>) -> tensor<i64>\n"
     "%n = stablehlo.convert %w : (tensor<i64>) -> tensor<i32>",
     4},
    {"%l = stablehlo.concatenate %s, %s, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> "
     "tensor<2xi32>\n"
     "%f = stablehlo.slice %l [1:2] : (tensor<2xi32>) -> tensor<1xi32>\n"
     "%n = stablehlo.reshape %f : (tensor<1xi32>) -> tensor<i32>",
     4},
};

static void arithmetic_on_sizes_is_computed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(sums); i++) {
    tsr_text before = TSR_TEXT_EMPTY, type = TSR_TEXT_EMPTY, after = TSR_TEXT_EMPTY;
    tsr_text_addf(&before,
                  "%%k = stablehlo.constant dense<3> : tensor<i32>\n%s\n"
                  "%%t = stablehlo.reshape %%n : (tensor<i32>) -> tensor<1xi32>\n"
                  "%%r = stablehlo.dynamic_iota %%t, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>",
                  sums[i].lines);
    tsr_text_addf(&type, "tensor<%dxf32>", sums[i].size);
    tsr_text_addf(&after, "    %%0 = stablehlo.iota dim = 0 : %s\n    return %%0 : %s\n",
                  tsr_text_string(&type), tsr_text_string(&type));
    const body_pair pair = {"tensor<?xf32>", tsr_text_string(&before), tsr_text_string(&type),
                            tsr_text_string(&after)};
    assert_bodies(&pair, 1);
    tsr_text_deinit(&before);
    tsr_text_deinit(&type);
    tsr_text_deinit(&after);
  }
}

// ---- whole programs

static void functions_are_copied_for_each_signature(void **state) {
  static const char before[] =
      "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {\n"
      "%0 = call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>\n"
      "%1 = call @f(%y) : (tensor<?xf32>) -> tensor<?xf32>\n"
      "%2 = call @f(%0) : (tensor<?xf32>) -> tensor<?xf32>\n"
      "return %2, %1 : tensor<?xf32>, tensor<?xf32>\n}\n"
      "func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "%0 = stablehlo.abs %x : tensor<?xf32>\nreturn %0 : tensor<?xf32>\n}\n";
  static const char after[] =
      "module {\n"
      "  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) -> (tensor<2xf32>, "
      "tensor<3xf32>) {\n"
      "    %0 = call @f(%arg0) : (tensor<2xf32>) -> tensor<2xf32>\n"
      "    %1 = call @f_0(%arg1) : (tensor<3xf32>) -> tensor<3xf32>\n"
      "    %2 = call @f(%0) : (tensor<2xf32>) -> tensor<2xf32>\n"
      "    return %2, %1 : tensor<2xf32>, tensor<3xf32>\n"
      "  }\n"
      "  func.func private @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
      "    %0 = stablehlo.abs %arg0 : tensor<2xf32>\n"
      "    return %0 : tensor<2xf32>\n"
      "  }\n"
      "  func.func private @f_0(%arg0: tensor<3xf32>) -> tensor<3xf32> {\n"
      "    %0 = stablehlo.abs %arg0 : tensor<3xf32>\n"
      "    return %0 : tensor<3xf32>\n"
      "  }\n"
      "}\n";
  const tsr_shape shapes[] = {{1, {2}}, {1, {3}}};
  tsr_text text = TSR_TEXT_EMPTY;
  (void)state;
  assert_ok(refine_text(before, shapes, 2, &text));
  assert_string_equal(tsr_text_string(&text), after);
  tsr_text_deinit(&text);
}

#define MAIN "func.func @main(%x: tensor<?x3xf32>) {\n"
#define SIZE "%b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>\n"
#define ASSERTION                                                                                \
  "stablehlo.custom_call @shape_assertion(%p, %b) {error_message = \"size is {0}, not {1}\"} : " \
  "(tensor<i1>, tensor<i32>) -> ()\n"

static const struct {
  const char *text;
  tsr_shape shape;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {MAIN SIZE
     "%k = stablehlo.constant dense<5> : tensor<i32>\n"
     "%p = stablehlo.compare EQ, %b, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" ASSERTION
     "return\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_CONSTRAINT,
     "size is 4, not {1}"},
    {"func.func @main(%x: tensor<?x3xf32>) {\n" SIZE
     "%z = stablehlo.constant dense<0> : tensor<2xi32>\n"
     "%f = stablehlo.constant dense<true> : tensor<2xi1>\n"
     "%q = \"stablehlo.rng\"(%b, %b, %z) <{rng_distribution = #stablehlo<rng_distribution "
     "UNIFORM>}> "
     ": (tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<0x0xi32>\n"
     "%n = stablehlo.reshape %q : (tensor<0x0xi32>) -> tensor<0xi32>\n"
     "return\n}\n",
     {1, {4}},
     TSR_CAUSE_CONSTRAINT,
     "func.func: the shape given for argument 0 has rank 1, expected that of tensor<?x3xf32>"},
    {MAIN "return\n}\n",
     {2, {4, 5}},
     TSR_CAUSE_CONSTRAINT,
     "func.func: the shape given for argument 0 is [4, 5], which tensor<?x3xf32> cannot have"},
    {MAIN "return\n}\n",
     {2, {-1, 3}},
     TSR_CAUSE_CONSTRAINT,
     "func.func: the shape given for argument 0 is [-1, 3], which tensor<?x3xf32> cannot have"},
    {MAIN "%r = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<?x3xf32>) -> "
          "tensor<?xf32>\nreturn\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_UNSUPPORTED,
     "stablehlo.custom_call: result 0 has an unknown size after refinement"},
    {MAIN "call @f(%x) : (tensor<?x3xf32>) -> ()\nreturn\n}\n"
          "func.func private @f(%x: tensor<?x3xf32>) {\ncall @f(%x) : (tensor<?x3xf32>) -> ()\n"
          "return\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_CONSTRAINT,
     "func.func: @f calls itself"},
    {MAIN "%s = stablehlo.constant dense<0> : tensor<i1>\n"
          "%c = stablehlo.convert %x : (tensor<?x3xf32>) -> tensor<?x3xi1>\n"
          "%d = stablehlo.slice %c [0:1, 0:1] : (tensor<?x3xi1>) -> tensor<1x1xi1>\n"
          "%p = stablehlo.reshape %d : (tensor<1x1xi1>) -> tensor<i1>\n" SIZE ASSERTION
          "return\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_UNSUPPORTED,
     "the condition of a shape assertion does not follow from the shapes"},
    {MAIN "%p = stablehlo.constant dense<true> : tensor<i1>\n"
          "stablehlo.custom_call @shape_assertion(%p) : (tensor<i1>) -> ()\nreturn\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_CONSTRAINT,
     "stablehlo.custom_call: @shape_assertion has no condition or no error_message"},
    {MAIN "%a = stablehlo.constant dense<0> : tensor<2xi32>\n"
          "%l = stablehlo.constant dense<[5, 3]> : tensor<2xi32>\n"
          "%t = stablehlo.constant dense<1> : tensor<2xi32>\n"
          "%r = stablehlo.real_dynamic_slice %x, %a, %l, %t : (tensor<?x3xf32>, tensor<2xi32>, "
          "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>\nreturn\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_CONSTRAINT,
     "stablehlo.real_dynamic_slice: the slice 0:5:1 of dimension 0 does not fit tensor<4x3xf32>"},
    {MAIN "%z = stablehlo.constant dense<0> : tensor<2xi32>\n"
          "%l = stablehlo.constant dense<[-5, 0]> : tensor<2xi32>\n"
          "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "%r = stablehlo.dynamic_pad %x, %c, %l, %z, %z : (tensor<?x3xf32>, tensor<f32>, "
          "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>\nreturn\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_CONSTRAINT,
     "stablehlo.dynamic_pad: (C4) the padded size of dimension 0 of tensor<4x3xf32> is not 0 or "
     "more"},
    {MAIN
     "%s = stablehlo.constant dense<4> : tensor<1xi32>\n"
     "%r = stablehlo.custom_call @f(%s) {indices_of_shape_operands = dense<1> : tensor<1xi64>, "
     "has_side_effect = true} : (tensor<1xi32>) -> tensor<?xf32>\nreturn\n}\n",
     {2, {4, 3}},
     TSR_CAUSE_CONSTRAINT,
     "stablehlo.custom_call: indices_of_shape_operands has 1, expected an operand"},
    {MAIN "%r = \"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, replica_groups = "
          "dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<?x3xf32>) -> tensor<?x?xf32>\n"
          "return\n}\n",
     {2, {INT64_MAX / 3 + 1, 3}},
     TSR_CAUSE_CONSTRAINT,
     "stablehlo.all_gather: (C6) dimension 0 of tensor<3074457345618258603x3xf32> times 3 is too "
     "large"},
    {"func.func @f(%x: tensor<?xf32>) {\nreturn\n}\nfunc.func @g(%x: tensor<?xf32>) {\nreturn\n}\n",
     {1, {4}},
     TSR_CAUSE_UNSUPPORTED,
     "the program has no function \"main\" to refine"},
};

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_status status = refine_text(refused[i].text, &refused[i].shape, 1, &text);
    assert_message(status, refused[i].message);
    assert_int_equal(tsr_status_cause(status), refused[i].cause);
    tsr_status_free(status);
    tsr_text_deinit(&text);
  }
}

// Each function calls the next with twice its size, and with one more.
static void functions_that_multiply_are_refused(void **state) {
  tsr_text text = TSR_TEXT_EMPTY, after = TSR_TEXT_EMPTY;
  (void)state;
  tsr_text_add(&text, MAIN SIZE "call @f0(%b) : (tensor<i32>) -> ()\nreturn\n}\n");
  for (int i = 0; i < 40; i++)
    tsr_text_addf(&text,
                  "func.func private @f%d(%%b: tensor<i32> {jax.global_constant = \"b\"}) {\n"
                  "%%c = stablehlo.constant dense<1> : tensor<i32>\n"
                  "%%0 = stablehlo.add %%b, %%b : tensor<i32>\n"
                  "%%1 = stablehlo.add %%0, %%c : tensor<i32>\n"
                  "call @f%d(%%0) : (tensor<i32>) -> ()\ncall @f%d(%%1) : (tensor<i32>) -> ()\n"
                  "return\n}\n",
                  i, i + 1, i + 1);
  tsr_text_add(&text, "func.func private @f40(%b: tensor<i32>) {\nreturn\n}\n");
  assert_fails(refine_text(tsr_text_string(&text), TSR_SHAPE(4, 3), 1, &after), TOO_LARGE,
               "functions are called with so many different sizes that the program would grow more "
               "than 64 times");
  tsr_text_deinit(&text);
  tsr_text_deinit(&after);
}

static void assertions_that_hold_go(void **state) {
  static const char text[] = MAIN SIZE
      "%k = stablehlo.constant dense<4> : tensor<i32>\n"
      "%p = stablehlo.compare EQ, %b, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" ASSERTION
      "return\n}\n";
  tsr_text after = TSR_TEXT_EMPTY;
  (void)state;
  assert_ok(refine_text(text, TSR_SHAPE(4, 3), 1, &after));
  assert_string_equal(
      tsr_text_string(&after),
      "module {\n  func.func @main(%arg0: tensor<4x3xf32>) {\n    return\n  }\n}\n");
  tsr_text_deinit(&after);
}

// Functions that call each other, deeper than regions and calls may be nested.
static void calls_that_are_nested_too_deep_are_refused(void **state) {
  tsr_text text = TSR_TEXT_EMPTY, after = TSR_TEXT_EMPTY;
  (void)state;
  tsr_text_add(&text, MAIN "call @f0(%x) : (tensor<?x3xf32>) -> ()\nreturn\n}\n");
  for (int i = 0; i < 300; i++)
    tsr_text_addf(&text,
                  "func.func private @f%d(%%x: tensor<?x3xf32>) {\n"
                  "call @f%d(%%x) : (tensor<?x3xf32>) -> ()\nreturn\n}\n",
                  i, i + 1);
  tsr_text_add(&text, "func.func private @f300(%x: tensor<?x3xf32>) {\nreturn\n}\n");
  assert_fails(refine_text(tsr_text_string(&text), TSR_SHAPE(4, 3), 1, &after), TOO_LARGE,
               "calls and regions are nested more than 256 deep");
  tsr_text_deinit(&text);
  tsr_text_deinit(&after);
}

// Without calls: finding a function does without its index if there is no memory.
static tsr_status sweep(void *context) {
  static const char text[] = MAIN SIZE
      "%k = stablehlo.constant dense<3> : tensor<i32>\n"
      "%n = stablehlo.multiply %b, %k : tensor<i32>\n"
      "%s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
      "%r = stablehlo.dynamic_reshape %x, %s : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>\n"
      "return\n}\n";
  tsr_text after = TSR_TEXT_EMPTY;
  (void)context;
  tsr_status status = refine_text(text, TSR_SHAPE(4, 3), 1, &after);
  tsr_text_deinit(&after);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(sweep, NULL);
}

SUITE(refine, TEST(dynamic_ops_become_static_ones), TEST(other_ops_take_the_sizes_they_compute),
      TEST(arithmetic_on_sizes_is_computed), TEST(functions_are_copied_for_each_signature),
      TEST(what_does_not_fit_is_refused), TEST(functions_that_multiply_are_refused),
      TEST(assertions_that_hold_go), TEST(calls_that_are_nested_too_deep_are_refused),
      TEST(every_allocation_may_fail))
