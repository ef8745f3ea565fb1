// The index of a large object. While reading, it finds duplicate keys in linear time; later, it
// finds a member of a header with 100,000 tensors in one probe.
#include "json/json_node.h"

#include <stdlib.h>

#include "json/json.h"
#include "tessera/engine/hash.h"
#include "tessera/status.h"

enum { BATCH = 32, AHEAD = 12 };
static const uint64_t DISTANCE_MASK = (UINT64_C(1) << 40) - 1;

static uint64_t tag_of(uint64_t hash) { return hash & ~DISTANCE_MASK; }

// The slot of `name`, or the empty slot where it belongs.
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

// Adds up to BATCH keys from `*key` on, and advances it. Probing a large table waits for memory;
// hashing the batch first lets these waits overlap. Returns the member whose key exists already, or
// NULL.
static const tsr_json *enter_keys(tsr_json_index *index, const tsr_json *object, size_t count,
                                  const tsr_json **key) {
  const tsr_json *members[BATCH];
  uint64_t hashes[BATCH];
  for (size_t i = 0; i < count; i++) {
    members[i] = *key + 1;
    hashes[i] = tsr_hash64((*key)->text, json_size(*key), index->seed);
    __builtin_prefetch(&index->entries[hashes[i] & index->mask], 1);
    const size_t span = json_span(members[i]);
    __builtin_prefetch(members[i] + AHEAD * (span + 1));
    *key = members[i] + span;
  }
  for (size_t i = 0; i < count; i++) {
    const tsr_json *name = members[i] - 1;
    const size_t place = find_place(index, object, name->text, json_size(name), hashes[i]);
    if (index->entries[place]) return members[i];
    index->entries[place] = tag_of(hashes[i]) | (uint64_t)(members[i] - object);
  }
  return NULL;
}

tsr_status tsr_json_index_create(const tsr_json *object, size_t count, tsr_json_index **out_index,
                                 const tsr_json **out_duplicate) {
  const size_t size = table_size(count);
  tsr_json_index *index = calloc(1, sizeof *index + size * sizeof *index->entries);
  if (!index) return tsr_fail(NO_MEMORY, "index of %zu keys", count);
  index->mask = size - 1;
  // The address is unknown to the author of the text, who thus cannot choose colliding keys.
  index->seed = (uintptr_t)index >> 4;
  const tsr_json *key = object + 2, *duplicate = NULL;
  for (size_t done = 0; done < count && !duplicate; done += BATCH)
    duplicate = enter_keys(index, object, count - done < BATCH ? count - done : BATCH, &key);
  *out_index = index;
  *out_duplicate = duplicate;
  return NULL;
}
