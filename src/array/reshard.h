// One array during a reshard.
#ifndef TESSERA_ARRAY_RESHARD_H
#define TESSERA_ARRAY_RESHARD_H

#include "array/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"

typedef struct tsr_reshard_move {
  tsr_array *from;      // borrowed
  bool unshare;         // the target must not hold buffers of the source
  bool relabel;         // the target's devices may be permuted
  tsr_array *to;        // owned until it is taken
  bool in_place;        // `to` was given with its buffers
  tsr_buffer *into;     // borrowed: the caller's memory for the one local shard; NULL = none
  bool first_terms;     // of a partial sum, only the first term gets the values
  tsr_copy_plan *plan;  // owned
  tsr_copy_vector copies;
  tsr_lists lists;
} tsr_reshard_move;

// Whether two layouts have the same partial results, so that terms move unchanged.
bool tsr_layout_same_terms(const tsr_layout *a, const tsr_layout *b);

// Prepares the exchange: creates the target's buffers, or shares the source's, and lists the copies
// of this rank. The move starts as {from, into, unshare}, or {from, to, in_place, unshare}; `from`
// has no unreduced axes, or the target's. Deinit in any case.
TSR_MUST_USE tsr_status tsr_move_plan(tsr_reshard_move *move, const tsr_layout *layout,
                                      int64_t tensor);
tsr_exchange tsr_move_exchange(const tsr_reshard_move *move);
tsr_array *tsr_move_take(tsr_reshard_move *move);  // after the exchange: the new array
void tsr_move_deinit(tsr_reshard_move *move);

TSR_MUST_USE tsr_status tsr_reshard_options_check(const tsr_reshard_options *given,
                                                  tsr_reshard_options *out_options);

#endif
