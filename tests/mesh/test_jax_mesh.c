#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "mesh/machines.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "support/test.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static tsr_status create(const char *machine, const int64_t *shape, int rank,
                         const tsr_jax_mesh_options *options, tsr_device_array *out_array) {
  tsr_topology *topology = parsed_topology(machine);
  tsr_status status = tsr_jax_create_device_mesh(topology, shape, rank, options, out_array, NULL);
  tsr_topology_release(topology);
  return status;
}

// ---- create_device_mesh ----

static const struct {
  const char *machine;
  int64_t shape[3];
  int rank;
  bool contiguous;
  tsr_cause cause;
  const char *message;
} failures[] = {
    {"cpu:8",
     {4, 1},
     2,
     false,
     TSR_CAUSE_DEVICE_COUNT_MISMATCH,
     "mesh (4, 1) has 4 places for 8 devices"},
    {"cpu:8",
     {INT64_MAX, 4},
     2,
     false,
     TSR_CAUSE_DEVICE_COUNT_MISMATCH,
     "mesh (9223372036854775807, 4) is too large for 8 devices"},
    {"cpu:8",
     {-2, -4},
     2,
     false,
     TSR_CAUSE_BAD_AXIS_SIZE,
     "axis 0 of mesh (-2, -4) has size -2, wanted 1 or more"},
    {"cpu:8", {8}, 17, false, TSR_CAUSE_TOO_LARGE, "a mesh of 17 axes; at most 16 are possible"},
    {"tpu-v4:2x2x1:cores=2",
     {8},
     1,
     false,
     TSR_CAUSE_NEEDS_ONE_DEVICE_PER_CHIP,
     "device 1 is core 1 of its chip; a mesh on \"TPU v4\" wants one device per chip"},
    {"tpu-v4:2x2x1:slices=2",
     {8},
     1,
     false,
     TSR_CAUSE_NOT_A_CUBOID,
     "8 devices do not fill the 2x2x1 box of their coordinates (1 per chip)"},
    {"tpu-v4:4x4x2",
     {4, 8},
     2,
     true,
     TSR_CAUSE_CONTIGUOUS_TOPOLOGY_UNSUPPORTED,
     "no contiguous submeshes on a 4x4x2 slice; they are known for 2x2x1, 2x2x4, 4x4x4, 4x8x8, "
     "8x8x8 and 8x16x16"},
    {"tpu-7x:4x4x4",
     {16, 8},
     2,
     true,
     TSR_CAUSE_CONTIGUOUS_TOPOLOGY_UNSUPPORTED,
     "no contiguous submeshes on a 4x4x4x2 slice; they are known for 2x2x1, 2x2x4, 4x4x4, 4x8x8, "
     "8x8x8 and 8x16x16"},
    {"tpu-v4:4x4x4",
     {4, 16},
     2,
     true,
     TSR_CAUSE_CONTIGUOUS_SHAPE_UNSUPPORTED,
     "no contiguous submeshes for mesh (4, 16) on a 4x4x4 slice; wanted (16, 4)"},
};

static void failures_say_what_is_wrong(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(failures); i++) {
    const tsr_jax_mesh_options options = {.size = sizeof options,
                                          .contiguous_submeshes = failures[i].contiguous};
    tsr_device_array array = {.rank = -1};
    tsr_status status =
        create(failures[i].machine, failures[i].shape, failures[i].rank, &options, &array);
    assert_message(status, failures[i].message);
    assert_int_equal(tsr_status_cause(status), failures[i].cause);
    assert_int_equal(array.rank, -1);
    tsr_status_free(status);
  }
}

// A machine of v4 devices at these places.
static tsr_topology *machine_at(const int64_t (*places)[4], int count, bool has_coords) {
  tsr_device devices[8];
  for (int i = 0; i < count; i++)
    devices[i] = (tsr_device){.id = i,
                              .has_coords = has_coords,
                              .coords = {places[i][0], places[i][1], places[i][2]},
                              .core = places[i][3]};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_TPU,
                                  .kind = "TPU v4",
                                  .device_count = count,
                                  .devices = devices};
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&desc, &topology));
  return topology;
}

