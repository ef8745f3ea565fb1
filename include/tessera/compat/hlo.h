// XLA's shardings, as StableHLO and HLO programs carry them: tile assignments over numbered
// devices, {devices=[2,1,4]<=[8] last_tile_dim_replicate}.
//
//   tsr_tiling *tiling = NULL;
//   tsr_spec *spec = NULL;
//   TSR_TRY(tsr_tiling_parse("{devices=[4,2]<=[8]}", &tiling));
//   TSR_TRY(tsr_tiling_to_spec(tiling, mesh, &spec));  // data, model on data=4,model=2
//
// A translation puts the same shard on the same device. This is proved by comparing both layouts;
// if they differ, it fails with not_expressible and says where.
#ifndef TESSERA_COMPAT_HLO_H
#define TESSERA_COMPAT_HLO_H

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

typedef struct tsr_tiling tsr_tiling;  // immutable, shared by any threads

// Every form of XLA's printer: iota with and without transpose, explicit lists, replicas and other
// last tile dimensions, maximal, manual, unreduced, unknown, tuples, shard groups, metadata. Print
// gives XLA's own text and keeps metadata. Meaningless texts fail even if XLA accepts them: two
// kinds at once, repeated devices, sizes that do not match. The newer text over a named mesh,
// {mesh['x'=2,'y'=4], [{'x'}, {?}], unreduced={'y'}}, is read and printed as a tiling.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_tiling_parse(const char *text,
                                                             tsr_tiling **out_tiling);
TSR_API TSR_NONNULL void tsr_tiling_print(const tsr_tiling *tiling, tsr_text *out);
TSR_API void tsr_tiling_release(const tsr_tiling *tiling);  // NULL is fine

// The tiling that NamedSharding gives XLA for tensors of this rank; device numbers are mesh
// positions. Fails with not_expressible for nested cuts and cuts that are not even. Open
// dimensions, priorities and explicitly replicated axes are dropped; they do not change which
// device holds what.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_tiling_from_sharding(const tsr_sharding *sharding,
                                                                     int rank,
                                                                     tsr_tiling **out_tiling);
// A spec on `mesh`, with sub-axes if needed, that gives every mesh position the same tile. Manual
// subgroups must be the mesh's manual axes.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_tiling_to_spec(const tsr_tiling *tiling,
                                                               const tsr_mesh *mesh,
                                                               tsr_spec **out_spec);

TSR_END_DECLS

#endif
