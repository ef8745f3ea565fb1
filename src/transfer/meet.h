// Meet: the elements that a cut of the target takes from a cut of the source, along one dimension.
#ifndef TESSERA_TRANSFER_MEET_H
#define TESSERA_TRANSFER_MEET_H

#include "transfer/transfer.h"
#include "transfer/triples.h"

// Blocks in both: `a` is their place in the target's shard and `b` in the source's. Sorted by `a`,
// neighbours joined.
typedef struct tsr_overlaps {
  tsr_overlap *items;  // owned
  int64_t count, capacity;
} tsr_overlaps;
#define TSR_OVERLAPS_EMPTY \
  { NULL, 0, 0 }
void tsr_overlaps_deinit(tsr_overlaps *list);
int64_t tsr_overlaps_elements(const tsr_overlaps *list);

// Adds all blocks that the runs share to an empty list.
TSR_MUST_USE tsr_status tsr_overlaps_of(const tsr_run_list *target, const tsr_run_list *source,
                                        tsr_overlaps *list);
// The same for cut `index` of a grid's dimension as the source. `own` is the cut of the target's
// own device (-1 = none): elements it holds are taken from it, others from the cut that owns them.
TSR_MUST_USE tsr_status tsr_overlaps_with_cut(const tsr_run_list *target, const tsr_cut *source,
                                              int64_t index, int64_t own, tsr_overlaps *list);

// A cache of overlaps for one dimension of two grids.
typedef struct tsr_meets {
  tsr_cut target, source;
  bool copies;          // some element is in several cuts of the source
  tsr_triples known;    // by target, source and own cut: index in `lists`
  tsr_overlaps *lists;  // owned
  int64_t count, capacity;
} tsr_meets;
tsr_meets tsr_meets_of(const tsr_layout *from, const tsr_layout *to, int dim);
void tsr_meets_deinit(tsr_meets *meets);
// Borrowed until the next call.
TSR_MUST_USE tsr_status tsr_meets_find(tsr_meets *meets, int64_t target, int64_t source,
                                       int64_t own, const tsr_overlaps **out_overlaps);
// The same without the cache, added to an empty list.
TSR_MUST_USE tsr_status tsr_meets_work_out(const tsr_meets *meets, int64_t target, int64_t source,
                                           int64_t own, tsr_overlaps *list);

#endif
