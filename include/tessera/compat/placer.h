// Placer: the shard and gather functions of a whole tree, made once from a plan.
//
//   tsr_placer *placer = NULL;  // make_shard_and_gather_fns
//   tsr_place_options options = TSR_PLACE_OPTIONS;
//   options.comm = comm;
//   TSR_TRY(tsr_placer_create(plan, &options, &placer));
//   tsr_array_tree *placed = NULL, *back = NULL;
//   TSR_TRY(tsr_placer_shard(placer, parameters, &placed, NULL));
//   TSR_TRY(tsr_placer_gather(placer, placed, &back));
//
// "Collective" is meant as in tessera/comm.h, over the comm of the first array, or, of a tree
// without arrays, over that of the options; without either, the call is not collective. Ranks
// compare paths, kinds, types, shapes and layouts of leaves in their order, what was decided about
// each, and the options. Rules as text are placed in one call: tsr_array_tree_put of
// tessera/place.h.
#ifndef TESSERA_COMPAT_PLACER_H
#define TESSERA_COMPAT_PLACER_H

#include "tessera/api.h"
#include "tessera/compat/constrain.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Knows how the leaf of each path is to lie. Immutable, hence safe to share.
typedef struct tsr_placer tsr_placer;

// By the final specs and policies of a plan, on its mesh (or the current one). Copies the options
// and what they point to; retains the comm.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_placer_create(const tsr_plan *plan, const tsr_place_options *options,
                      tsr_placer **out_placer);
TSR_API TSR_NONNULL tsr_placer *tsr_placer_retain(const tsr_placer *placer);
TSR_API void tsr_placer_release(const tsr_placer *placer);  // NULL is fine

// Collective. Puts every leaf of a tree where its path's spec says, corrected for its size, in one
// round. Unlike a constraint, the empty spec replicates, and tensors in host memory are cut as
// well, by the options' comm or that of the first array; without one it fails. So does a path
// without a spec (tree_mismatch); specs without a leaf do not matter. Shapes are left alone.
// `out_reports` may be NULL, and has a place for each leaf; the size of the first is that of all.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3) tsr_status
    tsr_placer_shard(const tsr_placer *placer, const tsr_array_tree *tree,
                     tsr_array_tree **out_tree, tsr_place_report *out_reports);
// Collective. tsr_array_tree_gather on all ranks, for paths that have a spec.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_placer_gather(const tsr_placer *placer,
                                                              const tsr_array_tree *tree,
                                                              tsr_array_tree **out_tree);

TSR_END_DECLS

#endif
