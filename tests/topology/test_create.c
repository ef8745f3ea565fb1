#include <math.h>

#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/same.h"
#include "topology/topology_internal.h"

static const tsr_device sparse[] = {
    {.id = 40, .process = 1, .slice = 0, .core = 0, .has_coords = true, .coords = {2, 5, 1}},
    {.id = -7, .process = 0, .slice = 0, .core = 0, .has_coords = true, .coords = {3, 4, 1}},
    {.id = 41, .process = 3, .slice = 0, .core = 0, .has_coords = true, .coords = {2, 4, 1}},
};

static tsr_topology_desc describe(const tsr_device *devices, int64_t count) {
  return (tsr_topology_desc){.size = sizeof(tsr_topology_desc),
                             .platform = TSR_PLATFORM_TPU,
                             .kind = "TPU v4",
                             .device_count = count,
                             .devices = devices};
}

static void a_topology_keeps_what_it_was_given(void **state) {
  (void)state;
  const tsr_topology_desc desc = describe(sparse, COUNT_OF(sparse));
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&desc, &topology));
  assert_int_equal(tsr_topology_platform(topology), TSR_PLATFORM_TPU);
  assert_string_equal(tsr_topology_kind(topology), "TPU v4");
  assert_int_equal(tsr_topology_device_count(topology), 3);
  assert_true(same_devices(tsr_topology_devices(topology), sparse, COUNT_OF(sparse)));
  assert_int_equal(tsr_topology_process_count(topology), 4);
  assert_int_equal(tsr_topology_memory_per_device(topology), (int64_t)32 << 30);
  int64_t low[3], sizes[3];
  tsr_topology_bounds(topology, low, sizes);
  assert_memory_equal(low, ((int64_t[]){2, 4, 1}), sizeof low);
  assert_memory_equal(sizes, ((int64_t[]){2, 2, 1}), sizeof sizes);
  tsr_topology *again = tsr_topology_retain(topology);
  tsr_topology_release(topology);
  assert_int_equal(tsr_topology_device_count(again), 3);
  tsr_topology_release(again);
  tsr_topology_release(NULL);
}

static void devices_are_found_by_id(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  const tsr_topology_desc desc = describe(sparse, COUNT_OF(sparse));
  assert_ok(tsr_topology_create(&desc, &topology));
  assert_int_equal(tsr_topology_device_find(topology, 40), 0);
  assert_int_equal(tsr_topology_device_find(topology, -7), 1);
  assert_int_equal(tsr_topology_device_find(topology, 41), 2);
  static const int64_t missing[] = {
      INT64_MIN, INT32_MIN, -8, -6, 0, 39, 42, INT32_MAX, (INT64_C(1) << 32) + 39, INT64_MAX};
  for (size_t i = 0; i < COUNT_OF(missing); i++)
    assert_int_equal(tsr_topology_device_find(topology, missing[i]), -1);
  tsr_topology_release(topology);
}

static void lookup_agrees_with_a_search_for_random_ids(void **state) {
  (void)state;
  test_random random = {7};
  for (int round = 0; round < 200; round++) {
    tsr_device devices[40] = {0};
    const int count = (int)test_random_range(&random, 1, 40);
    const int64_t width = test_random_range(&random, 1, 100);
    for (int i = 0; i < count; i++) devices[i].id = test_random_range(&random, -5, width);
    tsr_topology *topology = NULL;
    const tsr_topology_desc desc = describe(devices, count);
    assert_ok(tsr_topology_create(&desc, &topology));
    for (int64_t id = -7; id < width + 2; id++) {
      int first = -1;
      for (int i = count - 1; i >= 0; i--)
        if (devices[i].id == id) first = i;
      assert_int_equal(tsr_topology_device_find(topology, id), first);
    }
    tsr_topology_release(topology);
  }
}

