// Propagates shardings through the training step of a transformer of 100 layers, as JAX lowers it:
// Shardy's whole pipeline, from a program that was read to one with shardings. Where JAX cannot
// write the program, a recorded one of a few layers stands in for it.
//
// bench: shardings of a training step of 80,000 ops
// rival: Shardy's pipeline in jaxlib
// make: transformer_program.py transformer_100.mlir
// bar: 1 x
// bar: 1.0 s
#include <stdlib.h>
#include <unistd.h>

#include "rounds.h"
#include "tessera/program/program.h"

#define RECORDED TSR_RECORDED_PROGRAMS "/gpt2_train_step_adam_fsdp/program.mlir"

static tsr_status propagate(void *context) {
  tsr_program *made = NULL;
  TSR_TRY(tsr_program_transform(context, "sdy-propagation-pipeline", &made));
  tsr_program_release(made);
  return NULL;
}

int main(void) {
  static const char written[] = "build/bench/transformer_100.mlir";
  tsr_program *program = NULL;
  tsr_status status = tsr_program_open(access(written, R_OK) ? RECORDED : written, NULL, &program);
  const int code = status ? rounds_fail(status) : rounds_serve(propagate, program);
  tsr_program_release(program);
  return code;
}
