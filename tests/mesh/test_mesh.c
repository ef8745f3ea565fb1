#include "tessera/mesh.h"

#include <stdlib.h>

#include "mesh/machines.h"
#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/mesh.h"

static const tsr_axis data4_model2[] = {{"data", 4, TSR_AXIS_AUTO}, {"model", 2, TSR_AXIS_AUTO}};

static void meshes_have_axes_and_positions(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("data=4,model=2", NULL);
  assert_int_equal(tsr_mesh_axis_count(mesh), 2);
  assert_string_equal(tsr_mesh_axis_at(mesh, 0)->name, "data");
  assert_int_equal(tsr_mesh_axis_at(mesh, 1)->size, 2);
  assert_int_equal(tsr_mesh_axis_find(mesh, "model"), 1);
  assert_int_equal(tsr_mesh_axis_find(mesh, "modle"), -1);
  assert_int_equal(tsr_mesh_device_count(mesh), 8);
  assert_int_equal(tsr_mesh_device_at(mesh, 5), 5);
  assert_int_equal(tsr_mesh_device_find(mesh, 5), 5);
  assert_int_equal(tsr_mesh_device_find(mesh, 8), -1);
  assert_int_equal(tsr_mesh_device_find(mesh, -1), -1);
  assert_int_equal(tsr_mesh_device_find(mesh, (INT64_C(1) << 32) + 5), -1);
  assert_null(tsr_mesh_device_list(mesh));
  assert_null(tsr_mesh_topology(mesh));
  assert_int_equal(tsr_mesh_process(mesh, 7), 0);
  assert_int_equal(tsr_mesh_process_count(mesh), 1);
  tsr_mesh_release(mesh);
  tsr_mesh_release(NULL);
}

static void a_mesh_without_axes_is_one_device(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("", NULL);
  assert_int_equal(tsr_mesh_device_count(mesh), 1);
  assert_int_equal(tsr_mesh_position(mesh, NULL), 0);
  tsr_mesh_release(mesh);
}

static void bad_axes_are_refused(void **state) {
  (void)state;
  // clang-format off
  const struct {
    tsr_axis axes[2];
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{{"a", 2, 0}, {"a", 4, 0}}, TSR_CAUSE_DUPLICATE_AXIS_NAME,
       "axis name \"a\" is given twice, to axes 0 and 1"},
      {{{"a", 2, 0}, {NULL, 4, 0}}, TSR_CAUSE_MESH_AXIS_NAME_NONE,
       "axis 1 of the mesh has no name"},
      {{{"a", 2, 0}, {"\xff", 4, 0}}, TSR_CAUSE_BAD_ARGUMENT, "the name of axis 1 is not UTF-8"},
      {{{"a", 2, 0}, {"b", 4, (tsr_axis_type)3}}, TSR_CAUSE_UNKNOWN_AXIS_TYPE,
       "axis \"b\" has type 3, wanted auto, explicit or manual"},
      {{{"a", 2, 0}, {"b", 0, 0}}, TSR_CAUSE_BAD_AXIS_SIZE,
       "axis \"b\" has size 0, wanted 1 or more"},
      {{{"a", -3, 0}, {"b", 1, 0}}, TSR_CAUSE_BAD_AXIS_SIZE,
       "axis \"a\" has size -3, wanted 1 or more"},
      {{{"a", 2, 0}, {"b", -1, 0}}, TSR_CAUSE_BAD_AXIS_SIZE,
       "axis \"b\" has size -1, but the number of devices is not known"},
      {{{"a", INT64_MAX, 0}, {"b", 2, 0}}, TSR_CAUSE_OVERFLOW,
       "the sizes of the mesh's axes multiply to more than 2^63"},
      {{{"a", 65536, 0}, {"b", 65536, 0}}, TSR_CAUSE_TOO_LARGE,
       "a mesh of 4294967296 devices; at most 2147483647 are possible"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_mesh_desc desc = {.size = sizeof desc, .axes = cases[i].axes, .axis_count = 2};
    tsr_mesh *mesh = NULL;
    test_assert_fails(tsr_mesh_create(&desc, &mesh), cases[i].cause, cases[i].message, __FILE__,
                      __LINE__);
    assert_null(mesh);
  }
}

