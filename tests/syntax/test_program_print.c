// Whole programs: names of values, regions, functions, locations, blobs.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "program_round_trip.h"
#include "support/test.h"

static void functions_print_with_their_attributes(void **state) {
  (void)state;
  static const char text[] =
      "module @\"a b\" attributes {m.n = 1 : i32} {\n"
      "  func.func private @d(tensor<f32> {a.b}, tensor<f32>) -> (tensor<f32> {c.d = 2 : i32}) "
      "attributes {no_inline}\n"
      "  func.func nested @e() -> (tensor<f32>, i32)\n"
      "  func.func public @main(%arg0: tensor<f32> {a.b = \"c\"}) -> tensor<f32> {\n"
      "    %0 = call @d(%arg0, %arg0) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
      "    return %0 : tensor<f32>\n"
      "  }\n"
      "  module @inner {\n"
      "  }\n"
      "}\n";
  test_program_prints(text, text, NULL);
}

static void ops_without_a_module_stand_in_one(void **state) {
  (void)state;
  test_program_prints("!t = tensor<2xf32>\nfunc.func @f(%x: !t) -> !t { return %x : !t }",
                      "module {\n  func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
                      "    return %arg0 : tensor<2xf32>\n  }\n}\n",
                      NULL);
  test_program_prints("", "module {\n}\n", NULL);
}

static void values_may_be_used_before_their_definition_in_a_module(void **state) {
  (void)state;
  test_program_prints("\"a.b\"(%x#1) : (i32) -> ()\n%x:2 = \"a.c\"() : () -> (i8, i32)",
                      "module {\n  \"a.b\"(%0#1) : (i32) -> ()\n"
                      "  %0:2 = \"a.c\"() : () -> (i8, i32)\n}\n",
                      NULL);
}

static const char *const loops =
    "func.func @f(%x: tensor<f32>, %p: tensor<4xf32>) -> tensor<f32> {\n"
    "  %one = stablehlo.constant dense<1.0> : tensor<f32>\n"
    "  %two = stablehlo.constant dense<2.0> : tensor<f32>\n"
    "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
    "  %s = stablehlo.reduce(%p init: %one) applies stablehlo.add across dimensions = [0] : "
    "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
    "  %t:2 = stablehlo.reduce(%p init: %one), (%p init: %two) across dimensions = [0] : "
    "(tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)\n"
    "    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {\n"
    "    %e = stablehlo.add %a, %d : tensor<f32>\n"
    "    stablehlo.return %e, %e : tensor<f32>, tensor<f32>\n"
    "  }\n"
    "  %w:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<f32> attributes {k = 1 : "
    "i8}\n"
    "  cond {\n"
    "    %y = stablehlo.constant dense<true> : tensor<i1>\n"
    "    stablehlo.return %y : tensor<i1>\n"
    "  } do {\n"
    "    %y = func.call @f(%v, %p) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>\n"
    "    stablehlo.return %i, %y : tensor<i32>, tensor<f32>\n"
    "  }\n"
    "  return %w#1 : tensor<f32>\n"
    "}\n";

static void values_are_named_as_mlir_names_them(void **state) {
  (void)state;
  test_program_prints(
      loops,
      "module {\n"
      "  func.func @f(%arg0: tensor<f32>, %arg1: tensor<4xf32>) -> tensor<f32> {\n"
      "    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n"
      "    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>\n"
      "    %c = stablehlo.constant dense<3> : tensor<i32>\n"
      "    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : "
      "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
      "    %1:2 = stablehlo.reduce(%arg1 init: %cst), (%arg1 init: %cst_0) across dimensions = [0] "
      ": (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)\n"
      "     reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<f32>, %arg5: "
      "tensor<f32>)  {\n"
      "      %3 = stablehlo.add %arg2, %arg5 : tensor<f32>\n"
      "      stablehlo.return %3, %3 : tensor<f32>, tensor<f32>\n"
      "    }\n"
      "    %2:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0) : tensor<i32>, tensor<f32> "
      "attributes {k = 1 : i8}\n"
      "    cond {\n"
      "      %c_2 = stablehlo.constant dense<true> : tensor<i1>\n"
      "      stablehlo.return %c_2 : tensor<i1>\n"
      "    } do {\n"
      "      %3 = func.call @f(%iterArg_1, %arg1) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>\n"
      "      stablehlo.return %iterArg, %3 : tensor<i32>, tensor<f32>\n"
      "    }\n"
      "    return %2#1 : tensor<f32>\n"
      "  }\n"
      "}\n",
      NULL);
}

