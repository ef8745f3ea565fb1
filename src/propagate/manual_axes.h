// Shardings at the border of a manual computation: inside, its manual axes are gone; outside they
// stand in front of the others in each dim.
#ifndef TESSERA_PROPAGATE_MANUAL_AXES_H
#define TESSERA_PROPAGATE_MANUAL_AXES_H

#include "factor/shardings.h"

// What of an outer sharding is left inside. NULL without memory.
const tsr_tensor_sharding *tsr_manual_inner(tsr_arena *arena, const tsr_op *manual,
                                            const tsr_tensor_sharding *outer);
// The sharding outside, whose manual axes are those of `outer` and whose other axes are those of
// `inner`. NULL without memory.
const tsr_tensor_sharding *tsr_manual_outer(tsr_arena *arena, const tsr_op *manual,
                                            const tsr_tensor_sharding *outer,
                                            const tsr_tensor_sharding *inner);
// The same with attributes.
TSR_MUST_USE tsr_status tsr_manual_outer_attr(tsr_ir *ir, const tsr_op *manual,
                                              const tsr_attr *outer, const tsr_attr *inner,
                                              const tsr_attr **out_sharding);
// Sets the sharding of a value that is tsr_shardable; an argument of a manual computation keeps the
// manual axes that its op has.
TSR_MUST_USE tsr_status tsr_sharding_store(tsr_ir *ir, tsr_value *value, const tsr_attr *sharding);
// Before a table is written: shardings of arguments of manual computations that have no edges get
// the manual axes of their op.
TSR_MUST_USE tsr_status tsr_manual_arguments_restore(tsr_sharding_table *table);

#endif
