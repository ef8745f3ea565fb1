// What the cost of an axis is made of, for meshes that exist and for those a search only thinks of.
#ifndef TESSERA_MESH_MESH_COST_H
#define TESSERA_MESH_MESH_COST_H

#include "tessera/engine/mesh.h"
#include "tessera/engine/topology.h"
#include "tessera/mesh.h"

// The worst that was seen between neighbours of a group, and between its last and first member.
typedef struct tsr_steps {
  tsr_level level;
  int64_t hops;
  bool closes;  // no group's way back is worse than its steps
} tsr_steps;

tsr_axis_cost tsr_axis_cost_of(const tsr_topology *topology, int64_t size, const tsr_steps *steps);
// tsr_mesh_axis_cost for digits of a position (position / stride % size), which parts of axes are.
TSR_MUST_USE tsr_status tsr_mesh_digit_costs(const tsr_mesh *mesh, const int64_t *strides,
                                             const int64_t *sizes, int digit_count,
                                             tsr_axis_cost *out_costs);
// Seconds for a collective among `count` devices joined by `link`, `bytes` of input on each.
double tsr_collective_seconds(tsr_collective op, int64_t count, const tsr_link *link, double bytes);
// The same over several axes at once, whose costs are known, as tsr_mesh_collective_cost has it.
double tsr_collective_over(tsr_collective op, const tsr_axis_cost *costs, const int64_t *sizes,
                           int axis_count, double bytes);

#endif
