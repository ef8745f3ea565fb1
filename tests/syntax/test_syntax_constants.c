// The elements of constants.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "round_trip.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "syntax/writer.h"

static void constants_are_printed_as_mlir_prints_them(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"dense<1> : tensor<i32>", NULL},
      {"dense<> : tensor<0x2xf32>", NULL},
      {"dense<[[], []]> : tensor<2x0xf32>", "dense<> : tensor<2x0xf32>"},
      {"dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>", NULL},
      {"dense<[1, 1]> : tensor<2xi32>", "dense<1> : tensor<2xi32>"},
      {"dense< [ 1 , 2 // two\n] > : tensor<2xi8>", "dense<[1, 2]> : tensor<2xi8>"},
      {"dense<[1.0, 0x7F800000, -2.5]> : tensor<3xf32>",
       "dense<[1.000000e+00, 0x7F800000, -2.500000e+00]> : tensor<3xf32>"},
      {"dense<0x7E00> : tensor<1xf16>", NULL},
      {"dense<[200, 0xFF]> : tensor<2xi8>", "dense<[-56, -1]> : tensor<2xi8>"},
      {"dense<[true, false]> : tensor<2xi1>", NULL},
      {"dense<1> : tensor<2xi1>", "dense<true> : tensor<2xi1>"},
      {"dense<[15, 7]> : tensor<2xi4>", "dense<[-1, 7]> : tensor<2xi4>"},
      {"dense<[15, 7]> : tensor<2xui4>", NULL},
      {"dense<[1, -2]> : tensor<2xindex>", NULL},
      {"dense<[(1.0, 2.0), (3.0,-1.0)]> : tensor<2xcomplex<f32>>",
       "dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-1.000000e+00)]> : "
       "tensor<2xcomplex<f32>>"},
      {"dense<(1,2)> : tensor<4xcomplex<i32>>", NULL},
      {"dense<\"0x0000803F00000040\"> : tensor<2xf32>",
       "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>"},
      {"dense<\"0x0000803f\"> : tensor<7xf32>", "dense<1.000000e+00> : tensor<7xf32>"},
      {"dense<\"0x0055\"> : tensor<2xi1>", "dense<[false, true]> : tensor<2xi1>"},
      {"dense<\"0xF1\"> : tensor<1xi4>", "dense<1> : tensor<1xi4>"},
      {"array<i64>", NULL},
      {"array<i64: 1, -2>", NULL},
      {"array<i1: true, false>", NULL},
      {"array<f32: 1.0, 0xFFC00000>", "array<f32: 1.000000e+00, 0xFFC00000>"},
      {"array<ui8: 255>", NULL},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

// dense<[...]> of `count` elements 0, 1, 2, ...
static void add_count(int64_t count, tsr_text *out) {
  tsr_text_add(out, "dense<[");
  for (int64_t i = 0; i < count; i++) tsr_text_addf(out, "%s%d", i ? ", " : "", (int)(i % 128));
  tsr_text_addf(out, "]> : tensor<%lldxi8>", (long long)count);
}

static void more_than_100_elements_are_hexadecimal(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  for (int64_t count = 99; count <= 101; count++) {
    tsr_text in = TSR_TEXT_EMPTY, out = TSR_TEXT_EMPTY;
    const tsr_attr *attr = NULL, *again = NULL;
    add_count(count, &in);
    assert_ok(tsr_syntax_read_attr(ir, in.data, in.length, &attr));
    tsr_attr_print(attr, &out);
    if (count <= 100)
      assert_string_equal(tsr_text_string(&out), tsr_text_string(&in));
    else
      assert_int_equal(strncmp(out.data, "dense<\"0x000102030405060708090A", 30), 0);
    assert_ok(tsr_syntax_read_attr(ir, out.data, out.length, &again));
    assert_true(tsr_attr_equal(attr, again));
    tsr_text_deinit(&in);
    tsr_text_deinit(&out);
  }
  tsr_ir_destroy(ir);
}

static void large_constants_can_be_elided(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  tsr_text in = TSR_TEXT_EMPTY, out = TSR_TEXT_EMPTY;
  const tsr_attr *attr = NULL;
  add_count(5, &in);
  assert_ok(tsr_syntax_read_attr(ir, in.data, in.length, &attr));
  tsr_attr_print_elided(attr, 4, &out);
  assert_string_equal(tsr_text_string(&out), "dense_resource<__elided__> : tensor<5xi8>");
  tsr_text_clear(&out);
  tsr_attr_print_elided(attr, 5, &out);
  assert_string_equal(tsr_text_string(&out), tsr_text_string(&in));
  tsr_text_clear(&out);
  tsr_attr_print_untyped(attr, &out);
  assert_string_equal(tsr_text_string(&out), "dense<[0, 1, 2, 3, 4]>");
  tsr_text_deinit(&in);
  tsr_text_deinit(&out);
  tsr_ir_destroy(ir);
}

