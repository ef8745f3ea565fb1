// Names of arguments in JAX, paths of tensors, and plans that meet programs by them.
#include <string.h>

#include "insight/insight.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/tessera.h"

static void paths_join_the_keys_of_a_name(void **state) {
  (void)state;
  static const struct {
    const char *name, *path;
  } cases[] = {
      {"x", "x"},
      {"params['w']", "params/w"},
      {"params['layers'][0]['w']", "params/layers/0/w"},
      {"state.params['w']", "state/params/w"},
      {"opt[0].mu['a']", "opt/0/mu/a"},
      {"[0].params['w']", "0/params/w"},
      {"p['a.b']", "p/a.b"},
      {"p['mlp/~/linear']['w']", "p/mlp/~/linear/w"},
      {"p['it\\'s']", "p/it\\'s"},
      {"p[\"k\"]", "p/k"},
      {"tree[<flat index 3>]", "tree/3"},
      {"p['']", "p"},
      {"", ""},
      {"p['unclosed", "p/unclosed"},
      {"p[", "p"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(text, text);
    tsr_argument_path_print(cases[i].name, &text);
    assert_string_equal(tsr_text_string(&text), cases[i].path);
  }
}

static void separators_do_not_tell_names_apart(void **state) {
  (void)state;
  static const char *const same[] = {"params['layers'][0]['w']", "params.layers.0.w",
                                     "params/layers/0/w",        "params['layers.0.w']",
                                     "params['layers/0']['w']",  "/params/layers/0/w"};
  static const char *const others[] = {"params.layers.0", "params.layers.0.w.b", "layers.0.w",
                                       "params.layers.0w", ""};
  for (size_t i = 0; i < COUNT_OF(same); i++) {
    for (size_t k = 0; k < COUNT_OF(same); k++) assert_true(tsr_argument_matches(same[i], same[k]));
    for (size_t k = 0; k < COUNT_OF(others); k++)
      assert_false(tsr_argument_matches(same[i], others[k]));
  }
}

// ---- trees and plans ----

static tsr_program *open_program(const char *path) {
  tsr_program *program = NULL;
  assert_ok(tsr_program_open(path, NULL, &program));
  return program;
}

#define MLP "tests/programs/mlp_megatron_fwd_bwd/program.mlirbc"
#define SGD "tests/programs/exported_unsharded_named_donated/exported.bin"

static void arguments_are_a_tree_of_tensors(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(tree, tree);
  program = open_program(MLP);
  assert_ok(tsr_program_tree(program, &tree));
  assert_int_equal(tsr_tree_count(tree), 6);
  assert_string_equal(tsr_tree_at(tree, 2)->path, "p/w1");
  assert_int_equal(tsr_tree_at(tree, 2)->dims[1], 32);
  assert_int_equal(tsr_tree_at(tree, 2)->dtype, TSR_F32);
}

static void assert_row(const tsr_plan *plan, const char *path, const char *wanted) {
  TSR_OWN(text, text);
  const tsr_spec *spec = tsr_plan_find_spec(plan, path);
  assert_non_null(spec);
  assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
}

static void shardings_of_arguments_are_a_plan(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(program, whole);
  TSR_OWN(plan, plan);
  program = open_program(MLP);
  assert_ok(tsr_program_plan(program, &plan));
  assert_row(plan, "p/w1", "_, model");
  assert_row(plan, "x", "data, _");
  assert_int_equal(tsr_mesh_device_count(tsr_plan_mesh(plan)), 8);
  whole = open_program(SGD);
  assert_fails(tsr_program_plan(whole, &plan), NOT_FOUND,
               "the program has 0 meshes, expected one for its arguments");
}

// A plan for tensors of these paths and shapes by one spec.
static tsr_plan *plan_of(const char *mesh_text, const char *path, const tsr_shape *shape,
                         const char *rules) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(tree, tree);
  TSR_OWN(rules, parsed);
  tsr_plan *plan = NULL;
  tsr_match_options options = TSR_MATCH_OPTIONS;
  options.no_correction = true;
  const tsr_tensor tensor = tsr_tensor_of(path, TSR_F32, shape);
  assert_ok(tsr_mesh_parse(mesh_text, NULL, &mesh));
  assert_ok(tsr_tree_create(&tensor, 1, &tree));
  assert_ok(tsr_rules_parse(rules, "rules", NULL, &parsed));
  assert_ok(tsr_plan_match(tree, mesh, parsed, &options, &plan));
  return plan;
}

