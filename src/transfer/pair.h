// Pair: the copies from one position of the source to one of the target.
#ifndef TESSERA_TRANSFER_PAIR_H
#define TESSERA_TRANSFER_PAIR_H

#include "tessera/engine/copy_plan.h"
#include "transfer/copy_list.h"
#include "transfer/index_blocks.h"
#include "transfer/meet.h"

// Kept from one pair to the next.
typedef struct tsr_pairing {
  const tsr_copy_plan *plan;
  tsr_meets *meets;           // owned: of two grids, one for each dimension; else NULL
  tsr_blocks target, source;  // the last ones
} tsr_pairing;

TSR_MUST_USE tsr_status tsr_pairing_init(tsr_pairing *pairing, const tsr_copy_plan *plan);
void tsr_pairing_deinit(tsr_pairing *pairing);
TSR_MUST_USE tsr_status tsr_pairing_target(tsr_pairing *pairing, int64_t shard);
TSR_MUST_USE tsr_status tsr_pairing_source(tsr_pairing *pairing, int64_t shard);
// Adds the copies in order, possibly none. `source` must be the result of tsr_source_of for its
// shard.
TSR_MUST_USE tsr_status tsr_pairing_copies(tsr_pairing *pairing, int64_t target, int64_t source,
                                           tsr_copy_list *list);
// Number of elements that a device keeps which holds shard `source` and gets shard `target`.
TSR_MUST_USE tsr_status tsr_pairing_shared(tsr_pairing *pairing, int64_t target, int64_t source,
                                           int64_t *out_elements);

#endif
