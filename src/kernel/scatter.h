// Scatter: windows of updates combined with a tensor at places that a tensor of indices gives.
#ifndef TESSERA_KERNEL_SCATTER_H
#define TESSERA_KERNEL_SCATTER_H

#include "reduce/fold_loops.h"
#include "kernel/index_starts.h"
#include "kernel/strided_copies.h"
#include "tile/tile.h"

// One of the tensors that are scattered to together.
typedef struct tsr_scattered {
  int element_bytes;
  tsr_strided_copies whole;  // of the operand, if it is not changed in place
} tsr_scattered;

// How a window and what it meets become one.
typedef enum tsr_scatter_body {
  TSR_SCATTER_REPLACE,  // the update
  TSR_SCATTER_COMBINE,  // `loops`, of one tensor
  TSR_SCATTER_PROGRAM   // `program`: of all tensors and of `outside_count` scalars
} tsr_scatter_body;

// Windows of one element, those without a start left out. Updates are `step` elements apart.
typedef void tsr_scatter_fn(char *target, const int64_t *starts, const char *updates, int64_t step,
                            int64_t count);

typedef struct tsr_scatter {
  tsr_index_walk walk;
  int tensor_count;
  const tsr_scattered *tensors;
  tsr_scatter_body body;
  const tsr_fold_loops *loops;
  const tsr_tile_program *program;
  int64_t program_most;  // elements that it takes at a time
  int outside_count;
  // Set by tsr_scatter_plan.
  tsr_copy window;         // from the updates to the tensor
  bool whole_only;         // a window that is not inside is outside
  tsr_scatter_fn *single;  // for windows of one element; NULL = none
  int64_t units;           // visits of windows
  int64_t stripes, bands;  // tasks: parts of a window by parts of the tensor
  int64_t last_start;
} tsr_scatter;

void tsr_scatter_plan(tsr_scatter *scatter);
int64_t tsr_scatter_temp_bytes(const tsr_scatter *scatter);
int64_t tsr_scatter_scratch_bytes(const tsr_scatter *scatter);
// A tsr_kernel_fn. Inputs: the tensors, the indices, updates of each tensor, the scalars. An output
// may be its tensor. Updates that meet are combined in the order of the updates.
tsr_status tsr_scatter_run(const void *description, const tsr_kernel_call *call);

#endif
