// Programs of six devices on one to four ranks, which are threads here: every device gets the bytes
// that it gets in one process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/runs.h"
#include "exec/shard_run.h"
#include "support/ranks.h"
#include "tessera/engine/collectives.h"
#include "tessera/program.h"

enum { DEVICES = 6, SHARD = 1024 };  // bytes of a shard, at least

#define CHANNEL "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
#define GROUPS(rows, shape) \
  "replica_groups = dense<" rows "> : tensor<" shape "xi64>, use_global_device_ids"
#define ALL GROUPS("[[0, 1, 2, 3, 4, 5]]", "1x6")
#define BODY(type, op)                             \
  "({ ^bb0(%p: tensor<" type ">, %q: tensor<" type \
  ">):\n"                                          \
  "%s = stablehlo." op " %p, %q : tensor<" type    \
  ">\n"                                            \
  "stablehlo.return %s : tensor<" type "> })"

// The program of one device: %a is 2 x 4 of 12 x 4, and it returns %r.
typedef struct rank_case {
  const char *element;  // of %a
  const char *result;   // of a device; the whole result has six times its rows
  int rows;
  const char *body;
} rank_case;

static const rank_case cases[] = {
    {"f32", "4xf32", 2,
     "%r = \"stablehlo.all_reduce\"(%a) <{" CHANNEL ", " ALL
     "}> " BODY("f32", "add") " : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"},
    {"bf16", "4xbf16", 2,
     "%r = \"stablehlo.all_reduce\"(%a) <{" CHANNEL
     ", " GROUPS("[[0, 5, 2], [1, 3, 4]]", "2x3") "}> " BODY(
         "bf16", "add") " : (tensor<2x4xbf16>) -> tensor<2x4xbf16>\n"},
    {"i32", "4xi32", 2,
     "%r = \"stablehlo.all_reduce\"(%a) <{" CHANNEL
     ", " GROUPS("[[0, 1], [2, 3], [4, 5]]", "3x2") "}> " BODY(
         "i32", "xor") " : (tensor<2x4xi32>) -> tensor<2x4xi32>\n"},
    {"f32", "4xf32", 2,  // a body of two ops
     "%r = \"stablehlo.all_reduce\"(%a) <{" CHANNEL ", " ALL
     "}> ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
     "%s = stablehlo.add %p, %q : tensor<f32>\n %t = stablehlo.maximum %s, %q : tensor<f32>\n"
     "stablehlo.return %t : tensor<f32> }) : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"},
    {"f32", "4xf32", 2,  // two values in one step; the second is the same on all devices
     "%c = stablehlo.constant dense<0.1> : tensor<2x4xf32>\n"
     "%x:2 = \"stablehlo.all_reduce\"(%a, %c) <{" CHANNEL
     ", " GROUPS("[[3, 4, 5], [0, 1, 2]]", "2x3") "}> " BODY(
         "f32", "add") " : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, "
                       "tensor<2x4xf32>)\n"
                       "%r = stablehlo.multiply %x#0, %x#1 : tensor<2x4xf32>\n"},
    {"f32", "2xf32", 2,
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, " CHANNEL
     ", " GROUPS("[[0, 3], [1, 4], [2, 5]]", "3x2") "}> " BODY(
         "f32", "add") " : (tensor<2x4xf32>) -> tensor<2x2xf32>\n"},
    {"f16", "4xf16", 1,
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 0 : i64, " CHANNEL
     ", " GROUPS("[[0, 1], [2, 3], [5, 4]]", "3x2") "}> " BODY(
         "f16", "add") " : (tensor<2x4xf16>) -> tensor<1x4xf16>\n"},
    {"i32", "12xi32", 2,
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, " CHANNEL
     ", " GROUPS("[[0, 2, 4], [5, 1, 3]]", "2x3") "}> : (tensor<2x4xi32>) -> tensor<2x12xi32>\n"},
    {"i32", "4xi32", 12,
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, " CHANNEL ", " ALL
     "}> : (tensor<2x4xi32>) -> tensor<12x4xi32>\n"},
    {"i32", "8xi32", 1,
     "%r = \"stablehlo.all_to_all\"(%a) <{" CHANNEL
     ", split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, "
     "replica_groups = dense<[[0, 4], [1, 5], [2, 3]]> : tensor<3x2xi64>}> : (tensor<2x4xi32>) -> "
     "tensor<1x8xi32>\n"},
    {"i32", "4xi32", 2,  // devices 3 and 4 get zeros
     "%r = \"stablehlo.collective_permute\"(%a) <{" CHANNEL
     ", source_target_pairs = dense<[[0, 5], [1, 0], [2, 1], [5, 2]]> : tensor<4x2xi64>}> "
     ": (tensor<2x4xi32>) -> tensor<2x4xi32>\n"},
    {"i32", "4xi32", 2,
     "%r = \"stablehlo.collective_broadcast\"(%a) <{" CHANNEL
     ", replica_groups = dense<[[1, 0, 3], [5, 4, 2]]> : tensor<2x3xi64>}> : (tensor<2x4xi32>) -> "
     "tensor<2x4xi32>\n"},
    {"f32", "4xf32", 2,  // a loop that ends by a sum over all, with a ring inside
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%five = stablehlo.constant dense<5> : tensor<i32>\n"
     "%l:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<2x4xf32>\n"
     "cond { %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %c : tensor<i1> } do {\n"
     "%n = \"stablehlo.collective_permute\"(%v) <{" CHANNEL
     ", source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]]> : "
     "tensor<6x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
     "%m = stablehlo.add %n, %a : tensor<2x4xf32>\n %j = stablehlo.add %i, %one : tensor<i32>\n"
     "stablehlo.return %j, %m : tensor<i32>, tensor<2x4xf32> }\n"
     "%r = stablehlo.negate %l#1 : tensor<2x4xf32>\n"},
    {"f32", "4xf32", 2,  // devices take different branches, and different numbers of turns
     "%id = stablehlo.partition_id : tensor<ui32>\n"
     "%k = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n"
     "%first = stablehlo.slice %a [0:1, 0:1] : (tensor<2x4xf32>) -> tensor<1x1xf32>\n"
     "%f = stablehlo.reshape %first : (tensor<1x1xf32>) -> tensor<f32>\n"
     "%w = stablehlo.convert %f : (tensor<f32>) -> tensor<i32>\n"
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%l:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<2x4xf32>\n"
     "cond { %c = stablehlo.compare LT, %i, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %c : tensor<i1> } do {\n"
     "%m = stablehlo.add %v, %a : tensor<2x4xf32>\n %j = stablehlo.add %i, %one : tensor<i32>\n"
     "stablehlo.return %j, %m : tensor<i32>, tensor<2x4xf32> }\n"
     "%r = \"stablehlo.case\"(%w) ({ stablehlo.return %l#1 : tensor<2x4xf32> }, {\n"
     "%n = stablehlo.multiply %l#1, %a : tensor<2x4xf32>\n stablehlo.return %n : tensor<2x4xf32> })"
     " : (tensor<i32>) -> tensor<2x4xf32>\n"},
};

