// Presets against the tensor lists of real models (tests/models): in every variant each tensor has
// a rule, and each cut fits on a mesh on which the model would sensibly run.
#include <stdio.h>
#include <string.h>

#include "plan/tree_internal.h"
#include "rules/rules_internal.h"
#include "support/real_models.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"

// ---- every model, every variant ----

// The rule of all tensors of a pattern, which must have one and the same.
static int64_t match_group(const tsr_rules *rules, const tsr_tree *tree,
                           const tsr_tree_group *group) {
  int64_t first = -1;
  for (int64_t i = 0; i < group->count; i++) {
    const char *path = tsr_tree_at(tree, group->members[i])->path;
    int64_t rule = -1;
    assert_ok(tsr_rules_match(rules, path, &rule));
    if (rule < 0) fail_msg("%s has no rule", path);
    if (!i) first = rule;
    assert_int_equal(rule, first);
  }
  return first;
}

// The cut of a rule's spec fits the tensor.
static void check_cut(const real_model *model, const tsr_spec *spec, const tsr_tensor *tensor) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  assert_ok(tsr_sharding_bind(model->mesh, spec, false, &sharding));
  tsr_status status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, &layout);
  if (status) fail_msg("%s: %s: %s", model->file, tensor->path, tsr_status_text(status));
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
}

static void check_variant(const real_model *model, const tsr_tree_groups *groups,
                          const char *variant) {
  tsr_rules *rules = real_model_rules(model, variant);
  for (int64_t i = 0; i < groups->count; i++) {
    const tsr_tree_group *group = &groups->items[i];
    const int64_t rule = match_group(rules, model->tree, group);
    check_cut(model, tsr_rules_at(rules, rule)->spec, tsr_tree_at(model->tree, group->members[0]));
  }
  tsr_rules_release(rules);
}

static void check_variants(const real_model *model, void *context) {
  static const char *const variants[] = {"fsdp",    "tp",    "fsdp+tp",   "ep",
                                         "fsdp+ep", "ep+tp", "fsdp+ep+tp"};
  const size_t count = tsr_mesh_axis_find(model->mesh, "ep") >= 0 ? COUNT_OF(variants) : 3;
  int64_t *tensors = context;
  tsr_tree_groups groups;
  assert_ok(tsr_tree_group_by(model->tree, NULL, &groups));
  for (size_t i = 0; i < count; i++) check_variant(model, &groups, variants[i]);
  *tensors += tsr_tree_count(model->tree) * (int64_t)count;
  tsr_tree_groups_deinit(&groups);
}

static void presets_serve_every_tensor_of_real_models(void **state) {
  (void)state;
  int64_t tensors = 0;
  assert_int_equal(each_real_model(check_variants, &tensors), 22);
  assert_true(tensors > 300000);
}

// What a map made of a Llama still has Llama's config.json.
static void check_choice(const real_model *model, void *context) {
  int *count = context;
  const bool mapped = !strcmp(model->preset, "megatron");
  assert_string_equal(tsr_preset_text(model->chosen),
                      tsr_preset_text(mapped ? "llama" : model->preset));
  ++*count;
}

static void real_models_name_their_preset(void **state) {
  (void)state;
  int count = 0;
  each_real_model(check_choice, &count);
  assert_int_equal(count, 22);
}

// ---- single cuts, by eye ----

static void assert_cut(const char *file, const char *variant, const char *path,
                       const char *wanted) {
  real_model model;
  int64_t rule = -1;
  tsr_text out = TSR_TEXT_EMPTY;
  real_model_open(file, &model);
  tsr_rules *rules = real_model_rules(&model, variant);
  assert_ok(tsr_rules_match(rules, path, &rule));
  assert_true(rule >= 0);
  assert_ok(tsr_spec_print(tsr_rules_at(rules, rule)->spec, TSR_FORM_SHORT, &out));
  assert_string_equal(tsr_text_string(&out), wanted);
  tsr_text_deinit(&out);
  tsr_rules_release(rules);
  real_model_close(&model);
}

