#include "layout/cover.h"

#include <stdlib.h>
#include <string.h>

#include "layout/fold.h"
#include "layout/layout_internal.h"
#include "support/test.h"

enum { RANK = 3, SIDE = 9, MOST = 64 };

// How many of the boxes hold an element.
static int64_t held(const tsr_range *boxes, int64_t count, const int64_t *at) {
  int64_t times = 0;
  for (int64_t b = 0; b < count; b++) {
    bool inside = true;
    for (int d = 0; d < RANK; d++)
      inside = inside && boxes[b * RANK + d].lo <= at[d] && at[d] < boxes[b * RANK + d].hi;
    times += inside;
  }
  return times;
}

static bool next_element(const tsr_range *region, int64_t *at) {
  for (int d = RANK - 1; d >= 0; d--) {
    if (++at[d] < region[d].hi) return true;
    at[d] = region[d].lo;
  }
  return false;
}

// How many elements of the region as many boxes hold as `wanted` says (1: just one; 0: at least
// one).
static int64_t count_elements(const tsr_range *region, const tsr_range *boxes, int64_t count,
                              bool once) {
  int64_t at[RANK], found = 0;
  for (int d = 0; d < RANK; d++) at[d] = region[d].lo;
  if (tsr_box_volume(region, RANK) == 0) return 0;
  do {
    const int64_t times = held(boxes, count, at);
    found += once ? times == 1 : times > 0;
  } while (next_element(region, at));
  return found;
}

// Boxes that tile the region: it is cut in two, again and again.
static int64_t random_tiles(test_random *random, const tsr_range *region, tsr_range *boxes) {
  int64_t count = 1;
  memcpy(boxes, region, sizeof *region * RANK);
  for (int cut = 0; cut < 20; cut++) {
    const int64_t b = test_random_range(random, 0, count - 1);
    const int d = (int)test_random_range(random, 0, RANK - 1);
    const tsr_range side = boxes[b * RANK + d];
    if (side.hi - side.lo < 2) continue;
    const int64_t at = test_random_range(random, side.lo + 1, side.hi - 1);
    memcpy(boxes + count * RANK, boxes + b * RANK, sizeof *boxes * RANK);
    boxes[b * RANK + d].hi = at;
    boxes[count++ * RANK + d].lo = at;
  }
  return count;
}

// Removes, doubles or moves a side of a box, or leaves all as it is.
static int64_t spoil(test_random *random, const tsr_range *region, tsr_range *boxes,
                     int64_t count) {
  const int64_t b = test_random_range(random, 0, count - 1);
  const int d = (int)test_random_range(random, 0, RANK - 1);
  switch (test_random_range(random, 0, 5)) {
    case 0:
      memmove(boxes + b * RANK, boxes + (count - 1) * RANK, sizeof *boxes * RANK);
      return count - 1;
    case 1:
      memcpy(boxes + count * RANK, boxes + b * RANK, sizeof *boxes * RANK);
      return count + 1;
    case 2:
      boxes[b * RANK + d].hi = region[d].hi;
      return count;
    case 3:
      boxes[b * RANK + d].lo = test_random_range(random, region[d].lo, boxes[b * RANK + d].hi);
      return count;
    default:
      return count;
  }
}

static void tilings_are_told_from_others(void **state) {
  (void)state;
  test_random random = {17};
  int tilings = 0;
  for (int round = 0; round < 3000; round++) {
    tsr_range region[RANK], boxes[MOST * RANK];
    for (int d = 0; d < RANK; d++)
      region[d] =
          (tsr_range){test_random_range(&random, 0, 2), test_random_range(&random, 3, SIDE)};
    const int64_t count = spoil(&random, region, boxes, random_tiles(&random, region, boxes));
    bool tiles = false;
    tsr_cover_fault fault;
    assert_ok(tsr_cover_tiles(region, RANK, boxes, count, &tiles, &fault));
    const int64_t volume = tsr_box_volume(region, RANK);
    assert_int_equal(tiles, count_elements(region, boxes, count, true) == volume);
    tilings += tiles;
    if (tiles) continue;
    // The place shown is really held that many times, all of it.
    assert_int_not_equal(fault.times, 1);
    int64_t at[RANK];
    for (int d = 0; d < RANK; d++) at[d] = fault.ranges[d].lo;
    do assert_int_equal(held(boxes, count, at), fault.times);
    while (next_element(fault.ranges, at));
  }
  assert_in_range(tilings, 500, 2500);
}

