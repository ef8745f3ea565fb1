// Notations without axis names: XLA's tile assignments and PyTorch's DTensor placements.
//
// A translation is given only when it puts the same piece on the same device, and that is proved by
// comparing the two maps; otherwise it fails with not_expressible and says where they differ.
#ifndef TESSERA_NOTATION_H
#define TESSERA_NOTATION_H

#include "tessera/sharding.h"

TSR_BEGIN_DECLS

// ---- XLA: {devices=[2,1,4]<=[8] last_tile_dim_replicate} ----

typedef enum tsr_tiling_kind {
  TSR_TILING_REPLICATED,  // {replicated}
  TSR_TILING_MAXIMAL,     // {maximal device=3}
  TSR_TILING_MANUAL,      // {manual}
  TSR_TILING_UNKNOWN,     // {unknown}
  TSR_TILING_UNREDUCED,   // {unreduced}
  TSR_TILING_TILED,       // {devices=[...]...}
  TSR_TILING_TUPLE        // {{...}, {...}}
} tsr_tiling_kind;

// What a trailing subgroup dimension of a tiling means.
typedef enum tsr_subgroup {
  TSR_SUBGROUP_REPLICATED,
  TSR_SUBGROUP_MANUAL,
  TSR_SUBGROUP_UNREDUCED
} tsr_subgroup;

typedef struct tsr_tiling tsr_tiling;

// Every form that XLA's printer uses: iota with and without transpose, explicit lists, replicas and
// other last tile dimensions, maximal, manual, unreduced, unknown, tuples, shard groups, metadata.
// Print gives the text that XLA prints; metadata is carried along. Texts that mean nothing are
// refused even where XLA takes them: two kinds at once, repeated devices, sizes that do not match.
// The newer text over a named mesh, {mesh['x'=2,'y'=4], [{'x'}, {?}], unreduced={'y'}}, is read as
// the tiling that it means and printed as that.
TSR_API TSR_MUST_USE tsr_status tsr_tiling_parse(const char *text, tsr_tiling **out_tiling);
TSR_API void tsr_tiling_print(const tsr_tiling *tiling, tsr_text *out);
TSR_API tsr_tiling *tsr_tiling_retain(const tsr_tiling *tiling);
TSR_API void tsr_tiling_release(const tsr_tiling *tiling);  // NULL is fine
TSR_API tsr_tiling_kind tsr_tiling_kind_of(const tsr_tiling *tiling);
// As values: a list of devices equals the counted form of the same; metadata does not matter.
TSR_API bool tsr_tiling_equal(const tsr_tiling *a, const tsr_tiling *b);
// Elements of a tuple; 0 for other kinds.
TSR_API int tsr_tiling_element_count(const tsr_tiling *tiling);
TSR_API const tsr_tiling *tsr_tiling_element(const tsr_tiling *tiling, int index);

// What NamedSharding gives XLA for tensors of this rank: logical device numbers are mesh positions.
// Fails with not_expressible for cuts that are not even, or nested. XLA has no words for open
// dimensions, priorities and explicitly replicated axes; they are left out, for they do not change
// which device holds what.
TSR_API TSR_MUST_USE tsr_status tsr_tiling_from_sharding(const tsr_sharding *sharding, int rank,
                                                         tsr_tiling **out_tiling);
// A spec on `mesh` (sub-axes where needed) that gives every mesh position the same tile. Manual
// subgroups must be the mesh's manual axes.
TSR_API TSR_MUST_USE tsr_status tsr_tiling_to_spec(const tsr_tiling *tiling, const tsr_mesh *mesh,
                                                   tsr_spec **out_spec);

// ---- PyTorch DTensor: [Shard(0), Replicate(), Partial()] on a named mesh ----

typedef enum tsr_placement_kind {
  TSR_PLACEMENT_REPLICATE,      // Replicate() or R
  TSR_PLACEMENT_SHARD,          // Shard(dim=0), Shard(0) or S(0)
  TSR_PLACEMENT_STRIDED_SHARD,  // _StridedShard(0, split_factor=2), with sf=2, or _S(0, 2)
  TSR_PLACEMENT_PARTIAL         // Partial(), Partial('sum'), Partial(sum) or P(sum)
} tsr_placement_kind;

typedef struct tsr_placement {
  tsr_placement_kind kind;
  int dim;                  // of a shard; may be negative until a rank is known
  int64_t split_factor;     // of a strided shard
  tsr_reduction reduction;  // of a partial
  int order;  // of a shard: S(0)[1] has 2, the second to cut its dimension; 0 = in mesh order
} tsr_placement;

typedef struct tsr_placements {
  int count;  // one per mesh axis
  tsr_placement items[TSR_MAX_AXES];
} tsr_placements;

// All that tsr_dtensor_parse reads, but only the placements of it. What is printed, PyTorch's
// constructors take.
TSR_API TSR_MUST_USE tsr_status tsr_placements_parse(const char *text, tsr_placements *out);
TSR_API void tsr_placements_print(const tsr_placements *placements, tsr_text *out);
// PyTorch cuts axis by axis, so two axes on one dimension nest (`dp;tp`). With a shape for which
// flat and nested cuts agree, the flat spec (`dp+tp`) is given; NULL shape: what holds for every
// size. A strided shard leaves room for axes that come later in the mesh but cut first: FSDP over
// TP is `tp;dp`, for every size. A split factor that is not the size of such axes names no order of
// cuts. It then means PyTorch's own chunks side by side, which needs a shape, may have a spec
// (`dp/cyclic(block)` where no other axis cuts the dimension), and otherwise is not_expressible.
TSR_API TSR_MUST_USE tsr_status tsr_placements_to_spec(const tsr_placements *placements,
                                                       const tsr_mesh *mesh, int rank,
                                                       const tsr_shape *shape, tsr_spec **out_spec);
TSR_API TSR_MUST_USE tsr_status tsr_placements_from_sharding(const tsr_sharding *sharding, int rank,
                                                             const tsr_shape *shape,
                                                             tsr_placements *out_placements);

// What PyTorch prints of a DTensor and of its spec.
typedef struct tsr_dtensor {
  tsr_placements placements;
  tsr_mesh *mesh;      // owned; NULL = the text has none
  bool lists_devices;  // of the mesh; otherwise they are those that its strides reach from 0 on
  bool has_shape;
  tsr_shape shape;
} tsr_dtensor;

// Reads "(Shard(dim=0), Replicate())", also in square brackets, after "placements=", and with
// qualified names; "S(0)R", where "S(0)[1]S(0)[0]" numbers the shards of a dimension in the order
// of their cuts; "DTensor(local_tensor=..., device_mesh=..., placements=...)";
// "DTensorSpec(mesh=..., placements=..., ...)"; "Spec((Shard(dim=0), Replicate()) on (8, 8))" and
// "Spec(f32[8, 8](S(0)R))". Meshes are read by tsr_mesh_parse. Partial results that combine
// otherwise than by sum, max or min are refused.
TSR_API TSR_MUST_USE tsr_status tsr_dtensor_parse(const char *text, const tsr_topology *topology,
                                                  tsr_dtensor *out);
TSR_API void tsr_dtensor_deinit(tsr_dtensor *dtensor);
// Whether a text is meant for tsr_dtensor_parse, not for tsr_spec_parse.
TSR_API bool tsr_dtensor_looks_like(const char *text);
// Fails where the text speaks of another mesh or shape than these; NULL is not compared.
TSR_API TSR_MUST_USE tsr_status tsr_dtensor_check(const tsr_dtensor *dtensor, const tsr_mesh *mesh,
                                                  const tsr_shape *shape);

TSR_END_DECLS

#endif
