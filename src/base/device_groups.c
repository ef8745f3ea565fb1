// Groups of devices own one block, their members. Meshes make them and comms use them.
#include <stdlib.h>

#include "tessera/engine/groups.h"

void tsr_groups_deinit(tsr_groups *groups) {
  if (!groups) return;
  free((void *)groups->members);
  *groups = (tsr_groups){0};
}
