// Large buffers on huge pages, touched, so that a benchmark times copies and not page faults.
#ifndef TESSERA_BENCH_LARGE_H
#define TESSERA_BENCH_LARGE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline void *large_alloc(size_t bytes, int fill) {
  void *block = aligned_alloc((size_t)2 << 20, bytes);
  if (!block) abort();
  madvise(block, bytes, MADV_HUGEPAGE);
  return memset(block, fill, bytes);
}

#endif
