// A topology is one block: the struct, the devices as listed, the index by id, the kind's text.
//
// Creation accepts any list a runtime might report, repeated devices included: the builders of
// meshes must see such lists to reject them as their peers do. Values that can never be valid
// (negative processes, huge coordinates) are errors here, so no later arithmetic overflows;
// tsr_topology_check proves the rest.
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/sized.h"
#include "topology/kinds.h"
#include "topology/topology_internal.h"

// Coordinates stay small enough that the sum of three distances fits an int.
enum { HIGHEST_COORDINATE = (1 << 28) - 1 };

static tsr_status check_device(const tsr_device *device, int64_t position) {
  const long long id = device->id, at = position;
  if (device->id < INT32_MIN || device->id > INT32_MAX)
    return tsr_fail(TOO_LARGE, TSR_DEVICE_FORMAT ": ids are at most %d", id, at, INT32_MAX);
  if (device->process < 0 || device->process >= INT32_MAX)
    return tsr_fail(BROKEN_TOPOLOGY, TSR_DEVICE_FORMAT " has process %lld, wanted 0 to %d", id, at,
                    (long long)device->process, INT32_MAX - 1);
  if (device->slice < TSR_NO_SLICE || device->slice > INT32_MAX)
    return tsr_fail(BROKEN_TOPOLOGY, TSR_DEVICE_FORMAT " has slice %lld, wanted 0 to %d, or none",
                    id, at, (long long)device->slice, INT32_MAX);
  if (device->core < TSR_NO_CORE || device->core > HIGHEST_COORDINATE)
    return tsr_fail(BROKEN_TOPOLOGY, TSR_DEVICE_FORMAT " has core %lld, wanted 0 to %d, or none",
                    id, at, (long long)device->core, HIGHEST_COORDINATE);
  for (int i = 0; device->has_coords && i < 3; i++)
    if (device->coords[i] < 0 || device->coords[i] > HIGHEST_COORDINATE)
      return tsr_fail(BROKEN_TOPOLOGY, TSR_DEVICE_FORMAT " has %c=%lld, wanted 0 to %d", id, at,
                      "xyz"[i], (long long)device -> coords[i], HIGHEST_COORDINATE);
  return NULL;
}

static tsr_status check_desc(const tsr_topology_desc *desc) {
  if ((unsigned)desc->platform >= TSR_PLATFORM_COUNT)
    return tsr_fail(UNKNOWN_PLATFORM, "platform %d does not exist", (int)desc->platform);
  if (desc->device_count < 1 || desc->device_count > INT32_MAX || !desc->devices)
    return tsr_fail(BAD_ARGUMENT, "a topology of %lld devices, wanted 1 to %d",
                    (long long)desc->device_count, INT32_MAX);
  if (desc->memory_per_device < 0)
    return tsr_fail(BAD_ARGUMENT, "memory per device is %lld bytes, wanted 0 or more",
                    (long long)desc->memory_per_device);
  for (int i = 0; desc->links && i < TSR_LEVEL_COUNT; i++)
    // This form rejects NaN too.
    if (!(desc->links[i].alpha >= 0 && desc->links[i].beta >= 0))
      return tsr_fail(BAD_ARGUMENT, "link \"%s\" has a negative cost",
                      tsr_level_name((tsr_level)i));
  for (int64_t i = 0; i < desc->device_count; i++) TSR_TRY(check_device(&desc->devices[i], i));
  return NULL;
}

static int compare_places(const void *a, const void *b) {
  const tsr_id_place *left = a, *right = b;
  const int order = tsr_compare(left->id, right->id);
  return order ? order : tsr_compare(left->position, right->position);
}

// Runtimes mostly list devices by id, so often there is nothing to sort.
static void index_ids(const tsr_device *devices, int64_t count, tsr_id_place *places) {
  bool sorted = true;
  for (int64_t i = 0; i < count; i++) {
    places[i] = (tsr_id_place){devices[i].id, i};
    sorted = sorted && (i == 0 || devices[i - 1].id <= devices[i].id);
  }
  if (!sorted) qsort(places, (size_t)count, sizeof *places, compare_places);
}

// Counts processes and finds the box of all coordinates.
static void measure(tsr_topology *topology) {
  int64_t high[3] = {0, 0, 0};
  bool any = false;
  for (int64_t i = 0; i < topology->device_count; i++) {
    const tsr_device *device = &topology->devices[i];
    if (device->process >= topology->process_count) topology->process_count = device->process + 1;
    for (int k = 0; device->has_coords && k < 3; k++) {
      if (!any || device->coords[k] < topology->low[k]) topology->low[k] = device->coords[k];
      if (!any || device->coords[k] > high[k]) high[k] = device->coords[k];
    }
    any = any || device->has_coords;
  }
  for (int k = 0; k < 3; k++) topology->sizes[k] = high[k] - topology->low[k] + 1;
}

