// A schedule whose lanes are on several ranks: which classes are here, and how steps across lanes
// run.
#ifndef TESSERA_EXEC_RANK_PLAN_H
#define TESSERA_EXEC_RANK_PLAN_H

#include "lower/schedule.h"
#include "ranks/rank_step.h"
#include "tessera/engine/hash.h"
#include "tessera/program/executable.h"

// What a step needs to know.
typedef struct tsr_step_ranks {
  const tsr_class_places *classes;  // KERNEL: those that it runs for
  const tsr_rank_step *across;      // ACROSS
  void *extra;                      // what it was prepared with; owned
  const tsr_class_places **in, **out;
  // WHILE, CASE: ranks meet inside, and lanes may choose differently.
  bool compares;
} tsr_step_ranks;

typedef struct tsr_rank_plan {
  tsr_rank_lanes *lanes;
  const tsr_class_places **slots;  // of each slot: where its classes are
  tsr_step_ranks *steps;           // by number
  int step_count;
  tsr_hash128 hash;  // of the schedule
} tsr_rank_plan;

// Plans the lanes of a program for all devices of a mesh on the devices of `comm`. What cannot run
// over several ranks is refused by name. Memory is of the schedule, but for `lanes`.
TSR_MUST_USE tsr_status tsr_rank_plan_create(tsr_schedule *schedule, tsr_comm *comm,
                                             tsr_rank_plan **out_plan);
void tsr_rank_plan_destroy(tsr_rank_plan *plan);  // NULL is fine

// A lane of a class of shards that is in this process; -1 = there is none. `plan` may be NULL.
int tsr_shard_lane(const tsr_rank_plan *plan, const tsr_lane_classes *classes, int class);

// ---- what ranks compare (exec/rank_agree.c) ----

// Collective. Fails on all ranks unless they compile the same program with the same options for the
// same kind of machine, and `found`, a failure of this rank alone, is NULL on each.
TSR_MUST_USE tsr_status tsr_rank_agree_program(tsr_comm *comm, const tsr_program *program,
                                               const tsr_compile_options *options,
                                               tsr_status found);
// A hash of the steps, slots and classes of a schedule: the same on all ranks.
tsr_hash128 tsr_schedule_hash(const tsr_schedule *schedule);
// Collective. Before a run: fails on all ranks unless all run the same executable.
TSR_MUST_USE tsr_status tsr_rank_agree_begin(const tsr_rank_plan *plan, tsr_status found);
// Collective. After a run that ended with `status` here: fails on all ranks if it failed on one.
TSR_MUST_USE tsr_status tsr_rank_agree_end(const tsr_rank_plan *plan, tsr_status status);
// Collective. Fails on all ranks unless all lanes choose the same way in a loop or branch inside
// which ranks meet. `same` says that those of this rank do.
TSR_MUST_USE tsr_status tsr_rank_agree_choice(const tsr_rank_plan *plan,
                                              const tsr_schedule_step *step, bool same,
                                              int32_t choice);

#endif
