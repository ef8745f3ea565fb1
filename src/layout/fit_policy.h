// Fit: the policies for sizes that do not divide.
#ifndef TESSERA_LAYOUT_FIT_POLICY_H
#define TESSERA_LAYOUT_FIT_POLICY_H

#include "layout/cut.h"
#include "tessera/engine/sharding.h"

// Fails if a dimension's cut is not valid for its size, or does not divide it `evenly`.
TSR_MUST_USE tsr_status tsr_fit_check(const tsr_sharding *sharding, const tsr_shape *shape,
                                      bool evenly);
// The same sharding with fewer axes, so that they divide: each dimension keeps the longest prefix
// of axes that divides, and the largest sub-axis of the next one. Retains `sharding` if nothing
// must be dropped.
TSR_MUST_USE tsr_status tsr_fit_trim(const tsr_sharding *sharding, const tsr_shape *shape,
                                     tsr_sharding **out_sharding);
// The axes of stage, as messages show them: x=4 * y:(1)2=2 = 8.
void tsr_fit_print_axes(const tsr_mesh *mesh, const tsr_bound_stage *stage, tsr_text *out);

#endif
