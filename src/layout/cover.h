// Cover: whether boxes tile a region, and how much of it they cover.
//
// Both are answered by recursive halving: a plane through the median of the box sides inside the
// region splits the region and the list of boxes. Planes never cut boxes of a grid, so N of them
// take O(N log N) steps of O(rank); interlocking boxes are cut and cost more. The depth is at most
// log2(2N) for each dimension.
#ifndef TESSERA_LAYOUT_COVER_H
#define TESSERA_LAYOUT_COVER_H

#include "tessera/layout.h"

// A region where a tiling is broken: `times` boxes cover it, instead of one.
typedef struct tsr_cover_fault {
  tsr_range ranges[TSR_MAX_RANK];
  int64_t times;
} tsr_cover_fault;

// Whether each element of `region` (`rank` ranges) is in exactly one of the boxes (`rank` ranges
// each, clipped to the region). If not, a region where that fails.
TSR_MUST_USE tsr_status tsr_cover_tiles(const tsr_range *region, int rank, const tsr_range *boxes,
                                        int64_t count, bool *out_tiles, tsr_cover_fault *out_fault);
// Number of elements of the region in at least one box.
TSR_MUST_USE tsr_status tsr_cover_volume(const tsr_range *region, int rank, const tsr_range *boxes,
                                         int64_t count, int64_t *out_volume);

int64_t tsr_box_volume(const tsr_range *box, int rank);  // of a box inside a tensor
// Classes of equal boxes: for each box the index of the first equal one, and the number of equal
// ones before it. Either list may be NULL. O(count log count).
TSR_MUST_USE tsr_status tsr_box_classes(const tsr_range *boxes, int rank, int64_t count,
                                        int64_t *out_first, int64_t *out_ranks);

#endif
