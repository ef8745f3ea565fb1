// Numbered tasks shared out to the cores, with reports of how far they are. The sums do not depend
// on the number of workers.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>
#include <tessera/checkpoint.h>
#include <tessera/engine.h>

enum { TASKS = 8, EACH = 1000 };

typedef struct job {
  int64_t sums[TASKS];
  tsr_progress *progress;
} job;

static tsr_status add_up(void *context, int64_t index, int worker) {
  (void)worker;
  job *work = context;
  for (int64_t i = 0; i < EACH; i++) work->sums[index] += index * EACH + i;
  if (!tsr_progress_add(work->progress, EACH)) return tsr_fail(CANCELLED, "asked to stop");
  return NULL;
}

static bool show(void *context, const tsr_progress_report *report) {
  (void)context;
  if (report->finished)
    printf("%s: %" PRId64 " of %" PRId64 " %s\n", report->job, report->done, report->total,
           report->unit);
  return true;
}

static tsr_status run(void) {
  job work = {0};
  int64_t total = 0;
  TSR_OWN(pool, pool);
  TSR_TRY(tsr_pool_create(0, &pool));  // as many as there are cores
  TSR_TRY(tsr_progress_create("adding", "numbers", TASKS * EACH, 1, show, NULL, &work.progress));
  tsr_status status = tsr_pool_run(pool, TASKS, add_up, &work);
  tsr_progress_finish(work.progress);
  for (int i = 0; i < TASKS; i++) total += work.sums[i];
  if (!status) printf("the sum is %" PRId64 "\n", total);
  return status;
}

int main(void) { return tsr_status_exit(run()); }
