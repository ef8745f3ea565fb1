// Running one kernel on memory of a test, with 1, 2 and 5 workers: all give the same bits.
#ifndef TESSERA_TESTS_REDUCE_KERNEL_RUNS_H
#define TESSERA_TESTS_REDUCE_KERNEL_RUNS_H

#include <stddef.h>

#include "tile/kernel_call.h"

typedef struct kernel_trial {
  tsr_kernel_fn *run;
  const void *description;
  const char *const *inputs;
  int output_count;
  char *const *outputs;
  const size_t *output_bytes;
  int64_t scratch_bytes, temp_bytes;
} kernel_trial;

void run_kernel(const kernel_trial *trial);

#endif
