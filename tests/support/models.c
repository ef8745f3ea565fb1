#include "support/models.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "support/test.h"
#include "tessera/engine/plan.h"

tsr_tree *make_tree(const tsr_tensor *tensors, int64_t count) {
  tsr_tree *tree = NULL;
  assert_ok(tsr_tree_create(tensors, count, &tree));
  return tree;
}

tsr_tree *make_small_tree(void) {
  const tsr_tensor tensors[] = {
      TENSOR("embed.weight", 100, 16),    TENSOR("layers.0.mlp.up.weight", 64, 16),
      TENSOR("layers.0.norm.weight", 16), TENSOR("layers.1.mlp.up.weight", 64, 16),
      TENSOR("layers.1.norm.weight", 16), {.path = "step", .dtype = TSR_I64},
  };
  return make_tree(tensors, COUNT_OF(tensors));
}

tsr_mesh *make_mesh(const char *text) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

tsr_spec *make_spec(const char *text) {
  tsr_spec *spec = NULL;
  assert_ok(tsr_spec_parse(text, TSR_FORM_SHORT, &spec));
  return spec;
}

tsr_status read_tree(const char *json, tsr_tree **out_tree) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(json, strlen(json), &doc));
  tsr_status status = tsr_tree_from_json(tsr_json_root(doc), out_tree);
  tsr_json_destroy(doc);
  return status;
}

tsr_plan *make_plan(const tsr_tree *tree, const char *mesh_text, const char *const *specs) {
  const int64_t count = tsr_tree_count(tree);
  const tsr_spec **parsed = calloc((size_t)count + 1, sizeof *parsed);
  tsr_mesh *mesh = mesh_text ? make_mesh(mesh_text) : NULL;
  tsr_plan *plan = NULL;
  assert_non_null(parsed);
  for (int64_t i = 0; i < count; i++) parsed[i] = specs[i] ? make_spec(specs[i]) : NULL;
  assert_ok(tsr_plan_from_specs(tree, mesh, parsed, &plan));
  for (int64_t i = 0; i < count; i++) tsr_spec_release(parsed[i]);
  free(parsed);
  tsr_mesh_release(mesh);
  return plan;
}

static char *describe(const tsr_plan *plan, int64_t index) {
  tsr_plan_row row = TSR_PLAN_ROW;
  tsr_text text = TSR_TEXT_EMPTY;
  char *taken = NULL;
  assert_ok(tsr_plan_at(plan, index, &row));
  assert_ok(tsr_spec_print(row.wanted, TSR_FORM_SHORT, &text));
  tsr_text_add(&text, " -> ");
  assert_ok(tsr_spec_print(row.final, TSR_FORM_SHORT, &text));
  tsr_text_addf(&text, " %lld", (long long)row.bytes_per_device);
  for (int i = 0; i < row.note_count; i++) {
    const tsr_plan_note *note = &row.notes[i];
    tsr_text_addf(&text, "; %s %d %lld %lld %s", tsr_why_word(note->why), note->dim,
                  (long long)note->rule, (long long)note->argument, note->axis ? note->axis : "-");
  }
  assert_ok(tsr_text_take(&text, &taken));
  return taken;
}

void assert_row(const tsr_plan *plan, int64_t index, const char *expected) {
  char *text = describe(plan, index);
  assert_string_equal(text, expected);
  free(text);
}

tsr_rules *make_rules(const char *text) {
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_parse(text, "my.rules", NULL, &rules));
  return rules;
}

tsr_logical_rules *make_logical_rules(const char *text) {
  tsr_logical_rules *rules = NULL;
  assert_ok(tsr_logical_rules_parse(text, "my.logical", &rules));
  return rules;
}

char *write_plan(const tsr_plan *plan, int indent) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  char *taken = NULL;
  tsr_json_writer_init(&writer, &text, indent);
  tsr_plan_to_json(plan, &writer);
  assert_ok(tsr_text_take(&text, &taken));
  return taken;
}

tsr_status read_plan(const char *json, tsr_plan **out_plan) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(json, strlen(json), &doc));
  tsr_status status = tsr_plan_from_json(tsr_json_root(doc), out_plan);
  tsr_json_destroy(doc);
  return status;
}
