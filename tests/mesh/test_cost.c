#include "base/text_internal.h"
#include "mesh/machines.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/topology.h"
#include "tessera/mesh.h"

static tsr_axis_cost cost_of(const tsr_mesh *mesh, int axis) {
  tsr_axis_cost cost;
  assert_ok(tsr_mesh_axis_cost(mesh, axis, &cost));
  return cost;
}

static double seconds_of(const tsr_mesh *mesh, tsr_collective op, const char *axis, int64_t bytes) {
  double seconds = -1;
  assert_ok(tsr_mesh_collective_cost(mesh, op, &axis, 1, bytes, &seconds));
  return seconds;
}

static void assert_near(double found, double wanted) {
  const double difference = found > wanted ? found - wanted : wanted - found;
  if (difference > 1e-9 * wanted + 1e-18) {
    print_error("found %.17g, wanted %.17g\n", found, wanted);
    fail();
  }
}

static void axes_cost_the_worst_level_they_cross(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *machine, *mesh;
    int axis;
    tsr_level level;
    bool ring;
    int hops;  // that the link is multiplied by
  } cases[] = {
      {"gpu:4x8",      "data=4,model=8",     0, TSR_LEVEL_NET,  false, 1},
      {"gpu:4x8",      "data=4,model=8",     1, TSR_LEVEL_HOST, true,  1},
      {"gpu:4x8",      "data=8,model=4",     0, TSR_LEVEL_NET,  false, 1},
      {"gpu:4x8",      "data=2,model=16",    1, TSR_LEVEL_NET,  false, 1},
      {"gpu:1x8",      "data=1,model=8",     0, TSR_LEVEL_SELF, false, 0},
      {"tpu-v3:4x4",   "data=16,model=2",    1, TSR_LEVEL_CHIP, true,  1},
      {"tpu-v4:4x4x4:hosts=1x1x1:wrap=xyz",  "a=4,b=4,c=4", 2, TSR_LEVEL_ICI, true,  1},
      {"tpu-v4:4x4x4:hosts=1x1x1:wrap=none", "a=4,b=4,c=4", 2, TSR_LEVEL_ICI, false, 1},
      {"tpu-v4:4x4x4:hosts=1x1x1:wrap=xyz",  "a=32,b=2,c=1", 1, TSR_LEVEL_ICI, false, 1},
      {"tpu-v4:4x4x4:hosts=1x1x1:wrap=xyz",  "a=16,b=2,c=2", 1, TSR_LEVEL_ICI, false, 2},
      {"tpu-v4:2x2x1:slices=2", "a=2,b=4",   0, TSR_LEVEL_NET,  false, 1},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = parsed_topology(cases[i].machine);
    tsr_mesh *mesh = parsed_mesh(cases[i].mesh, topology);
    const tsr_axis_cost cost = cost_of(mesh, cases[i].axis);
    const tsr_link *link = tsr_topology_link(topology, cases[i].level);
    const double ways = cases[i].level == TSR_LEVEL_ICI && cases[i].ring ? 2 : 1;
    assert_int_equal(cost.level, cases[i].level);
    assert_int_equal(cost.ring, cases[i].ring);
    assert_near(cost.link.alpha, cases[i].hops * link->alpha);
    assert_near(cost.link.beta, cases[i].hops * link->beta / ways);
    tsr_mesh_release(mesh);
    tsr_topology_release(topology);
  }
}