static void print_program(const rank_case *c, char *out, size_t size) {
  snprintf(out, size,
           "sdy.mesh @mesh = <[\"x\"=2, \"y\"=3]>\n"
           "func.func @main(%%A: tensor<12x4x%s>) -> tensor<%dx%s> {\n"
           "%%0 = sdy.manual_computation(%%A) in_shardings=[<@mesh, [{\"x\", \"y\"}, {}]>] "
           "out_shardings=[<@mesh, [{\"x\", \"y\"}, {}]>] manual_axes={\"x\", \"y\"} (%%a: "
           "tensor<2x4x%s>) {\n%s sdy.return %%r : tensor<%dx%s>\n} : (tensor<12x4x%s>) -> "
           "tensor<%dx%s>\n return %%0 : tensor<%dx%s>\n}\n",
           c->element, DEVICES * c->rows, c->result, c->element, c->body, c->rows, c->result,
           c->element, DEVICES * c->rows, c->result, DEVICES * c->rows, c->result);
}

typedef struct rank_test {
  const char *text, *other;  // `other` is that of rank 1; NULL = the same
  char inputs[DEVICES][SHARD], wanted[DEVICES][SHARD], outputs[DEVICES][SHARD];
} rank_test;

static tsr_status run_shards(rank_test *t, const char *text, tsr_comm *comm,
                             char outputs[DEVICES][SHARD]) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  const void *in[DEVICES] = {NULL};
  void *out[DEVICES] = {NULL};
  options.comm = comm;
  options.workers = comm ? 0 : 1;
  TSR_TRY(tsr_program_read("test", text, strlen(text), NULL, &program));
  TSR_TRY(tsr_executable_compile(program, &options, &executable));
  for (int i = 0; i < DEVICES; i++) {
    if (comm && tsr_comm_local_index(comm, i) < 0) continue;
    in[i] = t->inputs[i];
    out[i] = outputs[i];
  }
  TSR_TRY(tsr_executable_run_shards(executable, in, out));
  return tsr_executable_run_shards(executable, in, out);
}

