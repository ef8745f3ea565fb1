// Open addressing with linear steps. At most half of the slots are used, so a miss takes few steps.
#include "plan/hash_slots.h"

#include <stdlib.h>

static void place(tsr_hash_slots *slots, int64_t item) {
  const size_t mask = 2 * (size_t)slots->capacity - 1;
  size_t slot = slots->hashes[item] & mask;
  while (slots->slots[slot]) slot = (slot + 1) & mask;
  slots->slots[slot] = (int32_t)item + 1;
}

static bool grow(tsr_hash_slots *slots) {
  const int64_t capacity = slots->capacity ? 2 * slots->capacity : 32;
  uint64_t *hashes = realloc(slots->hashes, sizeof *hashes * (size_t)capacity);
  if (hashes) slots->hashes = hashes;
  int32_t *larger = calloc(2 * (size_t)capacity, sizeof *larger);
  if (!hashes || !larger) {
    free(larger);
    return false;
  }
  free(slots->slots);
  slots->slots = larger;
  slots->capacity = capacity;
  for (int64_t i = 0; i < slots->count; i++) place(slots, i);
  return true;
}

bool tsr_hash_slots_add(tsr_hash_slots *slots, uint64_t hash) {
  if (slots->count == slots->capacity && !grow(slots)) return false;
  slots->hashes[slots->count] = hash;
  place(slots, slots->count++);
  return true;
}

void tsr_hash_slots_deinit(tsr_hash_slots *slots) {
  free(slots->hashes);
  free(slots->slots);
  *slots = (tsr_hash_slots){0};
}
