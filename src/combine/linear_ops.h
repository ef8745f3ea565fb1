// Ops through which a partial sum can pass: what an all-reduce would complete before the op, it
// completes as well after it.
#ifndef TESSERA_COMBINE_LINEAR_OPS_H
#define TESSERA_COMBINE_LINEAR_OPS_H

#include "ir/ir.h"

// Whether an op of one result gives partial results of this reduction (TSR_SDY_REDUCTION_SUM and so
// on) if its operand `index` is partial and the others are the same on all devices.
bool tsr_is_linear(const tsr_op *op, int index, int reduction);
// Whether an op combines two partial operands of this reduction into a partial result.
bool tsr_joins_partials(const tsr_op *op, int reduction);
// Whether all elements of a value are zeros that the program shows; negative ones are not.
bool tsr_is_zero(const tsr_value *value);

#endif