static tsr_status run_rank(void *context, tsr_comm *comm) {
  rank_test *t = context;
  const bool other = t->other && tsr_comm_rank(comm) == 1;
  return run_shards(t, other ? t->other : t->text, comm, t->outputs);
}

// Small numbers that are not whole, in whatever type.
static void fill_inputs(rank_test *t, const char *element) {
  test_random random = {11};
  for (int d = 0; d < DEVICES; d++)
    for (int i = 0; i < 8; i++) {
      const float number = (float)test_random_range(&random, 0, 1999) * 1e-3F;
      if (!strcmp(element, "i32"))
        ((int32_t *)(void *)t->inputs[d])[i] = (int32_t)test_random_range(&random, -99, 99);
      else if (!strcmp(element, "f32"))
        ((float *)(void *)t->inputs[d])[i] = number;
      else  // bits of small numbers of both types of two bytes
        ((uint16_t *)(void *)t->inputs[d])[i] =
            (uint16_t)test_random_range(&random, 0x3c00, 0x3fff);
    }
}

static const int64_t firsts[4][5] = {{0, 6}, {0, 3, 6}, {0, 1, 5, 6}, {0, 2, 3, 5, 6}};

// Memory after the result keeps what was there.
static void check_case(const rank_case *c) {
  static rank_test t;
  char text[8192];
  t = (rank_test){.text = text};
  print_program(c, text, sizeof text);
  fill_inputs(&t, c->element);
  memset(t.wanted, 0xcd, sizeof t.wanted);
  assert_ok(run_shards(&t, text, NULL, t.wanted));
  for (int ranks = 1; ranks <= 4; ranks++) {
    memset(t.outputs, 0xcd, sizeof t.outputs);
    assert_ok(test_ranks_run(ranks, firsts[ranks - 1], run_rank, &t));
    for (int d = 0; d < DEVICES; d++)
      if (memcmp(t.outputs[d], t.wanted[d], SHARD) != 0)
        fail_msg("%s\n%d ranks: other bytes on device %d", text, ranks, d);
  }
}

static void ranks_give_the_bytes_of_one_process(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) check_case(&cases[i]);
}

// ---- large sums ----

enum { LARGE = 4 * 10007 };  // numbers of a shard

typedef struct large_sum {
  const char *text;
  float *inputs[DEVICES], *outputs[DEVICES];
} large_sum;

static tsr_status sum_large(void *context, tsr_comm *comm) {
  const large_sum *l = context;
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  const void *in[DEVICES] = {NULL};
  void *out[DEVICES] = {NULL};
  options.comm = comm;
  TSR_TRY(tsr_program_read("test", l->text, strlen(l->text), NULL, &program));
  TSR_TRY(tsr_executable_compile(program, &options, &executable));
  for (int i = 0; i < DEVICES; i++)
    if (!comm || tsr_comm_local_index(comm, i) >= 0) {
      in[i] = l->inputs[i];
      out[i] = l->outputs[i];
    }
  return tsr_executable_run_shards(executable, in, out);
}

static void check_large(const char *groups) {
  char text[4096];
  float *wanted[DEVICES];
  large_sum l = {.text = text};
  test_random random = {5};
  snprintf(text, sizeof text,
           "sdy.mesh @mesh = <[\"d\"=6]>\n"
           "func.func @main(%%A: tensor<%dxf32>) -> tensor<%dxf32> {\n"
           "%%0 = sdy.manual_computation(%%A) in_shardings=[<@mesh, [{\"d\"}]>] "
           "out_shardings=[<@mesh, [{\"d\"}]>] manual_axes={\"d\"} (%%a: tensor<%dxf32>) {\n"
           "%%r = \"stablehlo.all_reduce\"(%%a) <{" CHANNEL
           ", %s}> %s : (tensor<%dxf32>) -> tensor<%dxf32>\n"
           "sdy.return %%r : tensor<%dxf32>\n} : (tensor<%dxf32>) -> tensor<%dxf32>\n"
           "return %%0 : tensor<%dxf32>\n}\n",
           6 * LARGE, 6 * LARGE, LARGE, groups, BODY("f32", "add"), LARGE, LARGE, LARGE, 6 * LARGE,
           6 * LARGE, 6 * LARGE);
  for (int d = 0; d < DEVICES; d++) {
    l.inputs[d] = malloc(LARGE * sizeof(float));
    l.outputs[d] = wanted[d] = calloc(LARGE, sizeof(float));
    assert_true(l.inputs[d] && wanted[d]);
    for (int i = 0; i < LARGE; i++)
      l.inputs[d][i] = (float)test_random_range(&random, -9999, 9999) * 1e-3F;
  }
  assert_ok(sum_large(&l, NULL));
  for (int d = 0; d < DEVICES; d++) l.outputs[d] = calloc(LARGE, sizeof(float));
  for (int ranks = 2; ranks <= 4; ranks++) {
    for (int d = 0; d < DEVICES; d++) memset(l.outputs[d], 0xcd, LARGE * sizeof(float));
    assert_ok(test_ranks_run(ranks, firsts[ranks - 1], sum_large, &l));
    for (int d = 0; d < DEVICES; d++)
      assert_memory_equal(l.outputs[d], wanted[d], LARGE * sizeof(float));
  }
  for (int d = 0; d < DEVICES; d++) {
    free(l.inputs[d]);
    free(l.outputs[d]);
    free(wanted[d]);
  }
}

