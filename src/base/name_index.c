// Open addressing with linear probing over 32-bit hashes. The table doubles when it is half full.
#include "base/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "tessera/engine/hash.h"

static uint32_t hash_name(const char *name) { return (uint32_t)tsr_hash64(name, strlen(name), 0); }

// The slot of `name`, or the free one where it belongs. The table is never full.
static tsr_name_slot *probe(const tsr_name_index *index, const char *name, uint32_t hash) {
  for (size_t i = hash & index->mask;; i = (i + 1) & index->mask) {
    tsr_name_slot *slot = &index->slots[i];
    if (!slot->name || (slot->hash == hash && !strcmp(slot->name, name))) return slot;
  }
}

// At most half full, so that a miss ends after a few steps.
static tsr_status grow(tsr_name_index *index) {
  const size_t capacity = index->slots ? 2 * (index->mask + 1) : 16;
  tsr_name_index larger = {calloc(capacity, sizeof *larger.slots), capacity - 1, index->count};
  if (!larger.slots) return tsr_fail(NO_MEMORY, "index of %zu names", index->count);
  for (size_t i = 0; index->slots && i <= index->mask; i++) {
    const tsr_name_slot *slot = &index->slots[i];
    if (slot->name) *probe(&larger, slot->name, slot->hash) = *slot;
  }
  free(index->slots);
  *index = larger;
  return NULL;
}

tsr_status tsr_name_index_add(tsr_name_index *index, const char *name, int64_t position,
                              int64_t *out_existing) {
  if (position > INT32_MAX)
    return tsr_fail(TOO_LARGE, "more than %d names cannot be indexed", INT32_MAX);
  if (!index->slots || 2 * (index->count + 1) > index->mask + 1) TSR_TRY(grow(index));
  const uint32_t hash = hash_name(name);
  tsr_name_slot *slot = probe(index, name, hash);
  *out_existing = slot->name ? slot->position : -1;
  if (slot->name) return NULL;
  *slot = (tsr_name_slot){name, hash, (int32_t)position};
  index->count++;
  return NULL;
}

int64_t tsr_name_index_find(const tsr_name_index *index, const char *name) {
  if (!index->slots) return -1;
  const tsr_name_slot *slot = probe(index, name, hash_name(name));
  return slot->name ? slot->position : -1;
}

void tsr_name_index_deinit(tsr_name_index *index) {
  free(index->slots);
  *index = (tsr_name_index)TSR_NAME_INDEX_EMPTY;
}