static void holes_and_missing_places_are_refused(void **state) {
  (void)state;
  tsr_device_array array = {0};
  // Four devices in a 2x2 box, two of them at one corner.
  const int64_t double_corner[][4] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}};
  tsr_topology *topology = machine_at(double_corner, 4, true);
  assert_fails(tsr_jax_create_device_mesh(topology, SHAPE(4), 1, NULL, &array, NULL), NOT_A_CUBOID,
               "device 3 is not alone at (1, 1, 0) core 0, so the box of the 4 devices has a hole");
  tsr_topology_release(topology);
  topology = machine_at(double_corner, 4, false);
  assert_fails(tsr_jax_create_device_mesh(topology, SHAPE(4), 1, NULL, &array, NULL),
               BROKEN_TOPOLOGY,
               "device 0 of kind \"TPU v4\" has no coordinates, which a torus needs");
  tsr_topology_release(topology);
  topology = machine_at((const int64_t[][4]){{0, 0, 0, 0}, {1, 0, 0, TSR_NO_CORE}}, 2, true);
  assert_fails(tsr_jax_create_device_mesh(topology, SHAPE(2), 1, NULL, &array, NULL),
               BROKEN_TOPOLOGY,
               "device 1 of kind \"TPU v4\" has no core number, which a torus needs");
  tsr_topology_release(topology);
  // A box too large to count.
  const int64_t far = 268435455;
  topology = machine_at((const int64_t[][4]){{0, 0, 0, 0}, {far, far, far, 0}}, 2, true);
  assert_fails(tsr_jax_create_device_mesh(topology, SHAPE(2), 1, NULL, &array, NULL), NOT_A_CUBOID,
               "2 devices do not fill the 268435456x268435456x268435456 box of their coordinates "
               "(1 per chip)");
  tsr_topology_release(topology);
}

// Independent of the tables that place devices: a mesh is read out as JAX does, by walking the mesh
// and asking which coordinate each physical axis has there.
static int64_t expected_device(const tsr_topology *topology, const tsr_device_array *array,
                               const tsr_mesh_reason *reason, int64_t position) {
  int64_t index[TSR_MAX_AXES], place[4] = {0};
  for (int l = array->rank - 1; l >= 0; l--) {
    index[l] = position % array->dims[l];
    position /= array->dims[l];
  }
  // The last physical axis is the fastest part of a logical index, so it is taken off first.
  int64_t digits[4][TSR_MAX_AXES];
  for (int l = 0; l < array->rank; l++) {
    for (int axis = reason->physical_rank - 1; axis >= 0; axis--) {
      digits[axis][l] = index[l] % reason->assignment[axis][l];
      index[l] /= reason->assignment[axis][l];
    }
  }
  for (int axis = 0; axis < reason->physical_rank; axis++)
    for (int l = 0; l < array->rank; l++)
      place[axis] = place[axis] * reason->assignment[axis][l] + digits[axis][l];
  int64_t low[3], sizes[3];
  tsr_topology_bounds(topology, low, sizes);
  for (int i = 0; i < tsr_topology_device_count(topology); i++) {
    const tsr_device *device = &tsr_topology_devices(topology)[i];
    if (device->coords[0] - low[0] == place[0] && device->coords[1] - low[1] == place[1] &&
        device->coords[2] - low[2] == place[2] && device->core == place[3])
      return device->id;
  }
  return -1;
}

static void devices_sit_where_the_reason_says(void **state) {
  (void)state;
  static const char *const machines[] = {
      "tpu-v4:4x2x3",      "tpu-v4:4x4x4:order=shuffled", "tpu-v5p:4x2x2:cores=2",
      "tpu-7x:4x2x3",      "tpu-v4:6x5x2:origin=3x1x4",   "tpu-v6e:6x4:order=reversed",
      "tpu-8i:4x2:cores=3"};
  test_random random = {5};
  for (int round = 0; round < 400; round++) {
    tsr_topology *topology =
        parsed_topology(machines[test_random_range(&random, 0, COUNT_OF(machines) - 1)]);
    const int rank = (int)test_random_range(&random, 1, 5);
    int64_t shape[5] = {1, 1, 1, 1, 1}, factors[62];
    int count = 0;
    assert_ok(tsr_prime_factors(tsr_topology_device_count(topology), factors, &count));
    for (int k = 0; k < count; k++) shape[test_random_range(&random, 0, rank - 1)] *= factors[k];
    const tsr_jax_mesh_options options = {.size = sizeof options,
                                          .allow_split_physical_axes = true};
    tsr_device_array array = {0};
    tsr_mesh_reason reason;
    assert_ok(tsr_jax_create_device_mesh(topology, shape, rank, &options, &array, &reason));
    assert_int_equal(reason.path, TSR_PATH_TORUS);
    for (int64_t i = 0; i < array.count; i++)
      assert_int_equal(array.ids[i], expected_device(topology, &array, &reason, i));
    tsr_device_array_deinit(&array);
    tsr_topology_release(topology);
  }
}

