// Propagation: what goes where, and why.
#include <string.h>

#include "base/text_internal.h"
#include "propagate/propagate.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

static const sharded_case cases[] = {
    {"sdy-basic-propagate",
     MESH "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{\"b\"}]>}, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
          "  %0 = stablehlo.add %x, %y : tensor<8x4xf32>\n"
          "  %1 = stablehlo.tanh %0 : tensor<8x4xf32>\n"
          "  return %1 : tensor<8x4xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {\"b\"}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\", ?}, {\"b\", ?}]>}) -> (tensor<8x4xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\", ?}, {\"b\", ?}]>}) {\n"
          "  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}, {\"b\", ?}]>]>} : tensor<8x4xf32>\n"
          "  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\", "
          "?}, {\"b\", ?}]>]>} : tensor<8x4xf32>\n"
          "  return %1 : tensor<8x4xf32>\n"
          "}\n"},
    {"sdy-basic-propagate",
     MESH "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{?}]>}, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {?}]>}) "
          "-> tensor<8x4xf32> {\n"
          "  %0 = stablehlo.add %x, %y : tensor<8x4xf32>\n"
          "  return %0 : tensor<8x4xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {?}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {?}]>}) -> tensor<8x4xf32> {\n"
          "  %0 = stablehlo.add %arg0, %arg1 : tensor<8x4xf32>\n"
          "  return %0 : tensor<8x4xf32>\n"
          "}\n"},
    {"sdy-aggressive-propagate",
     MESH "func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}, %y: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}) -> tensor<8x32xf32> {\n"
          "  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
          "(tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n"
          "  return %0 : tensor<8x32xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {\"a\", "
          "?}]>}) {\n"
          "  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] "
          "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {\"a\", ?}]>]>} : "
          "(tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n"
          "  return %0 : tensor<8x32xf32>\n"
          "}\n"},
    {"sdy-op-priority-propagate",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{?}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {\"a\"}]>}) "
          "-> tensor<8x8xf32> {\n"
          "  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
          "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x8xf32>) -> "
          "tensor<8x8xf32>\n"
          "  %2 = stablehlo.add %1, %x : tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, "
          "{\"a\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}, "
          "{?}]>}) {\n"
          "  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] "
          "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {\"a\", ?}]>]>} : "
          "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}, {?}]>]>} : (tensor<8x8xf32>) -> "
          "tensor<8x8xf32>\n"
          "  %2 = stablehlo.add %1, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}, {?}]>]>} : tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-user-priority-propagate",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}p1, {?}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}p0, {?}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = stablehlo.add %x, %y : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\", "
          "?}, {?}]>}) {\n"
          "  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\", ?}, {?}]>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-user-priority-propagate{keep-sharding-rules=true}",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{?}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = stablehlo.negate %x : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", "
          "?}, {?}]>}) {\n"
          "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}, {?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) "
          "{i=8, j=8}>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"},
    {"sdy-basic-propagate",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}, "
          "%y: tensor<8xf32>) -> tensor<8xf32> {\n"
          "  %0 = stablehlo.add %y, %y : tensor<8xf32>\n"
          "  %1 = stablehlo.add %x, %0 : tensor<8xf32>\n"
          "  %2 = stablehlo.negate %x : tensor<8xf32>\n"
          "  return %2 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>}, %arg1: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\", ?}]>}) {\n"
          "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}]>]>} : tensor<8xf32>\n"
          "  return %0 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-basic-propagate",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}, "
          "%y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {\n"
          "  sdy.sharding_group %x group_id=0 : tensor<8xf32>\n"
          "  sdy.sharding_group %y group_id=0 : tensor<8xf32>\n"
          "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %y : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
          "-> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}]>}, "
          "tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}]>}) {\n"
          "  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>\n"
          "  sdy.sharding_group %arg1 group_id=0 : tensor<8xf32>\n"
          "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}]>]>} : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\", ?}]>]>} : tensor<8xf32>\n"
          "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n"
          "}\n"},
    {"sdy-basic-propagate",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
          "-> tensor<8xf32> {\n"
          "  %0 = sdy.propagation_barrier %x allowed_direction=BACKWARD : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %0 : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>}) -> tensor<8xf32> {\n"
          "  %0 = sdy.propagation_barrier %arg0 allowed_direction=BACKWARD : tensor<8xf32>\n"
          "  %1 = stablehlo.negate %0 : tensor<8xf32>\n"
          "  return %1 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-add-data-flow-edges,sdy-basic-propagate,sdy-sink-data-flow-edges",
     MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) "
          "-> tensor<8xf32> {\n"
          "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
          "  %n = stablehlo.constant dense<9> : tensor<i32>\n"
          "  %0:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<8xf32>\n"
          "    cond {\n"
          "    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
          "    stablehlo.return %1 : tensor<i1>\n"
          "  } do {\n"
          "    %2 = stablehlo.negate %v : tensor<8xf32>\n"
          "    stablehlo.return %i, %2 : tensor<i32>, tensor<8xf32>\n"
          "  }\n"
          "  return %0#1 : tensor<8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}]>}) "
          "{\n"
          "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
          "  %c_0 = stablehlo.constant dense<9> : tensor<i32>\n"
          "  %0:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0) : tensor<i32>, "
          "tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, "
          "<@mesh, [{\"a\", ?}]>]>}\n"
          "  cond {\n"
          "    %1 = stablehlo.compare LT, %iterArg, %c_0 : (tensor<i32>, tensor<i32>) -> "
          "tensor<i1>\n"
          "    stablehlo.return %1 : tensor<i1>\n"
          "  } do {\n"
          "    %1 = stablehlo.negate %iterArg_1 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}]>]>} : tensor<8xf32>\n"
          "    stablehlo.return %iterArg, %1 : tensor<i32>, tensor<8xf32>\n"
          "  }\n"
          "  return %0#1 : tensor<8xf32>\n"
          "}\n"},
    {"sdy-add-data-flow-edges,sdy-basic-propagate,sdy-sink-data-flow-edges",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{\"b\"}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\", ?}, {?}]>] "
          "out_shardings=[<@mesh, [{\"a\", ?}, {?}]>] manual_axes={\"a\"} (%y: "
          "tensor<4x8xf32>) {\n"
          "    %1 = stablehlo.negate %y : tensor<4x8xf32>\n"
          "    sdy.return %1 : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {\"b\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\", ?}, {\"b\", ?}]>}) {\n"
          "  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"a\", ?}, {\"b\", "
          "?}]>] out_shardings=[<@mesh, [{\"a\", ?}, {\"b\", ?}]>] manual_axes={\"a\"} (%arg1: "
          "tensor<4x8xf32>) {\n"
          "    %1 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{?}, {\"b\", ?}]>]>} : tensor<4x8xf32>\n"
          "    sdy.return %1 : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"},
};

