// Programs that are refused: every failure with its place, one for each mistake.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "syntax/syntax.h"

// The text is refused, and the first line of the failure is `message`.
static void refuse(const char *text, const char *message) {
  tsr_ir *ir = tsr_ir_create();
  tsr_status status = tsr_syntax_read(ir, "p", text, strlen(text));
  assert_non_null(status);
  char line[256] = "";
  snprintf(line, sizeof line, "%.*s", (int)strcspn(tsr_status_text(status), "\n"),
           tsr_status_text(status));
  assert_string_equal(line, message);
  tsr_status_free(status);
  tsr_ir_destroy(ir);
}

static void refuse_in_function(const char *body, const char *message) {
  char text[1024];
  snprintf(text, sizeof text,
           "func.func @f(%%x: tensor<4xf32>, %%y: tensor<2xf32>) {\n%s\nreturn\n}", body);
  refuse(text, message);
}

static void mistakes_in_ops_are_named(void **state) {
  (void)state;
  static const struct {
    const char *body, *message;
  } cases[] = {
      {"%0 = stablehlo.add %x, %y : tensor<4xf32>",
       "p:2:24: value \"%y\" has type tensor<2xf32>, but is used as tensor<4xf32>"},
      {"%0 = stablehlo.ad %x, %x : tensor<4xf32>",
       "p:2:6: op \"stablehlo.ad\" is unknown; did you mean \"stablehlo.add\"?"},
      {"%weight = stablehlo.abs %x : tensor<4xf32>\n%0 = stablehlo.abs %wieght : tensor<4xf32>",
       "p:3:20: value \"%wieght\" is not defined; did you mean \"%weight\"?"},
      {"%0:2 = stablehlo.abs %x : tensor<4xf32>",
       "p:2:1: op \"stablehlo.abs\" has 1 result, but 2 are named"},
      {"%x = stablehlo.abs %x : tensor<4xf32>", "p:2:1: value \"%x\" is already defined at line 1"},
      {"%0 = stablehlo.transpose %x, dim = [0] : (tensor<4xf32>) -> tensor<4xf32>",
       "p:2:30: expected \"dims\", found \"dim\""},
      {"%0 = stablehlo.gather %x : tensor<4xf32>",
       "p:2:6: op \"stablehlo.gather\" has no short form; write \"stablehlo.gather\"(...) : (...) "
       "-> "
       "..."},
      {"%0 = \"a.b\"(%x, %x) : (tensor<4xf32>) -> i8",
       "p:2:6: op \"a.b\" has 2 operands, but types for 1"},
      {"%0:2 = \"a.b\"() : () -> (i8, i8)\n\"a.c\"(%0#2) : (i8) -> ()",
       "p:3:7: value \"%0\" has 2 results, so #2 is not one of them"},
      {"%0 = stablehlo.iota dim = 0 {iota_dimension = 1 : i64} : tensor<4xi32>",
       "p:2:29: attribute \"iota_dimension\" is given twice"},
      {"\"a.b\"()[^bb1] : () -> ()",
       "p:2:8: op \"a.b\" has successors; branches between blocks are not supported"},
      {"%0 = stablehlo.reduce(%x init: %x) applies stablehlo.subtract across dimensions = [0] : "
       "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
       "p:2:44: expected a commutative op such as stablehlo.add, found \"stablehlo.subtract\""},
      {"%0 = stablehlo.reduce_precision %x, format = e5 : tensor<4xf32>",
       "p:2:46: expected a format such as e5m10, found \"e5\""},
      {"%0 = stablehlo.complex %x, %x : tensor<4xf32>",
       "p:2:33: expected a tensor of complex numbers"},
      {"%0 = stablehlo.tuple %x : tensor<4xf32>", "p:2:27: expected a tuple type"},
      {"%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = "
       "[[1, 2, 3]]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
       "p:2:90: a padding has 3 numbers, wanted 2"},
      {"%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, f]x[i, o]->[b, f], window = {step = "
       "[1]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
       "p:2:83: expected stride, pad, lhs_dilate, rhs_dilate or reverse, each once, found "
       "\"step\""},
      {"sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {\n"
       "%0 = stablehlo.abs %x : tensor<4xf32>\nsdy.return\n} : () -> ()",
       "p:3:20: value \"%x\" is not defined"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) refuse_in_function(cases[i].body, cases[i].message);
}

static void several_mistakes_are_reported_without_those_they_cause(void **state) {
  (void)state;
  static const char text[] =
      "module {\n"
      "  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "    %0 = stablehlo.ads %x : tensor<4xf32>\n"
      "    %1 = stablehlo.add %0, %x : tensor<4xf32>\n"
      "    %2 = stablehlo.abs %1 : tensor<4xf32>\n"
      "    return %y : tensor<4xf32>\n"
      "  }\n"
      "  func.func @g(%x tensor<4xf32>) {\n"
      "    return\n"
      "  }\n"
      "  func.func private @f()\n"
      "}\n";
  tsr_ir *ir = tsr_ir_create();
  tsr_status status = tsr_syntax_read(ir, "p", text, strlen(text));
  assert_string_equal(tsr_status_text(status),
                      "p:3:10: op \"stablehlo.ads\" is unknown; did you mean \"stablehlo.abs\"?\n"
                      "      %0 = stablehlo.ads %x : tensor<4xf32>\n"
                      "           ^\n"
                      "p:6:12: value \"%y\" is not defined; did you mean \"%x\"?\n"
                      "      return %y : tensor<4xf32>\n"
                      "             ^\n"
                      "p:8:19: expected \":\", found \"tensor\"\n"
                      "    func.func @g(%x tensor<4xf32>) {\n"
                      "                    ^\n"
                      "p:11:3: symbol \"@f\" is already defined at line 2");
  tsr_status_free(status);
  tsr_ir_destroy(ir);
}

static void programs_without_an_end_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"module {", "p:1:9: expected \"}\", found the end"},
      {"}", "p:1:1: expected an op, found \"}\""},
      {"func.func @f() {\n%0 = ", "p:2:6: expected an op, found the end"},
      {"{-# dialect_resources: { builtin: { k: \"0x04\" } } #-}",
       "p:1:40: a blob is \"0x\" and an even number of hexadecimal digits, 8 or more"},
      {"{-# dialect_resources: { builtin: { k: \"0x040000000z\" } } #-}",
       "p:1:40: the blob has a character that is no digit"},
      {"{-# dialect_resources: { builtin: { k: \"0x04000000\", \"k\": \"0x0400000001\" } } #-}",
       "p:1:1: two blobs have the key \"k\""},
      {"{-# other: { a: { b: 1 }, ", "p:1:27: expected \"#-}\", found the end"},
      {"\"a.b\"(%x) : (i8) -> ()", "p:1:7: value \"%x\" is not defined"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) refuse(cases[i].text, cases[i].message);
}