static void contiguous_submeshes_leave_each_host_a_box(void **state) {
  (void)state;
  tsr_topology *cube = parsed_topology("tpu-v4:4x4x4:hosts=2x2x1");
  const tsr_jax_mesh_options options = {.size = sizeof options, .contiguous_submeshes = true};
  tsr_device_array array = {0};
  tsr_mesh_reason reason;
  assert_ok(tsr_jax_create_device_mesh(cube, SHAPE(16, 4), 2, &options, &array, &reason));
  const char *const names[] = {"data", "model"};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_from_array(cube, &array, names, &mesh));
  assert_int_equal(tsr_mesh_device_count(mesh), 64);
  assert_string_equal(tsr_mesh_axis_at(mesh, 1)->name, "model");
  int64_t low[2], sizes[2];
  for (int process = 0; process < 16; process++)
    assert_ok(tsr_mesh_local_box(mesh, process, low, sizes));
  tsr_mesh_release(mesh);
  tsr_device_array_deinit(&array);
  tsr_topology_release(cube);
}

static void a_mesh_without_axes_holds_one_device(void **state) {
  (void)state;
  static const char *const machines[] = {"cpu:1", "tpu-v4:1x1x1", "tpu-v3:1x1:cores=1"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    tsr_device_array array = {0};
    assert_ok(create(machines[i], NULL, 0, NULL, &array));
    assert_int_equal(array.rank, 0);
    assert_int_equal(array.count, 1);
    assert_int_equal(array.ids[0], 0);
    tsr_device_array_deinit(&array);
  }
}

// A caller built against an older header gives a smaller struct; what it lacks is not read.
static void options_may_be_older_than_the_library(void **state) {
  (void)state;
  tsr_jax_mesh_options options;
  memset(&options, 1, sizeof options);
  options.size = offsetof(tsr_jax_mesh_options, contiguous_submeshes);
  tsr_device_array array = {0};
  assert_ok(create("tpu-v4:4x4x2", SHAPE(4, 8), 2, &options, &array));
  tsr_device_array_deinit(&array);
  options.size = 0;
  assert_fails_with(create("tpu-v4:4x4x2", SHAPE(4, 8), 2, &options, &array), BAD_ARGUMENT,
                    "tsr_jax_mesh_options has size 0");
}

// ---- create_hybrid_device_mesh ----

static tsr_status create_hybrid(const char *machine, const int64_t *shape, const int64_t *dcn,
                                int rank, const tsr_jax_mesh_options *options, tsr_text *out) {
  tsr_topology *topology = parsed_topology(machine);
  tsr_device_array array = {0};
  tsr_status status =
      tsr_jax_create_hybrid_device_mesh(topology, shape, dcn, rank, options, &array);
  for (int i = 0; i < array.rank; i++)
    tsr_text_addf(out, "%s%lld", i ? "x" : "", (long long)array.dims[i]);
  for (int64_t i = 0; i < array.count; i++) tsr_text_addf(out, " %lld", (long long)array.ids[i]);
  tsr_device_array_deinit(&array);
  tsr_topology_release(topology);
  return status;
}