static void volumes_count_elements_once(void **state) {
  (void)state;
  test_random random = {19};
  for (int round = 0; round < 2000; round++) {
    const tsr_range region[RANK] = {{0, SIDE}, {1, SIDE}, {2, SIDE}};
    tsr_range boxes[12 * RANK];
    const int64_t count = test_random_range(&random, 0, 12);
    for (int64_t i = 0; i < count * RANK; i++) {
      boxes[i].lo = test_random_range(&random, 0, SIDE);
      boxes[i].hi = test_random_range(&random, boxes[i].lo, SIDE);
    }
    int64_t volume = -1;
    assert_ok(tsr_cover_volume(region, RANK, boxes, count, &volume));
    assert_int_equal(volume, count_elements(region, boxes, count, false));
  }
}

static void interlocking_boxes_are_cut(void **state) {
  (void)state;
  // A pinwheel: no plane passes between its arms.
  const tsr_range region[2] = {{0, 3}, {0, 3}};
  const tsr_range pinwheel[5][2] = {
      {{0, 1}, {0, 2}}, {{0, 2}, {2, 3}}, {{2, 3}, {1, 3}}, {{1, 3}, {0, 1}}, {{1, 2}, {1, 2}}};
  bool tiles = false;
  tsr_cover_fault fault;
  assert_ok(tsr_cover_tiles(region, 2, pinwheel[0], 5, &tiles, &fault));
  assert_true(tiles);
  assert_ok(tsr_cover_tiles(region, 2, pinwheel[0], 4, &tiles, &fault));
  assert_false(tiles);
  assert_int_equal(fault.times, 0);
  assert_memory_equal(fault.ranges, pinwheel[4], sizeof pinwheel[4]);
}

static void a_hundred_thousand_boxes_are_checked_quickly(void **state) {
  (void)state;
  const int64_t side = 316, count = side * side;
  tsr_range *boxes = malloc(sizeof *boxes * 2 * (size_t)count);
  assert_non_null(boxes);
  for (int64_t i = 0; i < count; i++) {
    const int64_t j = i * 7919 % count;  // in no particular order
    boxes[2 * i] = (tsr_range){j / side * 10, j / side * 10 + 10};
    boxes[2 * i + 1] = (tsr_range){j % side * 3, j % side * 3 + 3};
  }
  const tsr_range region[2] = {{0, side * 10}, {0, side * 3}};
  bool tiles = false;
  tsr_cover_fault fault;
  assert_ok(tsr_cover_tiles(region, 2, boxes, count, &tiles, &fault));
  assert_true(tiles);
  boxes[777].lo--;
  assert_ok(tsr_cover_tiles(region, 2, boxes, count, &tiles, &fault));
  assert_false(tiles);
  assert_int_equal(fault.times, 2);
  free(boxes);
}

static void equal_boxes_are_ranked(void **state) {
  (void)state;
  const tsr_range boxes[] = {{0, 4}, {4, 8}, {0, 4}, {0, 5}, {0, 4}};
  int64_t first[5], ranks[5];
  assert_ok(tsr_box_classes(boxes, 1, 5, first, ranks));
  assert_memory_equal(first, ((int64_t[]){0, 1, 0, 3, 0}), sizeof first);
  assert_memory_equal(ranks, ((int64_t[]){0, 0, 1, 0, 2}), sizeof ranks);
  // Without dimensions all boxes are the one element.
  assert_ok(tsr_box_classes(boxes, 0, 3, NULL, ranks));
  assert_memory_equal(ranks, ((int64_t[]){0, 1, 2}), 3 * sizeof *ranks);
}

// ---- folding ----

enum { LENGTH = 120 };

