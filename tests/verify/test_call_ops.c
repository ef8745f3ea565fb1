// Functions, calls, composites and custom calls.
#include "op_cases.h"

#define FUNCTION                                                 \
  "func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> {\n" \
  "return %x : tensor<2xf32>\n"                                  \
  "}\n"

static const body_case calls_cases[] = {
    {FUNCTION, "%a: tensor<2xf32>", "%r = call @none(%a) : (tensor<2xf32>) -> tensor<2xf32>",
     "func.call: callee @none is not a function of the module"},
    {FUNCTION, "%a: tensor<3xf32>", "%r = call @g(%a) : (tensor<3xf32>) -> tensor<2xf32>",
     "func.call: operand 0 is tensor<3xf32>, expected tensor<2xf32> as @g"},
    {FUNCTION, "%a: tensor<2xf32>", "%r = call @g(%a) : (tensor<2xf32>) -> tensor<3xf32>",
     "func.call: result 0 is tensor<3xf32>, expected tensor<2xf32> as @g"},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = call @g(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
     "func.call: has 2 operands, expected 1 as @g"},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r:2 = call @g(%a) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)",
     "func.call: has 2 results, expected 1 as @g"},
    {FUNCTION, "%a: tensor<2xf32>", "%r = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>", ""},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"ab\" %a {decomposition = @g} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.composite: (C1) name is \"ab\", expected one like \"my_namespace.my_op\""},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"1a.b\" %a {decomposition = @g} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.composite: (C1) name is \"1a.b\", expected one like \"my_namespace.my_op\""},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"a..b\" %a {decomposition = @g} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.composite: (C1) name is \"a..b\", expected one like \"my_namespace.my_op\""},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"a.b\" %a {decomposition = @none} : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "stablehlo.composite: (C2) decomposition @none is not a function of the module"},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"a.b\" %a, %a {decomposition = @g} : (tensor<2xf32>, "
     "tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.composite: (C3) has 2 operands, expected 1 as @g"},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"a.b\" %a {decomposition = @g} : (tensor<2xf32>) -> tensor<3xf32>",
     "stablehlo.composite: (C4) result 0 is tensor<3xf32>, expected tensor<2xf32> as @g"},
    {FUNCTION, "%a: tensor<2xf32>",
     "%r = stablehlo.composite \"a.b$c.d\" %a {decomposition = @g} : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     ""},
};

static void calls_have_the_signature_of_a_function(void **state) {
  (void)state;
  check_body_cases(calls_cases, COUNT_OF(calls_cases));
}

