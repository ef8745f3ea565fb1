// Statistics of one tensor, and the walk that only compares copies. Both go block by block.
#include "inspect/tensor_scan.h"

#include <stdlib.h>

#include "base/progress_internal.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "inspect/elements.h"
#include "inspect/verify_internal.h"
#include "job/budget.h"
#include "job/job_limits.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/pool.h"
#include "tessera/tree.h"
#include "view/tensor_hash.h"

static void sum_block(void *context, const tsr_view *view, int64_t index, const void *bytes,
                      int64_t elements) {
  tsr_sums *sums = context;
  sums[index] = (tsr_sums)TSR_SUMS_EMPTY;
  tsr_sums_add(&sums[index], view->dtype, bytes, elements);
}

tsr_status tsr_view_stats(const tsr_view *view, tsr_pool *pool, tsr_tensor_stats *out_stats) {
  const int64_t first_block[] = {0, tsr_block_count(view)};
  tsr_view *const one = (tsr_view *)(uintptr_t)view;  // only read
  tsr_sums *sums = calloc((size_t)first_block[1] + 1, sizeof *sums);
  if (!sums) return tsr_fail(NO_MEMORY, "sums of %lld blocks", (long long)first_block[1]);
  tsr_status status = tsr_blocks_walk(&one, first_block, 1, pool, NULL, sum_block, sums);
  tsr_sums all = TSR_SUMS_EMPTY;
  for (int64_t i = 0; i < first_block[1] && !status; i++) tsr_sums_join(&all, &sums[i]);
  if (!status) *out_stats = tsr_sums_stats(&all);
  free(sums);
  return status;
}

tsr_status tsr_checkpoint_stats(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                                tsr_tensor_stats *out_stats) {
  tsr_view *view = NULL;
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_REPLICAS_TRUST, &view));
  tsr_status status = tsr_view_stats(view, pool, out_stats);
  tsr_view_destroy(view);
  return status;
}

// ---- copies ----

// Bytes of the tensors that are stored more than once, each counted once.
static int64_t bytes_to_check(const tsr_checkpoint *checkpoint) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < tsr_tree_count(checkpoint->tree); i++)
    if (tsr_store_copied_bytes(checkpoint->store, i))
      bytes += tsr_tensor_bytes(tsr_tree_at(checkpoint->tree, i));
  return bytes;
}

// All views, of which those without copies have no blocks to read.
static tsr_status check_views(const tsr_checkpoint *checkpoint, const tsr_views *views,
                              tsr_pool *pool, tsr_progress *progress) {
  int64_t *first_block = malloc(sizeof *first_block * (size_t)(views->count + 1));
  if (!first_block) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)views->count);
  first_block[0] = 0;
  for (int64_t i = 0; i < views->count; i++) {
    const bool copied = tsr_store_copied_bytes(checkpoint->store, i) > 0;
    first_block[i + 1] = first_block[i] + (copied ? tsr_block_count(views->items[i]) : 0);
  }
  tsr_status status =
      tsr_blocks_walk(views->items, first_block, views->count, pool, progress, NULL, NULL);
  free(first_block);
  return status;
}

tsr_status tsr_checkpoint_check_replicas(const tsr_checkpoint *checkpoint,
                                         const tsr_verify_options *options) {
  tsr_verify_options read;
  TSR_TRY(tsr_sized_read(tsr_verify_options, options, &read));
  const tsr_job_limits limits = TSR_JOB_LIMITS_OF(&read, read.jobs);
  TSR_TRY(tsr_job_limits_check(&limits));
  tsr_views views = {0};
  tsr_job_workers workers;
  TSR_TRY(tsr_views_of(checkpoint, TSR_REPLICAS_COMPARE, &views));
  const int64_t tables = tsr_budget_checkpoint(checkpoint) + tsr_budget_views(&views, NULL);
  tsr_status status = tsr_job_workers_start(&workers, &limits, tables, 2 * TSR_BLOCK_BYTES,
                                            "replicas", bytes_to_check(checkpoint));
  if (!status) status = check_views(checkpoint, &views, workers.pool, workers.progress);
  tsr_job_workers_stop(&workers);
  tsr_views_deinit(&views);
  return status;
}
