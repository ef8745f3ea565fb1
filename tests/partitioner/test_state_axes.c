// Names and specs for the tensors of a train state.
#include <string.h>

#include "json/json.h"
#include "partitioner/partitioners.h"
#include "plan/tree_internal.h"
#include "support/test.h"
#include "tessera/compat/t5x_partitioner.h"

static tsr_tree *read_tree(const char *json) {
  tsr_json_doc *document = NULL;
  tsr_tree *tree = NULL;
  assert_ok(tsr_json_parse(json, strlen(json), &document));
  assert_ok(tsr_tree_from_json(tsr_json_root(document), &tree));
  tsr_json_destroy(document);
  return tree;
}

// As t5x's FlaxOptimTrainState keeps it, with an optimizer that has moments and a factored one.
static const char *const train_state =
    "{\"target\": {"
    "  \"mlp\": {\"wi\": {\"dtype\": \"f32\", \"shape\": [16, 64], \"logical\": [\"embed\", "
    "\"mlp\"]},"
    "            \"wo\": {\"dtype\": \"f32\", \"shape\": [64, 16], \"logical\": [\"mlp\", "
    "\"embed\"]}},"
    "  \"scale\": {\"dtype\": \"f32\", \"shape\": [16], \"logical\": [\"embed\"]}},"
    " \"state\": {"
    "  \"step\": {\"dtype\": \"i32\", \"shape\": []},"
    "  \"param_states\": {"
    "   \"mlp\": {\"wi\": {\"m\": {\"dtype\": \"f32\", \"shape\": [16, 64]},"
    "                      \"v_row\": {\"dtype\": \"f32\", \"shape\": [16]}},"
    "             \"wo\": {\"dtype\": \"f32\", \"shape\": [64, 16]}},"
    "   \"scale\": {\"m\": {\"dtype\": \"f32\", \"shape\": [16], \"logical\": [null]}}}},"
    " \"other\": {\"rescale\": {\"dtype\": \"f32\", \"shape\": [16]}}}";

static const struct {
  const char *path, *spec;
} expected[] = {
    {"target/mlp/wi", "_, model"},
    {"target/mlp/wo", "model, _"},
    {"target/scale", "_"},
    {"state/step", "()"},
    {"state/param_states/mlp/wi/m", "_, model"},
    {"state/param_states/mlp/wi/v_row", "()"},  // another shape, hence no names
    {"state/param_states/mlp/wo", "model, _"},
    {"state/param_states/scale/m", "_"},  // has names of its own
    {"other/rescale", "()"},              // not a part of the path
};

static tsr_partitioner *of_four(bool base) {
  tsr_partitioner_options options = partitioner_options(4);
  options.base = base;
  return partitioner_of("gpu:2x4", &options);
}

static void optimizer_state_has_the_axes_of_its_parameter(void **state) {
  (void)state;
  tsr_partitioner *partitioner = of_four(false);
  tsr_tree *tree = read_tree(train_state);
  tsr_plan *plan = NULL;
  assert_ok(tsr_partitioner_mesh_axes(partitioner, tree, &plan));
  assert_int_equal(tsr_plan_count(plan), COUNT_OF(expected));
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, (int64_t)i, &row));
    assert_string_equal(row.tensor->path, expected[i].path);
    assert_ok(tsr_spec_print(row.wanted, TSR_FORM_SHORT, &text));
    assert_string_equal(tsr_text_string(&text), expected[i].spec);
    tsr_text_deinit(&text);
  }
  assert_ptr_equal(tsr_plan_mesh(plan), tsr_partitioner_mesh(partitioner));
  tsr_plan_release(plan);
  tsr_tree_release(tree);
  tsr_partitioner_release(partitioner);
}

#define TENSOR "\"dtype\": \"f32\", \"shape\": [8, 8]"

