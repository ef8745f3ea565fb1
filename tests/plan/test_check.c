#include <stdio.h>

#include "base/text_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/engine/plan.h"

static void assert_findings(const tsr_plan *plan, const tsr_check_options *options,
                            const char *expected) {
  tsr_findings findings;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_plan_check(plan, options, &findings));
  tsr_findings_print(&findings, plan, &text);
  assert_string_equal(tsr_text_string(&text), expected);
  assert_int_equal(findings.errors + findings.warnings, findings.count);
  tsr_text_deinit(&text);
  tsr_findings_deinit(&findings);
}

static const tsr_check_options strict = {.size = sizeof strict, .corrected_is_error = true};

static const struct {
  const char *spec, *findings;
} cases[] = {
    {"tp, fsdp", ""},
    {"_, _", ""},
    {"fsdp, tp", "error: w: dimension 1: size 6 is not divisible by tp=4\n"},
    {"_, fsdp+tp", "error: w: dimension 1: size 6 is not divisible by 8\n"},
    {"x+y, fsdp",
     "error: w: dimension 0: axis \"x\" is not in the mesh\n"
     "error: w: dimension 0: axis \"y\" is not in the mesh\n"},
    {"fsdp, fsdp", "error: w: dimension 1: axis \"fsdp\" is used before\n"},
    // One problem hides no other.
    {"tp, tp",
     "error: w: dimension 1: axis \"tp\" is used before\n"
     "error: w: dimension 1: size 6 is not divisible by tp=4\n"},
    {"tp+tp", "error: w: dimension 0: axis \"tp\" is used before\n"},
    {"tp, _, z",
     "error: w: the spec has 3 entries, the tensor 2 dimensions\n"
     "error: w: dimension 2: axis \"z\" is not in the mesh\n"},
    {"tp/sizes(1,2,3,4)",
     "error: w: dimension 0: its sizes or parts do not fit size 1024 in 4 shards\n"},
    {"_, tp/cyclic(2)", "error: w: dimension 1: its blocks or parts come out uneven on size 6\n"},
    {"tp:(1)3", "error: w: dimension 0: a sub-axis of \"tp\" does not divide its size 4\n"},
};

static void every_problem_is_found_at_once(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 1024, 6);
  tsr_tree *tree = make_tree(&tensor, 1);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_plan *plan = make_plan(tree, "fsdp=2,tp=4", &cases[i].spec);
    assert_findings(plan, &strict, cases[i].findings);
    tsr_plan_release(plan);
  }
  tsr_tree_release(tree);
}

static void findings_are_data(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 1024, 6);
  const char *const spec = "fsdp, tp";
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_plan *plan = make_plan(tree, "fsdp=2,tp=4", &spec);
  tsr_findings findings;
  assert_ok(tsr_plan_check(plan, NULL, &findings));
  assert_int_equal(findings.count, 1);
  assert_int_equal(findings.warnings, 1);  // correction has solved it
  const tsr_finding *finding = &findings.items[0];
  assert_int_equal(finding->kind, TSR_FINDING_INDIVISIBLE);
  assert_string_equal(tsr_finding_word(finding->kind), "indivisible");
  assert_string_equal(tsr_finding_text(finding->kind), "has a size that does not divide");
  assert_int_equal(finding->row, 0);
  assert_int_equal(finding->dim, 1);
  assert_string_equal(finding->axis, "tp");
  assert_int_equal(finding->found, 6);
  assert_int_equal(finding->wanted, 4);
  assert_false(finding->error);
  tsr_findings_deinit(&findings);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void small_tensors_are_not_worth_it(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 8);
  const char *const specs[] = {"x", "_", "()"};
  static const char finding[] =
      "warning: w: 8 elements are too few to be worth cutting; 1024 would be\n";
  tsr_check_options eformer = {.size = sizeof eformer, .empty_entries_cut = true};
  tsr_check_options tiny = {.size = sizeof tiny, .small_elements = 8};
  tsr_tree *tree = make_tree(&tensor, 1);
  for (int i = 0; i < 3; i++) {
    tsr_plan *plan = make_plan(tree, "x=2", &specs[i]);
    assert_findings(plan, NULL, i == 0 ? finding : "");
    assert_findings(plan, &eformer, i < 2 ? finding : "");
    assert_findings(plan, &tiny, "");
    tsr_plan_release(plan);
  }
  tsr_tree_release(tree);
}

