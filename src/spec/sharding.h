// What the files of this room share about shardings.
#ifndef TESSERA_SPEC_SHARDING_H
#define TESSERA_SPEC_SHARDING_H

#include "spec/sub_axis.h"
#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"
#include "tessera/status.h"

// Fails when an axis, or a part of it, occurs twice in the entries.
TSR_MUST_USE tsr_status tsr_spec_check_unique(const tsr_spec_desc *desc);
// Fails with constraint_needs_auto_axis when an entry uses an axis that is not Auto: what a
// constraint asks for, JAX refuses to do to axes that are part of a value's type.
TSR_MUST_USE tsr_status tsr_sharding_check_auto(const tsr_sharding *sharding);
// The digits of a mesh position that number the shards of a stage, major to minor.
const tsr_digit *tsr_sharding_stage_digits(const tsr_sharding *sharding, int dim, int stage);

#endif
