// What the files of this room share about shardings.
#ifndef TESSERA_SPEC_SHARDING_H
#define TESSERA_SPEC_SHARDING_H

#include "spec/sub_axis.h"
#include "tessera/sharding.h"

// Fails when an axis, or a part of it, occurs twice in the entries.
TSR_MUST_USE tsr_status tsr_spec_check_unique(const tsr_spec_desc *desc);
// The digits of a mesh position that number the shards of a stage, major to minor.
const tsr_digit *tsr_sharding_stage_digits(const tsr_sharding *sharding, int dim, int stage);

#endif
