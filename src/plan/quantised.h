// Which tensors are a quantised weight only together: codes and their scales.
#ifndef TESSERA_PLAN_QUANTISED_H
#define TESSERA_PLAN_QUANTISED_H

#include "tessera/tree.h"

typedef enum tsr_quantised_kind {
  TSR_QUANTISED_NOT,
  TSR_QUANTISED_CODES,  // numbers that mean nothing without those of `with`
  TSR_QUANTISED_SCALE   // scales, zero points or tables that give codes their values
} tsr_quantised_kind;

typedef struct tsr_quantised {
  tsr_quantised_kind kind;
  int64_t with;  // a tensor of the other kind; itself, where none is in the tree
} tsr_quantised;

// For each tensor of a tree, by names and types; the caller frees the list.
TSR_MUST_USE tsr_status tsr_quantised_find(const tsr_tree *tree, tsr_quantised **out_items);

#endif
