// Tally: what a device takes of a grid, counted by dimension.
//
// What a shard of one grid takes from another grid is a product over the dimensions, and so are the
// sums. Pairs of cuts repeat on many devices and are computed once.
#ifndef TESSERA_TRANSFER_TALLY_H
#define TESSERA_TRANSFER_TALLY_H

#include "transfer/meet.h"

// Elements, copies and giving devices; products saturate at 2^63 - 1.
typedef struct tsr_taken {
  int64_t elements, copies, givers;
} tsr_taken;

typedef struct tsr_tally_dim {
  tsr_meets meets;
  tsr_triples known;  // by target's cut and own cut: index in `all`
  tsr_taken *all;     // owned
  int64_t count, capacity;
} tsr_tally_dim;

typedef struct tsr_tally {
  int rank;
  tsr_tally_dim dims[TSR_MAX_RANK];
} tsr_tally;

// For two grids of one shape.
void tsr_tally_init(tsr_tally *tally, const tsr_layout *from, const tsr_layout *to);
void tsr_tally_deinit(tsr_tally *tally);
// For the cuts of the target's shard, of one source shard, and of the source shard on the target's
// own device (NULL = none).
TSR_MUST_USE tsr_status tsr_tally_one(tsr_tally *tally, const int64_t *target,
                                      const int64_t *source, const int64_t *own,
                                      tsr_taken *out_taken);
TSR_MUST_USE tsr_status tsr_tally_all(tsr_tally *tally, const int64_t *target, const int64_t *own,
                                      tsr_taken *out_taken);

// Elements that devices need in `to` and do not hold in `from`, both grids of one shape, over all
// devices; saturates at 2^63 - 1. No plan moves less. NULL `from`: no device holds anything.
// Partial results count as results.
TSR_MUST_USE tsr_status tsr_lacking_elements(const tsr_layout *from, const tsr_layout *to,
                                             int64_t *out_elements);

#endif
