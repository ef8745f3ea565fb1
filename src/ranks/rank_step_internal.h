// Shared by the files of this room.
#ifndef TESSERA_RANKS_RANK_STEP_INTERNAL_H
#define TESSERA_RANKS_RANK_STEP_INTERNAL_H

#include "ranks/rank_step.h"

// The group of each lane and its index there; -1 for lanes in none.
typedef struct tsr_member_map {
  int *group, *index;
} tsr_member_map;
TSR_MUST_USE tsr_status tsr_member_map_init(tsr_member_map *map, const tsr_lane_groups *groups);
void tsr_member_map_deinit(tsr_member_map *map);

tsr_status tsr_rank_exchange(const void *description, const tsr_rank_call *call);
tsr_status tsr_rank_pick(const void *description, const tsr_rank_call *call);
tsr_status tsr_rank_reduction(const void *description, const tsr_rank_call *call);

// All-reduces by the comm, which may choose their order; false in `out_done`: not this one.
TSR_MUST_USE tsr_status tsr_rank_reduce_fast(const tsr_lane_reduction *reduction,
                                             const tsr_rank_call *call, const tsr_member_map *map,
                                             bool *out_done);

#endif