static void a_mesh_has_at_most_16_axes(void **state) {
  (void)state;
  tsr_axis axes[TSR_MAX_AXES + 1];
  char names[TSR_MAX_AXES + 1][2];
  for (int i = 0; i <= TSR_MAX_AXES; i++) {
    names[i][0] = (char)('a' + i);
    names[i][1] = '\0';
    axes[i] = (tsr_axis){names[i], 2, TSR_AXIS_AUTO};
  }
  tsr_mesh_desc desc = {.size = sizeof desc, .axes = axes, .axis_count = TSR_MAX_AXES + 1};
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_create(&desc, &mesh), TOO_LARGE,
               "a mesh of 17 axes; at most 16 are possible");
  desc.axis_count = -1;
  assert_fails(tsr_mesh_create(&desc, &mesh), BAD_ARGUMENT, "-1 axes, wanted 0 or more");
  desc.axis_count = TSR_MAX_AXES;
  assert_ok(tsr_mesh_create(&desc, &mesh));
  assert_int_equal(tsr_mesh_device_count(mesh), 65536);
  tsr_mesh_release(mesh);
}

static void device_lists_are_checked(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("cpu:2x4");
  // clang-format off
  const struct {
    int64_t ids[8];
    int64_t count;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{0, 1, 2, 3, 4, 5, 2, 7}, 8, TSR_CAUSE_DUPLICATE_DEVICE,
       "device 2 is given twice, at positions 2 and 6"},
      {{0, 1, 2, 3, 4, 5, 6, 9}, 8, TSR_CAUSE_UNKNOWN_DEVICE,
       "device 9 at position 7 is not in the topology (cpu, 8 devices)"},
      {{0, 1, 2, 3, 4, -5, 6, 9}, 8, TSR_CAUSE_UNKNOWN_DEVICE,
       "device -5 at position 5; ids are 0 to 2147483647"},
      {{0, 1, 2, 3, 4, 5, 6, INT64_C(1) << 32}, 8, TSR_CAUSE_UNKNOWN_DEVICE,
       "device 4294967296 at position 7; ids are 0 to 2147483647"},
      {{0, 1, 2, 3, 4, 5}, 6, TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT,
       "{data=4, model=2} does not make 6 devices; {data=3, model=2}, {data=6, model=1} or "
       "{data=2, model=3} would fit"},
      {{0}, 0, TSR_CAUSE_BAD_ARGUMENT, "a list of devices without its length"},
      {{0}, -2, TSR_CAUSE_BAD_ARGUMENT, "a mesh of -2 devices, wanted 1 or more"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_mesh_desc desc = {.size = sizeof desc,
                                .axes = data4_model2,
                                .axis_count = 2,
                                .devices = cases[i].ids,
                                .device_count = cases[i].count,
                                .topology = topology};
    tsr_mesh *mesh = NULL;
    test_assert_fails(tsr_mesh_create(&desc, &mesh), cases[i].cause, cases[i].message, __FILE__,
                      __LINE__);
    assert_null(mesh);
  }
  tsr_topology_release(topology);
}

static void descriptions_tell_their_size(void **state) {
  (void)state;
  const tsr_mesh_desc desc = {.axes = data4_model2, .axis_count = 2};
  tsr_mesh *mesh = NULL;
  assert_fails_with(tsr_mesh_create(&desc, &mesh), BAD_ARGUMENT, "tsr_mesh_desc has size 0");
}

static void abstract_meshes_have_no_devices(void **state) {
  (void)state;
  const int64_t ids[8] = {1, 0, 2, 3, 4, 5, 6, 7};
  tsr_mesh_desc desc = {.size = sizeof desc,
                        .axes = data4_model2,
                        .axis_count = 2,
                        .devices = ids,
                        .device_count = 8,
                        .abstract = true};
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_create(&desc, &mesh), BAD_ARGUMENT,
               "an abstract mesh has no devices, but 8 are given");
  const tsr_axis huge[] = {{"a", INT64_C(1) << 40, TSR_AXIS_AUTO}};
  desc = (tsr_mesh_desc){.size = sizeof desc, .axes = huge, .axis_count = 1, .abstract = true};
  assert_ok(tsr_mesh_create(&desc, &mesh));
  assert_true(tsr_mesh_is_abstract(mesh));
  assert_true(tsr_mesh_device_count(mesh) == INT64_C(1) << 40);
  tsr_mesh_release(mesh);
}

