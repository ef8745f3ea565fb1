// An open-addressing hash table from three numbers to one, for caches.
#include "transfer/triples.h"

#include <stdlib.h>

void tsr_triples_deinit(tsr_triples *triples) {
  free(triples->slots);
  *triples = (tsr_triples)TSR_TRIPLES_EMPTY;
}

static tsr_triple *find_slot(const tsr_triples *triples, int64_t a, int64_t b, int64_t c) {
  uint64_t hash = (uint64_t)a * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 29 ^ (uint64_t)b) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ hash >> 32 ^ (uint64_t)c) * 0x94d049bb133111ebu;
  for (size_t i = (hash ^ hash >> 31) & triples->mask;; i = (i + 1) & triples->mask) {
    tsr_triple *slot = &triples->slots[i];
    if (!slot->used || (slot->a == a && slot->b == b && slot->c == c)) return slot;
  }
}

static tsr_status make_room(tsr_triples *triples) {
  const size_t had = triples->slots ? triples->mask + 1 : 0;
  if (2 * (triples->count + 1) <= had) return NULL;
  tsr_triples larger = {.count = triples->count, .mask = (had ? 2 * had : 16) - 1};
  larger.slots = calloc(larger.mask + 1, sizeof *larger.slots);
  if (!larger.slots) return tsr_fail(NO_MEMORY, "a table of %zu answers", larger.mask + 1);
  for (size_t i = 0; i < had; i++) {
    const tsr_triple *old = &triples->slots[i];
    if (old->used) *find_slot(&larger, old->a, old->b, old->c) = *old;
  }
  free(triples->slots);
  *triples = larger;
  return NULL;
}

tsr_status tsr_triples_find(tsr_triples *triples, int64_t a, int64_t b, int64_t c,
                            int64_t **out_value) {
  TSR_TRY(make_room(triples));
  tsr_triple *slot = find_slot(triples, a, b, c);
  if (!slot->used) {
    *slot = (tsr_triple){a, b, c, -1, true};
    triples->count++;
  }
  *out_value = &slot->value;
  return NULL;
}
