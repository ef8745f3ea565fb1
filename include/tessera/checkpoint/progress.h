// Progress: reports of long jobs, and the way to cancel them. The options of loads, saves,
// transforms and checks take a function that receives the reports.
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
  int64_t done, total;  // total 0 = not known
  double seconds;       // since the job began
  bool finished;
} tsr_progress_report;

// Called from the thread that started the job; false cancels the job.
typedef bool tsr_progress_fn(void *context, const tsr_progress_report *report);

// Draws a bar with rate and time left on `context`, a FILE *, if that is a terminal. Silent for
// jobs shorter than two seconds.
TSR_API TSR_NONNULL bool tsr_progress_bar(void *context, const tsr_progress_report *report);

TSR_END_DECLS

#endif
