// A kernel that reads windows of tensors where they lie, at places known only when it runs: what
// reads a slice of a tensor needs no copy of it.
#ifndef TESSERA_KERNEL_WINDOW_INPUTS_H
#define TESSERA_KERNEL_WINDOW_INPUTS_H

#include "kernel/window_copies.h"

enum { TSR_WINDOW_INPUTS = 128 };  // of one kernel, with those that say where windows start

// Input `input` is a window that starts at the sum of these; strides are bytes here.
typedef struct tsr_window_input {
  int input, start_count;
  const tsr_window_start *starts;
} tsr_window_input;

typedef struct tsr_windowed_kernel {
  tsr_kernel_fn *run;
  const void *description;  // of `run`
  void (*destroy)(void *description);
  int input_count;  // of `run`; the starts come after them
  int window_count;
  const tsr_window_input *windows;
} tsr_windowed_kernel;

tsr_status tsr_windowed_run(const void *description, const tsr_kernel_call *call);
void tsr_windowed_destroy(void *description);  // calls `destroy`, if there is one

#endif
