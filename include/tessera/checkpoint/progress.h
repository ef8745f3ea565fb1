// Progress of long jobs, and how to stop them. The options of loads, saves, transforms and checks
// take a function that receives reports.
//
//   tsr_load_options options = TSR_LOAD_OPTIONS;
//   options.progress = tsr_progress_bar;
//   options.progress_context = stderr;
#ifndef TSR_CHECKPOINT_PROGRESS_H
#define TSR_CHECKPOINT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"

TSR_BEGIN_DECLS

typedef struct tsr_progress_report {
  const char *job;      // "reshard"
  const char *unit;     // "B" for bytes (shown as kB, MB, ...), "tensors", ...
  int64_t done, total;  // total 0 = unknown
  double seconds;       // since the job began
  bool finished;
} tsr_progress_report;

// Called by the thread that started the job; returning false stops the job.
typedef bool tsr_progress_fn(void *context, const tsr_progress_report *report);

// Draws a bar with rate and time left if `context` (a FILE *) is a terminal. Jobs shorter than two
// seconds show nothing.
TSR_API TSR_NONNULL bool tsr_progress_bar(void *context, const tsr_progress_report *report);

TSR_END_DECLS

#endif
