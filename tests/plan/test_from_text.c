// Plans from the path of a model: by rules as text, and by presets.
#include <stdio.h>

#include "plan/plan_internal.h"
#include "support/folder.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/own.h"

static const char tensors[] =
    "{\"model.layers.0.self_attn.q_proj.weight\": {\"dtype\": \"f32\", \"shape\": [64, 32]},"
    " \"model.layers.0.self_attn.o_proj.weight\": {\"dtype\": \"f32\", \"shape\": [32, 64]},"
    " \"model.norm.weight\": {\"dtype\": \"f32\", \"shape\": [32]}}";
static const char config[] =
    "{\"model_type\": \"llama\", \"num_attention_heads\": 8, \"num_key_value_heads\": 8,"
    " \"hidden_size\": 32, \"head_dim\": 8}";

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void make_model(test_folder *folder, const char *config_text) {
  test_folder_make(folder);
  write_text(test_folder_path(folder, "model.json"), tensors);
  if (config_text) write_text(test_folder_path(folder, "config.json"), config_text);
}

static void assert_spec(const tsr_plan *plan, const char *path, const char *expected) {
  TSR_OWN(text, text);
  const tsr_spec *spec = tsr_plan_find_spec(plan, path);
  assert_non_null(spec);
  assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), expected);
}

static void rules_as_text_serve_a_model_by_its_path(void **state) {
  (void)state;
  test_folder folder;
  make_model(&folder, NULL);
  TSR_OWN(mesh, mesh);
  TSR_OWN(plan, plan);
  assert_ok(tsr_mesh_parse("fsdp=2,tp=4", NULL, &mesh));
  assert_ok(tsr_plan_from_text(test_folder_path(&folder, "model.json"), mesh,
                               "q_proj -> tp, fsdp\no_proj -> fsdp, tp\n.* -> ()\n", &plan));
  assert_int_equal(tsr_plan_count(plan), 3);
  assert_spec(plan, "model.layers.0.self_attn.q_proj.weight", "tp, fsdp");
  assert_spec(plan, "model.layers.0.self_attn.o_proj.weight", "fsdp, tp");
  assert_spec(plan, "model.norm.weight", "()");
  assert_true(tsr_mesh_equal(tsr_plan_mesh(plan), mesh));
  test_folder_remove(&folder);
}

static void rules_know_the_facts_of_config_json(void **state) {
  (void)state;
  static const char rules[] = "q_proj -> tp/parts(q:{heads*head_dim}/{head_dim}), _\n.* -> ()\n";
  test_folder folder;
  make_model(&folder, config);
  TSR_OWN(mesh, mesh);
  TSR_OWN(plan, plan);
  assert_ok(tsr_mesh_parse("tp=4", NULL, &mesh));
  assert_ok(tsr_plan_from_text(test_folder_path(&folder, "model.json"), mesh, rules, &plan));
  assert_spec(plan, "model.layers.0.self_attn.q_proj.weight", "tp, _");
  test_folder_remove(&folder);
  make_model(&folder, NULL);
  tsr_plan *none = NULL;
  assert_fails_with(tsr_plan_from_text(test_folder_path(&folder, "model.json"), mesh, rules, &none),
                    UNKNOWN_FACT, "heads");
  assert_null(none);
  test_folder_remove(&folder);
}

static void bad_rules_models_and_configs_are_refused(void **state) {
  (void)state;
  test_folder folder;
  make_model(&folder, "[1, 2]");
  TSR_OWN(mesh, mesh);
  tsr_plan *plan = NULL;
  assert_ok(tsr_mesh_parse("tp=4", NULL, &mesh));
  assert_fails_with(
      tsr_plan_from_text(test_folder_path(&folder, "model.json"), mesh, ".* -> ()\n", &plan),
      JSON_KIND, "the config.json of ");
  assert_fails_with(
      tsr_plan_from_text(test_folder_path(&folder, "gone.json"), mesh, ".* -> ()\n", &plan), IO,
      "gone.json");
  test_folder_remove(&folder);
  make_model(&folder, NULL);
  assert_fails_with(
      tsr_plan_from_text(test_folder_path(&folder, "model.json"), mesh, "a -> (\n", &plan), SYNTAX,
      "rules:1:7: expected \")\", found the end");
  assert_fails_with(
      tsr_plan_from_text(test_folder_path(&folder, "model.json"), mesh, "q_proj -> tp\n", &plan),
      NO_RULE, "model.norm.weight");
  assert_null(plan);
  test_folder_remove(&folder);
}

static void a_preset_is_named_or_found_by_the_model_type(void **state) {
  (void)state;
  test_folder folder;
  make_model(&folder, config);
  const char *path = test_folder_path(&folder, "model.json");
  TSR_OWN(mesh, mesh);
  TSR_OWN(plan, named);
  TSR_OWN(plan, found);
  tsr_plan *none = NULL;
  assert_ok(tsr_mesh_parse("tp=4", NULL, &mesh));
  assert_ok(tsr_plan_from_preset(path, mesh, "llama:tp", &named));
  assert_ok(tsr_plan_from_preset(path, mesh, NULL, &found));
  assert_spec(found, "model.layers.0.self_attn.q_proj.weight", "tp, _");
  assert_spec(found, "model.layers.0.self_attn.o_proj.weight", "_, tp");
  assert_true(tsr_plan_equal(named, found));
  assert_fails_with(tsr_plan_from_preset(path, mesh, "lama", &none), UNKNOWN_PRESET,
                    "there is no preset \"lama\"");
  test_folder_remove(&folder);
  make_model(&folder, "{\"model_type\": \"mystery\"}");
  path = test_folder_path(&folder, "model.json");
  assert_fails_with(tsr_plan_from_preset(path, mesh, NULL, &none), UNKNOWN_PRESET,
                    "no preset is for model_type \"mystery\"");
  test_folder_remove(&folder);
  make_model(&folder, NULL);
  path = test_folder_path(&folder, "model.json");
  assert_fails_with(tsr_plan_from_preset(path, mesh, NULL, &none), UNKNOWN_PRESET,
                    "has no config.json to choose a preset by; name a preset such as \"llama\"");
  assert_null(none);
  test_folder_remove(&folder);
}

typedef struct making {
  const char *path;
  const tsr_mesh *mesh;
} making;

static tsr_status make_both(void *context) {
  const making *m = context;
  TSR_OWN(plan, by_text);
  TSR_OWN(plan, by_preset);
  TSR_TRY(tsr_plan_from_text(m->path, m->mesh, "proj -> tp, _\n.* -> ()\n", &by_text));
  return tsr_plan_from_preset(m->path, m->mesh, NULL, &by_preset);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_folder folder;
  make_model(&folder, config);
  TSR_OWN(mesh, mesh);
  assert_ok(tsr_mesh_parse("tp=4", NULL, &mesh));
  char path[128];
  snprintf(path, sizeof path, "%s", test_folder_path(&folder, "model.json"));
  test_allocation_sweep(make_both, &(making){path, mesh});
  test_folder_remove(&folder);
}

SUITE(from_text, TEST(rules_as_text_serve_a_model_by_its_path),
      TEST(rules_know_the_facts_of_config_json), TEST(bad_rules_models_and_configs_are_refused),
      TEST(a_preset_is_named_or_found_by_the_model_type), TEST(every_allocation_may_fail))
