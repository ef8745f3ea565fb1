// Expressions over facts, facts from config.json, and specs fitted to fewer or renamed axes.
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "rules/rules_internal.h"
#include "support/test.h"
#include "tessera/rules.h"

static const tsr_fact facts[] = {
    {"heads", 32}, {"kv_heads", 8}, {"head_dim", 128}, {"big", INT64_MAX}};

static tsr_status spec_of(const char *spec, const tsr_rules_options *options, tsr_text *out) {
  tsr_text line = TSR_TEXT_EMPTY;
  tsr_rules *rules = NULL;
  tsr_text_addf(&line, "w -> %s", spec);
  tsr_status status = tsr_rules_parse(tsr_text_string(&line), "f", options, &rules);
  if (!status) status = tsr_spec_print(tsr_rules_at(rules, 0)->spec, TSR_FORM_SHORT, out);
  tsr_rules_release(rules);
  tsr_text_deinit(&line);
  return status;
}

static void assert_spec(const char *spec, const tsr_rules_options *options, const char *wanted) {
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(spec_of(spec, options, &out));
  assert_string_equal(tsr_text_string(&out), wanted);
  tsr_text_deinit(&out);
}

static void expressions_are_computed(void **state) {
  (void)state;
  static const struct {
    const char *spec, *wanted;
  } cases[] = {
      {"tp/parts({heads*head_dim}/{head_dim})", "tp/parts(4096/128)"},
      {"tp/parts({heads * (head_dim + 2) - 2})", "tp/parts(4158)"},
      {"tp/parts({heads/kv_heads})", "tp/parts(4)"},
      {"tp/parts({8 - 4 - 2})", "tp/parts(2)"},
      {"tp/parts({- -3})", "tp/parts(3)"},
      {"tp/parts({max(1, heads/kv_heads)}, {min(heads, 3)})", "tp/parts(4, 3)"},
      {"tp/parts({ceil_div(9, kv_heads)}, {ceil_div(8, kv_heads)})", "tp/parts(2, 1)"},
      {"\"{not}\", tp", "\"{not}\", tp"},
      {"\"a\\\"{not}\", tp/parts({2})", "\"a\\\"{not}\", tp/parts(2)"},
      {"#sdy.sharding<@mesh, [{\"x\"}, {}]>", "x, _"},
  };
  const tsr_rules_options options = {
      .size = sizeof options, .facts = facts, .fact_count = COUNT_OF(facts)};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_spec(cases[i].spec, &options, cases[i].wanted);
}

static void bad_expressions_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"tp/parts({intermediate})", TSR_CAUSE_UNKNOWN_FACT,
       "f:1:6: in {intermediate}: fact \"intermediate\" is missing; its name in config.json is "
       "intermediate_size"},
      {"tp/parts({tp})", TSR_CAUSE_UNKNOWN_FACT,
       "f:1:6: in {tp}: the size of axis \"tp\" is unknown without a mesh"},
      {"tp/parts({kv_haeds})", TSR_CAUSE_UNKNOWN_FACT,
       "f:1:6: in {kv_haeds}: fact \"kv_haeds\" is unknown; did you mean \"kv_heads\"?"},
      {"tp/parts({heads/3})", TSR_CAUSE_INDIVISIBLE,
       "f:1:6: in {heads/3}: 32 / 3 leaves a remainder"},
      {"tp/parts({1/0})", TSR_CAUSE_DIVISION_BY_ZERO, "f:1:6: in {1/0}: 1 / 0"},
      {"tp/parts({big*2})", TSR_CAUSE_OVERFLOW, "f:1:6: in {big*2}: a value beyond 64 bits"},
      {"tp/parts({big+1})", TSR_CAUSE_OVERFLOW, "f:1:6: in {big+1}: a value beyond 64 bits"},
      {"tp/parts({-big-2})", TSR_CAUSE_OVERFLOW, "f:1:6: in {-big-2}: a value beyond 64 bits"},
      {"tp/parts({(-big-1)/-1})", TSR_CAUSE_OVERFLOW,
       "f:1:6: in {(-big-1)/-1}: a value beyond 64 bits"},
      {"tp/parts({sqrt(4, 2)})", TSR_CAUSE_SYNTAX,
       "f:1:6: in {sqrt(4, 2)}: there is no function sqrt, only min, max and ceil_div"},
      {"tp/parts({heads", TSR_CAUSE_SYNTAX, "f:1:6: a { without a } in \"tp/parts({heads\""},
      {"tp/parts({})", TSR_CAUSE_SYNTAX, NULL},
      {"tp/parts({1 2})", TSR_CAUSE_SYNTAX, NULL},
      {"tp/parts({(1})", TSR_CAUSE_SYNTAX, NULL},
      {"tp/parts({max(1)})", TSR_CAUSE_SYNTAX, NULL},
  };
  const tsr_rules_options options = {
      .size = sizeof options, .facts = facts, .fact_count = COUNT_OF(facts)};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text out = TSR_TEXT_EMPTY;
    tsr_status status = spec_of(cases[i].spec, &options, &out);
    if (cases[i].message) assert_message(status, cases[i].message);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    tsr_status_free(status);
    tsr_text_deinit(&out);
  }
}

