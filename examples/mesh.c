// A mesh that fits the machine: 64 chips of a TPU v4 torus on the axes data=16 and model=4, ordered
// so that neighbours on an axis are neighbours in the torus.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>
#include <tessera/compat/jax_mesh.h>
#include <tessera/engine.h>

typedef struct world {
  tsr_topology *pod;
  tsr_device_array order;
  tsr_mesh *mesh;
} world;

static tsr_status build(world *w) {
  TSR_TRY(tsr_topology_parse("tpu-v4:4x4x4", &w->pod));
  const int64_t sizes[] = {16, 4};
  TSR_TRY(tsr_jax_create_device_mesh(w->pod, sizes, 2, NULL, &w->order, NULL));
  const char *const names[] = {"data", "model"};
  return tsr_mesh_from_array(w->pod, &w->order, names, &w->mesh);
}

static tsr_status report(const world *w) {
  for (int axis = 0; axis < tsr_mesh_axis_count(w->mesh); axis++) {
    tsr_axis_cost cost;
    TSR_TRY(tsr_mesh_axis_cost(w->mesh, axis, &cost));
    const tsr_axis *which = tsr_mesh_axis_at(w->mesh, axis);
    printf("%-5s  %2" PRId64 " devices, over %s, %s\n", which->name, which->size,
           tsr_level_name(cost.level), cost.ring ? "a ring" : "a line");
  }
  printf("devices of the first model group:");
  for (int64_t position = 0; position < 4; position++) {
    const int64_t id = tsr_mesh_device_at(w->mesh, position);
    const int64_t *at = tsr_topology_devices(w->pod)[tsr_topology_device_find(w->pod, id)].coords;
    printf("  %lld at (%lld,%lld,%lld)", (long long)id, (long long)at[0], (long long)at[1],
           (long long)at[2]);
  }
  printf("\n");
  return NULL;
}

int main(void) {
  world w = {0};
  tsr_status status = build(&w);
  if (!status) status = report(&w);
  tsr_mesh_release(w.mesh);
  tsr_device_array_deinit(&w.order);
  tsr_topology_release(w.pod);
  if (!status) return 0;
  fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_status_free(status);
  return 1;
}
