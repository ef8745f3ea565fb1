// Which axis of a new mesh takes over the role of an axis of an old one.
#ifndef TESSERA_ADVICE_ROLES_H
#define TESSERA_ADVICE_ROLES_H

#include "tessera/mesh.h"

typedef struct tsr_axis_successors {
  int of[TSR_MAX_AXES];  // of each old axis, among the new ones; -1 = none
  uint32_t unclaimed;    // new axes that succeed none, as bits
} tsr_axis_successors;

// Whether an axis is by its name one that splits the work within a block: tp, model, ...
bool tsr_axis_splits_blocks(const tsr_mesh *mesh, int axis);

void tsr_axis_successors_find(const tsr_mesh *before, const tsr_mesh *after,
                              tsr_axis_successors *out_successors);

#endif
