// Which preset a model takes, by its config.json and its mesh.
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "rules/rules_internal.h"
#include "support/test.h"
#include "tessera/rules.h"

// ---- by the config ----

static tsr_status choose(const char *config, const char **out_family, tsr_text *out_reason) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(config, strlen(config), &doc));
  tsr_status status = tsr_preset_from_config(tsr_json_root(doc), out_family, out_reason);
  tsr_json_destroy(doc);
  return status;
}

typedef struct config_case {
  const char *config, *family, *reason;  // family NULL = no preset is for it
} config_case;

static void assert_chosen(const config_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *family = "unset", *silent = "unset";
    tsr_text reason = TSR_TEXT_EMPTY;
    assert_ok(choose(cases[i].config, &family, &reason));
    assert_ok(choose(cases[i].config, &silent, NULL));
    if (!cases[i].family)
      assert_null(family);
    else
      assert_string_equal(family, cases[i].family);
    assert_ptr_equal(family, silent);
    assert_string_equal(tsr_text_string(&reason), cases[i].reason);
    tsr_text_deinit(&reason);
  }
}

static void model_types_name_their_preset(void **state) {
  (void)state;
  static const config_case cases[] = {
      {"{\"model_type\": \"llama\"}", "llama", "model_type \"llama\""},
      {"{\"model_type\": \"qwen3_moe\"}", "qwen_moe", "model_type \"qwen3_moe\""},
      {"{\"model_type\": \"xlm-roberta\"}", "bert", "model_type \"xlm-roberta\""},
      {"{\"model_type\": \"falcon\"}", "gpt_neox", "model_type \"falcon\""},
      // A nickname is no model_type: Qwen 1 has other names than Qwen 2, DeepSeek 1 than 2.
      {"{\"model_type\": \"qwen\"}", NULL, "model_type \"qwen\""},
      {"{\"model_type\": \"deepseek\"}", NULL, "model_type \"deepseek\""},
      {"{\"model_type\": \"megatron\"}", NULL, "model_type \"megatron\""},
      {"{\"model_type\": \"Llama\"}", NULL, "model_type \"Llama\""},
      {"{\"model_type\": \"mllama\", \"text_config\": {\"model_type\": \"mllama_text_model\"}}",
       NULL, "model_type \"mllama\""},
      {"{\"model_type\": \"0123456789012345678901234567890123456789012345678901234567890123456\"}",
       NULL, "model_type \"0123456789012345678901234567890123456789012345678901234567890123...\""},
  };
  assert_chosen(cases, COUNT_OF(cases));
}

static void nested_configs_name_it_if_no_preset_is_for_the_whole(void **state) {
  (void)state;
  static const config_case cases[] = {
      {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"mistral\"}}", "llama",
       "text_config.model_type \"mistral\""},
      {"{\"model_type\": \"internvl_chat\", \"llm_config\": {\"model_type\": \"qwen2\"}}", "llama",
       "llm_config.model_type \"qwen2\""},
      {"{\"model_type\": \"x\", \"language_config\": {\"model_type\": \"deepseek_v2\"}}",
       "deepseek", "language_config.model_type \"deepseek_v2\""},
      {"{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"llama\"}}", "gemma",
       "model_type \"gemma3\""},
      {"{\"text_config\": {\"model_type\": \"new\"}}", NULL, "text_config.model_type \"new\""},
      {"{\"model_type\": \"llava\", \"text_config\": 3}", NULL, "model_type \"llava\""},
  };
  assert_chosen(cases, COUNT_OF(cases));
}

static void classes_name_it_without_a_model_type(void **state) {
  (void)state;
  static const config_case cases[] = {
      {"{\"architectures\": [\"LlamaForCausalLM\"]}", "llama",
       "architectures \"LlamaForCausalLM\""},
      {"{\"architectures\": [\"Qwen2MoeForCausalLM\"]}", "qwen_moe",
       "architectures \"Qwen2MoeForCausalLM\""},
      {"{\"architectures\": [\"GPTNeoXForCausalLM\"]}", "gpt_neox",
       "architectures \"GPTNeoXForCausalLM\""},
      {"{\"architectures\": [\"GPT2LMHeadModel\"]}", "gpt2", "architectures \"GPT2LMHeadModel\""},
      {"{\"architectures\": [\"BertModel\"]}", "bert", "architectures \"BertModel\""},
      {"{\"architectures\": [\"Llama\"]}", "llama", "architectures \"Llama\""},
      {"{\"architectures\": [\"LlamaGuardForCausalLM\"]}", NULL,
       "architectures \"LlamaGuardForCausalLM\""},
      {"{\"architectures\": [\"MambaForCausalLM\"]}", NULL, "architectures \"MambaForCausalLM\""},
      {"{\"architectures\": [\"ForCausalLM\"]}", NULL, "architectures \"ForCausalLM\""},
  };
  assert_chosen(cases, COUNT_OF(cases));
}

static void other_configs_name_no_preset(void **state) {
  (void)state;
  static const config_case cases[] = {
      {"{\"architectures\": []}", NULL, ""},
      {"{\"architectures\": [3]}", NULL, ""},
      {"{\"architectures\": \"LlamaForCausalLM\"}", NULL, ""},
      {"{\"model_type\": \"\"}", NULL, ""},
      {"{\"model_type\": 3}", NULL, ""},
      {"{\"hidden_size\": 64}", NULL, ""},
  };
  assert_chosen(cases, COUNT_OF(cases));
  const char *family = NULL;
  assert_fails_with(choose("[]", &family, NULL), JSON_KIND, "a model's config must be an object");
  assert_fails_with(tsr_preset_from_config(NULL, &family, NULL), JSON_KIND, "must be an object");
}

