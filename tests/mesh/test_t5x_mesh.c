
#include "mesh/machines.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/engine/topology.h"

#define SUBMESH(...) (&(tsr_hardware_mesh){sizeof((int64_t[]){__VA_ARGS__}) / 8, {__VA_ARGS__}})

static void places_are_coordinates_or_hosts_and_devices(void **state) {
  (void)state;
  tsr_topology *tpu = parsed_topology("tpu-v3:4x2"), *cpu = parsed_topology("cpu:3x4");
  tsr_hardware_mesh place;
  const int64_t last = tsr_topology_device_count(tpu) - 1;
  tsr_t5x_get_coords(tpu, last, &place);
  assert_int_equal(place.count, 4);
  assert_memory_equal(place.dims, ((int64_t[]){3, 1, 0, 1}), sizeof place.dims);
  tsr_t5x_bounds_from_last_device(tpu, last, &place);
  assert_memory_equal(place.dims, ((int64_t[]){4, 2, 1, 2}), sizeof place.dims);
  tsr_t5x_get_coords(cpu, 6, &place);
  assert_int_equal(place.count, 2);
  assert_memory_equal(place.dims, ((int64_t[]){1, 2}), 2 * sizeof *place.dims);
  tsr_t5x_bounds_from_last_device(cpu, 6, &place);
  assert_memory_equal(place.dims, ((int64_t[]){3, 4}), 2 * sizeof *place.dims);
  tsr_topology_release(tpu);
  tsr_topology_release(cpu);
}

static void submeshes_tile_the_machine(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *machine;
    tsr_hardware_mesh submesh;
    bool by_host;
    const char *mesh;
  } cases[] = {
      {"cpu:2x4", {2, {1, 2}}, true, "data=4,model=2"},
      {"cpu:2x4", {2, {2, 2}}, true, "data=2,model=4 devices=[0,1,4,5,2,3,6,7]"},
      {"cpu:2x4", {2, {2, 1}}, false, "data=4,model=2 devices=[0,4,1,5,2,6,3,7]"},
      // Sizes beyond the second only lengthen `model`.
      {"cpu:1x8", {4, {1, 1, 1, 2}}, true, "data=4,model=2"},
      // Ids count x first. A submesh over all of x puts z before y, one over all of y before x.
      {"tpu-v4:2x2x2", {4, {2, 1, 1, 1}}, true, "data=4,model=2"},
      {"tpu-v4:2x2x2", {4, {1, 2, 1, 1}}, true, "data=4,model=2 devices=[0,2,1,3,4,6,5,7]"},
      {"tpu-v4:2x2x2", {4, {1, 1, 1, 1}}, false, "data=8,model=1 devices=[0,4,2,6,1,5,3,7]"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = parsed_topology(cases[i].machine);
    tsr_mesh *mesh = NULL;
    assert_ok(tsr_t5x_get_mesh(topology, &cases[i].submesh, 0, cases[i].by_host, &mesh));
    tsr_mesh *wanted = parsed_mesh(cases[i].mesh, NULL);
    if (!tsr_mesh_equal(mesh, wanted)) assert_mesh_prints(mesh, cases[i].mesh);
    tsr_mesh_release(mesh);
    tsr_t5x_mesh_options options = TSR_T5X_MESH_OPTIONS;
    options.model_parallel_submesh = &cases[i].submesh;
    options.no_host_tiling = !cases[i].by_host;
    assert_ok(tsr_t5x_default_mesh(topology, &options, &mesh));
    assert_true(tsr_mesh_equal(mesh, wanted));
    tsr_mesh_release(wanted);
    tsr_mesh_release(mesh);
    tsr_topology_release(topology);
  }
}

// What host tiling is for.
static void tiled_meshes_give_each_process_a_box(void **state) {
  (void)state;
  static const char *const machines[] = {"tpu-v4:4x4x4", "tpu-v4:2x4x8", "tpu-v3:8x4", "gpu:4x8"};
  int made = 0;
  for (size_t m = 0; m < COUNT_OF(machines); m++) {
    tsr_topology *topology = parsed_topology(machines[m]);
    for (int64_t code = 0; code < 4 * 4 * 4 * 2; code++) {
      const int64_t x = 1 << code % 4, y = 1 << code / 4 % 4, z = 1 << code / 16 % 4,
                    core = 1 << code / 64;
      const tsr_hardware_mesh submesh = m == 3 ? *SUBMESH(x, y) : *SUBMESH(x, y, z, core);
      tsr_mesh *mesh = NULL;
      tsr_status status = tsr_t5x_get_mesh(topology, &submesh, 0, true, &mesh);
      tsr_status_free(status);
      if (status) continue;
      made++;
      assert_int_equal(tsr_mesh_axis_at(mesh, 1)->size, m == 3 ? x * y : x * y * z * core);
      for (int64_t process = 0; process < tsr_mesh_process_count(mesh); process++) {
        int64_t low[2], sizes[2];
        assert_ok(tsr_mesh_local_box(mesh, process, low, sizes));
      }
      tsr_mesh_release(mesh);
    }
    tsr_topology_release(topology);
  }
  assert_in_range(made, 80, 512);
}