static void expressions_are_bounded_in_depth(void **state) {
  (void)state;
  char deep[2600] = "tp/parts({";
  memset(deep + 10, '(', 2000);
  strcpy(deep + 2010, "1})");
  tsr_text out = TSR_TEXT_EMPTY;
  assert_fails_with(spec_of(deep, NULL, &out), TOO_LARGE, "an expression too deep");
  memset(deep + 10, '-', 2000);
  assert_fails_with(spec_of(deep, NULL, &out), TOO_LARGE, "an expression too deep");
  tsr_text_deinit(&out);
}

static void axes_are_dropped_and_renamed(void **state) {
  (void)state;
  static const char *const keep[] = {"tp", "x"}, *const rename[] = {"tp", "model", "x", "y"};
  const tsr_rules_options options = {.size = sizeof options,
                                     .keep_axes = keep,
                                     .keep_axis_count = 2,
                                     .rename_axes = rename,
                                     .rename_axis_count = 2};
  static const struct {
    const char *spec, *wanted;
  } cases[] = {
      {"tp, fsdp", "model, _"},
      {"fsdp+tp, x", "model, y"},
      {"fsdp, dp", "_, _"},
      {"fsdp;tp, x:(2)4", "model, y:(2)4"},
      {"fsdp/parts(4, 4), tp/parts(q:4/2)", "_, model/parts(q:4/2)"},
      {"fsdp/parts({unknown}), tp", "_, model"},  // a fact nobody needs is not asked for
      {"tp/parts({unknown}), x else x, tp", "y, model"},
      {"tp/parts({4+4}), x else x, tp", "model/parts(8), y"},
      {"fsdp/parts({unknown}), tp else tp", "_, model"},
      {"tp else tp/parts({unknown})", "model"},
      {"?, fsdp+?, tp@3", "?, ?, model@3"},
      {"_ | unreduced=tp+dp replicated=x mesh=m", "_ | unreduced=model replicated=y mesh=m"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_spec(cases[i].spec, &options, cases[i].wanted);
  tsr_text out = TSR_TEXT_EMPTY;
  assert_fails_with(spec_of("tp/parts({unknown})", &options, &out), UNKNOWN_FACT, "unknown");
  assert_fails_with(spec_of("tp:(1){unknown}", &options, &out), UNKNOWN_FACT, "unknown");
  assert_fails_with(spec_of("tp/parts({unknown}) else tp/parts({unheard})", &options, &out),
                    UNKNOWN_FACT, "unheard");
  assert_fails_with(spec_of("tp/parts( else tp", &options, &out), SYNTAX, "");
  assert_fails_with(spec_of("tp else tp/parts(", &options, &out), SYNTAX, "behind else");
  assert_fails_with(spec_of("tp else tp else tp", &options, &out), SYNTAX, "behind else");
  tsr_text_deinit(&out);
}

static void axes_of_the_mesh_are_facts(void **state) {
  (void)state;
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse("data=2,model=16", NULL, &mesh));
  static const char *const rename[] = {"tp", "model"};
  const tsr_rules_options options = {.size = sizeof options,
                                     .facts = facts,
                                     .fact_count = COUNT_OF(facts),
                                     .rename_axes = rename,
                                     .rename_axis_count = 1,
                                     .mesh = mesh};
  assert_spec("tp/parts({tp}, {data}, {ep})", &options, "model/parts(16, 2, 1)");
  // Sixteen ranks and eight heads: each head twice.
  assert_spec("tp/parts({kv_heads*head_dim}/{head_dim}*{ceil_div(tp, kv_heads)})", &options,
              "model/parts(1024/128*2)");
  // One part that an even cut serves as well.
  assert_spec("tp/parts({heads*head_dim}/{head_dim}), data", &options, "model, data");
  assert_spec("tp/parts(0/8)", &options, "model/parts(0/8)");  // nothing says how many
  assert_spec("tp/parts(q:120/8)", &options, "model/parts(q:120/8)");
  assert_spec("none/parts(q:128/8)", &options, "none/parts(q:128/8)");
  tsr_mesh_release(mesh);
}

static void old_and_new_callers_are_told_apart(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  tsr_rules_options options = {.size = 3};
  assert_fails_with(tsr_rules_parse("a -> b", "f", &options, &rules), BAD_ARGUMENT,
                    "tsr_rules_options has size 3");
  assert_fails_with(tsr_rules_read("f", &options, &rules), BAD_ARGUMENT,
                    "tsr_rules_options has size 3");
  options.size = sizeof options + 5000;
  assert_fails_with(tsr_rules_preset("llama:tp", &options, &rules), BAD_ARGUMENT,
                    "tsr_rules_options has size");
}

// ---- config.json ----

static void assert_config(const char *text, const char *wanted) {
  tsr_json_doc *doc = NULL;
  tsr_facts found;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(tsr_json_parse(text, strlen(text), &doc));
  assert_ok(tsr_facts_from_config(tsr_json_root(doc), &found));
  for (int i = 0; i < found.count; i++)
    tsr_text_addf(&out, "%s%s=%lld", i ? " " : "", found.items[i].name,
                  (long long)found.items[i].value);
  assert_string_equal(tsr_text_string(&out), wanted);
  tsr_text_deinit(&out);
  tsr_facts_deinit(&found);
  tsr_json_destroy(doc);
}

static void configs_give_facts(void **state) {
  (void)state;
  assert_config("{}", "");
  assert_config(
      "{\"num_attention_heads\":32,\"num_key_value_heads\":8,\"hidden_size\":4096,"
      "\"intermediate_size\":14336,\"vocab_size\":128256,\"rope_scaling\":null}",
      "heads=32 kv_heads=8 hidden=4096 intermediate=14336 vocab=128256 head_dim=128");
  assert_config("{\"n_head\":12,\"n_embd\":768,\"n_inner\":null,\"n_layer\":12}",
                "heads=12 hidden=768 layers=12 kv_heads=12 head_dim=64 intermediate=3072");
  assert_config("{\"num_heads\":64,\"d_model\":4096,\"d_kv\":64,\"d_ff\":10240}",
                "heads=64 hidden=4096 head_dim=64 intermediate=10240 kv_heads=64");
  // Falcon: its older architecture has one key and value head, whatever number stands there.
  assert_config("{\"num_attention_heads\":71,\"num_kv_heads\":71,\"multi_query\":true}",
                "heads=71 kv_heads=1");
  assert_config(
      "{\"num_attention_heads\":128,\"num_kv_heads\":8,\"multi_query\":true,"
      "\"new_decoder_architecture\":true}",
      "heads=128 kv_heads=8");
  assert_config("{\"n_head\":4,\"n_embed\":8,\"multi_query\":null}",
                "heads=4 hidden=8 kv_heads=4 head_dim=2 intermediate=32");
  assert_config(
      "{\"model_type\":\"x\",\"text_config\":{\"hidden_size\":10,\"num_attention_heads\":3,"
      "\"intermediate_size\":7}}",
      "heads=3 hidden=10 intermediate=7 kv_heads=3");
}

static void bad_configs_are_refused(void **state) {
  (void)state;
  tsr_json_doc *doc = NULL;
  tsr_facts found;
  assert_ok(tsr_json_parse("[]", 2, &doc));
  assert_fails(tsr_facts_from_config(tsr_json_root(doc), &found), JSON_KIND,
               "a model's config must be an object");
  tsr_json_destroy(doc);
  assert_ok(tsr_json_parse("{\"hidden_size\":1.5}", 19, &doc));
  assert_fails_with(tsr_facts_from_config(tsr_json_root(doc), &found), NOT_AN_INTEGER,
                    "hidden_size");
  tsr_json_destroy(doc);
}

static void every_fact_names_its_keys(void **state) {
  (void)state;
  int64_t count = 0;
  const tsr_preset_fact *table = tsr_preset_facts(&count);
  assert_true(count > 5);
  for (int i = 0; i < count; i++) assert_true(table[i].name[0] && table[i].keys[0]);
}

SUITE(facts, TEST(expressions_are_computed), TEST(bad_expressions_are_refused),
      TEST(expressions_are_bounded_in_depth), TEST(axes_are_dropped_and_renamed),
      TEST(axes_of_the_mesh_are_facts), TEST(old_and_new_callers_are_told_apart),
      TEST(configs_give_facts), TEST(bad_configs_are_refused), TEST(every_fact_names_its_keys))
