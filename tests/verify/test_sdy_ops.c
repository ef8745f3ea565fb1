// Shardy: meshes, shardings wherever they stand, rules, computations, collectives.
#include "op_cases.h"

#define MESH "sdy.mesh @mesh = <[\"a\"=2, \"b\"=4]>\n"
#define MESHES                              \
  "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n" \
  "sdy.mesh @other = <[\"x\"=4, \"y\"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>\n"

static const body_case meshes_cases[] = {
    {"sdy.mesh @m = <[\"a\"=2, \"a\"=2]>\n", "", "", "sdy.mesh: axis \"a\" occurs twice in a mesh"},
    {"sdy.mesh @m = <[\"a\"=0]>\n", "", "", "sdy.mesh: axis \"a\" has size 0, expected 1 or more"},
    {"sdy.mesh @m = <[\"a\"=2], device_ids=[0]>\n", "", "",
     "sdy.mesh: has 1 device ids, expected 2, the product of the axes"},
    {"sdy.mesh @m = <[\"a\"=2], device_ids=[1, 1]>\n", "", "",
     "sdy.mesh: device_ids is [1, 1], expected each id from 0 to 1"},
    {"sdy.mesh @m = <[\"a\"=2], device_ids=[-1, 0]>\n", "", "",
     "sdy.mesh: device_ids is [-1, 0], expected 0 or more"},
    {"sdy.mesh @m = <[], device_ids=[0, 1]>\n", "", "",
     "sdy.mesh: a mesh without axes has 2 device ids, expected at most 1"},
    {"sdy.mesh @m = <[\"a\"=2], device_ids=[1, 0]>\n", "", "", ""},
    {"sdy.mesh @m = <[], device_ids=[3]>\n", "", "", ""},
};

static void meshes_have_unique_axes_and_all_devices(void **state) {
  (void)state;
  check_body_cases(meshes_cases, COUNT_OF(meshes_cases));
}