static void wrong_submeshes_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *machine;
    tsr_hardware_mesh submesh;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"tpu-v4:4x4x4", {4, {3, 1, 1, 1}}, TSR_CAUSE_SUBMESH_NOT_A_FACTOR,
       "submesh (3, 1, 1, 1) does not divide the machine (4, 4, 4, 1): 3 into 4"},
      {"tpu-v4:4x4x4", {4, {1, -2, 1, 1}}, TSR_CAUSE_SUBMESH_NOT_A_FACTOR,
       "submesh (1, -2, 1, 1) does not divide the machine (4, 4, 4, 1): -2 into 4"},
      {"tpu-v4:4x4x4", {4, {1, 0, 1, 1}}, TSR_CAUSE_DIVISION_BY_ZERO,
       "submesh (1, 0, 1, 1) has a size of 0"},
      {"tpu-v4:4x4x4", {2, {2, 2}}, TSR_CAUSE_SUBMESH_RANK_MISMATCH,
       "submesh (2, 2) has 2 sizes, wanted 4"},
      {"tpu-v4:4x4x4", {5, {1, 1, 1, 1}}, TSR_CAUSE_SUBMESH_RANK_MISMATCH, "a submesh of 5 sizes"},
      {"cpu:2x4", {3, {1, 1, 3}}, TSR_CAUSE_SUBMESH_RANK_MISMATCH,
       "submesh (1, 1, 3) does not divide 8 devices"},
      {"tpu-v3:4x4", {4, {4, 1, 1, 1}}, TSR_CAUSE_ZMAJOR_NEEDS_ALL_CORES,
       "a submesh over a whole axis or plane needs all 2 cores of a chip, not 1"},
      {"tpu-v4:12x4x1:hosts=3x2x1", {4, {2, 1, 1, 1}}, TSR_CAUSE_SUBMESH_HOST_TILE_MISMATCH,
       "submesh size 2 is neither a factor nor a multiple of the 3 of a host"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = parsed_topology(cases[i].machine);
    tsr_mesh *mesh = NULL;
    test_assert_fails(tsr_t5x_get_mesh(topology, &cases[i].submesh, 0, true, &mesh), cases[i].cause,
                      cases[i].message, __FILE__, __LINE__);
    assert_null(mesh);
    tsr_topology_release(topology);
  }
}

static tsr_topology *placed_topology(const int64_t (*coords)[3], const int64_t *slices, int count) {
  tsr_device devices[8];
  for (int i = 0; i < count; i++)
    devices[i] = (tsr_device){.id = i,
                              .slice = slices ? slices[i] : 0,
                              .has_coords = true,
                              .coords = {coords[i][0], coords[i][1], coords[i][2]}};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_TPU,
                                  .kind = "TPU v4",
                                  .device_count = count,
                                  .devices = devices};
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&desc, &topology));
  return topology;
}

