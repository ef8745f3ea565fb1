#include <string.h>

#include "mesh/machines.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/mesh.h"
#include "tessera/mesh.h"

// Runs `call`, which writes to `made`, and expects this text of the result.
#define assert_makes(call, text)      \
  do {                                \
    tsr_mesh *made = NULL;            \
    assert_ok(call);                  \
    assert_mesh_prints(made, (text)); \
    tsr_mesh_release(made);           \
  } while (0)

static void slices_keep_one_coordinate(void **state) {
  (void)state;
  tsr_mesh *whole = parsed_mesh("a=2,b=3:manual,c=2", NULL);
  assert_makes(tsr_mesh_slice(whole, "a", 1, &made), "b=3:manual,c=2 devices=[6,7,8,9,10,11]");
  assert_makes(tsr_mesh_slice(whole, "b", 2, &made), "a=2,c=2 devices=[4,5,10,11]");
  assert_makes(tsr_mesh_slice(whole, "c", 0, &made), "a=2,b=3:manual devices=[0,2,4,6,8,10]");
  assert_makes(tsr_mesh_slice(whole, "a", 0, &made), "b=3:manual,c=2");
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_slice(whole, "b", 3, &mesh), INDEX_OUT_OF_RANGE,
               "index 3 of axis \"b\", whose size is 3");
  assert_fails(tsr_mesh_slice(whole, "b", -1, &mesh), INDEX_OUT_OF_RANGE,
               "index -1 of axis \"b\", whose size is 3");
  assert_fails(tsr_mesh_slice(whole, "x", 0, &mesh), UNKNOWN_MESH_AXIS,
               "axis \"x\" is not in mesh {a=2, b=3:manual, c=2}");
  tsr_mesh_release(whole);
  tsr_mesh *one = parsed_mesh("a=3 devices=[5,6,7]", NULL);
  assert_makes(tsr_mesh_slice(one, "a", 2, &made), "devices=[7]");
  tsr_mesh_release(one);
}

static void neighbours_are_flattened(void **state) {
  (void)state;
  tsr_mesh *whole = parsed_mesh("a=2,b=3,c=2:explicit devices=[11,10,9,8,7,6,5,4,3,2,1,0]", NULL);
  const char *const ab[] = {"a", "b"}, *const ba[] = {"b", "a"}, *const bc[] = {"b", "c"};
  const char *const ac[] = {"a", "c"}, *const ax[] = {"a", "x"};
  assert_makes(tsr_mesh_flatten(whole, ab, 2, "d", &made),
               "d=6,c=2:explicit devices=[11,10,9,8,7,6,5,4,3,2,1,0]");
  assert_makes(tsr_mesh_flatten(whole, ab, 1, "z", &made),
               "z=2,b=3,c=2:explicit devices=[11,10,9,8,7,6,5,4,3,2,1,0]");
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_flatten(whole, ba, 2, "d", &mesh), BAD_ARGUMENT,
               "axis \"a\" does not follow \"b\" in the mesh; transpose first");
  assert_fails(tsr_mesh_flatten(whole, ac, 2, "d", &mesh), BAD_ARGUMENT,
               "axis \"c\" does not follow \"a\" in the mesh; transpose first");
  assert_fails(tsr_mesh_flatten(whole, bc, 2, "d", &mesh), BAD_ARGUMENT,
               "axes \"b\" (auto) and \"c\" (explicit) differ in type");
  assert_fails(tsr_mesh_flatten(whole, ax, 2, "d", &mesh), UNKNOWN_MESH_AXIS,
               "axis \"x\" is not in mesh {a=2, b=3, c=2:explicit}");
  assert_fails(tsr_mesh_flatten(whole, NULL, 0, "d", &mesh), BAD_ARGUMENT, "no axes to flatten");
  assert_fails(tsr_mesh_flatten(whole, ab, 2, "c", &mesh), DUPLICATE_AXIS_NAME,
               "axis name \"c\" is given twice, to axes 0 and 1");
  tsr_mesh_release(whole);
}

