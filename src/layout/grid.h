// Grid: the shard and the replica of a mesh position by arithmetic.
//
// A position is a number in a mixed radix. Each axis or sub-axis that cuts a dimension is one of
// its digits; the ranges between them are further digits. The former together are the shard, the
// latter the replica. Nothing is stored for a device.
#ifndef TESSERA_LAYOUT_GRID_H
#define TESSERA_LAYOUT_GRID_H

#include "layout/layout.h"

#define TSR_MAX_PLACES 128  // 63 digits of 2 and more, and gaps around them

// One digit of a position: position / stride % size.
typedef struct tsr_place {
  int64_t stride, size;
  int dim;         // that it cuts; -1 = none, it counts replicas
  int64_t weight;  // of the digit in the dimension's shard index, or in the replica index
} tsr_place;

// All digits of a position, most significant first. Returns their number.
int tsr_grid_places(const tsr_layout *layout, tsr_place *out_places);
// The shard index of a position along one dimension.
int64_t tsr_grid_index(const tsr_layout *layout, int dim, int64_t position);

// A walk over all positions in order that tracks the shard index along each dimension.
typedef struct tsr_grid_walk {
  int place_count;
  tsr_place places[TSR_MAX_PLACES];
  int64_t digits[TSR_MAX_PLACES];
  int64_t coords[TSR_MAX_RANK];
} tsr_grid_walk;
void tsr_grid_walk_init(tsr_grid_walk *walk, const tsr_layout *layout);
// Steps to the next position, after the last one to the first. Returns the index of the first place
// that changed.
int tsr_grid_walk_step(tsr_grid_walk *walk);

#endif
