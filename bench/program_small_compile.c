// Reads and compiles the recorded programs of tests/programs, from memory.
//
// bench: geometric mean of compiling the recorded programs, from text
// rival: XLA on CPU, one device
// bar: 20 x
#include "recorded_programs.h"

static tsr_status compile(recorded_program *program) {
  tsr_executable *executable = NULL;
  TSR_TRY(recorded_compile(program, &executable));
  tsr_executable_release(executable);
  return NULL;
}

int main(void) {
  static recorded_programs all;
  tsr_status status = recorded_list(&all);
  const int code = status ? rounds_fail(status) : recorded_serve(&all, compile);
  recorded_free(&all);
  return code;
}
