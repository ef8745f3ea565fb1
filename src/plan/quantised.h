// Quantised weights: codes, and the scales that give them their values.
#ifndef TESSERA_PLAN_QUANTISED_H
#define TESSERA_PLAN_QUANTISED_H

#include "tessera/tree.h"

typedef enum tsr_quantised_kind {
  TSR_QUANTISED_NOT,
  TSR_QUANTISED_CODES,  // meaningless without the scales in `with`
  TSR_QUANTISED_SCALE   // scales, zero points or tables that give codes their values
} tsr_quantised_kind;

typedef struct tsr_quantised {
  tsr_quantised_kind kind;
  int64_t with;  // a tensor of the other kind; itself if the tree has none
} tsr_quantised;

// One per tensor of the tree, by names and dtypes; the caller frees the list.
TSR_MUST_USE tsr_status tsr_quantised_find(const tsr_tree *tree, tsr_quantised **out_items);

#endif
