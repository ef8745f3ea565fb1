// select_and_scatter: each window chooses one element of an operand, and a source value is combined
// into the result at that place. The gradient of max pooling.
#ifndef TESSERA_REDUCE_SELECT_SCATTER_H
#define TESSERA_REDUCE_SELECT_SCATTER_H

#include "reduce/window.h"

// Inputs: the operand, the source (one value for each window), the initial value of the result,
// then values from outside of `select` and of `scatter`. An element stays chosen while
// select(chosen, next) is true.
typedef struct tsr_select_scatter {
  tsr_window_shape window;  // base dilations are 1
  tsr_dtype dtype;
  int element_bytes;
  // Native: the largest (select is >=) or smallest (<=) element is chosen, and values are added.
  bool native, smallest;
  tsr_tile_program *select, *scatter;  // otherwise: of up to `most` elements
  int select_outside, scatter_outside;
  int64_t most;  // windows of a row that choose together
} tsr_select_scatter;

// Whether there are loops for a type and operands of this many elements.
bool tsr_select_scatter_is_native(tsr_dtype dtype, int64_t count);
tsr_status tsr_select_scatter_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_select_scatter_scratch_bytes(const tsr_select_scatter *select);
void tsr_select_scatter_destroy(void *description);

#endif