static void generic_form_numbers_all_values_apart(void **state) {
  (void)state;
  test_program_prints(
      "func.func private @g(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n"
      "func.func private @h(%x: tensor<f32>) -> tensor<f32> {\n"
      "  %c = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  return %c : tensor<f32>\n"
      "}",
      "\"builtin.module\"() ({\n"
      "  \"func.func\"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = \"g\", "
      "sym_visibility = \"private\"}> ({\n"
      "  ^bb0(%arg1: tensor<f32>):\n"
      "    \"func.return\"(%arg1) : (tensor<f32>) -> ()\n"
      "  }) : () -> ()\n"
      "  \"func.func\"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = \"h\", "
      "sym_visibility = \"private\"}> ({\n"
      "  ^bb0(%arg0: tensor<f32>):\n"
      "    %0 = \"stablehlo.constant\"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> "
      "tensor<f32>\n"
      "    \"func.return\"(%0) : (tensor<f32>) -> ()\n"
      "  }) : () -> ()\n"
      "}) : () -> ()\n",
      &(tsr_print_options){.generic = true});
}

static void locations_become_aliases(void **state) {
  (void)state;
  test_program_prints(
      "#a = loc(\"f.py\":1:2)\n"
      "module {\n"
      "  func.func @f(%x: tensor<f32> loc(\"arg\"(#a))) -> tensor<f32> {\n"
      "    %0 = stablehlo.abs %x : tensor<f32> loc(callsite(\"g\"(#a) at \"h\"))\n"
      "    return %0 : tensor<f32> loc(#a)\n"
      "  } loc(unknown)\n"
      "} loc(unknown)\n",
      "#loc1 = loc(\"f.py\":1:2)\n"
      "#loc3 = loc(\"arg\"(#loc1))\n"
      "module {\n"
      "  func.func @f(%arg0: tensor<f32> loc(\"arg\"(#loc1))) -> tensor<f32> {\n"
      "    %0 = stablehlo.abs %arg0 : tensor<f32> loc(#loc5)\n"
      "    return %0 : tensor<f32> loc(#loc1)\n"
      "  } loc(#loc)\n"
      "} loc(#loc)\n"
      "#loc = loc(unknown)\n"
      "#loc2 = loc(\"h\")\n"
      "#loc4 = loc(\"g\"(#loc1))\n"
      "#loc5 = loc(callsite(#loc4 at #loc2))\n",
      &(tsr_print_options){.locations = true});
}

static void blobs_stand_after_the_module(void **state) {
  (void)state;
  static const char text[] =
      "module {\n"
      "  func.func @f() -> tensor<2xi32> {\n"
      "    %c = stablehlo.constant dense_resource<k> : tensor<2xi32>\n"
      "    return %c : tensor<2xi32>\n"
      "  }\n"
      "}\n"
      "\n"
      "{-#\n"
      "  dialect_resources: {\n"
      "    builtin: {\n"
      "      j: \"0x080000000000\",\n"
      "      k: \"0x040000000100000002000000\"\n"
      "    }\n"
      "  }\n"
      "#-}\n";
  test_program_prints(text, text, NULL);
}

