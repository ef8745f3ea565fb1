#include "mesh/machines.h"

#include <stdlib.h>

#include "tessera/engine/topology.h"

tsr_topology *listed_topology(const int64_t *ids, int count) {
  tsr_device *devices = calloc((size_t)count, sizeof *devices);
  for (int i = 0; i < count; i++)
    devices[i] =
        (tsr_device){.id = ids[i], .process = i / 2, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_CPU,
                                  .kind = "cpu",
                                  .device_count = count,
                                  .devices = devices};
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&desc, &topology));
  free(devices);
  return topology;
}

tsr_topology *parsed_topology(const char *text) {
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse(text, &topology));
  return topology;
}

tsr_mesh *parsed_mesh(const char *text, const tsr_topology *topology) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, topology, &mesh));
  return mesh;
}

tsr_mesh *random_mesh(test_random *random, int max_axes, int64_t max_devices) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  tsr_axis axes[COUNT_OF(names)];
  tsr_mesh_desc desc = {.size = sizeof desc, .axes = axes, .device_count = 1};
  desc.axis_count = (int)test_random_range(random, 0, max_axes);
  for (int i = 0; i < desc.axis_count; i++) {
    int64_t size = test_random_range(random, 1, 6);
    if (desc.device_count * size > max_devices) size = 1;
    axes[i] = (tsr_axis){names[i], size, (tsr_axis_type)test_random_range(random, 0, 2)};
    desc.device_count *= size;
  }
  int64_t *ids = malloc(sizeof *ids * (size_t)desc.device_count);
  for (int64_t i = 0; i < desc.device_count; i++) {
    const int64_t j = test_random_range(random, 0, i);
    ids[i] = ids[j];
    ids[j] = (int64_t)(3 * i + 1);
  }
  if (test_random_range(random, 0, 1)) desc.devices = ids;
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(&desc, &mesh));
  free(ids);
  return mesh;
}

void assert_mesh_prints(const tsr_mesh *mesh, const char *text) {
  tsr_text out = TSR_TEXT_EMPTY;
  tsr_mesh_print(mesh, &out);
  assert_string_equal(tsr_text_string(&out), text);
  tsr_text_deinit(&out);
}

void assert_meshes_print(const char *const (*texts)[2], size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsr_mesh *mesh = parsed_mesh(texts[i][0], NULL);
    assert_mesh_prints(mesh, texts[i][1]);
    tsr_mesh_release(mesh);
  }
}
