// Limits of a job: memory, workers, and the receiver of its progress; and the memory that its
// tables take.
#ifndef TESSERA_JOB_JOB_LIMITS_H
#define TESSERA_JOB_JOB_LIMITS_H

#include "base/progress_internal.h"
#include "format/target.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"
#include "view/view.h"

typedef struct tsr_job_limits {
  int64_t max_memory;  // bytes; 0 = 1 GiB
  int jobs;            // workers; 0 = tsr_cpu_count()
  tsr_progress_fn *progress;
  void *progress_context;
  double progress_interval;  // seconds; 0 = 0.1
} tsr_job_limits;
// The limits in an options struct that has these fields. Some have no `jobs`.
#define TSR_JOB_LIMITS_OF(options, workers)                          \
  ((tsr_job_limits){.max_memory = (options)->max_memory,             \
                    .jobs = (workers),                               \
                    .progress = (options)->progress,                 \
                    .progress_context = (options)->progress_context, \
                    .progress_interval = (options)->progress_interval})

TSR_MUST_USE tsr_status tsr_job_limits_check(const tsr_job_limits *limits);
// Begins to report progress towards `bytes`.
TSR_MUST_USE tsr_status tsr_job_limits_report(const tsr_job_limits *limits, const char *job,
                                              int64_t bytes, tsr_progress **out_progress);

typedef struct tsr_budget {
  int workers;
  int64_t worker_bytes;  // that each of them may take
} tsr_budget;

// How many workers fit, beside tables of `tables` bytes, if each takes at least `least`. Fails with
// does_not_fit when not even one fits, and says how much memory that would take.
TSR_MUST_USE tsr_status tsr_budget_init(tsr_budget *budget, const tsr_job_limits *limits,
                                        int64_t tables, int64_t least);
// Fails with does_not_fit if tables that are not made yet would clearly exceed the memory limit by
// themselves, so that a job that cannot run does not allocate them first.
TSR_MUST_USE tsr_status tsr_budget_check(const tsr_job_limits *limits, int64_t tables);

// The workers of a job that reads tensors, and its progress.
typedef struct tsr_job_workers {
  tsr_budget budget;
  tsr_pool *pool;          // owned
  tsr_progress *progress;  // owned
} tsr_job_workers;
// `tables` and `least` as above. Stop also after a failure.
TSR_MUST_USE tsr_status tsr_job_workers_start(tsr_job_workers *workers,
                                              const tsr_job_limits *limits, int64_t tables,
                                              int64_t least, const char *job, int64_t bytes);
void tsr_job_workers_stop(tsr_job_workers *workers);

// ---- memory of tables ----

// Bytes of tables at the peak of a job (measured by tests/memory): of an open checkpoint, of views
// of it, and of a destination, whose index may not be made yet.
int64_t tsr_budget_checkpoint(const tsr_checkpoint *checkpoint);
int64_t tsr_budget_views(const tsr_views *views, const tsr_mapping *map);
int64_t tsr_budget_target(const tsr_target *target);

// Lower bounds before they are made: a checkpoint with views of all tensors, and a destination of
// all tensors, for `ranks` devices if it is cut (0 = it is not).
int64_t tsr_budget_source_least(const tsr_checkpoint *checkpoint);
int64_t tsr_budget_target_least(const tsr_checkpoint *checkpoint, tsr_checkpoint_format format,
                                int64_t ranks);
// `jobs`, or 1 for a checkpoint with compressed members: these are decompressed from the start, and
// workers that take turns would start over each time.
int tsr_budget_jobs(const tsr_checkpoint *checkpoint, int jobs);

#endif
