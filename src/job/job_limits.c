// Every job has the same limits and keeps them in the same way: tables first, then as many workers
// as fit beside them.
#include "job/job_limits.h"

#include "base/arithmetic.h"
#include "base/pool_internal.h"

static const int64_t default_memory = INT64_C(1) << 30;
static const double default_interval = 0.1;
// The program and its libraries, stacks, lists that do not grow with the model, and what malloc
// keeps back.
static const int64_t base_memory = INT64_C(16) << 20;
// What a job that will be refused may take to say exactly how much it needs.
static const int64_t little_memory = INT64_C(64) << 20;

tsr_status tsr_job_limits_check(const tsr_job_limits *limits) {
  if (limits->jobs < 0) return tsr_fail(BAD_ARGUMENT, "jobs is %d, wanted 0 or more", limits->jobs);
  if (limits->max_memory < 0)
    return tsr_fail(BAD_ARGUMENT, "max_memory is %lld bytes, wanted 0 or more",
                    (long long)limits->max_memory);
  return NULL;
}

tsr_status tsr_job_limits_report(const tsr_job_limits *limits, const char *job, int64_t bytes,
                                 tsr_progress **out_progress) {
  const double interval =
      limits->progress_interval > 0 ? limits->progress_interval : default_interval;
  return tsr_progress_create(job, "B", bytes, interval, limits->progress, limits->progress_context,
                             out_progress);
}

// ---- memory ----

static int64_t memory_of(const tsr_job_limits *limits) {
  return limits->max_memory ? limits->max_memory : default_memory;
}

static tsr_status refuse(int64_t memory, int64_t needed, int64_t tables) {
  return tsr_fail(DOES_NOT_FIT,
                  "%lld bytes of memory are too little: at least %lld are needed, of which tables "
                  "take %lld",
                  (long long)memory, (long long)needed, (long long)tables);
}

tsr_status tsr_budget_check(const tsr_job_limits *limits, int64_t tables) {
  const int64_t memory = memory_of(limits), needed = tsr_saturated_add(base_memory, tables);
  if (needed <= (memory < little_memory ? little_memory : memory)) return NULL;
  return refuse(memory, needed, tables);
}

tsr_status tsr_budget_init(tsr_budget *budget, const tsr_job_limits *limits, int64_t tables,
                           int64_t least) {
  const int64_t memory = memory_of(limits), left = memory - base_memory - tables;
  const int64_t fit = left / least;
  if (fit < 1) return refuse(memory, base_memory + tables + least, tables);
  const int wanted = limits->jobs > 0 ? limits->jobs : tsr_cpu_count();
  budget->workers = wanted < fit ? wanted : (int)fit;
  budget->worker_bytes = left / budget->workers;
  return NULL;
}

// ---- workers ----

tsr_status tsr_job_workers_start(tsr_job_workers *workers, const tsr_job_limits *limits,
                                 int64_t tables, int64_t least, const char *job, int64_t bytes) {
  *workers = (tsr_job_workers){0};
  TSR_TRY(tsr_budget_init(&workers->budget, limits, tables, least));
  TSR_TRY(tsr_pool_create(workers->budget.workers, &workers->pool));
  return tsr_job_limits_report(limits, job, bytes, &workers->progress);
}

void tsr_job_workers_stop(tsr_job_workers *workers) {
  tsr_progress_finish(workers->progress);
  tsr_pool_destroy(workers->pool);
}