static void unknown_kinds_get_what_is_typical(void **state) {
  (void)state;
  static const struct {
    tsr_platform platform;
    const char *kind;
    int64_t gib;
  } cases[] = {
      {TSR_PLATFORM_GPU, "NVIDIA H200 NVL", 141}, {TSR_PLATFORM_GPU, "NVIDIA A100-SXM4-80GB", 80},
      {TSR_PLATFORM_GPU, "Some GPU", 80},         {TSR_PLATFORM_TPU, "TPU v99", 32},
      {TSR_PLATFORM_TPU, "TPU v5 lite", 16},      {TSR_PLATFORM_CPU, NULL, 16},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_device device = {.slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
    tsr_topology_desc desc = describe(&device, 1);
    desc.platform = cases[i].platform;
    desc.kind = cases[i].kind;
    tsr_topology *topology = NULL;
    assert_ok(tsr_topology_create(&desc, &topology));
    assert_int_equal(tsr_topology_memory_per_device(topology) >> 30, cases[i].gib);
    tsr_topology_release(topology);
  }
}

// Each case spoils one thing of a good description of one device.
static const struct {
  size_t size;
  int64_t count;
  tsr_device device;
  int64_t memory;
  tsr_cause cause;
  const char *message;
} refusals[] = {
    {7,
     1,
     {0},
     0,
     TSR_CAUSE_BAD_ARGUMENT,
     "tsr_topology_desc has size 7, wanted 64: initialise it with TSR_TOPOLOGY_DESC"},
    {0, 0, {0}, 0, TSR_CAUSE_BAD_ARGUMENT, "a topology of 0 devices, wanted 1 to 2147483647"},
    {0, 1, {0}, -1, TSR_CAUSE_BAD_ARGUMENT, "memory per device is -1 bytes, wanted 0 or more"},
    {0,
     1,
     {.id = 3, .process = -2},
     0,
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "device 3 (position 0 of the list) has process -2, wanted 0 to 2147483646"},
    {0,
     1,
     {.id = 3, .slice = -2},
     0,
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "device 3 (position 0 of the list) has slice -2, wanted 0 to 2147483647, or none"},
    {0,
     1,
     {.id = 3, .core = -5},
     0,
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "device 3 (position 0 of the list) has core -5, wanted 0 to 268435455, or none"},
    {0,
     1,
     {.id = 3, .has_coords = true, .coords = {0, -1, 0}},
     0,
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "device 3 (position 0 of the list) has y=-1, wanted 0 to 268435455"},
    // Numbers that no machine has are refused, not cut to 32 bits.
    {0,
     INT64_C(1) << 32,
     {0},
     0,
     TSR_CAUSE_BAD_ARGUMENT,
     "a topology of 4294967296 devices, wanted 1 to 2147483647"},
    {0,
     1,
     {.id = INT64_C(1) << 32},
     0,
     TSR_CAUSE_TOO_LARGE,
     "device 4294967296 (position 0 of the list): ids are at most 2147483647"},
    {0,
     1,
     {.id = 3, .process = INT64_C(1) << 32},
     0,
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "device 3 (position 0 of the list) has process 4294967296, wanted 0 to 2147483646"},
    {0,
     1,
     {.id = 3, .slice = INT64_C(1) << 32},
     0,
     TSR_CAUSE_BROKEN_TOPOLOGY,
     "device 3 (position 0 of the list) has slice 4294967296, wanted 0 to 2147483647, or none"},
};

static void nonsense_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    tsr_topology_desc desc = describe(&refusals[i].device, refusals[i].count);
    if (refusals[i].size) desc.size = refusals[i].size;
    desc.memory_per_device = refusals[i].memory;
    tsr_topology *topology = NULL;
    test_assert_fails(tsr_topology_create(&desc, &topology), refusals[i].cause, refusals[i].message,
                      __FILE__, __LINE__);
    assert_null(topology);
  }
}

static void links_without_sense_are_refused(void **state) {
  (void)state;
  tsr_link links[TSR_LEVEL_COUNT] = {0};
  tsr_topology_desc desc = describe(sparse, COUNT_OF(sparse));
  desc.links = links;
  tsr_topology *topology = NULL;
  links[TSR_LEVEL_ICI].beta = (double)NAN;
  assert_fails(tsr_topology_create(&desc, &topology), BAD_ARGUMENT,
               "link \"ici\" has a negative cost");
  links[TSR_LEVEL_ICI].beta = 2;
  assert_ok(tsr_topology_create(&desc, &topology));
  assert_true(tsr_topology_link(topology, TSR_LEVEL_ICI)->beta == 2);
  tsr_topology_release(topology);
  desc.platform = (tsr_platform)9;
  assert_fails(tsr_topology_create(&desc, &topology), UNKNOWN_PLATFORM,
               "platform 9 does not exist");
}

static void platforms_have_names(void **state) {
  (void)state;
  for (int i = 0; i < TSR_PLATFORM_COUNT; i++) {
    tsr_platform platform = TSR_PLATFORM_COUNT;
    assert_ok(tsr_platform_parse(tsr_platform_name((tsr_platform)i), &platform));
    assert_int_equal(platform, i);
  }
  assert_null(tsr_platform_name((tsr_platform)77));
  tsr_platform platform = TSR_PLATFORM_CPU;
  assert_fails(tsr_platform_parse("npu", &platform), UNKNOWN_PLATFORM,
               "platform \"npu\" is unknown, wanted cpu, gpu or tpu");
}

static tsr_status create_once(void *context) {
  tsr_topology *topology = NULL;
  TSR_TRY(tsr_topology_create(context, &topology));
  tsr_topology_release(topology);
  return NULL;
}

static void creation_survives_lack_of_memory(void **state) {
  (void)state;
  tsr_topology_desc desc = describe(sparse, COUNT_OF(sparse));
  test_allocation_sweep(create_once, &desc);
}

SUITE(create, TEST(a_topology_keeps_what_it_was_given), TEST(devices_are_found_by_id),
      TEST(lookup_agrees_with_a_search_for_random_ids), TEST(unknown_kinds_get_what_is_typical),
      TEST(nonsense_is_refused), TEST(links_without_sense_are_refused), TEST(platforms_have_names),
      TEST(creation_survives_lack_of_memory))
