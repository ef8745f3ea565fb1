#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plan/tree_internal.h"
#include "support/models.h"
#include "support/test.h"

static const struct {
  const char *path, *pattern;
} patterns[] = {
    {"layers.0.w", "layers.*.w"},
    {"layers.12", "layers.*"},
    {"0.w", "*.w"},
    {"w1.weight", "w1.weight"},
    {"h.0.ln_1.weight", "h.*.ln_1.weight"},
    {"encoder/layers_0/attention/w", "encoder/layers_*/attention/w"},
    {"encoder/0/w", "encoder/*/w"},
    {"params['layers'][3]['w']", "params['layers'][*]['w']"},
    {"a1b.2c.3", "a1b.2c.*"},
    {"x_0", "x_0"},
    {"", ""},
};

static void numbers_become_stars(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(patterns); i++) {
    const tsr_tensor tensor = TENSOR(patterns[i].path, 2);
    tsr_tree *tree = make_tree(&tensor, 1);
    tsr_tree_groups groups;
    assert_ok(tsr_tree_group_by(tree, NULL, &groups));
    assert_int_equal(groups.count, 1);
    assert_string_equal(groups.items[0].pattern, patterns[i].pattern);
    tsr_tree_groups_deinit(&groups);
    tsr_tree_release(tree);
  }
}

static void groups_agree_in_type_and_shape(void **state) {
  (void)state;
  const char *const names[] = {"embed"}, *const same[] = {"embed"}, *const other[] = {"heads"};
  tsr_tensor tensors[] = {TENSOR("l.0.a", 2), TENSOR("l.0.b", 2), TENSOR("l.1.a", 2),
                          TENSOR("l.2.a", 3), TENSOR("l.3.a", 2), TENSOR("l.4.a", 2),
                          TENSOR("l.5.a", 2), TENSOR("l.6.a", 2)};
  tensors[4].dtype = TSR_BF16;
  tensors[5].logical = names;
  tensors[6].logical = same;
  tensors[7].logical = other;
  static const int64_t members[][2] = {{0, 2}, {1, -1}, {3, -1}, {4, -1}, {5, 6}, {7, -1}};
  tsr_tree *tree = make_tree(tensors, COUNT_OF(tensors));
  tsr_tree_groups groups;
  assert_ok(tsr_tree_group_by(tree, NULL, &groups));
  assert_int_equal(groups.count, COUNT_OF(members));
  for (int64_t g = 0; g < groups.count; g++) {
    assert_int_equal(groups.items[g].count, members[g][1] < 0 ? 1 : 2);
    for (int64_t i = 0; i < groups.items[g].count; i++)
      assert_int_equal(groups.items[g].members[i], members[g][i]);
  }
  tsr_tree_groups_deinit(&groups);
  tsr_tree_release(tree);
}

static void a_hundred_thousand_tensors_are_ordinary(void **state) {
  (void)state;
  enum { LAYERS = 10000, KINDS = 10 };
  tsr_tensor *tensors = calloc(LAYERS * KINDS, sizeof *tensors);
  char(*paths)[40] = calloc(LAYERS * KINDS, sizeof *paths);
  assert_true(tensors && paths);
  const int64_t dims[KINDS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  for (int i = 0; i < LAYERS * KINDS; i++) {
    snprintf(paths[i], sizeof *paths, "model.layers.%d.kind_%d.weight", i / KINDS, i % KINDS);
    tensors[i] = (tsr_tensor){paths[i], TSR_BF16, 1, &dims[i % KINDS], NULL};
  }
  tsr_tree *tree = make_tree(tensors, LAYERS * KINDS);
  tsr_tree_groups groups;
  const clock_t start = clock();
  assert_ok(tsr_tree_group_by(tree, NULL, &groups));
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
  assert_int_equal(groups.count, KINDS);
  for (int i = 0; i < KINDS; i++) assert_int_equal(groups.items[i].count, LAYERS);
  tsr_tree_groups_deinit(&groups);
  tsr_tree_release(tree);
  free(paths);
  free(tensors);
}

static tsr_status group_and_release(void *context) {
  tsr_tree_groups groups;
  TSR_TRY(tsr_tree_group_by(context, NULL, &groups));
  tsr_tree_groups_deinit(&groups);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  test_allocation_sweep(group_and_release, tree);
  tsr_tree_release(tree);
}

SUITE(tree_group, TEST(numbers_become_stars), TEST(groups_agree_in_type_and_shape),
      TEST(a_hundred_thousand_tensors_are_ordinary), TEST(memory_may_run_out))
