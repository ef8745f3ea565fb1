// Programs that differ in one thing, and what is said of them.
#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "tessera/own.h"

static tsr_ir *read_text(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  assert_ok(tsr_syntax_read(ir, "t", text, strlen(text)));
  return ir;
}

// Functions of %a and %b; an empty message means that they are equal.
static const struct {
  const char *left, *right, *message;
} cases[] = {
    {"%0 = stablehlo.add %a, %b : tensor<2xf32>", "%1 = stablehlo.add %a, %b : tensor<2xf32>", ""},
    {"%0 = stablehlo.add %a, %b : tensor<2xf32>", "%0 = stablehlo.add %b, %a : tensor<2xf32>",
     "stablehlo.add: an operand differs"},
    {"%0 = stablehlo.abs %a : tensor<2xf32>", "", "stablehlo.abs stands where func.return does"},
    {"%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xf64>",
     "%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32>",
     "stablehlo.convert: the type of a result differs"},
    {"stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> ()",
     "stablehlo.custom_call @f(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> ()",
     "stablehlo.custom_call: operands, results or regions differ in number"},
    {"stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> ()",
     "stablehlo.custom_call @g(%a) : (tensor<2xf32>) -> ()",
     "stablehlo.custom_call: attribute \"call_target_name\" differs"},
    // What an op takes without the attribute.
    {"stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> ()",
     "stablehlo.custom_call @f(%a) {api_version = 1 : i32, has_side_effect = false} : "
     "(tensor<2xf32>) -> ()",
     ""},
    {"\"stablehlo.optimization_barrier\"(%a) {x} : (tensor<2xf32>) -> tensor<2xf32>",
     "\"stablehlo.optimization_barrier\"(%a) {x, y} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.optimization_barrier: the attributes differ in number"},
    {"\"stablehlo.map\"(%a) ({\n^bb0(%x: tensor<f32>):\n\"stablehlo.return\"() : () -> ()\n}) : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "\"stablehlo.map\"(%a) ({\n\"stablehlo.return\"() : () -> ()\n}) : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "stablehlo.map: the arguments of a block differ in number"},
    {"\"stablehlo.map\"(%a) ({\n^bb0(%x: tensor<f32>):\n\"stablehlo.return\"() : () -> ()\n}) : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "\"stablehlo.map\"(%a) ({\n^bb0(%x: tensor<i32>):\n\"stablehlo.return\"() : () -> ()\n}) : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.map: the type of an argument differs"},
    {"\"stablehlo.map\"(%a) ({\n\"stablehlo.return\"() : () -> ()\n}) : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "\"stablehlo.map\"(%a) ({\n\"stablehlo.return\"() : () -> ()\n\"stablehlo.return\"() : () -> "
     "()\n}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.map: the ops of a block differ in number"},
    {"\"stablehlo.map\"(%a) ({\n}) : (tensor<2xf32>) -> tensor<2xf32>",
     "\"stablehlo.map\"(%a) ({\n\"stablehlo.return\"() : () -> ()\n}) : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "stablehlo.map: the blocks of a region differ in number"},
};

static void the_first_difference_is_named(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(text, left);
    TSR_OWN(text, right);
    TSR_OWN(text, difference);
    static const char frame[] =
        "func.func @main(%%a: tensor<2xf32>, %%b: tensor<2xf32>) {\n%s\nreturn\n}\n";
    tsr_text_addf(&left, frame, cases[i].left);
    tsr_text_addf(&right, frame, cases[i].right);
    tsr_ir *a = read_text(tsr_text_string(&left)), *b = read_text(tsr_text_string(&right));
    assert_int_equal(tsr_ir_equal(a, b, &difference), !*cases[i].message);
    assert_string_equal(tsr_text_string(&difference), cases[i].message);
    assert_int_equal(tsr_ir_equal(a, b, NULL), !*cases[i].message);
    tsr_ir_destroy(a);
    tsr_ir_destroy(b);
  }
}

SUITE(ir_equal, TEST(the_first_difference_is_named))
