// Windows of tensors that kernels read where they lie, at places known only when a program runs:
// what reads a slice of a tensor needs no copy of it.
#ifndef TESSERA_KERNEL_WINDOW_INPUTS_H
#define TESSERA_KERNEL_WINDOW_INPUTS_H

#include "kernel/window_copies.h"

// Input `input` is a window that starts at the sum of these; strides are bytes here.
typedef struct tsr_window_input {
  int input, start_count;
  const tsr_window_start *starts;
} tsr_window_input;

// Moves the address of each such input to where its window starts.
void tsr_window_inputs_place(const tsr_window_input *windows, int count, const char **inputs);

#endif