static void collectives_follow_the_ring_formulas(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("gpu:2x4");
  tsr_mesh *mesh = parsed_mesh("d=2,m=4", topology);
  const double n = 4, v = 1e6, a = cost_of(mesh, 1).link.alpha, b = cost_of(mesh, 1).link.beta;
  assert_near(seconds_of(mesh, TSR_COLLECTIVE_ALL_GATHER, "m", 1000000),
              (n - 1) * a + (n - 1) * v * b);
  assert_near(seconds_of(mesh, TSR_COLLECTIVE_REDUCE_SCATTER, "m", 1000000),
              (n - 1) * a + v * (n - 1) / n * b);
  assert_near(seconds_of(mesh, TSR_COLLECTIVE_ALL_TO_ALL, "m", 1000000),
              (n - 1) * a + v * (n - 1) / n * b);
  assert_near(seconds_of(mesh, TSR_COLLECTIVE_ALL_REDUCE, "m", 1000000),
              2 * ((n - 1) * a + v * (n - 1) / n * b));
  assert_near(seconds_of(mesh, TSR_COLLECTIVE_PERMUTE, "m", 1000000), a + v * b);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

// Both orders of the names mean the same, and the slow links carry the small messages.
static void axes_of_different_levels_are_done_one_after_the_other(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("gpu:2x4");
  tsr_mesh *mesh = parsed_mesh("d=2,m=4", topology);
  const char *const names[] = {"d", "m"}, *const swapped[] = {"m", "d"};
  double both = 0, same = 0;
  for (tsr_collective op = TSR_COLLECTIVE_ALL_GATHER; op < TSR_COLLECTIVE_COUNT; op++) {
    assert_ok(tsr_mesh_collective_cost(mesh, op, names, 2, 4096, &both));
    assert_ok(tsr_mesh_collective_cost(mesh, op, swapped, 2, 4096, &same));
    assert_near(both, same);
  }
  assert_ok(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, names, 2, 4096, &both));
  assert_near(both, seconds_of(mesh, TSR_COLLECTIVE_ALL_GATHER, "d", 4096) +
                        seconds_of(mesh, TSR_COLLECTIVE_ALL_GATHER, "m", 2 * 4096));
  assert_ok(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_REDUCE_SCATTER, names, 2, 4096, &both));
  assert_near(both, seconds_of(mesh, TSR_COLLECTIVE_REDUCE_SCATTER, "m", 4096) +
                        seconds_of(mesh, TSR_COLLECTIVE_REDUCE_SCATTER, "d", 4096 / 4));
  assert_ok(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_REDUCE, names, 2, 4096, &both));
  assert_near(both, seconds_of(mesh, TSR_COLLECTIVE_REDUCE_SCATTER, "m", 4096) +
                        seconds_of(mesh, TSR_COLLECTIVE_ALL_REDUCE, "d", 1024) +
                        seconds_of(mesh, TSR_COLLECTIVE_ALL_GATHER, "m", 1024));
  assert_ok(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_PERMUTE, names, 2, 4096, &both));
  assert_near(both, seconds_of(mesh, TSR_COLLECTIVE_PERMUTE, "d", 4096));
  assert_ok(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_REDUCE, NULL, 0, 4096, &both));
  assert_near(both, 0);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void costs_of_nothing_known_are_refused(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("gpu:2x4");
  tsr_mesh *mesh = parsed_mesh("d=2,m=4", topology), *bare = parsed_mesh("d=2,m=4", NULL);
  const char *const names[] = {"m", "x", "m"};
  tsr_axis_cost cost;
  double seconds = 0;
  assert_fails(tsr_mesh_axis_cost(bare, 0, &cost), BAD_ARGUMENT,
               "a mesh without a topology has no costs");
  assert_fails(tsr_mesh_axis_cost(mesh, 2, &cost), INDEX_OUT_OF_RANGE, "axis 2 of a mesh with 2");
  assert_fails(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, names, 2, 1, &seconds),
               UNKNOWN_MESH_AXIS, "axis \"x\" is not in mesh {d=2, m=4}");
  const char *const twice[] = {"m", "m"};
  assert_fails(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, twice, 2, 1, &seconds),
               DUPLICATE_MESH_AXIS, "axis \"m\" is given twice");
  assert_fails(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, names, 1, -1, &seconds),
               BAD_ARGUMENT, "a message of -1 bytes");
  assert_fails(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_COUNT, names, 1, 1, &seconds),
               BAD_ARGUMENT, "collective 5 does not exist, wanted 0 to 4");
  tsr_mesh_release(mesh);
  tsr_mesh_release(bare);
  tsr_topology_release(topology);
}

