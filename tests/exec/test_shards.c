// Programs of several devices: shards as arguments and results, values of several devices once.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/runs.h"
#include "exec/shard_run.h"

#define SUM                                      \
  "({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n" \
  "%s = stablehlo.add %p, %q : tensor<f32>\n stablehlo.return %s : tensor<f32> })"

// Rows of %x and columns of %w are cut over four devices, %b is on all: the sum of all %x plus %b,
// twice the piece of %w, and the slice of %b that the number of the device names.
static const char text[] =
    "sdy.mesh @mesh = <[\"d\"=4]>\n"
    "func.func @main(%X: tensor<8x3xf32>, %W: tensor<2x8xf32>, %B: tensor<8xf32> {jax.buffer_donor "
    "= true}) -> (tensor<2x3xf32>, tensor<2x8xf32>, tensor<8xf32>) {\n"
    "  %0:3 = sdy.manual_computation(%X, %W, %B) in_shardings=[<@mesh, [{\"d\"}, {}]>, <@mesh, "
    "[{}, "
    "{\"d\"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {\"d\"}]>, <@mesh, "
    "[{\"d\"}]>] manual_axes={\"d\"} (%x: tensor<2x3xf32>, %w: tensor<2x2xf32>, %b: tensor<8xf32>) "
    "{\n"
    "  %r = \"stablehlo.all_reduce\"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
    "type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, "
    "use_global_device_ids}> " SUM
    " : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
    "  %two = stablehlo.constant dense<2.0> : tensor<2x2xf32>\n"
    "  %v = stablehlo.multiply %w, %two : tensor<2x2xf32>\n"
    "  %id = stablehlo.partition_id : tensor<ui32>\n"
    "  %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>\n"
    "  %t = stablehlo.constant dense<[6, 4, 2, 0]> : tensor<4xi32>\n"
    "  %s = stablehlo.dynamic_slice %t, %n, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> "
    "tensor<1xi32>\n"
    "  %at = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>\n"
    "  %c = stablehlo.dynamic_slice %b, %at, sizes = [2] : (tensor<8xf32>, tensor<i32>) -> "
    "tensor<2xf32>\n"
    "  sdy.return %r, %v, %c : tensor<2x3xf32>, tensor<2x2xf32>, tensor<2xf32>\n"
    "  } : (tensor<8x3xf32>, tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x3xf32>, tensor<2x8xf32>, "
    "tensor<8xf32>)\n"
    "  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<2x8xf32>, tensor<8xf32>\n}\n";

typedef struct sharded_values {
  float x[24], w[16], b[8];                        // whole
  float sum[6], twice[16], parts[8];               // whole results
  float columns[4][4], out_columns[4][4];          // pieces that are no run of the whole
  float out_sum[4][6], out_parts[4][2], bs[4][8];  // replicas
} sharded_values;

static void fill(sharded_values *v) {
  *v = (sharded_values){0};
  for (int i = 0; i < 24; i++) v->x[i] = (float)(i * i) / 7;
  for (int i = 0; i < 16; i++) v->w[i] = (float)i;
  for (int i = 0; i < 8; i++) v->b[i] = (float)(10 * i);
  for (int d = 0; d < 4; d++) {
    memcpy(v->bs[d], v->b, sizeof v->b);
    for (int i = 0; i < 4; i++) v->columns[d][i] = v->w[i / 2 * 8 + 2 * d + i % 2];
  }
}

static void whole_tensors_are_cut_and_joined(void **state) {
  (void)state;
  sharded_values v;
  fill(&v);
  run_text(text, IN(v.x, v.w, v.b), OUT_TO(v.sum, v.twice, v.parts));
  for (int i = 0; i < 6; i++)
    assert_true(v.sum[i] == (v.x[i] + v.x[6 + i]) + (v.x[12 + i] + v.x[18 + i]));
  for (int i = 0; i < 16; i++) assert_true(v.twice[i] == 2 * v.w[i]);
  for (int i = 0; i < 8; i++) assert_true(v.parts[i] == v.b[6 - i / 2 * 2 + i % 2]);
}