static const body_case custom_call_cases[] = {
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {operand_layouts = [dense<0> : tensor<1xindex>]} : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: has operand_layouts alone, expected layouts of both operands and "
     "results"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {operand_layouts = [dense<0> : tensor<1xindex>], "
     "result_layouts = []} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: result_layouts has 0 entries, expected 1"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {operand_layouts = [dense<1> : tensor<1xindex>], "
     "result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: the layout of operand 0 is [1], expected a permutation of the 1 "
     "dimensions of tensor<2xf32>"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {operand_layouts = [dense<0> : tensor<1xindex>], "
     "result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>",
     ""},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {output_operand_aliases = "
     "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, "
     "operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: (I7) operand_index of an alias is 1, expected 0 or more and less than "
     "1"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {output_operand_aliases = "
     "[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, "
     "operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: (I7) output_tuple_indices of an alias is [0], which the results do "
     "not have"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {output_operand_aliases = "
     "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
     "operand_tuple_indices = [0]>]} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: (I7) operand_tuple_indices of an alias is [0], which operand 0 does "
     "not have"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {output_operand_aliases = "
     "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
     "operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<3xf32>",
     "stablehlo.custom_call: (I7) an alias joins the operand tensor<2xf32> and the result "
     "tensor<3xf32>, expected one type"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {backend_config = {a = 1 : i32}} : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "stablehlo.custom_call: (I4) backend_config is {a = 1 : i32}, expected a string with "
     "api_version 1"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {api_version = 4 : i32, backend_config = \"a\"} : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: (I4) backend_config is \"a\", expected a dictionary with api_version "
     "4"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {api_version = 9 : i32} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: (I5) api_version is 9, expected 0 to 4"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {api_version = 4 : i32, backend_config = {a = 1 : i32}} : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     ""},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {} : (tensor<2xf32>) -> memref<2xf32>",
     "stablehlo.custom_call: (I7) the buffer of result [] is in no alias"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @CreateBuffer(%a) {} : (tensor<2xf32>) -> memref<2xf32>",
     "stablehlo.custom_call: (I1) CreateBuffer has 1 operands and 1 results, expected 0 and 1"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @Pin(%a) {} : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.custom_call: (I1) Pin has the result tensor<2xf32>, expected a memref"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @Pin(%a) {} : (tensor<2xf32>) -> memref<3xf32>",
     "stablehlo.custom_call: (I1) Pin makes memref<3xf32> of tensor<2xf32>, expected the same "
     "shape and elements"},
    {"", "%a: tensor<2xf32>",
     "%r = stablehlo.custom_call @Pin(%a) {} : (tensor<2xf32>) -> memref<2xf32>", ""},
    {"", "%a: memref<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {} : (memref<2xf32>) -> memref<2xf32>",
     "stablehlo.custom_call: (I7) the buffer of result [] is in no alias"},
    {"", "%a: memref<2xf32>",
     "%r = stablehlo.custom_call @t(%a) {output_operand_aliases = "
     "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
     "operand_tuple_indices = []>]} : (memref<2xf32>) -> memref<2xf32>",
     ""},
};

static void custom_calls_name_layouts_and_aliases(void **state) {
  (void)state;
  check_body_cases(custom_call_cases, COUNT_OF(custom_call_cases));
}

// ---- the vocabulary of the peers' tests

#define PROGRAMS                                                                                   \
  FUNCTION                                                                                         \
  "func.func private @feed() -> tensor<f32> {\n%c = stablehlo.constant dense<0.0> : tensor<f32>\n" \
  "return %c : tensor<f32>\n}\n"
#define RUN(attributes, types)                                \
  "%r:2 = \"interpreter.run_parallel\"(%a, %a) <{" attributes \
  "}> : (tensor<2xf32>, tensor<2xf32>) -> " types
#define PAIR "(tensor<2xf32>, tensor<2xf32>)"

// clang-format off
static const body_case tests_cases[] = {
    {"", "%a: tensor<2xf32>, %b: tensor<3xf32>", "\"check.expect_eq\"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> ()",
     "check.expect_eq: compares tensor<2xf32> with tensor<3xf32>, expected one type"},
    {"", "%a: tensor<2xf32>", "check.expect_eq_const %a, dense<0.0> : tensor<2xf32>", ""},
    {"", "%a: tensor<2xf32>", "\"check.expect_eq_const\"(%a) <{value = dense<0> : tensor<2xi32>}> : (tensor<2xf32>) -> ()",
     "check.expect_eq_const: compares tensor<2xf32> with tensor<2xi32>, expected one type"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, @g]]", PAIR), ""},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g], [@g]], infeed = [@feed]", PAIR), ""},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = []", PAIR), "interpreter.run_parallel: programs is empty"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, @g], [@g]]", PAIR),
     "interpreter.run_parallel: a replica has 1 programs, expected 2 as the first"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g]]", PAIR),
     "interpreter.run_parallel: has 2 operands, expected 1 as the programs have together"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, @g, @feed]]", PAIR),
     "interpreter.run_parallel: has 2 results, expected 3 as the programs have together"},
    {PROGRAMS "func.func private @wide(%x: tensor<3xf32>) -> tensor<2xf32>\n", "%a: tensor<2xf32>", RUN("programs = [[@g, @wide]]", PAIR),
     "interpreter.run_parallel: operand 1 is tensor<2xf32>, expected tensor<3xf32> as in @wide"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, @g]]", "(tensor<2xf32>, tensor<f32>)"),
     "interpreter.run_parallel: result 1 is tensor<f32>, expected tensor<2xf32> as in @g"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, @none]]", PAIR),
     "interpreter.run_parallel: @none is not a function of the module"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, \"g\"]]", PAIR),
     "interpreter.run_parallel: has the program \"g\", expected the name of a function"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [@g]", PAIR),
     "interpreter.run_parallel: programs has @g, expected a list"},
    {PROGRAMS, "%a: tensor<2xf32>", RUN("programs = [[@g, @g]], infeed = []", PAIR),
     "interpreter.run_parallel: infeed is empty, expected functions"},
    {PROGRAMS "func.func private @nothing() {\nreturn\n}\n", "%a: tensor<2xf32>", RUN("programs = [[@g, @g]], infeed = [@nothing]", PAIR),
     "interpreter.run_parallel: @nothing is () -> (), expected one tensor as its result"},
};

