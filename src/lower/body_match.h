// Reading the bodies of reductions and sorts: is a value this comparison, this op of two values?
#ifndef TESSERA_LOWER_BODY_MATCH_H
#define TESSERA_LOWER_BODY_MATCH_H

#include "ir/ir.h"

// The op that defines a value, if it is of this kind; NULL otherwise.
const tsr_op *tsr_match_op(const tsr_value *value, tsr_op_id id);
// Whether a value is `a direction b`, written this way or with the sides exchanged.
bool tsr_match_compare(const tsr_value *value, int direction, const tsr_value *a,
                       const tsr_value *b);
// The direction that a comparison has when its sides are exchanged.
int tsr_direction_exchanged(int direction);
// Whether a comparison is of the total order of floats.
bool tsr_compares_totally(const tsr_op *compare);
// The operand beside `one` of an op of two operands that has it as one of them; NULL otherwise.
const tsr_value *tsr_match_other(const tsr_value *value, tsr_op_id id, const tsr_value *one);
// Whether a value is `select(choice, a, b)`.
bool tsr_match_select(const tsr_value *value, const tsr_value *choice, const tsr_value *a,
                      const tsr_value *b);

// What a body of (value, index) pairs finds, as JAX writes argmax and argmin: the first of the
// largest or smallest values, a NaN before all.
typedef enum tsr_arg_body { TSR_ARG_NONE, TSR_ARG_LARGEST, TSR_ARG_SMALLEST } tsr_arg_body;
tsr_arg_body tsr_match_arg_body(const tsr_region *region);

#endif
