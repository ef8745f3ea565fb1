#include <string.h>

#include "json/json.h"
#include "mesh/machines.h"
#include "mesh/mesh_internal.h"
#include "tessera/mesh.h"

static tsr_status from_text(const char *text, const tsr_topology *topology, tsr_mesh **out_mesh) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(text, strlen(text), &doc));
  const tsr_status status = tsr_mesh_from_json(tsr_json_root(doc), topology, out_mesh);
  tsr_json_destroy(doc);
  return status;
}

static void to_text(const tsr_mesh *mesh, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  tsr_mesh_to_json(mesh, &writer);
}

static void documents_round_trip(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{\"axes\":[]}",
      "{\"axes\":[[\"data\",4],[\"model\",2]]}",
      "{\"axes\":[[\"a b\",2],[\"\\n\",1]],\"types\":[\"auto\",\"manual\"]}",
      "{\"axes\":[[\"x\",4]],\"devices\":[3,1,0,2]}",
      "{\"axes\":[[\"x\",4]],\"types\":[\"explicit\"],\"abstract\":true}",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    tsr_mesh *mesh = NULL, *again = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(from_text(texts[i], NULL, &mesh));
    to_text(mesh, &text);
    assert_string_equal(tsr_text_string(&text), texts[i]);
    assert_ok(from_text(tsr_text_string(&text), NULL, &again));
    assert_true(tsr_mesh_equal(mesh, again));
    tsr_text_deinit(&text);
    tsr_mesh_release(mesh);
    tsr_mesh_release(again);
  }
}

static void random_documents_round_trip(void **state) {
  (void)state;
  test_random random = {6};
  for (int round = 0; round < 300; round++) {
    tsr_mesh *mesh = random_mesh(&random, 8, 200), *again = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    to_text(mesh, &text);
    assert_ok(from_text(tsr_text_string(&text), NULL, &again));
    assert_true(tsr_mesh_equal(mesh, again));
    tsr_text_deinit(&text);
    tsr_mesh_release(mesh);
    tsr_mesh_release(again);
  }
}

static void a_topology_completes_documents(void **state) {
  (void)state;
  tsr_topology *topology = listed_topology((const int64_t[]){4, 0, 2, 6}, 4);
  tsr_mesh *mesh = NULL;
  assert_ok(from_text("{\"axes\": [[\"x\", -1], [\"y\", 2]]}", topology, &mesh));
  assert_mesh_prints(mesh, "x=2,y=2 devices=[4,0,2,6]");
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void broken_documents_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *text;
    tsr_cause cause;
    const char *part;
  } cases[] = {
      {"[]", TSR_CAUSE_JSON_KIND, "mesh: wanted an object, found array"},
      {"{}", TSR_CAUSE_JSON_KIND, "mesh: axes: missing, wanted an array"},
      {"{\"axes\": 4}", TSR_CAUSE_JSON_KIND, "mesh: axes: wanted an array, found 4"},
      {"{\"axes\": [\"x\"]}", TSR_CAUSE_JSON_KIND, "mesh: axis: wanted an array, found \"x\""},
      {"{\"axes\": [[\"x\"]]}", TSR_CAUSE_JSON_KIND, "mesh: axis: wanted [name, size], found 1 values"},
      {"{\"axes\": [[2, 2]]}", TSR_CAUSE_JSON_KIND, "axis name"},
      {"{\"axes\": [[\"x\", \"2\"]]}", TSR_CAUSE_JSON_KIND, "axis size"},
      {"{\"axes\": [[\"x\\u0000\", 2]]}", TSR_CAUSE_SYNTAX, "axis name contains a zero byte"},
      {"{\"axes\": [[\"x\", 2]], \"device\": []}", TSR_CAUSE_UNKNOWN_FIELD,
       "mesh: key \"device\" is not axes, types, devices or abstract"},
      {"{\"axes\": [[\"x\", 2]], \"devices\": []}", TSR_CAUSE_BAD_ARGUMENT, "wanted at least one"},
      {"{\"axes\": [[\"x\", 2]], \"devices\": {}}", TSR_CAUSE_JSON_KIND, "devices: wanted an array"},
      {"{\"axes\": [[\"x\", 2]], \"devices\": [0, true]}", TSR_CAUSE_JSON_KIND, "device"},
      {"{\"axes\": [[\"x\", 2]], \"devices\": [0, 3000000000]}", TSR_CAUSE_UNKNOWN_DEVICE,
       "device 3000000000; ids are 0 to 2147483647"},
      {"{\"axes\": [[\"x\", 2]], \"types\": []}", TSR_CAUSE_MESH_AXIS_TYPES_MISMATCH,
       "0 axis types for 1 axes"},
      {"{\"axes\": [[\"x\", 2]], \"types\": [\"best\"]}", TSR_CAUSE_UNKNOWN_AXIS_TYPE, "best"},
      {"{\"axes\": [[\"x\", 2]], \"types\": 1}", TSR_CAUSE_JSON_KIND, "types: wanted an array"},
      {"{\"axes\": [[\"x\", 2]], \"abstract\": 1}", TSR_CAUSE_JSON_KIND, "abstract"},
      {"{\"axes\": [[\"x\", 2]], \"devices\": [0, 1], \"abstract\": true}", TSR_CAUSE_BAD_ARGUMENT,
       "an abstract mesh has no devices"},
      {"{\"axes\": [[\"x\", 2], [\"x\", 2]]}", TSR_CAUSE_DUPLICATE_AXIS_NAME, "\"x\""},
      {"{\"axes\": [[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]}", TSR_CAUSE_TOO_LARGE,
       "a mesh of 17 axes; at most 16 are possible"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_mesh *mesh = NULL;
    test_assert_fails_with(from_text(cases[i].text, NULL, &mesh), cases[i].cause, cases[i].part,
                           __FILE__, __LINE__);
    assert_null(mesh);
  }
}

static tsr_status read_document(void *context) {
  (void)context;
  tsr_mesh *mesh = NULL;
  TSR_TRY(from_text("{\"axes\": [[\"x\", 4]], \"types\": [\"manual\"], \"devices\": [3, 1, 0, 2]}",
                    NULL, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void reading_survives_running_out_of_memory(void **state) {
  (void)state;
  test_allocation_sweep(read_document, NULL);
}

SUITE(mesh_json, TEST(documents_round_trip), TEST(random_documents_round_trip),
      TEST(a_topology_completes_documents), TEST(broken_documents_are_refused),
      TEST(reading_survives_running_out_of_memory))
