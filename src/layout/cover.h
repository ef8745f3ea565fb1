// Cover: whether boxes tile a region, and how much of it they cover.
//
// Both are answered by halving: a plane through the median of the box sides inside the region
// splits it and the list of boxes in two, and so on. Boxes of a grid are never cut by such planes,
// so N of them take O(N log N) steps of O(rank); boxes that interlock cost more, as planes must cut
// them. The depth is at most log2(2N) for each dimension.
#ifndef TESSERA_LAYOUT_COVER_H
#define TESSERA_LAYOUT_COVER_H

#include "tessera/layout.h"

// What was found where a tiling is broken: a box that `times` boxes hold, and not one.
typedef struct tsr_cover_fault {
  tsr_range ranges[TSR_MAX_RANK];
  int64_t times;
} tsr_cover_fault;

// Whether each element of `region` (`rank` ranges) is in exactly one of the boxes, which follow one
// another, `rank` ranges each; what reaches out of the region does not count. If not, a place where
// it is not so.
TSR_MUST_USE tsr_status tsr_cover_tiles(const tsr_range *region, int rank, const tsr_range *boxes,
                                        int64_t count, bool *out_tiles, tsr_cover_fault *out_fault);
// How many elements of the region lie in at least one of the boxes.
TSR_MUST_USE tsr_status tsr_cover_volume(const tsr_range *region, int rank, const tsr_range *boxes,
                                         int64_t count, int64_t *out_volume);

int64_t tsr_box_volume(const tsr_range *box, int rank);  // of a box inside a tensor
// Boxes that are equal. For each box the index of the first equal one, and how many equal ones
// stand before it; either list may be NULL. O(count log count).
TSR_MUST_USE tsr_status tsr_box_classes(const tsr_range *boxes, int rank, int64_t count,
                                        int64_t *out_first, int64_t *out_ranks);

#endif
