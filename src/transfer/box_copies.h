// Copies between the shards of a layout and one box of its tensor.
//
// The box has a dense row-major buffer of its own, to read from a sharded tensor or to write into
// one. The index of a layout is built once for many boxes.
#ifndef TESSERA_TRANSFER_BOX_COPIES_H
#define TESSERA_TRANSFER_BOX_COPIES_H

#include "tessera/engine/kernels.h"
#include "tessera/layout.h"

typedef struct tsr_box_index tsr_box_index;

// The layout must outlive the index. An index is immutable, so threads may share it.
TSR_MUST_USE tsr_status tsr_box_index_create(const tsr_layout *layout, tsr_box_index **out_index);
void tsr_box_index_destroy(tsr_box_index *index);  // NULL is fine

// One copy from a shard's buffer to the box's. `source` is the shard. `target` is 0 if the shard
// owns the elements, else 1.
typedef tsr_status tsr_box_copy_fn(void *context, const tsr_copy *copy);

typedef enum tsr_box_holders {
  TSR_BOX_OWNERS,  // each element from the one shard that owns it: what a reader wants
  TSR_BOX_ALL      // every shard that holds elements of the box: what a writer must fill
} tsr_box_holders;

// Calls `fn` for each copy, in order of shards for grids of plain cuts, until it fails. `box` has a
// range for each dimension, within the tensor.
TSR_MUST_USE tsr_status tsr_box_copies(const tsr_box_index *index, const tsr_range *box,
                                       tsr_box_holders holders, tsr_box_copy_fn *fn, void *context);
// The same for a box stored with these strides.
TSR_MUST_USE tsr_status tsr_box_copies_into(const tsr_box_index *index, const tsr_range *box,
                                            const int64_t *strides, tsr_box_holders holders,
                                            tsr_box_copy_fn *fn, void *context);

#endif