static void an_op_prints_with_the_names_of_its_function(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(tsr_syntax_read(ir, "p", loops, strlen(loops)));
  const tsr_ir_block *body = tsr_func_body(tsr_ir_find_symbol(ir, "f"));
  tsr_syntax_print_op(body->last->prev->regions[1].first->first, NULL, &out);
  assert_string_equal(tsr_text_string(&out),
                      "%3 = func.call @f(%iterArg_1, %arg1) : (tensor<f32>, tensor<4xf32>) -> "
                      "tensor<f32>");
  tsr_text_clear(&out);
  tsr_syntax_print_op(body->last, NULL, &out);
  assert_string_equal(tsr_text_string(&out), "return %2#1 : tensor<f32>");
  tsr_text_deinit(&out);
  tsr_ir_destroy(ir);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
    tsr_text_add_bytes(&text, chunk, got);
  fclose(file);
  return text.data;
}

// MLIR printed them, so they print as they are. Those with locations do so too.
static int test_programs_named(const char *name, const tsr_print_options *options) {
  DIR *folder = opendir("tests/programs");
  assert_non_null(folder);
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    char path[512];
    snprintf(path, sizeof path, "tests/programs/%s/%s", entry->d_name, name);
    char *text = *entry->d_name == '.' ? NULL : read_text(path);
    if (!text) continue;
    test_program_prints(text, text, options);
    free(text);
    count++;
  }
  closedir(folder);
  return count;
}

static void programs_of_jax_print_as_they_are_read(void **state) {
  (void)state;
  assert_true(test_programs_named("program.mlir", NULL) > 100);
  assert_true(test_programs_named("program_debug.mlir", &(tsr_print_options){.locations = true}) >
              1);
}

// clang-format off
static const char rare_forms[] =
    "#loc = loc(unknown)\n"
    "module {\n"
    "  func.func @main(%arg0: tensor<2x3xf32> loc(unknown), %arg1: tensor<3x2xf32> loc(unknown), %arg2: tensor<3xf32> loc(unknown), %arg3: tensor<2xcomplex<f32>> loc(unknown), %arg4: tensor<2xf32> loc(unknown)) {\n"
    "    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc(#loc7)\n"
    "    %1:2 = chlo.scan(%arg0) inits (%arg2) dimension=0  {\n"
    "    ^bb0(%input: tensor<3xf32> loc(unknown), %carry: tensor<3xf32> loc(unknown)):\n"
    "      %3 = stablehlo.add %input, %carry : tensor<3xf32> loc(#loc)\n"
    "      stablehlo.return %3, %3 : tensor<3xf32>, tensor<3xf32> loc(#loc)\n"
    "    } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) loc(#loc6)\n"
    "    %2 = stablehlo.abs %arg4 {mhlo.u, mhlo.v = [unit]} : tensor<2xf32> loc(#loc5)\n"
    "    return loc(#loc)\n"
    "  } loc(#loc)\n"
    "} loc(#loc)\n"
    "#loc1 = loc(\"a.py\":1:2)\n"
    "#loc2 = loc(\"b.py\":3:4 to 5:6)\n"
    "#loc3 = loc(\"f\")\n"
    "#loc4 = loc(\"x\"(#loc2))\n"
    "#loc5 = loc(callsite(#loc3 at #loc2))\n"
    "#loc6 = loc(fused<\"meta\">[#loc1, #loc4])\n"
    "#loc7 = loc(fused[#loc1, #loc6])\n";
// clang-format on

// Algorithms, scans with words for their arguments, fused locations in fused ones.
static void rare_forms_print_as_mlir_prints_them(void **state) {
  (void)state;
  test_program_prints(rare_forms, rare_forms, &(tsr_print_options){.locations = true});
}

SUITE(program_print, TEST(functions_print_with_their_attributes),
      TEST(ops_without_a_module_stand_in_one),
      TEST(values_may_be_used_before_their_definition_in_a_module),
      TEST(values_are_named_as_mlir_names_them), TEST(generic_form_numbers_all_values_apart),
      TEST(locations_become_aliases), TEST(blobs_stand_after_the_module),
      TEST(an_op_prints_with_the_names_of_its_function),
      TEST(programs_of_jax_print_as_they_are_read), TEST(rare_forms_print_as_mlir_prints_them))
