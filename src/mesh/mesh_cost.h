// The cost of axes, for existing meshes and for those of a search.
#ifndef TESSERA_MESH_MESH_COST_H
#define TESSERA_MESH_MESH_COST_H

#include "tessera/engine/mesh.h"
#include "tessera/engine/topology.h"
#include "tessera/mesh.h"

// The worst step between neighbours of a group, and the step from its last member to its first.
typedef struct tsr_steps {
  tsr_level level;
  int64_t hops;
  bool closes;  // no group's last step is worse than the others
} tsr_steps;

tsr_axis_cost tsr_axis_cost_of(const tsr_topology *topology, int64_t size, const tsr_steps *steps);
// tsr_mesh_axis_cost for digits of a position (position / stride % size), such as sub-axes.
TSR_MUST_USE tsr_status tsr_mesh_digit_costs(const tsr_mesh *mesh, const int64_t *strides,
                                             const int64_t *sizes, int digit_count,
                                             tsr_axis_cost *out_costs);
// Seconds for a collective among `count` devices joined by `link`, `bytes` of input on each.
double tsr_collective_seconds(tsr_collective op, int64_t count, const tsr_link *link, double bytes);
// The same over several axes with known costs.
double tsr_collective_over(tsr_collective op, const tsr_axis_cost *costs, const int64_t *sizes,
                           int axis_count, double bytes);

#endif
