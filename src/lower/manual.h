// Manual computations (shard_map) and programs that run in parallel: their body runs once for each
// of several virtual devices, the lanes, which meet in collectives.
#ifndef TESSERA_LOWER_MANUAL_H
#define TESSERA_LOWER_MANUAL_H

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
  const int *outer_lanes;  // of each lane: the lane of the computation around
  // Of interpreter.run_parallel, which has no mesh: its processes are the lanes. No replicas = of a
  // manual computation.
  tsr_process_grid grid;
} tsr_manual;

// The lane of a device in replica groups: -1 for one that another stands for.
int tsr_manual_lane(const tsr_manual *manual, int64_t device);

#endif
