// An axis, or a part of one, by name: what can be said about two of them without a mesh.
#ifndef TESSERA_SPEC_AXIS_REF_H
#define TESSERA_SPEC_AXIS_REF_H

#include "tessera/spec.h"

static inline bool tsr_axis_ref_is_whole(const tsr_axis_ref *ref) { return ref->size == 0; }

bool tsr_axis_ref_equal(const tsr_axis_ref *a, const tsr_axis_ref *b);
// Whether some digit of a mesh coordinate belongs to both. A whole axis overlaps all its parts,
// but a part of one member overlaps nothing.
bool tsr_axis_ref_overlaps(const tsr_axis_ref *a, const tsr_axis_ref *b);

#endif