// Paths of other libraries: points between parts, and ends that several parameters have.
static void parameters_are_found_in_other_trees_too(void **state) {
  (void)state;
  static const struct {
    const char *path, *first_name;
  } found[] = {{"opt.mu.b.wi", "mlp"}, {"opt.mu.wi", "embed"}, {"opt.mu.awi", NULL}, {"", NULL},
               {"opt.wo", NULL},       {"opt.c.wo.v", "heads"}};
  tsr_partitioner *partitioner = of_four(false);
  tsr_tree *tree = read_tree(
      "{\"tensors\": ["
      "{\"path\": \"wi\", " TENSOR
      ", \"logical\": [\"embed\", \"mlp\"]},"
      "{\"path\": \"b.wi\", " TENSOR
      ", \"logical\": [\"mlp\", \"embed\"]},"
      "{\"path\": \"b.wo\", " TENSOR
      ", \"logical\": [\"embed\", \"heads\"]},"
      "{\"path\": \"c.wo\", " TENSOR
      ", \"logical\": [\"heads\", \"embed\"]},"
      "{\"path\": \"opt.mu.b.wi\", " TENSOR "}, {\"path\": \"opt.mu.wi\", " TENSOR
      "},"
      "{\"path\": \"opt.mu.awi\", " TENSOR "}, {\"path\": \"\", " TENSOR
      "},"
      "{\"path\": \"opt.wo\", " TENSOR "}, {\"path\": \"opt.c.wo.v\", " TENSOR "}]}");
  tsr_tree *named = NULL;
  assert_ok(tsr_partitioner_logical_axes(partitioner, tree, &named));
  for (size_t i = 0; i < COUNT_OF(found); i++) {
    const tsr_tensor *tensor = tsr_tree_at(named, tsr_tree_find(named, found[i].path));
    assert_true((tensor->logical == NULL) == (found[i].first_name == NULL));
    if (tensor->logical) assert_string_equal(tensor->logical[0], found[i].first_name);
  }
  tsr_tree_release(named);
  tsr_tree_release(tree);
  tsr_partitioner_release(partitioner);
}

static void the_base_form_knows_no_names(void **state) {
  (void)state;
  tsr_partitioner *partitioner = of_four(true);
  tsr_tree *tree = read_tree(train_state), *named = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_partitioner_logical_axes(partitioner, tree, &named));
  assert_int_equal(tsr_tree_count(named), tsr_tree_count(tree));
  for (int64_t i = 0; i < tsr_tree_count(named); i++) assert_null(tsr_tree_at(named, i)->logical);
  assert_fails(tsr_partitioner_mesh_axes(partitioner, tree, &plan), UNSUPPORTED,
               "the base form of a partitioner has no logical axes");
  tsr_tree_release(named);
  tsr_tree_release(tree);
  tsr_partitioner_release(partitioner);
}

static void a_failure_names_the_parameter(void **state) {
  (void)state;
  tsr_partitioner *partitioner = of_four(false);
  tsr_tree *tree = read_tree(
      "{\"a\": {\"b\": {\"dtype\": \"f32\", \"shape\": [2, 2], \"logical\": [\"mlp\", \"mlp\"]}}}");
  tsr_plan *plan = NULL;
  assert_fails_with(tsr_partitioner_mesh_axes(partitioner, tree, &plan), PARAM_AXES_FAILED, "a/b");
  tsr_tree_release(tree);
  tsr_partitioner_release(partitioner);
}

typedef struct sweep {
  const tsr_partitioner *partitioner;
  const tsr_tree *tree;
} sweep;

static tsr_status map_state(void *context) {
  const sweep *given = context;
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_partitioner_mesh_axes(given->partitioner, given->tree, &plan));
  tsr_plan_release(plan);
  return NULL;
}

static void mapping_survives_every_failing_allocation(void **state) {
  (void)state;
  tsr_partitioner *partitioner = of_four(false);
  tsr_tree *tree = read_tree(train_state);
  test_allocation_sweep(map_state, &(sweep){partitioner, tree});
  tsr_tree_release(tree);
  tsr_partitioner_release(partitioner);
}

SUITE(state_axes, TEST(optimizer_state_has_the_axes_of_its_parameter),
      TEST(parameters_are_found_in_other_trees_too), TEST(the_base_form_knows_no_names),
      TEST(a_failure_names_the_parameter), TEST(mapping_survives_every_failing_allocation))
