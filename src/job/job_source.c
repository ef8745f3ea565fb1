// A job knows its source only by this description: its views, and facts about them. So one job
// serves transforms of checkpoints and saves of arrays. This file describes a checkpoint;
// load/save.c describes arrays.
//
// A stamp is the size and time of a file by stat(). Sizes are compared first, because their message
// is more precise.
#include "job/job_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"
#include "job/job_limits.h"
#include "store/checkpoint.h"
#include "view/select.h"

// ---- files that change while they are read ----

static tsr_status take_stamp(const char *path, tsr_stamp *out_stamp) {
  struct stat info;
  if (stat(path, &info)) {
    if (errno != ENOENT) return tsr_fail(IO, "%s: cannot stat it: %s", path, strerror(errno));
    return tsr_fail(SOURCE_CHANGED, "%s: it no longer exists", path);
  }
  *out_stamp = (tsr_stamp){info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return NULL;
}

static tsr_status check_size(const char *path, int64_t before, int64_t now) {
  if (before == now) return NULL;
  return tsr_fail(SOURCE_CHANGED, "%s: it has %lld bytes now and had %lld when it was opened", path,
                  (long long)now, (long long)before);
}

int tsr_job_source_files(const tsr_job_source *source) {
  return source->checkpoint ? source->checkpoint->store->file_count : 0;
}

static tsr_status take_stamps(tsr_job_source *source) {
  const tsr_store *store = source->checkpoint->store;
  source->stamps = calloc((size_t)store->file_count + 1, sizeof *source->stamps);
  if (!source->stamps) return tsr_fail(NO_MEMORY, "stamps of %d files", store->file_count);
  for (int i = 0; i < store->file_count; i++) {
    TSR_TRY(take_stamp(store->paths[i], &source->stamps[i]));
    TSR_TRY(check_size(store->paths[i], store->file_sizes[i], source->stamps[i].size));
  }
  return NULL;
}

tsr_status tsr_job_source_check(const tsr_job_source *source) {
  for (int i = 0; i < tsr_job_source_files(source); i++) {
    const char *path = source->checkpoint->store->paths[i];
    const tsr_stamp *before = &source->stamps[i];
    tsr_stamp now;
    TSR_TRY(take_stamp(path, &now));
    TSR_TRY(check_size(path, before->size, now.size));
    if (now.seconds != before->seconds || now.nanoseconds != before->nanoseconds)
      return tsr_fail(SOURCE_CHANGED, "%s: it was written to while it was read", path);
  }
  return NULL;
}

void tsr_job_source_print(const tsr_job_source *source, tsr_text *out) {
  for (int i = 0; i < tsr_job_source_files(source); i++) {
    const tsr_stamp *stamp = &source->stamps[i];
    tsr_text_addf(out, "%s %lld %lld.%09ld\n", source->checkpoint->store->paths[i],
                  (long long)stamp->size, (long long)stamp->seconds, stamp->nanoseconds);
  }
}

// ---- the source ----

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
  return take_stamps(source);
}

void tsr_job_source_deinit(tsr_job_source *source) {
  tsr_views_deinit(&source->views);
  tsr_source_hashes_destroy(source->hashes);
  free(source->stamps);
  tsr_checkpoint_release(source->checkpoint);
  *source = (tsr_job_source){0};
}

int64_t tsr_job_source_hashed(const tsr_job_source *source, const tsr_view *view) {
  return source->hashes && view->direct ? view->origin : -1;
}
