// Gather: windows of a tensor at places that a tensor of indices gives.
#ifndef TESSERA_KERNEL_GATHER_H
#define TESSERA_KERNEL_GATHER_H

#include "kernel/index_starts.h"
#include "kernel/strided_copies.h"

typedef struct tsr_gather {
  tsr_index_walk walk;
  int element_bytes;
  // Set by tsr_gather_plan.
  tsr_copy window;
  int64_t window_elements;
  bool table;              // starts are read several times: `temp` has room for all of them
  tsr_strided_copies one;  // one window, for large ones
  int64_t units, share;    // visits of windows, and those of a task
} tsr_gather;

// The gather refers to `part` from now on.
void tsr_gather_plan(tsr_gather *gather, tsr_copy_part *part);
int64_t tsr_gather_temp_bytes(const tsr_gather *gather);
// A tsr_kernel_fn: inputs are the operand and the indices.
tsr_status tsr_gather_run(const void *description, const tsr_kernel_call *call);

#endif
