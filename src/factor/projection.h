// Shardings of the tensors of an op seen by the factors of its rule, and back.
//
// The axes of a dimension are handed out to its factors from major to minor. A factor that is not
// the last of its dim takes axes, or parts of them, until it is full; where the rest of the factor
// and the next axis have no divisor in common, that axis and all after it *overflow*: they belong
// to the dim but to no factor, and the factors after it get none. The last factor takes all that is
// left, also if it does not divide.
#ifndef TESSERA_FACTOR_PROJECTION_H
#define TESSERA_FACTOR_PROJECTION_H

#include "factor/rule.h"
#include "factor/shardings.h"

typedef struct tsr_factor_sharding {
  tsr_sdy_parts axes, overflow;
  bool present;  // false: after a factor behind one with overflow; it takes no part in anything
  bool closed;   // of its dim
} tsr_factor_sharding;

typedef struct tsr_projection {
  const tsr_op_rule *rule;
  const tsr_attr *mesh;
  // The shardings that were projected, operands then results; NULL = missing.
  const tsr_tensor_sharding *const *shardings;
  tsr_factor_sharding *places;  // one for each place of the rule
} tsr_projection;

// The factor sharding of a tensor along a factor; NULL if the tensor has none.
static inline tsr_factor_sharding *tsr_projected(const tsr_projection *projection, int tensor,
                                                 int factor) {
  const int place = tsr_rule_place_of(projection->rule, tensor, factor);
  if (place < 0 || !projection->places[place].present) return NULL;
  return &projection->places[place];
}

// Projects shardings (NULL = missing, all open or all closed) of the mesh `mesh` on a rule. The
// memory is that of the arena; lists of axes may be shared with the shardings.
TSR_MUST_USE tsr_status tsr_project(tsr_arena *arena, const tsr_op_rule *rule, const tsr_attr *mesh,
                                    const tsr_tensor_sharding *const *shardings,
                                    bool closed_if_missing, tsr_projection *out_projection);
// Replaces the axes of a place by longer ones if the old ones are a strict prefix. Gives whether
// they were. `axes` are borrowed.
bool tsr_projection_expand(tsr_projection *projection, int place, const tsr_sdy_parts *axes);
// The sharding of a tensor, made of its factors. Axes that would need a strided view are left out.
// Priorities are not kept; the mesh is written as `mesh_ref`. Replicated and unreduced axes are
// shared with the old sharding. NULL without memory.
tsr_tensor_sharding *tsr_unproject(tsr_arena *arena, const tsr_projection *projection, int tensor,
                                   const tsr_attr *mesh_ref);

#endif
