// A mesh that fits the machine: 64 chips of a TPU v4 torus on the axes data=16 and model=4, ordered
// so that neighbours on an axis are neighbours in the torus.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/compat/jax_mesh.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status build(const tsr_topology *pod, tsr_mesh **out_mesh) {
  TSR_OWN(device_array, order);
  TSR_TRY(tsr_jax_create_device_mesh(pod, (int64_t[]){16, 4}, 2, NULL, &order, NULL));
  return tsr_mesh_from_array(pod, &order, (const char *const[]){"data", "model"}, out_mesh);
}

static tsr_status report(const tsr_topology *pod, const tsr_mesh *mesh) {
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh); axis++) {
    tsr_axis_cost cost;
    TSR_TRY(tsr_mesh_axis_cost(mesh, axis, &cost));
    const tsr_axis *which = tsr_mesh_axis_at(mesh, axis);
    printf("%-5s  %2" PRId64 " devices, over %s, %s\n", which->name, which->size,
           tsr_level_name(cost.level), cost.ring ? "a ring" : "a line");
  }
  printf("devices of the first model group:");
  for (int64_t position = 0; position < 4; position++) {
    const int64_t id = tsr_mesh_device_at(mesh, position);
    const int64_t *at = tsr_topology_devices(pod)[tsr_topology_device_find(pod, id)].coords;
    printf("  %" PRId64 " at (%" PRId64 ",%" PRId64 ",%" PRId64 ")", id, at[0], at[1], at[2]);
  }
  printf("\n");
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(topology, pod);
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_topology_parse("tpu-v4:4x4x4", &pod));
  TSR_TRY(build(pod, &mesh));
  return report(pod, mesh);
}

int main(void) { return tsr_status_exit(run()); }
