#include <stdio.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "support/models.h"
#include "support/test.h"

static const char llama[] =
    "embed -> tp, fsdp\n"
    "mlp\\.up -> fsdp, tp\n"
    "norm -> _\n";

static void the_first_rule_that_matches_decides(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("fsdp=2,tp=8");
  tsr_rules *rules = make_rules(llama);
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  assert_row(plan, 0, "tp, fsdp -> _, fsdp 3200; rule -1 0 0 -; indivisible 0 -1 8 tp");
  assert_row(plan, 1, "fsdp, tp -> fsdp, tp 256; rule -1 1 0 -");
  assert_row(plan, 2, "_ -> () 64; rule -1 2 0 -");
  assert_row(plan, 5, "() -> () 8; scalar -1 -1 0 -");
  assert_ptr_equal(tsr_plan_rules(plan), rules);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static const struct {
  const char *rules;
  tsr_match_options options;
  const char *mesh, *path, *row;
} options_cases[] = {
    {"weight -> fsdp",
     {.min_size = 1000},
     "fsdp=2",
     "layers.0.norm.weight",
     "() -> () 64; rule -1 0 0 -; small -1 -1 1000 -"},
    {"weight -> fsdp",
     {.min_size = 16},
     "fsdp=2",
     "layers.0.norm.weight",
     "fsdp -> fsdp 32; rule -1 0 0 -"},
    {"weight -> fsdp",
     {.eformer_min_size = true},
     "fsdp=2",
     "layers.0.mlp.up.weight",
     "() -> () 4096; rule -1 0 0 -; small -1 -1 16384 -"},
    {". -> fsdp, tp",
     {0},
     "fsdp=2",
     "layers.0.norm.weight",
     "fsdp, tp -> fsdp 32; rule -1 0 0 -; cut_to_rank -1 -1 2 -"},
    {". -> fsdp, tp",
     {0},
     NULL,
     "layers.0.norm.weight",
     "fsdp, tp -> fsdp 64; rule -1 0 0 -; cut_to_rank -1 -1 2 -"},
    {". -> fsdp, tp",
     {.raw = true},
     NULL,
     "layers.0.norm.weight",
     "fsdp, tp -> fsdp, tp 64; rule -1 0 0 -"},
    {". -> fsdp", {.raw = true}, NULL, "step", "fsdp -> fsdp 8; rule -1 0 0 -"},
    {"x -> fsdp",
     {.allow_unmatched = true},
     "fsdp=2",
     "embed.weight",
     "() -> () 6400; no_rule -1 -1 0 -"},
    {". -> x+fsdp",
     {0},
     "fsdp=2",
     "embed.weight",
     "x+fsdp -> () 6400; rule -1 0 0 -; axis_missing 0 -1 0 x"},
    {". -> x+fsdp",
     {.keep_group_members = true},
     "fsdp=2",
     "embed.weight",
     "x+fsdp -> fsdp, _ 3200; rule -1 0 0 -; axis_missing 0 -1 0 x"},
    {". -> fsdp",
     {.policy = TSR_POLICY_UNEVEN},
     "fsdp=8",
     "embed.weight",
     "fsdp -> fsdp, _ 832; rule -1 0 0 -"},
    {". -> fsdp",
     {.policy = TSR_POLICY_PAD},
     "fsdp=8",
     "embed.weight",
     "fsdp -> fsdp, _ 832; rule -1 0 0 -"},
    {". -> fsdp",
     {.no_correction = true},
     "fsdp=8",
     "embed.weight",
     "fsdp -> fsdp 6400; rule -1 0 0 -"},
    {". -> _, fsdp",
     {.no_correction = true},
     "fsdp=8",
     "embed.weight",
     "_, fsdp -> _, fsdp 800; rule -1 0 0 -"},
};

static void options_say_what_is_cut(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  for (size_t i = 0; i < COUNT_OF(options_cases); i++) {
    tsr_match_options options = options_cases[i].options;
    options.size = sizeof options;
    tsr_mesh *mesh = options_cases[i].mesh ? make_mesh(options_cases[i].mesh) : NULL;
    tsr_rules *rules = make_rules(options_cases[i].rules);
    tsr_plan *plan = NULL;
    assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
    assert_row(plan, tsr_tree_find(tree, options_cases[i].path), options_cases[i].row);
    tsr_plan_release(plan);
    tsr_rules_release(rules);
    tsr_mesh_release(mesh);
  }
  tsr_tree_release(tree);
}

static void a_default_spec_serves_the_rest(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_rules *rules = make_rules("embed -> _");
  tsr_spec *spec = make_spec("_, fsdp");
  tsr_mesh *mesh = make_mesh("fsdp=2");
  const tsr_match_options options = {.size = sizeof options, .default_spec = spec};
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  assert_row(plan, 1, "_, fsdp -> _, fsdp 2048; no_rule -1 -1 0 -; default -1 -1 0 -");
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  tsr_spec_release(spec);
  tsr_rules_release(rules);
  tsr_tree_release(tree);
}

static void tensors_without_a_rule_are_named(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = NULL;
  tsr_rules *rules = make_rules("# mine\nmlp\\.down -> tp\n");
  assert_fails(tsr_plan_match(tree, NULL, rules, NULL, &plan), NO_RULE,
               "no rule matches 5 of 6 tensors: \"embed.weight\", \"layers.0.mlp.up.weight\", "
               "\"layers.0.norm.weight\", ...");
  tsr_rules_release(rules);
  rules = make_rules("\n\nembed_tokens -> tp\nnorm|up -> tp\n");
  assert_fails(tsr_plan_match(tree, NULL, rules, NULL, &plan), NO_RULE,
               "no rule matches 1 of 6 tensors: \"embed.weight\" (nearest: rule 0 (my.rules:3) "
               "\"embed_tokens\")");
  tsr_rules_release(rules);
  tsr_tree_release(tree);
}

static void options_are_checked(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_rules *rules = make_rules(". -> _");
  tsr_plan *plan = NULL;
  tsr_match_options options = {.size = sizeof options, .min_size = -2};
  assert_fails(tsr_plan_match(tree, NULL, rules, &options, &plan), BAD_ARGUMENT,
               "a minimum of -2 elements, wanted 0 or more");
  options = TSR_MATCH_OPTIONS;
  options.eformer_min_size = true;
  options.min_size = 7;
  assert_fails(tsr_plan_match(tree, NULL, rules, &options, &plan), BAD_ARGUMENT,
               "a minimum of 7 elements and eformer's, wanted one of them");
  options.size = 3;
  assert_fails_with(tsr_plan_match(tree, NULL, rules, &options, &plan), BAD_ARGUMENT,
                    "tsr_match_options has size 3");
  tsr_rules_release(rules);
  tsr_tree_release(tree);
}

static void rows_are_given_to_those_who_ask_rightly(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_rules *rules = make_rules(". -> _");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, NULL, rules, NULL, &plan));
  const int64_t count = tsr_plan_count(plan), wrong[] = {-1, count, INT64_MAX};
  tsr_plan_row row = TSR_PLAN_ROW;
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char message[96];
    snprintf(message, sizeof message, "tensor %lld of a plan for %lld", (long long)wrong[i],
             (long long)count);
    assert_fails(tsr_plan_at(plan, wrong[i], &row), INDEX_OUT_OF_RANGE, message);
  }
  assert_null(row.tensor);
  row.size = 0;
  assert_fails_with(tsr_plan_at(plan, 0, &row), BAD_ARGUMENT, "initialise it with TSR_PLAN_ROW");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_tree_release(tree);
}

