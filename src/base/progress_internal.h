// Reporting progress (tessera/checkpoint/progress.h).
#ifndef TESSERA_BASE_PROGRESS_INTERNAL_H
#define TESSERA_BASE_PROGRESS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/status.h"

double tsr_now(void);  // seconds by a clock that is never set back

// One owner: the thread that starts the job also finishes it. Others may add.
typedef struct tsr_progress tsr_progress;

// Starts a job that reports to `fn` (may be NULL) at most every `interval` seconds, and at the end.
// Only the thread that called this function reports, inside tsr_progress_add and
// tsr_progress_finish, so a receiver needs no locks.
TSR_MUST_USE tsr_status tsr_progress_create(const char *job, const char *unit, int64_t total,
                                            double interval, tsr_progress_fn *fn, void *context,
                                            tsr_progress **out_progress);
// Adds finished work, from any thread. False after the receiver asked to stop. NULL progress: true.
bool tsr_progress_add(tsr_progress *progress, int64_t amount);
// The last report, then destroys it; NULL is fine.
void tsr_progress_finish(tsr_progress *progress);

// The line the bar shows, for other front ends; `width` columns at most.
void tsr_progress_line(const tsr_progress_report *report, int width, char *out, size_t out_size);

#endif
