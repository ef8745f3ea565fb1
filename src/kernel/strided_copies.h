// Copies of boxes with strides: what slices, transposes, broadcasts, reverses, concatenations and
// padding are, alone or several together.
#ifndef TESSERA_KERNEL_STRIDED_COPIES_H
#define TESSERA_KERNEL_STRIDED_COPIES_H

#include "element/copy_internal.h"
#include "tile/kernel_call.h"

// A copy from an input to the output. Offsets and strides count elements; those of the source may
// be 0 (one element goes to many places) or negative.
typedef struct tsr_copy_part {
  int input;
  tsr_copy copy;
  int64_t chunk;  // elements that one task copies; set by tsr_copies_plan
} tsr_copy_part;

// Copies to one output, no two of them to the same place.
typedef struct tsr_strided_copies {
  int element_bytes;
  int part_count;
  const tsr_copy_part *parts;
  int64_t tasks;  // 0 = nothing to copy
  tsr_copy_stores stores;
} tsr_strided_copies;

// Simplifies `parts` and splits them in tasks. `copies` refers to the parts from now on.
tsr_strided_copies tsr_copies_plan(int element_bytes, tsr_copy_part *parts, int part_count);
// A tsr_kernel_fn; the description is a tsr_strided_copies.
tsr_status tsr_copies_run(const void *description, const tsr_kernel_call *call);
// The same for other addresses: part i reads `inputs[parts[i].input]`.
TSR_MUST_USE tsr_status tsr_copies_apply(const tsr_strided_copies *copies,
                                         const char *const *inputs, char *target, tsr_pool *pool);

#endif