// Many tensors are matched on all cores; the rows are the same as those of few.
static void order_does_not_depend_on_threads(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  tsr_tensor *tensors = calloc(COUNT, sizeof *tensors);
  char(*paths)[32] = calloc(COUNT, sizeof *paths);
  assert_true(tensors && paths);
  static const int64_t dims[] = {8, 8};
  for (int i = 0; i < COUNT; i++) {
    snprintf(paths[i], sizeof *paths, "layers.%d.%s", i / 2, i % 2 ? "up" : "down");
    tensors[i] = (tsr_tensor){paths[i], TSR_F32, 2, dims, NULL};
  }
  tsr_tree *tree = make_tree(tensors, COUNT);
  tsr_mesh *mesh = make_mesh("a=2,b=4");
  tsr_rules *rules = make_rules("up -> a\ndown -> _, b\n");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  for (int i = 0; i < COUNT; i += 999) {
    const char *const down = "_, b -> _, b 64; rule -1 1 0 -", *const up =
                                                                   "a -> a, _ 128; rule -1 0 0 -";
    assert_row(plan, i, i % 2 ? up : down);
  }
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  rules = make_rules("up -> a\n");
  assert_fails_with(tsr_plan_match(tree, mesh, rules, NULL, &plan), NO_RULE,
                    "no rule matches 10000 of 20000 tensors: \"layers.0.down\", \"layers.1.down\"");
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  free(paths);
  free(tensors);
}

