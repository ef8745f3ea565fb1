// t5x's meshes (t5x.partitioning), fitted to the hardware: axes data and model, and replica over
// several slices.
//
// The order of the topology's devices matters, as in t5x. Where t5x's answer is a bug,
// docs/compatibility.md describes ours.
//
//   tsr_mesh *mesh = NULL;
//   tsr_t5x_mesh_options options = TSR_T5X_MESH_OPTIONS;
//   options.num_partitions = 4;
//   TSR_TRY(tsr_t5x_default_mesh(topology, &options, &mesh));
#ifndef TESSERA_COMPAT_T5X_MESH_H
#define TESSERA_COMPAT_T5X_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

// A place or size in the machine: x, y, z, core on TPU (count 4); host, device elsewhere (count 2).
typedef struct tsr_hardware_mesh {
  int count;
  int64_t dims[4];
} tsr_hardware_mesh;

// get_coords: the place of a device of the topology, by its position in the list; and
// bounds_from_last_device: the sizes of the machine if that device is its last. False if there is
// no such device.
TSR_API TSR_NONNULL bool tsr_t5x_get_coords(const tsr_topology *topology, int64_t device,
                                            tsr_hardware_mesh *out_coords);
TSR_API TSR_NONNULL bool tsr_t5x_bounds_from_last_device(const tsr_topology *topology,
                                                         int64_t device,
                                                         tsr_hardware_mesh *out_bounds);

typedef struct tsr_t5x_mesh_options {
  size_t size;  // sizeof(tsr_t5x_mesh_options)
  int64_t num_partitions;
  const tsr_hardware_mesh *model_parallel_submesh;  // NULL or no sizes = none
  const int64_t *ici_mesh_shape, *dcn_mesh_shape;   // both or neither: replica, data, model
  int ici_rank, dcn_rank;
  // Of get_mesh: do not tile the mesh by hosts where they would hold no contiguous block
  // (tile_by_host_if_needed = false); and the process whose devices are such a tile
  // (input_local_devices).
  bool no_host_tiling;
  int64_t local_process;
} tsr_t5x_mesh_options;
#define TSR_T5X_MESH_OPTIONS TSR_SIZED(tsr_t5x_mesh_options)
// default_mesh, and get_mesh of t5x where a submesh is given; get_cpu_mesh and get_gpu_mesh for
// topologies of those platforms.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_t5x_default_mesh(const tsr_topology *topology, const tsr_t5x_mesh_options *options,
                         tsr_mesh **out_mesh);

// t5x's with_sharding_constraint does nothing on CPU devices, nor without a current mesh; otherwise
// it is tsr_array_constrain. NULL topology: the current mesh's.
TSR_API bool tsr_t5x_constraint_applies(const tsr_topology *topology);

TSR_END_DECLS

#endif
