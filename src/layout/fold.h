// Fold: runs of one dimension as boxes of a plane.
//
// Write the dimension in rows of a common period. A run of blocks a period apart is then a box (its
// place in the row, times the rows it spans), and questions about repeating runs become questions
// about a few boxes. Without repeating runs the whole dimension is one row.
#ifndef TESSERA_LAYOUT_FOLD_H
#define TESSERA_LAYOUT_FOLD_H

#include "layout/index_run.h"

typedef struct tsr_fold {
  int64_t size, period;
  int64_t count, capacity;
  tsr_range *boxes;  // owned; two ranges each: within the row, and which rows
} tsr_fold;

// Folds these runs of a dimension of `size` elements. Fails with too_large if their common period
// is too long.
TSR_MUST_USE tsr_status tsr_fold_init(tsr_fold *fold, int64_t size, const tsr_run_list *runs);
void tsr_fold_deinit(tsr_fold *fold);
// Whether each element of the dimension is in exactly one run. If not, the index of an element that
// is in `times` of them.
TSR_MUST_USE tsr_status tsr_fold_tiles(const tsr_fold *fold, bool *out_tiles, int64_t *out_index,
                                       int64_t *out_times);
// Number of elements in at least one run.
TSR_MUST_USE tsr_status tsr_fold_elements(const tsr_fold *fold, int64_t *out_elements);

#endif
