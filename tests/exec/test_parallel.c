// interpreter.run_parallel: process i has 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3. Values are those
// of the definitions in StableHLO's specification.
#include <stdio.h>
#include <string.h>

#include "exec/runs.h"

#define ADD "%s = stablehlo.add %p, %q : tensor<i32>"
#define TWICE_LESS                                   \
  "%t = stablehlo.constant dense<2> : tensor<i32>\n" \
  "%u = stablehlo.multiply %p, %t : tensor<i32>\n"   \
  "%s = stablehlo.subtract %u, %q : tensor<i32>"
#define BODY(code) \
  "({ ^bb0(%p: tensor<i32>, %q: tensor<i32>):\n" code "\n stablehlo.return %s : tensor<i32> })"
#define CHANNEL ", channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>"
#define GLOBAL CHANNEL ", use_global_device_ids"
#define GROUPS(ids, type) "replica_groups = dense<" ids "> : tensor<" type "xi64>"
#define PAIRS(ids, type) "source_target_pairs = dense<" ids "> : tensor<" type "xi64>"
#define AXES(list)                                                                                \
  "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = "            \
  "[#stablehlo.mesh_axis<name = \"x\", size = 2>, #stablehlo.mesh_axis<name = \"y\", size = 4>]>" \
  ", axes = [" list "]>"
#define FOUR " : (tensor<4xi32>) -> tensor<4xi32>"

typedef struct parallel_case {
  int replicas, partitions, columns;  // of each result
  const char *op;                     // %r of %a
  int32_t wanted[96];
} parallel_case;

