// Control flow, tuples, futures, tokens and transfers.
#include "op_cases.h"

static const body_case transfers_cases[] = {
    {"", "%a: tensor<2x4xf32>, %t: !stablehlo.token",
     "%r = \"stablehlo.send\"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
     "type = 2>}> : (tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token",
     "stablehlo.send: (C5) channel_type is 2, expected 1 as is_host_transfer is false"},
    {"", "%a: tensor<2x4xf32>, %t: !stablehlo.token",
     "%r = \"stablehlo.send\"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
     "type = 1>, is_host_transfer = true}> : (tensor<2x4xf32>, !stablehlo.token) -> "
     "!stablehlo.token",
     "stablehlo.send: (C5) channel_type is 1, expected 2 as is_host_transfer is true"},
    {"", "%a: tensor<2x4xf32>, %t: !stablehlo.token",
     "%r = \"stablehlo.send\"(%t, %a) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
     "type = 1>}> : (!stablehlo.token, tensor<2x4xf32>) -> !stablehlo.token",
     "stablehlo.send: (I1) operand 0 is !stablehlo.token, expected a tensor"},
    {"", "%a: tensor<2x4xf32>, %t: !stablehlo.token",
     "%r = \"stablehlo.send\"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
     "type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : "
     "(tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token",
     "stablehlo.send: (C2) source 0 occurs twice in source_target_pairs"},
    {"", "%a: tensor<2x4xf32>, %t: !stablehlo.token",
     "%r = \"stablehlo.send\"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
     "type = 1>}> : (tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token",
     ""},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type "
     "= 2>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)",
     "stablehlo.recv: (C5) channel_type is 2, expected 1 as is_host_transfer is false"},
    {"", "%t: !stablehlo.token",
     "\"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> "
     ": (!stablehlo.token) -> ()",
     "stablehlo.recv: (C2) there are no results, expected a token"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type "
     "= 1>}> : (!stablehlo.token) -> (!stablehlo.token, tensor<2xf32>)",
     "stablehlo.recv: (C3) result 0 is !stablehlo.token, expected a tensor of known shape"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type "
     "= 1>}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<2xf32>)",
     "stablehlo.recv: (C4) the last result is tensor<2xf32>, expected a token"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type "
     "= 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)",
     ""},
    {"", "%t: !stablehlo.token",
     "\"stablehlo.infeed\"(%t) <{infeed_config = \"\"}> : (!stablehlo.token) -> ()",
     "stablehlo.infeed: (C1) there are no results, expected a token"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.infeed\"(%t) <{infeed_config = \"\"}> : (!stablehlo.token) -> "
     "(!stablehlo.token, !stablehlo.token)",
     "stablehlo.infeed: (C2) result 0 is !stablehlo.token, expected a tensor of known shape"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.infeed\"(%t) <{infeed_config = \"\"}> : (!stablehlo.token) -> "
     "(tensor<2xf32>, tensor<2xf32>)",
     "stablehlo.infeed: (C3) the last result is tensor<2xf32>, expected a token"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.infeed\"(%t) <{infeed_config = \"\", layout = [[0], [1]]}> : "
     "(!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)",
     "stablehlo.infeed: (C2) layout has 2 entries, expected 1, one for each tensor"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.infeed\"(%t) <{infeed_config = \"\", layout = [0]}> : (!stablehlo.token) "
     "-> (tensor<2xf32>, !stablehlo.token)",
     "stablehlo.infeed: (C2) layout 0 is 0 : i64, expected an array"},
    {"", "%t: !stablehlo.token",
     "%r:2 = \"stablehlo.infeed\"(%t) <{infeed_config = \"\", layout = [[0]]}> : "
     "(!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)",
     ""},
    {"", "%t: !stablehlo.token",
     "%r = \"stablehlo.outfeed\"(%t, %t) <{outfeed_config = \"\"}> : (!stablehlo.token, "
     "!stablehlo.token) -> !stablehlo.token",
     "stablehlo.outfeed: (I1) operand 0 is !stablehlo.token, expected a tensor"},
    {"", "", "%r = stablehlo.partition_id : tensor<i32>",
     "stablehlo.partition_id: result 0 is tensor<i32>, expected 32 bit tensor of unsigned integer"},
    {"", "", "%r = stablehlo.replica_id : tensor<ui32>", ""},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.after_all\"(%a) : (tensor<2x4xf32>) -> !stablehlo.token",
     "stablehlo.after_all: (I1) operand 0 is tensor<2x4xf32>, expected token"},
};

static void transfers_need_channels_and_tokens(void **state) {
  (void)state;
  check_body_cases(transfers_cases, COUNT_OF(transfers_cases));
}

