// Which processes meet in a collective, as the specification of StableHLO says: the four ways to
// read replica_groups, and the pairs of a permutation.
#ifndef TESSERA_PROCESSES_PROCESS_GROUPS_H
#define TESSERA_PROCESSES_PROCESS_GROUPS_H

#include "ir/ir.h"

// The processes of a run. Process r * partitions + p is partition p of replica r.
typedef struct tsr_process_grid {
  int replicas, partitions;
} tsr_process_grid;

static inline int tsr_process_count(tsr_process_grid grid) {
  return grid.replicas * grid.partitions;
}

// The members of group g are members[starts[g]] and so on, in the order of the group. No process is
// in two groups.
typedef struct tsr_process_groups {
  int group_count;
  const int *starts;  // group_count + 1
  const int *members;
} tsr_process_groups;

// The groups of a collective that has replica_groups. Where there are none, all processes that can
// be named are one group. Fails for an id that the grid does not have, and for a process in no
// group where the op asks for one: collective_broadcast and collective_reduce do not.
TSR_MUST_USE tsr_status tsr_process_groups_make(const tsr_ir *ir, tsr_arena *arena,
                                                const tsr_op *op, tsr_process_grid grid,
                                                tsr_process_groups *out_groups);
// For each process the one whose value a collective_permute gives it; -1 = none.
TSR_MUST_USE tsr_status tsr_process_sources_make(tsr_arena *arena, const tsr_op *op,
                                                 tsr_process_grid grid, const int **out_sources);
// The groups of processes that a permutation links, each in the order of processes.
TSR_MUST_USE tsr_status tsr_process_chains_make(tsr_arena *arena, const int *sources, int count,
                                                tsr_process_groups *out_groups);

#endif
