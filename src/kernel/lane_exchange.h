// Collectives between lanes, the virtual devices of a manual computation. A call has the address of
// each slot in each lane: inputs[slot * lanes + lane]. Lanes that get the same result have one
// memory for it, which is written for one of them.
#ifndef TESSERA_KERNEL_LANE_EXCHANGE_H
#define TESSERA_KERNEL_LANE_EXCHANGE_H

#include <stdbool.h>

#include "kernel/strided_copies.h"
#include "tile/tile.h"

// Lanes that exchange values. The members of group g are members[starts[g]] and so on, in order.
typedef struct tsr_lane_groups {
  int lanes, group_count;
  const int *starts;  // group_count + 1
  const int *members;
} tsr_lane_groups;

// A lane whose memory is written. Those in no group (-1) get zeros.
typedef struct tsr_lane_taker {
  int lane, group;
  int place;  // in its group
} tsr_lane_taker;

// The takers of value v are takers[starts[v]] and so on, in the order of their groups.
typedef struct tsr_lane_takers {
  const int *starts;
  const tsr_lane_taker *takers;
} tsr_lane_takers;

// One value of an all_gather or all_to_all: every member gets from member s of its group the box
// that `copies` describes, `to_step` bytes * s further on; member r gets it from `from_step` * r
// on.
typedef struct tsr_lane_box {
  tsr_strided_copies copies;
  int64_t from_step, to_step;
  int64_t box_bytes, bytes;  // of a box, of the result
} tsr_lane_box;

typedef struct tsr_lane_exchange {
  tsr_lane_groups groups;
  tsr_lane_takers takers;
  int count;  // values
  const tsr_lane_box *boxes;
} tsr_lane_exchange;
tsr_status tsr_lane_exchange_run(const void *description, const tsr_kernel_call *call);

// A broadcast or permutation: each lane gets the value of another one, or zeros.
typedef struct tsr_lane_pick {
  tsr_lane_groups groups;
  tsr_lane_takers takers;
  int count;
  const int64_t *bytes;  // of each value
  const int *sources;    // of each lane; -1 = zeros. NULL: the root of the lane's group
  bool dynamic_root;     // input `count` has the place of each value's root in its group, as i32
} tsr_lane_pick;
tsr_status tsr_lane_pick_run(const void *description, const tsr_kernel_call *call);

// Reductions over groups. The members of a group are combined as the leaves of one tree, whatever
// the number of workers: neighbours first, then neighbouring pairs, an odd one at the end moves up.
// A value has `outer` x `parts` x `run` elements. With one part all members get the result, or the
// root does and the others get zeros; else member p gets part p.
typedef struct tsr_lane_value {
  int64_t outer, run, bytes;  // bytes of an element
} tsr_lane_value;

typedef struct tsr_lane_reduction {
  tsr_lane_groups groups;
  tsr_lane_takers takers;
  int count;
  const tsr_lane_value *values;
  bool scattered;  // parts = members of a group
  bool to_root, dynamic_root;
  // For up to TSR_LANE_BLOCK elements: of all members of a group to their combination, if all
  // groups have `arity` members, which is not 0; else of two.
  tsr_tile_program *program;
  int arity;
  // With an arity: what combines two, of which elements, and in which type it does.
  tsr_tile_op op;
  tsr_dtype dtype, sum_dtype;
} tsr_lane_reduction;
enum { TSR_LANE_BLOCK = 1024, TSR_LANE_ARITY = 32 };
tsr_status tsr_lane_reduction_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_lane_reduction_scratch(const tsr_lane_reduction *reduction);
void tsr_lane_reduction_destroy(void *reduction);

#endif
