// The cut of one dimension of a companion.
#ifndef TESSERA_PLAN_COMPANION_DIM_H
#define TESSERA_PLAN_COMPANION_DIM_H

#include "base/arena.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"
#include "tessera/tree.h"

// One dimension of a companion beside that of its weight.
typedef struct tsr_companion_dim {
  const tsr_tensor *scale, *weight;
  int dim, of;         // of the companion, and of the weight; -1 = none
  int64_t unit, step;  // `unit` elements of the weight go with `step` of the companion
  tsr_arena *arena;
} tsr_companion_dim;

// Turns the weight's cut in that dimension, `inout_dim`, into the companion's: the same in other
// units, in the arena's memory. Sets unit and step. A cut through a block fails (bad_cut).
TSR_MUST_USE tsr_status tsr_companion_dim_cut(tsr_companion_dim *b, const tsr_sharding_dim *bound,
                                              tsr_spec_dim *inout_dim);

#endif
