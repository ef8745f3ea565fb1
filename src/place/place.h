// Shared by the files of this room: each leaf gets a decision, then all decisions are carried out.
#ifndef TESSERA_PLACE_PLACE_H
#define TESSERA_PLACE_PLACE_H

#include "array/array.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/placer.h"
#include "tessera/engine/sharding.h"
#include "tessera/place.h"

// Where a leaf goes, and the report on it.
typedef struct tsr_placement_decision {
  tsr_layout *layout;  // owned; NULL = left alone
  tsr_place_report report;
} tsr_placement_decision;
void tsr_decision_deinit(tsr_placement_decision *decision);

// The options, completed.
typedef struct tsr_place_config {
  const char *call;  // the name in messages, which ranks compare: "constrain"
  tsr_comm *comm;    // borrowed
  tsr_policy policy;
  tsr_correct_options correct;
  tsr_reshard_options reshard;
} tsr_place_config;
// On failure `how` has the defaults.
TSR_MUST_USE tsr_status tsr_place_config_init(tsr_place_config *how, const char *call,
                                              const tsr_place_options *options);

// ---- deciding: fills `decision`, which is zero before; deinit it also after a failure ----

// with_sharding_constraint. NULL mesh: the current one.
TSR_MUST_USE tsr_status tsr_decide_constraint(const tsr_spec *spec, const tsr_mesh *mesh,
                                              const tsr_shape *shape, const tsr_place_config *how,
                                              tsr_placement_decision *decision);
// A spec to follow: the empty one replicates, and axes of any type are allowed.
TSR_MUST_USE tsr_status tsr_decide_spec(const tsr_spec *spec, const tsr_mesh *mesh,
                                        const tsr_shape *shape, const tsr_place_config *how,
                                        tsr_placement_decision *decision);
// A sharding, uncorrected.
TSR_MUST_USE tsr_status tsr_decide_sharding(const tsr_sharding *sharding, const tsr_shape *shape,
                                            const tsr_place_config *how,
                                            tsr_placement_decision *decision);
// A given layout.
void tsr_decide_layout(const tsr_layout *layout, tsr_placement_decision *decision);

// ---- ranks (leaves.c) ----

// Leaves as ranks compare them, with the decisions on them.
typedef struct tsr_compared_leaves {
  int64_t count;
  const tsr_leaf *leaves;
  const tsr_placement_decision *decisions;  // NULL = none
} tsr_compared_leaves;
tsr_compared_leaves tsr_compared_leaves_of(const tsr_array_tree *tree);
tsr_call_items tsr_compared_leaves_items(tsr_compared_leaves *compared);  // which must outlive them
// The comm of the first array; `other` if there is none.
tsr_comm *tsr_array_tree_comm(const tsr_array_tree *tree, tsr_comm *other);

// ---- carrying out ----
//
// `found` is an earlier failure on this rank, or NULL. If one rank fails, all do.

// Collective. A new reference to the array of a leaf, or the array in its new layout. `out_report`
// may be NULL.
TSR_MUST_USE tsr_status tsr_place_leaf(const tsr_leaf *leaf, tsr_status found,
                                       tsr_placement_decision *decision,
                                       const tsr_place_config *how, tsr_array **out_array,
                                       tsr_place_report *out_report);

// Decides on leaf `index` of a tree.
typedef tsr_status tsr_decide_fn(const void *question, int64_t index, const tsr_leaf *leaf,
                                 const tsr_place_config *how, tsr_placement_decision *decision);
// Collective. All leaves of a tree: decided one by one, moved in one round.
TSR_MUST_USE tsr_status tsr_place_tree(const tsr_array_tree *tree, tsr_status found,
                                       tsr_decide_fn *decide, const void *question,
                                       const tsr_place_config *how, tsr_array_tree **out_tree,
                                       tsr_place_report *out_reports);
// Collective. tsr_placer_shard and tsr_array_tree_gather under the names of other calls.
TSR_MUST_USE tsr_status tsr_placer_shard_as(const char *call, const tsr_placer *placer,
                                            const tsr_array_tree *tree, tsr_array_tree **out_tree,
                                            tsr_place_report *out_reports);
TSR_MUST_USE tsr_status tsr_gather_tree_as(const char *call, const tsr_array_tree *tree, int root,
                                           tsr_status found, tsr_array_tree **out_tree);

#endif
