// Why values are cut as they are: chains, reasons, and what a constraint would change.
#include <string.h>

#include "insight/insight.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/tessera.h"

#define MESH "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>\nsdy.mesh @other = <[\"c\"=2]>\n"
#define CUT(dims) "{sdy.sharding = #sdy.sharding<@mesh, [" dims "]>}"

static tsr_propagation *propagate(const char *text, const tsr_propagate_options *options) {
  TSR_OWN(program, program);
  tsr_propagation *propagation = NULL;
  assert_ok(tsr_program_read("test", text, strlen(text), NULL, &program));
  assert_ok(tsr_program_propagate(program, options, &propagation));
  return propagation;
}

static void assert_explained(const char *program, const char *value, int dim, const char *wanted) {
  TSR_OWN(propagation, propagation);
  TSR_OWN(text, text);
  propagation = propagate(program, NULL);
  assert_ok(tsr_propagation_explain(propagation, value, dim, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
}

// ---- where axes come from ----

static void axes_are_followed_to_an_argument(void **state) {
  (void)state;
  static const char program[] = MESH
      "func.func @main(%x: tensor<8x4xf32> " CUT("{\"a\"}, {?}") ") -> tensor<4x8xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"
      "  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>\n"
      "  return %1 : tensor<4x8xf32>\n}\n";
  assert_explained(
      program, "out0", 1,
      "out0: tensor<4x8xf32>, _, a on mesh @mesh {a=2,b=2}\n"
      "  result 0 of @main, out0\n"
      "\ndimension 1 of size 8: cut by \"a\"\n"
      "    out0 dimension 1 from %1 dimension 1, through return (op priority 0)\n"
      "    %1 dimension 1 from %0 dimension 0, through %1 = stablehlo.transpose (op priority 0)\n"
      "    %0 dimension 0 from %arg0 dimension 0, through %0 = stablehlo.negate (op priority 0)\n"
      "    %arg0 is an argument with an annotation: #sdy.sharding<@mesh, [{\"a\"}, {?}]>\n");
  assert_explained(program, "%1", 0,
                   "%1: tensor<4x8xf32>, _, a on mesh @mesh {a=2,b=2}\n"
                   "  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> "
                   "tensor<4x8xf32>\n"
                   "\ndimension 0 of size 4: not cut\n"
                   "  no tensor next to it is cut along this dimension\n");
}

static void axes_come_from_constraints_results_and_user_priorities(void **state) {
  (void)state;
  assert_explained(
      MESH
      "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
      "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"b\"}]> : tensor<8xf32>\n"
      "  return %1 : tensor<8xf32>\n}\n",
      "%0", 0,
      "%0: tensor<8xf32>, b on mesh @mesh {a=2,b=2}\n"
      "  %0 = stablehlo.negate %arg0 : tensor<8xf32>\n"
      "\ndimension 0 of size 8: cut by \"b\"\n"
      "    %0 is constrained by %1 = sdy.sharding_constraint: #sdy.sharding<@mesh, [{\"b\"}]>\n");
  assert_explained(
      MESH "func.func @main(%x: tensor<8x4xf32> " CUT("{\"a\"}p1, {?}") ") -> (tensor<8x4xf32> " CUT(
          "{?}, {\"b\"}") ") {\n"
      "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"
      "  return %0 : tensor<8x4xf32>\n}\n",
      "%0", -1,
      "%0: tensor<8x4xf32>, a, b on mesh @mesh {a=2,b=2}\n"
      "  %0 = stablehlo.negate %arg0 : tensor<8x4xf32>\n"
      "\ndimension 0 of size 8: cut by \"a\"\n"
      "    %0 dimension 0 from %arg0 dimension 0, through %0 = stablehlo.negate (user priority 1, op "
      "priority 0)\n"
      "    %arg0 is an argument with an annotation: #sdy.sharding<@mesh, [{\"a\"}p1, {?}]>\n"
      "\ndimension 1 of size 4: cut by \"b\"\n"
      "    %0 dimension 1 from out0 dimension 1, through return (op priority 0)\n"
      "    out0 is a result with an annotation: #sdy.sharding<@mesh, [{?}, {\"b\"}]>\n");
}

// ---- loops and calls ----

#define LOOP \
  MESH "func.func @main(%x: tensor<8xf32> " CUT("{\"a\"}") ", %n: tensor<i32>) -> tensor<8xf32> {\n" \
  "  %0:2 = stablehlo.while(%v = %x, %i = %n) : tensor<8xf32>, tensor<i32>\n"                    \
  "    cond {\n"                                                                                 \
  "      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"         \
  "      stablehlo.return %c : tensor<i1>\n"                                                     \
  "    } do {\n"                                                                                 \
  "      %1 = stablehlo.negate %v : tensor<8xf32>\n"                                             \
  "      stablehlo.return %1, %i : tensor<8xf32>, tensor<i32>\n"                                 \
  "    }\n"                                                                                      \
  "  %2 = call @f(%0#0) : (tensor<8xf32>) -> tensor<8xf32>\n"                                    \
  "  %3 = call @f(%2) : (tensor<8xf32>) -> tensor<8xf32>\n"                                      \
  "  return %3 : tensor<8xf32>\n}\n"                                                             \
  "func.func private @f(%y: tensor<8xf32>) -> tensor<8xf32> {\n"                                 \
  "  %0 = stablehlo.tanh %y : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n"

static void values_of_loops_and_calls_have_names(void **state) {
  (void)state;
  static const struct {
    const char *asked, *name, *function;
    int64_t copies;
  } cases[] = {
      {"%0", "%0#0", "main", 1},        {"%0#0", "%0#0", "main", 1},
      {"%iterArg", "%0#0", "main", 1},  {"%0/%iterArg_0", "%0#1", "main", 1},
      {"%1", "%1", "main", 1},          {"%arg0", "%arg0", "main", 1},
      {"@main:%1", "%1", "main", 1},    {"@f:%0", "@f:%0", "f", 2},
      {"@f:%arg0", "@f:%arg0", "f", 2}, {"out0", "out0", "main", 1},
      {"arg0", "%arg0", "main", 1},
  };
  TSR_OWN(propagation, propagation);
  propagation = propagate(LOOP, NULL);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_sharded_value value = TSR_SHARDED_VALUE;
    assert_ok(tsr_propagation_find(propagation, cases[i].asked, &value));
    assert_string_equal(value.name, cases[i].name);
    assert_string_equal(value.function, cases[i].function);
    assert_int_equal(value.copies, cases[i].copies);
    assert_false(value.copies_differ);
  }
}

static void chains_go_through_loops_and_calls(void **state) {
  (void)state;
  assert_explained(
      LOOP, "@f:%0", 0,
      "@f:%0: tensor<8xf32>, a on mesh @mesh {a=2,b=2}\n"
      "  %0 = stablehlo.tanh %arg0 : tensor<8xf32>\n"
      "  2 copies, one for each call; all are cut alike\n"
      "\ndimension 0 of size 8: cut by \"a\"\n"
      "    @f:%0 dimension 0 from @f:%arg0 dimension 0, through @f:%0 = "
      "stablehlo.tanh (op priority 0)\n"
      "    @f:%arg0 dimension 0 from %0#0 dimension 0, through %1 = func.call @f (op "
      "priority 0)\n"
      "    %0#0 dimension 0 from %arg0 dimension 0, through %0:2 = stablehlo.while "
      "(op priority 0)\n"
      "    %arg0 is an argument with an annotation: #sdy.sharding<@mesh, [{\"a\"}]>\n");
}

// ---- what is refused ----

static const struct {
  const char *program, *value;
  int dim;
  const char *reason;  // a part of the explanation
} refused[] = {
    {MESH "func.func @main(%x: tensor<8x4xf32> " CUT("{\"a\"}, {}") ", %w: tensor<4x8xf32> " CUT(
         "{}, {\"a\"}") ") -> tensor<8x8xf32> {\n"
                        "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
                        "(tensor<8x4xf32>, "
                        "tensor<4x8xf32>) -> tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>\n}\n",
     "%0", 1,
     "  not \"a\", which %arg1 dimension 1 has, through %0 = stablehlo.dot_general: dimension 0 "
     "has "
     "the axis already\n"},
    {MESH "func.func @main(%x: tensor<8xf32> " CUT("{\"a\"}") ", %y: tensor<8xf32> " CUT(
         "{}") ") -> tensor<8xf32> {\n"
               "  %0 = stablehlo.add %x, %y : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n",
     "%arg1", 0,
     "  not \"a\", which %arg0 dimension 0 has, through %0 = stablehlo.add: dimension 0 is "
     "closed\n"},
    {MESH "func.func @main(%x: tensor<8xf32> " CUT("{\"a\"}") ", %y: tensor<8xf32> " CUT(
         "{\"b\"}") ") -> tensor<8xf32> {\n"
                    "  %0 = stablehlo.add %x, %y : tensor<8xf32>\n  return %0 : "
                    "tensor<8xf32>\n}\n",
     "%0", 0,
     "  not \"a\", which %arg0 dimension 0 has, through %0 = stablehlo.add: %arg1 has \"b\" in "
     "its "
     "place, so neither goes on\n"},
    {MESH "func.func @main(%x: tensor<8xf32> " CUT("{\"a\"}") ", %y: tensor<8xf32> " CUT(
         "{\"b\"}") ") -> tensor<8xf32> {\n"
                    "  %0 = stablehlo.add %x, %y : tensor<8xf32>\n  return %0 : "
                    "tensor<8xf32>\n}\n",
     "%arg1", 0,
     "  not \"a\", which %arg0 dimension 0 has, through %0 = stablehlo.add: dimension 0 has "
     "\"b\" in "
     "its place\n"},
    {MESH "func.func @main(%x: tensor<8xf32> " CUT(
         "{\"a\"}") ", %y: tensor<8xf32> {sdy.sharding = "
                    "#sdy.sharding<@mesh, [{?}], replicated={\"a\"}>}) -> tensor<8xf32> {\n"
                    "  %0 = stablehlo.add %x, %y : tensor<8xf32>\n  return %0 : "
                    "tensor<8xf32>\n}\n",
     "%arg1", 0, ": the axis is explicitly replicated here\n"},
    {MESH "func.func @main(%x: tensor<8xf32> " CUT(
         "{\"a\"}") ", %y: tensor<8xf32> {sdy.sharding = "
                    "#sdy.sharding<@other, [{\"c\"}]>}) -> tensor<8xf32> {\n"
                    "  %0 = stablehlo.add %x, %y : tensor<8xf32>\n  return %0 : "
                    "tensor<8xf32>\n}\n",
     "%arg1", 0, ": it is on another mesh\n"},
    {MESH "func.func @main(%x: tensor<6xf32> " CUT(
         "{\"a\", \"b\"}") ") -> tensor<3x2xf32> {\n"
                           "  %0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<3x2xf32>\n"
                           "  return %0 : tensor<3x2xf32>\n}\n",
     "%0", 0, "no tensor next to it is cut along this dimension\n"},
};

static void reasons_name_what_stands_in_the_way(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    TSR_OWN(propagation, propagation);
    TSR_OWN(text, text);
    propagation = propagate(refused[i].program, NULL);
    assert_ok(tsr_propagation_explain(propagation, refused[i].value, refused[i].dim, &text));
    if (!strstr(tsr_text_string(&text), refused[i].reason))
      fail_msg("case %zu: no \"%s\" in\n%s", i, refused[i].reason, tsr_text_string(&text));
  }
}