static const struct {
  const char *file, *variant, *path, *spec;
} cuts[] = {
    // Columns of what comes in, rows of what goes out.
    {"llama-3-8b.json", "fsdp+tp", "model.layers.3.self_attn.q_proj.weight", "tp, fsdp"},
    {"llama-3-8b.json", "fsdp+tp", "model.layers.3.self_attn.o_proj.weight", "fsdp, tp"},
    {"llama-3-8b.json", "fsdp+tp", "model.layers.3.mlp.gate_proj.weight", "tp, fsdp"},
    {"llama-3-8b.json", "fsdp+tp", "model.layers.3.mlp.down_proj.weight", "fsdp, tp"},
    {"llama-3-8b.json", "tp", "model.layers.3.mlp.down_proj.weight", "_, tp"},
    {"llama-3-8b.json", "fsdp", "model.layers.3.mlp.down_proj.weight", "fsdp, _"},
    {"llama-3-8b.json", "tp", "model.embed_tokens.weight", "tp, _"},
    {"llama-3-8b.json", "tp", "model.norm.weight", "_"},
    // Eight heads on eight ranks are an even cut, on sixteen each is held twice.
    {"llama-3-8b.json", "tp", "model.layers.3.self_attn.k_proj.weight", "tp, _"},
    {"llama-3-70b.json", "tp", "model.layers.3.self_attn.k_proj.weight", "tp/parts(1024/128*2), _"},
    {"gemma-2-9b.json", "tp", "model.layers.3.self_attn.v_proj.weight", "tp/parts(2048/256*2), _"},
    // Biases follow the outputs of columns; after rows they are whole.
    {"qwen2-7b.json", "fsdp+tp", "model.layers.0.self_attn.k_proj.bias", "tp"},
    {"gpt2.json", "fsdp+tp", "h.0.mlp.c_fc.bias", "tp"},
    {"gpt2.json", "fsdp+tp", "h.0.mlp.c_proj.bias", "_"},
    // Conv1D is the other way round.
    {"gpt2.json", "fsdp+tp", "h.0.mlp.c_fc.weight", "fsdp, tp"},
    {"gpt2.json", "fsdp+tp", "h.0.mlp.c_proj.weight", "tp, fsdp"},
    {"gpt2.json", "tp", "h.0.attn.c_attn.bias", "tp/parts(q:768/64, k:768/64, v:768/64)"},
    {"gpt2.json", "fsdp+tp", "h.0.attn.bias", "_"},
    // Fused tensors, part by part.
    {"phi-3-mini.json", "fsdp+tp", "model.layers.0.self_attn.qkv_proj.weight",
     "tp/parts(q:3072/96, k:3072/96, v:3072/96), fsdp"},
    {"phi-3-mini.json", "tp", "model.layers.0.mlp.gate_up_proj.weight",
     "tp/parts(gate:8192, up:8192), _"},
    {"phi-3-mini.json", "tp", "model.layers.0.self_attn.qkv_proj.bias",
     "tp/parts(q:3072/96, k:3072/96, v:3072/96)"},
    // Query, key and value of each group beside each other: cut between groups.
    {"pythia-1b.json", "tp", "gpt_neox.layers.0.attention.query_key_value.weight", "tp, _"},
    {"falcon-40b.json", "fsdp+tp", "transformer.h.0.self_attention.query_key_value.weight",
     "tp, fsdp"},
    {"falcon-40b.json", "fsdp+tp", "transformer.h.0.self_attention.dense.weight", "fsdp, tp"},
    {"llama-3-8b-megatron.json", "tp", "decoder.layers.0.self_attention.linear_qkv.weight",
     "tp, _"},
    {"llama-3-8b-megatron.json", "tp", "decoder.layers.0.mlp.linear_fc1.weight",
     "tp/parts(gate:14336, up:14336), _"},
    {"phi-3-mini.json", "fsdp", "model.layers.0.mlp.gate_up_proj.weight", "_, fsdp"},
    // Experts.
    {"mixtral-8x7b.json", "fsdp+ep+tp", "model.layers.0.block_sparse_moe.experts.3.w1.weight",
     "ep+tp, fsdp"},
    {"mixtral-8x7b.json", "ep", "model.layers.0.mlp.experts.gate_up_proj", "ep, _, _"},
    {"mixtral-8x7b.json", "tp", "model.layers.0.mlp.experts.gate_up_proj",
     "_, tp/parts(gate:14336, up:14336), _"},
    {"mixtral-8x7b.json", "ep+tp", "model.layers.0.block_sparse_moe.experts.w13_weight",
     "ep, tp/parts(gate:14336, up:14336), _"},
    {"mixtral-8x7b.json", "ep+tp", "model.layers.0.block_sparse_moe.experts.w2_weight",
     "ep, _, tp"},
    {"qwen3-30b-a3b.json", "fsdp+ep+tp", "model.layers.0.mlp.experts.3.down_proj.weight",
     "fsdp, ep+tp"},
    {"qwen3-30b-a3b.json", "ep+tp", "model.layers.0.mlp.experts.gate_up_proj",
     "ep, tp/parts(gate:768, up:768), _"},
    {"qwen3-30b-a3b.json", "tp", "model.layers.0.mlp.shared_expert_gate.weight", "_"},
    {"deepseek-v3.json", "fsdp+tp", "model.layers.5.mlp.shared_experts.down_proj.weight",
     "fsdp, tp"},
    {"deepseek-v3.json", "fsdp+tp", "model.layers.5.self_attn.kv_a_proj_with_mqa.weight",
     "_, fsdp"},
    {"deepseek-v3.json", "fsdp+tp", "model.layers.5.self_attn.q_b_proj.weight", "tp, fsdp"},
    {"deepseek-v3.json", "tp", "model.layers.5.self_attn.kv_a_layernorm.weight", "_"},
    {"deepseek-v3.json", "tp", "model.layers.5.self_attn.kv_b_proj.weight", "tp, _"},
    {"llama-4-scout.json", "fsdp+ep+tp",
     "language_model.model.layers.0.feed_forward.experts.gate_up_proj",
     "ep, fsdp, tp/parts(gate:8192, up:8192)"},
    {"llama-4-scout.json", "tp", "vision_model.model.layers.0.self_attn.q_proj.weight", "_"},
    // Gate and up in turns: pairs stay together, and so do the 32 inputs of a block of down.
    {"gpt-oss-20b.json", "ep+tp", "model.layers.0.mlp.experts.gate_up_proj_blocks", "ep, tp, _, _"},
    {"gpt-oss-20b.json", "tp", "model.layers.0.mlp.experts.down_proj_blocks", "_, _, tp, _"},
    {"gpt-oss-20b.json", "tp", "model.layers.0.mlp.experts.gate_up_proj", "_, _, tp"},
    // Five parts, two of them with fewer groups than ranks.
    {"mamba-codestral-7b.json", "tp", "backbone.layers.0.mixer.in_proj.weight",
     "tp/parts(z:8192/64, x:8192/64, B:1024/128*2, C:1024/128*2, dt:128), _"},
    {"mamba-codestral-7b.json", "tp", "backbone.layers.0.mixer.conv1d.bias",
     "tp/parts(x:8192/64, B:1024/128*2, C:1024/128*2)"},
    {"command-r-plus.json", "tp", "model.layers.0.self_attn.k_norm.weight", "tp/parts(8*2), _"},
    {"qwen2-vl-7b.json", "fsdp+tp", "visual.blocks.0.attn.qkv.weight", "fsdp"},
    {"t5-v1_1-xxl.json", "tp", "decoder.block.0.layer.1.EncDecAttention.o.weight", "_, tp"},
    {"t5-v1_1-xxl.json", "tp",
     "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", "_, tp"},
    {"bert-base-uncased.json", "tp", "bert.encoder.layer.0.attention.output.dense.weight", "_, tp"},
    {"bert-base-uncased.json", "tp", "bert.encoder.layer.0.attention.output.LayerNorm.weight", "_"},
    {"whisper-small.json", "tp", "model.decoder.layers.0.encoder_attn.out_proj.weight", "_, tp"},
};

