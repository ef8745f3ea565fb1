// A redistribution: from one layout of a tensor to another, by a direct plan and by collectives.
#ifndef TESSERA_REPORT_REDISTRIBUTION_H
#define TESSERA_REPORT_REDISTRIBUTION_H

#include "draw/traffic.h"
#include "json/json.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/sequence.h"
#include "transfer/transfer_internal.h"

typedef struct tsr_redistribution {
  tsr_shape shape;
  tsr_dtype dtype;
  tsr_layout *from, *to;  // owned, like everything below
  // The direct plan, or the reason why there is none.
  tsr_copy_plan *plan;
  tsr_text no_plan;
  tsr_certificate certificate;
  tsr_traffic traffic;  // rows = 0 if there are too many copies
  // The sequence of collectives, that of Shardy's greedy order, or the reason why there is none.
  tsr_sequence *sequence, *shardy;
  tsr_text no_sequence;
  // With --relabel: the order of the target's devices that moves least.
  bool relabelled;
  tsr_relabelling relabelling;
} tsr_redistribution;

void tsr_redistribution_deinit(tsr_redistribution *change);

// `all_copies` prints every copy, however many.
tsr_status tsr_redistribution_print(const tsr_redistribution *change, bool all_copies,
                                    tsr_text *out);
// Adds members to the open object.
tsr_status tsr_redistribution_to_json(const tsr_redistribution *change, bool all_copies,
                                      tsr_json_writer *writer);
tsr_status tsr_redistribution_print_svg(const tsr_redistribution *change, tsr_text *out);

// ---- running ----

typedef struct tsr_redistribution_timing {
  double seconds, memcpy_seconds;  // the fastest of several rounds
  int64_t bytes_written;           // by all ranks together
} tsr_redistribution_timing;

typedef struct tsr_redistribution_run {
  const char *engine;
  int ranks, workers;
  int64_t verified_elements;  // checked, for both plans and all ranks
  bool direct, collectives;
  tsr_redistribution_timing by_direct, by_collectives;
} tsr_redistribution_run;

void tsr_redistribution_run_print(const tsr_redistribution_run *run, tsr_text *out);
void tsr_redistribution_run_to_json(const tsr_redistribution_run *run, tsr_json_writer *writer);

#endif
