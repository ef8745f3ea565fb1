// Large blocks of memory.
#ifndef TESSERA_BASE_MEMORY_H
#define TESSERA_BASE_MEMORY_H

#include <stddef.h>

// Requests huge pages for a block before it is filled. Touching fresh small pages costs several
// times as much as the stores. Small blocks are not changed.
void tsr_memory_prefer_huge(void *block, size_t size);

#endif
