// Functions: inlined, dropped, kept; composites; locations.
#include <string.h>

#include "base/text_internal.h"
#include "programs.h"
#include "simplify/passes.h"
#include "support/test.h"
#include "syntax/syntax.h"

#define BODY(name) "  %0 = stablehlo." name " %x, %x : tensor<i32>\n  return %0 : tensor<i32>\n}\n"
#define LARGE                                                                                   \
  "  %0 = stablehlo.add %x, %x : tensor<i32>\n  %1 = stablehlo.multiply %0, %x : tensor<i32>\n" \
  "  %2 = stablehlo.add %1, %x : tensor<i32>\n  return %2 : tensor<i32>\n}\n"
#define MAIN(lines) "func.func @main(%x: tensor<i32>) -> tensor<i32> {\n" lines "}\n"
#define CALL(result, name, operand) \
  "  " result " = call @" name "(" operand ") : (tensor<i32>) -> tensor<i32>\n"
#define FUNC(name) "func.func private @" name "(%x: tensor<i32>) -> tensor<i32> {\n"
#define END(value) "  return " value " : tensor<i32>\n"

#define ROW_CALL "  %0 = call @f(%x) : (tensor<2xi32>) -> tensor<2xi32>\n"
#define ROW_END "  return %0 : tensor<2xi32>\n}\n"
#define ROW_FUNC                                                 \
  "func.func private @f(%x: tensor<2xi32>) -> tensor<2xi32> {\n" \
  "  %0 = stablehlo.add %x, %x : tensor<2xi32>\n" ROW_END

typedef struct call_case {
  const char *passes, *before, *after;
} call_case;