static const body_case branches_cases[] = {
    {"", "%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = \"stablehlo.if\"(%p) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %b : tensor<3xf32>\n"
     "}) : (tensor<i1>) -> tensor<2xf32>",
     "stablehlo.if: (C2) branch 1 returns tensor<3xf32> at 0, expected tensor<2xf32> as branch 0"},
    {"", "%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = \"stablehlo.if\"(%p) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %a, %a : tensor<2xf32>, tensor<2xf32>\n"
     "}) : (tensor<i1>) -> tensor<2xf32>",
     "stablehlo.if: (C2) branch 1 returns 2 values, expected 1 as branch 0"},
    {"", "%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = \"stablehlo.if\"(%p) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<i1>) -> tensor<2xf32>",
     "stablehlo.if: (C1) branch 0 has 1 arguments, expected none"},
    {"", "%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = \"stablehlo.if\"(%p) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<i1>) -> tensor<3xf32>",
     "stablehlo.if: (C3) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"", "%p: tensor<2xi1>, %a: tensor<2xf32>",
     "%r = \"stablehlo.if\"(%p) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<2xi1>) -> tensor<2xf32>",
     "stablehlo.if: (I1) operand 0 is tensor<2xi1>, expected 0-dimensional tensor of boolean"},
    {"", "%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = \"stablehlo.if\"(%p) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<i1>) -> tensor<2xf32>",
     ""},
    {"", "%i: tensor<i64>, %a: tensor<2xf32>",
     "%r = \"stablehlo.case\"(%i) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<i64>) -> tensor<2xf32>",
     "stablehlo.case: (I1) index is tensor<i64>, expected tensor<i32>"},
    {"", "%i: tensor<i32>, %a: tensor<2xf32>, %b: tensor<3xf32>",
     "%r = \"stablehlo.case\"(%i) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}, {\n"
     "stablehlo.return %b : tensor<3xf32>\n"
     "}) : (tensor<i32>) -> tensor<2xf32>",
     "stablehlo.case: (C3) branch 1 returns tensor<3xf32> at 0, expected tensor<2xf32> as branch "
     "0"},
    {"", "%i: tensor<i32>, %a: tensor<2xf32>",
     "%r = \"stablehlo.case\"(%i) ({\n"
     "^bb0(%x: tensor<f32>):\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<i32>) -> tensor<2xf32>",
     "stablehlo.case: (C2) branch 0 has 1 arguments, expected none"},
    {"", "%i: tensor<i32>, %a: tensor<2xf32>",
     "%r = \"stablehlo.case\"(%i) ({\n"
     "stablehlo.return %a : tensor<2xf32>\n"
     "}) : (tensor<i32>) -> tensor<2xi32>",
     "stablehlo.case: (C4) result 0 is tensor<2xi32>, expected tensor<2xf32>"},
};

static void branches_agree_in_what_they_return(void **state) {
  (void)state;
  check_body_cases(branches_cases, COUNT_OF(branches_cases));
}

static const body_case loops_cases[] = {
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<3xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C1) argument 0 of region 0 is tensor<3xf32>, expected tensor<2xf32> as the "
     "operand"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C1) cond returns tensor<2xf32>, expected tensor<i1>"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p, %p : tensor<i1>, tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C1) cond returns 2 values, expected 1"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<3xf32>):\n"
     "stablehlo.return %x : tensor<3xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C2) argument 0 of region 1 is tensor<3xf32>, expected tensor<2xf32> as the "
     "operand"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x, %x : tensor<2xf32>, tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C2) body returns 2 values, expected 1 as there are operands"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%c = stablehlo.constant dense<0> : tensor<2xi32>\n"
     "stablehlo.return %c : tensor<2xi32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C2) body returns tensor<2xi32> at 0, expected tensor<2xf32> as the "
     "operand"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     "stablehlo.while: (C2) region 1 has 2 arguments, expected 1 as there are operands"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<3xf32>",
     "stablehlo.while: (C3) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"", "%a: tensor<2xf32>",
     "%r = \"stablehlo.while\"(%a) ({\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "%p = stablehlo.constant dense<true> : tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n"
     "}, {\n"
     "^bb0(%x: tensor<2xf32>):\n"
     "stablehlo.return %x : tensor<2xf32>\n"
     "}) : (tensor<2xf32>) -> tensor<2xf32>",
     ""},
};

static void loops_carry_the_types_of_their_operands(void **state) {
  (void)state;
  check_body_cases(loops_cases, COUNT_OF(loops_cases));
}

