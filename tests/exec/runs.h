// What the tests of executables share: programs as texts, compiled and run.
#ifndef TESSERA_TESTS_EXEC_RUNS_H
#define TESSERA_TESTS_EXEC_RUNS_H

#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program/executable.h"

// Compiles the text of a module for this many workers.
tsr_executable *compile_text(const char *text, int workers);
// Compiles and runs a text; inputs and outputs as in tsr_executable_run.
void run_text(const char *text, const void *const *inputs, void *const *outputs);

#define IN(...) ((const void *const[]){__VA_ARGS__})
#define OUT_TO(...) ((void *const[]){__VA_ARGS__})

#endif
