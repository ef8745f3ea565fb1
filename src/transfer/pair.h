// Pair: the copies from one position of the source to one of the target.
#ifndef TESSERA_TRANSFER_PAIR_H
#define TESSERA_TRANSFER_PAIR_H

#include "tessera/engine/copy_plan.h"
#include "transfer/copy_list.h"
#include "transfer/index_blocks.h"
#include "transfer/meet.h"

// What is worked out for one pair and serves the next.
typedef struct tsr_pairing {
  const tsr_copy_plan *plan;
  tsr_meets *meets;           // owned: of two grids, one for each dimension; else NULL
  tsr_blocks target, source;  // those last asked for
} tsr_pairing;

TSR_MUST_USE tsr_status tsr_pairing_init(tsr_pairing *pairing, const tsr_copy_plan *plan);
void tsr_pairing_deinit(tsr_pairing *pairing);
TSR_MUST_USE tsr_status tsr_pairing_target(tsr_pairing *pairing, int64_t shard);
TSR_MUST_USE tsr_status tsr_pairing_source(tsr_pairing *pairing, int64_t shard);
// Adds the copies in their order, perhaps none. `source` must be the one that tsr_source_of gives
// for its shard.
TSR_MUST_USE tsr_status tsr_pairing_copies(tsr_pairing *pairing, int64_t target, int64_t source,
                                           tsr_copy_list *list);
// How many elements a device at a position with shard `target` keeps if it holds `source`.
TSR_MUST_USE tsr_status tsr_pairing_shared(tsr_pairing *pairing, int64_t target, int64_t source,
                                           int64_t *out_elements);

#endif
