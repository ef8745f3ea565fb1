
#include "advice/near.h"
#include "base/text_internal.h"
#include "advice/advice_internal.h"
#include "support/models.h"
#include "support/real_models.h"
#include "support/test.h"

static const struct {
  const char *rules, *mesh, *lints;
} cases[] = {
    {"embed -> _, tp\nup -> tp, fsdp\nnorm -> _\n", "fsdp=2,tp=8", ""},
    {"weight -> _\nlayers\\.\\d+ -> tp\n", NULL,
     "my.rules:2: \"layers\\.\\d+\" comes too late for layers.0.mlp.up.weight and 3 more (8320 "
     "bytes): see my.rules:1 \"weight\"\n"},
    {"weight -> _\n\nlm_head -> tp\n", NULL, "my.rules:3: \"lm_head\" matches no tensor\n"},
    {"weight -> _\nweight -> tp\n", NULL, "my.rules:2: \"weight\" repeats my.rules:1\n"},
    {"embed -> _\nup -> _\n", NULL,
     "no rule for layers.0.norm.weight and 1 more like it (128 bytes)\n"},
    {"embed -> _\nup -> _\nlayers\\.\\d+\\.nrom -> _\n", NULL,
     "no rule for layers.0.norm.weight and 1 more like it (128 bytes)\n"
     "my.rules:3: \"layers\\.\\d+\\.nrom\" matches no tensor, but nearly layers.0.norm.weight and "
     "1 "
     "more like it (128 bytes)\n"},
    {"embed -> _\nup -> _\n^norm -> _\n", NULL,
     "no rule for layers.0.norm.weight and 1 more like it (128 bytes)\n"
     "my.rules:3: \"^norm\" matches no tensor, but nearly layers.0.norm.weight and 1 more like it "
     "(128 bytes)\n"},
    {"weight -> x+tp, y\n", "tp=2",
     "my.rules:1: \"weight\" names axis \"x\", which is not in the mesh\n"
     "my.rules:1: \"weight\" names axis \"y\", which is not in the mesh\n"
     "my.rules:1: \"weight\" has 2 entries, more than there are dimensions in layers.0.norm.weight "
     "and 1 more (128 bytes)\n"},
    {"embed -> tp, tp\n. -> _\n", "tp=2", "my.rules:1: \"embed\" uses axis \"tp\" twice\n"},
    {"embed -> tp\n. -> tp\n", "tp=3",
     "my.rules:2: \".\" cannot cut layers.0.mlp.up.weight and 3 more (8320 bytes): dimension 0 has "
     "size 64\n"
     "my.rules:1: \"embed\" cannot cut embed.weight (6400 bytes): dimension 0 has size 100\n"},
    {"embed -> tp/sizes(50,51)\n. -> _\n", "tp=2",
     "my.rules:1: \"embed\" cannot cut embed.weight (6400 bytes): dimension 0 has size 100\n"},
    {"embed -> tp/cyclic(7)\n. -> _\n", "tp=2",
     "my.rules:1: \"embed\" cannot cut embed.weight (6400 bytes): dimension 0 has size 100\n"},
    {"weight -> _\nstep -> ()\n", "tp=2", ""},
};

static void assert_lints(const tsr_rules *rules, const tsr_tree *tree, const tsr_mesh *mesh,
                         const char *expected) {
  tsr_lints lints;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_rules_lint(rules, tree, mesh, &lints));
  tsr_lints_print(&lints, rules, tree, &text);
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
  tsr_lints_deinit(&lints);
}

static void what_is_odd_is_said_with_its_place(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = make_rules(cases[i].rules);
    tsr_mesh *mesh = cases[i].mesh ? make_mesh(cases[i].mesh) : NULL;
    assert_lints(rules, tree, mesh, cases[i].lints);
    tsr_mesh_release(mesh);
    tsr_rules_release(rules);
  }
  tsr_tree_release(tree);
}

static void rules_by_calls_have_numbers(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_spec *spec = make_spec("_");
  const tsr_rule given[] = {{.pattern = "weight", .spec = spec},
                            {.pattern = "lm_head", .spec = spec}};
  tsr_rules *rules = NULL;
  tsr_lints lints;
  assert_ok(tsr_rules_create(given, 2, &rules));
  assert_lints(rules, tree, NULL, "rule 1: \"lm_head\" matches no tensor\n");
  assert_ok(tsr_rules_lint(rules, tree, NULL, &lints));
  assert_int_equal(lints.count, 1);
  assert_int_equal(lints.items[0].kind, TSR_LINT_NEVER_MATCHES);
  assert_string_equal(tsr_lint_word(lints.items[0].kind), "never_matches");
  tsr_lints_deinit(&lints);
  tsr_rules_release(rules);
  tsr_spec_release(spec);
  tsr_tree_release(tree);
}

