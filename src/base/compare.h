// Orders of plain values for qsort() and bsearch(), and sorted lists without repeats.
#ifndef TESSERA_BASE_COMPARE_H
#define TESSERA_BASE_COMPARE_H

#include <stdint.h>
#include <stdlib.h>

static inline int tsr_compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static inline int tsr_compare_int64(const void *left, const void *right) {
  return tsr_compare(*(const int64_t *)left, *(const int64_t *)right);
}

static inline int tsr_compare_int32(const void *left, const void *right) {
  return tsr_compare(*(const int32_t *)left, *(const int32_t *)right);
}

// Of pointers, by address.
static inline int tsr_compare_pointers(const void *left, const void *right) {
  const uintptr_t a = (uintptr_t) * (void *const *)left, b = (uintptr_t) * (void *const *)right;
  return (a > b) - (a < b);
}

// Sorts a list and drops repeats; gives the number of items kept.
static inline int64_t tsr_sort_distinct(int64_t *items, int64_t count) {
  int64_t kept = 0;
  if (count > 1) qsort(items, (size_t)count, sizeof *items, tsr_compare_int64);
  for (int64_t i = 0; i < count; i++)
    if (!kept || items[i] != items[kept - 1]) items[kept++] = items[i];
  return kept;
}

#endif
