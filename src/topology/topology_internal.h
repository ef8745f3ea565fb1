// Topologies, for other rooms: JSON, properties and distances, beyond tessera/topology.h and
// tessera/engine/topology.h.
#ifndef TESSERA_TOPOLOGY_TOPOLOGY_INTERNAL_H
#define TESSERA_TOPOLOGY_TOPOLOGY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/engine/topology.h"
#include "tessera/status.h"
#include "tessera/topology.h"

// A recorded machine: {"platform", "kind", "devices": [[id, process, slice, x, y, z, core], ...]}
// with null for absent values, and optional "memory_per_device", "links", "wrap".
TSR_MUST_USE tsr_status tsr_topology_from_json(const tsr_json *value, tsr_topology **out_topology);
void tsr_topology_to_json(const tsr_topology *topology, tsr_json_writer *writer);

// Checks the invariants: ids unique, coordinates distinct within a slice.
TSR_MUST_USE tsr_status tsr_topology_check(const tsr_topology *topology);

tsr_platform tsr_topology_platform(const tsr_topology *topology);
const char *tsr_platform_name(tsr_platform platform);  // "tpu"
TSR_MUST_USE tsr_status tsr_platform_parse(const char *name, tsr_platform *out_platform);
const char *tsr_topology_kind(const tsr_topology *topology);
int64_t tsr_topology_memory_per_device(const tsr_topology *topology);
int64_t tsr_topology_process_count(const tsr_topology *topology);  // highest process + 1
// The box of all coordinates: sizes of x, y, z (1 without coordinates) and its low corner.
void tsr_topology_bounds(const tsr_topology *topology, int64_t out_low[3], int64_t out_sizes[3]);
const bool *tsr_topology_wrap(const tsr_topology *topology);  // of x, y, z

// The level between two devices (by list position), and the links a message crosses: the torus
// distance on ICI, else 1; 0 to itself.
tsr_level tsr_topology_level(const tsr_topology *topology, int64_t a, int64_t b);
int64_t tsr_topology_hops(const tsr_topology *topology, int64_t a, int64_t b);
// Seconds for one message on idle links.
double tsr_topology_cost(const tsr_topology *topology, int64_t a, int64_t b, int64_t bytes);

#endif
