#include "exec/runs.h"

#include <string.h>

tsr_executable *compile_text(const char *text, int workers) {
  TSR_OWN(program, program);
  tsr_executable *executable = NULL;
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = workers;
  assert_ok(tsr_program_read("test", text, strlen(text), NULL, &program));
  assert_ok(tsr_executable_compile(program, &options, &executable));
  return executable;
}

void run_text(const char *text, const void *const *inputs, void *const *outputs) {
  TSR_OWN(executable, executable);
  executable = compile_text(text, 1);
  assert_ok(tsr_executable_run(executable, inputs, outputs));
  // A second run finds the memory of the first.
  assert_ok(tsr_executable_run(executable, inputs, outputs));
}
