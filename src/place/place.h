// What the files of this room share: a decision is made about each leaf, then all are carried out.
#ifndef TESSERA_PLACE_PLACE_H
#define TESSERA_PLACE_PLACE_H

#include "tessera/place.h"

// What is to become of a leaf, and the report of it.
typedef struct tsr_decision {
  tsr_layout *layout;  // owned; NULL = it is left alone
  tsr_place_report report;
} tsr_decision;
void tsr_decision_deinit(tsr_decision *decision);

// The options with everything filled in.
typedef struct tsr_place_how {
  tsr_comm *comm;  // borrowed
  tsr_policy policy;
  tsr_correct_options correct;
  tsr_reshard_options reshard;
} tsr_place_how;
TSR_MUST_USE tsr_status tsr_place_how_init(tsr_place_how *how, const tsr_place_options *options);

// ---- deciding: fills `decision`, which was zero before and is to be released in any case ----

// with_sharding_constraint. NULL mesh: the current one.
TSR_MUST_USE tsr_status tsr_decide_constraint(const tsr_spec *spec, const tsr_mesh *mesh,
                                              const tsr_shape *shape, const tsr_place_how *how,
                                              tsr_decision *decision);
// A spec that is meant: the empty one replicates, axes of any type may be used.
TSR_MUST_USE tsr_status tsr_decide_spec(const tsr_spec *spec, const tsr_mesh *mesh,
                                        const tsr_shape *shape, const tsr_place_how *how,
                                        tsr_decision *decision);
// A sharding that is meant, uncorrected.
TSR_MUST_USE tsr_status tsr_decide_sharding(const tsr_sharding *sharding, const tsr_shape *shape,
                                            const tsr_place_how *how, tsr_decision *decision);
// A layout as it is.
void tsr_decide_layout(const tsr_layout *layout, tsr_decision *decision);

// ---- carrying out ----

// Collective. A new reference to the array, or the array in its new layout. `decided` is the status
// of the decision here; it fails on every rank if it failed on one. Hands the report out (or throws
// it away, when `out_report` is NULL).
TSR_MUST_USE tsr_status tsr_carry_out(tsr_array *array, tsr_status decided, tsr_decision *decision,
                                      const tsr_place_how *how, tsr_array **out_array,
                                      tsr_place_report *out_report);
// The same for a leaf of any kind but a shape; `how->comm` places those in host memory.
TSR_MUST_USE tsr_status tsr_carry_out_leaf(const tsr_leaf *leaf, tsr_status decided,
                                           tsr_decision *decision, const tsr_place_how *how,
                                           tsr_array **out_array, tsr_place_report *out_report);

// Collective. The verdict of all ranks that hold arrays of the tree; `found` where there are none.
TSR_MUST_USE tsr_status tsr_array_tree_agree(const tsr_array_tree *tree, const char *what,
                                             tsr_status found);

// Decides about leaf `index` of a tree, whose shape is given.
typedef tsr_status tsr_decide_fn(const void *question, int64_t index, const tsr_leaf *leaf,
                                 const tsr_place_how *how, tsr_decision *decision);
// All leaves of a tree: decided one by one, moved in one round.
TSR_MUST_USE tsr_status tsr_place_tree(const tsr_array_tree *tree, tsr_decide_fn *decide,
                                       const void *question, const tsr_place_how *how,
                                       tsr_array_tree **out_tree, tsr_place_report *out_reports);

#endif
