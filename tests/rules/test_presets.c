// Presets against the tensor lists of real models (tests/models): in every variant each tensor has
// a rule, and each cut fits on a mesh on which the model would sensibly run.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "tessera/layout.h"
#include "tessera/rules.h"

static const char folder[] = "tests/models";

typedef struct model {
  tsr_json_doc *doc;
  const tsr_json *tensors;
  char *preset;
  tsr_mesh *mesh;
  tsr_facts facts;
} model;

static char *copy_string(const tsr_json *value) {
  const char *bytes = NULL;
  size_t length = 0;
  assert_ok(tsr_json_get_string(value, "model", &bytes, &length));
  return strndup(bytes, length);
}

static void open_model(const char *name, model *out) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_ok(tsr_json_read_file(path, &out->doc));
  const tsr_json *root = tsr_json_root(out->doc);
  char *mesh = copy_string(tsr_json_find(root, "mesh"));
  out->tensors = tsr_json_find(root, "tensors");
  out->preset = copy_string(tsr_json_find(root, "preset"));
  assert_ok(tsr_mesh_parse(mesh, NULL, &out->mesh));
  assert_ok(tsr_facts_from_config(tsr_json_find(root, "config"), &out->facts));
  free(mesh);
}

static void close_model(model *m) {
  tsr_facts_deinit(&m->facts);
  tsr_mesh_release(m->mesh);
  free(m->preset);
  tsr_json_destroy(m->doc);
}

static tsr_rules *open_preset(const model *m, const char *variant) {
  char name[128];
  tsr_rules *rules = NULL;
  const tsr_rules_options options = {.size = sizeof options,
                                     .facts = m->facts.items,
                                     .fact_count = m->facts.count,
                                     .mesh = m->mesh};
  snprintf(name, sizeof name, "%s:%s", m->preset, variant);
  assert_ok(tsr_rules_preset(name, &options, &rules));
  return rules;
}

// ---- paths ----

// "layers.{0..31}.x" stands for every number between; `visit` sees each path.
typedef void visit_fn(void *context, const char *path);

static void expand(const char *compact, visit_fn *visit, void *context) {
  const char *open = strchr(compact, '{');
  int first = 0, last = 0, length = 0;
  if (!open) {
    visit(context, compact);
    return;
  }
  assert_int_equal(sscanf(open, "{%d..%d}%n", &first, &last, &length), 2);
  for (int i = first; i <= last; i++) {
    char *path = NULL;
    assert_true(asprintf(&path, "%.*s%d%s", (int)(open - compact), compact, i, open + length) > 0);
    expand(path, visit, context);
    free(path);
  }
}

typedef struct seen {
  const tsr_rules *rules;
  int rule;  // of the first path
  int64_t count;
} seen;

static void match_path(void *context, const char *path) {
  seen *s = context;
  int rule = -1;
  assert_ok(tsr_rules_match(s->rules, path, &rule));
  if (rule < 0) fail_msg("%s has no rule", path);
  if (!s->count++) s->rule = rule;
  assert_int_equal(rule, s->rule);
}

// ---- every model, every variant ----

static void read_shape(const tsr_json *value, tsr_shape *out) {
  int64_t dims[8];
  int rank = 0;
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at))
    assert_ok(tsr_json_get_int(at, "shape", &dims[rank++]));
  assert_ok(tsr_shape_init(out, dims, rank));
}

// The cut of a rule's spec fits the tensor; its bytes are cut `*out_shards` times.
static void check_cut(const model *m, const tsr_spec *spec, const tsr_shape *shape,
                      const char *path) {
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  assert_ok(tsr_sharding_bind(m->mesh, spec, false, &sharding));
  tsr_status status = tsr_layout_create(sharding, shape, TSR_POLICY_ERROR, &layout);
  if (status) fail_msg("%s: %s", path, tsr_status_text(status));
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
}

static int64_t check_variant(const model *m, const char *variant) {
  tsr_rules *rules = open_preset(m, variant);
  int64_t count = 0;
  for (const tsr_json *row = tsr_json_first(m->tensors); row; row = tsr_json_next(row)) {
    char *compact = copy_string(tsr_json_at(row, 0));
    seen s = {.rules = rules};
    tsr_shape shape;
    expand(compact, match_path, &s);
    read_shape(tsr_json_at(row, 2), &shape);
    check_cut(m, tsr_rules_get(rules, s.rule)->spec, &shape, compact);
    count += s.count;
    free(compact);
  }
  tsr_rules_release(rules);
  return count;
}

static bool is_list(const char *name) {
  const size_t length = strlen(name);
  return length > 5 && !strcmp(name + length - 5, ".json");
}

static void presets_serve_every_tensor_of_real_models(void **state) {
  (void)state;
  static const char *const variants[] = {"fsdp",    "tp",    "fsdp+tp",   "ep",
                                         "fsdp+ep", "ep+tp", "fsdp+ep+tp"};
  int models = 0;
  int64_t tensors = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (!is_list(entry->d_name)) continue;
    model m;
    open_model(entry->d_name, &m);
    const size_t count = tsr_mesh_find_axis(m.mesh, "ep") >= 0 ? COUNT_OF(variants) : 3;
    for (size_t i = 0; i < count; i++) tensors += check_variant(&m, variants[i]);
    close_model(&m);
    models++;
  }
  closedir(dir);
  assert_int_equal(models, 13);
  assert_true(tensors > 300000);
}

