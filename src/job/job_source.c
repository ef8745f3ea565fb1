// A job asks its source only for views and for what this description says of them, so that a
// transform and a save are one piece of code. Here is the description of a checkpoint.
#include "job/job_source.h"

#include "job/job_limits.h"
#include "store/checkpoint.h"
#include "view/select.h"

tsr_status tsr_job_source_init(tsr_job_source *source, const tsr_checkpoint *checkpoint,
                               const tsr_transform_options *options) {
  *source = (tsr_job_source){.job = "transform",
                             .resumable = true,
                             .jobs = tsr_budget_jobs(checkpoint, options->jobs),
                             .checkpoint = tsr_checkpoint_retain(checkpoint),
                             .table_memory = tsr_budget_checkpoint(checkpoint)};
  source->metadata_count = tsr_checkpoint_metadata(checkpoint, &source->metadata);
  if (!options->trust_source) TSR_TRY(tsr_source_hashes_create(checkpoint, &source->hashes));
  if (source->hashes) source->table_memory += tsr_source_hashes_memory(checkpoint);
  TSR_TRY(tsr_views_selected(checkpoint, &TSR_SELECTION_OF(options), options->replicas,
                             source->hashes, &source->views));
  source->table_memory += tsr_budget_views(&source->views, options->map);
  return tsr_stamps_take(checkpoint->store, &source->stamps);
}

void tsr_job_source_deinit(tsr_job_source *source) {
  tsr_views_deinit(&source->views);
  tsr_source_hashes_destroy(source->hashes);
  tsr_stamps_deinit(&source->stamps);
  tsr_checkpoint_release(source->checkpoint);
  *source = (tsr_job_source){0};
}

int64_t tsr_job_source_hashed(const tsr_job_source *source, const tsr_view *view) {
  return source->hashes && view->direct ? view->origin : -1;
}
