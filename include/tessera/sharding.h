// Sharding: a spec bound to a mesh and checked. Immutable, hence safe to share.
#ifndef TESSERA_SHARDING_H
#define TESSERA_SHARDING_H

#include "tessera/spec.h"

TSR_BEGIN_DECLS

// A part of a mesh axis, by index: `size` members whose major parts have `pre` members together.
// The whole axis has pre 1 and size equal to the axis's.
typedef struct tsr_sub_axis {
  int axis;
  int64_t pre, size;
} tsr_sub_axis;

// tsr_mesh_groups over parts of axes, major to minor, which must be independent: every member's
// index is the number that its digits make. Fails with bad_sub_axis where parts are not of this
// mesh or do not fit together.
TSR_API TSR_MUST_USE tsr_status tsr_sub_axis_groups(const tsr_mesh *mesh, const tsr_sub_axis *parts,
                                                    int part_count, tsr_groups *out_groups);

typedef struct tsr_bound_stage {
  tsr_stage_kind kind;
  int axis_count;
  const tsr_sub_axis *axes;  // major to minor
  int64_t shards;            // product of their sizes
  const tsr_stage *cut;      // sizes, parts and block as the spec gave them
} tsr_bound_stage;

typedef struct tsr_sharding_dim {
  int stage_count;
  const tsr_bound_stage *stages;
  int64_t shards;  // product over the stages
  bool open, has_priority;
  int priority;
} tsr_sharding_dim;

typedef struct tsr_sharding tsr_sharding;  // immutable, shared by any threads

// Checks, in JAX's order: an axis used twice, an unknown axis, unconstrained without an Auto axis,
// unreduced and reduced axes that are not Explicit; then sub-axes (pre and pre*size divide the
// axis, none overlap). Explicit types are asked of unreduced axes only when some axis of the mesh
// is not Auto, or when `strict_types`.
TSR_API TSR_MUST_USE tsr_status tsr_sharding_bind(const tsr_mesh *mesh, const tsr_spec *spec,
                                                  bool strict_types, tsr_sharding **out_sharding);
TSR_API tsr_sharding *tsr_sharding_retain(const tsr_sharding *sharding);
TSR_API void tsr_sharding_release(const tsr_sharding *sharding);  // NULL is fine

TSR_API const tsr_mesh *tsr_sharding_mesh(const tsr_sharding *sharding);
TSR_API const tsr_spec *tsr_sharding_spec(const tsr_sharding *sharding);  // as written
TSR_API int tsr_sharding_dim_count(const tsr_sharding *sharding);         // of the spec
// Dimensions past the spec's length read as uncut and closed.
TSR_API const tsr_sharding_dim *tsr_sharding_dim_at(const tsr_sharding *sharding, int dim);
TSR_API const tsr_sub_axis *tsr_sharding_unreduced(const tsr_sharding *sharding, int *out_count);
TSR_API const tsr_sub_axis *tsr_sharding_reduced(const tsr_sharding *sharding, int *out_count);
TSR_API const tsr_sub_axis *tsr_sharding_replicated(const tsr_sharding *sharding, int *out_count);

// Which chunk of a dimension's stage a mesh position holds: the mixed radix of its coordinates.
TSR_API int64_t tsr_sharding_stage_index(const tsr_sharding *sharding, int dim, int stage,
                                         int64_t position);
// One device, or no cut with more than one shard; never with unreduced axes.
TSR_API bool tsr_sharding_is_fully_replicated(const tsr_sharding *sharding);
// Mesh axes in no entry and in neither set, as bits by axis index.
TSR_API uint32_t tsr_sharding_replicated_axes(const tsr_sharding *sharding);

// Normal form: axes of one member and stages of one shard dropped, neighbouring sub-axes that
// continue one another joined, cyclic stages with the same block merged, sets sorted in mesh order.
// The map is the same for every size.
TSR_API TSR_MUST_USE tsr_status tsr_sharding_normalise(const tsr_sharding *sharding,
                                                       tsr_sharding **out_sharding);
// The same mesh and the same spec.
TSR_API bool tsr_sharding_equal(const tsr_sharding *a, const tsr_sharding *b);
// The same pieces, or partial results, on the same devices in the same order, for every tensor of
// this rank (JAX's is_equivalent_to). Meshes may differ; what is open, reduced, replicated or has a
// priority does not matter. For one shape: tsr_layout_equivalent.
TSR_API TSR_MUST_USE tsr_status tsr_sharding_equivalent(const tsr_sharding *a,
                                                        const tsr_sharding *b, int rank,
                                                        bool *out_equivalent);

TSR_END_DECLS

#endif
