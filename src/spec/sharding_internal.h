// Shardings, for other rooms: groups of sub-axes, sets of axes, chunks and normal forms, beside
// what tessera/engine/sharding.h offers.
#ifndef TESSERA_SPEC_SHARDING_INTERNAL_H
#define TESSERA_SPEC_SHARDING_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/status.h"

// tsr_mesh_groups over independent sub-axes, major to minor: the index of a member is the number
// that its digits make. Fails with bad_sub_axis if they are not of this mesh or not independent.
TSR_MUST_USE tsr_status tsr_sub_axis_groups(const tsr_mesh *mesh, const tsr_sub_axis *parts,
                                            int part_count, tsr_groups *out_groups);

int tsr_sharding_dim_count(const tsr_sharding *sharding);  // of the spec
const tsr_sub_axis *tsr_sharding_unreduced(const tsr_sharding *sharding, int *out_count);
const tsr_sub_axis *tsr_sharding_reduced(const tsr_sharding *sharding, int *out_count);
const tsr_sub_axis *tsr_sharding_replicated(const tsr_sharding *sharding, int *out_count);

// The shard of a dimension's stage that a mesh position holds: its coordinates in mixed radix.
int64_t tsr_sharding_stage_index(const tsr_sharding *sharding, int dim, int stage,
                                 int64_t position);
// True with one device, or if nothing is cut into several shards; false with unreduced axes.
bool tsr_sharding_is_fully_replicated(const tsr_sharding *sharding);
// Mesh axes in no entry and in no set but replicated, as bits by axis index.
uint32_t tsr_sharding_replicated_axes(const tsr_sharding *sharding);

// Normal form: drops axes of one member and stages of one shard, joins neighbouring sub-axes that
// continue each other, merges cyclic stages of the same block, sorts sets in mesh order. Every
// device holds the same for every size.
TSR_MUST_USE tsr_status tsr_sharding_normalise(const tsr_sharding *sharding,
                                               tsr_sharding **out_sharding);
// The same mesh and the same spec.
bool tsr_sharding_equal(const tsr_sharding *a, const tsr_sharding *b);

#endif
