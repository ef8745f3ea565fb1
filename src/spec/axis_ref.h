// Axes and sub-axes by name: comparisons that need no mesh.
#ifndef TESSERA_SPEC_AXIS_REF_H
#define TESSERA_SPEC_AXIS_REF_H

#include "tessera/spec.h"

static inline bool tsr_axis_ref_is_whole(const tsr_axis_ref *ref) { return ref->size == 0; }

bool tsr_axis_ref_equal(const tsr_axis_ref *a, const tsr_axis_ref *b);
// Whether two references share a digit of a mesh coordinate. A whole axis overlaps all its
// sub-axes; a sub-axis of one member overlaps nothing.
bool tsr_axis_ref_overlaps(const tsr_axis_ref *a, const tsr_axis_ref *b);

#endif
