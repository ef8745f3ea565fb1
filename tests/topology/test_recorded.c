#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/same.h"
#include "topology/topology_internal.h"

static tsr_status read_text(const char *json, tsr_topology **out) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(json, strlen(json), &doc));
  tsr_status status = tsr_topology_from_json(tsr_json_root(doc), out);
  tsr_json_destroy(doc);
  return status;
}

static void write_text(const tsr_topology *topology, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  tsr_topology_to_json(topology, &writer);
}

static void assert_same(const tsr_topology *a, const tsr_topology *b) {
  assert_int_equal(tsr_topology_platform(a), tsr_topology_platform(b));
  assert_string_equal(tsr_topology_kind(a), tsr_topology_kind(b));
  assert_int_equal(tsr_topology_memory_per_device(a), tsr_topology_memory_per_device(b));
  assert_int_equal(tsr_topology_device_count(a), tsr_topology_device_count(b));
  assert_true(
      same_devices(tsr_topology_devices(a), tsr_topology_devices(b), tsr_topology_device_count(a)));
  assert_memory_equal(tsr_topology_wrap(a), tsr_topology_wrap(b), 3 * sizeof(bool));
  for (int i = 0; i < TSR_LEVEL_COUNT; i++)
    assert_memory_equal(tsr_topology_link(a, (tsr_level)i), tsr_topology_link(b, (tsr_level)i),
                        sizeof(tsr_link));
}

static void machines_survive_json(void **state) {
  (void)state;
  static const char *const machines[] = {
      "cpu:3x2",
      "gpu:2x8:b200:slices=2:memory=77",
      "tpu-v3:4x4:order=shuffled",
      "tpu-v4:4x4x4:slices=2:wrap=y:origin=1x2x3",
      "tpu-7x:2x2x1",
  };
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    tsr_topology *made = NULL, *read = NULL;
    tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
    assert_ok(tsr_topology_parse(machines[i], &made));
    write_text(made, &first);
    assert_ok(read_text(tsr_text_string(&first), &read));
    assert_same(made, read);
    write_text(read, &second);
    assert_string_equal(tsr_text_string(&first), tsr_text_string(&second));
    tsr_text_deinit(&first);
    tsr_text_deinit(&second);
    tsr_topology_release(made);
    tsr_topology_release(read);
  }
}

static void measured_links_replace_the_usual_ones(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(
      read_text("{\"platform\": \"gpu\", \"kind\": \"NVIDIA H100 80GB HBM3\","
                " \"devices\": [[4, 0, null, null, null, null, null]],"
                " \"links\": {\"host\": {\"alpha\": 1e-6, \"beta\": 0.5}}}",
                &topology));
  assert_true(tsr_topology_link(topology, TSR_LEVEL_HOST)->beta == 0.5);
  assert_true(tsr_topology_link(topology, TSR_LEVEL_NET)->beta == 1e-9 / 50);
  tsr_topology_release(topology);
}

#define MACHINE(rest) "{\"platform\": \"tpu\", \"kind\": \"TPU v4\"" rest "}"
#define DEVICES(rows) MACHINE(", \"devices\": [" rows "]")
#define WITH(member) MACHINE(", \"devices\": [[0, 0, 0, 0, 0, 0, 0]], " member)

static const struct {
  const char *json;
  tsr_cause cause;
  const char *message;
} refusals[] = {
    {"[]", TSR_CAUSE_JSON_KIND,
     "topology: wanted an object with platform, kind and devices, found array"},
    {"{}", TSR_CAUSE_JSON_KIND, "topology: platform: missing, wanted a string"},
    {"{\"platform\": \"npu\"}", TSR_CAUSE_UNKNOWN_PLATFORM,
     "topology: platform \"npu\" is unknown, wanted cpu, gpu or tpu"},
    {"{\"platform\": \"tpu\"}", TSR_CAUSE_JSON_KIND, "topology: kind: missing, wanted a string"},
    {"{\"platform\": \"tpu\", \"kind\": \"a\\u0000b\"}", TSR_CAUSE_SYNTAX,
     "topology: kind contains a zero byte"},
    {MACHINE(""), TSR_CAUSE_JSON_KIND, "topology: devices: wanted a list, found nothing"},
    {MACHINE(", \"devices\": 3"), TSR_CAUSE_JSON_KIND,
     "topology: devices: wanted a list, found number"},
    {MACHINE(", \"device\": []"), TSR_CAUSE_SYNTAX,
     "topology: member \"device\" is unknown; did you mean \"devices\"?"},
    {DEVICES(""), TSR_CAUSE_BAD_ARGUMENT, "topology: devices: a list of 0, wanted 1 or more"},
    {DEVICES("[1, 2]"), TSR_CAUSE_SYNTAX,
     "topology: devices: row 0: wanted [id, process, slice, x, y, z, core]"},
    {DEVICES("[1, 0, 0, 0, 0, 0, 0], [null, 0, 0, 0, 0, 0, 0]"), TSR_CAUSE_JSON_KIND,
     "topology: devices: row 1: id: wanted an integer, found null"},
    {DEVICES("[3000000000, 0, 0, 0, 0, 0, 0]"), TSR_CAUSE_TOO_LARGE,
     "topology: devices: row 0: id is 3000000000, beyond 32 bits"},
    {DEVICES("[1, 0, -1, 0, 0, 0, 0]"), TSR_CAUSE_BROKEN_TOPOLOGY,
     "topology: devices: row 0: slice is -1, wanted 0 or more, or null"},
    {DEVICES("[1, 0, 0, 0, null, 0, 0]"), TSR_CAUSE_BROKEN_TOPOLOGY,
     "topology: devices: row 0: x, y and z must all be numbers or all be null"},
    {DEVICES("[1, 0, 0, 0, -4, 0, 0]"), TSR_CAUSE_BROKEN_TOPOLOGY,
     "topology: device 1 (position 0 of the list) has y=-4, wanted 0 to 268435455"},
    {WITH("\"memory_per_device\": -1"), TSR_CAUSE_BAD_ARGUMENT,
     "topology: memory_per_device is -1, wanted 0 or more"},
    {WITH("\"links\": []"), TSR_CAUSE_JSON_KIND,
     "topology: links: wanted an object with a member per level, found array"},
    {WITH("\"links\": {\"icy\": {}}"), TSR_CAUSE_SYNTAX,
     "topology: links: member \"icy\" is unknown; did you mean \"ici\"?"},
    {WITH("\"links\": {\"ici\": {\"alpha\": -2, \"beta\": 0}}"), TSR_CAUSE_BAD_ARGUMENT,
     "topology: links: ici: alpha is -2, wanted 0 or more"},
    {WITH("\"links\": {\"ici\": {\"alpha\": 2}}"), TSR_CAUSE_JSON_KIND,
     "topology: links: ici: beta: missing, wanted a number"},
    {WITH("\"wrap\": [true]"), TSR_CAUSE_SYNTAX, "topology: wrap: wanted three of true and false"},
    {WITH("\"wrap\": [true, 1, 2]"), TSR_CAUSE_JSON_KIND, "topology: wrap: wanted a bool, found 1"},
};

