// Small programs that are made for the ranks: fewer devices than ranks, a rank that fails between
// two collectives, and the loop in which another one dies.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "exec/shard_run.h"
#include "tessera/engine/collectives.h"
#include "tessera/program.h"

#define SUM_ALL(to, from)                                                                      \
  to " = \"stablehlo.all_reduce\"(" from                                                       \
     ") <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = " \
     "dense<0> : tensor<1x1xi64>}> ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"               \
     "%s = stablehlo.add %p, %q : tensor<f32>\n stablehlo.return %s : tensor<f32> })"          \
     " : (tensor<4xf32>) -> tensor<4xf32>\n"

// The program of one device is `body`: of %a, it makes %r.
static tsr_status compile_body(tsr_comm *comm, const char *body, tsr_executable **out) {
  char text[4096];
  const long long devices = tsr_comm_device_count(comm);
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  tsr_program *program = NULL;
  options.comm = comm;
  snprintf(text, sizeof text,
           "sdy.mesh @mesh = <[\"d\"=%lld]>\n"
           "func.func @main(%%A: tensor<%lldxf32>) -> tensor<%lldxf32> {\n"
           "%%0 = sdy.manual_computation(%%A) in_shardings=[<@mesh, [{\"d\"}]>] "
           "out_shardings=[<@mesh, [{\"d\"}]>] manual_axes={\"d\"} (%%a: tensor<4xf32>) {\n%s"
           "sdy.return %%r : tensor<4xf32>\n} : (tensor<%lldxf32>) -> tensor<%lldxf32>\n"
           "return %%0 : tensor<%lldxf32>\n}\n",
           devices, 4 * devices, 4 * devices, body, 4 * devices, 4 * devices, 4 * devices);
  TSR_TRY(tsr_program_read("made", text, strlen(text), NULL, &program));
  const tsr_status status = tsr_executable_compile(program, &options, out);
  tsr_program_release(program);
  return status;
}

tsr_status compile_loop(tsr_comm *comm, int turns, tsr_executable **out_executable) {
  char body[2048];
  snprintf(body, sizeof body,
           "%%zero = stablehlo.constant dense<0> : tensor<i32>\n"
           "%%one = stablehlo.constant dense<1> : tensor<i32>\n"
           "%%end = stablehlo.constant dense<%d> : tensor<i32>\n"
           "%%l:2 = stablehlo.while(%%i = %%zero, %%v = %%a) : tensor<i32>, tensor<4xf32>\n"
           "cond { %%c = stablehlo.compare LT, %%i, %%end : (tensor<i32>, tensor<i32>) -> "
           "tensor<i1>\nstablehlo.return %%c : tensor<i1> } do {\n%s"
           "%%j = stablehlo.add %%i, %%one : tensor<i32>\n"
           "stablehlo.return %%j, %%m : tensor<i32>, tensor<4xf32> }\n"
           "%%r = stablehlo.add %%l#1, %%a : tensor<4xf32>\n",
           turns, SUM_ALL("%m", "%v"));
  return compile_body(comm, body, out_executable);
}

tsr_status run_here(const tsr_executable *executable, const tsr_comm *comm, const void *in,
                    void *out) {
  const int64_t devices = tsr_executable_device_count(executable);
  const void **inputs = calloc((size_t)devices, sizeof *inputs);
  void **outputs = calloc((size_t)devices, sizeof *outputs);
  for (int64_t i = 0; i < devices; i++) {
    if (tsr_comm_local_index(comm, tsr_executable_device(executable, i)) < 0) continue;
    inputs[i] = in;
    outputs[i] = (char *)out + 16 * i;
  }
  const tsr_status status = tsr_executable_run_shards(executable, inputs, outputs);
  free(inputs);
  free(outputs);
  return status;
}

// ---- fewer devices than ranks ----

static void check_few(tsr_comm *comm) {
  const float in[4] = {1, 2, 3, 4};
  float out[2][4] = {{0}};
  tsr_executable *executable = NULL;
  const bool has_devices = tsr_comm_local_count(comm) > 0;
  if (!check_ok("compile", compile_loop(comm, 3, &executable))) return;
  for (int i = 0; i < 2; i++) check_ok("run", run_here(executable, comm, in, out));
  for (int64_t d = 0; d < 2; d++)
    if (tsr_comm_local_index(comm, d) >= 0)
      check_that("three sums of two, and the number itself", out[d][3] == 8 * 4 + 4);
  check_that("other memory is not touched", has_devices || out[0][0] == 0);
  // Exchanges after the run have the same numbers on all ranks.
  int64_t mine = check_rank(), all[16] = {0};
  check_ok("share", tsr_comm_share(comm, &mine, sizeof mine, all));
  const tsr_copy copy = {.source = 0, .target = 1, .length = 4};
  const bool listed = tsr_comm_local_index(comm, 0) >= 0 || tsr_comm_local_index(comm, 1) >= 0;
  const void *sent[2] = {in, in};
  void *got[2] = {out[0], out[0]};
  const tsr_exchange exchange = {
      .copies = &copy, .copy_count = listed, .bits = 32, .in = sent, .out = got};
  check_ok("exchange", tsr_comm_exchange(comm, &exchange, 1));
  tsr_executable_release(executable);
}

int case_programs_few(void) { return check_on_devices(2, check_few); }

// ---- a rank that fails between two collectives ----

// Device 1 finds that its number is not 0, when the others wait for it already.
static void check_fail(tsr_comm *comm) {
  const float in[4] = {1, 2, 3, 4};
  float out[16][4] = {{0}};
  tsr_executable *executable = NULL;
  if (!check_ok("compile", compile_body(comm,
                                        SUM_ALL("%x", "%a")  //
                                        "%id = stablehlo.partition_id : tensor<ui32>\n"
                                        "%n = stablehlo.convert %id : (tensor<ui32>) -> "
                                        "tensor<f32>\n"
                                        "%b = stablehlo.broadcast_in_dim %n, dims = [] : "
                                        "(tensor<f32>) -> tensor<4xf32>\n"
                                        "%k = stablehlo.slice %a [0:1] : (tensor<4xf32>) -> "
                                        "tensor<1xf32>\n"
                                        "check.expect_eq_const %k, dense<1.0> : tensor<1xf32>\n"
                                        "%y = stablehlo.add %x, %b : tensor<4xf32>\n"  //
                                        SUM_ALL("%r", "%y"),
                                        &executable)))
    return;
  check_ok("run", run_here(executable, comm, in, out));
  const float wrong[4] = {9, 2, 3, 4};
  const bool fails = check_rank() == 1;
  tsr_status status = run_here(executable, comm, fails ? wrong : in, out);
  if (fails)
    check_fails("its own reason", status, TSR_CAUSE_CHECK_FAILED, "check.expect_eq_const");
  else
    check_fails("that of rank 1", status, TSR_CAUSE_COMM_FAILED, "rank 1 failed at step");
  tsr_executable_release(executable);
}

int case_programs_fail(void) { return check_on_devices(check_size(), check_fail); }