// The bias of a weight that is cut has to be cut with it, small as it is.
static void members_of_groups_are_never_too_small(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR("q.bias", 16), TENSOR("norm", 16)};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_mesh *mesh = make_mesh("tp=4");
  tsr_rules *rules = make_rules("together a over tp\nq -> tp\nend\nnorm -> tp");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  assert_findings(plan, NULL,
                  "warning: norm: 16 elements are too few to be worth cutting; 1024 would be\n");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// A group that a policy could not serve is whole, which is no less odd than without the policy.
static void groups_left_whole_by_a_policy_are_found(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR("a.0.q", 14, 100), TENSOR("a.0.k", 2, 1000)};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_mesh *mesh = make_mesh("tp=4");
  tsr_rules *rules = make_rules("together a over tp\nq -> tp, _\nk -> tp/parts(2*2), _\nend\n");
  tsr_match_options options = {.size = sizeof options};
  for (int policy = TSR_POLICY_ERROR; policy < TSR_POLICY_COUNT; policy++) {
    tsr_plan *plan = NULL;
    options.policy = (tsr_policy)policy;
    assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
    assert_findings(plan, NULL, "warning: a.0.q: dimension 0: size 14 is not divisible by tp=4\n");
    tsr_plan_release(plan);
  }
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void layers_alike_share_a_line(void **state) {
  (void)state;
  const char *const specs[] = {"_, tp", "x", "_", "x", "_", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "tp=3", specs);
  assert_findings(plan, NULL,
                  "warning: embed.weight: dimension 1: size 16 is not divisible by tp=3\n"
                  "warning: layers.*.mlp.up.weight (2 tensors): dimension 0: axis \"x\" is not in "
                  "the mesh\n");
  tsr_findings findings;
  assert_ok(tsr_plan_check(plan, NULL, &findings));
  assert_int_equal(findings.count, 3);
  tsr_findings_deinit(&findings);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

// A plan whose final spec has the problem still, and sizes that may be uneven.
static void uncorrected_specs_are_errors(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("tp=8");
  tsr_rules *rules = make_rules("embed -> tp\n. -> _\n");
  tsr_match_options options = {.size = sizeof options, .no_correction = true};
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  assert_findings(plan, NULL,
                  "error: embed.weight: dimension 0: size 100 is not divisible by tp=8\n");
  tsr_plan_release(plan);
  options.policy = TSR_POLICY_UNEVEN;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  assert_findings(plan, NULL, "");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void memory_and_balance_are_looked_at(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR("w", 5000), TENSOR("v", 4096)};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_mesh *mesh = make_mesh("x=4");
  tsr_rules *rules = make_rules("w -> x/sizes(4997,1,1,1)\nv -> x\n");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  int64_t bytes[4];
  assert_ok(tsr_plan_device_bytes(plan, bytes));
  assert_int_equal(bytes[0], 4 * (4997 + 1024));
  assert_int_equal(bytes[3], 4 * (1 + 1024));
  const tsr_check_options options = {.size = sizeof options, .memory_limit = 20000};
  assert_findings(plan, &options,
                  "warning: the plan: the fullest device holds 24084 bytes, the mean one 9096\n"
                  "error: the plan: the fullest device holds 24084 bytes, the limit is 20000\n");
  const tsr_check_options lenient = {.size = sizeof options, .balance_limit = 0.3};
  assert_findings(plan, &lenient, "");
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);

  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse("gpu:1x4:memory=16K", &topology));
  assert_ok(tsr_mesh_parse("x=4", topology, &mesh));
  assert_ok(tsr_plan_match(tree, mesh, rules,
                           &(tsr_match_options){.size = sizeof(tsr_match_options)}, &plan));
  assert_findings(plan, &lenient,
                  "error: the plan: the fullest device holds 24084 bytes, the limit is 16384\n");
  tsr_plan_release(plan);
  tsr_topology_release(topology);
  tsr_mesh_release(mesh);
  tsr_rules_release(rules);
  tsr_tree_release(tree);
}