static tsr_status read_and_print(void *context) {
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_text out = TSR_TEXT_EMPTY;
  tsr_status status = tsr_syntax_read(ir, "p", context, strlen(context));
  if (!status) {
    tsr_syntax_print(ir, &(tsr_print_options){.locations = true}, &out);
    if (out.failed) status = tsr_fail(NO_MEMORY, "a text");
  }
  tsr_text_deinit(&out);
  tsr_ir_destroy(ir);
  return status;
}

static void memory_that_runs_out_is_reported(void **state) {
  (void)state;
  char text[] =
      "module {\n"
      "  func.func @f(%x: tensor<4xf32> {a.b}, %y: tensor<f32>) -> tensor<f32> {\n"
      "    %0 = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf32> loc(\"l\")\n"
      "    %1 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = "
      "[0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
      "    %2 = stablehlo.while(%i = %y) : tensor<f32> cond {\n"
      "      %c = stablehlo.constant dense<true> : tensor<i1>\n"
      "      stablehlo.return %c : tensor<i1>\n"
      "    } do {\n"
      "      stablehlo.return %i : tensor<f32>\n"
      "    }\n"
      "    return %2 : tensor<f32>\n"
      "  }\n"
      "}\n"
      "{-# dialect_resources: { builtin: { k: \"0x0400000001\" } } #-}\n";
  test_allocation_sweep(read_and_print, text);
}

SUITE(program_refused, TEST(mistakes_in_ops_are_named),
      TEST(several_mistakes_are_reported_without_those_they_cause),
      TEST(programs_without_an_end_are_refused), TEST(memory_that_runs_out_is_reported))