static void shards_are_read_and_written_where_they_lie(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(text, 2);
  sharded_values v;
  fill(&v);
  assert_int_equal(tsr_executable_device_count(executable), 4);
  assert_int_equal(tsr_executable_argument_shard_bytes(executable, 1), sizeof v.columns[0]);
  assert_int_equal(tsr_executable_result_shard_bytes(executable, 0), sizeof v.sum);
  const void *inputs[12];
  void *outputs[12];
  for (int d = 0; d < 4; d++) {
    inputs[d] = v.x + 6 * d;
    inputs[4 + d] = v.columns[d];
    inputs[8 + d] = v.bs[d];
    outputs[d] = d == 2 ? v.out_sum[1] : v.out_sum[d];  // devices 1 and 2 have one memory
    outputs[4 + d] = v.out_columns[d];
    outputs[8 + d] = v.out_parts[d];
  }
  assert_ok(tsr_executable_run_shards(executable, inputs, outputs));
  assert_ok(tsr_executable_run(executable, IN(v.x, v.w, v.b), OUT_TO(v.sum, v.twice, v.parts)));
  for (int d = 0; d < 4; d++) {
    if (d != 2) assert_memory_equal(v.out_sum[d], v.sum, sizeof v.sum);
    assert_memory_equal(v.out_parts[d], v.parts + 2 * d, sizeof v.out_parts[d]);
    for (int i = 0; i < 4; i++)
      assert_true(v.out_columns[d][i] == v.twice[i / 2 * 8 + 2 * d + i % 2]);
  }
  outputs[5] = NULL;
  assert_fails(tsr_executable_run_shards(executable, inputs, outputs), BAD_ARGUMENT,
               "the shard of result 1 (out1, 16 bytes) on device 1 is NULL");
  inputs[7] = NULL;
  assert_fails(tsr_executable_run_shards(executable, inputs, outputs), BAD_ARGUMENT,
               "the shard of argument 1 (arg1, 16 bytes) on device 3 is NULL");
  assert_fails(tsr_executable_run_shards(executable, NULL, outputs), BAD_ARGUMENT,
               "the addresses of the shards are NULL");
}

static void a_program_of_one_device_has_whole_shards(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(
      "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n"
      "  return %0 : tensor<2xf32>\n}\n",
      1);
  const float in[2] = {1, 2};
  float out[2] = {0};
  assert_int_equal(tsr_executable_device_count(executable), 1);
  assert_int_equal(tsr_executable_argument_shard_bytes(executable, 0), sizeof in);
  assert_int_equal(tsr_executable_shard_donor(executable, 0), -1);
  assert_ok(tsr_executable_run_shards(executable, IN(in), OUT_TO(out)));
  assert_true(out[0] == 2 && out[1] == 4);
}

// ---- a computation in another one ----

// Rows are cut over "x" outside, columns over "y" inside: each lane doubles its piece, the sums
// along "y" are added outside to what all lanes around hold.
static void computations_stand_in_each_other(void **state) {
  (void)state;
  static const char nested[] =
      "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"
      "func.func @main(%A: tensor<4x4xf32>, %B: tensor<2x4xf32>) -> (tensor<4x4xf32>, "
      "tensor<4x2xf32>) {\n"
      "  %0:2 = sdy.manual_computation(%A, %B) in_shardings=[<@mesh, [{\"x\"}, {}]>, <@mesh, [{}, "
      "{}]>] out_shardings=[<@mesh, [{\"x\"}, {}]>, <@mesh, [{\"x\"}, {}]>] "
      "manual_axes={\"x\"} (%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) {\n"
      "    %n = stablehlo.negate %a : tensor<2x4xf32>\n"
      "    %1:3 = sdy.manual_computation(%a, %n, %b) in_shardings=[<@mesh, [{}, {\"y\"}]>, "
      "<@mesh, [{}, {\"y\"}]>, <@mesh, [{\"y\"}, {}]>] out_shardings=[<@mesh, [{}, {\"y\"}]>, "
      "<@mesh, [{}, {}]>, <@mesh, [{\"y\"}, {}]>] manual_axes={\"y\"} (%u: tensor<2x2xf32>, %v: "
      "tensor<2x2xf32>, %c: tensor<1x4xf32>) {\n"
      "      %d = stablehlo.add %u, %u : tensor<2x2xf32>\n"
      "      %w = \"stablehlo.all_reduce\"(%v) <{channel_handle = "
      "#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : "
      "tensor<2x2xi64>, use_global_device_ids}> " SUM
      " : (tensor<2x2xf32>) -> tensor<2x2xf32>\n"
      "      %e = stablehlo.add %c, %c : tensor<1x4xf32>\n"
      "      sdy.return %d, %w, %e : tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x4xf32>\n"
      "    } : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, "
      "tensor<2x2xf32>, tensor<2x4xf32>)\n"
      "    %t = stablehlo.add %1#0, %1#2 : tensor<2x4xf32>\n"
      "    sdy.return %t, %1#1 : tensor<2x4xf32>, tensor<2x2xf32>\n"
      "  } : (tensor<4x4xf32>, tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x2xf32>)\n"
      "  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4x2xf32>\n}\n";
  float a[16], b[8], out[16] = {0}, sums[8] = {0};
  for (int i = 0; i < 16; i++) a[i] = (float)i;
  for (int i = 0; i < 8; i++) b[i] = (float)(100 * i);
  run_text(nested, IN(a, b), OUT_TO(out, sums));
  for (int i = 0; i < 16; i++) assert_true(out[i] == 2 * a[i] + 2 * b[i % 8]);
  for (int i = 0; i < 8; i++)
    assert_true(sums[i] == -(a[i / 2 * 4 + i % 2] + a[i / 2 * 4 + 2 + i % 2]));
}