static void transposing_keeps_coordinates_by_name(void **state) {
  (void)state;
  tsr_mesh *whole = parsed_mesh("a=2,b=3", NULL);
  const char *const ba[] = {"b", "a"}, *const bb[] = {"b", "b"}, *const bx[] = {"b", "x"};
  assert_makes(tsr_mesh_transpose(whole, ba, 2, &made), "b=3,a=2 devices=[0,3,1,4,2,5]");
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_transpose(whole, bb, 2, &mesh), DUPLICATE_AXIS_NAME,
               "axis name \"b\" is given twice");
  assert_fails(tsr_mesh_transpose(whole, bx, 2, &mesh), UNKNOWN_MESH_AXIS,
               "axis \"x\" is not in mesh {a=2, b=3}");
  assert_fails(tsr_mesh_transpose(whole, ba, 1, &mesh), BAD_ARGUMENT,
               "an order of 1 axes for a mesh of 2");
  tsr_mesh_release(whole);
}

static void types_and_devices_are_exchanged(void **state) {
  (void)state;
  tsr_mesh *whole = parsed_mesh("a=2,b=2 devices=[3,2,1,0]", NULL);
  const tsr_axis_type types[] = {TSR_AXIS_EXPLICIT, TSR_AXIS_MANUAL};
  assert_makes(tsr_mesh_with_types(whole, types, 2, &made),
               "a=2:explicit,b=2:manual devices=[3,2,1,0]");
  assert_makes(tsr_mesh_with_types(whole, types, 1, &made),
               "a=2:explicit,b=2:explicit devices=[3,2,1,0]");
  assert_makes(tsr_mesh_abstract(whole, &made), "a=2,b=2 abstract");
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_with_types(whole, types, 3, &mesh), MESH_AXIS_TYPES_MISMATCH,
               "3 axis types for 2 axes");
  tsr_mesh_release(whole);
  tsr_mesh *empty = parsed_mesh("a=4,b=2 abstract", NULL);
  const char *const ba[] = {"b", "a"};
  assert_makes(tsr_mesh_transpose(empty, ba, 2, &made), "b=2,a=4 abstract");
  assert_makes(tsr_mesh_slice(empty, "a", 3, &made), "b=2 abstract");
  assert_makes(tsr_mesh_flatten(empty, (const char *const[]){"a", "b"}, 2, "c", &made),
               "c=8 abstract");
  tsr_mesh_release(empty);
}

// A random permutation of the mesh's axes, by name.
static void shuffle_axes(test_random *random, const tsr_mesh *mesh, const char **names) {
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    const int64_t j = test_random_range(random, 0, i);
    names[i] = names[j];
    names[j] = tsr_mesh_axis_at(mesh, i)->name;
  }
}

static void transposing_back_is_the_identity(void **state) {
  (void)state;
  test_random random = {3};
  for (int round = 0; round < 2000; round++) {
    tsr_mesh *mesh = random_mesh(&random, 5, 300), *turned = NULL, *back = NULL;
    const int count = tsr_mesh_axis_count(mesh);
    const char *names[TSR_MAX_AXES], *old[TSR_MAX_AXES];
    shuffle_axes(&random, mesh, names);
    for (int i = 0; i < count; i++) old[i] = tsr_mesh_axis_at(mesh, i)->name;
    assert_ok(tsr_mesh_transpose(mesh, names, count, &turned));
    for (int64_t p = 0; p < tsr_mesh_device_count(mesh); p++) {
      int64_t coords[TSR_MAX_AXES], moved[TSR_MAX_AXES];
      tsr_mesh_coords(mesh, p, coords);
      for (int i = 0; i < count; i++) moved[i] = coords[tsr_mesh_axis_find(mesh, names[i])];
      assert_int_equal(tsr_mesh_device_at(turned, tsr_mesh_position(turned, moved)),
                       tsr_mesh_device_at(mesh, p));
    }
    assert_ok(tsr_mesh_transpose(turned, old, count, &back));
    assert_true(tsr_mesh_equal(mesh, back));
    tsr_mesh_release(mesh);
    tsr_mesh_release(turned);
    tsr_mesh_release(back);
  }
}

