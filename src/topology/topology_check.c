// Checks that creation leaves out: no device twice, by id or by place, and coordinates, slices and
// cores on every device or on none.
#include <stdlib.h>
#include <string.h>

#include "tessera/engine/kernels.h"
#include "topology/topology.h"
#include "topology/topology_internal.h"

static tsr_status check_ids(const tsr_topology *topology) {
  const tsr_id_place *places = topology->places;
  for (int64_t i = 1; i < topology->device_count; i++)
    if (places[i - 1].id == places[i].id)
      return tsr_fail(DUPLICATE_DEVICE, "device %lld is listed twice, at positions %lld and %lld",
                      (long long)places[i].id, (long long)places[i - 1].position,
                      (long long)places[i].position);
  return NULL;
}

static tsr_status fail_mixed(const tsr_topology *topology, int64_t position, const char *what) {
  const tsr_device *first = &topology->devices[0], *other = &topology->devices[position];
  return tsr_fail(BROKEN_TOPOLOGY, "devices %lld and %lld differ: only one of them has %s",
                  (long long)first->id, (long long)other->id, what);
}

static tsr_status check_alike(const tsr_topology *topology) {
  const tsr_device *first = &topology->devices[0];
  for (int64_t i = 1; i < topology->device_count; i++) {
    const tsr_device *device = &topology->devices[i];
    if (device->has_coords != first->has_coords) return fail_mixed(topology, i, "coordinates");
    if ((device->slice == TSR_NO_SLICE) != (first->slice == TSR_NO_SLICE))
      return fail_mixed(topology, i, "a slice");
    if ((device->core == TSR_NO_CORE) != (first->core == TSR_NO_CORE))
      return fail_mixed(topology, i, "a core number");
  }
  return NULL;
}

static bool same_place(const tsr_device *a, const tsr_device *b) {
  return a->slice == b->slice && a->core == b->core &&
         !memcmp(a->coords, b->coords, sizeof a->coords);
}

static uint64_t hash_place(const tsr_device *device) {
  const int64_t place[] = {device->slice, device->core, device->coords[0], device->coords[1],
                           device->coords[2]};
  return tsr_hash64(place, sizeof place, 0);
}

// An open table of positions (+1; 0 = free), at most half full.
static tsr_status check_places(const tsr_topology *topology) {
  size_t capacity = 16;
  while (capacity < 2 * (size_t)topology->device_count) capacity *= 2;
  int32_t *table = calloc(capacity, sizeof *table);
  if (!table) return tsr_fail(NO_MEMORY, "table of %zu places", capacity);
  tsr_status status = NULL;
  for (int64_t i = 0; i < topology->device_count && !status; i++) {
    const tsr_device *device = &topology->devices[i];
    size_t slot = hash_place(device) & (capacity - 1);
    while (table[slot] && !same_place(device, &topology->devices[table[slot] - 1]))
      slot = (slot + 1) & (capacity - 1);
    if (table[slot])
      status =
          tsr_fail(BROKEN_TOPOLOGY,
                   "devices %lld and %lld are both at x=%lld y=%lld z=%lld core %lld of slice %lld",
                   (long long)(topology->devices[table[slot] - 1].id), (long long)device->id,
                   (long long)device->coords[0], (long long)device->coords[1],
                   (long long)device->coords[2], (long long)device->core, (long long)device->slice);
    table[slot] = (int32_t)(i + 1);  // at most INT32_MAX devices
  }
  free(table);
  return status;
}

tsr_status tsr_topology_check(const tsr_topology *topology) {
  TSR_TRY(check_ids(topology));
  TSR_TRY(check_alike(topology));
  return topology->devices[0].has_coords ? check_places(topology) : NULL;
}
