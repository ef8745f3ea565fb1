// Donated arguments as JAX writes them: tf.aliasing_output with the result that takes the memory,
// or jax.buffer_donor.
#ifndef TESSERA_PARTITIONED_DONATIONS_H
#define TESSERA_PARTITIONED_DONATIONS_H

#include "ir/ir.h"

typedef struct tsr_donation {
  bool donated;
  int64_t aliased;  // -1 = no result
} tsr_donation;

// Writes those of all arguments of a function, in place of what it says now.
TSR_MUST_USE tsr_status tsr_donations_write(tsr_ir *ir, tsr_op *func,
                                            const tsr_donation *donations);

#endif
