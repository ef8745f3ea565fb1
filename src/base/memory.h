// Large blocks of memory.
#ifndef TESSERA_BASE_MEMORY_H
#define TESSERA_BASE_MEMORY_H

#include <stddef.h>

// Asks for huge pages in a block that is about to be filled. Touching fresh small pages is the
// largest cost of filling them, several times that of the stores; small blocks are left alone.
void tsr_memory_prefer_huge(void *block, size_t size);

#endif
