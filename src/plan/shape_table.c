#include "plan/shape_table.h"

#include <stdlib.h>
#include <string.h>

#include "tessera/engine/kernels.h"

static bool is_entry(const tsr_shape_entry *entry, uint64_t hash, uint64_t key,
                     const tsr_tensor *tensor) {
  return entry->hash == hash && entry->key == key && entry->tensor->rank == tensor->rank &&
         !memcmp(entry->tensor->dims, tensor->dims, sizeof *tensor->dims * (size_t)tensor->rank);
}

// At most half full, so that a miss ends after a few steps.
static tsr_status grow(tsr_shape_table *table) {
  const int capacity = table->capacity ? 2 * table->capacity : 32;
  const size_t slot_count = 2 * (size_t)capacity;
  int32_t *slots = calloc(slot_count, sizeof *slots);
  tsr_shape_entry *entries = realloc(table->entries, sizeof *entries * (size_t)capacity);
  if (entries) table->entries = entries;
  if (!slots || !entries) {
    free(slots);
    return tsr_fail(NO_MEMORY, "table of %d shapes", capacity);
  }
  for (int i = 0; i < table->count; i++) {
    size_t slot = entries[i].hash & (slot_count - 1);
    while (slots[slot]) slot = (slot + 1) & (slot_count - 1);
    slots[slot] = i + 1;
  }
  free(table->slots);
  table->slots = slots;
  table->slot_mask = slot_count - 1;
  table->capacity = capacity;
  return NULL;
}

tsr_status tsr_shape_table_add(tsr_shape_table *table, uint64_t key, const tsr_tensor *tensor,
                               int *out_index) {
  const size_t bytes = sizeof *tensor->dims * (size_t)tensor->rank;
  const uint64_t hash = tsr_hash64(tensor->dims, bytes, key);
  if (table->count == table->capacity) TSR_TRY(grow(table));
  size_t slot = hash & table->slot_mask;
  while (table->slots[slot] &&
         !is_entry(&table->entries[table->slots[slot] - 1], hash, key, tensor))
    slot = (slot + 1) & table->slot_mask;
  if (!table->slots[slot]) {
    table->entries[table->count++] = (tsr_shape_entry){key, hash, tensor};
    table->slots[slot] = table->count;
  }
  *out_index = table->slots[slot] - 1;
  return NULL;
}

void tsr_shape_table_deinit(tsr_shape_table *table) {
  free(table->entries);
  free(table->slots);
  *table = (tsr_shape_table)TSR_SHAPE_TABLE_EMPTY;
}