// ---- memory and donation ----

// One step of a replicated state, for any number of devices.
static const char *step_of(int devices, bool donated) {
  static char program[2048];
  snprintf(program, sizeof program,
           "sdy.mesh @mesh = <[\"d\"=%d]>\n"
           "func.func @main(%%S: tensor<4096xf32>%s, %%X: tensor<%dxf32>) -> tensor<4096xf32> {\n"
           "  %%0 = sdy.manual_computation(%%S, %%X) in_shardings=[<@mesh, [{}]>, <@mesh, "
           "[{\"d\"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={\"d\"} (%%s: tensor<4096xf32>, "
           "%%x: tensor<1xf32>) {\n"
           "  %%u = \"stablehlo.all_gather\"(%%x) <{all_gather_dim = 0 : i64, channel_handle = "
           "#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : "
           "tensor<1x1xi64>}> : (tensor<1xf32>) -> tensor<%dxf32>\n"
           "  %%k = stablehlo.slice %%u [1:2] : (tensor<%dxf32>) -> tensor<1xf32>\n"
           "  %%t = stablehlo.broadcast_in_dim %%k, dims = [0] : (tensor<1xf32>) -> "
           "tensor<4096xf32>\n"
           "  %%v = stablehlo.add %%s, %%t : tensor<4096xf32>\n"
           "  %%w = stablehlo.negate %%v : tensor<4096xf32>\n"
           "  sdy.return %%w : tensor<4096xf32>\n"
           "  } : (tensor<4096xf32>, tensor<%dxf32>) -> tensor<4096xf32>\n"
           "  return %%0 : tensor<4096xf32>\n}\n",
           devices, donated ? " {tf.aliasing_output = 0 : i32}" : "", devices, devices, devices,
           devices);
  return program;
}

static int64_t peak_of(int devices) {
  TSR_OWN(executable, executable);
  executable = compile_text(step_of(devices, false), 1);
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  assert_ok(tsr_executable_describe(executable, &info));
  assert_int_equal(info.device_count, devices);
  assert_true(info.device_bytes >= 2 * 4096 * 4 && info.device_bytes < 2 * 4096 * 4 + 1024);
  return info.peak_bytes;
}

static void replicated_values_are_stored_once(void **state) {
  (void)state;
  assert_true(peak_of(64) - peak_of(2) < 4096);
}

