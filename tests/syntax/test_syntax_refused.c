// Attributes and locations that are refused, and memory that runs out.
#include <string.h>

#include "round_trip.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "tessera/text.h"

static void malformed_attributes_are_refused(void **state) {
  (void)state;
  static const refused_case cases[] = {
      {"", "attribute: column 1: expected an attribute, found the end"},
      {"type", "attribute: column 1: expected an attribute, found \"type\""},
      {"256 : i8", "attribute: column 1: 256 is beyond i8"},
      {"-129 : i8", "attribute: column 2: -129 is beyond i8"},
      {"128 : si8", "attribute: column 1: 128 is beyond si8"},
      {"-1 : ui8", "attribute: column 2: -1 is beyond ui8"},
      {"2 : i1", "attribute: column 1: 2 is beyond i1"},
      {"18446744073709551615 : index : index",
       "attribute: column 30: expected the end, found \":\""},
      {"-9223372036854775809", "attribute: column 2: -9223372036854775809 is beyond i64"},
      {"99999999999999999999 : i128",
       "attribute: column 1: 99999999999999999999 is beyond 64 bits"},
      {"1 : f32",
       "attribute: column 1: 1 is not a number of f32, expected one such as 1.0 or its bits 0x0"},
      {"-0x1 : f32",
       "attribute: column 2: 0x1 is not a number of f32, expected one such as 1.0 or its bits 0x0"},
      {"0x1FF : f8E5M2", "attribute: column 1: 0x1FF has more than 8 bits"},
      {"1.0 : f128", "attribute: column 1: numbers of f128 are not supported"},
      {"1.0 : i32", "attribute: column 1: 1.0 is not an integer"},
      {"1 : none", "attribute: column 1: the type of 1 is not an integer, index or float"},
      {"- true", "attribute: column 3: expected a number, found \"true\""},
      {"\"abc", "attribute: column 1: the string has no closing quote"},
      {"\"a\\q\"", "attribute: column 3: expected one of the escapes \\\" \\\\ \\n \\t \\HH"},
      {"@\"a\\00\"", "attribute: column 1: the name of a symbol is not a text: it has a zero byte"},
      {"@a::b", "attribute: column 5: expected a symbol such as @name, found \"b\""},
      {"[1, 2", "attribute: column 6: expected \",\" or \"]\", found the end"},
      {"[1,]", "attribute: column 4: expected an attribute, found \"]\""},
      {"{a = 1, a}", "attribute: column 1: attribute \"a\" is given twice"},
      {"{\"\" = 1}", "attribute: column 2: the name of an attribute is empty"},
      {"{1 = 2}", "attribute: column 2: expected the name of an attribute, found \"1\""},
      {"#nothing", "attribute: column 1: alias \"#nothing\" is not defined"},
      {"affine_map 3", "attribute: column 12: expected \"<\", found \"3\""},
      {"loc(foo)",
       "attribute: column 5: expected a location: a string, an alias, callsite, fused or unknown, "
       "found \"foo\""},
      {"loc(\"f\":1:2 to 3)", "attribute: column 17: expected \":\", found \")\""},
      {"loc(callsite(\"a\" \"b\"))", "attribute: column 18: expected \"at\", found \"b\""},
      {"loc(#foo.bar)", "attribute: column 5: #foo.bar is not a location"},
      {"\x01", "attribute: column 1: expected an attribute, found \"?\""},
  };
  test_refused_attrs(cases, COUNT_OF(cases));
}

static void nesting_is_limited(void **state) {
  (void)state;
  char text[4000];
  static const char *const opens[] = {"[", "{a=", "tuple<", "tensor<2x", "#foo.x<(", "loc(fused["};
  for (size_t i = 0; i < COUNT_OF(opens); i++) {
    const size_t step = strlen(opens[i]);
    size_t length = 0;
    while (length + step < sizeof text) memcpy(text + length, opens[i], step), length += step;
    tsr_ir *ir = tsr_ir_create();
    const tsr_attr *attr = NULL;
    tsr_status status = tsr_syntax_read_attr(ir, text, length, &attr);
    assert_non_null(status);
    tsr_status_free(status);
    tsr_ir_destroy(ir);
  }
}

static void a_failure_shows_its_place(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  const tsr_attr *attr = NULL;
  const char *text = "[1, 2, 300 : i8]";
  assert_fails(tsr_syntax_read_attr(ir, text, strlen(text), &attr), OVERFLOW,
               "attribute: column 8: 300 is beyond i8\n"
               "  [1, 2, 300 : i8]\n"
               "         ^");
  tsr_ir_destroy(ir);
}

static tsr_status read_much(void *context) {
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "memory of a program");
  const tsr_attr *attr = NULL;
  tsr_status status = tsr_syntax_read_attr(ir, context, strlen(context), &attr);
  tsr_text out = TSR_TEXT_EMPTY;
  if (!status) {
    tsr_attr_print(attr, &out);
    if (out.failed) status = tsr_fail(NO_MEMORY, "memory of a text");
  }
  tsr_text_deinit(&out);
  tsr_ir_destroy(ir);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  static char text[] =
      "{a = [1, 2.5, \"x\\22\", @s::@t, dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>, "
      "dense<\"0x0102\"> : tensor<2xi8>], "
      "b = (tensor<?xf32, #stablehlo.bounds<3>>, !quant.uniform<i8:f32:0, {1.0, 2.0:3}>) -> (), "
      "c = #stablehlo.gather<offset_dims = [1]>, d = array<f32: 1.0, 2.0>, "
      "e = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, f = #foo<bar> : memref<2xf32, 3>, "
      "g = #sdy.sharding<mesh<[\"a\"=2]>, [{\"a\":(1)2, ?}p1], replicated={\"b\"}>, "
      "h = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>, "
      "i = loc(fused<1>[callsite(\"a\" at \"b\"(\"f\":1:2 to 3:4))]), j = #stablehlo<precision "
      "HIGH>, "
      "k = #stablehlo.result_accuracy<atol = 0.1, mode = "
      "#stablehlo.result_accuracy_mode<DEFAULT>>, "
      "l = dense_resource<key> : tensor<2xf32>, m = \"typed\" : i32}";
  test_allocation_sweep(read_much, text);
}

SUITE(syntax_refused, TEST(malformed_attributes_are_refused), TEST(nesting_is_limited),
      TEST(a_failure_shows_its_place), TEST(memory_may_run_out_anywhere))
