// What small programs cost: every number is worked out by hand.
#include <stdio.h>
#include <string.h>

#include "preflight/preflight.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"

#define MESH "sdy.mesh @m = <[\"a\"=2, \"b\"=4]>\n"
#define CUT(dims) " {sdy.sharding = #sdy.sharding<@m, [" dims "]>}"

// x[8, 16] of a and b, times w[16, 4] of b: the sum over b is in parts.
#define CONTRACTION \
  MESH "func.func @main(%x: tensor<8x16xf32>" CUT("{\"a\"}, {\"b\"}") ", %w: tensor<16x4xf32>"   \
       CUT("{\"b\"}, {}") ") -> (tensor<8x4xf32>" CUT("{\"a\"}, {}") ") {\n"                    \
       "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, " \
       "tensor<16x4xf32>) -> tensor<8x4xf32>\n"                                                 \
       "  return %0 : tensor<8x4xf32>\n}\n"

// Ten steps of a loop, each of which gathers what it carries.
#define LOOP(limit) \
  MESH "func.func @main(%x: tensor<16x16xf32>" CUT("{\"a\"}, {}") ", %n: tensor<i32>) -> "        \
       "(tensor<16x16xf32>" CUT("{\"a\"}, {}") ") {\n"                                            \
       "  %c = stablehlo.constant dense<0> : tensor<i32>\n"                                       \
       "  %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<16x16xf32>\n"            \
       "  cond {\n" limit                                                                         \
       "    %2 = stablehlo.compare LT, %i, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"       \
       "    stablehlo.return %2 : tensor<i1>\n"                                                   \
       "  } do {\n"                                                                               \
       "    %one = stablehlo.constant dense<3> : tensor<i32>\n"                                   \
       "    %next = stablehlo.add %i, %one : tensor<i32>\n"                                       \
       "    %3 = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : "                   \
       "(tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>\n"                            \
       "    stablehlo.return %next, %3 : tensor<i32>, tensor<16x16xf32>\n"                        \
       "  }\n"                                                                                    \
       "  return %0#1 : tensor<16x16xf32>\n}\n"

static tsr_status fly(const char *text, const tsr_topology *topology, tsr_preflight **out) {
  tsr_program *program = NULL;
  tsr_propagation *propagation = NULL;
  tsr_preflight_options options = TSR_PREFLIGHT_OPTIONS;
  options.topology = topology;
  tsr_status status = tsr_program_read("test", text, strlen(text), NULL, &program);
  if (!status) status = tsr_program_propagate(program, NULL, &propagation);
  if (!status) status = tsr_preflight_create(propagation, &options, out);
  tsr_propagation_destroy(propagation);
  tsr_program_release(program);
  return status;
}

static tsr_preflight *flown(const char *text) {
  tsr_preflight *preflight = NULL;
  assert_ok(fly(text, NULL, &preflight));
  return preflight;
}

// ---- collectives ----

static void a_contraction_over_a_cut_dim_is_an_all_reduce(void **state) {
  (void)state;
  TSR_OWN(preflight, preflight);
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
  preflight = flown(CONTRACTION);
  assert_ok(tsr_preflight_describe(preflight, &info));
  assert_int_equal(info.device_count, 8);
  assert_int_equal(info.collective_count, 1);
  assert_int_equal(info.bytes, 2 * 4 * 4 * 4);  // twice a part of [4, 4]
  assert_true(info.flops == 2.0 * 4 * 4 * 4);
  assert_int_equal(info.argument_bytes, 4 * 4 * 4 + 4 * 4 * 4);
  assert_int_equal(info.result_bytes, 4 * 4 * 4);
  assert_int_equal(info.peak_bytes, info.argument_bytes + 4 * 4 * 4);  // summed in place
  assert_ok(tsr_preflight_reshard_at(preflight, 0, &row));
  assert_string_equal(row.value, "%0");
  assert_string_equal(row.type, "tensor<8x4xf32>");
  assert_string_equal(row.collectives, "all-reduce");
  assert_string_equal(row.to, "[{\"a\"}, {}]");
  assert_string_equal(row.where, "line 3");
  assert_string_equal(row.cause,
                      "dot_general %0 sums over dim 1 of arg0 and dim 0 of arg1, cut by "
                      "b: each device has a part of the sum");
  assert_string_equal(row.suggestion,
                      "where its uses can take it cut, constrain %0 to [{\"a\", \"b\"}, {}]: a "
                      "reduce-scatter moves 62 % less");
}

