// How the pieces of a value get from the devices that have them to those that need them.
#ifndef TESSERA_COMBINE_EXCHANGE_PLAN_H
#define TESSERA_COMBINE_EXCHANGE_PLAN_H

#include "combine/piece_trace.h"

// Pieces of one leaf that move together: at most one from each device, and one to each.
typedef struct tsr_exchange_round {
  tsr_value *leaf;
  bool local;                     // nothing moves: each device has its piece
  int64_t width;                  // of the longest piece
  const tsr_traced_piece **to;    // by target; NULL = it needs none
  const tsr_traced_piece **from;  // by source
} tsr_exchange_round;

typedef struct tsr_exchange_plan {
  tsr_op *root;  // whose result the pieces make
  tsr_piece_trace trace;
  tsr_exchange_round *rounds;  // local ones first
  int64_t round_count;
  bool broadcast;     // one piece for each device, which several devices need: one round sends it
  int64_t bytes;      // of all rounds, on one device
  tsr_value *result;  // in place of the root's, once it is emitted
} tsr_exchange_plan;

// Plans the result of an op; `out_planned` is false if it is not made by moving elements along one
// dim, or in too many rounds. tsr_exchange_plan_deinit frees the plan in any case.
TSR_MUST_USE tsr_status tsr_exchange_plan_make(tsr_ir *ir, tsr_op *root, int64_t devices,
                                               tsr_arena *arena, tsr_exchange_plan *out_plan,
                                               bool *out_planned);
void tsr_exchange_plan_deinit(tsr_exchange_plan *plan);

// Puts the ops of a plan before its root, and gives the uses of the root to their result. Numbers
// of channels are taken from `*channel` on.
TSR_MUST_USE tsr_status tsr_exchange_emit(tsr_ir *ir, tsr_exchange_plan *plan, int64_t *channel);

#endif