static const struct {
  const char *machine;
  bool by_process, keep_order;
  int64_t shape[2], dcn[2];
  const char *wanted;
} hybrids[] = {
    {"gpu:2x4:slices=2", false, false, {2, 4}, {2, 1}, "4x4 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"},
    {"gpu:2x4", true, false, {2, 2}, {2, 1}, "4x2 0 1 2 3 4 5 6 7"},
    {"gpu:2x4", true, false, {2, 2}, {1, 2}, "2x4 0 1 4 5 2 3 6 7"},
    {"gpu:4x2", true, false, {1, 2}, {2, 2}, "2x4 0 1 2 3 4 5 6 7"},
    {"gpu:4x2", true, false, {2, 1}, {2, 2}, "4x2 0 2 1 3 4 6 5 7"},
    // Granules by key, or as first seen; GPUs inside by id, CPUs as listed.
    {"gpu:2x4:order=reversed", true, false, {1, 4}, {2, 1}, "2x4 0 1 2 3 4 5 6 7"},
    {"gpu:2x4:order=reversed", true, true, {1, 4}, {2, 1}, "2x4 4 5 6 7 0 1 2 3"},
    {"cpu:2x4:order=reversed", true, false, {1, 4}, {2, 1}, "2x4 3 2 1 0 7 6 5 4"},
    {"tpu-v4:2x2x1:slices=2", false, false, {2, 2}, {2, 1}, "4x2 0 1 2 3 4 5 6 7"},
};

static void granules_become_blocks(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(hybrids); i++) {
    const tsr_jax_mesh_options options = {.size = sizeof options,
                                          .process_is_granule = hybrids[i].by_process,
                                          .keep_granule_order = hybrids[i].keep_order};
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(
        create_hybrid(hybrids[i].machine, hybrids[i].shape, hybrids[i].dcn, 2, &options, &text));
    assert_string_equal(tsr_text_string(&text), hybrids[i].wanted);
    tsr_text_deinit(&text);
  }
}

static void hybrid_failures_name_the_granule(void **state) {
  (void)state;
  const tsr_jax_mesh_options by_process = {.size = sizeof by_process, .process_is_granule = true};
  tsr_text text = TSR_TEXT_EMPTY;
  assert_fails(create_hybrid("gpu:2x4", SHAPE(4), SHAPE(2), 1, NULL, &text),
               MISSING_GRANULE_ATTRIBUTE,
               "device 0 belongs to no slice; make processes the granules instead");
  assert_fails(create_hybrid("gpu:2x4", SHAPE(4), SHAPE(3), 1, &by_process, &text),
               GRANULE_COUNT_MISMATCH,
               "outer mesh (3) is for another number of processes; there are 2 processes");
  assert_fails(create_hybrid("gpu:2x4:slices=2", SHAPE(8, 1), SHAPE(1, 3), 2, NULL, &text),
               GRANULE_COUNT_MISMATCH,
               "outer mesh (1, 3) is for another number of slices; there are 2 slices");
  assert_fails(create_hybrid("gpu:1x4", SHAPE(4), SHAPE(2), 1, &by_process, &text),
               GRANULE_COUNT_MISMATCH,
               "outer mesh (2) is for another number of processes; there is 1 process");
  assert_fails(create_hybrid("gpu:2x4", SHAPE(4, 1), SHAPE(-1, -2), 2, &by_process, &text),
               BAD_AXIS_SIZE, "axis 0 of outer mesh (-1, -2) has size -1, wanted 1 or more");
  assert_fails(create_hybrid("gpu:2x4", SHAPE(3), SHAPE(2), 1, &by_process, &text),
               DEVICE_COUNT_MISMATCH, "in process 0: mesh (3) has 3 places for 4 devices");
  assert_fails(create_hybrid("cpu:2", NULL, NULL, 17, &by_process, &text), TOO_LARGE,
               "a mesh of 17 axes; at most 16 are possible");
  assert_fails_with(
      create_hybrid("tpu-v4:4x4x4:slices=2", SHAPE(2, 32), SHAPE(2, 1), 2, NULL, &text),
      NO_AXIS_ASSIGNMENT, "in slice 0: axis 1 of mesh (2, 32) has size 32");
  assert_int_equal(text.length, 0);
}

// ---- make_mesh ----

