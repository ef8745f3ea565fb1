// Bodies of reductions tried on numbers.
//
// StableHLO leaves the order of a reduction to the implementation, and how often initial values
// take part in it: a body that is not associative, or changes what it combines with an initial
// value, has no result of its own. Bodies that a user wrote for another order are kept whole all
// the same, where a few numbers show it: results then do not depend on the mesh. NaN is not among
// them: few bodies that compare and choose are associative there.
#ifndef TESSERA_LOCALIZE_BODY_TRIALS_H
#define TESSERA_LOCALIZE_BODY_TRIALS_H

#include "ir/ir.h"

// Whether the body of a reduce or reduce_window is associative, up to rounding, and whether its
// initial values may be met again, on the numbers tried. False where the body cannot be evaluated.
TSR_MUST_USE tsr_status tsr_body_may_fold(tsr_ir *ir, const tsr_op *op, bool *out_may);
// The constant of one element that an initial value is, also where it is broadcast to a scalar
// again, as JAX does; NULL = it is none.
const tsr_attr *tsr_init_constant(const tsr_value *init);

#endif