static void devices_may_be_beyond_counting(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 4096);
  const char *const spec = "y";
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_plan *plan = make_plan(tree, "x=1099511627776,y=2 abstract", &spec);
  const tsr_check_options options = {.size = sizeof options, .memory_limit = 8000};
  assert_findings(plan, &options,
                  "error: the plan: the fullest device holds 8192 bytes, the limit is 8000\n");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void a_plan_without_a_mesh_is_checked_too(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 4096);
  const char *const spec = "x, x";
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_plan *plan = make_plan(tree, NULL, &spec);
  assert_findings(plan, NULL,
                  "error: w: the spec has 2 entries, the tensor 1 dimensions\n"
                  "error: w: dimension 1: axis \"x\" is used before\n");
  tsr_findings findings;
  assert_fails_with(tsr_plan_check(plan, &(tsr_check_options){.size = 1}, &findings), BAD_ARGUMENT,
                    "tsr_check_options has size 1");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void specs_are_found_by_path(void **state) {
  (void)state;
  const char *const specs[] = {"_, tp", NULL, NULL, NULL, NULL, NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "tp=2", specs);
  tsr_spec *expected = make_spec("_, tp");
  assert_true(tsr_spec_equal(tsr_plan_find_spec(plan, "embed.weight"), expected));
  assert_null(tsr_plan_find_spec(plan, "embed.bias"));
  tsr_spec_release(expected);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

// ---- against laying everything out ----

// Errors are found exactly in specs that cannot be laid out, and what correction makes of them can.
static void errors_are_what_does_not_fit(void **state) {
  (void)state;
  static const char *const entries[] = {"_",           "x",
                                        "y",           "z",
                                        "x+y",         "y;x",
                                        "y+x",         "x/cyclic(2)",
                                        "y/cyclic(3)", "x/sizes(2,4)",
                                        "y:(1)2",      "y/parts(a:4/2, b:2/1*2)"};
  const int last = (int)COUNT_OF(entries) - 1;
  test_random random = {5};
  tsr_mesh *mesh = make_mesh("x=2,y=4");
  int fitting = 0;
  for (int i = 0; i < 3000; i++) {
    char text[160];
    const int64_t dims[] = {test_random_range(&random, 0, 12), test_random_range(&random, 0, 12)};
    const tsr_tensor tensor = {"w", TSR_F32, 2, dims, NULL};
    snprintf(text, sizeof text, "%s, %s%s", entries[test_random_range(&random, 0, last)],
             entries[test_random_range(&random, 0, last)], i % 20 ? "" : ", _");
    tsr_tree *tree = make_tree(&tensor, 1);
    tsr_spec *spec = make_spec(text);
    tsr_plan *plan = NULL;
    tsr_layout *layout = NULL;
    tsr_findings findings;
    assert_ok(tsr_plan_from_specs(tree, mesh, (const tsr_spec *const[]){spec}, &plan));
    assert_ok(tsr_plan_check(plan, &strict, &findings));
    tsr_status status = tsr_tensor_layout(&tensor, mesh, spec, TSR_POLICY_ERROR, &layout);
    if (!status != !findings.errors)
      fail_msg("%s on (%d, %d): %s", text, (int)dims[0], (int)dims[1], tsr_status_text(status));
    fitting += !status;
    tsr_status_free(status);
    tsr_layout_release(layout);
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, 0, &row));
    assert_true(findings.errors == 0 || row.note_count > 1);
    assert_ok(tsr_plan_layout(plan, 0, &layout));
    tsr_layout_release(layout);
    tsr_findings_deinit(&findings);
    tsr_plan_release(plan);
    tsr_spec_release(spec);
    tsr_tree_release(tree);
  }
  assert_true(fitting > 100);
  tsr_mesh_release(mesh);
}

