#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/same.h"
#include "topology/topology_internal.h"

// A device as "id/process@x,y,z.core", slices after '#', for tables.
static void print_device(const tsr_device *device, tsr_text *out) {
  tsr_text_addf(out, "%lld/%lld", (long long)device->id, (long long)device->process);
  if (device->has_coords)
    tsr_text_addf(out, "@%lld,%lld,%lld.%lld", (long long)device->coords[0],
                  (long long)device->coords[1], (long long)device->coords[2],
                  (long long)device->core);
  if (device->slice != TSR_NO_SLICE) tsr_text_addf(out, "#%lld", (long long)device->slice);
}

static const struct {
  const char *text, *kind;
  int devices, processes;
  const char *second, *last;
} machines[] = {
    {"cpu:8", "cpu", 8, 1, "1/0", "7/0"},
    {"cpu:1", "cpu", 1, 1, NULL, "0/0"},
    {"cpu:2x4", "cpu", 8, 2, "1/0", "7/1"},
    {"cpu:2x4:order=reversed", "cpu", 8, 2, "6/1", "0/0"},
    {"cpu:2x4:order=coords", "cpu", 8, 2, "1/0", "7/1"},
    {"gpu:4x8", "NVIDIA A100", 32, 4, "1/0", "31/3"},
    {"gpu:4x8:H100", "NVIDIA H100", 32, 4, "1/0", "31/3"},
    {"gpu:2x4:mi300x:slices=2", "AMD MI300X", 16, 4, "1/0#0", "15/3#1"},
    {"gpu:2x4:slices=1", "NVIDIA A100", 8, 2, "1/0#0", "7/1#0"},
    {"tpu-v2:2x2", "TPU v2", 8, 1, "1/0@0,0,0.1#0", "7/0@1,1,0.1#0"},
    {"tpu-v3:4x4", "TPU v3", 32, 4, "1/0@0,0,0.1#0", "31/3@3,3,0.1#0"},
    {"tpu-v4:4x4x4", "TPU v4", 64, 16, "1/0@1,0,0.0#0", "63/15@3,3,3.0#0"},
    {"tpu-v4:4x4x4:order=coords", "TPU v4", 64, 16, "16/4@0,0,1.0#0", "63/15@3,3,3.0#0"},
    {"tpu-v4:4x4x2:hosts=1x1", "TPU v4", 32, 32, "1/1@1,0,0.0#0", "31/31@3,3,1.0#0"},
    {"tpu-v4:3x3:hosts=2x2", "TPU v4", 9, 4, "1/0@1,0,0.0#0", "8/3@2,2,0.0#0"},
    {"tpu-v4:2x2x1:cores=2:slices=2", "TPU v4", 16, 2, "1/0@0,0,0.1#0", "15/1@1,1,0.1#1"},
    {"tpu-v4:2x2x1:origin=2x4x1", "TPU v4", 4, 1, "1/0@3,4,1.0#0", "3/0@3,5,1.0#0"},
    {"tpu-v5e:4x4", "TPU v5e", 16, 4, "1/0@1,0,0.0#0", "15/3@3,3,0.0#0"},
    {"tpu-v5-lite:4x4", "TPU v5 lite", 16, 4, "1/0@1,0,0.0#0", "15/3@3,3,0.0#0"},
    {"tpu-v6e:4x4", "TPU v6 lite", 16, 4, "1/0@1,0,0.0#0", "15/3@3,3,0.0#0"},
    {"tpu-7x:2x2x1", "TPU7x", 8, 1, "1/0@0,0,0.1#0", "7/0@1,1,0.1#0"},
    {"tpu-8i:2x2", "TPU8i", 4, 1, "1/0@1,0,0.0#0", "3/0@1,1,0.0#0"},
};

static void assert_device(const tsr_topology *topology, int position, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  print_device(&tsr_topology_devices(topology)[position], &text);
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
}

static void machines_are_numbered_as_runtimes_do(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    tsr_topology *topology = NULL;
    assert_ok(tsr_topology_parse(machines[i].text, &topology));
    assert_string_equal(tsr_topology_kind(topology), machines[i].kind);
    assert_int_equal(tsr_topology_device_count(topology), machines[i].devices);
    assert_int_equal(tsr_topology_process_count(topology), machines[i].processes);
    if (machines[i].second) assert_device(topology, 1, machines[i].second);
    assert_device(topology, machines[i].devices - 1, machines[i].last);
    tsr_topology_release(topology);
  }
}

static void memory_is_shared_by_the_cores_of_a_chip(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t memory;
  } cases[] = {
      {"tpu-v3:2x2", (int64_t)16 << 30},       {"tpu-v3:2x2:cores=1", (int64_t)32 << 30},
      {"tpu-v4:2x2", (int64_t)32 << 30},       {"cpu:2:memory=3M", (int64_t)3 << 20},
      {"cpu:2:memory=5kB", (int64_t)5 << 10},  {"cpu:2:memory=123", 123},
      {"gpu:2x2:memory=2T", (int64_t)2 << 40},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = NULL;
    assert_ok(tsr_topology_parse(cases[i].text, &topology));
    assert_int_equal(tsr_topology_memory_per_device(topology), cases[i].memory);
    tsr_topology_release(topology);
  }
}