static const parallel_case cases[] = {
    {2,
     2,
     4,
     "\"stablehlo.all_reduce\"(%a) <{" GROUPS("[[0, 1]]", "1x2") "}> " BODY(ADD) FOUR,
     {8, 10, 12, 14, 16, 18, 20, 22, 8, 10, 12, 14, 16, 18, 20, 22}},
    {2,
     2,
     4,
     "\"stablehlo.all_reduce\"(%a) <{" GROUPS("[[1, 0]]", "1x2") CHANNEL "}> " BODY(ADD) FOUR,
     {24, 28, 32, 36, 24, 28, 32, 36, 24, 28, 32, 36, 24, 28, 32, 36}},
    // Values are combined in the order of the group.
    {2,
     2,
     4,
     "\"stablehlo.all_reduce\"(%a) <{" GROUPS("[[2, 0], [1, 3]]", "2x2") GLOBAL
     "}> " BODY(TWICE_LESS) FOUR,
     {16, 17, 18, 19, -4, -3, -2, -1, 16, 17, 18, 19, -4, -3, -2, -1}},
    {3,
     1,
     4,
     "\"stablehlo.all_reduce\"(%a) <{" GROUPS(
         "[[0, 2], [1, -1]]", "2x2") "}> " BODY("%s = stablehlo.maximum %p, %q : tensor<i32>") FOUR,
     {8, 9, 10, 11, 4, 5, 6, 7, 8, 9, 10, 11}},
    {1,
     8,
     4,
     "\"stablehlo.all_reduce\"(%a) <{" AXES(
         "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (2)2>") GLOBAL "}> " BODY(ADD) FOUR,
     {4,  6,  8,  10, 4,  6,  8,  10, 20, 22, 24, 26, 20, 22, 24, 26,
      36, 38, 40, 42, 36, 38, 40, 42, 52, 54, 56, 58, 52, 54, 56, 58}},
    {1,
     8,
     4,
     "\"stablehlo.all_reduce\"(%a) <{" AXES("#stablehlo.axis_ref<name = \"x\">") GLOBAL
     "}> " BODY(TWICE_LESS) FOUR,
     {-16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1,
      -16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1}},
    {2,
     2,
     16,
     "\"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, " GROUPS("[[1, 0]]", "1x2") CHANNEL
     "}> : (tensor<4xi32>) -> tensor<16xi32>",
     {8, 9, 10, 11, 0,  1,  2,  3,  12, 13, 14, 15, 4,  5,  6,  7,  8, 9, 10, 11, 0,  1,
      2, 3, 12, 13, 14, 15, 4,  5,  6,  7,  8,  9,  10, 11, 0,  1,  2, 3, 12, 13, 14, 15,
      4, 5, 6,  7,  8,  9,  10, 11, 0,  1,  2,  3,  12, 13, 14, 15, 4, 5, 6,  7}},
    {2,
     2,
     8,
     "\"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, " GROUPS("[[3, 0], [1, 2]]", "2x2")
         GLOBAL "}> : (tensor<4xi32>) -> tensor<8xi32>",
     {12, 13, 14, 15, 0, 1, 2,  3,  4,  5,  6,  7,  8, 9, 10, 11,
      4,  5,  6,  7,  8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2,  3}},
    {2,
     2,
     4,
     "\"stablehlo.all_to_all\"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, " GROUPS("[[1, 0]]", "1x2") CHANNEL "}>" FOUR,
     {6, 7, 2, 3, 4, 5, 0, 1, 14, 15, 10, 11, 12, 13, 8, 9}},
    {2,
     2,
     4,
     "\"stablehlo.all_to_all\"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, " GROUPS("[[0, 1]]", "1x2") "}>" FOUR,
     {0, 1, 8, 9, 4, 5, 12, 13, 2, 3, 10, 11, 6, 7, 14, 15}},
    {1,
     3,
     4,
     "\"stablehlo.collective_broadcast\"(%a) <{" GROUPS("[[2, 0]]", "1x2") CHANNEL "}>" FOUR,
     {8, 9, 10, 11, 0, 0, 0, 0, 8, 9, 10, 11}},
    {2,
     2,
     4,
     "\"stablehlo.collective_broadcast\"(%a) <{" GROUPS("[[1, 0]]", "1x2") "}>" FOUR,
     {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15}},
    {2,
     1,
     4,
     "\"stablehlo.collective_broadcast\"(%a, %one) <{has_dynamic_root, " GROUPS(
         "[[0, 1]]", "1x2") "}> : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>",
     {4, 5, 6, 7, 4, 5, 6, 7}},
    {2,
     2,
     4,
     "\"stablehlo.collective_reduce\"(%a) <{" GROUPS("[[1, 0], [2, 3]]", "2x2") GLOBAL
     "}> " BODY(ADD) FOUR,
     {0, 0, 0, 0, 4, 6, 8, 10, 20, 22, 24, 26, 0, 0, 0, 0}},
    {3,
     1,
     4,
     "\"stablehlo.collective_reduce\"(%a, %one) <{has_dynamic_root, " GROUPS(
         "[[1, 0]]", "1x2") "}> " BODY(ADD) " : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>",
     {4, 6, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0}},
    {2,
     2,
     2,
     "\"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 0 : i64, " GROUPS(
         "[[2, 0], [1, 3]]", "2x2") GLOBAL "}> " BODY(ADD) " : (tensor<4xi32>) -> tensor<2xi32>",
     {12, 14, 16, 18, 8, 10, 20, 22}},
    {2,
     2,
     1,
     "\"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 0 : i64, " GROUPS("[[0, 1]]", "1x2")
         CHANNEL "}> " BODY(ADD) " : (tensor<4xi32>) -> tensor<1xi32>",
     {24, 32, 28, 36}},
    {3,
     2,
     4,
     "\"stablehlo.collective_permute\"(%a) <{" PAIRS("[[0, 1], [1, 2]]", "2x2") "}>" FOUR,
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
    {2,
     3,
     4,
     "\"stablehlo.collective_permute\"(%a) <{" PAIRS("[[0, 1], [1, 0]]", "2x2") CHANNEL "}>" FOUR,
     {4, 5, 6, 7, 0, 1, 2, 3, 0, 0, 0, 0, 16, 17, 18, 19, 12, 13, 14, 15, 0, 0, 0, 0}},
};

static void add_list(char *text, size_t size, int count, const char *format) {
  for (int i = 0; i < count; i++) {
    const size_t at = strlen(text);
    if (i) snprintf(text + at, size - at, ", ");
    const size_t then = strlen(text);
    snprintf(text + then, size - then, format, i);
  }
}

// The module of a case. With `other` every second program is another function with the same body.
static const char *text_of(const parallel_case *c, bool other) {
  static char text[16384], operands[1024], types[2048], results[2048], programs[1024];
  const int count = c->replicas * c->partitions;
  *operands = *types = *results = *programs = '\0';
  add_list(operands, sizeof operands, count, "%%a%d");
  add_list(types, sizeof types, count, "tensor<4xi32>");
  for (int i = 0; i < count; i++) {
    const size_t at = strlen(programs), then = strlen(results);
    snprintf(programs + at, sizeof programs - at, "%s@%s%s", i % c->partitions ? ", " : "[",
             other && i % 2 ? "g" : "f",
             i % c->partitions < c->partitions - 1 ? ""
             : i < count - 1                       ? "], "
                                                   : "]");
    snprintf(results + then, sizeof results - then, "%stensor<%dxi32>", i ? ", " : "", c->columns);
  }
  snprintf(text, sizeof text, "func.func @main(");
  for (int i = 0; i < count; i++) {
    const size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s%%a%d: tensor<4xi32>", i ? ", " : "", i);
  }
  const size_t at = strlen(text);
  snprintf(text + at, sizeof text - at,
           ") -> (%s) {\n%%r:%d = \"interpreter.run_parallel\"(%s) {programs = [%s]} : (%s) -> "
           "(%s)\nreturn ",
           results, count, operands, programs, types, results);
  add_list(text, sizeof text, count, "%%r#%d");
  for (int i = 0; i < 2; i++) {
    const size_t end = strlen(text);
    if (!i) snprintf(text + end, sizeof text - end, " : %s\n}\n", results);
    const size_t next = strlen(text);
    snprintf(text + next, sizeof text - next,
             "func.func @%s(%%a: tensor<4xi32>) -> tensor<%dxi32> {\n"
             "%%one = stablehlo.constant dense<1> : tensor<1xi32>\n%%r = %s\n"
             "return %%r : tensor<%dxi32>\n}\n",
             i ? "g" : "f", c->columns, c->op, c->columns);
  }
  return text;
}

static void run_case(const parallel_case *c, bool other, int workers) {
  enum { MOST = 8 };
  const int count = c->replicas * c->partitions;
  int32_t in[MOST][4], out[MOST][96];
  const void *inputs[MOST];
  void *outputs[MOST];
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 4; k++) in[i][k] = 4 * i + k;
    inputs[i] = in[i];
    outputs[i] = out[i];
  }
  TSR_OWN(executable, executable);
  executable = compile_text(text_of(c, other), workers);
  assert_ok(tsr_executable_run(executable, inputs, outputs));
  for (int i = 0; i < count; i++)
    for (int k = 0; k < c->columns; k++)
      if (out[i][k] != c->wanted[i * c->columns + k])
        fail_msg("case %d, %s: element %d of process %d is %d, expected %d", (int)(c - cases),
                 other ? "two functions" : "one function", k, i, out[i][k],
                 c->wanted[i * c->columns + k]);
}

