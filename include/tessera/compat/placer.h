// compat/placer.h
#ifndef TSR_COMPAT_PLACER_H
#define TSR_COMPAT_PLACER_H

#include "tessera/api.h"
#include "tessera/compat/constrain.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- shard and gather functions ----

// make_shard_and_gather_fns: knows how the leaf of each path is to lie. Immutable, hence safe to
// share.
typedef struct tsr_placer tsr_placer;

// The final specs and policies of a plan, on its mesh (or the current one).
TSR_API TSR_MUST_USE tsr_status tsr_placer_create(const tsr_plan *plan,
                                                  const tsr_place_options *options,
                                                  tsr_placer **out_placer);
TSR_API tsr_placer *tsr_placer_retain(const tsr_placer *placer);
TSR_API void tsr_placer_release(const tsr_placer *placer);  // NULL is fine

// Collective. Puts every leaf of a tree where its path's spec says, corrected for its size, in one
// round. Unlike a constraint, the empty spec replicates, and tensors in host memory are cut as
// well, by the options' comm or that of the first array; without one it fails. So does a path
// without a spec (tree_mismatch); specs without a leaf do not matter. Shapes are left alone.
TSR_API TSR_MUST_USE tsr_status tsr_placer_shard(const tsr_placer *placer,
                                                 const tsr_array_tree *tree,
                                                 tsr_array_tree **out_tree,
                                                 tsr_place_report *out_reports);
// Collective. tsr_array_tree_gather on all ranks, for paths that have a spec.
TSR_API TSR_MUST_USE tsr_status tsr_placer_gather(const tsr_placer *placer,
                                                  const tsr_array_tree *tree,
                                                  tsr_array_tree **out_tree);

TSR_END_DECLS

#endif
