// How PyTorch cuts one dimension, axis by axis, and how a spec does, to compare the two.
#ifndef TESSERA_SPEC_PLACEMENTS_H
#define TESSERA_SPEC_PLACEMENTS_H

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/status.h"

// A strided shard says that `factor` pieces were there before it cut: those of axes that come later
// in the mesh. So the factors of a dimension name the order in which its axes cut, and each chunks
// what the ones before have left on the device (as torch.chunk does: chunks of ceil size, late ones
// short or empty). Factors that name no order mean chunks side by side: axes cut in mesh order, and
// a strided shard cuts in `factor` first, chunks each of these, and keeps its chunk of every one.
typedef struct tsr_torch_cut {
  int axis;
  int64_t size, factor;  // of the axis; 1 for a plain shard
  int order;             // 1 = the first to cut; 0 = as the factors say
} tsr_torch_cut;

typedef struct tsr_torch_cuts {
  int count;
  tsr_torch_cut at[TSR_MAX_AXES];  // in mesh order
} tsr_torch_cuts;

// A spec's even stages, major to minor: part i belongs to stage[i], which only goes up.
#define TSR_MAX_NEST (4 * TSR_MAX_AXES)
typedef struct tsr_nest {
  int count;
  tsr_sub_axis parts[TSR_MAX_NEST];
  int stage[TSR_MAX_NEST];
} tsr_nest;

// The order of cuts that the factors name, each axis a stage of its own. Fails with not_expressible
// if they name none, and says which factor is at fault.
TSR_MUST_USE tsr_status tsr_torch_cuts_order(const tsr_torch_cuts *cuts, const tsr_mesh *mesh,
                                             int dim, tsr_nest *out_nest);
// The order of parts, likewise, that gives the same pieces as chunks side by side where every cut
// comes out even. A strided shard leaves room above itself, which later axes fill. False if some
// room is left open, or an axis does not fit into it.
bool tsr_torch_cuts_nest(const tsr_torch_cuts *cuts, tsr_nest *out_nest);
// Compares pieces of a dimension of `size` elements on every device. These fail with
// not_expressible at the first that differs. The one compares with a nest of the same parts in the
// same order, each a stage of its own; the other with chunks side by side.
TSR_MUST_USE tsr_status tsr_nest_compare(const tsr_nest *order, const tsr_nest *nest,
                                         const tsr_mesh *mesh, int dim, int64_t size);
TSR_MUST_USE tsr_status tsr_torch_cuts_compare(const tsr_torch_cuts *cuts, const tsr_nest *nest,
                                               const tsr_mesh *mesh, int dim, int64_t size);

#endif
