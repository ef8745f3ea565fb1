// A window of a tensor whose place is known only when a program runs: read (dynamic_slice) or
// written (dynamic_update_slice).
#ifndef TESSERA_KERNEL_WINDOW_COPIES_H
#define TESSERA_KERNEL_WINDOW_COPIES_H

#include "kernel/strided_copies.h"
#include "tessera/dtype.h"

// Where the window starts along one dimension: an integer in an input of its own, moved into
// 0 .. most.
typedef struct tsr_window_start {
  int input;
  tsr_dtype dtype;
  int64_t most, stride;  // of the tensor, in elements
} tsr_window_start;

typedef struct tsr_window_copy {
  int start_count;
  const tsr_window_start *starts;
  tsr_strided_copies window;  // from or to the window at the start of the tensor
  tsr_strided_copies whole;   // of the other elements, where the tensor cannot be changed in place
} tsr_window_copy;

// Inputs are the tensor and what `starts` names.
tsr_status tsr_window_read(const void *description, const tsr_kernel_call *call);
// Inputs are the tensor, the new window and what `starts` names. The output may be the tensor.
tsr_status tsr_window_write(const void *description, const tsr_kernel_call *call);

#endif
