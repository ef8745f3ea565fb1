// Where the axes of a sharding cut the elements of a tensor, seen as one row.
#ifndef TESSERA_COLLECTIVE_AXIS_STRIDES_H
#define TESSERA_COLLECTIVE_AXIS_STRIDES_H

#include "factor/shardings.h"

// An axis, and how many elements in a row each of its shards has.
typedef struct tsr_axis_stride {
  tsr_sdy_part axis;
  double stride;
  int64_t before;  // pieces that dims and axes before it cut the row into
  int64_t size;    // of its dim
  int64_t place;   // to keep the order of equal ones
} tsr_axis_stride;

// Sorted by their strides, the smallest first; parts of an axis that follow each other are one.
typedef struct tsr_axis_strides {
  tsr_axis_stride *items;
  int64_t count;
  bool uneven;
} tsr_axis_strides;

// The strides of a sharding of a static tensor, in memory of the arena. `uneven`: dims need not be
// divided by their axes, strides are fractions then; otherwise shards are rounded up.
TSR_MUST_USE tsr_status tsr_axis_strides_make(tsr_arena *arena, const tsr_tensor_sharding *sharding,
                                              const tsr_type *type, bool uneven,
                                              tsr_axis_strides *out_strides);
// Whether they cut a row in the same way.
bool tsr_axis_strides_equal(const tsr_axis_strides *a, const tsr_axis_strides *b);

#endif
