// Huge pages are requested for whole pages inside a block only, and a refusal changes nothing.
#include "base/memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORTH_ASKING = 4 << 20 };

void tsr_memory_prefer_huge(void *block, size_t size) {
#ifdef MADV_HUGEPAGE
  if (!block || size < WORTH_ASKING) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t start = ((uintptr_t)block + page - 1) / page * page;
  const uintptr_t end = ((uintptr_t)block + size) / page * page;
  // Advice only: a refusal changes nothing.
  (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
  (void)block;
  (void)size;
#endif
}
