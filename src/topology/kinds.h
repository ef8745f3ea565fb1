// Usual values of a kind of device: the rows of kinds.def.
#ifndef TESSERA_TOPOLOGY_KINDS_H
#define TESSERA_TOPOLOGY_KINDS_H

#include "tessera/engine/topology.h"
#include "tessera/topology.h"

// When the axes of a slice close to rings.
typedef enum tsr_wrap_rule {
  TSR_WRAP_NEVER,
  // v4, v5p, 7x: pods are made of 4x4x4 cubes whose faces meet in optical switches, so a slice made
  // of whole cubes is a torus on all three axes, and one smaller than a cube is a mesh on all.
  // (Google Cloud's pages on TPU v4 and v5p, "topologies".)
  TSR_WRAP_CUBES,
  // v2, v3, v5e, v6e: the pod is one two-dimensional torus with fixed wires, so an axis closes only
  // when it spans the whole pod: 16 (v2, v5e, v6e) or 32 (v3). (The same pages.)
  TSR_WRAP_EXTENT
} tsr_wrap_rule;

typedef struct tsr_device_kind {
  tsr_platform platform;
  const char *name, *aliases;
  int64_t cores;
  int64_t host[3];
  int64_t memory;  // bytes of a chip
  tsr_wrap_rule wrap;
  int64_t extent;
  tsr_link links[TSR_LEVEL_COUNT];
} tsr_device_kind;

// The row for a runtime's name. GPUs also match by their first words ("NVIDIA H100 80GB HBM3"); an
// unknown kind gets the typical row of its platform.
const tsr_device_kind *tsr_kind_of(tsr_platform platform, const char *name);
// The row of an alias in a synthetic text; NULL = none.
const tsr_device_kind *tsr_kind_find(tsr_platform platform, const char *alias, size_t length);
// The first alias of every kind of a platform, for messages; returns their number, at most
// `capacity`.
int tsr_kind_aliases(tsr_platform platform, char (*out_aliases)[16], int capacity);
// Which axes of a slice with these sizes are rings.
void tsr_kind_wrap(const tsr_device_kind *kind, const int64_t sizes[3], bool out_wrap[3]);

#endif
