// A program that is read is refused, or compiles and runs. Loops may never end, so programs with
// loops are only compiled.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "program/program_internal.h"
#include "tessera/own.h"
#include "tessera/program/executable.h"

enum { MOST_MEMORY = 1 << 24, MOST_WORK = 1 << 26 };

static tsr_status find_loop(tsr_op *op, void *context) {
  if (op->info->id == TSR_OP_WHILE || op->info->id == TSR_OP_CHLO_SCAN) *(bool *)context = true;
  return NULL;
}

static void *zeros(int64_t bytes) { return calloc((size_t)bytes + 1, 1); }

static tsr_status run(const tsr_executable *executable, const tsr_executable_info *info) {
  void **addresses =
      calloc((size_t)(info->argument_count + info->result_count) + 1, sizeof *addresses);
  tsr_status status = NULL;
  for (int64_t i = 0; i < info->argument_count + info->result_count; i++) {
    tsr_executable_value value = TSR_EXECUTABLE_VALUE;
    const bool in = i < info->argument_count;
    tsr_status_free(in ? tsr_executable_argument(executable, i, &value)
                       : tsr_executable_result(executable, i - info->argument_count, &value));
    addresses[i] = zeros(value.bytes);
  }
  status = tsr_executable_run(executable, (const void *const *)addresses,
                              addresses + info->argument_count);
  for (int64_t i = 0; i < info->argument_count + info->result_count; i++) free(addresses[i]);
  free(addresses);
  return status;
}

static tsr_status compile(const uint8_t *data, size_t size) {
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  TSR_TRY(tsr_program_read("fuzz", data, size, NULL, &program));
  bool loops = false;
  TSR_TRY(tsr_op_walk(tsr_program_ir(program)->module, find_loop, &loops));
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = 1;
  options.max_memory = MOST_MEMORY;
  TSR_TRY(tsr_executable_compile(program, &options, &executable));
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  TSR_TRY(tsr_executable_describe(executable, &info));
  if (loops || info.flops > MOST_WORK || info.bytes_moved > MOST_WORK) return NULL;
  return run(executable, &info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_status_free(compile(data, size));
  return 0;
}
