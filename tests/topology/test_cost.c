#include <math.h>
#include <string.h>

#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/topology_internal.h"

static tsr_topology *parse(const char *text) {
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse(text, &topology));
  return topology;
}

static void levels_tell_what_joins_two_devices(void **state) {
  (void)state;
  static const struct {
    const char *machine;
    int64_t a, b;
    tsr_level level;
  } cases[] = {
      {"cpu:2x4", 0, 0, TSR_LEVEL_SELF},
      {"cpu:2x4", 0, 3, TSR_LEVEL_HOST},
      {"cpu:2x4", 3, 4, TSR_LEVEL_NET},
      {"gpu:4x8:h100:slices=2", 0, 32, TSR_LEVEL_NET},
      {"tpu-v3:4x4", 6, 7, TSR_LEVEL_CHIP},
      {"tpu-v3:4x4", 6, 8, TSR_LEVEL_ICI},
      {"tpu-v4:4x4x4", 0, 1, TSR_LEVEL_ICI},  // one host, yet joined by the torus
      {"tpu-v4:4x4x4:slices=2", 0, 64, TSR_LEVEL_NET},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = parse(cases[i].machine);
    const int64_t a = tsr_topology_device_find(topology, cases[i].a);
    const int64_t b = tsr_topology_device_find(topology, cases[i].b);
    assert_string_equal(tsr_level_name(tsr_topology_level(topology, a, b)),
                        tsr_level_name(cases[i].level));
    tsr_topology_release(topology);
  }
  assert_null(tsr_level_name(TSR_LEVEL_COUNT));
}

static void rings_close_where_the_kind_says(void **state) {
  (void)state;
  static const struct {
    const char *machine, *wrap;
  } cases[] = {
      {"tpu-v4:4x4x4", "xyz"},
      {"tpu-v4:4x4x8", "xyz"},
      {"tpu-v4:2x2x4", ""},
      {"tpu-v4:4x4x6", ""},
      {"tpu-v5p:8x4x4", "xyz"},
      {"tpu-v5e:16x16", "xy"},
      {"tpu-v5e:8x16", "y"},
      {"tpu-v6e:4x4", ""},
      {"tpu-v2:16x16", "xy"},
      {"tpu-v3:16x16", ""},
      {"tpu-v3:32x32", "xy"},
      {"tpu-v4-lite:2x2", ""},
      {"tpu-v4:2x2x4:wrap=z", "z"},
      {"tpu-v4:4x4x4:wrap=none", ""},
      {"gpu:4x4", ""},
      {"tpu-7x:4x4x4", "xyz"},
      {"tpu-8i:4x4", ""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = parse(cases[i].machine);
    const bool *wrap = tsr_topology_wrap(topology);
    for (int k = 0; k < 3; k++)
      if (wrap[k] != (strchr(cases[i].wrap, "xyz"[k]) != NULL))
        fail_msg("%s: axis %c", cases[i].machine, "xyz"[k]);
    tsr_topology_release(topology);
  }
}

// The shortest way by walking: on each axis, both directions at once.
static int64_t walk(const int64_t sizes[3], const bool wrap[3], const int64_t a[3],
                    const int64_t b[3]) {
  int64_t best = 0;
  for (int k = 0; k < 3; k++) {
    int64_t steps = 0, up = a[k], down = a[k];
    while (up != b[k] && down != b[k]) {
      steps++;
      up = wrap[k] ? (up + 1) % sizes[k] : up + 1;
      down = wrap[k] ? (down - 1 + sizes[k]) % sizes[k] : down - 1;
    }
    best += steps;
  }
  return best;
}

static void hops_are_the_shortest_way_round(void **state) {
  (void)state;
  static const char *const machines[] = {"tpu-v4:4x4x8", "tpu-v4:2x3x5:wrap=yz", "tpu-v5e:16x4",
                                         "tpu-v4:3x5x2", "tpu-v3:4x2:wrap=x"};
  for (size_t m = 0; m < COUNT_OF(machines); m++) {
    tsr_topology *topology = parse(machines[m]);
    const tsr_device *devices = tsr_topology_devices(topology);
    int64_t low[3], sizes[3];
    tsr_topology_bounds(topology, low, sizes);
    const int64_t count = tsr_topology_device_count(topology);
    for (int a = 0; a < count; a++)
      for (int b = 0; b < count; b++) {
        int64_t wanted =
            walk(sizes, tsr_topology_wrap(topology), devices[a].coords, devices[b].coords);
        if (wanted == 0 && a != b) wanted = 1;  // the other core of the chip
        assert_int_equal(tsr_topology_hops(topology, a, b), wanted);
      }
    tsr_topology_release(topology);
  }
}

static void a_message_costs_hops_and_bytes(void **state) {
  (void)state;
  tsr_topology *topology = parse("tpu-v4:4x4x4:order=id");
  const tsr_link *ici = tsr_topology_link(topology, TSR_LEVEL_ICI);
  assert_true(fabs(tsr_topology_cost(topology, 0, 2, 1000) - (2 * ici->alpha + 1000 * ici->beta)) <
              1e-15);
  assert_true(tsr_topology_cost(topology, 5, 5, 1 << 30) == 0);
  tsr_topology_release(topology);
}

SUITE(cost, TEST(levels_tell_what_joins_two_devices), TEST(rings_close_where_the_kind_says),
      TEST(hops_are_the_shortest_way_round), TEST(a_message_costs_hops_and_bytes))
