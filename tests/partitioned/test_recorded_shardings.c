// Results of the recorded programs lie on devices as those of JAX did (case.json: mesh, outputs).
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"
#include "tessera/program/partitioned.h"

static void add_string(const tsr_json *string, tsr_text *out) {
  const char *bytes = NULL;
  size_t length = 0;
  assert_ok(tsr_json_get_string(string, "name", &bytes, &length));
  tsr_text_addf(out, "%.*s", (int)length, bytes);
}

// "x=2,y=4". JAX gives programs the positions of devices, so their ids do not matter.
static void add_mesh(const tsr_json *mesh, tsr_text *out) {
  const char *comma = "";
  for (const tsr_json *axis = tsr_json_first(tsr_json_find(mesh, "axes")); axis;
       axis = tsr_json_next(axis), comma = ",") {
    int64_t size = 0;
    assert_ok(tsr_json_get_int(tsr_json_find(axis, "size"), "size", &size));
    tsr_text_add(out, comma);
    add_string(tsr_json_find(axis, "name"), out);
    tsr_text_addf(out, "=%lld", (long long)size);
  }
}

// [["x"], [], ["y", "z"]] as "x, _, y+z".
static void add_spec(const tsr_json *spec, tsr_text *out) {
  const char *comma = "";
  for (const tsr_json *dim = tsr_json_first(spec); dim; dim = tsr_json_next(dim), comma = ", ") {
    const char *plus = "";
    tsr_text_add(out, comma);
    if (!tsr_json_first(dim)) tsr_text_add(out, "_");
    for (const tsr_json *axis = tsr_json_first(dim); axis; axis = tsr_json_next(axis), plus = "+") {
      tsr_text_add(out, plus);
      add_string(axis, out);
    }
  }
  if (!tsr_json_first(spec)) tsr_text_add(out, "()");
}

static void check_output(const char *name, const tsr_partitioned *step, int64_t index,
                         const tsr_mesh *mesh, const tsr_json *output) {
  TSR_OWN(layout, want);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  const tsr_json *spec = tsr_json_find(output, "spec");
  bool same = false;
  if (!spec || tsr_json_kind_of(spec) != TSR_JSON_ARRAY) return;  // on a mesh of its own
  assert_ok(tsr_partitioned_result(step, index, &value));
  const tsr_shape shape = tsr_layout_shape(value.layout);
  add_spec(spec, &text);
  assert_ok(tsr_layout_from_text(mesh, tsr_text_string(&text), &shape, &want));
  assert_ok(tsr_layout_equivalent(value.layout, want, &same));
  if (!same) printf("%s: result %lld is not %s\n", name, (long long)index, tsr_text_string(&text));
  assert_true(same);
  tsr_text_deinit(&text);
}

// False = the case has no mesh of several devices.
static bool check_case(const char *name) {
  TSR_OWN(program, program);
  TSR_OWN(partitioned, step);
  TSR_OWN(mesh, mesh);
  char path[512];
  tsr_json_doc *doc = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  int64_t index = 0;
  snprintf(path, sizeof path, "tests/programs/%s/case.json", name);
  assert_ok(tsr_json_read_file(path, &doc));
  const tsr_json *root = tsr_json_root(doc), *meshes = tsr_json_find(root, "mesh");
  add_mesh(meshes, &text);
  snprintf(path, sizeof path, "tests/programs/%s/program.mlir", name);
  assert_ok(tsr_program_open(path, NULL, &program));
  assert_ok(tsr_mesh_parse(tsr_text_string(&text), NULL, &mesh));
  const bool several = tsr_mesh_device_count(mesh) > 1 && tsr_program_mesh_count(program);
  if (several) assert_ok(tsr_program_partition(program, NULL, &step));
  for (const tsr_json *output = tsr_json_first(tsr_json_find(root, "outputs")); several && output;
       output = tsr_json_next(output))
    check_output(name, step, index++, mesh, output);
  tsr_text_deinit(&text);
  tsr_json_destroy(doc);
  return several;
}

static void results_lie_as_recorded(void **state) {
  (void)state;
  DIR *folder = opendir("tests/programs");
  int checked = 0;
  assert_non_null(folder);
  for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
    if (!strchr(entry->d_name, '.') && strncmp(entry->d_name, "exported_", 9))
      checked += check_case(entry->d_name);
  closedir(folder);
  assert_true(checked > 100);
}

SUITE(recorded_shardings, TEST(results_lie_as_recorded))
