// Looking up by path: a name that is not there fails and names the nearest.
#include "contract/world.h"
#include "support/models.h"

static void rows_of_plans_are_found_by_path(void **state) {
  world *w = *state;
  tsr_plan_row row = {.size = sizeof row, .bytes_per_device = -1};
  assert_ok(tsr_plan_find(w->plan, "a", &row));
  assert_string_equal(row.tensor->path, "a");
  assert_ptr_equal(row.final, tsr_plan_find_spec(w->plan, "a"));

  const tsr_tensor tensors[] = {TENSOR("lm_head.weight", 8, 16)};
  tsr_tree *tree = make_tree(tensors, 1);
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_auto(tree, w->mesh, NULL, &plan));
  row = (tsr_plan_row){.size = sizeof row, .bytes_per_device = -1};
  assert_fails(tsr_plan_find(plan, "lm_hed.weight", &row), NOT_FOUND,
               "the plan has no tensor \"lm_hed.weight\"; did you mean \"lm_head.weight\"?");
  assert_int_equal(row.bytes_per_device, -1);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void arrays_of_trees_are_found_by_path(void **state) {
  world *w = *state;
  tsr_array *array = NULL;
  assert_ok(tsr_array_tree_get(w->arrays, "a", &array));
  assert_ptr_equal(array, w->array);
  array = NULL;
  assert_fails(tsr_array_tree_get(w->arrays, "b", &array), UNSUPPORTED_LEAF,
               "leaf \"b\" is a tensor in host memory, wanted an array");
  assert_fails(tsr_array_tree_get(w->arrays, "nothing like it", &array), NOT_FOUND,
               "the tree has no leaf \"nothing like it\"");
  assert_null(array);

  const tsr_leaf leaf = {
      .tensor.path = "lm_head.weight", .kind = TSR_LEAF_ARRAY, .array = w->array};
  tsr_array_tree *tree = NULL;
  assert_ok(tsr_array_tree_create(&leaf, 1, &tree));
  assert_fails(tsr_array_tree_get(tree, "lm_head.wieght", &array), NOT_FOUND,
               "the tree has no leaf \"lm_head.wieght\"; did you mean \"lm_head.weight\"?");
  tsr_array_tree_release(tree);
}

int suite_examples(void);
int suite_examples(void) {
  const struct CMUnitTest tests[] = {TEST(rows_of_plans_are_found_by_path),
                                     TEST(arrays_of_trees_are_found_by_path)};
  return cmocka_run_group_tests_name("examples", tests, world_set_up, world_tear_down);
}