// ---- single cuts, by eye ----

static void assert_cut(const char *file, const char *variant, const char *path,
                       const char *wanted) {
  model m;
  int rule = -1;
  tsr_text out = TSR_TEXT_EMPTY;
  open_model(file, &m);
  tsr_rules *rules = open_preset(&m, variant);
  assert_ok(tsr_rules_match(rules, path, &rule));
  assert_true(rule >= 0);
  assert_ok(tsr_spec_print(tsr_rules_get(rules, rule)->spec, TSR_FORM_SHORT, &out));
  assert_string_equal(tsr_text_string(&out), wanted);
  tsr_text_deinit(&out);
  tsr_rules_release(rules);
  close_model(&m);
}

static void tensors_are_cut_as_megatron_cuts_them(void **state) {
  (void)state;
  static const struct {
    const char *file, *variant, *path, *spec;
  } cases[] = {
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
      {"llama-3-70b.json", "tp", "model.layers.3.self_attn.k_proj.weight",
       "tp/parts(1024/128*2), _"},
      {"gemma-2-9b.json", "tp", "model.layers.3.self_attn.v_proj.weight",
       "tp/parts(2048/256*2), _"},
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
      {"phi-3-mini.json", "fsdp", "model.layers.0.mlp.gate_up_proj.weight", "_, fsdp"},
      // Experts.
      {"mixtral-8x7b.json", "fsdp+ep+tp", "model.layers.0.block_sparse_moe.experts.3.w1.weight",
       "ep+tp, fsdp"},
      {"mixtral-8x7b.json", "ep", "model.layers.0.mlp.experts.gate_up_proj", "ep, _, _"},
      {"mixtral-8x7b.json", "tp", "model.layers.0.mlp.experts.gate_up_proj",
       "_, tp/parts(gate:14336, up:14336), _"},
      {"deepseek-v3.json", "fsdp+tp", "model.layers.5.mlp.shared_experts.down_proj.weight",
       "fsdp, tp"},
      {"deepseek-v3.json", "fsdp+tp", "model.layers.5.self_attn.kv_a_proj_with_mqa.weight",
       "_, fsdp"},
      {"deepseek-v3.json", "tp", "model.layers.5.self_attn.kv_a_layernorm.weight", "_"},
      {"t5-v1_1-xxl.json", "tp", "decoder.block.0.layer.1.EncDecAttention.o.weight", "_, tp"},
      {"t5-v1_1-xxl.json", "tp",
       "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", "_, tp"},
      {"bert-base-uncased.json", "tp", "bert.encoder.layer.0.attention.output.dense.weight",
       "_, tp"},
      {"bert-base-uncased.json", "tp", "bert.encoder.layer.0.attention.output.LayerNorm.weight",
       "_"},
      {"whisper-small.json", "tp", "model.decoder.layers.0.encoder_attn.out_proj.weight", "_, tp"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_cut(cases[i].file, cases[i].variant, cases[i].path, cases[i].spec);
}

// ---- names ----

static void families_and_aliases_are_listed(void **state) {
  (void)state;
  static const char *const wanted[] = {"gpt2",  "llama", "mistral", "qwen",    "qwen2",
                                       "qwen3", "gemma", "phi3",    "mixtral", "deepseek",
                                       "t5",    "bert",  "vit",     "whisper"};
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    bool listed = false;
    for (int j = 0; tsr_preset_family(j); j++) listed |= !strcmp(tsr_preset_family(j), wanted[i]);
    assert_true(listed);
    assert_non_null(tsr_preset_text(wanted[i]));
  }
  assert_null(tsr_preset_family(-1));
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
      {"llama", "preset \"llama\" wants a variant, the axes to use, as in \"llama:fsdp+tp\""},
      {"llama:", "wants a variant"},
      {"llama:tp+", "a variant is a list of axes such as fsdp+tp"},
      {"llama:a+b+c+d+e+f+g+h+i", "a variant is a list of axes"},
      {"llama:ep", "preset \"llama\" has no rules for axis \"ep\""},
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
                    "the fact \"heads\" is not known; it is num_attention_heads in the model's "
                    "config.json, or give it with --fact heads=N");
  static const char *const keep[] = {"tp"};
  const tsr_rules_options options = {
      .size = sizeof options, .keep_axes = keep, .keep_axis_count = 1};
  assert_fails_with(tsr_rules_preset("phi3:fsdp", &options, &rules), BAD_ARGUMENT,
                    "a preset's variant says which axes to keep");
}

static tsr_status open_t5(void *context) {
  (void)context;
  tsr_rules *rules = NULL;
  tsr_status status = tsr_rules_preset("t5:fsdp+tp", NULL, &rules);
  tsr_rules_release(rules);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(open_t5, NULL);
}

SUITE(presets, TEST(presets_serve_every_tensor_of_real_models),
      TEST(tensors_are_cut_as_megatron_cuts_them), TEST(families_and_aliases_are_listed),
      TEST(presets_are_their_files), TEST(wrong_names_are_explained),
      TEST(facts_are_asked_for_only_when_needed), TEST(running_out_of_memory_is_reported))
