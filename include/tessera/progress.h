// Progress: how long jobs tell how far they are, and how they are asked to stop.
#ifndef TESSERA_PROGRESS_H
#define TESSERA_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_progress_report {
  const char *job;      // "reshard"
  const char *unit;     // "B" for bytes (shown as kB, MB, ...), "tensors", ...
  int64_t done, total;  // total 0 = not known
  double seconds;       // since the job began
  bool finished;
} tsr_progress_report;

// Called now and then from the thread that started the job; false asks the job to stop.
typedef bool tsr_progress_fn(void *context, const tsr_progress_report *report);

// One owner: the thread that starts the job also finishes it. Others may add.
typedef struct tsr_progress tsr_progress;

// Starts a job that reports to `fn` (which may be NULL) at most every `interval` seconds, and at
// the end. Reports are made from within tsr_progress_add and tsr_progress_finish when the thread
// that called this one calls them, so that a receiver needs no locks.
TSR_API TSR_MUST_USE tsr_status tsr_progress_create(const char *job, const char *unit,
                                                    int64_t total, double interval,
                                                    tsr_progress_fn *fn, void *context,
                                                    tsr_progress **out_progress);
// Adds work done, from any thread. False once the receiver asked to stop. NULL progress: true.
TSR_API bool tsr_progress_add(tsr_progress *progress, int64_t amount);
// The last report, then destroys it; NULL is fine.
TSR_API void tsr_progress_finish(tsr_progress *progress);

// A receiver that draws a bar with rate and time left on a terminal, and nothing when `context` (a
// FILE *) is not one. Jobs shorter than two seconds stay silent.
TSR_API bool tsr_progress_bar(void *context, const tsr_progress_report *report);
// The line the bar shows, for other front ends; `width` columns at most.
TSR_API void tsr_progress_line(const tsr_progress_report *report, int width, char *out,
                               size_t out_size);

TSR_END_DECLS

#endif