// Whatever the order, the list holds the same devices.
static void orders_only_permute(void **state) {
  (void)state;
  static const char *const orders[] = {"id", "coords", "reversed", "shuffled"};
  tsr_topology *natural = NULL;
  assert_ok(tsr_topology_parse("tpu-v3:4x6:slices=3", &natural));
  const int64_t count = tsr_topology_device_count(natural);
  for (size_t i = 0; i < COUNT_OF(orders); i++) {
    char text[64];
    snprintf(text, sizeof text, "tpu-v3:4x6:slices=3:order=%s", orders[i]);
    tsr_topology *other = NULL;
    assert_ok(tsr_topology_parse(text, &other));
    const tsr_device *a = tsr_topology_devices(natural), *b = tsr_topology_devices(other);
    int moved = 0;
    for (int k = 0; k < count; k++) moved += a[k].id != b[k].id;
    assert_true(moved > 0);
    for (int id = 0; id < count; id++)
      assert_true(same_device(&a[tsr_topology_device_find(natural, id)],
                              &b[tsr_topology_device_find(other, id)]));
    tsr_topology_release(other);
  }
  tsr_topology_release(natural);
}

#define SIZES_1048576 "is not a number from 1 to 1048576"

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;  // after the place, or after `topology "<text>": `
  int column;           // 0 = the failure has no place
} refusals[] = {
    {"", TSR_CAUSE_UNKNOWN_PLATFORM,
     "\"\" is not a machine, wanted cpu, gpu or tpu-<kind> (as in cpu:8, gpu:4x8 or tpu-v4:4x4x4)",
     1},
    {"npu:4", TSR_CAUSE_UNKNOWN_PLATFORM,
     "\"npu\" is not a machine, wanted cpu, gpu or tpu-<kind> (as in cpu:8, gpu:4x8 or "
     "tpu-v4:4x4x4)",
     1},
    {"tpu:4x4", TSR_CAUSE_SYNTAX, "\"tpu\" needs a kind, as in tpu-v4", 1},
    {"tpu-v5:4x4:order", TSR_CAUSE_SYNTAX, "field \"order\" has no value, wanted name=value", 12},
    {"tpu-v4i2:4x4", TSR_CAUSE_UNKNOWN_DEVICE_KIND,
     "tpu kind \"v4i2\" is not one of v2, v3, v4, v4-lite, v5-lite, v5e, v5p, v5, v6e, 7x, 7, 8i",
     1},
    {"tpu-v6-lit:4x4", TSR_CAUSE_UNKNOWN_DEVICE_KIND,
     "tpu kind \"v6-lit\" is not one of v2, v3, v4, v4-lite, v5-lite, v5e, v5p, v5, v6e, 7x, 7, "
     "8i; did you mean \"v4-lite\"?",
     1},
    {"gpu:4x8:h1000", TSR_CAUSE_UNKNOWN_DEVICE_KIND,
     "gpu kind \"h1000\" is not one of a100, h100, h200, b200, mi300x; did you mean \"h100\"?", 9},
    {"cpu", TSR_CAUSE_SYNTAX, "expected hosts by devices after a \":\", as in :4x8, found the end",
     4},
    {"tpu-v4", TSR_CAUSE_SYNTAX, "expected x by y by z after a \":\", as in :4x4x4, found the end",
     7},
    {"tpu-v4:8", TSR_CAUSE_SYNTAX,
     "sizes: \"8\" is one number, wanted x by y or x by y by z, as in 8x1", 8},
    {"cpu:", TSR_CAUSE_SYNTAX, "sizes: \"\" in \"\" " SIZES_1048576, 5},
    {"cpu:4x", TSR_CAUSE_SYNTAX, "sizes: \"\" in \"4x\" " SIZES_1048576, 5},
    {"cpu:0", TSR_CAUSE_SYNTAX, "sizes: \"0\" in \"0\" " SIZES_1048576, 5},
    {"cpu:-4", TSR_CAUSE_SYNTAX, "sizes: \"-4\" in \"-4\" " SIZES_1048576, 5},
    {"cpu:99999999999999999999", TSR_CAUSE_SYNTAX,
     "sizes: \"99999999999999999999\" in \"99999999999999999999\" " SIZES_1048576, 5},
    {"cpu:2x2x2", TSR_CAUSE_SYNTAX, "sizes: \"2x2x2\" has more than 2 numbers", 5},
    {"tpu-v4:2x2x2x2", TSR_CAUSE_SYNTAX, "sizes: \"2x2x2x2\" has more than 3 numbers", 8},
    {"tpu-v4:1024x1024x2", TSR_CAUSE_TOO_LARGE, "more than 1048576 devices", 0},
    {"tpu-v4:1048576x1048576x1048576:slices=1048576:cores=1048576", TSR_CAUSE_TOO_LARGE,
     "more than 1048576 devices", 0},
    {"tpu-v4:2x2:slice=2", TSR_CAUSE_SYNTAX,
     "field \"slice\" is not one of slices, memory, order, hosts, cores, origin, wrap; did you "
     "mean "
     "\"slices\"?",
     12},
    {"tpu-v4:2x2:colour=2", TSR_CAUSE_SYNTAX,
     "field \"colour\" is not one of slices, memory, order, hosts, cores, origin, wrap", 12},
    {"cpu:4:h100", TSR_CAUSE_SYNTAX, "field \"h100\" has no value, wanted name=value", 7},
    {"cpu:4:slices=2:slices=3", TSR_CAUSE_SYNTAX, "field \"slices\" is given twice", 16},
    {"cpu:4:slices=0", TSR_CAUSE_SYNTAX, "slices: \"0\" " SIZES_1048576, 7},
    {"cpu:4:hosts=2x2", TSR_CAUSE_SYNTAX,
     "field \"hosts\" is for TPUs, whose chips have coordinates; cpu has none", 7},
    {"tpu-v4:2x2:order=shufled", TSR_CAUSE_SYNTAX,
     "order: \"shufled\" is not one of host, id, coords, reversed, shuffled; did you mean "
     "\"shuffled\"?",
     12},
    {"tpu-v4:2x2:memory=lots", TSR_CAUSE_SYNTAX,
     "memory: \"lots\" is not a number of bytes such as 16G", 12},
    {"tpu-v4:2x2:memory=", TSR_CAUSE_SYNTAX, "memory: \"\" is not a number of bytes such as 16G",
     12},
    {"tpu-v4:2x2:memory=9999999999T", TSR_CAUSE_SYNTAX,
     "memory: \"9999999999T\" is not a number of bytes such as 16G", 12},
    {"tpu-v4:2x2:wrap=xq", TSR_CAUSE_SYNTAX,
     "wrap: \"xq\" is not made of the letters x, y, z, nor \"none\"", 12},
    {"tpu-v4:2x2:wrap=", TSR_CAUSE_SYNTAX, "wrap: nothing given, wanted axes or \"none\"", 12},
    {"tpu-v4:2x2:cores=two", TSR_CAUSE_SYNTAX, "cores: \"two\" " SIZES_1048576, 12},
    {"tpu-v4:2x2:hosts=0x1", TSR_CAUSE_SYNTAX, "hosts: \"0\" in \"0x1\" " SIZES_1048576, 12},
};

