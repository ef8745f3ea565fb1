// Specs, for the files of this room.
#ifndef TESSERA_SPEC_SPEC_H
#define TESSERA_SPEC_SPEC_H

#include "tessera/engine/kernels.h"
#include "tessera/spec.h"

// Axes, parts and set members of one spec together: far beyond any mesh, and few enough to compare
// all pairs.
enum { TSR_SPEC_MAX_NAMES = 4096 };

// Checks all that needs no mesh.
TSR_MUST_USE tsr_status tsr_spec_desc_check(const tsr_spec_desc *desc);
// Whether two stages have the same cut; axes are not compared.
bool tsr_stage_cut_equal(const tsr_stage *a, const tsr_stage *b);
// Whether a stage names no axis: an empty group, or a group of one None.
bool tsr_stage_is_empty(const tsr_stage *stage);
// Equal specs have equal digests of 128 bits. tsr_spec_hash is the lower half.
tsr_hash128 tsr_spec_digest(const tsr_spec *spec);

#endif
