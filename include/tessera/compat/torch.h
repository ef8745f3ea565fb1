// PyTorch's DTensor placements: [Shard(0), Replicate(), Partial()], one per axis of a mesh.
//
//   tsr_placements placements;
//   tsr_spec *spec = NULL;
//   TSR_TRY(tsr_placements_parse("[Shard(0), Replicate()]", &placements));
//   TSR_TRY(tsr_placements_to_spec(&placements, mesh, 2, NULL, &spec));  // dp, _ on dp=4,tp=2
//
// A translation puts the same shard on the same device. This is proved by comparing both layouts;
// if they differ, it fails with not_expressible and says where.
#ifndef TESSERA_COMPAT_TORCH_H
#define TESSERA_COMPAT_TORCH_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

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

// Reads "(Shard(dim=0), Replicate())", also in square brackets, after "placements=", and with
// qualified names; "S(0)R", where "S(0)[1]S(0)[0]" numbers the shards of a dimension in the order
// of their cuts; and the placements inside a printed DTensor, "DTensor(local_tensor=...,
// device_mesh=..., placements=...)", or spec, "DTensorSpec(mesh=..., placements=..., ...)" or
// "Spec(f32[8, 8](S(0)R))". Partial results must combine by sum, max or min.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_placements_parse(const char *text,
                                                                 tsr_placements *out);
// As PyTorch's constructors accept them.
TSR_API TSR_NONNULL void tsr_placements_print(const tsr_placements *placements, tsr_text *out);
// PyTorch cuts axis by axis, so two axes on one dimension nest (`dp;tp`). If flat and nested cuts
// agree for the shape, the result is the flat spec (`dp+tp`); with a NULL shape it must hold for
// every size. A strided shard leaves a gap for axes that come later in the mesh but cut first: FSDP
// over TP is `tp;dp`, for every size. A split factor that is not the size of such axes gives no
// order of cuts. It then means PyTorch's chunks side by side: these need a shape, and have a spec
// if no other axis cuts the dimension (`dp/cyclic(block)`); otherwise they are not_expressible.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 5) tsr_status
    tsr_placements_to_spec(const tsr_placements *placements, const tsr_mesh *mesh, int rank,
                           const tsr_shape *shape, tsr_spec **out_spec);
// The inverse, for tensors of this rank; with a NULL shape the result must hold for every size.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_placements_from_sharding(const tsr_sharding *sharding, int rank, const tsr_shape *shape,
                                 tsr_placements *out_placements);

TSR_END_DECLS

#endif