static void logical_axes_become_specs(void **state) {
  (void)state;
  const char *const kernel[] = {"embed", "mlp"}, *const square[] = {"embed", "joined"};
  const tsr_tensor tensors[] = {{"kernel", TSR_F32, 2, (int64_t[]){16, 64}, kernel},
                                {"square", TSR_F32, 2, (int64_t[]){16, 6}, square},
                                {"plain", TSR_F32, 1, (int64_t[]){16}, NULL}};
  tsr_tree *tree = make_tree(tensors, 3);
  tsr_mesh *mesh = make_mesh("data=2,model=4");
  tsr_logical_rules *rules =
      make_logical_rules("embed -> data\nmlp -> model\njoined -> data\njoined -> model\n");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_logical(tree, mesh, rules, &plan));
  assert_row(plan, 0, "data, model -> data, model 512; logical 0 0 0 -; logical 1 1 0 -");
  assert_row(plan, 1,
             "data, model -> data, _ 192; logical 0 0 0 -; logical_blocked 1 2 0 -; "
             "logical 1 3 0 -; indivisible 1 -1 4 model");
  assert_row(plan, 2, "() -> () 64; no_logical -1 -1 0 -");
  assert_ptr_equal(plan->logical_rules, rules);
  tsr_plan_release(plan);
  const char *const twice[] = {"embed", "embed"};
  const tsr_tensor wrong = {"twice", TSR_F32, 2, (int64_t[]){16, 64}, twice};
  tsr_tree *broken = make_tree(&wrong, 1);
  assert_fails_with(tsr_plan_logical(broken, mesh, rules, &plan), PARAM_AXES_FAILED, "twice");
  tsr_tree_release(broken);
  tsr_logical_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

typedef struct ingredients {
  tsr_tree *tree;
  tsr_mesh *mesh;
  tsr_rules *rules;
  tsr_logical_rules *logical;
} ingredients;

static tsr_status match_and_release(void *context) {
  const ingredients *with = context;
  tsr_plan *plan = NULL;
  TSR_TRY(with->rules ? tsr_plan_match(with->tree, with->mesh, with->rules, NULL, &plan)
                      : tsr_plan_logical(with->tree, with->mesh, with->logical, &plan));
  tsr_plan_release(plan);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  ingredients with = {make_small_tree(), make_mesh("fsdp=2,tp=8"), make_rules(llama), NULL};
  test_allocation_sweep(match_and_release, &with);
  tsr_rules_release(with.rules);
  tsr_tree_release(with.tree);
  const char *const names[] = {"embed", "mlp"};
  const tsr_tensor tensors[] = {{"w", TSR_F32, 2, (int64_t[]){16, 64}, names}, TENSOR("v", 3)};
  with = (ingredients){make_tree(tensors, 2), with.mesh, NULL,
                       make_logical_rules("embed -> fsdp\nmlp -> tp\n")};
  test_allocation_sweep(match_and_release, &with);
  tsr_logical_rules_release(with.logical);
  tsr_tree_release(with.tree);
  tsr_mesh_release(with.mesh);
}

SUITE(match, TEST(the_first_rule_that_matches_decides), TEST(options_say_what_is_cut),
      TEST(a_default_spec_serves_the_rest), TEST(tensors_without_a_rule_are_named),
      TEST(options_are_checked), TEST(rows_are_given_to_those_who_ask_rightly),
      TEST(order_does_not_depend_on_threads), TEST(logical_axes_become_specs),
      TEST(memory_may_run_out))