// ---- several results, tuples and buffers in aliases

#define ALIAS(output, operand, path) \
  "#stablehlo.output_operand_alias<output_tuple_indices = [" output "], operand_index = " operand \
  ", operand_tuple_indices = [" path "]>"
#define TWO(aliases) \
  "%r:2 = stablehlo.custom_call @t(%a, %b) {output_operand_aliases = [" aliases \
  "]} : (tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>) -> (tensor<2xf32>, tuple<tensor<2xf32>>)"
#define BUFFERS(aliases) \
  "%r:2 = stablehlo.custom_call @t(%a, %b) {output_operand_aliases = [" aliases \
  "]} : (memref<2xf32>, memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)"
#define TWO_ARGS "%a: tensor<2xf32>, %b: tuple<tensor<i32>, tensor<2xf32>>"
#define BUFFER_ARGS "%a: memref<2xf32>, %b: memref<2xf32>"

static const body_case alias_cases[] = {
    {"", TWO_ARGS, TWO(ALIAS("0", "0", "") ", " ALIAS("1, 0", "1", "1")), ""},
    {"", TWO_ARGS, TWO(ALIAS("", "0", "")),
     "stablehlo.custom_call: (I7) output_tuple_indices of an alias is [], which the results do not have"},
    {"", TWO_ARGS, TWO(ALIAS("2", "0", "")),
     "stablehlo.custom_call: (I7) output_tuple_indices of an alias is [2], which the results do not have"},
    {"", TWO_ARGS, TWO(ALIAS("1, 1", "0", "")),
     "stablehlo.custom_call: (I7) output_tuple_indices of an alias is [1, 1], which the results do not have"},
    {"", TWO_ARGS, TWO(ALIAS("0", "1", "2")),
     "stablehlo.custom_call: (I7) operand_tuple_indices of an alias is [2], which operand 1 does not have"},
    {"", BUFFER_ARGS, BUFFERS(ALIAS("0", "0", "") ", " ALIAS("1", "1", "")), ""},
    {"", BUFFER_ARGS, BUFFERS(ALIAS("0", "0", "") ", " ALIAS("0", "1", "")),
     "stablehlo.custom_call: (I7) the buffer of result [0] is in two aliases"},
    {"", BUFFER_ARGS, BUFFERS(ALIAS("0", "0", "") ", " ALIAS("1", "0", "")),
     "stablehlo.custom_call: (I7) the buffer of operand 0 is in two aliases"},
    {"", BUFFER_ARGS, BUFFERS(ALIAS("1", "1", "")),
     "stablehlo.custom_call: (I7) the buffer of result [0] is in no alias"},
    {"", "%a: memref<2xf32>", "%r = stablehlo.custom_call @t(%a) : (memref<2xf32>) -> tuple<tensor<f32>, memref<2xf32>>",
     "stablehlo.custom_call: (I7) the buffer of result [1] is in no alias"},
    {"", "%a: !stablehlo.token",
     "%r = stablehlo.custom_call @t(%a) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token) -> !stablehlo.token",
     "stablehlo.custom_call: operand 0 is !stablehlo.token and has the layout [0], expected none"},
    {"", "%a: !stablehlo.token",
     "%r = stablehlo.custom_call @t(%a) {operand_layouts = [dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token) -> !stablehlo.token",
     ""},
    // The functions of a module inside a module are its own.
    {"module @inner {\nfunc.func @h() {\nreturn\n}\nfunc.func @i() {\ncall @h() : () -> ()\nreturn\n}\n}\n", "", "", ""},
    {FUNCTION "module @inner {\nfunc.func @i(%x: tensor<2xf32>) {\n%r = call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn\n}\n}\n", "", "",
     "func.call: callee @g is not a function of the module"},
};
// clang-format on

static void the_vocabulary_of_tests_is_checked(void **state) {
  (void)state;
  check_body_cases(tests_cases, COUNT_OF(tests_cases));
}

static void aliases_lead_to_one_result_and_one_operand(void **state) {
  (void)state;
  check_body_cases(alias_cases, COUNT_OF(alias_cases));
}

SUITE(call_ops, TEST(calls_have_the_signature_of_a_function),
      TEST(custom_calls_name_layouts_and_aliases), TEST(the_vocabulary_of_tests_is_checked),
      TEST(aliases_lead_to_one_result_and_one_operand))
