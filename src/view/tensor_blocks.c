// A walk deals the blocks of all views to the workers of a pool as one list, so that a thousand
// small tensors keep them as busy as one large tensor.
#include "view/tensor_blocks.h"

#include <stdlib.h>

#include "base/pool_internal.h"
#include "base/progress_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"

int64_t tsr_block_elements(tsr_dtype dtype) {
  return (int64_t)TSR_BLOCK_BYTES * 8 / tsr_dtype_info_of(dtype)->bits / 8 * 8;
}

int64_t tsr_block_count(const tsr_view *view) {
  const int64_t block = tsr_block_elements(view->dtype);
  return (view->elements + block - 1) / block;
}

int64_t tsr_block_memory(const tsr_views *views) {
  int64_t most = 0;
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    const int64_t block = tsr_block_elements(view->dtype);
    const int64_t memory = tsr_view_memory(view, view->elements < block ? view->elements : block);
    if (memory > most) most = memory;
  }
  return most;
}

int64_t tsr_owner_of(const int64_t *first, int64_t count, int64_t place) {
  int64_t low = 0, high = count - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (first[middle + 1] <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// ---- the walk ----

typedef struct block_walk {
  tsr_view *const *views;
  const int64_t *first_block;
  int64_t count;
  tsr_progress *progress;
  tsr_block_fn *fn;
  void *context;
  char **buffers;  // owned: one for each worker; NULL until needed
} block_walk;

static tsr_status do_block(void *context, int64_t index, int worker) {
  const block_walk *w = context;
  const int64_t which = tsr_owner_of(w->first_block, w->count, index);
  const tsr_view *view = w->views[which];
  const int64_t block = tsr_block_elements(view->dtype);
  const int64_t first = (index - w->first_block[which]) * block;
  const int64_t left = view->elements - first, count = left < block ? left : block;
  const int64_t bytes = tsr_view_bytes(view, count);
  if (!w->buffers[worker]) w->buffers[worker] = malloc(TSR_BLOCK_BYTES);
  if (!w->buffers[worker]) return tsr_fail(NO_MEMORY, "a block of a tensor");
  w->buffers[worker][bytes - 1] = 0;  // bits past the last element
  TSR_TRY(tsr_view_read(view, first, count, w->buffers[worker]));
  if (w->fn) w->fn(w->context, view, index, w->buffers[worker], count);
  return tsr_progress_add(w->progress, bytes) ? NULL : tsr_fail(CANCELLED, "cancelled");
}

tsr_status tsr_blocks_walk(tsr_view *const *views, const int64_t *first_block, int64_t count,
                           tsr_pool *pool, tsr_progress *progress, tsr_block_fn *fn,
                           void *context) {
  const int workers = pool ? tsr_pool_workers(pool) : 1;
  block_walk w = {views, first_block, count, progress, fn, context, NULL};
  w.buffers = calloc((size_t)workers, sizeof *w.buffers);
  if (!w.buffers) return tsr_fail(NO_MEMORY, "buffers");
  tsr_status status = tsr_pool_run(pool, first_block[count], do_block, &w);
  for (int i = 0; i < workers; i++) free(w.buffers[i]);
  free(w.buffers);
  return status;
}