static const call_case calls[] = {
    // Small ones everywhere, callees first.
    {"inline",
     MAIN(CALL("%0", "f", "%x") CALL("%1", "f", "%0") END("%1")) FUNC("f") CALL("%0", "g", "%x")
         END("%0") "}\n" FUNC("g") BODY("add"),
     MAIN("  %0 = stablehlo.add %x, %x : tensor<i32>\n  %1 = stablehlo.add %0, %0 : "
          "tensor<i32>\n" END("%1"))},
    // Larger ones only where they are called once.
    {"inline{ops=2}", MAIN(CALL("%0", "f", "%x") END("%0")) FUNC("f") LARGE,
     MAIN("  %0 = stablehlo.add %x, %x : tensor<i32>\n  %1 = stablehlo.multiply %0, %x : "
          "tensor<i32>\n"
          "  %2 = stablehlo.add %1, %x : tensor<i32>\n" END("%2"))},
    {"inline{ops=2}", MAIN(CALL("%0", "f", "%x") CALL("%1", "f", "%0") END("%1")) FUNC("f") LARGE,
     MAIN(CALL("%0", "f", "%x") CALL("%1", "f", "%0") END("%1")) FUNC("f") LARGE},
    {"inline{all, ops=2}",
     MAIN(CALL("%0", "f", "%x") CALL("%1", "f", "%0") END("%1")) FUNC("f") BODY("add"),
     MAIN("  %0 = stablehlo.add %x, %x : tensor<i32>\n  %1 = stablehlo.add %0, %0 : "
          "tensor<i32>\n" END("%1"))},
    // Of scalars only, where that is asked for.
    {"inline{scalars}", MAIN(CALL("%0", "f", "%x") END("%0")) FUNC("f") BODY("add"),
     MAIN("  %0 = stablehlo.add %x, %x : tensor<i32>\n" END("%0"))},
    {"inline{scalars}",
     "func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {\n" ROW_CALL ROW_END ROW_FUNC,
     "func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {\n" ROW_CALL ROW_END ROW_FUNC},
    // Never: functions that call themselves, or whose attributes have a meaning.
    {"inline{all}",
     MAIN(CALL("%0", "f", "%x") END("%0")) FUNC("f") CALL("%0", "g", "%x") END("%0") "}\n" FUNC("g")
         CALL("%0", "f", "%x") END("%0") "}\n",
     MAIN(CALL("%0", "f", "%x") END("%0")) FUNC("f") CALL("%0", "g", "%x") END("%0") "}\n" FUNC("g")
         CALL("%0", "f", "%x") END("%0") "}\n"},
    {"inline{all}",
     MAIN(CALL("%0", "f", "%x") END("%0")) "func.func private @f(%x: tensor<i32> {mhlo.sharding = "
                                           "\"{replicated}\"}) -> tensor<i32> {\n" BODY("add"),
     MAIN(CALL("%0", "f", "%x") END("%0")) "func.func private @f(%x: tensor<i32> {mhlo.sharding = "
                                           "\"{replicated}\"}) -> tensor<i32> {\n" BODY("add")},
    {"inline{all}",
     MAIN(CALL("%0", "f", "%x") END("%0")) "func.func private @f(%x: tensor<i32>) -> tensor<i32> "
                                           "attributes {no_inline} {\n" BODY("add"),
     MAIN(CALL("%0", "f", "%x") END("%0")) "func.func private @f(%x: tensor<i32>) -> tensor<i32> "
                                           "attributes {no_inline} {\n" BODY("add")},
    {"inline{all}",
     MAIN("  %0 = call @f(%x) {mhlo.frontend_attributes = {a = \"b\"}} : (tensor<i32>) -> "
          "tensor<i32>\n" END("%0")) FUNC("f") BODY("add"),
     MAIN("  %0 = call @f(%x) {mhlo.frontend_attributes = {a = \"b\"}} : (tensor<i32>) -> "
          "tensor<i32>\n" END("%0")) FUNC("f") BODY("add")},
    // Functions that nothing reaches, also in circles; public ones and those that attributes name
    // stay.
    {"symbol-dce",
     MAIN(END("%x")) FUNC("f") CALL("%0", "g", "%x") END("%0") "}\n" FUNC("g") CALL("%0", "f", "%x")
         END("%0") "}\n",
     MAIN(END("%x"))},
    {"dce",
     MAIN("  %0 = stablehlo.composite \"a.b\" %x {decomposition = @f} : (tensor<i32>) -> "
          "tensor<i32>\n" END("%0")) FUNC("f") BODY("add") FUNC("g") BODY("add"),
     MAIN("  %0 = stablehlo.composite \"a.b\" %x {decomposition = @f} : (tensor<i32>) -> "
          "tensor<i32>\n" END("%0")) FUNC("f") BODY("add")},
    {"composites",
     MAIN("  %0 = stablehlo.composite \"a.b\" %x {composite_attributes = {n = 1 : i32}, "
          "decomposition = @f} : (tensor<i32>) -> tensor<i32>\n" END("%0")) FUNC("f") BODY("add"),
     MAIN(CALL("%0", "f", "%x") END("%0")) FUNC("f") BODY("add")},
    // A constraint that nothing uses still says how its operand is sharded.
    {"simplify",
     "sdy.mesh @m = <[\"a\"=2]>\n" MAIN(
         "  %0 = stablehlo.negate %x : tensor<i32>\n"
         "  %1 = sdy.sharding_constraint %0 <@m, []> : tensor<i32>\n"
         "  %2 = sdy.sharding_constraint %0 <@m, []> : tensor<i32>\n" END("%2")),
     "sdy.mesh @m = <[\"a\"=2]>\n" MAIN(
         "  %0 = stablehlo.negate %x : tensor<i32>\n"
         "  %1 = sdy.sharding_constraint %0 <@m, []> : tensor<i32>\n"
         "  %2 = sdy.sharding_constraint %0 <@m, []> : tensor<i32>\n" END("%2"))},
    // All together.
    {"simplify",
     MAIN(CALL("%0", "f", "%x")
              CALL("%1", "f", "%x") "  %2 = stablehlo.subtract %0, %1 : tensor<i32>\n"
                                    "  %3 = stablehlo.add %2, %x : tensor<i32>\n" END("%3"))
         FUNC("f") BODY("add"),
     MAIN(END("%x"))},
};

static void calls_are_inlined_where_it_helps(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(calls); i++)
    assert_passes(calls[i].passes, calls[i].before, calls[i].after);
}

static void locations_are_dropped(void **state) {
  (void)state;
  tsr_ir *ir = test_program(
      "func.func @main(%x: tensor<i32> loc(\"x\")) -> tensor<i32> {\n"
      "  %0 = stablehlo.negate %x : tensor<i32> loc(\"a.py\":1:2)\n  return %0 : tensor<i32>\n}\n");
  assert_ok(tsr_passes_run(ir, "drop-locations", NULL));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_syntax_print(ir, &(tsr_print_options){.locations = true}, &text);
  assert_null(strstr(tsr_text_string(&text), "a.py"));
  assert_null(strstr(tsr_text_string(&text), "\"x\""));
  tsr_text_deinit(&text);
  tsr_ir_destroy(ir);
}

SUITE(passes_calls, TEST(calls_are_inlined_where_it_helps), TEST(locations_are_dropped))