static void flattening_keeps_the_order_of_devices(void **state) {
  (void)state;
  test_random random = {4};
  for (int round = 0; round < 2000; round++) {
    const tsr_axis_type same = TSR_AXIS_EXPLICIT;
    tsr_mesh *any = random_mesh(&random, 6, 300), *mesh = NULL, *flat = NULL, *back = NULL;
    assert_ok(tsr_mesh_with_types(any, &same, 1, &mesh));
    const int count = tsr_mesh_axis_count(mesh);
    const int first = count ? (int)test_random_range(&random, 0, count - 1) : 0;
    const int length = count ? (int)test_random_range(&random, 1, count - first) : 0;
    if (length) {
      const char *names[TSR_MAX_AXES];
      tsr_axis axes[TSR_MAX_AXES];
      for (int i = 0; i < count; i++) axes[i] = *tsr_mesh_axis_at(mesh, i);
      for (int i = 0; i < length; i++) names[i] = axes[first + i].name;
      assert_ok(tsr_mesh_flatten(mesh, names, length, "flat", &flat));
      assert_int_equal(tsr_mesh_axis_count(flat), count - length + 1);
      const tsr_mesh_desc desc = {.size = sizeof desc,
                                  .axes = axes,
                                  .axis_count = count,
                                  .devices = tsr_mesh_device_list(flat),
                                  .device_count = tsr_mesh_device_count(flat),
                                  .topology = tsr_mesh_topology(flat)};
      assert_ok(tsr_mesh_create(&desc, &back));
      assert_true(tsr_mesh_equal(mesh, back));
    }
    tsr_mesh_release(any);
    tsr_mesh_release(mesh);
    tsr_mesh_release(flat);
    tsr_mesh_release(back);
  }
}

// ---- the devices of a process ----

// Whether `process` drives exactly the devices between two corners (both included).
static bool is_box(const tsr_mesh *mesh, int64_t process, const int64_t *low, const int64_t *high) {
  for (int64_t p = 0; p < tsr_mesh_device_count(mesh); p++) {
    int64_t coords[TSR_MAX_AXES];
    bool inside = true;
    tsr_mesh_coords(mesh, p, coords);
    for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
      inside = inside && coords[i] >= low[i] && coords[i] <= high[i];
    if (inside != (tsr_mesh_process(mesh, p) == process)) return false;
  }
  return true;
}

// Tries all boxes of a mesh with two axes.
static bool find_box(const tsr_mesh *mesh, int64_t process, int64_t *low, int64_t *sizes) {
  const int64_t rows = tsr_mesh_axis_at(mesh, 0)->size, columns = tsr_mesh_axis_at(mesh, 1)->size;
  for (int64_t corner = 0; corner < rows * columns; corner++)
    for (int64_t other = corner; other < rows * columns; other++) {
      const int64_t from[] = {corner / columns, corner % columns};
      const int64_t to[] = {other / columns, other % columns};
      if (to[0] < from[0] || to[1] < from[1] || !is_box(mesh, process, from, to)) continue;
      memcpy(low, from, sizeof from);
      sizes[0] = to[0] - from[0] + 1;
      sizes[1] = to[1] - from[1] + 1;
      return true;
    }
  return false;
}