// Without edges the arguments of a manual computation have the shardings of its op.
static const sharded_case manual_cases[] = {
    {"sdy-basic-propagate",
     MESH "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\", ?}, {?}]>] "
          "out_shardings=[<@mesh, [{\"a\", ?}, {?}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
          "    %1 = stablehlo.negate %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
          "{\"b\"}]>]>} : tensor<4x8xf32>\n"
          "    sdy.return %1 : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n}\n",
     MESH "func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\", ?}, {?}]>}) {\n"
          "  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\", ?}, {\"b\", ?}]>] "
          "out_shardings=[<@mesh, [{\"a\", ?}, {?}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
          "    %1 = stablehlo.negate %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
          "{\"b\"}]>]>} : tensor<4x8xf32>\n"
          "    sdy.return %1 : tensor<4x8xf32>\n"
          "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n}\n"},
};

static void manual_axes_stay_on_arguments(void **state) {
  (void)state;
  assert_sharded(manual_cases, COUNT_OF(manual_cases));
}

static const sharded_case unused_cases[] = {
    {"sdy-basic-propagate",
     MESH
     "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) {\n"
     "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : "
     "(tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
     "  return\n}\n",
     MESH
     "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) {\n"
     "  return\n}\n"},
};

static void unused_ops_go_with_their_regions(void **state) {
  (void)state;
  assert_sharded(unused_cases, COUNT_OF(unused_cases));
}

