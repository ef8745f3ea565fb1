// Reductions by any body, over any dims.
#ifndef TESSERA_REDUCE_REDUCE_REGION_H
#define TESSERA_REDUCE_REDUCE_REGION_H

#include "reduce/region_call.h"

enum { TSR_REDUCE_RANK = 16 };

// Dims of the input, outermost first, neighbours joined: those that stay, which are also the dims
// of the result, and those that are reduced. Strides count elements.
typedef struct tsr_reduce_dims {
  int rank;
  int64_t dims[TSR_REDUCE_RANK], strides[TSR_REDUCE_RANK];
} tsr_reduce_dims;

// Inputs: the tensors, their initial values, values from outside.
typedef struct tsr_reduce_region {
  tsr_region_call region;
  tsr_reduce_dims kept, reduced;
} tsr_reduce_region;

// Elements are taken in the order of their indices, the initial value first. Long reductions to few
// results are cut in parts that are combined in order: this asks for an associative body.
tsr_status tsr_reduce_region_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_reduce_region_scratch_bytes(const tsr_reduce_region *reduce);
void tsr_reduce_region_destroy(void *description);  // the program

#endif