static void collectives_follow_the_specification(void **state) {
  (void)state;
  static const int workers[] = {1, 2, 5};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    for (size_t w = 0; w < COUNT_OF(workers); w++) {
      run_case(&cases[i], false, workers[w]);
      run_case(&cases[i], true, workers[w]);
    }
}

// ---- programs of their own ----

// Runs a module whose main takes nothing and checks its values itself.
static void run_checks(const char *text) { run_text(text, NULL, NULL); }

#define TOKEN "!stablehlo.token"
#define SEND(value, channel)                                             \
  "\"stablehlo.send\"(" value                                            \
  ", %t) <{channel_handle = #stablehlo.channel_handle<handle = " channel \
  ", type = 2>, is_host_transfer = true}> : (tensor<2xi32>, " TOKEN ") -> " TOKEN "\n"
#define RECV(channel)                                                                     \
  "\"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = " channel \
  ", type = 3>, is_host_transfer = true}> : (" TOKEN ") -> (tensor<2xi32>, " TOKEN ")\n"

static void values_are_sent_in_order_on_each_channel(void **state) {
  (void)state;
  run_checks(
      "func.func @a(%x: tensor<2xi32>, %t: " TOKEN ") {\n"
      "%c = stablehlo.constant dense<[5, 6]> : tensor<2xi32>\n"
      "%0 = " SEND("%x", "1") "%1 = " SEND("%c", "1") "return\n}\n"
      "func.func @b(%t: " TOKEN ") -> tensor<2xi32> {\n"
      "%0:2 = " RECV("1") "%1:2 = " RECV("1")
      "%2 = stablehlo.subtract %0#0, %1#0 : tensor<2xi32>\n%3 = " SEND("%2", "9")
      "return %2 : tensor<2xi32>\n}\n"
      "func.func @c(%t: " TOKEN ") -> tensor<2xi32> {\n%0:2 = " RECV("9")
      "return %0#0 : tensor<2xi32>\n}\n"
      "func.func @main() {\n%x = stablehlo.constant dense<[1, 20]> : tensor<2xi32>\n"
      "%t = stablehlo.after_all : " TOKEN "\n"
      "%r:2 = \"interpreter.run_parallel\"(%t, %x, %t, %t) {programs = [[@c], [@a], [@b]]} : "
      "(" TOKEN ", tensor<2xi32>, " TOKEN ", " TOKEN ") -> (tensor<2xi32>, tensor<2xi32>)\n"
      "check.expect_eq_const %r#0, dense<[-4, 14]> : tensor<2xi32>\n"
      "check.expect_eq_const %r#1, dense<[-4, 14]> : tensor<2xi32>\nreturn\n}\n");
}

