// Manual computations (shard_map) and programs that run in parallel: their body runs once for each
// of several virtual devices, the lanes, which meet in collectives.
#ifndef TESSERA_LANES_MANUAL_LANES_H
#define TESSERA_LANES_MANUAL_LANES_H

#include "processes/process_groups.h"

// The lanes are all combinations of the manual axes, those of computations around included, in the
// order of the mesh. Axes that are not manual are not cut: each lane stands for all their devices.
typedef struct tsr_manual {
  const struct tsr_manual *outer;  // NULL = none
  const tsr_attr *mesh;            // SDY_MESH
  int lanes;
  int axis_count;          // of the mesh
  const int64_t *sizes;    // of its axes
  const bool *is_manual;   // for each axis
  const int64_t *coords;   // lane * axis_count + axis; 0 for axes that are not manual
  const int64_t *devices;  // of each lane: its id in replica groups, where other axes are at 0
  const int *by_device;    // the lanes in the order of their devices
  const int *outer_lanes;  // of each lane: the lane of the computation around
  // Of interpreter.run_parallel, which has no mesh: its processes are the lanes. No replicas = of a
  // manual computation.
  tsr_process_grid grid;
} tsr_manual;

// The lanes of an sdy.manual_computation that stands in the body of `outer` (NULL = in none).
TSR_MUST_USE tsr_status tsr_manual_open(tsr_ir *ir, tsr_arena *arena, const tsr_op *op,
                                        const tsr_manual *outer, tsr_manual *out_manual);
// The lane of a device in replica groups: -1 for one that another stands for.
int tsr_manual_lane(const tsr_manual *manual, int64_t device);
// Where the piece of each lane starts in the whole tensor, in elements: of operand `index`, or with
// `is_result` of result `index`. Refuses values that are not reduced.
TSR_MUST_USE tsr_status tsr_manual_pieces(tsr_arena *arena, const tsr_op *op,
                                          const tsr_manual *manual, int index, bool is_result,
                                          const tsr_type *whole, const tsr_type *piece,
                                          const int64_t **out_starts);

// "stablehlo.gather at line 12", for messages.
const char *tsr_op_title_in(tsr_arena *arena, const tsr_op *op);

#endif
