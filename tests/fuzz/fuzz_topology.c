// Whatever the text, synthetic or JSON: no crash; a machine that comes out of it survives JSON,
// finds its devices, and measures distances alike both ways.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "json/json.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/topology_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_status read_json(const char *bytes, size_t length, tsr_topology **out) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(bytes, length, &doc));
  tsr_status status = tsr_topology_from_json(tsr_json_root(doc), out);
  tsr_json_destroy(doc);
  return status;
}

static void write_json(const tsr_topology *topology, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  tsr_topology_to_json(topology, &writer);
}

static void check_json(const tsr_topology *topology) {
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  tsr_topology *again = NULL;
  write_json(topology, &first);
  tsr_status status = read_json(first.data, first.length, &again);
  assert(!status);
  write_json(again, &second);
  assert(first.length == second.length && !memcmp(first.data, second.data, first.length));
  tsr_topology_release(again);
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
}

static void check_distances(const tsr_topology *topology) {
  const int64_t last = tsr_topology_device_count(topology) - 1;
  for (int i = 0; i <= last && i < 20; i++) {
    assert(tsr_topology_hops(topology, i, last) == tsr_topology_hops(topology, last, i));
    assert(tsr_topology_level(topology, i, last) == tsr_topology_level(topology, last, i));
    assert((tsr_topology_hops(topology, i, last) == 0) == (i == last));
  }
}

static void check_devices(const tsr_topology *topology, bool unique) {
  const tsr_device *devices = tsr_topology_devices(topology);
  for (int i = 0; i < tsr_topology_device_count(topology); i++) {
    const int64_t found = tsr_topology_device_find(topology, devices[i].id);
    assert(found >= 0 && devices[found].id == devices[i].id);
    assert(!unique || found == i);
    assert(devices[i].process < tsr_topology_process_count(topology));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const bool json = size && data[0] == '{';
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_topology *topology = NULL;
  tsr_status status = json ? read_json(text, size, &topology) : tsr_topology_parse(text, &topology);
  free(text);
  if (status) {
    assert(*tsr_status_text(status) && !topology);
    tsr_status_free(status);
    return 0;
  }
  status = tsr_topology_check(topology);
  assert(json || !status);
  check_devices(topology, !status);
  tsr_status_free(status);
  check_distances(topology);
  // A few bytes can ask for a million devices, which take their time to be written.
  if (tsr_topology_device_count(topology) <= 4096) {
    tsr_text picture = TSR_TEXT_EMPTY;
    check_json(topology);
    tsr_topology_print(topology, &picture);
    assert(picture.length < 100000);
    tsr_text_deinit(&picture);
  }
  tsr_topology_release(topology);
  return 0;
}