// Rows of a tensor lie in one run; columns are copied before a run on whole tensors, and after it.
static void pieces_with_gaps_are_counted(void **state) {
  (void)state;
  static const char *const cuts[] = {"{\"d\"}, {}", "{}, {\"d\"}"};
  static const char *const types[] = {"4x16", "8x8"};
  for (int i = 0; i < 2; i++) {
    char program[1024];
    snprintf(program, sizeof program,
             "sdy.mesh @mesh = <[\"d\"=2]>\n"
             "func.func @main(%%X: tensor<8x16xf32>) -> tensor<8x16xf32> {\n"
             "  %%0 = sdy.manual_computation(%%X) in_shardings=[<@mesh, [%s]>] "
             "out_shardings=[<@mesh, [%s]>] manual_axes={\"d\"} (%%x: tensor<%sxf32>) {\n"
             "  %%y = stablehlo.negate %%x : tensor<%sxf32>\n"
             "  sdy.return %%y : tensor<%sxf32>\n"
             "  } : (tensor<8x16xf32>) -> tensor<8x16xf32>\n"
             "  return %%0 : tensor<8x16xf32>\n}\n",
             cuts[i], cuts[i], types[i], types[i], types[i]);
    TSR_OWN(executable, executable);
    executable = compile_text(program, 1);
    tsr_executable_info info = TSR_EXECUTABLE_INFO;
    assert_ok(tsr_executable_describe(executable, &info));
    assert_int_equal(info.piece_bytes, i * 2 * 8 * 16 * 4);
    assert_int_equal(info.temporary_bytes, info.work_bytes + info.piece_bytes);
  }
}

static void a_donated_shard_becomes_the_result(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(step_of(2, true), 1);
  float *s = malloc(4096 * sizeof *s);
  assert_non_null(s);
  for (int i = 0; i < 4096; i++) s[i] = (float)i;
  const float x[2] = {1, 2};
  assert_int_equal(tsr_executable_shard_donor(executable, 0), 0);
  assert_ok(tsr_executable_run_shards(executable, IN(s, s, &x[0], &x[1]), OUT_TO(s, s)));
  for (int i = 0; i < 4096; i++) assert_true(s[i] == -(float)(i + 2));
  free(s);
}

// Weights less the sum of what devices have, and a product of the new ones with %`LEFT`.
#define UPDATE(LEFT)                                                                            \
  "sdy.mesh @mesh = <[\"d\"=2]>\n"                                                              \
  "func.func @main(%W: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}, %X: tensor<16x8xf32>) "  \
  "-> (tensor<8x8xf32>, tensor<8x8xf32>) {\n"                                                   \
  "  %0:2 = sdy.manual_computation(%W, %X) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{\"d\"}, " \
  "{}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={\"d\"} (%w: "        \
  "tensor<8x8xf32>, %x: tensor<8x8xf32>) {\n"                                                   \
  "  %g = \"stablehlo.all_reduce\"(%x) <{channel_handle = #stablehlo.channel_handle<handle = "  \
  "1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, "                          \
  "use_global_device_ids}> " SUM                                                                \
  " : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"                                                   \
  "  %n = stablehlo.subtract %w, %g : tensor<8x8xf32>\n"                                        \
  "  %m = stablehlo.dot_general %" LEFT                                                         \
  ", %n, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> "                 \
  "tensor<8x8xf32>\n"                                                                           \
  "  sdy.return %n, %m : tensor<8x8xf32>, tensor<8x8xf32>\n"                                    \
  "  } : (tensor<8x8xf32>, tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)\n"           \
  "  return %0#0, %0#1 : tensor<8x8xf32>, tensor<8x8xf32>\n}\n"

// Runs an update, in place if `taken`. The second result is the product of the new weights with
// themselves then, of the old and the new ones otherwise.
static void check_update(const char *update, bool taken) {
  TSR_OWN(executable, executable);
  executable = compile_text(update, 1);
  float w[64], x[128], out[64], more[64], old[64];
  for (int i = 0; i < 64; i++) old[i] = w[i] = (float)(i % 7);
  for (int i = 0; i < 128; i++) x[i] = (float)(i % 5);
  assert_int_equal(tsr_executable_shard_donor(executable, 0), taken ? 0 : -1);
  float *result = taken ? w : out;
  assert_ok(tsr_executable_run_shards(executable, IN(w, w, x, x + 64),
                                      OUT_TO(result, result, more, more)));
  float sum = 0;
  for (int i = 0; i < 64; i++) assert_true(result[i] == old[i] - x[i] - x[64 + i]);
  for (int k = 0; k < 8; k++) sum += (taken ? result[k] : old[k]) * result[8 * k];
  assert_true(more[0] == sum);
}

// The sum is made before the weights are read for the last time, so it is not made in memory that
// the new weights take.
static void new_weights_take_the_memory_of_the_old_ones(void **state) {
  (void)state;
  check_update(UPDATE("n"), true);
  check_update(UPDATE("w"), false);
}

