// Compares how PyTorch cuts one dimension, axis by axis, with how a spec does.
#ifndef TESSERA_SPEC_PLACEMENTS_H
#define TESSERA_SPEC_PLACEMENTS_H

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/status.h"

// The factor of a strided shard is the number of pieces that existed before it cut: those of axes
// that come later in the mesh. So the factors of a dimension give the order in which its axes cut.
// Each axis chunks what the axes before it left on the device, as torch.chunk does: chunks of ceil
// size, late ones short or empty. Factors that give no order mean chunks side by side: axes cut in
// mesh order, and a strided shard first cuts into `factor` pieces, then takes its chunk of each.
typedef struct tsr_torch_cut {
  int axis;
  int64_t size, factor;  // of the axis; 1 for a plain shard
  int order;             // 1 = the first to cut; 0 = given by the factors
} tsr_torch_cut;

typedef struct tsr_torch_cuts {
  int count;
  tsr_torch_cut at[TSR_MAX_AXES];  // in mesh order
} tsr_torch_cuts;

// A spec's even stages, major to minor: sub-axis i belongs to stage[i], which never decreases.
#define TSR_MAX_NEST (4 * TSR_MAX_AXES)
typedef struct tsr_nest {
  int count;
  tsr_sub_axis sub_axes[TSR_MAX_NEST];
  int stage[TSR_MAX_NEST];
} tsr_nest;

// The order of cuts that the factors give, each axis its own stage. Fails with not_expressible if
// they give none, and names the wrong factor.
TSR_MUST_USE tsr_status tsr_torch_cuts_order(const tsr_torch_cuts *cuts, const tsr_mesh *mesh,
                                             int dim, tsr_nest *out_nest);
// The order of sub-axes that gives the same pieces as chunks side by side if every cut is even. A
// strided shard leaves a gap above itself, which later axes fill. False if a gap stays open or an
// axis does not fit.
bool tsr_torch_cuts_nest(const tsr_torch_cuts *cuts, tsr_nest *out_nest);
// Compare the pieces of a dimension of `size` elements on every device, and fail with
// not_expressible at the first difference. The first compares with the same sub-axes in the same
// order, each its own stage; the second with chunks side by side.
TSR_MUST_USE tsr_status tsr_nest_compare(const tsr_nest *order, const tsr_nest *nest,
                                         const tsr_mesh *mesh, int dim, int64_t size);
TSR_MUST_USE tsr_status tsr_torch_cuts_compare(const tsr_torch_cuts *cuts, const tsr_nest *nest,
                                               const tsr_mesh *mesh, int dim, int64_t size);

#endif