static void tensors_are_cut_as_megatron_cuts_them(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cuts); i++)
    assert_cut(cuts[i].file, cuts[i].variant, cuts[i].path, cuts[i].spec);
}

// ---- names ----

static void families_and_aliases_are_listed(void **state) {
  (void)state;
  static const char *const wanted[] = {"gpt2",      "llama",    "mistral", "qwen",    "qwen2",
                                       "qwen3",     "gemma",    "phi3",    "mixtral", "deepseek",
                                       "t5",        "bert",     "vit",     "whisper", "qwen_moe",
                                       "qwen3_moe", "gpt_neox", "falcon",  "megatron"};
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    bool listed = false;
    for (int j = 0; tsr_preset_family_at(j); j++)
      listed |= !strcmp(tsr_preset_family_at(j), wanted[i]);
    assert_true(listed);
    assert_non_null(tsr_preset_text(wanted[i]));
  }
  assert_null(tsr_preset_family_at(-1));
  assert_null(tsr_preset_text("no such family"));
  assert_ptr_equal(tsr_preset_text("mistral"), tsr_preset_text("llama"));
}

// What the library holds is what the files say.
static void presets_are_their_files(void **state) {
  (void)state;
  FILE *file = fopen("presets/llama.rules", "rb");
  char text[8192];
  assert_non_null(file);
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  assert_string_equal(tsr_preset_text("llama"), text);
}

