// Accumulators in two buffers that change places with each call: a program must not write what it
// reads.
#include "reduce/region_call.h"

#include <string.h>

static int64_t cut_space(const tsr_region_call *r, char *memory, tsr_region_space *out) {
  tsr_memory_cut cut = {.memory = memory};
  const int64_t pointer = (int64_t)sizeof(char *);
  out->inputs = tsr_memory_take(&cut, (2 * r->count + r->outside_count) * pointer);
  char **lists = tsr_memory_take(&cut, 3 * r->count * pointer);
  for (int k = 0; k < 3 * r->count; k++) {
    char *buffer = tsr_memory_take(&cut, r->most * r->element_bytes[k % r->count]);
    if (memory) lists[k] = buffer;
  }
  out->scratch = tsr_memory_take(&cut, tsr_tile_scratch_bytes(r->program));
  if (!memory) return cut.used;
  out->accumulators = lists;
  out->spare = lists + r->count;
  out->buffers = lists + 2 * r->count;
  out->elements = out->inputs + r->count;
  return cut.used;
}

int64_t tsr_region_space_bytes(const tsr_region_call *region) {
  tsr_region_space none;
  return cut_space(region, NULL, &none);
}

void tsr_region_space_init(const tsr_region_call *region, char *memory, const char *const *outside,
                           tsr_region_space *out_space) {
  cut_space(region, memory, out_space);
  for (int k = 0; k < region->count; k++) out_space->elements[k] = out_space->buffers[k];
  for (int k = 0; k < region->outside_count; k++)
    out_space->inputs[2 * region->count + k] = outside[k];
}

void tsr_region_apply(const tsr_region_call *region, tsr_region_space *space, int64_t count) {
  for (int k = 0; k < region->count; k++) space->inputs[k] = space->accumulators[k];
  tsr_tile_run_few(region->program, count, space->inputs, space->spare, space->scratch);
  char **const made = space->spare;
  space->spare = space->accumulators;
  space->accumulators = made;
}

// ---- elements ----

typedef struct sixteen_bytes {
  uint64_t low, high;
} sixteen_bytes;

// Expands to the case of each width; COPY uses the type `width`.
#define FOR_WIDTH(bytes, COPY) \
  switch (bytes) {             \
    case 1:                    \
      COPY(uint8_t) break;     \
    case 2:                    \
      COPY(uint16_t) break;    \
    case 4:                    \
      COPY(uint32_t) break;    \
    case 8:                    \
      COPY(uint64_t) break;    \
    default:                   \
      COPY(sixteen_bytes)      \
  }

void tsr_elements_fill(char *to, const char *element, int bytes, int64_t count) {
#define FILL(type)                                                \
  {                                                               \
    type one;                                                     \
    memcpy(&one, element, sizeof one);                            \
    for (int64_t i = 0; i < count; i++)                           \
      memcpy(to + i * (int64_t)sizeof(type), &one, sizeof(type)); \
  }
  FOR_WIDTH(bytes, FILL)
}

void tsr_elements_copy(char *to, int64_t to_step, const char *from, int64_t from_step, int bytes,
                       int64_t count) {
  if (count <= 0) return;
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, (size_t)(count * bytes));
    return;
  }
#define COPY_STEPS(type)                                                                           \
  for (int64_t i = 0; i < count; i++)                                                              \
    memcpy(to + i * to_step * (int64_t)sizeof(type), from + i * from_step * (int64_t)sizeof(type), \
           sizeof(type));
  FOR_WIDTH(bytes, COPY_STEPS)
}

void tsr_elements_gather(char *to, const char *from, const int64_t *offsets, int bytes,
                         int64_t count) {
#define GATHER(type)                  \
  for (int64_t i = 0; i < count; i++) \
    memcpy(to + i * (int64_t)sizeof(type), from + offsets[i] * (int64_t)sizeof(type), sizeof(type));
  FOR_WIDTH(bytes, GATHER)
}