static tsr_status propagate_with(const char *path, const tsr_plan *plan,
                                 tsr_propagation **out_propagation) {
  TSR_OWN(program, program);
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  options.plan = plan;
  program = open_program(path);
  return tsr_program_propagate(program, &options, out_propagation);
}

static void plans_meet_arguments_by_name(void **state) {
  (void)state;
  static const char *const paths[] = {"params/w", "params.w", "params['w']", "w"};
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    TSR_OWN(plan, plan);
    TSR_OWN(propagation, propagation);
    tsr_sharded_value value = TSR_SHARDED_VALUE;
    tsr_propagation_info info = TSR_PROPAGATION_INFO;
    plan = plan_of("data=2,model=3", paths[i], TSR_SHAPE(4, 3), ".* -> data, model");
    assert_ok(propagate_with(SGD, plan, &propagation));
    assert_ok(tsr_propagation_find(propagation, "params['w']", &value));
    assert_string_equal(value.sharding, "#sdy.sharding<@mesh, [{\"data\"}, {\"model\"}]>");
    assert_string_equal(value.name, "%arg1");
    assert_true(value.given);
    assert_ok(tsr_propagation_describe(propagation, &info));
    assert_int_equal(info.unmatched_count, 4);
    assert_string_equal(info.unmatched[0], "params['b']");
    assert_int_equal(info.unused_count, 0);
  }
}

static void plans_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *path, *mesh, *rules;
    tsr_shape shape;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"params/w",
       "data=2",
       ".* -> data",
       {2, {8, 3}},
       TSR_CAUSE_SHAPES_DIFFER,
       "argument params['w'] is tensor<4x3xf32>, but row \"params/w\" of the plan is 8x3"},
      {"params/w",
       "data=8",
       ".* -> data",
       {2, {4, 3}},
       TSR_CAUSE_INDIVISIBLE,
       "argument params['w'], row \"params/w\" of the plan: dimension 0: size 4 is not divisible "
       "by "
       "data=8; the nearest size is 8"},
      {"kernel",
       "data=2",
       ".* -> data",
       {2, {4, 3}},
       TSR_CAUSE_NOT_FOUND,
       "no row of the plan means an argument: the first row is \"kernel\", the first argument is "
       "params['b']"},
      {"params/w",
       "data=2",
       ".* -> dta",
       {2, {4, 3}},
       TSR_CAUSE_UNKNOWN_MESH_AXIS,
       "argument params['w'], row \"params/w\" of the plan: dimension 0: axis \"dta\" is not in "
       "mesh "
       "{data=2}; did you mean \"data\"?"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(plan, plan);
    tsr_propagation *propagation = NULL;
    plan = plan_of(cases[i].mesh, cases[i].path, &cases[i].shape, cases[i].rules);
    tsr_status status = propagate_with(SGD, plan, &propagation);
    assert_null(propagation);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    assert_message(status, cases[i].message);
    tsr_status_free(status);
  }
}

static void the_mesh_of_a_plan_must_be_that_of_the_program(void **state) {
  (void)state;
  TSR_OWN(plan, plan);
  tsr_propagation *propagation = NULL;
  plan = plan_of("data=2,model=2", "p/w1", TSR_SHAPE(16, 32), ".* -> data");
  assert_fails(propagate_with(MLP, plan, &propagation), BAD_ARGUMENT,
               "the plan is for mesh {data=2,model=2}, expected {data=2,model=4}, which is mesh "
               "@mesh");
}

SUITE(argument_paths, TEST(paths_join_the_keys_of_a_name), TEST(separators_do_not_tell_names_apart),
      TEST(arguments_are_a_tree_of_tensors), TEST(shardings_of_arguments_are_a_plan),
      TEST(plans_meet_arguments_by_name), TEST(plans_that_do_not_fit_are_refused),
      TEST(the_mesh_of_a_plan_must_be_that_of_the_program))