static void count_runs(const tsr_run_list *runs, int64_t *times) {
  for (int64_t i = 0; i < LENGTH; i++) times[i] = 0;
  for (int r = 0; r < runs->count; r++)
    for (int64_t k = 0; k < runs->items[r].count; k++)
      for (int64_t e = 0; e < runs->items[r].length; e++)
        times[runs->items[r].global + k * runs->items[r].step + e]++;
}

static tsr_run random_run(test_random *random) {
  tsr_run run = {.length = test_random_range(random, 1, 6), .owned = true};
  run.global = test_random_range(random, 0, LENGTH - run.length);
  run.step = run.length * test_random_range(random, 1, 4);
  run.local_step = run.length;
  run.count = test_random_range(random, 1, (LENGTH - run.global - run.length) / run.step + 1);
  return run;
}

static void folded_runs_keep_their_elements(void **state) {
  (void)state;
  test_random random = {23};
  for (int round = 0; round < 3000; round++) {
    tsr_run_list runs = TSR_RUN_LIST_EMPTY;
    for (int64_t r = test_random_range(&random, 0, 4); r > 0; r--)
      assert_ok(tsr_run_list_add(&runs, random_run(&random)));
    int64_t times[LENGTH], held_once = 0, wanted = 0, index = 0, found = 0, elements = 0;
    count_runs(&runs, times);
    for (int64_t i = 0; i < LENGTH; i++) held_once += times[i] == 1;
    for (int64_t i = 0; i < LENGTH; i++) wanted += times[i] > 0;
    tsr_fold fold;
    bool tiles = false;
    assert_ok(tsr_fold_init(&fold, LENGTH, &runs));
    assert_ok(tsr_fold_elements(&fold, &elements));
    assert_int_equal(elements, wanted);
    assert_ok(tsr_fold_tiles(&fold, &tiles, &index, &found));
    assert_int_equal(tiles, held_once == LENGTH);
    if (!tiles) assert_int_equal(times[index], found);
    tsr_fold_deinit(&fold);
    tsr_run_list_deinit(&runs);
  }
}

static void runs_without_a_common_period_are_refused(void **state) {
  (void)state;
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  const int64_t steps[] = {4000000007, 4000000009, 4000000019};
  for (size_t i = 0; i < COUNT_OF(steps); i++)
    assert_ok(tsr_run_list_add(
        &runs, (tsr_run){.length = 1, .count = 9, .step = steps[i], .local_step = 1}));
  tsr_fold fold;
  assert_fails(tsr_fold_init(&fold, INT64_C(1) << 60, &runs), TOO_LARGE,
               "the runs of a dimension of 1152921504606846976 have no common period");
  tsr_run_list_deinit(&runs);
}

// ---- memory ----

static tsr_status cover_and_fold(void *context) {
  (void)context;
  const tsr_range region[1] = {{0, 4}}, boxes[] = {{0, 2}, {2, 3}, {3, 4}};
  bool tiles = false;
  tsr_cover_fault fault;
  int64_t volume = 0, ranks[3];
  TSR_TRY(tsr_cover_tiles(region, 1, boxes, 3, &tiles, &fault));
  TSR_TRY(tsr_cover_volume(region, 1, boxes, 3, &volume));
  TSR_TRY(tsr_box_classes(boxes, 1, 3, NULL, ranks));
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_fold fold = {0};
  tsr_status status = NULL;
  for (int64_t i = 0; i < 40 && !status; i++)
    status = tsr_run_list_add(&runs, tsr_run_block(2 * i, i, 1, true));
  if (!status) status = tsr_fold_init(&fold, 80, &runs);
  tsr_fold_deinit(&fold);
  tsr_run_list_deinit(&runs);
  return status;
}

static void covers_survive_failing_allocations(void **state) {
  (void)state;
  test_allocation_sweep(cover_and_fold, NULL);
}

SUITE(cover, TEST(tilings_are_told_from_others), TEST(volumes_count_elements_once),
      TEST(interlocking_boxes_are_cut), TEST(a_hundred_thousand_boxes_are_checked_quickly),
      TEST(equal_boxes_are_ranked), TEST(folded_runs_keep_their_elements),
      TEST(runs_without_a_common_period_are_refused), TEST(covers_survive_failing_allocations))
