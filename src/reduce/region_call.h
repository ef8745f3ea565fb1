// Running the body of a reduction: a tile program that combines accumulators with elements.
#ifndef TESSERA_REDUCE_REGION_CALL_H
#define TESSERA_REDUCE_REGION_CALL_H

#include "tile/kernel_call.h"
#include "tile/tile.h"

// The program's inputs are `count` accumulators, `count` elements and `outside_count` values from
// outside; its outputs are the `count` new accumulators.
typedef struct tsr_region_call {
  tsr_tile_program *program;
  int count, outside_count;
  const int *element_bytes;  // of each accumulator and element
  int64_t most;              // elements of one call
} tsr_region_call;

// What one worker calls with. Memory of `most` elements for each accumulator, for its new value,
// and for each element. `elements` may be set to other memory before a call.
typedef struct tsr_region_space {
  const char **inputs;  // accumulators, elements, outside
  char **accumulators, **spare, **buffers;
  const char **elements;  // the middle of `inputs`
  char *scratch;
} tsr_region_space;

int64_t tsr_region_space_bytes(const tsr_region_call *region);
void tsr_region_space_init(const tsr_region_call *region, char *memory, const char *const *outside,
                           tsr_region_space *out_space);
// The first `count` accumulators become the program's results on them and on the elements.
void tsr_region_apply(const tsr_region_call *region, tsr_region_space *space, int64_t count);

// ---- elements of 1, 2, 4, 8 or 16 bytes ----

// Writes one element `count` times.
void tsr_elements_fill(char *to, const char *element, int bytes, int64_t count);
// Copies `count` elements; steps count elements.
void tsr_elements_copy(char *to, int64_t to_step, const char *from, int64_t from_step, int bytes,
                       int64_t count);
// Copies the elements at `offsets`, which count elements.
void tsr_elements_gather(char *to, const char *from, const int64_t *offsets, int bytes,
                         int64_t count);

// Cuts a block of memory in pieces aligned to 64 bytes. With `memory` NULL it only counts.
typedef struct tsr_memory_cut {
  char *memory;
  int64_t used;
} tsr_memory_cut;
static inline void *tsr_memory_take(tsr_memory_cut *cut, int64_t bytes) {
  char *at = cut->memory ? cut->memory + cut->used : NULL;
  cut->used += (bytes + 63) / 64 * 64;
  return at;
}

#endif
