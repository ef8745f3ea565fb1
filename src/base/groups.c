#include "tessera/groups.h"

#include <stdlib.h>

void tsr_groups_deinit(tsr_groups *groups) {
  free((void *)groups->members);
  *groups = (tsr_groups){0};
}
