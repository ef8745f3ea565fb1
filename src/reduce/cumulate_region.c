// Cumulative reductions by any body: a vector of lines goes from element to element together.
#include <string.h>

#include "base/arithmetic.h"
#include "reduce/cumulate.h"

typedef struct region_run {
  const tsr_cumulate_region *c;
  const tsr_kernel_call *call;
} region_run;

int64_t tsr_cumulate_region_scratch_bytes(const tsr_cumulate_region *cumulate) {
  return tsr_region_space_bytes(&cumulate->region) +
         cumulate->region.most * (int64_t)sizeof(int64_t);
}

void tsr_cumulate_region_destroy(void *description) {
  const tsr_cumulate_region *cumulate = description;
  tsr_tile_destroy(cumulate->region.program);
}

// The element of each line where it starts.
static void fill_offsets(const tsr_cumulate_dims *d, int64_t first, int64_t count,
                         int64_t *offsets) {
  const int64_t start = d->reverse ? (d->length - 1) * d->inner : 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t line = first + i;
    offsets[i] = line / d->inner * d->inner * d->length + line % d->inner + start;
  }
}

static tsr_status some_lines(void *context, int64_t task, int worker) {
  const region_run *r = context;
  const tsr_region_call *region = &r->c->region;
  const tsr_cumulate_dims *d = &r->c->dims;
  const int64_t first = task * region->most;
  const int64_t count = tsr_least(d->outer * d->inner - first, region->most);
  char *memory = tsr_kernel_scratch(r->call, worker);
  int64_t *offsets = (int64_t *)(void *)(memory + tsr_region_space_bytes(region));
  tsr_region_space space;
  tsr_region_space_init(region, memory, r->call->inputs + 2 * region->count, &space);
  fill_offsets(d, first, count, offsets);
  for (int k = 0; k < region->count; k++)
    tsr_elements_fill(space.accumulators[k], r->call->inputs[region->count + k],
                      region->element_bytes[k], count);
  for (int64_t i = 0; i < d->length; i++) {
    const int64_t moved = (d->reverse ? -i : i) * d->inner;
    for (int k = 0; k < region->count; k++)
      tsr_elements_gather(space.buffers[k], r->call->inputs[k] + moved * region->element_bytes[k],
                          offsets, region->element_bytes[k], count);
    tsr_region_apply(region, &space, count);
    for (int k = 0; k < region->count; k++) {
      const int64_t bytes = region->element_bytes[k];
      char *to = r->call->outputs[k] + moved * bytes;
      for (int64_t j = 0; j < count; j++)
        memcpy(to + offsets[j] * bytes, space.accumulators[k] + j * bytes, (size_t)bytes);
    }
  }
  return NULL;
}

tsr_status tsr_cumulate_region_run(const void *description, const tsr_kernel_call *call) {
  const tsr_cumulate_region *c = description;
  const int64_t lines = c->dims.outer * c->dims.inner;
  region_run r = {c, call};
  if (!lines || !c->dims.length) return NULL;
  return tsr_pool_run(call->pool, (lines + c->region.most - 1) / c->region.most, some_lines, &r);
}
