// The evaluator of constants: the results of an op whose operands are known.
//
// Every op of the specification that computes with elements is evaluated as the specification
// defines it. Where it leaves a result undefined (division of integers by zero, the quotient of the
// least integer and -1), the result stays unknown. Two decisions:
//
// - Floats are computed in f64 and rounded once. For add, subtract, multiply, divide and sqrt this
//   is the exact rule of IEEE 754 for every narrower type; transcendental functions are correctly
//   rounded in almost all cases, and those of f64 are as good as the C library.
// - Floats out of the range of an integer convert to its nearest value, NaN to 0, as XLA does on a
//   CPU; the specification leaves it undefined.
//
// A NaN that an op makes is positive and quiet; a NaN that it passes on keeps its bits.
#ifndef TESSERA_SIMPLIFY_EVALUATE_H
#define TESSERA_SIMPLIFY_EVALUATE_H

#include "ir/ir.h"

typedef struct tsr_evaluate_limits {
  int64_t elements;  // of a result that is not a splat; 0 = 65536
  int64_t steps;     // elements computed, over all ops of all regions; 0 = 1 << 20
  int64_t *budget;   // steps that several evaluations share, counted down; NULL = no such bound
} tsr_evaluate_limits;

// Computes the results of `op` from its operands, one DENSE attribute each. Values that its regions
// take from outside must be constants. `*out_known` is false where the results are not known: an op
// with effects, types without elements that compute, undefined results, a limit. `out_results` has
// room for every result and is written only if they are known. Writes to the marks of values.
TSR_MUST_USE tsr_status tsr_evaluate_op(tsr_ir *ir, tsr_op *op, const tsr_attr *const *operands,
                                        const tsr_evaluate_limits *limits, bool *out_known,
                                        const tsr_attr **out_results);
// Runs a block on constant arguments, such as the body of a reduction on scalars; the results are
// those of its terminator.
TSR_MUST_USE tsr_status tsr_evaluate_block(tsr_ir *ir, tsr_ir_block *block,
                                           const tsr_attr *const *arguments,
                                           const tsr_evaluate_limits *limits, bool *out_known,
                                           const tsr_attr **out_results);

// Whether the room evaluates ops of this kind at all.
bool tsr_evaluates(tsr_op_id id);

// The constant behind a value: of stablehlo.constant, sdy.constant or chlo.constant with a DENSE
// value; NULL for any other value.
const tsr_attr *tsr_value_constant(const tsr_value *value);

#endif
