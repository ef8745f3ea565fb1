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
// "Collective" is defined in tessera/comm.h. The comm is that of the first array or, without
// arrays, of the options; without either, the call is not collective. Ranks compare the order,
// paths, kinds, dtypes, shapes and layouts of leaves, the decisions and the options.
// tsr_array_tree_put of tessera/place.h places by rules as text in one call.
#ifndef TESSERA_COMPAT_PLACER_H
#define TESSERA_COMPAT_PLACER_H

#include "tessera/api.h"
#include "tessera/compat/constrain.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// A spec for the leaf of each path. Immutable, shared by any threads.
typedef struct tsr_placer tsr_placer;

// From the final specs and policies of a plan, on its mesh (or the current one). Copies the options
// deeply; retains the comm.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_placer_create(const tsr_plan *plan, const tsr_place_options *options,
                      tsr_placer **out_placer);
TSR_API TSR_NONNULL tsr_placer *tsr_placer_retain(const tsr_placer *placer);
TSR_API void tsr_placer_release(const tsr_placer *placer);  // NULL is fine

// Collective. Distributes every leaf of a tree by the spec of its path, corrected for its size, in
// one round. Unlike a constraint, the empty spec replicates. Tensors in host memory are cut too, on
// the options' comm or that of the first array; without one the call fails. A path without a spec
// fails (tree_mismatch); specs without a leaf are ignored. Shapes are left alone. `out_reports` may
// be NULL, else has one report per leaf; the size of the first applies to all.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3) tsr_status
    tsr_placer_shard(const tsr_placer *placer, const tsr_array_tree *tree,
                     tsr_array_tree **out_tree, tsr_place_report *out_reports);
// Collective. tsr_array_tree_gather on all ranks, for paths that have a spec.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_placer_gather(const tsr_placer *placer,
                                                              const tsr_array_tree *tree,
                                                              tsr_array_tree **out_tree);

TSR_END_DECLS

#endif