static void local_boxes_agree_with_trying_all(void **state) {
  (void)state;
  test_random random = {5};
  int boxes = 0;
  for (int round = 0; round < 200; round++) {
    // Two devices a process; few swaps leave some boxes, many leave none.
    int64_t ids[12];
    for (int i = 0; i < 12; i++) ids[i] = i;
    tsr_topology *topology = listed_topology(ids, 12);
    for (int64_t swaps = test_random_range(&random, 0, 6); swaps > 0; swaps--) {
      const int64_t a = test_random_range(&random, 0, 11), b = test_random_range(&random, 0, 11);
      const int64_t kept = ids[a];
      ids[a] = ids[b];
      ids[b] = kept;
    }
    const int64_t rows = (int64_t[]){1, 2, 3, 4, 6, 12}[test_random_range(&random, 0, 5)];
    const tsr_axis axes[] = {{"a", rows, TSR_AXIS_AUTO}, {"b", 12 / rows, TSR_AXIS_AUTO}};
    const tsr_mesh_desc desc = {.size = sizeof desc,
                                .axes = axes,
                                .axis_count = 2,
                                .devices = ids,
                                .device_count = 12,
                                .topology = topology};
    tsr_mesh *mesh = NULL;
    assert_ok(tsr_mesh_create(&desc, &mesh));
    for (int64_t process = 0; process < 6; process++) {
      int64_t low[2], sizes[2], true_low[2], true_sizes[2];
      tsr_status status = tsr_mesh_local_box(mesh, process, low, sizes);
      const bool exists = find_box(mesh, process, true_low, true_sizes);
      assert_int_equal(status == NULL, exists);
      if (status) {
        assert_int_equal(tsr_status_cause(status), TSR_CAUSE_LOCAL_DEVICES_NOT_A_SUBCUBE);
        tsr_status_free(status);
        continue;
      }
      boxes++;
      assert_memory_equal(low, true_low, sizeof low);
      assert_memory_equal(sizes, true_sizes, sizeof sizes);
      tsr_mesh *local = NULL;
      assert_ok(tsr_mesh_local(mesh, process, &local));
      assert_int_equal(tsr_mesh_device_count(local), 2);
      assert_int_equal(tsr_mesh_axis_at(local, 0)->size, sizes[0]);
      for (int64_t p = 0; p < 2; p++) assert_int_equal(tsr_mesh_process(local, p), process);
      assert_int_equal(tsr_mesh_device_at(local, 0),
                       tsr_mesh_device_at(mesh, tsr_mesh_position(mesh, low)));
      tsr_mesh_release(local);
    }
    tsr_mesh_release(mesh);
    tsr_topology_release(topology);
  }
  assert_in_range(boxes, 200, 1000);
}

