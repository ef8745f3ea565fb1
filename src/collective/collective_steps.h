// A change of sharding as a sequence of collectives.
#ifndef TESSERA_COLLECTIVE_COLLECTIVE_STEPS_H
#define TESSERA_COLLECTIVE_COLLECTIVE_STEPS_H

#include "factor/shardings.h"

typedef struct tsr_collective_step {
  tsr_op_id op;  // SDY_ALL_GATHER, SDY_ALL_SLICE, SDY_ALL_TO_ALL or SDY_COLLECTIVE_PERMUTE
  const tsr_sdy_parts *axes;            // of each dim; of an all-to-all one list; of a permute NULL
  int source, target;                   // dims of an all-to-all
  const tsr_tensor_sharding *sharding;  // after it
  struct tsr_collective_step *next;
} tsr_collective_step;

// The collectives that turn one sharding of a tensor of these sizes into another one, as Shardy
// chooses them; none if they are the same. Both have the rank of the tensor, valid axes, and meshes
// that differ in the order of devices at most. Memory is that of the arena.
TSR_MUST_USE tsr_status tsr_collective_steps(tsr_arena *arena, const tsr_tensor_sharding *from,
                                             const tsr_tensor_sharding *to, const int64_t *sizes,
                                             const tsr_collective_step **out_first);

#endif