static void machines_with_holes_are_refused(void **state) {
  (void)state;
  const int64_t hole[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
  const int64_t twice[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
  const int64_t outside[][3] = {{0, 3, 0}, {1, 0, 0}};
  tsr_mesh *mesh = NULL;
  tsr_topology *topology = placed_topology(hole, NULL, 3);
  assert_fails(tsr_t5x_get_mesh(topology, SUBMESH(1, 1, 1, 1), 0, true, &mesh), NOT_A_CUBOID,
               "3 devices do not fill a machine of (2, 2, 1, 1)");
  tsr_t5x_mesh_options options = TSR_T5X_MESH_OPTIONS;
  options.model_parallel_submesh = SUBMESH(1, 1, 1, 1);
  options.local_process = 7;
  assert_fails_with(tsr_t5x_default_mesh(topology, &options, &mesh), NOT_FOUND, "7");
  assert_fails(tsr_t5x_get_mesh(topology, SUBMESH(1, 1, 1, 1), 7, true, &mesh), NOT_FOUND,
               "process 7 drives no device of the machine");
  tsr_topology_release(topology);
  topology = placed_topology(twice, NULL, 3);
  assert_fails(tsr_t5x_get_mesh(topology, SUBMESH(1, 1, 1, 1), 0, true, &mesh), NOT_A_CUBOID,
               "devices 0 and 2 are both at (0, 0, 0, 0)");
  tsr_topology_release(topology);
  topology = placed_topology(outside, NULL, 2);
  assert_fails(tsr_t5x_get_mesh(topology, SUBMESH(1, 1, 1, 1), 0, true, &mesh), NOT_A_CUBOID,
               "device 0 at (0, 3, 0, 0) lies outside a machine of other devices");
  tsr_topology_release(topology);
}

static void of_several_slices_the_last_makes_the_mesh(void **state) {
  (void)state;
  const int64_t coords[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {1, 0, 0}};
  const int64_t slices[] = {0, 0, 1, 1};
  tsr_topology *topology = placed_topology(coords, slices, 4);
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_t5x_get_mesh(topology, SUBMESH(1, 1, 1, 1), 0, true, &mesh));
  assert_mesh_prints(mesh, "data=2,model=1 devices=[2,3]");
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void gpus_put_model_on_a_host_first(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    int64_t partitions;
    const char *mesh;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {1, "data=16,model=1", TSR_CAUSE_NONE, ""},
      {2, "data=8,model=2", TSR_CAUSE_NONE, ""},
      {4, "data=4,model=4", TSR_CAUSE_NONE, ""},
      {8, "data=2,model=8", TSR_CAUSE_NONE, ""},
      {0, NULL, TSR_CAUSE_DIVISION_BY_ZERO, "0 partitions, wanted 1 or more"},
      {3, NULL, TSR_CAUSE_GPU_PARTITIONS_MISMATCH,
       "3 partitions are neither a factor nor a multiple of the 4 GPUs of a host"},
      {-4, NULL, TSR_CAUSE_GPU_PARTITIONS_MISMATCH,
       "-4 partitions are neither a factor nor a multiple of the 4 GPUs of a host"},
      {12, NULL, TSR_CAUSE_GRANULE_COUNT_MISMATCH,
       "12 partitions take 3 hosts, which do not divide the 4 there are"},
  };
  // clang-format on
  tsr_topology *topology = parsed_topology("gpu:4x4");
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_t5x_get_gpu_mesh(topology, cases[i].partitions, &mesh);
    if (cases[i].mesh) {
      assert_ok(status);
      assert_mesh_prints(mesh, cases[i].mesh);
    } else {
      test_assert_fails(status, cases[i].cause, cases[i].message, __FILE__, __LINE__);
    }
    tsr_mesh_release(mesh);
  }
  tsr_topology_release(topology);
}

static void default_meshes_depend_on_the_machine(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *machine;
    int64_t partitions;
    int64_t model;  // 0 = there is no default
  } cases[] = {
      {"cpu:2x4", 1, 4},         {"cpu:2x4", 32, 4},       {"gpu:2x4", 2, 2},
      {"tpu-v2:4x4", 16, 16},    {"tpu-v3:4x4", 2, 2},     {"tpu-v3:4x4", 4, 4},
      {"tpu-v3:4x4", 32, 0},     {"tpu-v4:4x4x4", 4, 4},   {"tpu-v4:2x2x4", 4, 4},
      {"tpu-v4:4x4x8", 8, 8},    {"tpu-v4:4x4x4", 8, 8},   {"tpu-v4:4x4x16", 16, 16},
      {"tpu-v4:8x8x8", 16, 16},  {"tpu-v4:4x4x4", 16, 16}, {"tpu-v4:2x2x4", 16, 16},
      {"tpu-v5e:4x4", 4, 0},     {"tpu-v4:2x2x1:cores=2", 2, 0},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = parsed_topology(cases[i].machine);
    const tsr_t5x_mesh_options options = {.size = sizeof options,
                                          .num_partitions = cases[i].partitions};
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_t5x_default_mesh(topology, &options, &mesh);
    assert_int_equal(tsr_status_cause(status),
                     cases[i].model ? TSR_CAUSE_NONE : TSR_CAUSE_NO_DEFAULT_MESH);
    tsr_status_free(status);
    if (mesh) assert_int_equal(tsr_mesh_axis_at(mesh, 1)->size, cases[i].model);
    tsr_mesh_release(mesh);
    tsr_topology_release(topology);
  }
}

