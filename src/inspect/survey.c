// Statistics and hashes of many tensors in one walk over all their blocks; statistics of one
// tensor.
#include <stdlib.h>

#include "base/sized.h"
#include "inspect/elements.h"
#include "inspect/inspect_internal.h"
#include "inspect/verify_tensors.h"
#include "job/job_limits.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "view/tensor_hash.h"

typedef struct survey {
  tsr_verify_options options;
  tsr_views views;
  int64_t *first_block;  // owned: of each view, and one past the last
  tsr_sums *sums;        // owned: of each block
  tsr_hash128 *hashes;   // owned: of each block
  tsr_job_workers workers;
} survey;

static void survey_block(void *context, const tsr_view *view, int64_t index, const void *bytes,
                         int64_t elements) {
  survey *s = context;
  s->sums[index] = (tsr_sums)TSR_SUMS_EMPTY;
  if (s->options.stats) tsr_sums_add(&s->sums[index], view->dtype, bytes, elements);
  if (s->options.hashes) s->hashes[index] = tsr_block_hash(bytes, tsr_view_bytes(view, elements));
}

static void join_blocks(const survey *s, int64_t which, tsr_survey_row *out) {
  tsr_sums all = TSR_SUMS_EMPTY;
  *out = (tsr_survey_row){0};
  for (int64_t i = s->first_block[which]; i < s->first_block[which + 1]; i++)
    tsr_sums_join(&all, &s->sums[i]);
  if (s->options.stats) out->stats = tsr_sums_stats(&all);
  if (s->options.hashes)
    out->hash = tsr_blocks_hash(s->views.items[which], &s->hashes[s->first_block[which]]);
}

static tsr_status open_views(survey *s, const tsr_checkpoint *checkpoint, const int64_t *tensors,
                             int64_t count) {
  tsr_replicas replicas = TSR_REPLICAS_COMPARE;
  TSR_TRY(tsr_replicas_choose(s->options.replicas, TSR_REPLICAS_COMPARE, &replicas));
  for (int64_t i = 0; i < count; i++) {
    TSR_TRY(tsr_view_stored(checkpoint, tensors[i], replicas, &s->views.items[i]));
    s->views.count++;
    s->first_block[i + 1] = s->first_block[i] + tsr_block_count(s->views.items[i]);
  }
  return NULL;
}

static tsr_status start_workers(survey *s, const tsr_checkpoint *checkpoint) {
  const int64_t blocks = s->first_block[s->views.count];
  const int64_t tables = tsr_budget_checkpoint(checkpoint) + tsr_budget_views(&s->views, NULL) +
                         blocks * (int64_t)(sizeof *s->sums + sizeof *s->hashes);
  const tsr_job_limits limits =
      TSR_JOB_LIMITS_OF(&s->options, tsr_budget_jobs(checkpoint, s->options.jobs));
  return tsr_job_workers_start(&s->workers, &limits, tables,
                               TSR_BLOCK_BYTES + tsr_block_memory(&s->views), "read",
                               tsr_views_bytes(&s->views));
}

static tsr_status prepare(survey *s, const tsr_checkpoint *checkpoint, const int64_t *tensors,
                          int64_t count) {
  s->views.items = calloc((size_t)count + 1, sizeof *s->views.items);
  s->first_block = calloc((size_t)count + 1, sizeof *s->first_block);
  if (!s->views.items || !s->first_block) return tsr_fail(NO_MEMORY, "a list of tensors");
  TSR_TRY(open_views(s, checkpoint, tensors, count));
  const size_t blocks = (size_t)s->first_block[count];
  s->sums = calloc(blocks + 1, sizeof *s->sums);
  s->hashes = calloc(blocks + 1, sizeof *s->hashes);
  if (!s->sums || !s->hashes) return tsr_fail(NO_MEMORY, "sums of %zu blocks", blocks);
  return start_workers(s, checkpoint);
}

static void deinit(survey *s) {
  tsr_views_deinit(&s->views);
  tsr_job_workers_stop(&s->workers);
  free(s->first_block);
  free(s->sums);
  free(s->hashes);
}

tsr_status tsr_checkpoint_survey(const tsr_checkpoint *checkpoint, const int64_t *tensors,
                                 int64_t count, const tsr_verify_options *options,
                                 tsr_survey_row *out_rows) {
  survey s = {0};
  TSR_TRY(tsr_sized_read(tsr_verify_options, options, &s.options));
  TSR_TRY(tsr_job_limits_check(&TSR_JOB_LIMITS_OF(&s.options, s.options.jobs)));
  tsr_status status = prepare(&s, checkpoint, tensors, count);
  if (!status)
    status = tsr_blocks_walk(s.views.items, s.first_block, count, s.workers.pool,
                             s.workers.progress, survey_block, &s);
  for (int64_t i = 0; i < count && !status; i++) join_blocks(&s, i, &out_rows[i]);
  deinit(&s);
  return status;
}

// ---- one tensor ----

tsr_status tsr_view_stats(const tsr_view *view, tsr_pool *pool, tsr_tensor_stats *out_stats) {
  int64_t first_block[] = {0, tsr_block_count(view)};
  tsr_view *const one = (tsr_view *)(uintptr_t)view;  // only read
  survey s = {.options.stats = true, .first_block = first_block};
  tsr_survey_row row = {0};
  s.sums = calloc((size_t)first_block[1] + 1, sizeof *s.sums);
  if (!s.sums) return tsr_fail(NO_MEMORY, "sums of %lld blocks", (long long)first_block[1]);
  tsr_status status = tsr_blocks_walk(&one, first_block, 1, pool, NULL, survey_block, &s);
  if (!status) join_blocks(&s, 0, &row);
  if (!status) *out_stats = row.stats;
  free(s.sums);
  return status;
}

tsr_status tsr_checkpoint_stats(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                                tsr_tensor_stats *out_stats) {
  tsr_view *view = NULL;
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_REPLICAS_TRUST, &view));
  tsr_status status = tsr_view_stats(view, pool, out_stats);
  tsr_view_destroy(view);
  return status;
}
