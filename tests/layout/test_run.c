#include "layout/index_run.h"
#include "layout/layout_internal.h"
#include "support/test.h"

enum { SPACE = 400 };

// Where each index of the space lies in a shard according to one run; -1 = not there.
static void spread(const tsr_run *run, int64_t *places) {
  for (int64_t i = 0; i < SPACE; i++) places[i] = -1;
  for (int64_t k = 0; k < run->count; k++)
    for (int64_t e = 0; e < run->length; e++)
      places[run->global + k * run->step + e] = run->local + k * run->local_step + e;
}

static tsr_run random_run(test_random *random) {
  tsr_run run = {.length = test_random_range(random, 1, 9), .owned = true};
  run.global = test_random_range(random, 0, SPACE / 2);
  run.step = run.length + test_random_range(random, 0, 1) * test_random_range(random, 0, 14);
  run.local = test_random_range(random, 0, 50);
  run.local_step = run.length + test_random_range(random, 0, 1) * test_random_range(random, 0, 5);
  const int64_t most = (SPACE - run.global - run.length) / run.step + 1;
  run.count = test_random_range(random, 1, most);
  if (test_random_range(random, 0, 7) == 0) {  // one long block
    run.length = test_random_range(random, 1, SPACE - run.global);
    run.count = 1;
    run.step = run.local_step = run.length;
  }
  return run;
}

// Every index that both runs have comes once, at the place it has on either side.
static void check_meeting(const tsr_run *a, const tsr_run *b) {
  int64_t in_a[SPACE], in_b[SPACE];
  bool met[SPACE] = {false};
  spread(a, in_a);
  spread(b, in_b);
  tsr_meeting meeting = tsr_meeting_of(a, b);
  for (tsr_overlap o; tsr_meeting_next(&meeting, &o);) {
    assert_true(o.length > 0 && o.count > 0 && (o.count == 1 || o.step >= o.length));
    for (int64_t k = 0; k < o.count; k++)
      for (int64_t e = 0; e < o.length; e++) {
        const int64_t at = o.global + k * o.step + e;
        assert_true(at >= 0 && at < SPACE && !met[at]);
        met[at] = true;
        assert_int_equal(in_a[at], o.a + k * o.a_step + e);
        assert_int_equal(in_b[at], o.b + k * o.b_step + e);
      }
  }
  for (int64_t i = 0; i < SPACE; i++) assert_int_equal(met[i], in_a[i] >= 0 && in_b[i] >= 0);
}

static void meetings_agree_with_every_element(void **state) {
  (void)state;
  test_random random = {7};
  for (int round = 0; round < 20000; round++) {
    const tsr_run a = random_run(&random), b = random_run(&random);
    check_meeting(&a, &b);
  }
}

static int overlaps_of(const tsr_run *a, const tsr_run *b, int64_t *out_elements) {
  int overlaps = 0;
  *out_elements = 0;
  tsr_meeting meeting = tsr_meeting_of(a, b);
  for (tsr_overlap o; tsr_meeting_next(&meeting, &o); overlaps++)
    *out_elements += o.length * o.count;
  return overlaps;
}

static void meetings_of_huge_runs_are_few(void **state) {
  (void)state;
  const int64_t many = INT64_C(1) << 58;
  const tsr_run evens = {.length = 1, .count = many, .step = 2, .local_step = 1, .owned = true};
  const tsr_run thirds = {.length = 2, .count = many, .step = 6, .local_step = 2, .owned = true};
  const tsr_run half = tsr_run_block(0, 0, many, true);
  const tsr_run odd = {.global = 1, .length = 1, .count = many, .step = 2, .local_step = 1};
  int64_t elements = 0;
  assert_true(overlaps_of(&evens, &thirds, &elements) <= 4);
  assert_int_equal(elements, many / 3 + 1);
  assert_true(overlaps_of(&evens, &half, &elements) <= 3);
  assert_int_equal(elements, many / 2);
  assert_int_equal(overlaps_of(&evens, &odd, &elements), 0);
}

static void contiguous_runs_join(void **state) {
  (void)state;
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  assert_ok(tsr_run_list_add(&list, tsr_run_block(10, 0, 5, true)));
  assert_ok(tsr_run_list_add(&list, tsr_run_block(15, 5, 0, true)));  // empty: left out
  assert_ok(tsr_run_list_add(&list, tsr_run_block(15, 5, 3, true)));
  assert_int_equal(list.count, 1);
  assert_int_equal(list.items[0].length, 8);
  assert_ok(tsr_run_list_add(&list, tsr_run_block(18, 8, 2, false)));   // owned by another shard
  assert_ok(tsr_run_list_add(&list, tsr_run_block(30, 10, 2, false)));  // a gap in the tensor
  assert_int_equal(list.count, 3);
  assert_int_equal(tsr_run_list_elements(&list), 12);
  tsr_run_list_deinit(&list);
}

static void periodic_runs_join_block_by_block(void **state) {
  (void)state;
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  const tsr_run late = {
      .global = 2, .local = 2, .length = 2, .count = 5, .step = 8, .local_step = 4, .owned = true};
  const tsr_run early = {.length = 2, .count = 5, .step = 8, .local_step = 4, .owned = true};
  assert_ok(tsr_run_list_add(&list, late));
  assert_ok(tsr_run_list_add(&list, early));
  assert_int_equal(list.count, 2);
  tsr_run_list_tidy(&list);
  assert_int_equal(list.count, 1);
  const tsr_run joined = {.length = 4, .count = 5, .step = 8, .local_step = 4, .owned = true};
  assert_memory_equal(&list.items[0], &joined, offsetof(tsr_run, owned));
  tsr_run_list_deinit(&list);
}

static void touching_blocks_are_one(void **state) {
  (void)state;
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  const tsr_run blocks = {.global = 4, .length = 3, .count = 7, .step = 3, .local_step = 3};
  assert_ok(tsr_run_list_add(&list, blocks));
  assert_int_equal(list.items[0].count, 1);
  assert_int_equal(list.items[0].length, 21);
  tsr_run_list_deinit(&list);
}

static void too_many_runs_are_refused(void **state) {
  (void)state;
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  for (int64_t i = 0; i < TSR_MAX_RUNS; i++)
    assert_ok(tsr_run_list_add(&list, tsr_run_block(2 * i, i, 1, true)));
  assert_fails(tsr_run_list_add(&list, tsr_run_block(0, 0, 1, true)), TOO_LARGE,
               "the cut needs more than 1048576 runs");
  tsr_run_list_deinit(&list);
}

SUITE(run, TEST(meetings_agree_with_every_element), TEST(meetings_of_huge_runs_are_few),
      TEST(contiguous_runs_join), TEST(periodic_runs_join_block_by_block),
      TEST(touching_blocks_are_one), TEST(too_many_runs_are_refused))
