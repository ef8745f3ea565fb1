// Check: proof that copies do what a plan promises.
#ifndef TESSERA_TRANSFER_COPY_CHECK_H
#define TESSERA_TRANSFER_COPY_CHECK_H

#include "tessera/engine/copy_plan.h"
#include "transfer/copy_list.h"
#include "transfer/transfer.h"

// Whether these copies write every element of one position of the target exactly once and nothing
// else, each from a place where its source holds it. Fails with broken_copy_plan, naming a place.
TSR_MUST_USE tsr_status tsr_check_copies(const tsr_copy_plan *plan, int64_t target,
                                         const tsr_copy_list *copies);

#endif