// ---- search ----

static double traffic_seconds(const tsr_mesh *mesh, const tsr_axis_traffic *traffic) {
  double sum = 0;
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh); axis++)
    for (tsr_collective op = TSR_COLLECTIVE_ALL_GATHER; op < TSR_COLLECTIVE_COUNT; op++)
      if (traffic[axis].bytes[op])
        sum += seconds_of(mesh, op, tsr_mesh_axis_at(mesh, axis)->name, traffic[axis].bytes[op]);
  return sum;
}

// What the search promises is what the mesh costs, and no plain order of the devices is better.
static void a_search_tells_the_true_cost_and_beats_list_order(void **state) {
  (void)state;
  static const char *const machines[] = {"cpu:8",
                                         "gpu:4x8",
                                         "gpu:3x4:order=shuffled",
                                         "tpu-v3:4x4",
                                         "tpu-v4:4x4x4",
                                         "tpu-v4:2x2x4",
                                         "tpu-v5e:8x8",
                                         "tpu-v4:4x4x4:wrap=none",
                                         "tpu-v4:2x2x2:slices=3",
                                         "tpu-v5p:2x4x6"};
  test_random random = {7};
  for (int round = 0; round < 120; round++) {
    tsr_topology *topology = parsed_topology(machines[(size_t)round % COUNT_OF(machines)]);
    int64_t rest = tsr_topology_device_count(topology);
    tsr_axis axes[3] = {{"a", 1, TSR_AXIS_AUTO}, {"b", 1, TSR_AXIS_EXPLICIT}, {"c", 1, 0}};
    tsr_axis_traffic traffic[3] = {0};
    for (int64_t prime = 2; rest > 1;) {
      if (rest % prime) {
        prime++;
        continue;
      }
      axes[test_random_range(&random, 0, 2)].size *= prime;
      rest /= prime;
    }
    for (int i = 0; i < 3; i++)
      traffic[i].bytes[test_random_range(&random, 0, TSR_COLLECTIVE_COUNT - 1)] =
          test_random_range(&random, 1, 1 << 24);
    tsr_mesh *found = NULL, *plain = NULL;
    double seconds = -1;
    assert_ok(tsr_mesh_search(topology, axes, 3, traffic, &found, &seconds));
    assert_near(seconds, traffic_seconds(found, traffic));
    assert_int_equal(tsr_mesh_device_count(found), tsr_topology_device_count(topology));
    assert_int_equal(tsr_mesh_axis_at(found, 1)->type, TSR_AXIS_EXPLICIT);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_addf(&text, "a=%d,b=%d,c=%d", (int)axes[0].size, (int)axes[1].size, (int)axes[2].size);
    assert_ok(tsr_mesh_parse(tsr_text_string(&text), topology, &plain));
    assert_true(seconds <= traffic_seconds(plain, traffic) * (1 + 1e-9));
    tsr_text_deinit(&text);
    tsr_mesh_release(found);
    tsr_mesh_release(plain);
    tsr_topology_release(topology);
  }
}