// ---- names that are wrong ----

static void wrong_names_say_what_is_near(void **state) {
  (void)state;
  static const struct {
    const char *value;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"%44", TSR_CAUSE_NOT_FOUND, "function @main has no value \"%44\""},
      {"%ag0", TSR_CAUSE_NOT_FOUND,
       "function @main has no value \"%ag0\"; did you mean \"%arg0\"?"},
      {"out1", TSR_CAUSE_INDEX_OUT_OF_RANGE,
       "result out1 of @main, which has 1 results, counted from out0"},
      {"arg", TSR_CAUSE_NOT_FOUND,
       "function @main has no value, argument, result or location \"arg\"; did you mean \"arg0\"?"},
      {"@g:%0", TSR_CAUSE_NOT_FOUND, "the program has no function @g"},
      {"@f", TSR_CAUSE_BAD_ARGUMENT, "\"@f\" has no value; expected @function:value"},
      {"%2/%3", TSR_CAUSE_BAD_ARGUMENT, "%2 of \"%2/%3\" is no op with regions"},
      {"", TSR_CAUSE_NOT_FOUND, NULL},
      {"%", TSR_CAUSE_NOT_FOUND, NULL},
      {"@", TSR_CAUSE_BAD_ARGUMENT, NULL},
  };
  TSR_OWN(propagation, propagation);
  propagation = propagate(LOOP, NULL);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(text, text);
    tsr_status status = tsr_propagation_explain(propagation, cases[i].value, -1, &text);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    if (cases[i].message) assert_message(status, cases[i].message);
    tsr_status_free(status);
  }
  TSR_OWN(text, text);
  assert_fails(tsr_propagation_explain(propagation, "%0", 1, &text), INDEX_OUT_OF_RANGE,
               "dimension 1 of %0, expected 0 to 0");
  assert_fails(tsr_propagation_explain(propagation, "%0", -2, &text), INDEX_OUT_OF_RANGE,
               "dimension -2 of %0, expected 0 to 0");
}

