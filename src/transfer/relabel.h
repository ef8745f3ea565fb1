// Relabelling with a bound on memory.
#ifndef TESSERA_TRANSFER_RELABEL_H
#define TESSERA_TRANSFER_RELABEL_H

#include "tessera/engine/copy_plan.h"
#include "transfer/transfer.h"
#include "transfer/transfer_internal.h"

// tsr_relabel with a limit on overlaps of shards to consider, but at least 16 per class.
TSR_MUST_USE tsr_status tsr_relabel_within(const tsr_copy_plan *plan, tsr_dtype dtype,
                                           int64_t most_edges, tsr_relabelling *out_relabelling);

#endif