#define LAYER "model.layers.0.self_attn."

static void cuts_through_heads_are_found(void **state) {
  (void)state;
  static const struct {
    const char *spec, *findings;
  } cuts[] = {
      {"tp, _", "warning: " LAYER "k_proj.weight: dimension 0: cut in pieces of 64, through heads "
                "of 128\n"},
      {"tp/cyclic(32), _",
       "warning: " LAYER "k_proj.weight: dimension 0: cut in pieces of 32, through heads of 128\n"},
      {"tp/parts(1024/128*2), _", ""},
      {"_, tp", ""},
      {"()", ""},
  };
  const tsr_fact facts[] = {{"head_dim", 128}};
  const tsr_check_options known = {.size = sizeof known, .facts = facts, .fact_count = 1};
  const tsr_tensor tensor = TENSOR(LAYER "k_proj.weight", 1024, 256);
  tsr_tree *tree = make_tree(&tensor, 1);
  for (size_t i = 0; i < COUNT_OF(cuts); i++) {
    tsr_mesh *mesh = make_mesh("tp=16");
    tsr_spec *spec = make_spec(cuts[i].spec);
    const tsr_spec *specs[] = {spec};
    tsr_plan *plan = NULL;
    assert_ok(tsr_plan_from_specs(tree, mesh, specs, &plan));
    assert_findings(plan, &known, cuts[i].findings);
    assert_findings(plan, NULL, "");  // where heads begin is not known
    tsr_plan_release(plan);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
  tsr_tree_release(tree);
}

// The facts that the plan's own rules were read with serve too.
static void plans_know_the_heads_of_their_rules(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      TENSOR(LAYER "q_proj.weight", 1024, 64), TENSOR(LAYER "o_proj.weight", 64, 1024),
      TENSOR("vision." LAYER "q_proj.weight", 1024, 64), TENSOR("other.q_proj.weight", 1024, 64)};
  const tsr_fact facts[] = {{"head_dim", 128}};
  const tsr_rules_options options = {.size = sizeof options, .facts = facts, .fact_count = 1};
  tsr_tree *tree = make_tree(tensors, COUNT_OF(tensors));
  tsr_mesh *mesh = make_mesh("tp=16");
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_rules_parse("q_proj -> tp, _\no_proj -> _, tp", "f", &options, &rules));
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  assert_findings(plan, NULL,
                  "warning: model.layers.0.self_attn.q_proj.weight: dimension 0: cut in pieces of "
                  "64, through heads of 128\n"
                  "warning: model.layers.0.self_attn.o_proj.weight: dimension 1: cut in pieces of "
                  "64, through heads of 128\n");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// Latent attention has heads of other sizes than the config's numbers give.
