// compat/t5x_mesh.h
#ifndef TSR_COMPAT_T5X_MESH_H
#define TSR_COMPAT_T5X_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

// ---- t5x (t5x.partitioning) ----

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
TSR_API TSR_MUST_USE tsr_status tsr_t5x_default_mesh(const tsr_topology *topology,
                                                     const tsr_t5x_mesh_options *options,
                                                     tsr_mesh **out_mesh);

TSR_END_DECLS

#endif