static const refused_case refused[] = {
    {"dense<1>", "attribute: column 9: expected \":\", found the end"},
    {"dense<1 : tensor<i32>", "attribute: column 22: expected \":\", found the end"},
    {"dense<1", "attribute: column 6: \"<\" is not closed"},
    {"dense<1> : i32", "attribute: column 1: the type of a constant is not a tensor of known size"},
    {"dense<1> : tensor<?xi32>",
     "attribute: column 1: the type of a constant is not a tensor of known size"},
    {"dense<[1, 2]> : tensor<3xi32>",
     "attribute: column 7: a list has fewer than 3 elements, the size of dimension 0"},
    {"dense<[1, 2]> : tensor<1xi32>",
     "attribute: column 7: a list has more than 1 elements, the size of dimension 0"},
    {"dense<[1, 2,]> : tensor<2xi32>",
     "attribute: column 7: a list has more than 2 elements, the size of dimension 0"},
    {"dense<[[1, 2], [3]]> : tensor<2x2xi32>",
     "attribute: column 16: a list has fewer than 2 elements, the size of dimension 1"},
    {"dense<[1, 2]> : tensor<2x1xi32>", "attribute: column 8: expected \"[\", found \"1\""},
    {"dense<[1]> : tensor<i32>", "attribute: column 7: expected a number, found \"[\""},
    {"dense<[1 2]> : tensor<2xi32>", "attribute: column 10: expected \",\" or \"]\", found \"2\""},
    {"dense<1 2> : tensor<2xi32>", "attribute: column 9: expected \">\", found \"2\""},
    {"dense<> : tensor<2xi32>", "attribute: column 7: the constant has no elements"},
    {"dense<[]> : tensor<0x2xi32>",
     "attribute: column 7: an empty list leaves dimension 1 open, expected dense<>"},
    {"dense<[1]> : tensor<1000000000000xi8>",
     "attribute: column 7: the constant has fewer than the 1000000000000 elements of its type"},
    {"dense<1> : tensor<1xf32>",
     "attribute: column 7: 1 is not a number of f32, expected one such as 1.0 or its bits 0x0"},
    {"dense<1.0> : tensor<1xi32>", "attribute: column 7: 1.0 is not an integer"},
    {"dense<256> : tensor<1xi8>", "attribute: column 7: 256 is beyond i8"},
    {"dense<-1> : tensor<1xui8>", "attribute: column 8: -1 is beyond ui8"},
    {"dense<true> : tensor<1xi8>", "attribute: column 7: expected a number, found \"true\""},
    {"dense<18446744073709551616> : tensor<1xi64>",
     "attribute: column 7: 18446744073709551616 is beyond 64 bits"},
    {"dense<0x7F8000001> : tensor<1xf32>",
     "attribute: column 7: 0x7F8000001 has more than 32 bits"},
    {"dense<(1.0, 2.0> : tensor<1xcomplex<f32>>",
     "attribute: column 16: expected \")\", found \">\""},
    {"dense<1> : tensor<1xi128>",
     "attribute: column 7: constants of integers of 128 bits are not supported, 64 are the most"},
    {"dense<1.0> : tensor<1xf80>", "attribute: column 7: numbers of f80 are not supported"},
    {"dense<1> : tensor<2x!quant.uniform<i8:f32, 1.0>>",
     "attribute: column 7: constants have elements of integer, index, float or complex types "
     "only"},
    {"dense<\"0x00\"> : tensor<2xf32>",
     "attribute: column 10: the constant has 2 hexadecimal digits, expected 8 for each of its 2 "
     "elements, or for one"},
    {"dense<\"0x0G\"> : tensor<1xi8>",
     "attribute: column 11: expected a hexadecimal digit, found \"G\""},
    {"dense<\"abc\"> : tensor<1xi8>",
     "attribute: column 7: expected \"0x\" and hexadecimal digits in the string of a constant"},
    {"dense<[\"a\"]> : tensor<1xi8>", "attribute: column 7: a constant of numbers has strings"},
    {"array<i4: 1>",
     "attribute: column 7: an array has elements of whole bytes, integers or floats"},
    {"array<i1: 1>", "attribute: column 11: expected true or false, found \"1\""},
    {"array<i32:>", "attribute: column 11: expected a number, found \">\""},
    {"dense_resource<1> : tensor<2xf32>",
     "attribute: column 16: expected the key of a resource, found \"1\""},
};

static void malformed_constants_are_refused(void **state) {
  (void)state;
  test_refused_attrs(refused, COUNT_OF(refused));
}

SUITE(syntax_constants, TEST(constants_are_printed_as_mlir_prints_them),
      TEST(more_than_100_elements_are_hexadecimal), TEST(large_constants_can_be_elided),
      TEST(malformed_constants_are_refused))
