// Blocks double in size, so that many small pieces cost few calls to malloc. Filling fresh pages is
// most of the cost of a large arena, so one that will be full asks for huge pages.
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_BLOCK = 1024, LARGEST_STEP = 1 << 20, LARGEST_STEP_OF_LARGE = 8 << 20 };

struct tsr_arena_block {
  struct tsr_arena_block *next;
  alignas(max_align_t) unsigned char bytes[];
};

static size_t round_up(size_t bytes) {
  const size_t align = alignof(max_align_t);
  return (bytes + align - 1) & ~(align - 1);
}

static bool grow(tsr_arena *arena, size_t bytes) {
  size_t capacity = arena->capacity ? arena->capacity : FIRST_BLOCK / 2;
  const size_t largest = arena->large ? LARGEST_STEP_OF_LARGE : LARGEST_STEP;
  capacity = capacity < largest ? capacity * 2 : largest;
  if (capacity < bytes) capacity = bytes;
  struct tsr_arena_block *block = malloc(sizeof *block + capacity);
  if (!block) return false;
  if (arena->large) tsr_memory_prefer_huge(block, sizeof *block + capacity);
  block->next = arena->blocks;
  arena->blocks = block;
  arena->used = 0;
  arena->capacity = capacity;
  return true;
}

void *tsr_arena_alloc(tsr_arena *arena, size_t bytes) {
  if (bytes > PTRDIFF_MAX / 2) return NULL;
  bytes = round_up(bytes ? bytes : 1);
  if (bytes > arena->capacity - arena->used && !grow(arena, bytes)) return NULL;
  void *memory = arena->blocks->bytes + arena->used;
  arena->used += bytes;
  return memory;
}

void *tsr_arena_zeros(tsr_arena *arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) return NULL;
  void *memory = tsr_arena_alloc(arena, count * size);
  return memory ? memset(memory, 0, count * size) : NULL;
}

char *tsr_arena_copy(tsr_arena *arena, const char *bytes, size_t length) {
  char *copy = tsr_arena_alloc(arena, length + 1);
  if (!copy) return NULL;
  memcpy(copy, bytes, length);
  copy[length] = '\0';
  return copy;
}

void tsr_arena_deinit(tsr_arena *arena) {
  for (struct tsr_arena_block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  *arena = (tsr_arena)TSR_ARENA_EMPTY;
}

void tsr_arena_reset(tsr_arena *arena) {
  if (!arena->blocks) return;
  tsr_arena older = {.blocks = arena->blocks->next};
  arena->blocks->next = NULL;
  arena->used = 0;
  tsr_arena_deinit(&older);
}

void *tsr_arena_grow(tsr_arena *arena, void *list, int64_t count, size_t size) {
  // Full at 0, 4, 8, 16, ... elements, so no capacity has to be kept.
  if (count > 0 && (count < 4 || (count & (count - 1)))) return list;
  void *larger = tsr_arena_zeros(arena, (size_t)(count < 4 ? 4 : 2 * count), size);
  if (larger && count > 0) memcpy(larger, list, size * (size_t)count);
  return larger;
}
