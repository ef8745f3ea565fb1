// The copies of one step between lanes of several ranks, collected and then made in one exchange.
// Each rank lists those that start or end on it, all in the same order.
#ifndef TESSERA_RANKS_RANK_MOVES_H
#define TESSERA_RANKS_RANK_MOVES_H

#include "ranks/rank_lanes.h"
#include "tessera/engine/collectives.h"

// One array of an exchange; its lists are found when all are known.
typedef struct tsr_move_array {
  int64_t first_copy;
  int bits;
} tsr_move_array;

// Its memory is kept for the next step.
typedef struct tsr_rank_moves {
  const tsr_rank_lanes *lanes;
  tsr_copy *copies;
  int64_t copy_count, copy_capacity;
  tsr_move_array *arrays;
  const void **in;  // of each array: local devices
  void **out;
  tsr_exchange *exchanges;
  int64_t array_count, array_capacity;
  char *room;  // memory of the step, aligned
  int64_t room_bytes;
} tsr_rank_moves;

void tsr_rank_moves_deinit(tsr_rank_moves *moves);
void tsr_rank_moves_clear(tsr_rank_moves *moves);

// Makes room for so many bytes; what was there is lost.
TSR_MUST_USE tsr_status tsr_rank_moves_reserve(tsr_rank_moves *moves, int64_t bytes);

// A new array of elements of `bits`. `in` and `out` have an address for each lane; those of other
// ranks are not read.
TSR_MUST_USE tsr_status tsr_rank_moves_open(tsr_rank_moves *moves, int bits, const char *const *in,
                                            char *const *out);
// The same where all lanes of this rank have one `in` and one `out`.
TSR_MUST_USE tsr_status tsr_rank_moves_open_common(tsr_rank_moves *moves, int bits, const char *in,
                                                   char *out);
// Adds a copy between two lanes to the newest array, unless both are elsewhere.
TSR_MUST_USE tsr_status tsr_rank_moves_add(tsr_rank_moves *moves, int from, int to,
                                           const tsr_copy *copy);
// Collective. Makes all copies.
TSR_MUST_USE tsr_status tsr_rank_moves_run(tsr_rank_moves *moves);

#endif
