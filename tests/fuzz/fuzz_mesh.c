// Whatever the text, ours, JSON's or eformer's: no crash; a mesh that comes out of it prints and
// reads back as itself, knows its devices, and survives being turned around.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/mesh.h"
#include "tessera/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_status read_json(const char *bytes, size_t length, const tsr_topology *topology,
                            tsr_mesh **out) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(bytes, length, &doc));
  tsr_status status = tsr_mesh_from_json(tsr_json_root(doc), topology, out);
  tsr_json_destroy(doc);
  return status;
}

static void check_same(const tsr_mesh *mesh, tsr_status status, tsr_mesh *again) {
  assert(!status);
  assert(tsr_mesh_equal(mesh, again) && tsr_mesh_digest(mesh).low == tsr_mesh_digest(again).low);
  tsr_mesh_release(again);
}

static void check_round_trips(const tsr_mesh *mesh, const tsr_topology *topology) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_mesh *again = NULL;
  tsr_mesh_print(mesh, &text);
  tsr_status status = tsr_mesh_parse(tsr_text_string(&text), topology, &again);
  check_same(mesh, status, again);
  tsr_text_clear(&text);
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_mesh_to_json(mesh, &writer);
  again = NULL;
  status = read_json(tsr_text_string(&text), text.length, topology, &again);
  check_same(mesh, status, again);
  tsr_text_deinit(&text);
}

static void check_positions(const tsr_mesh *mesh) {
  int64_t coords[TSR_MAX_AXES];
  const int64_t count = tsr_mesh_device_count(mesh);
  for (int64_t i = 0; i < 8; i++) {
    const int64_t position = count / 8 * i;
    tsr_mesh_coords(mesh, position, coords);
    assert(tsr_mesh_position(mesh, coords) == position);
    if (tsr_mesh_is_abstract(mesh)) continue;
    assert(tsr_mesh_device_find(mesh, tsr_mesh_device_at(mesh, position)) == position);
    assert(tsr_mesh_process(mesh, position) < tsr_mesh_process_count(mesh));
  }
}

static void check_transpose(const tsr_mesh *mesh) {
  const char *names[TSR_MAX_AXES], *reversed[TSR_MAX_AXES];
  const int count = tsr_mesh_axis_count(mesh);
  for (int i = 0; i < count; i++)
    reversed[count - 1 - i] = names[i] = tsr_mesh_axis_at(mesh, i)->name;
  tsr_mesh *turned = NULL, *back = NULL;
  tsr_status status = tsr_mesh_transpose(mesh, reversed, count, &turned);
  assert(!status);
  status = tsr_mesh_transpose(turned, names, count, &back);
  check_same(mesh, status, back);
  tsr_mesh_release(turned);
}

static void check(tsr_status status, tsr_mesh *mesh, const tsr_topology *topology) {
  if (status) {
    assert(*tsr_status_text(status) && !mesh);
    tsr_status_free(status);
    return;
  }
  check_positions(mesh);
  if (tsr_mesh_is_abstract(mesh) || tsr_mesh_device_count(mesh) <= 4096) {
    check_round_trips(mesh, topology);
    check_transpose(mesh);
  }
  tsr_mesh_release(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"a", "b"};
  char *text = malloc(size + 1);
  tsr_topology *topology = NULL;
  tsr_status status = tsr_topology_parse("gpu:2x4:order=shuffled", &topology);
  assert(text && !status);
  memcpy(text, data, size);
  text[size] = '\0';
  const tsr_topology *const machines[] = {NULL, topology};
  for (int i = 0; i < 2; i++) {
    tsr_mesh *mesh = NULL;
    status = size && data[0] == '{' ? read_json(text, size, machines[i], &mesh)
                                    : tsr_mesh_parse(text, machines[i], &mesh);
    check(status, mesh, machines[i]);
  }
  tsr_mesh *mesh = NULL;
  status = tsr_eformer_parse_mesh(topology, text, names, 2, &mesh);
  check(status, mesh, topology);
  tsr_topology_release(topology);
  free(text);
  return 0;
}
