// How much of a tensor devices lack when its layout changes.
#ifndef TESSERA_PLAN_MOVED_H
#define TESSERA_PLAN_MOVED_H

#include "tessera/layout.h"

// Elements of the new shards that the same devices' old shards lack, over all devices; stops at
// 2^63 - 1. Both layouts are grids of one shape; NULL = no device holds anything yet. Devices are
// told by id; on an abstract mesh positions stand for them.
TSR_MUST_USE tsr_status tsr_layout_moved(const tsr_layout *from, const tsr_layout *to,
                                         int64_t *out_elements);
// What stops at 2^63 - 1.
int64_t tsr_saturated_add(int64_t a, int64_t b);

#endif
