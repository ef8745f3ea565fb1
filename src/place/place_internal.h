// Placing, for other rooms and tests: trees, placers from specs, shardings of leaves. The rest is
// in tessera/place.h, compat/constrain.h and compat/placer.h.
#ifndef TESSERA_PLACE_PLACE_INTERNAL_H
#define TESSERA_PLACE_PLACE_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/placer.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/place.h"
#include "tessera/spec.h"
#include "tessera/status.h"

const char *tsr_outcome_word(tsr_outcome outcome);  // "no_mesh"
const char *tsr_outcome_text(tsr_outcome outcome);  // "left alone: there is no mesh"

// ---- constraints of trees ----
//
// NULL options are defaults and a NULL mesh is the current one. `out_reports` may be NULL, else has
// one report per leaf; the size of the first applies to all. A tree moves in one round.

// Collective. The same spec for every leaf.
TSR_MUST_USE tsr_status tsr_array_tree_constrain(const tsr_array_tree *tree, const tsr_spec *spec,
                                                 const tsr_mesh *mesh,
                                                 const tsr_place_options *options,
                                                 tsr_array_tree **out_tree,
                                                 tsr_place_report *out_reports);
// Collective. Each leaf in a layout of its own; NULL = left alone.
TSR_MUST_USE tsr_status tsr_array_tree_place(const tsr_array_tree *tree,
                                             const tsr_layout *const *layouts,
                                             const tsr_place_options *options,
                                             tsr_array_tree **out_tree,
                                             tsr_place_report *out_reports);

// ---- placers ----

// One spec per path (NULL = replicated). Fails at an axis that the mesh lacks or that is used
// twice, naming the path. Sizes are checked when leaves are placed. Copies the options and what
// they point to; retains the comm.
TSR_MUST_USE tsr_status tsr_placer_from_specs(const char *const *paths,
                                              const tsr_spec *const *specs, int64_t count,
                                              const tsr_mesh *mesh,
                                              const tsr_place_options *options,
                                              tsr_placer **out_placer);

// ---- shardings of trees ----

// extract_sharding_structure, get_shardings_with_structure: the sharding of every leaf that is an
// array with one; NULL for others. `out_shardings` has one element per leaf; they live as long as
// the tree.
void tsr_array_tree_shardings(const tsr_array_tree *tree, const tsr_sharding **out_shardings);
// extract_shardings: those of shapes with a spec too, bound to the mesh. A reference each, for the
// caller to release. Fails without a mesh.
TSR_MUST_USE tsr_status tsr_array_tree_extract_shardings(const tsr_array_tree *tree,
                                                         const tsr_mesh *mesh,
                                                         tsr_sharding **out_shardings);
// get_partition_spec: the spec of every leaf as it was written, the empty one for scalars in host
// memory. A reference each. Fails with leaf_has_no_spec for arrays that no spec has placed, with
// unsupported_leaf for tensors in host memory and shapes.
TSR_MUST_USE tsr_status tsr_array_tree_specs(const tsr_array_tree *tree, tsr_spec **out_specs);

#endif
