#include <string.h>

#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "support/layouts.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/spec.h"

enum { MAX_ELEMENTS = MAX_SIZE * MAX_SIZE * MAX_SIZE };

// ---- the oracle ----

// Which elements the devices of a process hold.
static void mark_held(const test_layout *made, int64_t process, bool *held) {
  memset(held, 0, MAX_ELEMENTS * sizeof *held);
  const int rank = made->shape.rank;
  for (int64_t p = 0; p < tsr_mesh_device_count(made->mesh); p++) {
    if (tsr_mesh_process(made->mesh, p) != process) continue;
    int64_t elements[MAX_DIMS][512], counts[MAX_DIMS] = {1, 1, 1}, at[MAX_DIMS];
    for (int d = 0; d < rank; d++)
      counts[d] = test_cut_elements(&made->cuts[d].cut, test_layout_index(made, d, p), elements[d]);
    for (at[0] = 0; at[0] < counts[0]; at[0]++)
      for (at[1] = 0; at[1] < counts[1]; at[1]++)
        for (at[2] = 0; at[2] < counts[2]; at[2]++) {
          int64_t flat = 0;
          for (int d = 0; d < rank; d++) flat = flat * made->shape.dims[d] + elements[d][at[d]];
          held[flat] = true;
        }
  }
}

static void check_hull(const test_layout *made, const tsr_layout *layout, int64_t process) {
  static bool held[MAX_ELEMENTS];
  mark_held(made, process, held);
  const int rank = made->shape.rank;
  int64_t total = 1, count = 0, volume = 1;
  tsr_range wanted[MAX_DIMS];
  for (int d = 0; d < rank; d++) {
    total *= made->shape.dims[d];
    wanted[d] = (tsr_range){INT64_MAX, 0};
  }
  for (int64_t i = 0; i < total; i++) {
    if (!held[i]) continue;
    count++;
    int64_t rest = i;
    for (int d = rank - 1; d >= 0; d--) {
      const int64_t at = rest % made->shape.dims[d];
      rest /= made->shape.dims[d];
      if (at < wanted[d].lo) wanted[d].lo = at;
      if (at >= wanted[d].hi) wanted[d].hi = at + 1;
    }
  }
  tsr_range hull[MAX_DIMS];
  bool filled = false;
  assert_ok(tsr_layout_process_hull(layout, process, hull, &filled));
  for (int d = 0; d < rank; d++) {
    if (count == 0) wanted[d].lo = wanted[d].hi = 0;
    assert_int_equal(hull[d].lo, wanted[d].lo);
    assert_int_equal(hull[d].hi, wanted[d].hi);
    volume *= wanted[d].hi - wanted[d].lo;
  }
  assert_int_equal(filled, count == volume);
}

// Which shards of a dimension a process has, as bits, and how many elements they have together.
static uint64_t dim_shards(const test_layout *made, int64_t process, int dim, int64_t *out_held) {
  uint64_t shards = 0;
  bool held[MAX_SIZE] = {false};
  for (int64_t p = 0; p < tsr_mesh_device_count(made->mesh); p++) {
    if (tsr_mesh_process(made->mesh, p) != process) continue;
    int64_t elements[512];
    const int64_t index = test_layout_index(made, dim, p);
    const int64_t count = test_cut_elements(&made->cuts[dim].cut, index, elements);
    for (int64_t i = 0; i < count; i++) held[elements[i]] = true;
    shards |= UINT64_C(1) << index;
  }
  *out_held = 0;
  for (int i = 0; i < MAX_SIZE; i++) *out_held += held[i];
  return shards;
}

static void check_dim(const test_layout *made, const tsr_layout *layout, int dim) {
  uint64_t sets[MAX_DEVICES] = {0}, distinct[MAX_DEVICES];
  const int64_t processes = tsr_mesh_process_count(made->mesh);
  int64_t ways = 0, found = -1;
  bool uniform = true;
  for (int i = 0; i < processes; i++) {
    int64_t wanted = 0, held = -1;
    sets[i] = dim_shards(made, i, dim, &wanted);
    assert_ok(tsr_layout_addressable(layout, i, dim, &held));
    assert_int_equal(held, wanted);
    bool known = false;
    for (int64_t j = 0; j < ways; j++) {
      known = known || distinct[j] == sets[i];
      if (distinct[j] != sets[i] && (distinct[j] & sets[i])) uniform = false;
    }
    if (!known) distinct[ways++] = sets[i];
    if (__builtin_popcountll(sets[i]) != __builtin_popcountll(sets[0])) uniform = false;
  }
  assert_ok(tsr_layout_process_shards(layout, dim, &found));
  assert_int_equal(found, uniform ? ways : 0);
}

