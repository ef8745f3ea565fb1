// Distances between devices, and the cost of a message.
//
// Devices with coordinates are joined by the torus of their slice, whatever host drives them. Hosts
// matter only for devices without coordinates (GPUs on NVLink, CPU processes).
#include <stdlib.h>

#include "topology/topology.h"
#include "topology/topology_internal.h"

static bool same_coords(const tsr_device *a, const tsr_device *b) {
  return a->coords[0] == b->coords[0] && a->coords[1] == b->coords[1] &&
         a->coords[2] == b->coords[2];
}

static bool has_devices(const tsr_topology *topology, int64_t a, int64_t b) {
  return a >= 0 && a < topology->device_count && b >= 0 && b < topology->device_count;
}

tsr_level tsr_topology_level(const tsr_topology *topology, int64_t a, int64_t b) {
  if (!has_devices(topology, a, b)) return TSR_LEVEL_SELF;
  const tsr_device *from = &topology->devices[a], *to = &topology->devices[b];
  if (a == b) return TSR_LEVEL_SELF;
  if (from->slice != to->slice) return TSR_LEVEL_NET;
  if (from->has_coords && to->has_coords)
    return same_coords(from, to) ? TSR_LEVEL_CHIP : TSR_LEVEL_ICI;
  return from->process == to->process ? TSR_LEVEL_HOST : TSR_LEVEL_NET;
}

static int64_t torus_distance(const tsr_topology *topology, const tsr_device *a,
                              const tsr_device *b) {
  int64_t sum = 0;
  for (int i = 0; i < 3; i++) {
    const int64_t straight = llabs(a->coords[i] - b->coords[i]);
    const int64_t around = topology->sizes[i] - straight;
    sum += topology->wrap[i] && around < straight ? around : straight;
  }
  return sum;
}

int64_t tsr_topology_hops(const tsr_topology *topology, int64_t a, int64_t b) {
  switch (tsr_topology_level(topology, a, b)) {
    case TSR_LEVEL_SELF:
      return 0;
    case TSR_LEVEL_ICI:
      return torus_distance(topology, &topology->devices[a], &topology->devices[b]);
    default:
      return 1;
  }
}

double tsr_topology_cost(const tsr_topology *topology, int64_t a, int64_t b, int64_t bytes) {
  if (!has_devices(topology, a, b)) return 0;
  const tsr_link *link = &topology->links[tsr_topology_level(topology, a, b)];
  return (double)tsr_topology_hops(topology, a, b) * link->alpha + (double)bytes * link->beta;
}

const tsr_link *tsr_topology_link(const tsr_topology *topology, tsr_level level) {
  return (unsigned)level < TSR_LEVEL_COUNT ? &topology->links[level] : NULL;
}

const char *tsr_level_name(tsr_level level) {
  static const char *const names[TSR_LEVEL_COUNT] = {
#define X(id, name) [TSR_LEVEL_##id] = name,
      TSR_LEVELS(X)
#undef X
  };
  return (unsigned)level < TSR_LEVEL_COUNT ? names[level] : NULL;
}
