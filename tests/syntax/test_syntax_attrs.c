// Attributes that are not constants: numbers, strings, symbols, lists, enums, locations.
#include <string.h>

#include "round_trip.h"
#include "support/test.h"
#include "syntax/syntax.h"

static void numbers_have_types(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"1", "1 : i64"},
      {"-1 : si8", NULL},
      {"255 : i8", "-1 : i8"},
      {"255 : ui8", NULL},
      {"0xFF : i8", "-1 : i8"},
      {"18446744073709551615 : ui64", NULL},
      {"18446744073709551615 : i64", "-1 : i64"},
      {"- 5 : i33", "-5 : i33"},
      {"5 : index", NULL},
      {"-7 : i128", NULL},
      {"1 : i1", "true"},
      {"-1 : i1", "true"},
      {"1 : ui1", NULL},
      {"-1 : si1", NULL},
      {"true", NULL},
      {"1.5", "1.500000e+00 : f64"},
      {"1.e3 : f32", "1.000000e+03 : f32"},
      {"0x7FC00000 : f32", NULL},
      {"0x3F800000 : f32", "1.000000e+00 : f32"},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

static void texts_keep_their_bytes(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"\"abc\"", NULL},
      {"\"\"", NULL},
      {"\"a\\22b\\\"\\n\\t\\\\\\ff\"", "\"a\\22b\\22\\0A\\09\\\\\\FF\""},
      {"\"\xc3\xa9\"", "\"\\C3\\A9\""},
      {"\"a\" : i32", NULL},
      {"\"a\" : none", "\"a\""},
      {"@a$b.c", NULL},
      {"@\"abc\"", "@abc"},
      {"@\"a b\"::@c::@\"1\"", NULL},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

static void lists_leave_out_usual_types(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"[]", NULL},
      {"[1, 2 : i32, 1.0, 0x7FF0000000000000 : f64, true, \"a\", [3]]",
       "[1, 2 : i32, 1.000000e+00, 0x7FF0000000000000 : f64, true, \"a\", [3]]"},
      {"{}", NULL},
      {"{b = 1, a, \"c d\" = unit, \"e\" = [1], x.y = {z = 2}}",
       "{a, b = 1 : i64, \"c d\", e = [1], x.y = {z = 2 : i64}}"},
      {"{\"9a\" = 3, _x = 1}", "{\"9a\" = 3 : i64, _x = 1 : i64}"},
      {"[f32, tensor<2xi1>, () -> (), !foo.bar]", NULL},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

static void foreign_attributes_keep_their_text(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"#foo.bar", NULL},
      {"#foo.bar<1, \">\", [(2)]>", NULL},
      {"#foo<bar>", "#foo.bar"},
      {"#foo<\"bar\">", NULL},
      {"#foo.bar<1> :tensor< 2xf32>", "#foo.bar<1> : tensor<2xf32>"},
      {"#sdy.propagation_edges<[{step-0 = [{\"a\" = operand-0 -> [result-0]}]}]>", NULL},
      {"affine_map<(d0, d1)[s0] -> (d0 + s0 floordiv 2)>", NULL},
      {"affine_set<(d0) : (d0 >= 0, 3 - d0 <= 1)>", NULL},
      {"sparse<[[0, 0]], [1]> : tensor<3x4xi32>", NULL},
      {"distinct[0]<1 : i64>", NULL},
      {"strided<[1], offset: 2>", NULL},
      {"dense_resource<foo> : tensor<2xf32>", NULL},
      {"dense_resource<\"a b\"> : tensor<2xf32>", NULL},
      {"dense<[\"a>\", \"b\"]> : tensor<2x!foo.string>", NULL},
      {"dense<[1, 2]> : vector<2xi32>", NULL},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

static void locations_are_simplified_as_mlir_does(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"loc(unknown)", NULL},
      {"loc(\"f.py\":3:4)", NULL},
      {"loc(\"f.py\":3)", "loc(\"f.py\":3:0)"},
      {"loc(\"f.py\":3:4 to :9)", NULL},
      {"loc(\"f.py\":3:4 to 3:9)", "loc(\"f.py\":3:4 to :9)"},
      {"loc(\"f.py\":3:4 to 3:4)", "loc(\"f.py\":3:4)"},
      {"loc(\"f.py\":3:4 to 5:6)", NULL},
      {"loc(\"name\")", NULL},
      {"loc(\"name\"(unknown))", "loc(\"name\")"},
      {"loc(\"a\"(\"b\"(\"f\":1:2)))", NULL},
      {"loc(callsite(\"a\" at callsite(\"b\" at \"f\":1:2)))", NULL},
      {"loc(fused[\"a\", \"b\"])", NULL},
      {"loc(fused<{x = 1 : i64}>[\"a\"])", NULL},
      {"loc(fused[\"a\"])", "loc(\"a\")"},
      {"loc(fused[])", "loc(unknown)"},
      {"loc(fused[unknown, \"a\", \"a\", fused[\"b\", \"a\"]])", "loc(fused[\"a\", \"b\"])"},
      {"loc(fused<\"m\">[])", "loc(fused<\"m\">[unknown])"},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

SUITE(syntax_attrs, TEST(numbers_have_types), TEST(texts_keep_their_bytes),
      TEST(lists_leave_out_usual_types), TEST(foreign_attributes_keep_their_text),
      TEST(locations_are_simplified_as_mlir_does))
