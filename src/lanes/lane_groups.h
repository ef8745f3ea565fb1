// Which lanes meet in a collective.
#ifndef TESSERA_LANES_LANE_GROUPS_H
#define TESSERA_LANES_LANE_GROUPS_H

#include "kernel/lane_exchange.h"
#include "lanes/manual_lanes.h"

// Where a collective stands.
typedef struct tsr_lane_site {
  tsr_ir *ir;
  tsr_arena *arena;          // of all that is made
  const tsr_manual *manual;  // the lanes around; NULL = one process
} tsr_lane_site;

// The processes that meet in an op: members of their own (processes/run_parallel.h), or the lanes.
int tsr_lane_members(const tsr_lane_site *site, const tsr_op *op);
// The groups of a collective that has replica_groups.
TSR_MUST_USE tsr_status tsr_lane_groups_of(const tsr_lane_site *site, const tsr_op *op,
                                           tsr_lane_groups *out_groups);
// For each lane the one whose value a collective_permute gives it; -1 = none.
TSR_MUST_USE tsr_status tsr_lane_sources_of(const tsr_lane_site *site, const tsr_op *op,
                                            const int **out_sources);

#endif
