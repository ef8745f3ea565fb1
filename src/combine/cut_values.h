// What passes of this room ask of values of the whole program and of Shardy's collectives.
#ifndef TESSERA_COMBINE_CUT_VALUES_H
#define TESSERA_COMBINE_CUT_VALUES_H

#include "factor/shardings.h"

// The bytes of a value on one device.
TSR_MUST_USE tsr_status tsr_cut_bytes(tsr_ir *ir, tsr_value *value, int64_t *out_bytes);
// Whether a value is the same on devices that differ along the axes of an SDY_AXIS_LIST only.
TSR_MUST_USE tsr_status tsr_cut_is_uniform(tsr_ir *ir, tsr_value *value, const tsr_attr *axes,
                                           bool *out_uniform);
// The SDY_SHARDING of a value; that of a whole one on the mesh of `like` if it has none.
TSR_MUST_USE tsr_status tsr_cut_attr(tsr_ir *ir, tsr_value *value, const tsr_attr *like,
                                     const tsr_attr **out_sharding);

// The axes of two arrays of SDY_AXIS, in the order of the mesh.
TSR_MUST_USE tsr_status tsr_joined_axes(tsr_ir *ir, const tsr_attr *mesh, const tsr_attr *a,
                                        const tsr_attr *b, const tsr_attr **out_axes);
// Says in its sharding that a value has partial results along the axes of an all-reduce.
TSR_MUST_USE tsr_status tsr_partial_mark(tsr_ir *ir, tsr_value *value, const tsr_op *reduce);

// Of an sdy.all_reduce.
int tsr_reduction_of(const tsr_op *reduce);              // TSR_SDY_REDUCTION_SUM and so on
const tsr_attr *tsr_reduced_axes(const tsr_op *reduce);  // an SDY_AXIS_LIST
bool tsr_same_reduction(const tsr_op *a, const tsr_op *b);

#endif
