// Types of every kind, read and printed.
#include <string.h>

#include "round_trip.h"
#include "support/test.h"
#include "syntax/syntax.h"

static void types_are_printed_as_mlir_prints_them(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"i1", NULL},
      {"si3", NULL},
      {"ui77", NULL},
      {"i16777215", NULL},
      {"f8E4M3B11FNUZ", NULL},
      {"tf32", NULL},
      {"index", NULL},
      {"none", NULL},
      {"complex<f32>", NULL},
      {"tensor<f32>", NULL},
      {"tensor<4x?x0xbf16>", NULL},
      {"tensor<0x8xf32>", NULL},
      {"tensor< 4 x 8 x f32 >", "tensor<4x8xf32>"},
      {"tensor<*xi8>", NULL},
      {"tensor<9223372036854775807xi8>", NULL},
      {"tensor<?x3xf32, #stablehlo.bounds<5, ?>>", NULL},
      {"tensor<?xf32, #stablehlo.type_extensions<bounds = [5]>>",
       "tensor<?xf32, #stablehlo.bounds<5>>"},
      {"tensor<2xf32, 3>", "tensor<2xf32, 3 : i64>"},
      {"tensor<2x!foo.bar>", NULL},
      {"memref<2x?xf32>", NULL},
      {"memref<2xf32, strided<[?], offset: ?>, 3>", NULL},
      {"memref<*xf32>", NULL},
      {"vector<4x[8]xi32>", NULL},
      {"tuple<>", NULL},
      {"tuple<f32, tuple<tensor<2xi1>>>", NULL},
      {"() -> ()", NULL},
      {"(f32) -> (f32)", "(f32) -> f32"},
      {"(f32, i1) -> (f32, i32)", NULL},
      {"(f32) -> ((i32) -> f32)", NULL},
      {"!stablehlo.token", NULL},
      {"!stablehlo.future<tensor<f32>, tensor<i32>>", NULL},
      {"!shape.witness", NULL},
      {"!foo.bar<3, \"a>b\", [1] -> {2}>", NULL},
      {"!foo<bar>", "!foo.bar"},
      {"!foo<bar<3>>", "!foo.bar<3>"},
      {"!foo<bar 3>", NULL},
  };
  test_printed_types(cases, COUNT_OF(cases));
}

static void quantised_types_keep_their_scales(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"!quant.uniform<i8:f32, 1.0>", "!quant.uniform<i8:f32, 1.000000e+00>"},
      {"!quant.uniform<i8<-127:127>:f32, 0.1:-3>",
       "!quant.uniform<i8<-127:127>:f32, 1.000000e-01:-3>"},
      {"!quant.uniform<i8:f32, 1234567.0>", "!quant.uniform<i8:f32, 0x4132D68700000000>"},
      {"!quant.uniform<i8<-128:127>:f32, 2.5:0>", "!quant.uniform<i8:f32, 2.500000e+00>"},
      {"!quant.uniform<u8<0:255>:bf16, 2.5>", "!quant.uniform<u8:bf16, 2.500000e+00>"},
      {"!quant.uniform<ui4:f32:1, {0.003921568859368563, 2.0:3}>",
       "!quant.uniform<u4:f32:1, {0.0039215688593685627,2.000000e+00:3}>"},
      {"tensor<2x!quant.uniform<i32:f32, 1.0:5>>",
       "tensor<2x!quant.uniform<i32:f32, 1.000000e+00:5>>"},
      {"!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0, 2.0}}>", NULL},
  };
  test_printed_types(cases, COUNT_OF(cases));
}

static void equal_types_of_a_program_are_one(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  const tsr_type *a = NULL, *b = NULL;
  const char *one = "tensor<?x3xf32, #stablehlo.bounds<5, ?>>";
  const char *two = "tensor<? x 3 x f32, #stablehlo.type_extensions<bounds=[5,?]>>";
  assert_ok(tsr_syntax_read_type(ir, one, strlen(one), &a));
  assert_ok(tsr_syntax_read_type(ir, two, strlen(two), &b));
  assert_ptr_equal(a, b);
  assert_int_equal(a->rank, 2);
  assert_true(a->dims[0] == TSR_DYNAMIC);
  assert_int_equal(tsr_type_bound(a, 0), 5);
  tsr_ir_destroy(ir);
}

static void malformed_types_are_refused(void **state) {
  (void)state;
  static const refused_case cases[] = {
      {"", "type: column 1: expected a type, found the end"},
      {"foo", "type: column 1: expected a type, found \"foo\""},
      {"i32 i32", "type: column 5: expected the end, found \"i32\""},
      {"i16777216", "type: column 1: i16777216 has not from 1 to 16777215 bits"},
      {"tensor", "type: column 7: expected \"<\", found the end"},
      {"tensor<4xf32", "type: column 13: expected \">\", found the end"},
      {"tensor<4f32>", "type: column 9: expected \"x\" after a dimension, found \"f32\""},
      {"tensor<-1xf32>", "type: column 8: expected a type, found \"-\""},
      {"tensor<9223372036854775808xf32>", "type: column 8: a dimension is beyond 64 bits"},
      {"tensor<tensor<f32>>", "type: column 8: tensor<f32> is not a type of elements"},
      {"complex<index>",
       "type: column 9: index is not a type of complex numbers, expected an integer or float"},
      {"tensor<?x3xf32, #stablehlo.bounds<5>>",
       "type: column 36: the tensor has 1 bounds, expected one for each of 2 dimensions"},
      {"tensor<3xf32, #stablehlo.bounds<5>>",
       "type: column 34: dimension 0 of known size 3 has bound 5, expected \"?\""},
      {"(f32) -> (", "type: column 11: expected a type, found the end"},
      {"(f32 i32) -> ()", "type: column 6: expected \",\" or \")\", found \"i32\""},
      {"!stablehlo.foo", "type: column 1: stablehlo has no type \"foo\", expected token or future"},
      {"!stablehlo.future<>", "type: column 18: a future holds no type, expected at least one"},
      {"!stablehlo.future<f32>",
       "type: column 18: type 0 of a future is not a tensor of known rank"},
      {"!foo.bar<(]>", "type: column 11: expected \")\", found \"]\""},
      {"!foo.bar<\"x", "type: column 9: \"<\" is not closed"},
      {"!nowhere", "type: column 1: alias \"!nowhere\" is not defined"},
      {"!quant.uniform<f32:f32, 1.0>",
       "type: column 16: expected a storage type of at most 32 bits such as i8, found \"f32\""},
      {"!quant.uniform<i8<-200:100>:f32, 1.0>",
       "type: column 19: storage range -200:100 is beyond -128:127 of its type"},
      {"!quant.uniform<i8:i8, 1.0>", "type: column 19: expressed type i8 is not a float"},
      {"!quant.uniform<i8:f32, x>", "type: column 24: expected a scale such as 0.5, found \"x\""},
      {"!quant.uniform<i8:f32:-1, {1.0}>", "type: column 23: axis -1 is not from 0 to 32767"},
  };
  test_refused_types(cases, COUNT_OF(cases));
}

SUITE(syntax_types, TEST(types_are_printed_as_mlir_prints_them),
      TEST(quantised_types_keep_their_scales), TEST(equal_types_of_a_program_are_one),
      TEST(malformed_types_are_refused))
