// Where the slots of a schedule lie in memory: which share memory because one is written over the
// other, and which because they do not live at the same time.
#ifndef TESSERA_EXEC_MEMORY_PLAN_H
#define TESSERA_EXEC_MEMORY_PLAN_H

#include "exec/rank_plan.h"
#include "lower/schedule.h"

// A slot's place: `root` is the slot whose address it has, `shift` the bytes from there.
typedef struct tsr_slot_place {
  int root;
  int64_t shift;
  // The memory of a lane is that of its class of the root, `stride` bytes from one to the next;
  // NULL = that of the first.
  const tsr_lane_classes *root_classes;
  int64_t stride;
  const int *here;  // of each class: its number on this rank, or -1; NULL = all are here
  // Of a view that lies elsewhere for each class: bytes to add. NULL = none.
  const tsr_lane_classes *classes;
  const int64_t *class_offsets;
  // Of a root that is memory of the run: its place in the arena. Of other roots -1.
  int64_t offset;
  int64_t first, last;  // the positions between which it lives; of a root those of all its slots
} tsr_slot_place;

// At the end of the body of a loop: the address of `to` becomes what that of `from` was.
typedef struct tsr_rotation {
  int from, to;  // roots
} tsr_rotation;

typedef struct tsr_loop_plan {
  tsr_rotation *rotations;
  int rotation_count;
} tsr_loop_plan;

typedef struct tsr_memory_plan {
  tsr_slot_place *places;      // one for each slot
  int64_t *bytes;              // of each root, all classes that are here
  const tsr_rank_plan *ranks;  // NULL = all lanes are in this process
  int64_t arena_bytes;
  int64_t value_bytes;   // of the arena: without what steps need for their work
  int64_t device_bytes;  // values that live at once on one device
  // Of whole arguments and results of a program of many devices whose pieces are copied.
  int64_t piece_bytes;
  int64_t scratch_bytes;  // for each worker, of the step that needs most
  int loop_count;
  tsr_loop_plan *loops;  // by the numbers that steps have for them
  // Where the addresses of each argument and result start in a list of all: one for each class of
  // its shards. One more at the end: the length of the list.
  int64_t *argument_addresses, *result_addresses;
  // For each result the root that is the caller's memory, or -1: then it is copied at the end.
  int *result_roots;
  // For each result the argument whose memory it may take, if the caller donates it; -1 = none.
  int *donors;
  bool *work;  // for each slot: whether it is memory for the work of a step
  // The roots that live where most memory is needed, the largest first.
  int *peak;
  int peak_count;
} tsr_memory_plan;

// `aliased` has for each argument the result that its memory is meant for, or -1. `ranks` may be
// NULL. All memory is of the schedule.
TSR_MUST_USE tsr_status tsr_plan_memory(tsr_schedule *schedule, const int64_t *aliased,
                                        const tsr_rank_plan *ranks, tsr_memory_plan *out_plan);

#endif