static void heads_of_other_sizes_are_not_judged(void **state) {
  (void)state;
  const tsr_fact facts[] = {{"heads", 8}, {"kv_heads", 4}, {"head_dim", 128}};
  const tsr_check_options known = {.size = sizeof known, .facts = facts, .fact_count = 3};
  const tsr_tensor tensors[] = {TENSOR(LAYER "q_proj.weight", 1536, 64),
                                TENSOR(LAYER "k_proj.weight", 512, 64)};
  const char *const specs[] = {"tp, _", "tp, _"};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_plan *plan = make_plan(tree, "tp=8", specs);
  assert_findings(plan, &known,
                  "warning: " LAYER
                  "k_proj.weight: dimension 0: cut in pieces of 64, through heads of 128\n");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void blocks_cut_in_part_are_found(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR(LAYER "q_proj.weight", 64, 64),
                                TENSOR(LAYER "k_proj.weight", 64, 64),
                                TENSOR(LAYER "k_proj.bias", 64),
                                TENSOR(LAYER "o_proj.weight", 64, 64),
                                TENSOR(LAYER "o_proj.bias", 64),
                                TENSOR("model.layers.0.mlp.up_proj.weight", 64, 64),
                                TENSOR("model.layers.0.mlp.down_proj.weight", 64, 64)};
  static const struct {
    const char *mesh, *specs[7], *findings;
  } blocks[] = {
      {"fsdp=2,tp=4", {"tp, _", "tp, _", "tp", "_, tp", "_", "fsdp, _", "_, fsdp"}, ""},
      {"fsdp=2,tp=4",
       {"_, fsdp", "tp, _", "tp", "_, tp", "_", "tp, _", "_, tp"},
       "warning: " LAYER "q_proj.weight: not cut over \"tp\", but " LAYER
       "k_proj.weight beside it is\n"},
      {"fsdp=2,tp=4",
       {"tp, _", "tp, _", "()", "_, tp", "_", "tp, _", "_, fsdp"},
       "warning: " LAYER "k_proj.bias: not cut over \"tp\", but " LAYER
       "q_proj.weight beside it is\n"
       "warning: model.layers.0.mlp.down_proj.weight: not cut over \"tp\", but "
       "model.layers.0.mlp.up_proj.weight beside it is\n"},
      // Other axes may cut what they like, and an axis of one member cuts nothing.
      {"x=2,tp=1", {"x, _", "()", "()", "()", "_", "tp, _", "_"}, ""},
  };
  const tsr_check_options tiny = {.size = sizeof tiny, .small_elements = 1};
  tsr_tree *tree = make_tree(tensors, COUNT_OF(tensors));
  for (size_t i = 0; i < COUNT_OF(blocks); i++) {
    tsr_plan *plan = make_plan(tree, blocks[i].mesh, blocks[i].specs);
    assert_findings(plan, &tiny, blocks[i].findings);
    tsr_plan_release(plan);
  }
  tsr_tree_release(tree);
}

static tsr_status check_heads(void *context) {
  const tsr_fact facts[] = {{"head_dim", 32}};
  const tsr_check_options options = {.size = sizeof options, .facts = facts, .fact_count = 1};
  tsr_findings findings;
  TSR_TRY(tsr_plan_check(context, &options, &findings));
  tsr_findings_deinit(&findings);
  return NULL;
}

static void blocks_survive_failing_allocations(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR(LAYER "q_proj.weight", 64, 64),
                                TENSOR(LAYER "k_proj.weight", 64, 64)};
  const char *const specs[] = {"tp, _", "()"};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_plan *plan = make_plan(tree, "tp=4", specs);
  test_allocation_sweep(check_heads, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static tsr_status check_and_release(void *context) {
  tsr_findings findings;
  TSR_TRY(tsr_plan_check(context, NULL, &findings));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_findings_print(&findings, context, &text);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  tsr_findings_deinit(&findings);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  const char *const specs[] = {"_, tp", "x", "tp, tp", "x", "tp/cyclic(4)", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "tp=3", specs);
  test_allocation_sweep(check_and_release, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

SUITE(check, TEST(heads_of_other_sizes_are_not_judged), TEST(members_of_groups_are_never_too_small),
      TEST(cuts_through_heads_are_found), TEST(plans_know_the_heads_of_their_rules),
      TEST(blocks_cut_in_part_are_found), TEST(blocks_survive_failing_allocations),
      TEST(every_problem_is_found_at_once), TEST(findings_are_data),
      TEST(small_tensors_are_not_worth_it), TEST(groups_left_whole_by_a_policy_are_found),
      TEST(layers_alike_share_a_line), TEST(uncorrected_specs_are_errors),
      TEST(memory_and_balance_are_looked_at), TEST(devices_may_be_beyond_counting),
      TEST(a_plan_without_a_mesh_is_checked_too), TEST(specs_are_found_by_path),
      TEST(errors_are_what_does_not_fit), TEST(memory_may_run_out))
