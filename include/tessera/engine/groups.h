// Groups: which devices work together in a collective (tessera/engine/collectives.h).
#ifndef TESSERA_ENGINE_GROUPS_H
#define TESSERA_ENGINE_GROUPS_H

#include <stdint.h>

#include "tessera/api.h"

TSR_BEGIN_DECLS

// `count` groups of `size` devices each, disjoint: member i of group g is members[g * size + i].
// Devices in no group are left out. tsr_mesh_groups (tessera/engine/mesh.h) makes groups from mesh
// axes.
typedef struct tsr_groups {
  int64_t count, size;
  const int64_t *members;
} tsr_groups;
// Frees the members of groups that a function of the library made. NULL is fine.
TSR_API void tsr_groups_deinit(tsr_groups *groups);

// Who sends to whom. A device may be the source of several pairs, but the target of one only.
typedef struct tsr_pair {
  int64_t source, target;
} tsr_pair;

TSR_END_DECLS

#endif
