// Shardings, for the files of this room.
#ifndef TESSERA_SPEC_SHARDING_H
#define TESSERA_SPEC_SHARDING_H

#include "spec/sub_axis.h"
#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"
#include "tessera/status.h"

// Fails if an axis or overlapping sub-axes occur twice in the entries.
TSR_MUST_USE tsr_status tsr_spec_check_unique(const tsr_spec_desc *desc);
// Fails with constraint_needs_auto_axis if an entry uses an axis that is not Auto. JAX refuses
// constraints on axes that belong to a value's type.
TSR_MUST_USE tsr_status tsr_sharding_check_auto(const tsr_sharding *sharding);
// The digits of a mesh position that number the shards of a stage, major to minor.
const tsr_digit *tsr_sharding_stage_digits(const tsr_sharding *sharding, int dim, int stage);

#endif
