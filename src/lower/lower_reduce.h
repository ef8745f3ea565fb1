// Reductions as steps, and what others ask about them.
#ifndef TESSERA_LOWER_LOWER_REDUCE_H
#define TESSERA_LOWER_LOWER_REDUCE_H

#include "reduce/region_call.h"
#include "lower/lowering.h"

// The op of a tile program for each result of a reduction whose body combines each input by itself,
// by addition, multiplication, maximum, minimum, and, or, xor: result k is op(argument k, argument
// n + k). False for any other body. `out_ops` has room for every result.
bool tsr_reduce_ops(const tsr_op *op, tsr_tile_op *out_ops);
// Whether an initial value changes no result of such an op: 0 for a sum, -infinity for a maximum.
bool tsr_is_identity(const tsr_value *initial, tsr_tile_op op);
// Whether a reduction is an argmax or argmin along one dim that computes the indices by itself: its
// second input, an iota, is not read.
bool tsr_is_arg_reduce(const tsr_op *op);

// The body of a reduction or window as what kernels call; fails where the body's types are not
// those of the inputs. `*out_inputs` are the values that the step reads: the op's operands, then
// those from outside. The program belongs to the caller.
TSR_MUST_USE tsr_status tsr_region_call_of(tsr_lowering *lowering, tsr_op *op, int64_t most,
                                           tsr_region_call *out_call, tsr_value ***out_inputs,
                                           int *out_input_count);
// Takes an op's elements together: the sizes before, of and after dim `dim`.
void tsr_dims_around(const tsr_type *type, int dim, int64_t *out_outer, int64_t *out_length,
                     int64_t *out_inner);

#endif
