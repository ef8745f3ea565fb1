// The axes that each factor of an op gets, the same in all its tensors, so that the op needs no
// data from elsewhere.
#ifndef TESSERA_RESHARD_COMMON_AXES_H
#define TESSERA_RESHARD_COMMON_AXES_H

#include "factor/projection.h"

// Finds the axes of each factor of a projection, in `out_axes` of rule->factor_count. Shardings
// that fit together already stay. Otherwise an op with two tensors takes the axes of one of them;
// for others the axes are chosen that the largest tensors have. Factors that need replication get
// none: what they had goes to factors that all tensors have. `sizes` has the elements of each
// tensor.
TSR_MUST_USE tsr_status tsr_common_axes(tsr_arena *arena, const tsr_projection *projection,
                                        const int64_t *sizes, tsr_sdy_parts *out_axes);
// The axes of a factor if all tensors that have it have the same; false if two differ.
bool tsr_factor_axes(const tsr_projection *projection, int factor, tsr_sdy_parts *out_axes);

#endif
