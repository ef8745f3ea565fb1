// Which axis of a new mesh carries on what an axis of an old mesh did.
#ifndef TESSERA_ADVICE_ROLES_H
#define TESSERA_ADVICE_ROLES_H

#include "tessera/mesh.h"

typedef struct tsr_heirs {
  int heir[TSR_MAX_AXES];  // of each old axis, among the new ones; -1 = none
  uint32_t vacant;         // new axes that are no one's heir, as bits
} tsr_heirs;

// Whether an axis is by its name one that splits the work within a block: tp, model, ...
bool tsr_axis_splits_blocks(const tsr_mesh *mesh, int axis);

void tsr_heirs_find(const tsr_mesh *before, const tsr_mesh *after, tsr_heirs *out_heirs);

#endif