static const body_case shardings_cases[] = {
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@none, [{}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: mesh @none is not in the module"},
    {MESH, "%x: tensor<8x8xf32>", "%r = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: the sharding has 1 dimensions, expected 2 as "
     "tensor<8x8xf32>"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: axis \"c\" is not in the mesh"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"a\"}, {\"a\"}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: axis \"a\" is used twice"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"b\":(1)2, \"b\":(2)2}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: axes \"b\":(1)2 and \"b\":(2)2 follow each other and are "
     "one sub-axis"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"b\"}, {\"b\":(1)2}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: axes \"b\":(1)2 and \"b\" overlap"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"b\":(0)2}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: sub-axis of \"b\" has pre-size 0, expected 1 or more"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"b\":(1)1}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: sub-axis of \"b\" has size 1, expected 2 or more"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"b\":(1)3}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: sub-axis \"b\":(1)3 does not divide its axis of size 4"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"b\":(1)4}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: sub-axis \"b\":(1)4 is the full axis"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{}, {}], replicated={\"b\", \"a\"}> : "
     "tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: replicated axes are not in the order of the mesh"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{}, {}], unreduced={\"b\", \"a\"}> : "
     "tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: unreduced axes are not in the order of the mesh"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"a\"}, {}], replicated={\"a\"}> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: axis \"a\" is used twice"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{}p1, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: dimension 0 is empty and closed but has a priority"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <mesh<[\"a\"=2, \"a\"=2]>, [{}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: axis \"a\" occurs twice in a mesh"},
    {"sdy.mesh @m1 = <[], device_ids=[0]>\n", "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@m1, [{}, {}]> : tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: the sharding is #sdy.sharding<@m1, [{}, {}]>, expected no "
     "dimensions and no axes for a maximal mesh or a value that is no tensor"},
    {MESH, "%x: !stablehlo.token",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"a\"}]> : !stablehlo.token",
     "sdy.sharding_constraint: sharding: the sharding is #sdy.sharding<@mesh, [{\"a\"}]>, expected "
     "no dimensions and no axes for a maximal mesh or a value that is no tensor"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.sharding_constraint %x <@mesh, [{\"a\", \"b\":(1)2}, {\"b\":(2)2, ?}p1]> : "
     "tensor<8x8xf32>",
     ""},
    {MESH, "%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\"}]>}", "",
     "func.func: argument 0: axis \"c\" is not in the mesh"},
    {MESH, "%x: tensor<8xf32> {sdy.sharding = 1 : i64}", "",
     "func.func: argument 0: sdy.sharding is 1 : i64, expected #sdy.sharding"},
    {MESH, "%x: tensor<8xf32> {foo = 1 : i64}", "",
     "func.func: argument 0 has the attribute \"foo\", expected one of a dialect"},
    {MESH, "%x: tensor<8xf32>",
     "%r = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}]>]>} : "
     "tensor<8xf32>",
     "stablehlo.abs: result 0: axis \"c\" is not in the mesh"},
    {MESH, "%x: tensor<8xf32>",
     "%r = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}]>, <@mesh, "
     "[{\"a\"}]>]>} : tensor<8xf32>",
     "stablehlo.abs: result: there are 2 shardings, expected 1"},
    {MESH, "%x: tensor<8xf32>",
     "%r = stablehlo.abs %x {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>} : tensor<8xf32>",
     "stablehlo.abs: sdy.sharding is #sdy.sharding<@mesh, [{\"a\"}]>, expected "
     "#sdy.sharding_per_value"},
    {MESH, "%x: tensor<8xf32>",
     "%r = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>} : "
     "tensor<8xf32>",
     ""},
};

static void shardings_use_each_part_of_an_axis_once(void **state) {
  (void)state;
  check_body_cases(shardings_cases, COUNT_OF(shardings_cases));
}

static const body_case rules_cases[] = {
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = 1 : i64} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule is 1 : i64, expected #sdy.op_sharding_rule"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i, j]) {i=2, "
     "j=4}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has a mapping of rank 1, expected 2 as tensor<2x4xf32>"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) "
     "{i=2, j=4}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has 2 mappings of operands, expected 1, at least 1"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, j]) {i=2, "
     "j=4}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has factor 0 twice in one tensor"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, "
     "j=4, k=3}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule does not use factor 2"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, j]) {i=2, "
     "j=4, k=1}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has a factor of size 1 beside others in a dimension"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, "
     "j=4} reduction={i}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has the reduction factor 0 in a result"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, "
     "j=4} need_replication={j, i}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has the special factors [1, 0], expected them sorted and "
     "each once"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, "
     "j=4} need_replication={i} permutation={i}>} : tensor<2x4xf32>",
     "stablehlo.abs: sdy.sharding_rule has factor 0 in two special sets"},
    {MESH, "%x: tensor<2x4xf32>",
     "%r = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, "
     "j=4}>} : tensor<2x4xf32>",
     ""},
};

static void rules_use_each_factor(void **state) {
  (void)state;
  check_body_cases(rules_cases, COUNT_OF(rules_cases));
}

