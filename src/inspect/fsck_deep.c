// Reads all elements of a checkpoint, tensor by tensor: whether they can be read, whether replicas
// are equal, and whether hashes are those of the manifest.
#include "base/hash_internal.h"
#include "base/progress_internal.h"
#include "format/format.h"
#include "job/budget.h"
#include "job/job_limits.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "view/tensor_hash.h"

typedef struct deep_check {
  tsr_fsck *fsck;
  const tsr_checkpoint *model;
  tsr_job_workers workers;
} deep_check;

static tsr_status check_tensor(deep_check *w, int64_t tensor, const tsr_view *view) {
  tsr_hash128 known, found;
  tsr_fault place = {.kind = TSR_FAULT_UNREADABLE, .tensor = view->name};
  tsr_status status = tsr_view_hash(view, w->workers.pool, w->workers.progress, &found);
  if (tsr_status_cause(status) == TSR_CAUSE_COPIES_DIFFER) place.kind = TSR_FAULT_COPIES;
  if (status) return tsr_fsck_add_failure(w->fsck, &place, status);
  if (!tsr_checkpoint_known_hash(w->model, tensor, &known) || tsr_hash128_equal(known, found))
    return NULL;
  place.kind = TSR_FAULT_HASH;
  return tsr_fsck_add(
      w->fsck, &place,
      "%s: tensor \"%s\" has changed since it was written: its hash differs from the "
      "manifest",
      w->fsck->path, view->name);
}

static tsr_status start(deep_check *w, const tsr_views *views) {
  const tsr_fsck_options *options = &w->fsck->options;
  const tsr_job_limits limits = {.max_memory = options->max_memory,
                                 .jobs = tsr_budget_jobs(w->model, options->jobs),
                                 .progress = options->progress,
                                 .progress_context = options->progress_context};
  const int64_t tables = tsr_budget_checkpoint(w->model) + tsr_budget_views(views, NULL);
  int64_t bytes = 0;
  for (int64_t i = 0; i < views->count; i++)
    bytes += tsr_view_bytes(views->items[i], views->items[i]->elements);
  return tsr_job_workers_start(&w->workers, &limits, tables,
                               2 * TSR_BLOCK_BYTES + tsr_block_memory(views), "fsck", bytes);
}

static tsr_status read_all(tsr_fsck *fsck, const tsr_checkpoint *model) {
  deep_check w = {.fsck = fsck, .model = model};
  tsr_views views = {0};
  TSR_TRY(tsr_views_of(model, TSR_REPLICAS_COMPARE, &views));
  tsr_status status = start(&w, &views);
  for (int64_t i = 0; i < views.count && !status; i++) status = check_tensor(&w, i, views.items[i]);
  tsr_job_workers_stop(&w.workers);
  tsr_views_deinit(&views);
  return status;
}

tsr_status tsr_fsck_deep(tsr_fsck *fsck) {
  const tsr_checkpoint_options options = {
      .size = sizeof options, .plan = fsck->options.plan, .fallback_dtype = TSR_U8};
  tsr_checkpoint *model = NULL;
  tsr_status status = tsr_checkpoint_open(fsck->path, &options, &model);
  if (tsr_status_cause(status) == TSR_CAUSE_PLAN_REQUIRED) {
    tsr_status_free(status);  // already reported
    return NULL;
  }
  if (status) return tsr_fsck_add_failure(fsck, &(tsr_fault){.kind = TSR_FAULT_DISAGREES}, status);
  const tsr_format_ops *format = tsr_format_row(model->format);
  status = format->check_elements ? format->check_elements(fsck) : read_all(fsck, model);
  tsr_checkpoint_release(model);
  return status;
}
