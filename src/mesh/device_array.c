// Device ids in the order of a mesh that has no names yet.
#include <stdlib.h>

#include "base/room.h"
#include "mesh/jax.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/mesh.h"
#include "tessera/topology.h"

tsr_status tsr_device_array_init(tsr_device_array *array, const int64_t *dims, int rank) {
  tsr_device_array made = {.rank = rank, .count = 1};
  for (int i = 0; i < rank; i++) {
    made.dims[i] = dims[i];
    made.count *= dims[i];
  }
  made.ids = malloc((size_t)made.count * sizeof *made.ids);
  if (!made.ids) return tsr_fail(NO_MEMORY, "ids of %lld devices", (long long)made.count);
  *array = made;
  return NULL;
}

void tsr_device_array_deinit(tsr_device_array *array) {
  if (!array) return;
  free(array->ids);
  *array = (tsr_device_array){0};
}

tsr_status tsr_mesh_over_array(const tsr_topology *topology, const tsr_device_array *array,
                               const tsr_axis *axes, tsr_mesh **out_mesh) {
  return tsr_mesh_create(&(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc),
                                          .axis_count = array->rank,
                                          .axes = axes,
                                          .device_count = array->count,
                                          .devices = array->ids,
                                          .topology = topology},
                         out_mesh);
}

tsr_status tsr_mesh_from_array(const tsr_topology *topology, const tsr_device_array *array,
                               const char *const *names, tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES] = {0};
  TSR_TRY(tsr_rank_check(array->rank));
  TSR_TRY(tsr_list_check(names, array->rank, "names"));
  for (int i = 0; i < array->rank; i++)
    axes[i] = (tsr_axis){.name = names[i], .size = array->dims[i], .type = TSR_AXIS_AUTO};
  return tsr_mesh_over_array(topology, array, axes, out_mesh);
}
