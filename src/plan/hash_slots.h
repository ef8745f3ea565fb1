// Items of a list found by their hash. The caller keeps the list and compares its items.
//
//   size_t step = 0;
//   int64_t at = -1;
//   while ((at = tsr_hash_slots_probe(&slots, hash, &step)) >= 0 && !is_same(&list[at])) {
//   }
#ifndef TESSERA_PLAN_HASH_SLOTS_H
#define TESSERA_PLAN_HASH_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tsr_hash_slots {
  uint64_t *hashes;  // owned, by item
  int32_t *slots;    // owned: 2 * capacity of them, item + 1; 0 = free
  int64_t count, capacity;
} tsr_hash_slots;  // all zeros is empty

// The next item with this hash, -1 = no more. `*inout_step` is 0 at first.
static inline int64_t tsr_hash_slots_probe(const tsr_hash_slots *slots, uint64_t hash,
                                           size_t *inout_step) {
  const size_t mask = 2 * (size_t)slots->capacity - 1;
  while (slots->capacity) {
    const int64_t item = slots->slots[(hash + (*inout_step)++) & mask] - 1;
    if (item < 0 || slots->hashes[item] == hash) return item;
  }
  return -1;
}

// Adds item number `count`. False when memory is out; the table is then as before.
bool tsr_hash_slots_add(tsr_hash_slots *slots, uint64_t hash);
void tsr_hash_slots_deinit(tsr_hash_slots *slots);

#endif
