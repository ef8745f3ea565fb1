// Runs: progressions of equal blocks.
//
// A run maps indices of a tensor's dimension to places in a shard. Two runs over the same indices
// *meet* where both have blocks. The meeting of two progressions is again a few progressions, found
// without visiting every block. Nested cuts and copies between layouts both use this operation.
#ifndef TESSERA_LAYOUT_INDEX_RUN_H
#define TESSERA_LAYOUT_INDEX_RUN_H

#include "layout/layout_internal.h"
#include "tessera/layout.h"

// Longer lists of runs are refused (cyclic inside cyclic without a common period).
#define TSR_MAX_RUNS (1 << 20)

typedef struct tsr_run_list {
  tsr_run *items;  // owned
  int count;
  int64_t capacity;
} tsr_run_list;
#define TSR_RUN_LIST_EMPTY \
  { NULL, 0, 0 }

void tsr_run_list_deinit(tsr_run_list *list);
// Skips empty runs; a run that continues the last one extends it.
TSR_MUST_USE tsr_status tsr_run_list_add(tsr_run_list *list, tsr_run run);
// Sorts by place in the shard and joins what is contiguous on both sides.
void tsr_run_list_tidy(tsr_run_list *list);
int64_t tsr_run_list_elements(const tsr_run_list *list);

// One block from `global` on, `length` long.
tsr_run tsr_run_block(int64_t global, int64_t local, int64_t length, bool owned);
int64_t tsr_run_end(const tsr_run *run);  // one past the last index
// Indices and places swapped.
tsr_run tsr_run_flip(const tsr_run *run);

// Blocks that two runs share, and their places on either side.
typedef struct tsr_overlap {
  int64_t global, a, b, length, count, step, a_step, b_step;
} tsr_overlap;

// An iterator over the overlaps of two runs, in O(1) memory.
//
// Pairs of blocks are grouped into progressions in the cheapest of three ways: by the common period
// of the two (about period / step of each), or, if the blocks of one side are long, by what is
// inside each long block (at most three overlaps each).
typedef struct tsr_meeting {
  tsr_run a, b;
  int64_t i, j;                // next blocks to compare
  int64_t a_period, b_period;  // blocks in a common period; grouped by it when `periodic`
  bool periodic, inside_a;     // else grouped inside blocks of a, or of b
} tsr_meeting;
tsr_meeting tsr_meeting_of(const tsr_run *a, const tsr_run *b);
bool tsr_meeting_next(tsr_meeting *meeting, tsr_overlap *out_overlap);

#endif
