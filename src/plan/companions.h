// Which tensors go with another one, by name: see companions.def.
#ifndef TESSERA_PLAN_COMPANIONS_H
#define TESSERA_PLAN_COMPANIONS_H

#include "tessera/tree.h"

typedef enum tsr_companion_kind {
  TSR_COMPANION_NONE,
  TSR_COMPANION_STATE,  // of an optimiser: of the parameter's shape, or a single number
  TSR_COMPANION_SCALE   // of a quantised weight: a number for each block of it
} tsr_companion_kind;

// What tensor `index` is, and of which one.
tsr_companion_kind tsr_companion_find(const tsr_tree *tree, int64_t index, int64_t *out_of);

#endif
