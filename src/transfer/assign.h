// Assign: who goes where so that the most is saved, when many are alike.
//
// The assignment problem between classes: every class on the left has some members to place, every
// class on the right has room for some, and placing one saves the weight of the edge between them.
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
  int64_t steps;           // to take at most, about; then what is left is placed greedily
} tsr_assign_problem;

// Fills in the flows. Nobody must be placed. `out_bound` is what no assignment can exceed (stops at
// 2^63 - 1): equal to what is saved, unless the steps ran out.
TSR_MUST_USE tsr_status tsr_assign_solve(const tsr_assign_problem *problem, int64_t *out_saved,
                                         int64_t *out_bound);

#endif