static void processes_hold_what_their_devices_hold(void **state) {
  (void)state;
  test_random random = {37};
  for (int round = 0; round < 2000; round++) {
    test_layout made;
    test_layout_make(&random, round % 2, &made);
    tsr_layout *layout = NULL;
    assert_ok(tsr_layout_create(made.sharding, &made.shape, TSR_POLICY_UNEVEN, &layout));
    for (int d = 0; d < made.shape.rank; d++) check_dim(&made, layout, d);
    for (int i = 0; i < tsr_mesh_process_count(made.mesh); i++) check_hull(&made, layout, i);
    tsr_layout_release(layout);
    test_layout_free(&made);
  }
}

// ---- known answers ----

static tsr_layout *on_machine(const char *machine, const char *mesh, const char *spec,
                              const tsr_shape *shape) {
  tsr_topology *topology = NULL;
  tsr_mesh *made = NULL;
  tsr_spec *parsed = NULL;
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  assert_ok(tsr_topology_parse(machine, &topology));
  assert_ok(tsr_mesh_parse(mesh, topology, &made));
  assert_ok(tsr_spec_parse(spec, TSR_FORM_ANY, &parsed));
  assert_ok(tsr_sharding_bind(made, parsed, false, &sharding));
  assert_ok(tsr_layout_create(sharding, shape, TSR_POLICY_ERROR, &layout));
  tsr_sharding_release(sharding);
  tsr_spec_release(parsed);
  tsr_mesh_release(made);
  tsr_topology_release(topology);
  return layout;
}

static void processes_on_a_small_machine(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *spec; tsr_range hull[2]; bool filled; int64_t held[2], ways[2];
  } cases[] = {  // 4 processes with 2 devices each, as a=2, b=2, c=2; process 1 has a=0, b=1
    {"_, _", {{0, 8}, {0, 8}}, true, {8, 8}, {1, 1}},
    {"a+b+c, _", {{2, 4}, {0, 8}}, true, {2, 8}, {4, 1}},
    {"a+b, _", {{2, 4}, {0, 8}}, true, {2, 8}, {4, 1}},
    {"_, a+c", {{0, 8}, {0, 4}}, true, {8, 4}, {1, 2}},
    {"a+c, b", {{0, 4}, {4, 8}}, true, {4, 4}, {2, 2}},
    {"c+a, _", {{0, 6}, {0, 8}}, false, {4, 8}, {2, 1}},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout = on_machine("cpu:4x2", "a=2,b=2,c=2", cases[i].spec, TSR_SHAPE(8, 8));
    tsr_range hull[2];
    bool filled = false;
    assert_ok(tsr_layout_process_hull(layout, 1, hull, &filled));
    assert_memory_equal(hull, cases[i].hull, sizeof hull);
    assert_int_equal(filled, cases[i].filled);
    for (int d = 0; d < 2; d++) {
      int64_t held = 0, ways = 0;
      assert_ok(tsr_layout_addressable(layout, 1, d, &held));
      assert_ok(tsr_layout_process_shards(layout, d, &ways));
      assert_int_equal(held, cases[i].held[d]);
      assert_int_equal(ways, cases[i].ways[d]);
      assert_int_equal(held * ways, 8);
    }
    tsr_layout_release(layout);
  }
}

