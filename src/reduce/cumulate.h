// Cumulative reductions along a dim: sums, products, extremes, and any body.
#ifndef TESSERA_REDUCE_CUMULATE_H
#define TESSERA_REDUCE_CUMULATE_H

#include "reduce/region_call.h"

// Tensors are outer x length x inner. Result i along the middle combines the initial value and the
// elements up to i, or from i on.
typedef struct tsr_cumulate_dims {
  int64_t outer, length, inner;
  bool reverse;
} tsr_cumulate_dims;

// By an op that tsr_fold_loops_of knows. Inputs: the tensor, the initial value.
typedef struct tsr_cumulate {
  tsr_cumulate_dims dims;
  tsr_dtype dtype;
  tsr_tile_op op;
  int element_bytes;
} tsr_cumulate;
// Long lines are cut in blocks that are combined by themselves first; the order depends on the
// length only.
tsr_status tsr_cumulate_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_cumulate_scratch_bytes(const tsr_cumulate *cumulate);
int64_t tsr_cumulate_temp_bytes(const tsr_cumulate *cumulate);

// By any body. Inputs: the tensors, their initial values, values from outside.
typedef struct tsr_cumulate_region {
  tsr_cumulate_dims dims;
  tsr_region_call region;
} tsr_cumulate_region;
tsr_status tsr_cumulate_region_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_cumulate_region_scratch_bytes(const tsr_cumulate_region *cumulate);
void tsr_cumulate_region_destroy(void *description);

#endif
