// Reduction: the ways to make one element of many.
#ifndef TESSERA_REDUCTION_H
#define TESSERA_REDUCTION_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

// Sum and product of integers wrap. Floats narrower than 32 bits are accumulated as f32 and rounded
// once. Min and max give NaN if any input is NaN, order -0 before +0, and are not defined for
// complex types; and, or are for bools and integers. On bools (whose bytes are 0 or 1) sum and max
// are or, product and min are and. A NaN result is always the same, positive and quiet,
// whatever the payloads of the inputs.
typedef enum tsr_reduction {
  TSR_REDUCE_SUM,
  TSR_REDUCE_MAX,
  TSR_REDUCE_MIN,
  TSR_REDUCE_PRODUCT,
  TSR_REDUCE_AND,
  TSR_REDUCE_OR,
  TSR_REDUCTION_COUNT
} tsr_reduction;

TSR_END_DECLS

#endif
