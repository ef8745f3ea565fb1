// Partitions of lanes: numbered by first lanes, interned, met.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lanes/lane_classes.h"

enum { MANY = 1 << 16 };

static const tsr_lane_classes *of_keys(tsr_class_table *table, int lanes, const int64_t *keys) {
  const tsr_lane_classes *classes = NULL;
  assert_null(tsr_classes_of_keys(table, lanes, keys, &classes));
  return classes;
}

static const tsr_lane_classes *meet(tsr_class_table *table, const tsr_lane_classes *a,
                                    const tsr_lane_classes *b) {
  const tsr_lane_classes *classes = NULL;
  assert_null(tsr_classes_meet(table, a, b, &classes));
  return classes;
}

static void equal_keys_are_one_class(void **state) {
  (void)state;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_class_table table = {.arena = &arena};
  const tsr_lane_classes *c = of_keys(&table, 6, (int64_t[]){7, 3, 7, INT64_MIN, 3, 7});
  const int of[] = {0, 1, 0, 2, 1, 0}, first[] = {0, 1, 3};
  assert_int_equal(c->count, 3);
  assert_memory_equal(c->of, of, sizeof of);
  assert_memory_equal(c->first, first, sizeof first);
  assert_ptr_equal(c, of_keys(&table, 6, (int64_t[]){1, 2, 1, 3, 2, 1}));
  assert_null(of_keys(&table, 3, (int64_t[]){5, 5, 5}));
  tsr_arena_deinit(&arena);
}

static void meets_are_the_coarsest_that_refine_both(void **state) {
  (void)state;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_class_table table = {.arena = &arena};
  const tsr_lane_classes *x = of_keys(&table, 4, (int64_t[]){0, 0, 1, 1});
  const tsr_lane_classes *y = of_keys(&table, 4, (int64_t[]){0, 1, 0, 1}), *finest = NULL;
  assert_null(tsr_classes_finest(&table, 4, &finest));
  assert_ptr_equal(meet(&table, x, y), finest);
  assert_ptr_equal(meet(&table, y, x), finest);
  assert_ptr_equal(meet(&table, x, x), x);
  assert_ptr_equal(meet(&table, NULL, y), y);
  assert_ptr_equal(meet(&table, x, NULL), x);
  assert_ptr_equal(meet(&table, x, finest), finest);
  assert_null(meet(&table, NULL, NULL));
  tsr_arena_deinit(&arena);
}

static void lists_are_numbered_by_content(void **state) {
  (void)state;
  const int starts[] = {0, 2, 2, 4, 5, 7, 7};
  const int64_t items[] = {4, 9, 4, 9, 4, 9, 4};
  int64_t numbers[6];
  assert_null(tsr_number_lists(6, starts, items, numbers));
  const int64_t wanted[] = {0, 1, 0, 2, 3, 1};
  assert_memory_equal(numbers, wanted, sizeof wanted);
}

static void many_lanes_take_linear_time(void **state) {
  (void)state;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_class_table table = {.arena = &arena};
  int64_t *keys = malloc(MANY * sizeof *keys);
  assert_non_null(keys);
  const tsr_lane_classes *axes[16];
  for (int axis = 0; axis < 16; axis++) {
    for (int lane = 0; lane < MANY; lane++) keys[lane] = lane >> axis & 1;
    axes[axis] = of_keys(&table, MANY, keys);
    assert_int_equal(axes[axis]->count, 2);
  }
  const tsr_lane_classes *all = NULL;
  for (int axis = 0; axis < 16; axis++) all = meet(&table, all, axes[axis]);
  assert_int_equal(all->count, MANY);
  free(keys);
  tsr_arena_deinit(&arena);
}

int suite_lane_classes(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_keys_are_one_class),
      cmocka_unit_test(meets_are_the_coarsest_that_refine_both),
      cmocka_unit_test(lists_are_numbered_by_content),
      cmocka_unit_test(many_lanes_take_linear_time),
  };
  return cmocka_run_group_tests_name("lane classes", tests, NULL, NULL);
}
