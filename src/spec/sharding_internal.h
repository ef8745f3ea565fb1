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

// tsr_mesh_groups over parts of axes, major to minor, which must be independent: every member's
// index is the number that its digits make. Fails with bad_sub_axis where parts are not of this
// mesh or do not fit together.
TSR_MUST_USE tsr_status tsr_sub_axis_groups(const tsr_mesh *mesh, const tsr_sub_axis *parts,
                                            int part_count, tsr_groups *out_groups);

int tsr_sharding_dim_count(const tsr_sharding *sharding);  // of the spec
const tsr_sub_axis *tsr_sharding_unreduced(const tsr_sharding *sharding, int *out_count);
const tsr_sub_axis *tsr_sharding_reduced(const tsr_sharding *sharding, int *out_count);
const tsr_sub_axis *tsr_sharding_replicated(const tsr_sharding *sharding, int *out_count);

// Which chunk of a dimension's stage a mesh position holds: the mixed radix of its coordinates.
int64_t tsr_sharding_stage_index(const tsr_sharding *sharding, int dim, int stage,
                                 int64_t position);
// One device, or no cut with more than one shard; never with unreduced axes.
bool tsr_sharding_is_fully_replicated(const tsr_sharding *sharding);
// Mesh axes in no entry and in neither set, as bits by axis index.
uint32_t tsr_sharding_replicated_axes(const tsr_sharding *sharding);

// Normal form: axes of one member and stages of one shard dropped, neighbouring sub-axes that
// continue one another joined, cyclic stages with the same block merged, sets sorted in mesh order.
// The map is the same for every size.
TSR_MUST_USE tsr_status tsr_sharding_normalise(const tsr_sharding *sharding,
                                               tsr_sharding **out_sharding);
// The same mesh and the same spec.
bool tsr_sharding_equal(const tsr_sharding *a, const tsr_sharding *b);

#endif
