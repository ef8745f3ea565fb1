// A change of layout as `tessera redistribute` shows it: both ways to make it, and what they cost.
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
  tsr_layout *from, *to;  // owned, as all that follows
  // The direct way; without a plan, why there is none.
  tsr_copy_plan *plan;
  tsr_text no_plan;
  tsr_certificate certificate;
  tsr_traffic traffic;  // empty where there are too many copies to look at each
  // The collectives that were asked for, the same by Shardy's order, and why there are none.
  tsr_sequence *sequence, *shardy;
  tsr_text no_sequence;
  // With --relabel: whose places the target's devices should take.
  bool relabelled;
  tsr_relabelling relabelling;
} tsr_redistribution;

void tsr_redistribution_deinit(tsr_redistribution *change);

// One line: "f32 (8, 16): x, _ -> _, x", and the meshes of both.
tsr_status tsr_redistribution_title(const tsr_redistribution *change, const char *arrow,
                                    tsr_text *out);
void tsr_redistribution_mesh(const tsr_redistribution *change, tsr_text *out);

// `all_copies` lists each one, however many.
tsr_status tsr_redistribution_print(const tsr_redistribution *change, bool all_copies,
                                    tsr_text *out);
// The members of an object that the caller has begun, and ends.
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
  int64_t verified_elements;  // that were looked at, by both ways and all ranks
  bool direct, collectives;
  tsr_redistribution_timing by_direct, by_collectives;
} tsr_redistribution_run;

void tsr_redistribution_run_print(const tsr_redistribution_run *run, tsr_text *out);
void tsr_redistribution_run_to_json(const tsr_redistribution_run *run, tsr_json_writer *writer);

#endif
