
#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/topology_internal.h"

#define PLACED(id_, slice_, core_, x, y, z)                                              \
  {                                                                                      \
    .id = id_, .slice = slice_, .core = core_, .has_coords = true, .coords = { x, y, z } \
  }
#define BARE(id_, slice_) \
  { .id = id_, .slice = slice_, .core = TSR_NO_CORE }

static const struct {
  tsr_device devices[3];
  tsr_cause cause;
  const char *message;
} cases[] = {
    {{PLACED(0, 0, 0, 0, 0, 0), PLACED(1, 0, 0, 1, 0, 0), PLACED(2, 0, 1, 1, 0, 0)},
     TSR_CAUSE_NONE,
     ""},
    {{BARE(5, TSR_NO_SLICE), BARE(3, TSR_NO_SLICE), BARE(4, TSR_NO_SLICE)}, TSR_CAUSE_NONE, ""},
    {{BARE(5, TSR_NO_SLICE), BARE(3, TSR_NO_SLICE), BARE(5, TSR_NO_SLICE)},
     TSR_CAUSE_DUPLICATE_DEVICE,
     "device 5 is listed twice, at positions 0 and 2"},
    {{PLACED(7, 1, 0, 2, 0, 0), PLACED(8, 0, 0, 2, 0, 0), PLACED(9, 1, 0, 2, 0, 0)},
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "devices 7 and 9 are both at x=2 y=0 z=0 core 0 of slice 1"},
    {{PLACED(0, 0, 0, 0, 0, 0), PLACED(1, 0, 0, 1, 0, 0), BARE(2, 0)},
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "devices 0 and 2 differ: only one of them has coordinates"},
    {{BARE(0, 0), BARE(1, 0), BARE(2, TSR_NO_SLICE)},
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "devices 0 and 2 differ: only one of them has a slice"},
    {{PLACED(0, 0, 0, 0, 0, 0), PLACED(1, 0, TSR_NO_CORE, 1, 0, 0), PLACED(2, 0, 0, 2, 0, 0)},
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "devices 0 and 1 differ: only one of them has a core number"},
};

static void what_contradicts_itself_is_found(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_topology_desc desc = {.size = sizeof desc,
                                    .platform = TSR_PLATFORM_TPU,
                                    .kind = "TPU v4",
                                    .device_count = 3,
                                    .devices = cases[i].devices};
    tsr_topology *topology = NULL;
    assert_ok(tsr_topology_create(&desc, &topology));
    test_assert_fails(tsr_topology_check(topology), cases[i].cause, cases[i].message, __FILE__,
                      __LINE__);
    tsr_topology_release(topology);
  }
}

static void large_machines_are_checked(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse("tpu-v3:100x100:slices=5:order=shuffled", &topology));
  assert_ok(tsr_topology_check(topology));
  tsr_topology_release(topology);
}

static tsr_status check_once(void *context) { return tsr_topology_check(context); }

static void checking_survives_lack_of_memory(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse("tpu-v3:4x4", &topology));
  test_allocation_sweep(check_once, topology);
  tsr_topology_release(topology);
}

static void the_machine_itself_is_a_topology(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_detect(&topology));
  assert_ok(tsr_topology_check(topology));
  assert_int_equal(tsr_topology_platform(topology), TSR_PLATFORM_CPU);
  assert_int_equal(tsr_topology_process_count(topology), 1);
  assert_true(tsr_topology_device_count(topology) >= 1);
  assert_true(tsr_topology_memory_per_device(topology) > 1 << 20);
  tsr_topology_release(topology);
}

SUITE(check, TEST(what_contradicts_itself_is_found), TEST(large_machines_are_checked),
      TEST(checking_survives_lack_of_memory), TEST(the_machine_itself_is_a_topology))
