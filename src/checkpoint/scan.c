// Statistics of one tensor, and the walk that only compares copies. Both go block by block.
#include "checkpoint/scan.h"

#include <math.h>
#include <stdlib.h>

#include "checkpoint/budget.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/elements.h"
#include "checkpoint/hash.h"

enum { BLOCK_BYTES = 4 << 20 };

typedef struct scan {
  const tsr_view *view;
  int workers;
  void **buffers;  // owned: one for each worker; NULL until needed
  tsr_sums *sums;  // owned: of each block; NULL = not wanted
  tsr_progress *progress;
} scan;

static tsr_status scan_block(void *context, int64_t index, int worker) {
  const scan *s = context;
  const int64_t block = tsr_block_elements(s->view->dtype), first = index * block;
  const int64_t left = s->view->elements - first, count = left < block ? left : block;
  if (!s->buffers[worker]) s->buffers[worker] = malloc(BLOCK_BYTES);
  if (!s->buffers[worker]) return tsr_fail(NO_MEMORY, "a block of a tensor");
  TSR_TRY(tsr_view_read(s->view, first, count, s->buffers[worker]));
  if (s->sums) {
    s->sums[index] = (tsr_sums)TSR_SUMS_EMPTY;
    tsr_sums_add(&s->sums[index], s->view->dtype, s->buffers[worker], count);
  }
  if (!tsr_progress_add(s->progress, tsr_view_bytes(s->view, count)))
    return tsr_fail(CANCELLED, "cancelled");
  return NULL;
}

static void free_buffers(scan *s) {
  for (int i = 0; s->buffers && i < s->workers; i++) free(s->buffers[i]);
  free(s->buffers);
}

tsr_status tsr_view_stats(const tsr_view *view, tsr_pool *pool, tsr_tensor_stats *out_stats) {
  const int64_t count = tsr_block_count(view);
  scan s = {.view = view, .workers = pool ? tsr_pool_workers(pool) : 1};
  s.buffers = calloc((size_t)s.workers, sizeof *s.buffers);
  s.sums = calloc((size_t)count + 1, sizeof *s.sums);
  tsr_status status = s.buffers && s.sums
                          ? tsr_pool_run(pool, count, scan_block, &s)
                          : tsr_fail(NO_MEMORY, "sums of %lld blocks", (long long)count);
  tsr_sums all = TSR_SUMS_EMPTY;
  for (int64_t i = 0; i < count && !status; i++) tsr_sums_join(&all, &s.sums[i]);
  if (!status) *out_stats = tsr_sums_stats(&all);
  free_buffers(&s);
  free(s.sums);
  return status;
}

tsr_status tsr_checkpoint_stats(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                                tsr_tensor_stats *out_stats) {
  tsr_view *view = NULL;
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_COPIES_TRUSTED, &view));
  tsr_status status = tsr_view_stats(view, pool, out_stats);
  tsr_view_destroy(view);
  return status;
}

// ---- copies ----

static tsr_status check_views(const tsr_checkpoint *checkpoint, tsr_pool *pool, scan *s,
                              const tsr_views *views) {
  for (int64_t i = 0; i < views->count; i++) {
    s->view = views->items[i];
    if (!tsr_store_copied_bytes(checkpoint->store, i)) continue;
    TSR_TRY(tsr_pool_run(pool, tsr_block_count(s->view), scan_block, s));
  }
  return NULL;
}

// Bytes of the tensors that are stored more than once, each counted once.
static int64_t bytes_to_check(const tsr_checkpoint *checkpoint) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < tsr_tree_count(checkpoint->tree); i++)
    if (tsr_store_copied_bytes(checkpoint->store, i))
      bytes += tsr_tensor_bytes(tsr_tree_tensor(checkpoint->tree, i));
  return bytes;
}

tsr_status tsr_checkpoint_check_copies(const tsr_checkpoint *checkpoint,
                                       const tsr_verify_options *options) {
  const tsr_verify_options none = {.size = sizeof none};
  const tsr_verify_options *o = options ? options : &none;
  const double interval = o->progress_interval > 0 ? o->progress_interval : 0.1;
  tsr_views views = {0};
  tsr_pool *pool = NULL;
  tsr_budget budget;
  scan s = {0};
  TSR_TRY(tsr_views_of(checkpoint, TSR_COPIES_COMPARED, &views));
  const int64_t tables = tsr_budget_checkpoint(checkpoint) + tsr_budget_views(&views, NULL);
  tsr_status status = tsr_budget_init(&budget, o->max_memory, tables, 2 * BLOCK_BYTES, o->jobs);
  if (!status) {
    s.workers = budget.workers;
    s.buffers = calloc((size_t)s.workers, sizeof *s.buffers);
    if (!s.buffers) status = tsr_fail(NO_MEMORY, "buffers");
  }
  if (!status) status = tsr_pool_create(s.workers, &pool);
  if (!status)
    status = tsr_progress_create("copies", "B", bytes_to_check(checkpoint), interval, o->progress,
                                 o->progress_context, &s.progress);
  if (!status) status = check_views(checkpoint, pool, &s, &views);
  tsr_progress_finish(s.progress);
  tsr_views_deinit(&views);
  tsr_pool_destroy(pool);
  free_buffers(&s);
  return status;
}