// A type in two headers would be served by whichever file comes first.
static void a_type_has_one_preset(void **state) {
  (void)state;
  const char *type = NULL, *family = NULL, *other_family = NULL, *other = NULL;
  int count = 0;
  for (; (type = tsr_preset_model_type_at(count, &family)); count++) {
    assert_non_null(tsr_preset_text(family));
    assert_ptr_equal(tsr_preset_text(type), tsr_preset_text(family));
    for (int j = 0; j < count; j++) {
      other = tsr_preset_model_type_at(j, &other_family);
      assert_string_not_equal(other, type);
    }
  }
  assert_true(count > 40);
  assert_null(tsr_preset_model_type_at(-1, &family));
}

// ---- by the mesh ----

static tsr_status name_on(const char *mesh_text, const char *name, const char *const *renames,
                          tsr_text *out) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  const tsr_rules_options options = {.size = sizeof options,
                                     .mesh = mesh,
                                     .rename_axes = renames,
                                     .rename_axis_count = renames ? 1 : 0};
  tsr_status status = tsr_preset_name(name, &options, out);
  tsr_mesh_release(mesh);
  return status;
}

static void meshes_choose_the_variant(void **state) {
  (void)state;
  static const char *const renames[] = {"tp", "model"};
  static const struct {
    const char *mesh, *name, *wanted;
    bool renamed;
  } cases[] = {
      {"tp=8", "llama", "llama:tp", false},
      {"fsdp=8", "llama", "llama:fsdp", false},
      {"tp=4,fsdp=2", "mistral", "mistral:fsdp+tp", false},
      {"dp=2,fsdp=2,ep=2,tp=2", "mixtral", "mixtral:fsdp+ep+tp", false},
      {"dp=2,tp=1", "gpt2", "gpt2:tp", false},
      {"model=8", "llama", "llama:tp", true},
      // What has a variant keeps it.
      {"fsdp=2,tp=4", "llama:tp", "llama:tp", false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text name = TSR_TEXT_EMPTY;
    assert_ok(name_on(cases[i].mesh, cases[i].name, cases[i].renamed ? renames : NULL, &name));
    assert_string_equal(tsr_text_string(&name), cases[i].wanted);
    tsr_text_deinit(&name);
  }
}

static void meshes_that_do_not_fit_are_explained(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *name, *part;
  } cases[] = {
      {"model=8", "llama",
       "mesh {model=8} has none of the axes that preset \"llama\" has rules for: fsdp, tp"},
      {"dp=4", "mixtral",
       "has none of the axes that preset \"mixtral\" has rules for: fsdp, ep, tp"},
      {"ep=2,tp=2", "llama", "preset \"llama\" has no rules for axis \"ep\", only for fsdp, tp"},
      {"tp=2", "llama:", "needs a variant"},
      {"tp=2", "lama", "there is no preset \"lama\""},
      {"tp=2", "lama", "did you mean \"llama\"?"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text name = TSR_TEXT_EMPTY;
    assert_fails_with(name_on(cases[i].mesh, cases[i].name, NULL, &name), UNKNOWN_PRESET,
                      cases[i].part);
    assert_string_equal(tsr_text_string(&name), "");
    tsr_text_deinit(&name);
  }
}

static void rules_come_without_a_variant_too(void **state) {
  (void)state;
  static const tsr_fact facts[] = {{"heads", 8}, {"kv_heads", 2}, {"head_dim", 4}};
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_text shown = TSR_TEXT_EMPTY;
  assert_ok(tsr_mesh_parse("tp=2", NULL, &mesh));
  const tsr_rules_options options = {
      .size = sizeof options, .facts = facts, .fact_count = 3, .mesh = mesh};
  assert_ok(tsr_rules_preset("llama", &options, &rules));
  tsr_rules_print(rules, &shown);
  assert_non_null(strstr(tsr_text_string(&shown), "down_proj\\.weight$  ->  _, tp\n"));
  assert_null(strstr(tsr_text_string(&shown), "fsdp"));
  tsr_text_deinit(&shown);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
}

static tsr_status choose_and_name(void *context) {
  (void)context;
  const char *family = NULL;
  tsr_text reason = TSR_TEXT_EMPTY, name = TSR_TEXT_EMPTY;
  tsr_status status = choose("{\"model_type\": \"mistral\"}", &family, &reason);
  if (!status) status = name_on("fsdp=2,tp=2", family, NULL, &name);
  tsr_text_deinit(&reason);
  tsr_text_deinit(&name);
  return status;
}

static tsr_status explain_misfits(void *context) {
  const char *const *mesh_and_name = context;
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_status status = name_on(mesh_and_name[0], mesh_and_name[1], NULL, &name);
  tsr_text_deinit(&name);
  if (tsr_status_cause(status) != TSR_CAUSE_UNKNOWN_PRESET) return status;
  tsr_status_free(status);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  static const char *no_axis[] = {"model=8", "llama"}, *other_axis[] = {"ep=2", "llama"};
  test_allocation_sweep(choose_and_name, NULL);
  test_allocation_sweep(explain_misfits, no_axis);
  test_allocation_sweep(explain_misfits, other_axis);
}

SUITE(preset_choice, TEST(model_types_name_their_preset),
      TEST(nested_configs_name_it_if_no_preset_is_for_the_whole),
      TEST(classes_name_it_without_a_model_type), TEST(other_configs_name_no_preset),
      TEST(a_type_has_one_preset), TEST(meshes_choose_the_variant),
      TEST(meshes_that_do_not_fit_are_explained), TEST(rules_come_without_a_variant_too),
      TEST(running_out_of_memory_is_reported))