static void the_infeed_is_taken_in_the_order_of_processes(void **state) {
  (void)state;
  run_checks(
      "func.func @f(%t: " TOKEN ") -> (tensor<2xi32>, " TOKEN
      ") {\n"
      "%0:2 = \"stablehlo.infeed\"(%t) : (" TOKEN ") -> (tensor<2xi32>, " TOKEN
      ")\n"
      "%1 = \"stablehlo.outfeed\"(%0#0, %0#1) : (tensor<2xi32>, " TOKEN ") -> " TOKEN
      "\n"
      "return %0#0, %1 : tensor<2xi32>, " TOKEN
      "\n}\n"
      "func.func @one() -> tensor<2xi32> {\n%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
      "return %c : tensor<2xi32>\n}\n"
      "func.func @two() -> tensor<2xi32> {\n%c = stablehlo.iota dim = 0 : tensor<2xi32>\n"
      "return %c : tensor<2xi32>\n}\n"
      "func.func @main() {\n%t = stablehlo.after_all : " TOKEN
      "\n"
      "%r:4 = \"interpreter.run_parallel\"(%t, %t) {infeed = [@one, @two], programs = [[@f, @f]]} "
      ": "
      "(" TOKEN ", " TOKEN ") -> (tensor<2xi32>, " TOKEN ", tensor<2xi32>, " TOKEN
      ")\n"
      "check.expect_eq_const %r#0, dense<[1, 2]> : tensor<2xi32>\n"
      "check.expect_eq_const %r#2, dense<[0, 1]> : tensor<2xi32>\nreturn\n}\n");
}

// Each process turns as often as its id says, with carries that change places, and takes a branch.
static void processes_may_take_other_ways(void **state) {
  (void)state;
  run_checks(
      "func.func @f(%x: tensor<300xi32>, %y: tensor<300xi32>) -> (tensor<300xi32>, "
      "tensor<300xi32>) "
      "{\n%id = stablehlo.replica_id : tensor<ui32>\n"
      "%n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n"
      "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%w:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<300xi32>, "
      "tensor<300xi32>\ncond {\n%c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\nstablehlo.return %c : tensor<i1>\n} do {\n"
      "%j = stablehlo.add %i, %one : tensor<i32>\n"
      "%s = stablehlo.add %a, %b : tensor<300xi32>\n"
      "stablehlo.return %j, %b, %s : tensor<i32>, tensor<300xi32>, tensor<300xi32>\n}\n"
      "%k = \"stablehlo.case\"(%n) ({\nstablehlo.return %w#1 : tensor<300xi32>\n}, {\n"
      "%d = stablehlo.add %w#1, %w#1 : tensor<300xi32>\nstablehlo.return %d : tensor<300xi32>\n}, "
      "{\n%d = stablehlo.negate %w#2 : tensor<300xi32>\nstablehlo.return %d : tensor<300xi32>\n}) "
      ": "
      "(tensor<i32>) -> tensor<300xi32>\n"
      "return %k, %w#2 : tensor<300xi32>, tensor<300xi32>\n}\n"
      "func.func @main() {\n%x = stablehlo.constant dense<1> : tensor<300xi32>\n"
      "%y = stablehlo.constant dense<10> : tensor<300xi32>\n"
      "%r:8 = \"interpreter.run_parallel\"(%x, %y, %x, %y, %x, %y, %x, %y) {programs = [[@f], "
      "[@f], "
      "[@f], [@f]]} : (tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, "
      "tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) -> (tensor<300xi32>, "
      "tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, "
      "tensor<300xi32>, tensor<300xi32>)\n"
      "check.expect_eq_const %r#0, dense<1> : tensor<300xi32>\n"
      "check.expect_eq_const %r#1, dense<10> : tensor<300xi32>\n"
      "check.expect_eq_const %r#2, dense<20> : tensor<300xi32>\n"
      "check.expect_eq_const %r#3, dense<11> : tensor<300xi32>\n"
      "check.expect_eq_const %r#4, dense<-21> : tensor<300xi32>\n"
      "check.expect_eq_const %r#5, dense<21> : tensor<300xi32>\n"
      "check.expect_eq_const %r#6, dense<-32> : tensor<300xi32>\n"
      "check.expect_eq_const %r#7, dense<32> : tensor<300xi32>\nreturn\n}\n");
}