static const struct {
  const char *pattern, *path;
  int distance;
} near[] = {
    {"q_porj", "layers.0.q_proj.weight", 1},  // a swap is one slip
    {"embed_token\\.weight", "embed_tokens.weight", 1},
    {"EMBED\\.", "embed.weight", 0},
    {"attention", "mlp.up_proj", -1},
    {"lm_head", "embed_tokens.weight", -1},
    {"(q|k|v)_porj", "layers.0.q_mlp", -1},
    {"layers\\.\\d+\\.(up|down)", "layers.0.gate", 0},
    {"nrm|embde", "embed.weight", 1},
    {"embet|xxxxx", "embed.weight", 1},
    {"[a-z]+", "embed.weight", -1},
    {"[]x]{2,3}embed", "embed.weight", 0},
    {"(?P<kind>embed)x*", "embed.weight", 0},
    {"(?i)weigt$", "embed.weight", 1},
    {"embedx?", "embed.weight", 0},
    {"(?:[(|]\\)|x)embed", "embed.weight", 0},
    {"\\", "embed.weight", -1},
    {"[", "x", -1},
    {"(?", "x", -1},
    {"{", "x", -1},
    {"", "x", -1},
};

static void slips_of_the_pen_are_near(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(near); i++) {
    const int distance = tsr_pattern_distance(near[i].pattern, near[i].path);
    if (distance != near[i].distance) print_error("pattern %s\n", near[i].pattern);
    assert_int_equal(distance, near[i].distance);
  }
}

// Rules that ship with the library have nothing odd about them, but that a family's file serves
// members of it that lack some tensors; and their plans have no problems.
static void assert_clean(const real_model *model, void *context) {
  const char *variant = context;
  tsr_rules *rules = real_model_rules(model, variant);
  tsr_lints lints;
  tsr_findings findings;
  tsr_plan *plan = NULL;
  assert_ok(tsr_rules_lint(rules, model->tree, model->mesh, &lints));
  for (int64_t i = 0; i < lints.count; i++)
    if (lints.items[i].kind != TSR_LINT_NEVER_MATCHES) {
      tsr_text text = TSR_TEXT_EMPTY;
      tsr_lints_print(&lints, rules, model->tree, &text);
      fail_msg("%s: %s", model->file, tsr_text_string(&text));
    }
  tsr_lints_deinit(&lints);
  assert_ok(tsr_plan_match(model->tree, model->mesh, rules, NULL, &plan));
  assert_ok(tsr_plan_check(plan, NULL, &findings));
  for (int64_t i = 0; i < findings.count; i++)
    if (findings.items[i].kind != TSR_FINDING_SMALL) {
      tsr_text text = TSR_TEXT_EMPTY;
      tsr_findings_print(&findings, plan, &text);
      fail_msg("%s: %s", model->file, tsr_text_string(&text));
    }
  tsr_findings_deinit(&findings);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
}

static void presets_are_clean_on_real_models(void **state) {
  (void)state;
  char both[] = "fsdp+tp", tp[] = "tp";
  assert_true(each_real_model(assert_clean, both) >= 13);
  assert_true(each_real_model(assert_clean, tp) >= 13);
}

typedef struct ingredients {
  tsr_tree *tree;
  tsr_mesh *mesh;
  tsr_rules *rules;
} ingredients;

static tsr_status lint_and_print(void *context) {
  const ingredients *with = context;
  tsr_lints lints;
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_rules_lint(with->rules, with->tree, with->mesh, &lints));
  tsr_lints_print(&lints, with->rules, with->tree, &text);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  tsr_lints_deinit(&lints);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  ingredients with = {make_small_tree(), make_mesh("tp=3"),
                      make_rules("embed -> tp\nup -> x, tp, tp\nup -> _\nnrom -> _\n")};
  test_allocation_sweep(lint_and_print, &with);
  tsr_rules_release(with.rules);
  tsr_mesh_release(with.mesh);
  tsr_tree_release(with.tree);
}

SUITE(lint, TEST(what_is_odd_is_said_with_its_place), TEST(rules_by_calls_have_numbers),
      TEST(slips_of_the_pen_are_near), TEST(presets_are_clean_on_real_models),
      TEST(memory_may_run_out))
