// eformer's meshes (eformer.escale.mesh), fitted to the hardware.
//
// The order of the topology's devices matters, as in eformer. Where eformer's answer is a bug,
// docs/compatibility.md describes ours.
//
//   tsr_mesh *mesh = NULL;  // dp=1, fsdp=the rest, ep=1, tp=1, sp=1
//   TSR_TRY(tsr_eformer_create_mesh(topology, NULL, &mesh));
#ifndef TESSERA_COMPAT_EFORMER_MESH_H
#define TESSERA_COMPAT_EFORMER_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

typedef struct tsr_eformer_mesh_options {
  size_t size;               // sizeof(tsr_eformer_mesh_options)
  const int64_t *axis_dims;  // NULL = 1, -1, 1, 1, 1
  int axis_dim_count;
  const char *const *axis_names;  // NULL = dp, fsdp, ep, tp, sp
  int axis_name_count;
  const int64_t *dcn_mesh_dims;  // NULL = chosen
  int dcn_mesh_dim_count;
  bool keep_granule_order;          // should_sort_granules_by_key = false
  bool forbid_split_physical_axes;  // allow_split_physical_axes = false
  bool use_jax;                     // axes are Explicit unless types say otherwise
  const tsr_axis_type *axis_types;  // NULL = Auto (Explicit with use_jax)
  int axis_type_count;              // 1 = for all
  int64_t num_slices;               // 0 = that of the devices, else MEGASCALE_NUM_SLICES, else 1
} tsr_eformer_mesh_options;
#define TSR_EFORMER_MESH_OPTIONS TSR_SIZED(tsr_eformer_mesh_options)

// create_mesh. NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_eformer_create_mesh(const tsr_topology *topology, const tsr_eformer_mesh_options *options,
                            tsr_mesh **out_mesh);

TSR_END_DECLS

#endif
