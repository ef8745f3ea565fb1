// Open addressing with linear probing over the full hash, so that items are compared rarely.
#include "ir/intern.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

const void *tsr_intern_find(const tsr_intern_table *table, uint64_t hash, tsr_intern_same *same,
                            const void *wanted) {
  if (!table->slots) return NULL;
  for (uint64_t i = hash & table->mask; table->slots[i].item; i = (i + 1) & table->mask)
    if (table->slots[i].hash == hash && same(table->slots[i].item, wanted))
      return table->slots[i].item;
  return NULL;
}

static void put(tsr_intern_slot *slots, uint64_t mask, tsr_intern_slot slot) {
  uint64_t i = slot.hash & mask;
  while (slots[i].item) i = (i + 1) & mask;
  slots[i] = slot;
}

static bool make_room(tsr_intern_table *table) {
  const uint64_t size = table->slots ? table->mask + 1 : 0;
  if (2 * (table->count + 1) <= size) return true;
  const uint64_t wanted = size ? 2 * size : FIRST_SLOTS;
  tsr_intern_slot *slots = calloc(wanted, sizeof *slots);
  if (!slots) return false;
  for (uint64_t i = 0; i < size; i++)
    if (table->slots[i].item) put(slots, wanted - 1, table->slots[i]);
  free(table->slots);
  table->slots = slots;
  table->mask = wanted - 1;
  return true;
}

bool tsr_intern_add(tsr_intern_table *table, uint64_t hash, const void *item) {
  if (!make_room(table)) return false;
  put(table->slots, table->mask, (tsr_intern_slot){hash, item});
  table->count++;
  return true;
}

void tsr_intern_deinit(tsr_intern_table *table) {
  free(table->slots);
  *table = (tsr_intern_table){0};
}