// Of a value x[8, 16] on a and b. Bytes of one device.
static void bytes_of_each_reshard_are_those_of_its_kind(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *collectives;
    int64_t bytes;
  } cases[] = {
      {"{}, {}", "{\"a\"}, {}", "all-slice", 0},
      {"{\"a\"}, {}", "{}, {}", "all-gather", 512 - 256},
      {"{\"a\"}, {\"b\"}", "{}, {}", "all-gather", 512 - 64},
      {"{\"b\"}, {}", "{}, {\"b\"}", "all-to-all", 128},
      {"{\"a\"}, {\"b\"}", "{\"b\"}, {\"a\"}", NULL, -1},
      {"{\"a\"}, {}", "{\"b\"}, {}", NULL, -1},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(preflight, preflight);
    tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
    char program[1024];
    snprintf(program, sizeof program,
             MESH
             "func.func @main(%%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [%s]>}) "
             "-> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [%s]>}) {\n"
             "  return %%x : tensor<8x16xf32>\n}\n",
             cases[i].from, cases[i].to);
    preflight = flown(program);
    assert_ok(tsr_preflight_reshard_at(preflight, 0, &row));
    assert_string_equal(row.value, "arg0");
    if (cases[i].bytes >= 0) assert_int_equal(row.bytes, cases[i].bytes);
    if (cases[i].collectives) assert_string_equal(row.collectives, cases[i].collectives);
    assert_true(row.bytes <= 2 * 512);
  }
}

static void steps_of_a_loop_are_counted_where_they_are_known(void **state) {
  (void)state;
  static const struct {
    const char *program;
    int64_t times, unknown;
  } cases[] = {
      {LOOP("    %l = stablehlo.constant dense<30> : tensor<i32>\n"), 10, 0},
      {LOOP("    %l = stablehlo.constant dense<31> : tensor<i32>\n"), 11, 0},
      {LOOP("    %l = stablehlo.constant dense<-1> : tensor<i32>\n"), 0, 0},
      {LOOP("    %l = stablehlo.add %n, %n : tensor<i32>\n"), 1, 1},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(preflight, preflight);
    tsr_preflight_info info = TSR_PREFLIGHT_INFO;
    preflight = flown(cases[i].program);
    assert_ok(tsr_preflight_describe(preflight, &info));
    assert_int_equal(info.collective_count, cases[i].times);
    assert_int_equal(info.bytes, cases[i].times * (1024 - 512));
    assert_int_equal(info.unknown_loops, cases[i].unknown);
    if (!cases[i].times) continue;
    tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
    assert_ok(tsr_preflight_reshard_at(preflight, 0, &row));
    assert_int_equal(row.times, cases[i].times);
    assert_int_equal(row.times_known, !cases[i].unknown);
  }
}

static void borders_of_windows_and_slices_move(void **state) {
  (void)state;
  TSR_OWN(preflight, preflight);
  TSR_OWN(preflight, sliced);
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
  preflight = flown(MESH
                    "func.func @main(%x: tensor<1x16x8x1xf32>" CUT("{}, {\"b\"}, {}, {}")
                    ", %k: tensor<3x3x1x1xf32>) -> tensor<1x16x8x1xf32> {\n"
                    "  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
                    "[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                    "feature_group_count = 1 : i64} : (tensor<1x16x8x1xf32>, tensor<3x3x1x1xf32>) "
                    "-> tensor<1x16x8x1xf32>\n"
                    "  return %0 : tensor<1x16x8x1xf32>\n}\n");
  assert_ok(tsr_preflight_describe(preflight, &info));
  assert_int_equal(info.bytes, 2 * 8 * 4);  // two rows of eight
  assert_true(info.flops == 2.0 * 4 * 8 * 9);
  assert_ok(tsr_preflight_reshard_at(preflight, 0, &row));
  assert_string_equal(row.collectives, "collective-permute");
  assert_string_equal(row.cause,
                      "convolution %0 takes elements of neighbours along dim 1 of arg0, cut by b");
  sliced = flown(MESH "func.func @main(%x: tensor<8xf32>" CUT(
      "{\"a\"}") ") -> tensor<8xf32> {\n"
                 "  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>\n"
                 "  return %0 : tensor<8xf32>\n}\n");
  assert_ok(tsr_preflight_describe(sliced, &info));
  assert_int_equal(info.bytes, 16);
}

// Two layers that gather alike are one row.
static void reshards_that_are_alike_are_one_row(void **state) {
  (void)state;
  TSR_OWN(preflight, preflight);
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
  preflight = flown(MESH "func.func @main(%x: tensor<8x8xf32>" CUT("{\"a\"}, {}") ", %w: "
                         "tensor<8x8xf32>" CUT("{\"b\"}, {}") ", %v: tensor<8x8xf32>" CUT(
                             "{\"b\"}, {}") ") -> tensor<8x8xf32> {\n"
                    "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
                    "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
                    "  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : "
                    "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
                    "  %2 = stablehlo.subtract %0, %1 : tensor<8x8xf32>\n"
                    "  return %2 : tensor<8x8xf32>\n}\n");
  assert_ok(tsr_preflight_describe(preflight, &info));
  assert_int_equal(info.collective_count, 2);
  assert_ok(tsr_preflight_reshard_at(preflight, 0, &row));
  assert_int_equal(row.places, 2);
  assert_int_equal(row.times, 2);
  assert_int_equal(row.bytes, info.bytes);
}

// ---- memory ----