static tsr_status make(const char *machine, const tsr_axis *axes, int axis_count, bool in_box,
                       tsr_text *out) {
  tsr_topology *topology = parsed_topology(machine);
  tsr_mesh *mesh = NULL;
  tsr_status status = in_box ? tsr_jax_make_mesh_in_box(topology, axes, axis_count, false, &mesh)
                             : tsr_jax_make_mesh(topology, axes, axis_count, false, &mesh);
  if (mesh) tsr_mesh_print(mesh, out);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  return status;
}

static const struct {
  const char *machine;
  tsr_axis axes[2];
  int axis_count;
  bool in_box;
  const char *wanted;
} made[] = {
    {"cpu:8", {{"x", 4, 0}, {"y", 2, 0}}, 2, false, "x=4:explicit,y=2:explicit"},
    {"cpu:8", {{"x", 3, 0}}, 1, false, "x=3:explicit"},
    {"tpu-v3:2x2", {{"x", 8, 0}}, 1, false, "x=8:explicit devices=[0,1,2,3,6,7,4,5]"},
    // v5e may split physical axes.
    {"tpu-v5e:4x4",
     {{"x", 8, 0}, {"y", 2, 0}},
     2,
     false,
     "x=8:explicit,y=2:explicit devices=[0,1,4,5,8,9,12,13,2,3,6,7,10,11,14,15]"},
    // The first 18 of 36 devices in host order are no box.
    {"tpu-v4:6x6:hosts=2x2",
     {{"x", 18, 0}},
     1,
     true,
     "x=18:explicit devices=[0,6,12,18,24,30,1,7,13,19,25,31,2,8,14,20,26,32]"},
    // They are a box of 4x4x1 here, which 2x8 does not fit; in 2x2x4 the 8 takes x and z.
    {"tpu-v4:4x4x4",
     {{"x", 2, 0}, {"y", 8, 0}},
     2,
     true,
     "x=2:explicit,y=8:explicit devices=[0,16,32,48,1,17,33,49,4,20,36,52,5,21,37,53]"},
    // The slice of the first device, which is the second one here.
    {"tpu-v4:4x4x4:slices=2:order=reversed",
     {{"x", 2, 0}, {"y", 8, 0}},
     2,
     true,
     "x=2:explicit,y=8:explicit devices=[64,80,96,112,65,81,97,113,68,84,100,116,69,85,101,117]"},
    // A fixed order is as good as a box.
    {"tpu-7x:4x4x2",
     {{"x", 2, 0}, {"y", 4, 0}},
     2,
     true,
     "x=2:explicit,y=4:explicit devices=[0,1,2,3,10,11,8,9]"},
    {"cpu:8", {{"x", 4, 0}}, 1, true, "x=4:explicit"},
};

static void meshes_take_the_first_devices(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(made); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(make(made[i].machine, made[i].axes, made[i].axis_count, made[i].in_box, &text));
    assert_string_equal(tsr_text_string(&text), made[i].wanted);
    tsr_text_deinit(&text);
  }
}

static void meshes_that_cannot_be_made(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_axis eighteen = {"x", 18, TSR_AXIS_AUTO}, seven = {"x", 7, TSR_AXIS_AUTO};
  assert_fails(make("tpu-v4:6x6:hosts=2x2", &eighteen, 1, false, &text), NOT_A_CUBOID,
               "18 devices do not fill the 6x4x1 box of their coordinates (1 per chip)");
  assert_fails(make("tpu-v4:6x6", &seven, 1, true, &text), NOT_A_CUBOID,
               "no box of 7 devices exists in a slice of 6x6x1");
  assert_fails(make("cpu:8", &eighteen, 1, true, &text), TOO_FEW_DEVICES,
               "mesh (18) needs more devices than the 8 there are");
  assert_fails(make("gpu:1x9:slices=2", &eighteen, 1, false, &text), SEVERAL_SLICES,
               "devices 0 and 9 are in different slices; a hybrid mesh can hold both");
  assert_fails(make("cpu:8", &(tsr_axis){"x", 0, TSR_AXIS_AUTO}, 1, false, &text), BAD_AXIS_SIZE,
               "axis 0 of mesh (0) has size 0, wanted 1 or more");
  assert_fails(make("cpu:8", NULL, 17, false, &text), TOO_LARGE,
               "a mesh of 17 axes; at most 16 are possible");
  assert_int_equal(text.length, 0);
}

