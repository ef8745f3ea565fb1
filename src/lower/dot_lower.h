// What a product reads through.
#ifndef TESSERA_LOWER_DOT_LOWER_H
#define TESSERA_LOWER_DOT_LOWER_H

#include "lower/lowering.h"

// Whether the dot_general of a use reads through `producer`, the op that defines the value used: a
// transpose. A producer without a slot is then found by the dot_general itself.
bool tsr_dot_absorbs(const tsr_use *use, const tsr_op *producer);
// Lowers a dot_general and the transpose of its result, which nothing else uses, as one step.
TSR_MUST_USE tsr_status tsr_lower_dot_into(tsr_lowering *lowering, tsr_op *op, tsr_op *transpose);

#endif
