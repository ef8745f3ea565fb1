// Items that a sort moves: a key as an unsigned number, and the place its element came from.
#ifndef TESSERA_REDUCE_SORT_ITEMS_H
#define TESSERA_REDUCE_SORT_ITEMS_H

#include <stdint.h>

#include "tile/kernel_call.h"

// What is ordered by items: keys alone, keys of up to 32 bits with places, keys of 64 bits with
// places.
typedef uint32_t tsr_sort_bare;
typedef uint64_t tsr_sort_narrow;  // the key above, the place below
typedef struct tsr_sort_wide {
  uint64_t key, place;
} tsr_sort_wide;

// Memory of one sort: two arrays of items and `blocks` tables of counts.
enum { TSR_SORT_DIGITS = 2048 };  // counts of a table
typedef struct tsr_sort_space {
  void *items, *spare;
  uint32_t *counts;
  int64_t blocks;  // tasks that share the work
  tsr_pool *pool;
} tsr_sort_space;

// Stable sorts of `count` items by the low `bits` of their keys. The result is in `items`.
tsr_status tsr_sort_bare_items(const tsr_sort_space *space, int64_t count, int bits);
tsr_status tsr_sort_narrow_items(const tsr_sort_space *space, int64_t count, int bits);
tsr_status tsr_sort_wide_items(const tsr_sort_space *space, int64_t count, int bits);

#endif