static void types_are_kept_when_given(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("cpu:4");
  const tsr_axis axes[] = {{"x", 2, TSR_AXIS_MANUAL}, {"y", 2, TSR_AXIS_AUTO}};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_jax_make_mesh(topology, axes, 2, true, &mesh));
  assert_mesh_prints(mesh, "x=2:manual,y=2");
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

// ---- size ----

static void assert_permutation(const tsr_device_array *array) {
  bool *seen = calloc((size_t)array->count, sizeof *seen);
  for (int64_t i = 0; i < array->count; i++) {
    assert_in_range(array->ids[i], 0, array->count - 1);
    assert_false(seen[array->ids[i]]);
    seen[array->ids[i]] = true;
  }
  free(seen);
}

static void a_hundred_thousand_devices_are_arranged_once_each(void **state) {
  (void)state;
  tsr_device_array array = {0};
  const tsr_jax_mesh_options options = {
      .size = sizeof options, .allow_split_physical_axes = true, .process_is_granule = true};
  tsr_topology *torus = parsed_topology("tpu-v4:50x40x50:order=shuffled");
  assert_ok(tsr_jax_create_device_mesh(torus, SHAPE(125, 32, 25), 3, &options, &array, NULL));
  assert_permutation(&array);
  tsr_device_array_deinit(&array);
  tsr_topology_release(torus);
  tsr_topology *hosts = parsed_topology("gpu:12500x8:order=shuffled");
  assert_ok(
      tsr_jax_create_hybrid_device_mesh(hosts, SHAPE(2, 4), SHAPE(125, 100), 2, &options, &array));
  assert_int_equal(array.dims[0], 250);
  assert_int_equal(array.dims[1], 400);
  assert_permutation(&array);
  tsr_device_array_deinit(&array);
  tsr_topology_release(hosts);
}

// ---- memory ----

static tsr_status split_and_fail(void *context) {
  const tsr_topology *topology = context;
  tsr_device_array array = {0};
  tsr_status status = tsr_jax_create_device_mesh(topology, SHAPE(2, 32), 2, NULL, &array, NULL);
  if (tsr_status_cause(status) != TSR_CAUSE_NO_AXIS_ASSIGNMENT) return status;
  tsr_status_free(status);
  const tsr_jax_mesh_options options = {.size = sizeof options, .allow_split_physical_axes = true};
  TSR_TRY(tsr_jax_create_device_mesh(topology, SHAPE(2, 32), 2, &options, &array, NULL));
  tsr_device_array_deinit(&array);
  return NULL;
}

static tsr_status make_hybrid(void *context) {
  tsr_device_array array = {0};
  const tsr_jax_mesh_options options = {.size = sizeof options, .process_is_granule = true};
  TSR_TRY(
      tsr_jax_create_hybrid_device_mesh(context, SHAPE(2, 2), SHAPE(4, 4), 2, &options, &array));
  tsr_device_array_deinit(&array);
  return NULL;
}

static tsr_status make_in_a_box(void *context) {
  const tsr_axis axes[] = {{"x", 2, TSR_AXIS_AUTO}, {"y", 8, TSR_AXIS_AUTO}};
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_jax_make_mesh_in_box(context, axes, 2, false, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  tsr_topology *cube = parsed_topology("tpu-v4:4x4x4");
  test_allocation_sweep(split_and_fail, cube);
  test_allocation_sweep(make_hybrid, cube);
  test_allocation_sweep(make_in_a_box, cube);
  tsr_topology_release(cube);
}

SUITE(jax_mesh, TEST(failures_say_what_is_wrong), TEST(holes_and_missing_places_are_refused),
      TEST(devices_sit_where_the_reason_says), TEST(contiguous_submeshes_leave_each_host_a_box),
      TEST(a_mesh_without_axes_holds_one_device), TEST(options_may_be_older_than_the_library),
      TEST(granules_become_blocks), TEST(hybrid_failures_name_the_granule),
      TEST(meshes_take_the_first_devices), TEST(meshes_that_cannot_be_made),
      TEST(types_are_kept_when_given), TEST(a_hundred_thousand_devices_are_arranged_once_each),
      TEST(running_out_of_memory_is_reported))