static void wrong_names_are_explained(void **state) {
  (void)state;
  static const struct {
    const char *name, *part;
  } cases[] = {
      {"lama:tp", "there is no preset \"lama\", only "},
      {"lama:tp", "; did you mean \"llama\"?"},
      {"llama", "preset \"llama\" needs a variant, the axes to use, as in \"llama:fsdp+tp\""},
      {"llama:", "needs a variant"},
      {"llama:tp+", "a variant is a list of axes such as fsdp+tp"},
      {"llama:a+b+c+d+e+f+g+h+i", "a variant is a list of axes"},
      {"llama:ep", "preset \"llama\" has no rules for axis \"ep\", only for fsdp, tp"},
      {"llama:heads", "preset \"llama\" has no rules for axis \"heads\""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = NULL;
    assert_fails_with(tsr_rules_preset(cases[i].name, NULL, &rules), UNKNOWN_PRESET, cases[i].part);
  }
}

static void facts_are_asked_for_only_when_needed(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_preset("phi3:fsdp", NULL, &rules));
  tsr_rules_release(rules);
  rules = NULL;
  assert_fails_with(tsr_rules_preset("phi3:fsdp+tp", NULL, &rules), UNKNOWN_FACT,
                    "fact \"heads\" is missing; its name in config.json is num_attention_heads");
  static const char *const keep[] = {"tp"};
  const tsr_rules_options options = {
      .size = sizeof options, .keep_axes = keep, .keep_axis_count = 1};
  assert_fails_with(tsr_rules_preset("phi3:fsdp", &options, &rules), BAD_ARGUMENT,
                    "keep_axes is given with a preset, whose variant names the axes to keep");
}

static void heads_are_minded_where_they_are_known(void **state) {
  (void)state;
  static const char *const families[] = {"t5:tp", "bert:tp", "vit:tp", "whisper:tp", "deepseek:tp"};
  for (size_t i = 0; i < COUNT_OF(families); i++) {
    tsr_rules *rules = NULL;
    assert_ok(tsr_rules_preset(families[i], NULL, &rules));
    assert_non_null(strstr(tsr_rules_warnings(rules), "fact \"heads\" is missing"));
    tsr_rules_release(rules);
  }
  static const tsr_fact facts[] = {{"heads", 64}, {"head_dim", 64}};
  const tsr_rules_options options = {.size = sizeof options, .facts = facts, .fact_count = 2};
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_preset("t5:tp", &options, &rules));
  assert_string_equal(tsr_rules_warnings(rules), "");
  tsr_rules_release(rules);
}

static tsr_status open_t5(void *context) {
  (void)context;
  static const tsr_fact facts[] = {{"heads", 64}, {"head_dim", 64}};
  const tsr_rules_options options = {.size = sizeof options, .facts = facts, .fact_count = 2};
  tsr_rules *rules = NULL;
  tsr_status status = tsr_rules_preset("t5:fsdp+tp", &options, &rules);
  tsr_rules_release(rules);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(open_t5, NULL);
}

SUITE(presets, TEST(heads_are_minded_where_they_are_known),
      TEST(presets_serve_every_tensor_of_real_models), TEST(real_models_name_their_preset),
      TEST(tensors_are_cut_as_megatron_cuts_them), TEST(families_and_aliases_are_listed),
      TEST(presets_are_their_files), TEST(wrong_names_are_explained),
      TEST(facts_are_asked_for_only_when_needed), TEST(running_out_of_memory_is_reported))
