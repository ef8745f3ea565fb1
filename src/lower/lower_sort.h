// Steps of sorts that other ops ask for too.
#ifndef TESSERA_LOWER_LOWER_SORT_H
#define TESSERA_LOWER_LOWER_SORT_H

#include "lower/lowering.h"

// The step of an op with one operand and two results: the `k` largest (or smallest) elements along
// the last dim, and their indices as int32.
TSR_MUST_USE tsr_status tsr_lower_top_k_of(tsr_lowering *lowering, tsr_op *op, int64_t k,
                                           bool largest);

#endif
