// Relabelling with a bound on memory.
#ifndef TESSERA_TRANSFER_RELABEL_H
#define TESSERA_TRANSFER_RELABEL_H

#include "tessera/engine/copy_plan.h"
#include "transfer/transfer.h"
#include "transfer/transfer_internal.h"

// As tsr_relabel, looking at no more than so many overlaps of shards, or 16 for each.
TSR_MUST_USE tsr_status tsr_relabel_within(const tsr_copy_plan *plan, tsr_dtype dtype,
                                           int64_t most_edges, tsr_relabelling *out_relabelling);

#endif
