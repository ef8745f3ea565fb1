// The struct of a topology: one block, freed at once.
#ifndef TESSERA_TOPOLOGY_TOPOLOGY_H
#define TESSERA_TOPOLOGY_TOPOLOGY_H

#include <stdatomic.h>

#include "tessera/engine/topology.h"
#include "tessera/topology.h"

// The list position of a device id. Sorted by id, then by position.
typedef struct tsr_id_place {
  int64_t id, position;
} tsr_id_place;

struct tsr_topology {
  atomic_int refs;
  tsr_platform platform;
  const char *kind;
  int64_t device_count, process_count;
  const tsr_device *devices;
  const tsr_id_place *places;  // device_count of them
  int64_t memory_per_device;
  tsr_link links[TSR_LEVEL_COUNT];
  int64_t low[3], sizes[3];  // the box that holds all coordinates
  bool wrap[3];
};

// "device 3 (position 7 of the list)", for messages.
#define TSR_DEVICE_FORMAT "device %lld (position %lld of the list)"

#endif