static void default_meshes_over_slices_have_three_axes(void **state) {
  (void)state;
  const int64_t ici[] = {1, 2, 4}, dcn[] = {2, 1, 1};
  tsr_topology *topology = parsed_topology("tpu-v4:2x2x2:slices=2");
  tsr_t5x_mesh_options options = {.size = sizeof options,
                                  .ici_mesh_shape = ici,
                                  .dcn_mesh_shape = dcn,
                                  .ici_rank = 3,
                                  .dcn_rank = 3};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_t5x_default_mesh(topology, &options, &mesh));
  assert_int_equal(tsr_mesh_axis_at(mesh, tsr_mesh_axis_find(mesh, "replica"))->size, 2);
  assert_int_equal(tsr_mesh_axis_at(mesh, tsr_mesh_axis_find(mesh, "data"))->size, 2);
  assert_int_equal(tsr_mesh_axis_at(mesh, tsr_mesh_axis_find(mesh, "model"))->size, 4);
  tsr_mesh_release(mesh);
  assert_fails_with(tsr_t5x_default_mesh(topology, &(tsr_t5x_mesh_options){.size = 7}, &mesh),
                    BAD_ARGUMENT, "tsr_t5x_mesh_options has size 7");
  options.dcn_rank = 2;
  assert_fails(tsr_t5x_default_mesh(topology, &options, &mesh), MESH_RANK_MISMATCH,
               "3 sizes inside and 2 between slices for the axes replica, data and model");
  // Sizes that fit no slices are told before their number.
  const int64_t two_inside[] = {4, 2}, two_between[] = {2, 1}, too_many[] = {2, 2};
  options.ici_mesh_shape = two_inside;
  options.dcn_mesh_shape = two_between;
  options.ici_rank = options.dcn_rank = 2;
  assert_fails(tsr_t5x_default_mesh(topology, &options, &mesh), MESH_RANK_MISMATCH,
               "2 sizes inside and 2 between slices for the axes replica, data and model");
  options.dcn_mesh_shape = too_many;
  assert_fails_with(tsr_t5x_default_mesh(topology, &options, &mesh), GRANULE_COUNT_MISMATCH,
                    "outer mesh (2, 2)");
  // One of the two alone is ignored, as in t5x; the submesh then decides.
  options.dcn_mesh_shape = NULL;
  options.model_parallel_submesh = SUBMESH(1, 2, 1, 1);
  assert_ok(tsr_t5x_default_mesh(topology, &options, &mesh));
  assert_int_equal(tsr_mesh_axis_count(mesh), 2);
  assert_int_equal(tsr_mesh_axis_at(mesh, 1)->size, 2);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void a_submesh_without_sizes_is_none(void **state) {
  (void)state;
  const tsr_hardware_mesh none = {0};
  tsr_topology *topology = parsed_topology("tpu-v3:4x4");
  tsr_t5x_mesh_options options = {
      .size = sizeof options, .num_partitions = 2, .model_parallel_submesh = &none};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_t5x_default_mesh(topology, &options, &mesh));
  assert_int_equal(tsr_mesh_axis_at(mesh, 1)->size, 2);
  tsr_mesh_release(mesh);
  options.num_partitions = 3;
  assert_fails_with(tsr_t5x_default_mesh(topology, &options, &mesh), NO_DEFAULT_MESH,
                    "3 partitions");
  tsr_topology_release(topology);
}

static void a_hundred_thousand_devices_are_tiled(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("tpu-v4:48x48x48");
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_t5x_get_mesh(topology, SUBMESH(4, 4, 1, 1), 0, true, &mesh));
  assert_int_equal(tsr_mesh_device_count(mesh), 48 * 48 * 48);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static tsr_status make_t5x_meshes(void *context) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_t5x_get_mesh(context, SUBMESH(1, 2), 0, true, &mesh));
  tsr_mesh_release(mesh);
  TSR_TRY(tsr_t5x_get_cpu_mesh(context, &mesh));
  tsr_mesh_release(mesh);
  TSR_TRY(tsr_t5x_get_gpu_mesh(context, 2, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void t5x_survives_running_out_of_memory(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("gpu:2x4:order=shuffled");
  test_allocation_sweep(make_t5x_meshes, topology);
  tsr_topology_release(topology);
}

SUITE(t5x_mesh, TEST(places_are_coordinates_or_hosts_and_devices), TEST(submeshes_tile_the_machine),
      TEST(tiled_meshes_give_each_process_a_box), TEST(wrong_submeshes_are_refused),
      TEST(machines_with_holes_are_refused), TEST(of_several_slices_the_last_makes_the_mesh),
      TEST(gpus_put_model_on_a_host_first), TEST(default_meshes_depend_on_the_machine),
      TEST(default_meshes_over_slices_have_three_axes), TEST(a_submesh_without_sizes_is_none),
      TEST(a_hundred_thousand_devices_are_tiled), TEST(t5x_survives_running_out_of_memory))