static const body_case tuples_cases[] = {
    {"", "%t: tuple<tensor<2xf32>>",
     "%r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>>) -> tensor<2xf32>",
     "stablehlo.get_tuple_element: (C1) index is 1, expected 0 or more and less than 1, the size "
     "of the tuple"},
    {"", "%t: tuple<tensor<2xf32>>",
     "%r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>>) -> tensor<3xf32>",
     "stablehlo.get_tuple_element: (C2) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.get_tuple_element\"(%a) <{index = 0 : i32}> : (tensor<2x4xf32>) -> "
     "tensor<3xf32>",
     "stablehlo.get_tuple_element: (I1) operand 0 is tensor<2x4xf32>, expected tuple"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.tuple\"(%a) : (tensor<2x4xf32>) -> tuple<tensor<2xf32>>",
     "stablehlo.tuple: (C1) result 0 is tuple<tensor<2xf32>>, expected tuple<tensor<2x4xf32>>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.optimization_barrier\"(%a) : (tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.optimization_barrier: (C1) result 0 is tensor<4x2xf32>, expected tensor<2x4xf32>"},
    {"", "%t: tuple<tensor<2xf32>>",
     "%r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>", ""},
};

static void tuples_have_the_types_of_their_values(void **state) {
  (void)state;
  check_body_cases(tuples_cases, COUNT_OF(tuples_cases));
}

static const body_case async_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.async_start\"(%a) ({\n"
     "^bb0(%x: tensor<2x4xf32>):\n"
     "stablehlo.return %x : tensor<2x4xf32>\n"
     "}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>",
     "stablehlo.async_start: (C1) body does not have a single op and a return"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.async_start\"(%a) ({\n"
     "^bb0(%x: tensor<2x4xf32>):\n"
     "%s = stablehlo.add %x, %x : tensor<2x4xf32>\n"
     "stablehlo.return %s : tensor<2x4xf32>\n"
     "}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>",
     "stablehlo.async_start: (C2) body has stablehlo.add, expected a collective or a slice"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.async_start\"(%a) ({\n"
     "^bb0(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>):\n"
     "%s = stablehlo.slice %x [0:2, 0:4] : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
     "stablehlo.return %s : tensor<2x4xf32>\n"
     "}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>",
     "stablehlo.async_start: (C3) body has 2 arguments, expected 1 as there are operands"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.async_start\"(%a) ({\n"
     "^bb0(%x: tensor<2x4xf32>):\n"
     "%s = stablehlo.slice %x [0:2, 0:4] : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
     "stablehlo.return %s, %s : tensor<2x4xf32>, tensor<2x4xf32>\n"
     "}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>",
     "stablehlo.async_start: (C4) body returns 2 values, expected 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.async_start\"(%a) ({\n"
     "^bb0(%x: tensor<2x4xf32>):\n"
     "%s = stablehlo.slice %x [0:2, 0:4] : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
     "stablehlo.return %s : tensor<2x4xf32>\n"
     "}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<4xf32>>",
     "stablehlo.async_start: (C4) result 0 is !stablehlo.future<tensor<4xf32>>, expected "
     "!stablehlo.future<tensor<2x4xf32>>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.async_start\"(%a) ({\n"
     "^bb0(%x: tensor<2x4xf32>):\n"
     "%s = stablehlo.slice %x [0:2, 0:4] : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
     "stablehlo.return %s : tensor<2x4xf32>\n"
     "}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>",
     ""},
    {"", "%f: !stablehlo.future<tensor<2xf32>, tensor<2xf32>>",
     "%r = \"stablehlo.async_done\"(%f) : (!stablehlo.future<tensor<2xf32>, tensor<2xf32>>) -> "
     "tensor<2xf32>",
     "stablehlo.async_done: (I1) operand is !stablehlo.future<tensor<2xf32>, tensor<2xf32>>, "
     "expected a future of one type"},
    {"", "%f: !stablehlo.future<tensor<2xf32>>",
     "%r = \"stablehlo.async_done\"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<3xf32>",
     "stablehlo.async_done: (C1) result 0 is tensor<3xf32>, expected tensor<2xf32>"},
    {"", "%f: !stablehlo.future<tensor<2xf32>>",
     "%r = \"stablehlo.async_done\"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>", ""},
};

static void async_ops_hold_one_collective(void **state) {
  (void)state;
  check_body_cases(async_cases, COUNT_OF(async_cases));
}

SUITE(control_ops, TEST(transfers_need_channels_and_tokens),
      TEST(branches_agree_in_what_they_return), TEST(loops_carry_the_types_of_their_operands),
      TEST(tuples_have_the_types_of_their_values), TEST(async_ops_hold_one_collective))