static void boxes_and_flat_ranges_have_hulls_too(void **state) {
  (void)state;
  static const tsr_range ranges[] = {{0, 6}, {6, 16}};
  static const tsr_range boxes[] = {{0, 2}, {0, 4}, {2, 4}, {0, 4}};
  tsr_range hull[2];
  bool filled = true;
  int64_t held = 0, ways = 0;
  tsr_layout *flat = NULL, *listed = NULL;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(4, 4), 2, ranges, &flat));
  assert_ok(tsr_layout_process_hull(flat, 0, hull, &filled));
  assert_memory_equal(hull, ((tsr_range[]){{0, 4}, {0, 4}}), sizeof hull);
  assert_true(filled);  // both shards are process 0's
  assert_ok(tsr_layout_process_shards(flat, 0, &ways));
  assert_int_equal(ways, 1);
  tsr_layout_release(flat);
  assert_ok(
      tsr_layout_from_boxes(NULL, TSR_SHAPE(4, 4), 2, (const int64_t[]){1, 1}, boxes, &listed));
  assert_ok(tsr_layout_addressable(listed, 0, 0, &held));
  assert_int_equal(held, 4);
  tsr_layout_release(listed);
}

static void part_of_a_flat_tensor_does_not_fill_its_hull(void **state) {
  (void)state;
  tsr_topology *machine = NULL;
  tsr_mesh *mesh = NULL;
  tsr_layout *flat = NULL;
  assert_ok(tsr_topology_parse("cpu:2x1", &machine));
  assert_ok(tsr_mesh_parse("x=2", machine, &mesh));
  static const tsr_range ranges[] = {{0, 6}, {6, 16}};
  assert_ok(tsr_layout_from_flat(mesh, TSR_SHAPE(4, 4), 2, ranges, &flat));
  tsr_range hull[2];
  bool filled = true;
  assert_ok(tsr_layout_process_hull(flat, 0, hull, &filled));
  assert_memory_equal(hull, ((tsr_range[]){{0, 2}, {0, 4}}), sizeof hull);
  assert_false(filled);
  tsr_layout_release(flat);
  tsr_mesh_release(mesh);
  tsr_topology_release(machine);
}

static void unknown_processes_and_dimensions_are_refused(void **state) {
  (void)state;
  tsr_layout *layout = on_machine("cpu:2x2", "x=4", "x", TSR_SHAPE(8));
  tsr_range hull[1];
  bool filled = false;
  int64_t count = 0;
  assert_fails(tsr_layout_process_hull(layout, 7, hull, &filled), PROCESS_NOT_IN_MESH,
               "process 7 has no device in the layout's mesh");
  assert_fails_with(tsr_layout_addressable(layout, -1, 0, &count), PROCESS_NOT_IN_MESH,
                    "process -1");
  assert_fails(tsr_layout_addressable(layout, 0, 1, &count), INDEX_OUT_OF_RANGE,
               "dimension 1 of a tensor of rank 1");
  assert_fails_with(tsr_layout_process_shards(layout, -1, &count), INDEX_OUT_OF_RANGE,
                    "dimension -1");
  tsr_layout_release(layout);
}

static tsr_status ask_processes(void *context) {
  const tsr_layout *layout = context;
  tsr_range hull[2];
  bool filled = false;
  int64_t count = 0;
  TSR_TRY(tsr_layout_process_hull(layout, 0, hull, &filled));
  TSR_TRY(tsr_layout_addressable(layout, 0, 0, &count));
  return tsr_layout_process_shards(layout, 0, &count);
}

static void asking_survives_failing_allocations(void **state) {
  (void)state;
  // The devices of a process are no product of rows and columns here.
  tsr_layout *layout =
      on_machine("cpu:2x3", "x=2,y=3 devices=[0,1,3,4,5,2]", "x/cyclic(1), y", TSR_SHAPE(4, 6));
  test_allocation_sweep(ask_processes, layout);
  tsr_layout_release(layout);
  static const tsr_range ranges[] = {{0, 6}, {6, 16}};
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(4, 4), 2, ranges, &layout));
  test_allocation_sweep(ask_processes, layout);
  tsr_layout_release(layout);
}

SUITE(process, TEST(processes_hold_what_their_devices_hold), TEST(processes_on_a_small_machine),
      TEST(boxes_and_flat_ranges_have_hulls_too),
      TEST(part_of_a_flat_tensor_does_not_fill_its_hull),
      TEST(unknown_processes_and_dimensions_are_refused), TEST(asking_survives_failing_allocations))
