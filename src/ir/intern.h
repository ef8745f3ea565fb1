// Tables of things that a program holds once: types and names by content, symbols by name.
#ifndef TESSERA_IR_INTERN_H
#define TESSERA_IR_INTERN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsr_intern_slot {
  uint64_t hash;
  const void *item;  // NULL = free
} tsr_intern_slot;

// Open addressing, at most half full. The slots are owned, the items are not.
typedef struct tsr_intern_table {
  tsr_intern_slot *slots;
  uint64_t mask, count;
} tsr_intern_table;

typedef bool tsr_intern_same(const void *item, const void *wanted);
// The item of this hash for which `same(item, wanted)` holds; NULL = none.
const void *tsr_intern_find(const tsr_intern_table *table, uint64_t hash, tsr_intern_same *same,
                            const void *wanted);
// Adds an item that is not in the table. False without memory.
bool tsr_intern_add(tsr_intern_table *table, uint64_t hash, const void *item);
void tsr_intern_deinit(tsr_intern_table *table);  // empty, memory freed

#endif
