// Devices compared field by field: what lies in the padding is nobody's business.
#ifndef TESSERA_TESTS_TOPOLOGY_SAME_H
#define TESSERA_TESTS_TOPOLOGY_SAME_H

#include <string.h>

#include "tessera/engine/topology.h"
#include "tessera/topology.h"

static inline bool same_device(const tsr_device *a, const tsr_device *b) {
  return a->id == b->id && a->process == b->process && a->slice == b->slice && a->core == b->core &&
         a->has_coords == b->has_coords && !memcmp(a->coords, b->coords, sizeof a->coords);
}

static inline bool same_devices(const tsr_device *a, const tsr_device *b, int64_t count) {
  for (int i = 0; i < count; i++)
    if (!same_device(&a[i], &b[i])) return false;
  return true;
}

#endif
