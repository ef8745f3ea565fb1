// The index serves twice: while reading, it finds duplicate keys in linear time; later, it makes
// finding a member of a header with 100,000 tensors a matter of one probe.
#include "base/json_node.h"

#include <stdlib.h>

#include "tessera/hash.h"

static const uint64_t DISTANCE_MASK = (UINT64_C(1) << 40) - 1;

static uint64_t tag_of(uint64_t hash) { return hash & ~DISTANCE_MASK; }

// The place in the table of `name`: where it is, or the empty one where it belongs.
static size_t find_place(const tsr_json_index *index, const tsr_json *object, const char *name,
                         size_t length, uint64_t hash) {
  for (size_t i = hash & index->mask;; i = (i + 1) & index->mask) {
    const uint64_t entry = index->entries[i];
    if (!entry) return i;
    const tsr_json *key = object + (entry & DISTANCE_MASK) - 1;
    if (tag_of(entry) == tag_of(hash) && json_same_bytes(key, name, length)) return i;
  }
}

const tsr_json *tsr_json_index_find(const tsr_json *object, const char *name, size_t length) {
  const tsr_json_index *index = object[1].index;
  const uint64_t hash = tsr_hash64(name, length, index->seed);
  const uint64_t entry = index->entries[find_place(index, object, name, length, hash)];
  return entry ? object + (entry & DISTANCE_MASK) : NULL;
}

static size_t table_size(size_t count) {
  size_t size = 32;
  while (size < 2 * count) size *= 2;
  return size;
}

tsr_status tsr_json_index_create(const tsr_json *object, size_t count, tsr_json_index **out_index,
                                 const tsr_json **out_duplicate) {
  const size_t size = table_size(count);
  tsr_json_index *index = calloc(1, sizeof *index + size * sizeof *index->entries);
  if (!index) return tsr_fail(NO_MEMORY, "index of %zu keys", count);
  index->mask = size - 1;
  // Where memory lies is unknown to whoever wrote the text, who so cannot choose colliding keys.
  index->seed = (uintptr_t)index >> 4;
  *out_index = index;
  *out_duplicate = NULL;
  const tsr_json *key = object + 2;
  for (size_t i = 0; i < count; i++) {
    const tsr_json *member = key + 1;
    const uint64_t hash = tsr_hash64(key->text, json_size(key), index->seed);
    const size_t place = find_place(index, object, key->text, json_size(key), hash);
    if (index->entries[place]) {
      *out_duplicate = member;
      return NULL;
    }
    index->entries[place] = tag_of(hash) | (uint64_t)(member - object);
    key = member + json_span(member);
  }
  return NULL;
}
