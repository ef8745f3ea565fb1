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

typedef struct tsr_t5x_mesh_options {
  size_t size;  // sizeof(tsr_t5x_mesh_options)
  int64_t num_partitions;
  const tsr_hardware_mesh *model_parallel_submesh;  // NULL or no sizes = none
  const int64_t *ici_mesh_shape, *dcn_mesh_shape;   // both or neither: replica, data, model
  int ici_rank, dcn_rank;
} tsr_t5x_mesh_options;
#define TSR_T5X_MESH_OPTIONS TSR_SIZED(tsr_t5x_mesh_options)
// default_mesh.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_t5x_default_mesh(const tsr_topology *topology, const tsr_t5x_mesh_options *options,
                         tsr_mesh **out_mesh);

TSR_END_DECLS

#endif
