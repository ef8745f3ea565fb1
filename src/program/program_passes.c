// New programs from old ones: passes, and sizes filled in.
#include <limits.h>

#include "program/pipelines.h"
#include "program/program_state.h"
#include "refine/refine.h"
#include "verify/verify.h"

// Wraps a changed copy, which this takes, also on failure.
static tsr_status finish_copy(tsr_status status, const tsr_program *program, tsr_ir *copy,
                              tsr_program **out_program) {
  if (!status) return tsr_program_wrap(copy, program->name, TSR_PROGRAM_BUILT, out_program);
  tsr_ir_destroy(copy);
  return status;
}

tsr_status tsr_program_transform(const tsr_program *program, const char *passes,
                                 tsr_program **out_program) {
  tsr_ir *copy = tsr_program_copy_ir(program);
  if (!copy) return tsr_fail(NO_MEMORY, "program %s", program->name);
  return finish_copy(tsr_all_passes_run(copy, passes, NULL), program, copy, out_program);
}

tsr_status tsr_program_refine(const tsr_program *program, const tsr_shape *shapes,
                              int64_t shape_count, tsr_program **out_program) {
  if (shape_count < 0 || shape_count > INT_MAX)
    return tsr_fail(BAD_ARGUMENT, "%lld shapes, expected 0 to %d", (long long)shape_count, INT_MAX);
  if (shape_count && !shapes)
    return tsr_fail(BAD_ARGUMENT, "%lld shapes, but they are NULL", (long long)shape_count);
  tsr_ir *copy = tsr_program_copy_ir(program);
  if (!copy) return tsr_fail(NO_MEMORY, "program %s", program->name);
  tsr_status status = tsr_refine(copy, shapes, (int)shape_count);
  if (!status) status = tsr_verify(copy, program->name);
  return finish_copy(status, program, copy, out_program);
}