static void local_meshes_say_why_not(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("cpu:2x4");
  tsr_mesh *mesh = parsed_mesh("a=2,b=4 devices=[0,4,1,5,2,6,3,7]", topology), *local = NULL;
  assert_fails(tsr_mesh_local(mesh, 0, &local), LOCAL_DEVICES_NOT_A_SUBCUBE,
               "process 0 drives 4 devices, but the smallest box around them holds 6");
  assert_fails(tsr_mesh_local(mesh, 2, &local), PROCESS_NOT_IN_MESH,
               "process 2 drives no device of the mesh");
  tsr_mesh_release(mesh);
  mesh = parsed_mesh("a=4,b=2:manual devices=[0,4,1,5,2,6,3,7]", topology);
  assert_ok(tsr_mesh_local(mesh, 1, &local));
  assert_mesh_prints(local, "a=4,b=1:manual devices=[4,5,6,7]");
  assert_ptr_equal(tsr_mesh_topology(local), topology);
  tsr_mesh_release(local);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

// ---- queries ----

static void sizes_and_indices_over_axes(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("a=2,b=3,c=4", NULL);
  const char *const ca[] = {"c", "a", "c"};
  int64_t size = 0, index = 0;
  assert_ok(tsr_mesh_axes_size(mesh, NULL, 0, &size));
  assert_int_equal(size, 1);
  assert_ok(tsr_mesh_axes_size(mesh, ca, 2, &size));
  assert_int_equal(size, 8);
  assert_ok(tsr_mesh_axes_size(mesh, ca, 3, &size));
  assert_int_equal(size, 32);
  assert_ok(tsr_mesh_axes_index(mesh, 23, NULL, 0, &index));
  assert_int_equal(index, 0);
  for (int64_t p = 0; p < 24; p++) {
    assert_ok(tsr_mesh_axes_index(mesh, p, ca, 2, &index));
    assert_int_equal(index, p % 4 * 2 + p / 12);
    assert_ok(tsr_mesh_axes_index(mesh, p, ca, 3, &index));
    assert_int_equal(index, (p % 4 * 2 + p / 12) * 4 + p % 4);
  }
  const char *const wrong = "cc";
  assert_fails(tsr_mesh_axes_size(mesh, &wrong, 1, &size), UNKNOWN_MESH_AXIS,
               "axis \"cc\" is not in mesh {a=2, b=3, c=4}; did you mean \"c\"?");
  assert_fails(tsr_mesh_axes_index(mesh, 0, &wrong, 1, &size), UNKNOWN_MESH_AXIS,
               "axis \"cc\" is not in mesh {a=2, b=3, c=4}; did you mean \"c\"?");
  assert_fails(tsr_mesh_axes_index(mesh, 24, ca, 1, &index), INDEX_OUT_OF_RANGE,
               "position 24 in a mesh of 24 devices");
  tsr_mesh_release(mesh);
  mesh = parsed_mesh("a=4611686018427387904 abstract", NULL);
  const char *const aa[] = {"a", "a"};
  assert_fails(tsr_mesh_axes_size(mesh, aa, 2, &size), OVERFLOW,
               "the sizes of 2 axes multiply to more than 2^63");
  tsr_mesh_release(mesh);
}

static void the_current_mesh_is_a_scope(void **state) {
  (void)state;
  tsr_mesh *outer = parsed_mesh("a=2,b=2", NULL), *inner = parsed_mesh("c=4", NULL);
  const char *const ab[] = {"a", "b"};
  const tsr_mesh *found = NULL;
  tsr_scope first = 0, second = 0;
  assert_null(tsr_mesh_current());
  assert_true(tsr_mesh_current_has(NULL, 0));
  assert_false(tsr_mesh_current_has(ab, 1));
  assert_fails(tsr_mesh_require(&found), NO_MESH_ACTIVE,
               "no mesh is active; enter one with tsr_mesh_enter");
  assert_ok(tsr_mesh_enter(outer, &first));
  assert_ok(tsr_mesh_enter(inner, &second));
  tsr_mesh_release(outer);
  tsr_mesh_release(inner);
  assert_ok(tsr_mesh_require(&found));
  assert_ptr_equal(found, inner);
  assert_false(tsr_mesh_current_has(ab, 2));
  tsr_scope_leave(second);
  assert_ptr_equal(tsr_mesh_current(), outer);
  assert_true(tsr_mesh_current_has(ab, 2));
  tsr_scope_leave(first);
  assert_null(tsr_mesh_current());
}

static tsr_status derive_all(void *context) {
  tsr_mesh *made = NULL;
  TSR_TRY(tsr_mesh_slice(context, "a", 1, &made));
  tsr_mesh_release(made);
  TSR_TRY(tsr_mesh_transpose(context, (const char *const[]){"b", "a"}, 2, &made));
  tsr_mesh_release(made);
  TSR_TRY(tsr_mesh_flatten(context, (const char *const[]){"a", "b"}, 2, "c", &made));
  tsr_mesh_release(made);
  TSR_TRY(tsr_mesh_local(context, 0, &made));
  tsr_mesh_release(made);
  return NULL;
}

static void deriving_survives_running_out_of_memory(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("cpu:2x2");
  tsr_mesh *mesh = parsed_mesh("a=2,b=2 devices=[1,0,3,2]", topology);
  test_allocation_sweep(derive_all, mesh);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

SUITE(derive, TEST(slices_keep_one_coordinate), TEST(neighbours_are_flattened),
      TEST(transposing_keeps_coordinates_by_name), TEST(types_and_devices_are_exchanged),
      TEST(transposing_back_is_the_identity), TEST(flattening_keeps_the_order_of_devices),
      TEST(local_boxes_agree_with_trying_all), TEST(local_meshes_say_why_not),
      TEST(sizes_and_indices_over_axes), TEST(the_current_mesh_is_a_scope),
      TEST(deriving_survives_running_out_of_memory))