static void wrong_records_are_explained(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    tsr_topology *topology = NULL;
    test_assert_fails(read_text(refusals[i].json, &topology), refusals[i].cause,
                      refusals[i].message, __FILE__, __LINE__);
    assert_null(topology);
  }
}

static tsr_status read_once(void *context) {
  tsr_topology *topology = NULL;
  TSR_TRY(read_text(context, &topology));
  tsr_topology_release(topology);
  return NULL;
}

static void reading_survives_lack_of_memory(void **state) {
  (void)state;
  char json[] = WITH("\"links\": {\"ici\": {\"alpha\": 2, \"beta\": 1}}");
  test_allocation_sweep(read_once, json);
}

// ---- tsr_topology_open ----

// A file with this text, which lives until the process ends its turn.
static void with_file(const char *json, void (*body)(const char *path)) {
  char path[] = "/tmp/tessera_topology_XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, json, strlen(json)), strlen(json));
  close(file);
  body(path);
  unlink(path);
}

static void opens_three_devices(const char *path) {
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_open(path, &topology));
  assert_int_equal(tsr_topology_device_count(topology), 3);
  tsr_topology_release(topology);
}

static void refuses_repeated_devices(const char *path) {
  tsr_topology *topology = NULL;
  assert_fails_with(tsr_topology_open(path, &topology), DUPLICATE_DEVICE,
                    ": device 1 is listed twice, at positions 0 and 2");
  assert_null(topology);
}

static void refuses_nonsense(const char *path) {
  tsr_topology *topology = NULL;
  assert_fails_with(tsr_topology_open(path, &topology), JSON_KIND,
                    ": topology: platform: missing, wanted a string");
}

static void files_are_opened_and_proved(void **state) {
  (void)state;
  with_file(DEVICES("[1, 0, 0, 0, 0, 0, 0], [2, 0, 0, 1, 0, 0, 0], [3, 0, 0, 2, 0, 0, 0]"),
            opens_three_devices);
  with_file(DEVICES("[1, 0, 0, 0, 0, 0, 0], [2, 0, 0, 1, 0, 0, 0], [1, 0, 0, 2, 0, 0, 0]"),
            refuses_repeated_devices);
  with_file("{}", refuses_nonsense);
}

static void texts_and_the_machine_are_opened(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_open("cpu:7", &topology));
  assert_int_equal(tsr_topology_device_count(topology), 7);
  tsr_topology_release(topology);
  assert_ok(tsr_topology_open("machine", &topology));
  tsr_topology_release(topology);
}

static void what_is_neither_is_explained(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_fails(tsr_topology_open("pod", &topology), UNKNOWN_PLATFORM,
               "\"pod\" is neither a machine (cpu:8, gpu:4x8, tpu-v4:4x4x4, machine) nor a file");
  assert_fails(tsr_topology_open("cpu:0", &topology), SYNTAX,
               "topology: column 5: sizes: \"0\" in \"0\" is not a number from 1 to 1048576");
  assert_fails_with(tsr_topology_open("no/such/file.json", &topology), IO, "no/such/file.json");
}

SUITE(recorded, TEST(machines_survive_json), TEST(measured_links_replace_the_usual_ones),
      TEST(wrong_records_are_explained), TEST(reading_survives_lack_of_memory),
      TEST(files_are_opened_and_proved), TEST(texts_and_the_machine_are_opened),
      TEST(what_is_neither_is_explained))
