// Memory that is freed all at once: temporaries of a call, or the nodes of a document.
#ifndef TESSERA_BASE_ARENA_H
#define TESSERA_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tsr_arena {
  struct tsr_arena_block *blocks;  // newest first
  size_t used, capacity;           // of the newest block
  bool large;  // blocks grow to 8 MB on huge pages, not 1 MB: for what is filled in one go
} tsr_arena;

#define TSR_ARENA_EMPTY \
  { NULL, 0, 0, false }

// NULL without memory. Memory is aligned for any type; `tsr_arena_zeros` clears it and checks
// count * size for overflow.
void *tsr_arena_alloc(tsr_arena *arena, size_t bytes);
void *tsr_arena_zeros(tsr_arena *arena, size_t count, size_t size);
char *tsr_arena_copy(tsr_arena *arena, const char *bytes, size_t length);  // adds '\0'
void tsr_arena_deinit(tsr_arena *arena);                                   // empty again
// Everything is free, but the newest block stays: for memory that is used again and again.
void tsr_arena_reset(tsr_arena *arena);

// A list of `count` elements in the arena with room for one more: the list itself, or a copy of
// twice the size. NULL without memory; the list is unchanged then.
void *tsr_arena_grow(tsr_arena *arena, void *list, int64_t count, size_t size);

#endif
