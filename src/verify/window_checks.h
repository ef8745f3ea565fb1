// Windows that move over a tensor: strides, padding and dilations, of convolutions and of
// reductions.
#ifndef TESSERA_VERIFY_WINDOW_CHECKS_H
#define TESSERA_VERIFY_WINDOW_CHECKS_H

#include "verify/op_checks.h"

// A list with a number for each dimension of the window; absent or empty = 1 for each.
typedef struct tsr_window_numbers {
  const char *name;
  const char *count, *positive;  // constraints
  const tsr_attr *ints;
} tsr_window_numbers;

typedef struct tsr_op_window {
  int rank;
  const int64_t *sizes;  // of the window; TSR_DYNAMIC = unknown
  const char *positive;  // constraint on the sizes
  tsr_window_numbers strides, base_dilations, window_dilations;
  const char *padding_name;  // constraint on the padding
  const tsr_attr *padding;   // DENSE of integers, [rank, 2]; NULL = none
} tsr_op_window;

TSR_MUST_USE tsr_status tsr_check_window(const tsr_op *op, const tsr_op_window *window);
// The number of places of the window in a dimension of `size`; 0 if that is too large to count.
int64_t tsr_window_places(const tsr_op_window *window, int dim, int64_t size);

#endif