static void wrong_texts_are_explained(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    tsr_topology *topology = NULL;
    tsr_text wanted = TSR_TEXT_EMPTY;
    if (refusals[i].column)
      tsr_text_addf(&wanted, "topology: column %d: %s", refusals[i].column, refusals[i].message);
    else
      tsr_text_addf(&wanted, "topology \"%s\": %s", refusals[i].text, refusals[i].message);
    test_assert_fails(tsr_topology_parse(refusals[i].text, &topology), refusals[i].cause,
                      tsr_text_string(&wanted), __FILE__, __LINE__);
    assert_null(topology);
    tsr_text_deinit(&wanted);
  }
}

static void endless_texts_are_refused(void **state) {
  (void)state;
  char text[2000];
  memset(text, '1', sizeof text);
  text[sizeof text - 1] = '\0';
  tsr_topology *topology = NULL;
  assert_fails(tsr_topology_parse(text, &topology), SYNTAX,
               "topology text of more than 1023 bytes");
}

static tsr_status parse_once(void *context) {
  tsr_topology *topology = NULL;
  TSR_TRY(tsr_topology_parse(context, &topology));
  tsr_topology_release(topology);
  return NULL;
}

static void parsing_survives_lack_of_memory(void **state) {
  (void)state;
  char text[] = "tpu-v4:4x4x4:slices=2:order=shuffled";
  test_allocation_sweep(parse_once, text);
}

static void a_hundred_thousand_devices_are_nothing(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse("tpu-v4:50x50x40:order=shuffled", &topology));
  const tsr_device *devices = tsr_topology_devices(topology);
  for (int i = 0; i < 100000; i++)
    assert_int_equal(tsr_topology_device_find(topology, devices[i].id), i);
  tsr_topology_release(topology);
}

SUITE(synthetic, TEST(machines_are_numbered_as_runtimes_do),
      TEST(memory_is_shared_by_the_cores_of_a_chip), TEST(orders_only_permute),
      TEST(wrong_texts_are_explained), TEST(endless_texts_are_refused),
      TEST(parsing_survives_lack_of_memory), TEST(a_hundred_thousand_devices_are_nothing))