static const body_case computations_cases[] = {
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, "
     "[{\"a\"}, {}]>] manual_axes={\"a\"} (%y: tensor<8x8xf32>) {\n"
     "sdy.return %y : tensor<8x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.manual_computation: operand 0 is tensor<8x8xf32> in the body, expected tensor<4x8xf32>"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, "
     "[{\"a\"}, {}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
     "sdy.return %y, %y : tensor<4x8xf32>, tensor<4x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.manual_computation: there are 1 results but 2 in the body, expected as many"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"b\", \"a\"}, {}]>] "
     "out_shardings=[<@mesh, [{\"a\"}, {}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
     "sdy.return %y : tensor<4x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.manual_computation: operand 0: the manual axis \"a\" stands after a free axis, expected "
     "before"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, "
     "[{\"a\"}, {}]>] manual_axes={\"a\", \"c\"} (%y: tensor<4x8xf32>) {\n"
     "sdy.return %y : tensor<4x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.manual_computation: manual axis \"c\" is not in the mesh"},
    {"sdy.mesh @mesh = <[\"a\"=2, \"b\"=4]>\n"
     "sdy.mesh @m2 = <[\"a\"=2]>\n",
     "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@m2, "
     "[{\"a\"}, {}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
     "sdy.return %y : tensor<4x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.manual_computation: the shardings are bound to different meshes"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, "
     "[{\"a\"}, {}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
     "%z = sdy.sharding_constraint %y <@mesh, [{\"a\"}, {}]> : tensor<4x8xf32>\n"
     "sdy.return %z : tensor<4x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.sharding_constraint: sharding: axis \"a\" is a manual axis of an enclosing "
     "sdy.manual_computation"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"b\"}, {}]>] out_shardings=[<@mesh, "
     "[{\"b\"}, {}]>] manual_axes={\"b\"} (%y: tensor<2x8xf32>) {\n"
     "sdy.return %y : tensor<2x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     ""},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, "
     "[{\"a\"}, {}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
     "sdy.return %y : tensor<4x8xf32>\n"
     "} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     ""},
    {MESH, "%x: tensor<8xf32>",
     "%r = sdy.named_computation<\"f\">(%x) (%y: tensor<4xf32>) {\n"
     "sdy.return %y : tensor<4xf32>\n"
     "} : (tensor<8xf32>) -> tensor<4xf32>",
     "sdy.named_computation: argument 0 of the body is tensor<4xf32>, expected tensor<8xf32>"},
    {MESH, "%x: tensor<8xf32>",
     "%r = sdy.named_computation<\"f\">(%x) in_shardings=[<@mesh, [{\"c\"}]>] "
     "out_shardings=[<@mesh, [{}]>] (%y: tensor<8xf32>) {\n"
     "sdy.return %y : tensor<8xf32>\n"
     "} : (tensor<8xf32>) -> tensor<8xf32>",
     "sdy.named_computation: in_shardings 0: axis \"c\" is not in the mesh"},
    {MESH, "%x: tensor<8xf32>",
     "%r = sdy.named_computation<\"f\">(%x) (%y: tensor<8xf32>) {\n"
     "sdy.return %y : tensor<8xf32>\n"
     "} : (tensor<8xf32>) -> tensor<8xf32>",
     ""},
    {"", "%x: tensor<8xf32>",
     "%r = sdy.propagation_barrier %x allowed_direction=BOTH : tensor<8xf32>",
     "sdy.propagation_barrier: allowed_direction is 3, expected NONE, FORWARD or BACKWARD"},
    {"", "%x: tensor<?xf32>", "%r = sdy.data_flow_edge %x : tensor<?xf32>",
     "sdy.data_flow_edge: input is tensor<?xf32>, expected a known shape"},
    {"", "%x: tensor<8xf32>",
     "%r = sdy.data_flow_edge %x : tensor<8xf32>\n"
     "%s = stablehlo.abs %x : tensor<8xf32>",
     "sdy.data_flow_edge: the input has other users, expected none"},
    {"", "%x: tensor<8xf32>",
     "%y = sdy.propagation_barrier %x allowed_direction=NONE : tensor<8xf32>\n"
     "%r = sdy.data_flow_edge %y : tensor<8xf32>",
     "sdy.data_flow_edge: the input is made by sdy.propagation_barrier, expected an op that is not "
     "of sdy"},
    {"", "%x: tensor<8xf32>",
     "%y = stablehlo.abs %x : tensor<8xf32>\n"
     "%r = sdy.func_data_flow_edge %y : tensor<8xf32>",
     "sdy.func_data_flow_edge: the operand is of stablehlo.abs, expected an argument of func.func "
     "or a result of func.call"},
    {"", "%x: tensor<8xf32>", "%r = sdy.func_data_flow_edge %x : tensor<8xf32>", ""},
};

static void bodies_see_local_shapes(void **state) {
  (void)state;
  check_body_cases(computations_cases, COUNT_OF(computations_cases));
}