static void donated_arguments_give_their_memory(void **state) {
  (void)state;
  static const struct {
    const char *mark;
    int64_t peak;
  } cases[] = {{"", 3 * 256}, {"tf.aliasing_output = 0 : i32, ", 2 * 256}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(preflight, preflight);
    tsr_preflight_info info = TSR_PREFLIGHT_INFO;
    char program[1024];
    snprintf(program, sizeof program,
             MESH
             "func.func @main(%%x: tensor<8x16xf32> {%ssdy.sharding = #sdy.sharding<@m, "
             "[{\"a\"}, {}]>}, %%y: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, "
             "[{\"a\"}, {}]>}) -> tensor<8x16xf32> {\n"
             "  %%0 = stablehlo.add %%x, %%y : tensor<8x16xf32>\n"
             "  return %%0 : tensor<8x16xf32>\n}\n",
             cases[i].mark);
    preflight = flown(program);
    assert_ok(tsr_preflight_describe(preflight, &info));
    assert_int_equal(info.peak_bytes, cases[i].peak);
  }
}

// A chain of elementwise ops is one kernel: only its ends take memory.
static void fused_values_take_no_memory(void **state) {
  (void)state;
  TSR_OWN(preflight, preflight);
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  preflight = flown(
      "func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {\n"
      "  %0 = stablehlo.negate %x : tensor<256xf32>\n"
      "  %1 = stablehlo.exponential %0 : tensor<256xf32>\n"
      "  %2 = stablehlo.tanh %1 : tensor<256xf32>\n"
      "  return %2 : tensor<256xf32>\n}\n");
  assert_ok(tsr_preflight_describe(preflight, &info));
  assert_int_equal(info.peak_bytes, 2 * 1024);
  assert_true(info.traffic == 2 * 1024);
  assert_true(info.flops == 3 * 256);
}

// ---- time ----

static void a_machine_gives_times(void **state) {
  (void)state;
  TSR_OWN(preflight, preflight);
  TSR_OWN(topology, topology);
  TSR_OWN(topology, small);
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  tsr_preflight *none = NULL;
  assert_ok(tsr_topology_parse("gpu:1x8:h100", &topology));
  assert_ok(tsr_topology_parse("gpu:1x4:h100", &small));
  assert_ok(fly(CONTRACTION, topology, &preflight));
  assert_ok(tsr_preflight_describe(preflight, &info));
  assert_true(info.compute_seconds > 0 && info.collective_seconds > 0);
  assert_int_equal(info.memory_bytes, (int64_t)80 << 30);
  assert_fails_with(fly(CONTRACTION, small, &none), BAD_ARGUMENT,
                    "the mesh has 8 devices, the topology only 4");
}

// ---- what is refused ----

static void what_would_be_wrong_is_refused(void **state) {
  (void)state;
  TSR_OWN(preflight, preflight);
  tsr_preflight *none = NULL;
  tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
  preflight = flown(CONTRACTION);
  assert_fails(tsr_preflight_reshard_at(preflight, 1, &row), INDEX_OUT_OF_RANGE,
               "reshard 1, expected 0 to 0");
  assert_fails_with(
      fly("func.func @main(%x: tensor<8xf32> {mhlo.sharding = \"{devices=[8]<=[8]}\"}) -> "
          "tensor<8xf32> {\n  return %x : tensor<8xf32>\n}\n",
          NULL, &none),
      UNSUPPORTED, "argument arg0 is sharded as {devices=[8]<=[8]}");
}

static tsr_status fly_again(void *context) {
  tsr_preflight *preflight = NULL, *same = NULL;
  tsr_preflight_options options = TSR_PREFLIGHT_OPTIONS;
  tsr_status status = tsr_preflight_create(context, &options, &preflight);
  if (!status) same = tsr_preflight_retain(preflight);
  tsr_preflight_release(same);
  tsr_preflight_release(preflight);
  return status;
}

static void a_preflight_survives_every_failed_allocation(void **state) {
  (void)state;
  static const char *const programs[] = {
      CONTRACTION, LOOP("    %l = stablehlo.constant dense<30> : tensor<i32>\n")};
  for (size_t i = 0; i < COUNT_OF(programs); i++) {
    TSR_OWN(program, program);
    TSR_OWN(propagation, propagation);
    assert_ok(tsr_program_read("test", programs[i], strlen(programs[i]), NULL, &program));
    assert_ok(tsr_program_propagate(program, NULL, &propagation));
    test_allocation_sweep(fly_again, propagation);
  }
}

SUITE(preflight, TEST(a_contraction_over_a_cut_dim_is_an_all_reduce),
      TEST(bytes_of_each_reshard_are_those_of_its_kind),
      TEST(steps_of_a_loop_are_counted_where_they_are_known),
      TEST(borders_of_windows_and_slices_move), TEST(reshards_that_are_alike_are_one_row),
      TEST(donated_arguments_give_their_memory), TEST(fused_values_take_no_memory),
      TEST(a_machine_gives_times), TEST(what_would_be_wrong_is_refused),
      TEST(a_preflight_survives_every_failed_allocation))