// Each rank makes a slice of them.
static void large_sums_are_shared_by_ranks(void **state) {
  (void)state;
  check_large(ALL);
  check_large(GROUPS("[[0, 2, 4], [1, 3, 5]]", "2x3"));
}

// ---- refusals ----

static rank_test *test_of(const char *text, const char *other) {
  static rank_test t;
  t = (rank_test){.text = text, .other = other};
  return &t;
}

static void ranks_compare_programs(void **state) {
  static const rank_case a = {"f32", "4xf32", 2, "%r = stablehlo.negate %a : tensor<2x4xf32>\n"};
  static const rank_case b = {"f32", "4xf32", 2, "%r = stablehlo.abs %a : tensor<2x4xf32>\n"};
  char first[4096], second[4096];
  (void)state;
  print_program(&a, first, sizeof first);
  print_program(&b, second, sizeof second);
  assert_fails_with(test_ranks_run(3, firsts[2], run_rank, test_of(first, second)), COMM_MISMATCH,
                    "ranks 0, 2 ask for line 5, %1 = stablehlo.negate %arg1 : tensor<2x4xf32>; "
                    "rank 1 asks for line 5, %1 = stablehlo.abs");
}

// Each device would leave the loop by itself.
static void devices_that_meet_choose_alike(void **state) {
  static const rank_case c = {
      "f32", "4xf32", 2,
      "%id = stablehlo.partition_id : tensor<ui32>\n"
      "%k = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n"
      "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%l:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<2x4xf32>\n"
      "cond { %c = stablehlo.compare LT, %i, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %c : tensor<i1> } do {\n"
      "%m = \"stablehlo.all_reduce\"(%v) <{" CHANNEL ", " ALL "}> " BODY(
          "f32", "add") " : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
                        " %j = stablehlo.add %i, %one : tensor<i32>\n"
                        "stablehlo.return %j, %m : tensor<i32>, tensor<2x4xf32> }\n"
                        "%r = stablehlo.negate %l#1 : tensor<2x4xf32>\n"};
  char text[4096];
  (void)state;
  print_program(&c, text, sizeof text);
  assert_fails_with(test_ranks_run(2, firsts[1], run_rank, test_of(text, NULL)), UNSUPPORTED,
                    "stablehlo.while at line 8: holds steps in which all devices meet, and devices "
                    "of ranks 0 and 0 take different ways in it");
}

static void whole_programs_stay_in_one_process(void **state) {
  static const char whole[] =
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }\n";
  (void)state;
  assert_fails_with(test_ranks_run(2, firsts[1], run_rank, test_of(whole, NULL)), UNSUPPORTED,
                    "a program runs on several ranks once it is partitioned for their devices");
}

static tsr_status run_on_tensors(void *context, tsr_comm *comm) {
  const rank_test *t = context;
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  char in[SHARD] = {0}, out[SHARD];
  options.comm = comm;
  TSR_TRY(tsr_program_read("test", t->text, strlen(t->text), NULL, &program));
  TSR_TRY(tsr_executable_compile(program, &options, &executable));
  return tsr_executable_run(executable, IN(in), OUT_TO(out));
}

static void tensors_are_not_whole_on_ranks(void **state) {
  static const rank_case c = {"f32", "4xf32", 2, "%r = stablehlo.negate %a : tensor<2x4xf32>\n"};
  char text[4096];
  (void)state;
  print_program(&c, text, sizeof text);
  assert_fails_with(test_ranks_run(2, firsts[1], run_on_tensors, test_of(text, NULL)), BAD_ARGUMENT,
                    "an executable on several ranks takes the shards of its devices");
}

SUITE(rank_runs, TEST(ranks_give_the_bytes_of_one_process), TEST(large_sums_are_shared_by_ranks),
      TEST(ranks_compare_programs), TEST(devices_that_meet_choose_alike),
      TEST(whole_programs_stay_in_one_process), TEST(tensors_are_not_whole_on_ranks))