// ---- what if ----

static void comparing_lists_what_a_constraint_changes(void **state) {
  (void)state;
  static const char program[] = MESH
      "func.func @main(%x: tensor<8x4xf32> " CUT("{\"a\"}, {?}") ") -> tensor<8x4xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"
      "  %1 = stablehlo.tanh %0 : tensor<8x4xf32>\n"
      "  return %1 : tensor<8x4xf32>\n}\n";
  static const struct {
    tsr_value_constraint constraint;
    int64_t count;
    const char *text;
  } cases[] = {
      {{"%1", "a, b"},
       4,
       "%arg0: a, _ -> a, b  (tensor<8x4xf32>)\nout0: a, _ -> a, b  (tensor<8x4xf32>)\n"
       "%0: a, _ -> a, b  (tensor<8x4xf32>)\n%1: a, _ -> a, b  (tensor<8x4xf32>)\n"},
      {{"out0", "_, _"}, 1, "out0: a, _ -> _, _  (tensor<8x4xf32>)\n"},
      {{"arg0", "a, _"}, 0, ""},
  };
  TSR_OWN(propagation, before);
  before = propagate(program, NULL);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(propagation, after);
    TSR_OWN(text, text);
    tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
    int64_t count = -1;
    options.constraints = &cases[i].constraint;
    options.constraint_count = 1;
    after = propagate(program, &options);
    assert_ok(tsr_propagation_compare(before, after, &count, &text));
    assert_string_equal(tsr_text_string(&text), cases[i].text);
    assert_int_equal(count, cases[i].count);
  }
}

SUITE(explanation, TEST(axes_are_followed_to_an_argument),
      TEST(axes_come_from_constraints_results_and_user_priorities),
      TEST(values_of_loops_and_calls_have_names), TEST(chains_go_through_loops_and_calls),
      TEST(reasons_name_what_stands_in_the_way), TEST(wrong_names_say_what_is_near),
      TEST(comparing_lists_what_a_constraint_changes))
