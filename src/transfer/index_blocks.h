// Blocks: a shard as products of runs, one list for each dimension, with their strides.
//
// A shard of a grid is one block, a listed box one block of single runs, a flat range a few. Two
// blocks meet in the product of what their dimensions share.
#ifndef TESSERA_TRANSFER_INDEX_BLOCKS_H
#define TESSERA_TRANSFER_INDEX_BLOCKS_H

#include "base/arena.h"
#include "transfer/transfer.h"

typedef struct tsr_block {
  tsr_run_list *runs;  // one list for each dimension
  int64_t *strides;    // in the buffer
  int64_t offset;
  int64_t number;  // of the listed box or range; -1 in a grid
} tsr_block;

typedef struct tsr_blocks {
  const tsr_layout *layout;
  int64_t shard, count, capacity;
  tsr_block *items;  // owned
  tsr_arena arena;
} tsr_blocks;
#define TSR_BLOCKS_EMPTY \
  { NULL, -1, 0, 0, NULL, TSR_ARENA_EMPTY }

TSR_MUST_USE tsr_status tsr_blocks_init(tsr_blocks *blocks, const tsr_layout *layout,
                                        int64_t shard);
void tsr_blocks_deinit(tsr_blocks *blocks);
// The smallest box around the block; false if it is empty.
bool tsr_block_hull(const tsr_block *block, int rank, tsr_range *out_hull);

#endif
