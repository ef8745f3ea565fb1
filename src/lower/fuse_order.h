// The steps of a block in an order in which they can run.
#ifndef TESSERA_LOWER_FUSE_ORDER_H
#define TESSERA_LOWER_FUSE_ORDER_H

#include "lower/fuse_group.h"

// Finds out which groups and ops something needs, and which values of groups are stored. Puts them
// in an order near that of the block: a group runs where its last op stands, or before its first
// reader; what only moves elements runs right before its first reader.
TSR_MUST_USE tsr_status tsr_fuser_order(tsr_fuser *fuser, tsr_fusion **out_fusions, int *out_count);

#endif