static void the_axis_with_most_traffic_stays_on_the_host(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("gpu:4x8");
  const tsr_axis axes[] = {{"busy", 8, 0}, {"calm", 4, 0}};
  const tsr_axis_traffic traffic[] = {{.bytes[TSR_COLLECTIVE_ALL_REDUCE] = 1 << 30},
                                      {.bytes[TSR_COLLECTIVE_ALL_REDUCE] = 1 << 10}};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_search(topology, axes, 2, traffic, &mesh, NULL));
  assert_int_equal(cost_of(mesh, 0).level, TSR_LEVEL_HOST);
  assert_int_equal(cost_of(mesh, 1).level, TSR_LEVEL_NET);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void searches_refuse_what_does_not_fit(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("gpu:2x4");
  const int64_t odd[] = {0, 1, 2};
  tsr_topology *uneven = listed_topology(odd, 3);
  tsr_axis axes[] = {{"a", 3, 0}, {"b", 2, 0}};
  tsr_axis_traffic traffic[2] = {0};
  tsr_mesh *mesh = NULL;
  assert_fails_with(tsr_mesh_search(topology, axes, 2, traffic, &mesh, NULL),
                    DIMS_DO_NOT_MATCH_DEVICE_COUNT, "{a=3, b=2} does not make 8 devices");
  axes[0].size = -1;
  traffic[1].bytes[0] = -7;
  assert_fails(tsr_mesh_search(topology, axes, 2, traffic, &mesh, NULL), BAD_ARGUMENT,
               "axis 1 has traffic of -7 bytes");
  assert_fails(tsr_mesh_search(topology, axes, 2, NULL, &mesh, NULL), BAD_ARGUMENT,
               "no traffic is given for the axes");
  assert_fails(tsr_mesh_search(topology, axes, 17, traffic, &mesh, NULL), TOO_LARGE,
               "a mesh of 17 axes; at most 16 are possible");
  traffic[1].bytes[0] = 0;
  axes[1].name = "a";
  assert_fails(tsr_mesh_search(topology, axes, 2, traffic, &mesh, NULL), DUPLICATE_AXIS_NAME,
               "axis name \"a\" is given twice, to axes 0 and 1");
  axes[0].size = 3;
  assert_fails(tsr_mesh_search(uneven, axes, 1, traffic, &mesh, NULL), NOT_A_CUBOID,
               "the 3 devices do not fill a box of processes with equally many each");
  assert_null(mesh);
  tsr_topology_release(topology);
  tsr_topology_release(uneven);
}

static void large_machines_are_searched_quickly(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("tpu-v5p:16x16x16:slices=24");
  const tsr_axis axes[] = {{"a", 24, 0}, {"b", 16, 0}, {"c", 16, 0}, {"d", 16, 0}};
  tsr_axis_traffic traffic[4] = {0};
  for (int i = 0; i < 4; i++) traffic[i].bytes[TSR_COLLECTIVE_ALL_REDUCE] = (i + 1) << 20;
  tsr_mesh *mesh = NULL;
  double seconds = 0;
  assert_ok(tsr_mesh_search(topology, axes, 4, traffic, &mesh, &seconds));
  assert_near(seconds, traffic_seconds(mesh, traffic));
  assert_int_equal(cost_of(mesh, 0).level, TSR_LEVEL_NET);
  for (int i = 1; i < 4; i++) assert_true(cost_of(mesh, i).ring);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static tsr_status search_and_cost(void *context) {
  const tsr_axis axes[] = {{"a", 4, 0}, {"b", 2, 0}};
  const tsr_axis_traffic traffic[2] = {{.bytes[0] = 100}, {.bytes[0] = 100}};
  const char *const name = "a";
  tsr_mesh *mesh = NULL;
  double seconds = 0;
  tsr_axis_cost cost;
  TSR_TRY(tsr_mesh_search(context, axes, 2, traffic, &mesh, &seconds));
  tsr_status status = tsr_mesh_axis_cost(mesh, 0, &cost);
  if (!status)
    status = tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_REDUCE, &name, 1, 8, &seconds);
  tsr_mesh_release(mesh);
  return status;
}

static void searching_survives_running_out_of_memory(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("tpu-v4:2x2x2");
  test_allocation_sweep(search_and_cost, topology);
  tsr_topology_release(topology);
}

SUITE(cost, TEST(axes_cost_the_worst_level_they_cross), TEST(collectives_follow_the_ring_formulas),
      TEST(axes_of_different_levels_are_done_one_after_the_other),
      TEST(costs_of_nothing_known_are_refused),
      TEST(a_search_tells_the_true_cost_and_beats_list_order),
      TEST(the_axis_with_most_traffic_stays_on_the_host), TEST(searches_refuse_what_does_not_fit),
      TEST(large_machines_are_searched_quickly), TEST(searching_survives_running_out_of_memory))
