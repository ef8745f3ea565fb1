// Meshes, for engines and planners: coordinates, groups, submeshes, and the cost of communication.
//
//   TSR_OWN(groups, groups);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_mesh_groups(mesh, (const char *[]){"model"}, 1, &groups));
//   TSR_TRY(tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, count, in, out));
#ifndef TESSERA_ENGINE_MESH_H
#define TESSERA_ENGINE_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/topology.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

// ---- devices ----

// The coordinates of a position, one per axis, and the position of coordinates.
TSR_API TSR_NONNULL_AT(1) bool tsr_mesh_coords(const tsr_mesh *mesh, int64_t position,
                                               int64_t *out_coords);
TSR_API TSR_NONNULL_AT(1) int64_t tsr_mesh_position(const tsr_mesh *mesh, const int64_t *coords);
// The process that drives a device; 0 for all without a topology.
TSR_API TSR_NONNULL int64_t tsr_mesh_process(const tsr_mesh *mesh, int64_t position);

// ---- named axes ----

// The product of the sizes of the named axes: get_axes_size_in_mesh and get_mesh_axis_size. An
// empty list gives 1; a repeated name counts twice.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_mesh_axes_size(const tsr_mesh *mesh, const char *const *names, int name_count,
                       int64_t *out_size);
// The index of a position within the named axes, first name most significant; an empty list gives
// 0: get_submesh_device_index.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_mesh_axes_index(const tsr_mesh *mesh, int64_t position, const char *const *names,
                        int name_count, int64_t *out_index);
// The groups of a collective over the named axes: ids of devices that differ in these axes only. A
// member's index follows from its coordinates on these axes, first name most significant. Groups
// are ordered by the position of their first member. Without names every device is a group. Free
// with tsr_groups_deinit.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_mesh_groups(const tsr_mesh *mesh, const char *const *axes, int axis_count,
                    tsr_groups *out_groups);

// ---- new meshes from old ones, over the same devices ----

// The devices at `index` of `axis`; the mesh has one axis fewer.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mesh_slice(const tsr_mesh *mesh, const char *axis,
                                                           int64_t index, tsr_mesh **out_mesh);
// Neighbouring axes of one type, given in mesh order, become one called `name`.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4, 5) tsr_status
    tsr_mesh_flatten(const tsr_mesh *mesh, const char *const *axes, int axis_count,
                     const char *name, tsr_mesh **out_mesh);
// The axes in another order; devices keep their coordinates by name.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_mesh_transpose(const tsr_mesh *mesh, const char *const *axes, int axis_count,
                       tsr_mesh **out_mesh);

// ---- costs ----

// What communication along an axis costs on this mesh's topology.
typedef struct tsr_axis_cost {
  tsr_level level;  // the worst level crossed between neighbours on the axis
  bool ring;        // its groups close to a ring, so that both directions can be used
  tsr_link link;    // between neighbours, with all groups active; includes hops and directions
} tsr_axis_cost;
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mesh_axis_cost(const tsr_mesh *mesh, int axis,
                                                               tsr_axis_cost *out_cost);

typedef enum tsr_collective {
  TSR_COLLECTIVE_ALL_GATHER,
  TSR_COLLECTIVE_REDUCE_SCATTER,
  TSR_COLLECTIVE_ALL_TO_ALL,
  TSR_COLLECTIVE_ALL_REDUCE,
  TSR_COLLECTIVE_PERMUTE,
  TSR_COLLECTIVE_COUNT
} tsr_collective;
// Seconds for a collective by rings over the named axes, level by level where these differ, with
// `bytes` of local input per device.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 6) tsr_status
    tsr_mesh_collective_cost(const tsr_mesh *mesh, tsr_collective op, const char *const *axes,
                             int axis_count, int64_t bytes, double *out_seconds);

// ---- a mesh that fits the machine ----

// Bytes that a training step moves over an axis, per collective.
typedef struct tsr_axis_traffic {
  int64_t bytes[TSR_COLLECTIVE_COUNT];
} tsr_axis_traffic;
// Tries assignments of the axes to the topology's physical axes (slices, x, y, z, cores; or hosts
// and devices) and keeps the one whose traffic costs least. The devices must fill a box of these.
// One size may be -1; `traffic` has one entry per axis; `out_seconds` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_mesh_search(const tsr_topology *topology, const tsr_axis *axes, int axis_count,
                    const tsr_axis_traffic *traffic, tsr_mesh **out_mesh, double *out_seconds);

TSR_END_DECLS

#endif
