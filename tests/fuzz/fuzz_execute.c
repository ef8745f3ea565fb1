// A program that is read is refused, or compiles and runs, with the same results on any number of
// workers and whatever is fused. Loops may never end, so programs with loops are only compiled.
#include "fuzz_execute.h"

static tsr_status find_loop(tsr_op *op, void *context) {
  if (op->info->id == TSR_OP_WHILE || op->info->id == TSR_OP_CHLO_SCAN) *(bool *)context = true;
  return NULL;
}

static tsr_status execute(const uint8_t *data, size_t size) {
  TSR_OWN(program, program);
  bool loops = false;
  TSR_TRY(tsr_program_read("fuzz", data, size, NULL, &program));
  TSR_TRY(tsr_op_walk(tsr_program_ir(program)->module, find_loop, &loops));
  if (!loops) return fuzz_execute(program, NULL);
  fuzz_run run = {0};
  tsr_status status = fuzz_compile(program, 1, &run);
  fuzz_run_deinit(&run);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_status_free(execute(data, size));
  return 0;
}