// ---- workers ----

// Sums, products and exchanges on eight devices, large enough to be shared.
static const char wide[] =
    "sdy.mesh @mesh = <[\"d\"=8]>\n"
    "func.func @main(%X: tensor<512x512xf32>, %W: tensor<512x512xbf16>) -> (tensor<512x512xf32>, "
    "tensor<64x512xbf16>) {\n"
    "  %0:2 = sdy.manual_computation(%X, %W) in_shardings=[<@mesh, [{\"d\"}, {}]>, <@mesh, "
    "[{\"d\"}, {}]>] out_shardings=[<@mesh, [{}, {\"d\"}]>, <@mesh, [{}, {}]>] "
    "manual_axes={\"d\"} (%x: tensor<64x512xf32>, %w: tensor<64x512xbf16>) {\n"
    "  %g = \"stablehlo.all_gather\"(%w) <{all_gather_dim = 0 : i64, channel_handle = "
    "#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : "
    "tensor<1x1xi64>}> : (tensor<64x512xbf16>) -> tensor<512x512xbf16>\n"
    "  %f = stablehlo.convert %g : (tensor<512x512xbf16>) -> tensor<512x512xf32>\n"
    "  %p = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<64x512xf32>, "
    "tensor<512x512xf32>) -> tensor<64x512xf32>\n"
    "  %e = stablehlo.tanh %p : tensor<64x512xf32>\n"
    "  %a = \"stablehlo.all_to_all\"(%e) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
    "type = 1>, split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 8 : i64, "
    "replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}> : "
    "(tensor<64x512xf32>) -> tensor<512x64xf32>\n"
    "  %r = \"stablehlo.all_reduce\"(%w) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
    "type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, "
    "use_global_device_ids}> ({ ^bb0(%m: tensor<bf16>, %n: tensor<bf16>):\n"
    "%s = stablehlo.add %m, %n : tensor<bf16>\n stablehlo.return %s : tensor<bf16> }) : "
    "(tensor<64x512xbf16>) -> tensor<64x512xbf16>\n"
    "  sdy.return %a, %r : tensor<512x64xf32>, tensor<64x512xbf16>\n"
    "  } : (tensor<512x512xf32>, tensor<512x512xbf16>) -> (tensor<512x512xf32>, "
    "tensor<64x512xbf16>)\n"
    "  return %0#0, %0#1 : tensor<512x512xf32>, tensor<64x512xbf16>\n}\n";

static void workers_do_not_change_bits(void **state) {
  (void)state;
  enum { COUNT = 512 * 512, SUMS = 64 * 512 };
  static const int workers[] = {1, 2, 5};
  float *x = malloc(COUNT * sizeof *x), *out[3];
  uint16_t *w = malloc(COUNT * sizeof *w), *sums[3];
  assert_non_null(x);
  assert_non_null(w);
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)((i * 37) % 101) / 50 - 1;
    w[i] = (uint16_t)(0x3c00 + (i * 53) % 512);
  }
  for (int i = 0; i < 3; i++) {
    TSR_OWN(executable, executable);
    executable = compile_text(wide, workers[i]);
    out[i] = calloc(COUNT, sizeof *out[i]);
    sums[i] = calloc(SUMS, sizeof *sums[i]);
    assert_ok(tsr_executable_run(executable, IN(x, w), OUT_TO(out[i], sums[i])));
    assert_memory_equal(out[i], out[0], COUNT * sizeof *x);
    assert_memory_equal(sums[i], sums[0], SUMS * sizeof *w);
  }
  for (int i = 0; i < 3; i++) free(out[i]), free(sums[i]);
  free(x);
  free(w);
}

int suite_shards(void) {
  const struct CMUnitTest tests[] = {
      TEST(whole_tensors_are_cut_and_joined),
      TEST(shards_are_read_and_written_where_they_lie),
      TEST(a_program_of_one_device_has_whole_shards),
      TEST(computations_stand_in_each_other),
      TEST(replicated_values_are_stored_once),
      TEST(pieces_with_gaps_are_counted),
      TEST(a_donated_shard_becomes_the_result),
      TEST(new_weights_take_the_memory_of_the_old_ones),
      TEST(workers_do_not_change_bits),
  };
  return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
