// The machines in the golden files were listed by the libraries' own device objects. Every one that
// has a synthetic text must come out of it device for device.
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/same.h"
#include "topology/topology_internal.h"

static const struct {
  const char *file, *table;
  int matched;  // how many machines of the table have a text that gives them
} tables[] = {
    {"tests/golden/t5x.json", "fleets", 57},
    {"tests/golden/jax_mesh.json", "topologies", 159},
};

// The kinds as a text calls them.
static const struct {
  const char *kind, *text;
} kinds[] = {
    {"cpu", "cpu"},
    {"NVIDIA A100", "gpu"},
    {"NVIDIA H100", "gpu"},
    {"AMD MI300X", "gpu"},
    {"TPU v2", "tpu-v2"},
    {"TPU v3", "tpu-v3"},
    {"TPU v4", "tpu-v4"},
    {"TPU v4 lite", "tpu-v4-lite"},
    {"TPU v5 lite", "tpu-v5-lite"},
    {"TPU v5e", "tpu-v5e"},
    {"TPU v5p", "tpu-v5p"},
    {"TPU v5", "tpu-v5"},
    {"TPU v6 lite", "tpu-v6e"},
    {"TPU7x", "tpu-7x"},
    {"TPU7", "tpu-7"},
    {"TPU8i", "tpu-8i"},
};

static const char *text_of_kind(const char *kind) {
  for (size_t i = 0; i < COUNT_OF(kinds); i++)
    if (!strcmp(kinds[i].kind, kind)) return kinds[i].text;
  fail_msg("kind %s has no text", kind);
  return NULL;
}

typedef struct extent {
  int64_t cores, slices, hosts, host[3];
} extent;

// How many slices and cores there are, and the chips of host 0.
static extent measure(const tsr_topology *topology) {
  extent found = {1, 0, tsr_topology_process_count(topology), {1, 1, 1}};
  const tsr_device *devices = tsr_topology_devices(topology);
  int64_t low[3], sizes[3];
  tsr_topology_bounds(topology, low, sizes);
  for (int i = 0; i < tsr_topology_device_count(topology); i++) {
    if (devices[i].core + 1 > found.cores) found.cores = devices[i].core + 1;
    if (devices[i].slice + 1 > found.slices) found.slices = devices[i].slice + 1;
    for (int k = 0; k < 3 && devices[i].process == 0; k++)
      if (devices[i].coords[k] - low[k] + 1 > found.host[k])
        found.host[k] = devices[i].coords[k] - low[k] + 1;
  }
  return found;
}

// The text that should give this machine, but for the order of the list.
static void describe(const tsr_topology *topology, tsr_text *out) {
  const extent e = measure(topology);
  const int64_t count = tsr_topology_device_count(topology);
  const char *kind = tsr_topology_kind(topology);
  int64_t low[3], sizes[3];
  tsr_topology_bounds(topology, low, sizes);
  tsr_text_addf(out, "%s:", text_of_kind(kind));
  if (tsr_topology_platform(topology) == TSR_PLATFORM_TPU) {
    tsr_text_addf(
        out, "%lldx%lldx%lld:cores=%lld:hosts=%lldx%lldx%lld:origin=%lldx%lldx%lld:slices=%lld",
        (long long)sizes[0], (long long)sizes[1], (long long)sizes[2], (long long)e.cores,
        (long long)e.host[0], (long long)e.host[1], (long long)e.host[2], (long long)low[0],
        (long long)low[1], (long long)low[2], (long long)e.slices);
    return;
  }
  const int64_t slices = e.slices ? e.slices : 1;
  tsr_text_addf(out, "%lldx%lld", (long long)(e.hosts / slices), (long long)(count / e.hosts));
  if (!strcmp(kind, "NVIDIA H100")) tsr_text_add(out, ":h100");
  if (!strcmp(kind, "AMD MI300X")) tsr_text_add(out, ":mi300x");
  if (e.slices) tsr_text_addf(out, ":slices=%lld", (long long)e.slices);
}

static bool same_machine(const tsr_topology *a, const tsr_topology *b) {
  const int64_t count = tsr_topology_device_count(a);
  return count == tsr_topology_device_count(b) &&
         !strcmp(tsr_topology_kind(a), tsr_topology_kind(b)) &&
         same_devices(tsr_topology_devices(a), tsr_topology_devices(b), count);
}

static bool some_order_gives(const tsr_topology *recorded) {
  static const char *const orders[] = {"host", "id", "coords", "reversed"};
  bool found = false;
  for (size_t i = 0; i < COUNT_OF(orders) && !found; i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_topology *made = NULL;
    describe(recorded, &text);
    tsr_text_addf(&text, ":order=%s", orders[i]);
    assert_ok(tsr_topology_parse(tsr_text_string(&text), &made));
    found = same_machine(recorded, made);
    tsr_topology_release(made);
    tsr_text_deinit(&text);
  }
  return found;
}

static bool key_contains(const tsr_json *member, const char *part) {
  size_t length = 0;
  const char *key = tsr_json_key(member, &length);
  return memmem(key, length, part, strlen(part)) != NULL;
}

// Shuffled lists have the recorder's own random order, and parts of machines no text at all.
static bool has_text(const tsr_json *member) {
  static const char *const without[] = {"shuffled", "slice_reversed", ":sub", "cuboid"};
  for (size_t i = 0; i < COUNT_OF(without); i++)
    if (key_contains(member, without[i])) return false;
  return true;
}

static void recorded_machines_have_texts_that_give_them(void **state) {
  (void)state;
  for (size_t t = 0; t < COUNT_OF(tables); t++) {
    tsr_json_doc *doc = NULL;
    assert_ok(tsr_json_read_file(tables[t].file, &doc));
    const tsr_json *table = tsr_json_find(tsr_json_root(doc), tables[t].table);
    int matched = 0;
    for (const tsr_json *at = tsr_json_first(table); at; at = tsr_json_next(at)) {
      if (!has_text(at)) continue;
      tsr_topology *recorded = NULL;
      assert_ok(tsr_topology_from_json(at, &recorded));
      if (!some_order_gives(recorded)) {
        size_t length = 0;
        const char *key = tsr_json_key(at, &length);
        fail_msg("no text gives %.*s", (int)length, key);
      }
      tsr_topology_release(recorded);
      matched++;
    }
    assert_int_equal(matched, tables[t].matched);
    tsr_json_destroy(doc);
  }
}

SUITE(fleets, TEST(recorded_machines_have_texts_that_give_them))