static void processes_come_from_the_topology(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("cpu:3x4");
  tsr_mesh *mesh = parsed_mesh("x=2,y=2 devices=[9,0,1,5]", topology);
  assert_ptr_equal(tsr_mesh_topology(mesh), topology);
  assert_int_equal(tsr_mesh_process(mesh, 0), 2);
  assert_int_equal(tsr_mesh_process(mesh, 1), 0);
  assert_int_equal(tsr_mesh_process(mesh, 3), 1);
  assert_int_equal(tsr_mesh_process_count(mesh), 3);
  tsr_mesh_release(mesh);
  mesh = parsed_mesh("x=2 devices=[5,6]", topology);
  assert_int_equal(tsr_mesh_process_count(mesh), 2);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void equal_meshes_and_only_they_hash_alike(void **state) {
  (void)state;
  static const char *const texts[] = {"a=2,b=4",
                                      "a=4,b=2",
                                      "a=8",
                                      "b=8",
                                      "a=2,c=4",
                                      "a=2,b=4:explicit",
                                      "a=2,b=4 abstract",
                                      "a=2,b=4 devices=[1,0,2,3,4,5,6,7]",
                                      "a=2,b=4 devices=[2,1,0,3,4,5,6,7]",
                                      ""};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    tsr_mesh *a = parsed_mesh(texts[i], NULL);
    for (size_t j = 0; j < COUNT_OF(texts); j++) {
      tsr_mesh *b = parsed_mesh(texts[j], NULL);
      assert_int_equal(tsr_mesh_equal(a, b), i == j);
      assert_int_equal(tsr_mesh_digest(a).low == tsr_mesh_digest(b).low, i == j);
      tsr_mesh_release(b);
    }
    tsr_mesh *same = tsr_mesh_retain(a);
    tsr_mesh_release(a);
    assert_true(tsr_mesh_equal(same, same));
    tsr_mesh_release(same);
  }
}

static void coordinates_and_positions_are_inverse(void **state) {
  (void)state;
  test_random random = {1};
  for (int round = 0; round < 300; round++) {
    tsr_mesh *mesh = random_mesh(&random, 6, 500);
    int64_t coords[TSR_MAX_AXES];
    for (int64_t position = 0; position < tsr_mesh_device_count(mesh); position++) {
      tsr_mesh_coords(mesh, position, coords);
      for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
        assert_in_range(coords[i], 0, tsr_mesh_axis_at(mesh, i)->size - 1);
      assert_int_equal(tsr_mesh_position(mesh, coords), position);
      assert_int_equal(tsr_mesh_device_find(mesh, tsr_mesh_device_at(mesh, position)), position);
    }
    assert_int_equal(tsr_mesh_device_find(mesh, 1000000), -1);
    tsr_mesh_release(mesh);
  }
}

static void a_hundred_thousand_devices_are_ordinary(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  int64_t *ids = malloc(sizeof *ids * COUNT);
  for (int i = 0; i < COUNT; i++) ids[i] = (COUNT - 1 - i) * 20011;
  const tsr_axis axes[] = {{"x", -1, TSR_AXIS_AUTO}, {"y", 100, TSR_AXIS_AUTO}};
  const tsr_mesh_desc desc = {
      .size = sizeof desc, .axes = axes, .axis_count = 2, .devices = ids, .device_count = COUNT};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(&desc, &mesh));
  assert_int_equal(tsr_mesh_axis_at(mesh, 0)->size, 1000);
  for (int i = 0; i < COUNT; i += 997) assert_int_equal(tsr_mesh_device_find(mesh, ids[i]), i);
  tsr_mesh_release(mesh);
  free(ids);
}

static tsr_status create_listed(void *context) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_mesh_create(context, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void creating_survives_running_out_of_memory(void **state) {
  (void)state;
  const int64_t ids[] = {7, 6, 5, 4, 3, 2, 1, 0};
  tsr_topology *topology = parsed_topology("cpu:2x4");
  tsr_mesh_desc desc = {.size = sizeof desc,
                        .axes = data4_model2,
                        .axis_count = 2,
                        .devices = ids,
                        .device_count = 8,
                        .topology = topology};
  test_allocation_sweep(create_listed, &desc);
  tsr_topology_release(topology);
}

// The message needs memory of its own; without it, that is the failure.
static tsr_status fail_to_create(void *context) {
  tsr_mesh *mesh = NULL;
  tsr_status status = tsr_mesh_create(context, &mesh);
  if (tsr_status_cause(status) != TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT) return status;
  tsr_status_free(status);
  return NULL;
}

static void messages_survive_running_out_of_memory(void **state) {
  (void)state;
  tsr_mesh_desc desc = {
      .size = sizeof desc, .axes = data4_model2, .axis_count = 2, .device_count = 6};
  test_allocation_sweep(fail_to_create, &desc);
}

SUITE(mesh, TEST(meshes_have_axes_and_positions), TEST(a_mesh_without_axes_is_one_device),
      TEST(bad_axes_are_refused), TEST(a_mesh_has_at_most_16_axes), TEST(device_lists_are_checked),
      TEST(descriptions_tell_their_size), TEST(abstract_meshes_have_no_devices),
      TEST(processes_come_from_the_topology), TEST(equal_meshes_and_only_they_hash_alike),
      TEST(coordinates_and_positions_are_inverse), TEST(a_hundred_thousand_devices_are_ordinary),
      TEST(creating_survives_running_out_of_memory), TEST(messages_survive_running_out_of_memory))