// Devices per chip by the cores in the list; else the kind's.
static int64_t count_cores(const tsr_topology *topology, const tsr_device_kind *kind) {
  int64_t highest = TSR_NO_CORE;
  for (int64_t i = 0; i < topology->device_count; i++)
    if (topology->devices[i].core > highest) highest = topology->devices[i].core;
  return highest == TSR_NO_CORE ? kind->cores : highest + 1;
}

// Fills in the kind's usual values where the description has none.
static void complete(tsr_topology *topology, const tsr_topology_desc *desc) {
  const tsr_device_kind *kind = tsr_kind_of(topology->platform, topology->kind);
  topology->memory_per_device = desc->memory_per_device
                                    ? desc->memory_per_device
                                    : kind->memory / count_cores(topology, kind);
  memcpy(topology->links, desc->links ? desc->links : kind->links, sizeof topology->links);
  if (desc->wrap)
    memcpy(topology->wrap, desc->wrap, sizeof topology->wrap);
  else if (topology->devices[0].has_coords)
    tsr_kind_wrap(kind, topology->sizes, topology->wrap);
}

tsr_status tsr_topology_create(const tsr_topology_desc *given, tsr_topology **out_topology) {
  tsr_topology_desc desc;
  TSR_TRY(tsr_sized_read(tsr_topology_desc, given, &desc));
  TSR_TRY(check_desc(&desc));
  const char *kind = desc.kind ? desc.kind : tsr_platform_name(desc.platform);
  const size_t count = (size_t)desc.device_count, kind_bytes = strlen(kind) + 1;
  const size_t device_bytes = count * sizeof *desc.devices;
  const size_t place_bytes = count * sizeof(tsr_id_place);
  tsr_topology *topology = malloc(sizeof *topology + device_bytes + place_bytes + kind_bytes);
  if (!topology) return tsr_fail(NO_MEMORY, "topology of %zu devices", count);

  char *cursor = (char *)(topology + 1);
  tsr_device *devices = memcpy(cursor, desc.devices, device_bytes);
  tsr_id_place *places = (tsr_id_place *)(void *)(cursor += device_bytes);
  index_ids(devices, desc.device_count, places);
  *topology = (tsr_topology){.platform = desc.platform,
                             .kind = memcpy(cursor + place_bytes, kind, kind_bytes),
                             .device_count = desc.device_count,
                             .devices = devices,
                             .places = places};
  atomic_init(&topology->refs, 1);
  measure(topology);
  complete(topology, &desc);
  *out_topology = topology;
  return NULL;
}

// Retaining changes only the count, so const handles can be shared.
tsr_topology *tsr_topology_retain(const tsr_topology *topology) {
  tsr_topology *shared = (tsr_topology *)(uintptr_t)topology;
  if (shared) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_topology_release(const tsr_topology *topology) {
  tsr_topology *shared = (tsr_topology *)(uintptr_t)topology;
  if (shared && atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) == 1)
    free(shared);
}

// Ids are mostly dense, so the first guess is mostly right.
int64_t tsr_topology_device_find(const tsr_topology *topology, int64_t id) {
  const tsr_id_place *places = topology->places;
  int64_t low = 0,
          high = topology->device_count;  // the first place with an id >= `id` is in [low, high]
  const int64_t guess = id > INT32_MAX || id < INT32_MIN ? -1 : id - places[0].id;
  if (guess >= 0 && guess < high && places[guess].id == id &&
      (guess == 0 || places[guess - 1].id != id))
    return places[guess].position;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (places[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < topology->device_count && places[low].id == id ? places[low].position : -1;
}

void tsr_topology_bounds(const tsr_topology *topology, int64_t out_low[3], int64_t out_sizes[3]) {
  memcpy(out_low, topology->low, sizeof topology->low);
  memcpy(out_sizes, topology->sizes, sizeof topology->sizes);
}

tsr_platform tsr_topology_platform(const tsr_topology *topology) { return topology->platform; }

const char *tsr_topology_kind(const tsr_topology *topology) { return topology->kind; }

int64_t tsr_topology_device_count(const tsr_topology *topology) { return topology->device_count; }

const tsr_device *tsr_topology_devices(const tsr_topology *topology) { return topology->devices; }

int64_t tsr_topology_memory_per_device(const tsr_topology *topology) {
  return topology->memory_per_device;
}

int64_t tsr_topology_process_count(const tsr_topology *topology) { return topology->process_count; }

const bool *tsr_topology_wrap(const tsr_topology *topology) { return topology->wrap; }
