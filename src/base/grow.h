// Lists that double when they are full.
#ifndef TESSERA_BASE_GROW_H
#define TESSERA_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

// Makes room for one more element of `size` bytes after `count`. Gives the list, which may have
// moved; NULL without memory, and the list is unchanged then.
static inline void *tsr_grow(void *list, int64_t count, int64_t *capacity, size_t size) {
  if (count < *capacity) return list;
  const int64_t wanted = *capacity ? 2 * *capacity : 16;
  void *larger = realloc(list, (size_t)wanted * size);
  if (larger) *capacity = wanted;
  return larger;
}

#endif
