// How parts of a reduction are combined, by the body of the op.
#ifndef TESSERA_LOCALIZE_PARTIAL_BODIES_H
#define TESSERA_LOCALIZE_PARTIAL_BODIES_H

#include "ir/ir.h"

typedef enum tsr_partials {
  TSR_PARTIALS_NONE,    // not known to be combined by anything
  TSR_PARTIALS_REDUCE,  // by an all-reduce of Shardy: `out_kind` is its TSR_SDY_REDUCTION_...
  TSR_PARTIALS_FOLD     // by the body itself, in the order of the shards
} tsr_partials;

// Of a reduce or scatter. The initial values are looked at too: those of a fold must not change
// what they are combined with again.
TSR_MUST_USE tsr_status tsr_partials_of(tsr_ir *ir, const tsr_op *op, tsr_partials *out_partials,
                                        int *out_kind);
// The op that a body makes result `index` with, of its own pair of arguments; TSR_OP_COUNT = it is
// no single op.
tsr_op_id tsr_body_op(const tsr_op *op, int index);
// Whether combining with the initial value by `id` changes nothing, also where it is done often.
bool tsr_init_is_neutral(tsr_op_id id, const tsr_value *init);

#endif