static const body_case collectives_cases[] = {
    {MESHES, "%a: tensor<8x8xf32>",
     "%r = sdy.all_gather [{}, {\"x\"}] %a out_sharding=<@mesh, [{\"y\"}, {}]> : tensor<8x8xf32>",
     "sdy.all_gather: the operand has no sharding"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_gather [{}, {\"x\"}] %a out_sharding=<@mesh, [{\"y\"}, {\"x\"}]> : "
     "tensor<8x8xf32>",
     "sdy.all_gather: out_sharding has {\"x\"} at dimension 1, expected {}"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_gather [{\"x\"}, {}] %a out_sharding=<@mesh, [{\"y\"}, {\"x\"}]> : "
     "tensor<8x8xf32>",
     "sdy.all_gather: axis \"x\" is not at the end of dimension 0 of the operand, which has "
     "{\"y\"}"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_gather [{\"x\"}] %a out_sharding=<@mesh, [{\"y\"}, {}]> : tensor<8x8xf32>",
     "sdy.all_gather: gathering_axes has 1 dimensions, expected 2"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_gather [{}, {\"x\"}] %a out_sharding=<@other, [{\"y\"}, {}]> : tensor<8x8xf32>",
     "sdy.all_gather: out_sharding is bound to another mesh than the sharding of the operand"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_gather [{}, {\"x\":(2)2}] %a out_sharding=<@mesh, [{\"y\"}, {\"x\":(1)2}]> : "
     "tensor<8x8xf32>",
     ""},
    {MESHES, "%a: tensor<8x8xf32>",
     "%r = sdy.all_slice [{\"y\"}, {\"x\"}] %a out_sharding=<@mesh, [{\"y\"}, {}]> : "
     "tensor<8x8xf32>",
     "sdy.all_slice: out_sharding has {} at dimension 1, expected {\"x\"}"},
    {MESHES, "%a: tensor<8x8xf32>",
     "%r = sdy.all_slice [{\"y\"}, {\"x\"}] %a out_sharding=<@mesh, [{\"y\"}, {\"x\"}]> : "
     "tensor<8x8xf32>",
     ""},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_to_all [{\"x\"}: 1->2] %a out_sharding=<@mesh, [{\"y\", \"x\"}, {}]> : "
     "tensor<8x8xf32>",
     "sdy.all_to_all: params has the dimension 2, expected 0 or more and less than 2"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_to_all [{\"x\"}: 1->1] %a out_sharding=<@mesh, [{\"y\", \"x\"}, {}]> : "
     "tensor<8x8xf32>",
     "sdy.all_to_all: params has the dimension 1 twice"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_to_all [{\"x\"}: 1->0] %a out_sharding=<@mesh, [{\"y\"}, {}]> : tensor<8x8xf32>",
     "sdy.all_to_all: out_sharding has {\"y\"} at dimension 0, expected {\"y\", \"x\"}"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_to_all [{\"x\"}: 1->0] %a out_sharding=<@mesh, [{\"y\", \"x\"}, {}]> : "
     "tensor<8x8xf32>",
     ""},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.collective_permute %a out_sharding=<@mesh, [{\"x\"}, {\"y\"}]> : tensor<8x8xf32>",
     "sdy.collective_permute: out_sharding cuts dimension 0 in 4, expected 2 as the operand"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.collective_permute %a out_sharding=<@other, [{\"y\"}, {\"x\"}]> : tensor<8x8xf32>",
     ""},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.all_reduce {\"x\"} %a out_sharding=<@mesh, [{\"y\"}, {\"x\"}]> : tensor<8x8xf32>",
     "sdy.all_reduce: an axis overlaps with a dimension of the operand"},
    {MESHES,
     "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}], unreduced={\"y\"}>}",
     "%r = sdy.all_reduce {\"y\"} %a out_sharding=<@mesh, [{}, {\"x\"}], unreduced={\"y\"}> : "
     "tensor<8x8xf32>",
     "sdy.all_reduce: an axis overlaps with unreduced axes of the result"},
    {MESHES,
     "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}], unreduced={\"y\"}>}",
     "%r = sdy.all_reduce {\"y\"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>",
     "sdy.all_reduce: out_sharding has {} at dimension 1, expected {\"x\"}"},
    {MESHES,
     "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}], unreduced={\"y\"}>}",
     "%r = sdy.all_reduce {\"y\"} %a out_sharding=<@mesh, [{}, {\"x\"}]> : tensor<8x8xf32>", ""},
    {MESHES, "%a: tensor<8x8xf32>",
     "%r = sdy.all_reduce {\"y\", \"x\"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>",
     "sdy.all_reduce: reduction_axes is not in the order of the mesh"},
    {MESHES,
     "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}], unreduced={\"y\"}>}",
     "%r = sdy.reduce_scatter [{\"y\"}, {}] %a out_sharding=<@mesh, [{}, {\"x\"}]> : "
     "tensor<8x8xf32>",
     "sdy.reduce_scatter: out_sharding has {} at dimension 0, expected {\"y\"}"},
    {MESHES,
     "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}], unreduced={\"y\"}>}",
     "%r = sdy.reduce_scatter [{\"y\"}, {}] %a out_sharding=<@mesh, [{\"y\"}, {\"x\"}]> : "
     "tensor<8x8xf32>",
     ""},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.sharded_to_unreduced [{\"y\"}, {}] %a out_sharding=<@mesh, [{}, {\"x\"}]> : "
     "tensor<8x8xf32>",
     "sdy.sharded_to_unreduced: unreduced axes of out_sharding are not those of the operand and "
     "those of the op"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.sharded_to_unreduced [{\"y\"}, {}] %a out_sharding=<@mesh, [{}, {\"x\"}], "
     "unreduced={\"y\"}> : tensor<8x8xf32>",
     ""},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}",
     "%r = sdy.replicated_to_unreduced {\"x\"} %a out_sharding=<@mesh, [{\"y\"}, {\"x\"}], "
     "unreduced={\"x\"}> : tensor<8x8xf32>",
     "sdy.replicated_to_unreduced: out_sharding: axis \"x\" is used twice"},
    {MESHES, "%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}]>}",
     "%r = sdy.replicated_to_unreduced {\"y\"} %a out_sharding=<@mesh, [{}, {\"x\"}], "
     "unreduced={\"y\"}> : tensor<8x8xf32>",
     ""},
};

static void collectives_give_their_out_sharding(void **state) {
  (void)state;
  check_body_cases(collectives_cases, COUNT_OF(collectives_cases));
}

static void a_wrong_mesh_is_reported_with_its_uses(void **state) {
  (void)state;
  assert_fails(
      verify_text(
          "sdy.mesh @mesh = <[\"a\"=0]>\nfunc.func @f(%x: tensor<8xf32>) {\n%r = "
          "sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}]>] "
          "out_shardings=[<@mesh, [{\"a\"}]>] manual_axes={\"a\"} (%y: tensor<4xf32>) {\n"
          "sdy.return %y : tensor<4xf32>\n} : (tensor<8xf32>) -> tensor<8xf32>\nreturn\n}\n"),
      CONSTRAINT,
      "t:1:1: sdy.mesh: axis \"a\" has size 0, expected 1 or more\n"
      "t:3:6: sdy.manual_computation: operand 0: axis \"a\" has size 0, expected 1 or more");
}

// clang-format off
static const body_case other_attrs_cases[] = {
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = 1 : i64} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges is 1 : i64, expected #sdy.propagation_edges"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>", ""},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step--1 = [{\"a\" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges has step -1, expected 0 or more"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-0 -> [result-0]}]}, {step-1 = [{\"b\" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges has step 1 twice"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-0 -> [operand-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges has a source that is a target too"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-0 -> [result-0, result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges has a target twice"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-1 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges names operand 1, expected 0 or more and less than 1"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-0 -> [result-2]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges names result 2, expected 0 or more and less than 1"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"d\":(1)2 = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.propagation_edges has axis \"d\", which the mesh has not"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{\"a\" = operand-0 -> [result-0]}]}]>} : tensor<8x8xf32>",
     "stablehlo.abs: no value that sdy.propagation_edges names has a sharding"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.result_propagation_edges = [1 : i64]} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.result_propagation_edges is [1], expected a list of #sdy.propagation_edges"},
    {MESH, "%x: tensor<8x8xf32>", "%r = stablehlo.abs %x {sdy.block_arg_propagation_edges = 2 : i64} : tensor<8x8xf32>",
     "stablehlo.abs: sdy.block_arg_propagation_edges is 2 : i64, expected a list of #sdy.propagation_edges"},
    // Values that are no tensors, and ops without results.
    {MESH, "%t: tuple<tensor<8xf32>, tensor<8xf32>>",
     "%r = stablehlo.custom_call @f(%t) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tuple<tensor<8xf32>, tensor<8xf32>>",
     "stablehlo.custom_call: result 0: tuple<tensor<8xf32>, tensor<8xf32>> has a sharding, expected a tuple of size 1"},
    {MESH, "%t: tensor<8xf32>",
     "%r = stablehlo.custom_call @f(%t) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>} : (tensor<8xf32>) -> tuple<tensor<8xf32>>", ""},
    {MESH, "%t: tensor<8xf32>",
     "stablehlo.custom_call @f(%t) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>, has_side_effect = true} : (tensor<8xf32>) -> ()", ""},
    {MESH, "%t: tensor<8xf32>",
     "stablehlo.custom_call @f(%t) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>, has_side_effect = true} : (tensor<8xf32>) -> ()",
     "stablehlo.custom_call: result: there are 1 shardings, expected 0"},
    {"sdy.mesh @one = <[], device_ids=[3]>\n", "%t: tensor<8xf32>",
     "stablehlo.custom_call @f(%t) {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>, has_side_effect = true} : (tensor<8xf32>) -> ()", ""},
};

// The sharding of an operand is found at the argument of a loop or a computation, and behind
// barriers; unreduced axes may only be added as sums.
static const body_case sources_cases[] = {
    {MESH, "%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{\"a\"}>}",
     "%b = sdy.propagation_barrier %x allowed_direction=NONE : tensor<8x8xf32>\n"
     "%r = sdy.sharding_constraint %b <@mesh, [{}, {}]> : tensor<8x8xf32>", ""},
    {MESH, "%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={\"a\"}>}",
     "%r = sdy.all_reduce {\"b\"} %x out_sharding=<@mesh, [{}, {}], unreduced={\"a\", \"b\"}> : tensor<8x8xf32>",
     "sdy.all_reduce: an axis overlaps with unreduced axes of the result"},
    {MESH, "%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={\"a\"}>}",
     "%r = sdy.all_reduce {\"a\"} %x out_sharding=<@mesh, [{}, {}], unreduced={\"b\"}> : tensor<8x8xf32>",
     "sdy.all_reduce: out_sharding has unreduced axes that the operand does not have"},
    {MESH, "%x: tensor<*xf32>", "sdy.sharding_group %x group_id=1 : tensor<*xf32>",
     "sdy.sharding_group: operand is tensor<*xf32>, expected a tensor"},
    {MESH, "%x: tensor<8x8xf32>", "sdy.sharding_group %x group_id=1 : tensor<8x8xf32>", ""},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.named_computation<\"f\">(%x) in_shardings=[<@mesh, [{}, {}], unreduced={\"a\"}>] out_shardings=[<@mesh, [{}]>] (%y: tensor<8x8xf32>) {\n"
     "%s = sdy.all_reduce {\"a\"} %y out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>\nsdy.return %s : tensor<8x8xf32>\n} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.named_computation: out_shardings 0: the sharding has 1 dimensions, expected 2 as tensor<8x8xf32>"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.named_computation<\"f\">(%x) in_shardings=[<@mesh, [{}, {}], unreduced={\"a\"}>] out_shardings=[<@mesh, [{}, {}]>] (%y: tensor<8x8xf32>) {\n"
     "%s = sdy.all_reduce {\"a\"} %y out_sharding=<@mesh, [{}, {}], unreduced={\"b\"}> : tensor<8x8xf32>\nsdy.return %s : tensor<8x8xf32>\n} : (tensor<8x8xf32>) -> tensor<8x8xf32>",
     "sdy.all_reduce: out_sharding has unreduced axes that the operand does not have"},
    {MESH, "%x: tensor<8x8xf32>, %i: tensor<i1>",
     "%r = stablehlo.while(%y = %x) : tensor<8x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={\"a\"}>]>} cond {\n"
     "stablehlo.return %i : tensor<i1>\n} do {\n"
     "%s = sdy.all_reduce {\"a\"} %y out_sharding=<@mesh, [{}, {}], unreduced={\"b\"}> : tensor<8x8xf32>\nstablehlo.return %s : tensor<8x8xf32>\n}",
     "sdy.all_reduce: out_sharding has unreduced axes that the operand does not have"},
    {MESH, "%x: tensor<8x8xf32>",
     "%r = sdy.all_reduce {\"b\"} %x out_sharding=<@mesh, [{}, {}], unreduced={\"a\"}> : tensor<8x8xf32>",
     "sdy.all_reduce: out_sharding has unreduced axes that the operand does not have"},
};
// clang-format on

static void other_attributes_of_shardy_are_checked(void **state) {
  (void)state;
  check_body_cases(other_attrs_cases, COUNT_OF(other_attrs_cases));
}

static void unreduced_axes_come_from_the_operand(void **state) {
  (void)state;
  check_body_cases(sources_cases, COUNT_OF(sources_cases));
}

SUITE(sdy_ops, TEST(a_wrong_mesh_is_reported_with_its_uses),
      TEST(meshes_have_unique_axes_and_all_devices), TEST(shardings_use_each_part_of_an_axis_once),
      TEST(rules_use_each_factor), TEST(bodies_see_local_shapes),
      TEST(collectives_give_their_out_sharding), TEST(other_attributes_of_shardy_are_checked),
      TEST(unreduced_axes_come_from_the_operand))
