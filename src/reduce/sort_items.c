// Sorting items by their keys: merges of few, digits of many.
#include "reduce/sort_items.h"

#include <stdbool.h>
#include <string.h>

enum { RUN = 12, FEW = 400, MANY = 16384 };

// One pass over a digit of all keys.
typedef struct sort_pass {
  const tsr_sort_space *space;
  int64_t count;
  void *from, *to;
  int shift;
  uint64_t mask;
} sort_pass;

static int64_t block_start(const sort_pass *p, int64_t block) {
  const int64_t blocks = p->space->blocks, each = (p->count + blocks - 1) / blocks;
  return block * each < p->count ? block * each : p->count;
}

// Turns the counts of blocks into where each block's items of a digit start. False if all items
// have the same digit, so that none moves.
static bool place_digits(const sort_pass *p) {
  uint32_t *counts = p->space->counts;
  uint64_t start = 0;
  for (uint64_t digit = 0; digit <= p->mask; digit++) {
    const uint64_t before = start;
    for (int64_t b = 0; b < p->space->blocks; b++) {
      uint32_t *at = &counts[(uint64_t)b * TSR_SORT_DIGITS + digit];
      const uint32_t here = *at;
      *at = (uint32_t)start;
      start += here;
    }
    if (start - before == (uint64_t)p->count) return false;
  }
  return true;
}

#define ITEM tsr_sort_bare
#define KEY(item) (item)
#define NAMED(name) bare_##name
#define SORT tsr_sort_bare_items
#include "reduce/sort_items.inc"

#define ITEM tsr_sort_narrow
#define KEY(item) ((item) >> 32)
#define NAMED(name) narrow_##name
#define SORT tsr_sort_narrow_items
#include "reduce/sort_items.inc"

#define ITEM tsr_sort_wide
#define KEY(item) ((item).key)
#define NAMED(name) wide_##name
#define SORT tsr_sort_wide_items
#include "reduce/sort_items.inc"