static void shardings_follow_the_program(void **state) {
  (void)state;
  assert_sharded(cases, COUNT_OF(cases));
}

// ---- watching ----

typedef struct watched {
  tsr_text text;
} watched;

static void note_event(void *context, const tsr_flow_event *event) {
  watched *w = context;
  tsr_text_addf(&w->text, "%s dim %d", event->op->name, event->dim);
  if (event->func_result >= 0) tsr_text_addf(&w->text, " of result %d", event->func_result);
  tsr_text_add(&w->text, " ");
  tsr_sdy_parts_print(event->mesh, &event->axes, &w->text);
  tsr_text_addf(&w->text, "%s level %d\n", event->source ? "" : " from several",
                event->op_priority);
}

static void watchers_see_every_gain(void **state) {
  (void)state;
  static const char program[] = MESH
      "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {?}]>})"
      " -> tensor<4x8xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"
      "  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>\n"
      "  return %1 : tensor<4x8xf32>\n}\n";
  watched w = {TSR_TEXT_EMPTY};
  const tsr_flow_how how = {
      .strategy = TSR_FLOW_AGGRESSIVE, .op_priorities = true, .watch = note_event, .context = &w};
  tsr_ir *ir = sharded_program(program);
  int64_t changes = 0;
  assert_ok(tsr_propagate(ir, &how, &changes));
  assert_int_equal(changes, 3);
  assert_string_equal(tsr_text_string(&w.text),
                      "stablehlo.negate dim 0 {\"a\"} level 0\n"
                      "stablehlo.transpose dim 1 {\"a\"} level 0\n"
                      "func.func dim 1 of result 0 {\"a\"} level 0\n");
  tsr_text_deinit(&w.text);
  tsr_ir_destroy(ir);
}

// ---- what is refused ----

static void unknown_sizes_and_tuples_are_refused(void **state) {
  (void)state;
  assert_refused(
      "sdy-basic-propagate",
      "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n",
      "in pass sdy-basic-propagate: stablehlo.negate at line 2 gives a tensor of unknown sizes");
  assert_refused("sdy-basic-propagate",
                 "func.func @main(%x: tensor<2xf32>) -> tuple<tensor<2xf32>> {\n"
                 "  %0 = stablehlo.tuple %x : tuple<tensor<2xf32>>\n"
                 "  return %0 : tuple<tensor<2xf32>>\n}\n",
                 "in pass sdy-basic-propagate: stablehlo.tuple at line 2 gives a tuple, which is "
                 "not propagated through");
}

static tsr_status read_and_propagate(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  int64_t changes = 0;
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  const tsr_flow_how how = {
      .strategy = TSR_FLOW_AGGRESSIVE, .op_priorities = true, .user_priorities = true};
  tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (!status) status = tsr_propagate(ir, &how, &changes);
  tsr_ir_destroy(ir);
  return status;
}

static void propagation_survives_every_failed_allocation(void **state) {
  (void)state;
  static char program[] = MESH
      "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}p1, {?}]>})"
      " -> tensor<8x4xf32> {\n"
      "  sdy.sharding_group %x group_id=0 : tensor<8x4xf32>\n"
      "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"
      "  return %0 : tensor<8x4xf32>\n}\n";
  test_allocation_sweep(read_and_propagate, program);
}

SUITE(flow, TEST(shardings_follow_the_program), TEST(manual_axes_stay_on_arguments),
      TEST(unused_ops_go_with_their_regions), TEST(watchers_see_every_gain),
      TEST(unknown_sizes_and_tuples_are_refused),
      TEST(propagation_survives_every_failed_allocation))