// ---- refusals ----

#define MAIN(programs)                                                       \
  "func.func @main(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {\n" \
  "%r:2 = \"interpreter.run_parallel\"(%x, %x) {programs = " programs        \
  "} : (tensor<2xi32>, "                                                     \
  "tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)\n"                       \
  "return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>\n}\n"
#define FUNCTION(name, code) \
  "func.func @" name "(%a: tensor<2xi32>) -> tensor<2xi32> {\n" code "}\n"
#define REDUCE(groups, op)                      \
  "%r = \"stablehlo.all_reduce\"(%a) <{" groups \
  "}> " BODY(op) " : (tensor<2xi32>) -> tensor<2xi32>\nreturn %r : tensor<2xi32>\n"
#define BOTH GROUPS("[[0, 1]]", "1x2")

static const struct {
  const char *text, *failure;
} refused[] = {
    {MAIN("[[@f], [@g]]") FUNCTION("f", REDUCE(BOTH, ADD))
         FUNCTION("g", "return %a : tensor<2xi32>\n"),
     "interpreter.run_parallel: its programs wait for each other: (0, 0) at stablehlo.all_reduce "
     "of "
     "line 6 for (1, 0), which has ended"},
    {MAIN("[[@f], [@g]]") FUNCTION("f", REDUCE(BOTH, ADD))
         FUNCTION("g", REDUCE(BOTH, "%s = stablehlo.multiply %p, %q : tensor<i32>")),
     "stablehlo.all_reduce at lines 6 of @f and 12 of @g: their computations differ"},
    {MAIN("[[@f], [@f]]") FUNCTION("f", REDUCE(GROUPS("[[0, 1, 2]]", "1x3"), ADD)),
     "stablehlo.all_reduce: replica 2 is in its groups, the run has 2 of them"},
    {MAIN("[[@f, @f]]") FUNCTION("f", REDUCE(GROUPS("[[0]]", "1x1") GLOBAL, ADD)),
     "stablehlo.all_reduce: process 1 is in none of its groups"},
};

static void what_cannot_be_matched_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    TSR_OWN(program, program);
    TSR_OWN(executable, executable);
    assert_ok(tsr_program_read("test", refused[i].text, strlen(refused[i].text), NULL, &program));
    assert_fails(tsr_executable_compile(program, NULL, &executable), CONSTRAINT,
                 refused[i].failure);
  }
}

static void a_collective_that_some_do_not_reach_is_refused(void **state) {
  (void)state;
  static const char text[] =
      MAIN("[[@f], [@f]]") "func.func @f(%a: tensor<2xi32>) -> tensor<2xi32> {\n"
      "%id = stablehlo.replica_id : tensor<ui32>\n"
      "%n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n"
      "%r = \"stablehlo.case\"(%n) ({\nstablehlo.return %a : tensor<2xi32>\n}, {\n"
      "%v = \"stablehlo.all_reduce\"(%a) <{" BOTH "}> " BODY(ADD)
      " : (tensor<2xi32>) -> tensor<2xi32>\nstablehlo.return %v : tensor<2xi32>\n}) : "
      "(tensor<i32>) -> tensor<2xi32>\nreturn %r : tensor<2xi32>\n}\n";
  const int32_t in[2] = {1, 2};
  int32_t out[2][2];
  TSR_OWN(executable, executable);
  executable = compile_text(text, 1);
  assert_fails(tsr_executable_run(executable, IN(in), OUT_TO(out[0], out[1])), UNSUPPORTED,
               "stablehlo.all_reduce at line 11: stands in a loop or branch that device 0 does not "
               "take with the others");
}

// ---- memory ----

static tsr_status compile_one(void *context) {
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  TSR_TRY(tsr_program_read("test", context, strlen(context), NULL, &program));
  return tsr_executable_compile(program, NULL, &executable);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(compile_one, (void *)(uintptr_t)text_of(&cases[2], false));
  test_allocation_sweep(compile_one, (void *)(uintptr_t)text_of(&cases[4], true));
  test_allocation_sweep(compile_one, (void *)(uintptr_t)text_of(&cases[17], true));
}

SUITE(parallel, TEST(collectives_follow_the_specification),
      TEST(values_are_sent_in_order_on_each_channel),
      TEST(the_infeed_is_taken_in_the_order_of_processes), TEST(processes_may_take_other_ways),
      TEST(what_cannot_be_matched_is_refused), TEST(a_collective_that_some_do_not_reach_is_refused),
      TEST(every_allocation_may_fail))
