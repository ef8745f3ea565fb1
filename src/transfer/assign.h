// Assign: the assignment problem between classes of equal members.
//
// Every class on the left has members to place, every class on the right has room for some, and
// placing one saves the weight of the edge between them. The sum of savings is to be maximal.
#ifndef TESSERA_TRANSFER_ASSIGN_H
#define TESSERA_TRANSFER_ASSIGN_H

#include "tessera/status.h"

#include <stdint.h>

typedef struct tsr_assign_edge {
  int64_t left, right;
  int64_t weight;  // 1 .. 2^62
  int64_t flow;    // found: how many of `left` go to `right`
} tsr_assign_edge;

typedef struct tsr_assign {
  int64_t left_count, right_count, edge_count;
  const int64_t *supply, *room;
  tsr_assign_edge *edges;  // sorted by left
  int64_t steps;           // approximate limit; then the rest is placed greedily
} tsr_assign_problem;

// Fills in the flows; members may stay unplaced. `out_bound` is an upper bound on savings
// (saturates at 2^63 - 1), equal to what is saved unless the steps ran out.
TSR_MUST_USE tsr_status tsr_assign_solve(const tsr_assign_problem *problem, int64_t *out_saved,
                                         int64_t *out_bound);

#endif
