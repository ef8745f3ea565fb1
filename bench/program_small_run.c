// Runs the recorded programs of tests/programs, each of them once.
//
// bench: geometric mean of running the recorded programs
// rival: XLA on CPU, one device
// bar: 2 x
#include "recorded_programs.h"

static tsr_status run(recorded_program *program) {
  return tsr_trial_run(program->executable, &program->inputs, &program->outputs);
}

int main(void) {
  static recorded_programs all;
  tsr_status status = recorded_list(&all);
  for (int i = 0; !status && i < all.count; i++) status = recorded_fill(&all.items[i]);
  const int code = status ? rounds_fail(status) : recorded_serve(&all, run);
  recorded_free(&all);
  return code;
}
