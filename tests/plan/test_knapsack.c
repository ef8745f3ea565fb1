#include <math.h>
#include <stdlib.h>

#include "advice/knapsack.h"
#include "support/test.h"

enum { MOST = 4096 };

typedef struct problem {
  tsr_option options[MOST];
  tsr_item items[MOST];
  int taken[MOST];
  tsr_knapsack knapsack;
  int64_t smallest, largest;
} problem;

// Items with up to `options` random options each; `flat` makes a byte cost the same everywhere.
static void make_problem(test_random *random, int items, int options, bool flat, problem *out) {
  int64_t used = 0;
  out->smallest = out->largest = 0;
  for (int i = 0; i < items; i++) {
    const int count = (int)test_random_range(random, 1, options);
    const int64_t scale = test_random_range(random, 1, 100);
    tsr_option *own = &out->options[used];
    for (int j = 0; j < count; j++) {
      own[j].bytes = scale * test_random_range(random, 1, 64);
      own[j].cost = flat ? (double)(64 * scale - own[j].bytes)
                         : (double)(scale * test_random_range(random, 1, 1000));
      own[j].tag = j;
    }
    out->items[i] = (tsr_item){.first = used, .count = tsr_options_prune(own, count)};
    used += out->items[i].count;
    out->largest += own[0].bytes;
    out->smallest += own[out->items[i].count - 1].bytes;
  }
  out->knapsack = (tsr_knapsack){.item_count = items, .items = out->items, .options = out->options};
}

// The least cost within the limit, by trying everything.
static double brute_force(const problem *with, int64_t item, int64_t room) {
  if (room < 0) return INFINITY;
  if (item == with->knapsack.item_count) return 0;
  double best = INFINITY;
  for (int i = 0; i < with->items[item].count; i++) {
    const tsr_option *option = &with->options[with->items[item].first + i];
    const double cost = option->cost + brute_force(with, item + 1, room - option->bytes);
    if (cost < best) best = cost;
  }
  return best;
}

static tsr_packing solve(problem *with) {
  tsr_packing packing = {.taken = with->taken};
  int64_t bytes = 0;
  double cost = 0;
  assert_ok(tsr_knapsack_solve(&with->knapsack, &packing));
  for (int64_t i = 0; i < with->knapsack.item_count; i++) {
    assert_in_range(packing.taken[i], 0, with->items[i].count - 1);
    bytes += with->options[with->items[i].first + packing.taken[i]].bytes;
    cost += with->options[with->items[i].first + packing.taken[i]].cost;
  }
  assert_int_equal(packing.bytes, bytes);
  assert_true(fabs(packing.cost - cost) <= 1e-9 * (1 + cost));
  assert_true(packing.bytes <= with->knapsack.limit);
  assert_true(packing.lower_bound <= packing.cost * (1 + 1e-12));
  return packing;
}

static void small_problems_are_solved_best(void **state) {
  (void)state;
  test_random random = {11};
  problem *with = malloc(sizeof *with);
  assert_non_null(with);
  for (int i = 0; i < 2000; i++) {
    const int items = (int)test_random_range(&random, 1, 6);
    make_problem(&random, items, 6, i % 3 == 0, with);
    with->knapsack.limit = test_random_range(&random, with->smallest, with->largest + 10);
    const tsr_packing packing = solve(with);
    const double best = brute_force(with, 0, with->knapsack.limit);
    assert_true(packing.optimal);
    assert_true(fabs(packing.cost - best) <= 2e-6 * best);
  }
  free(with);
}

// Where the search gives up or never starts, the bound still tells how far from the best it can be:
// less than one step of one item.
static void large_problems_are_close_to_their_bound(void **state) {
  (void)state;
  test_random random = {5};
  problem *with = malloc(sizeof *with);
  assert_non_null(with);
  for (int i = 0; i < 20; i++) {
    make_problem(&random, i % 2 ? 60 : 600, 6, i % 3 == 0, with);
    with->knapsack.limit = test_random_range(&random, with->smallest, with->largest);
    const tsr_packing packing = solve(with);
    assert_true(packing.cost - packing.lower_bound <= 100 * 1000);
  }
  free(with);
}

static void what_fits_is_left_alone(void **state) {
  (void)state;
  const tsr_option options[] = {{100, 0, 0}, {50, 5, 1}, {8, 0, 0}};
  const tsr_item items[] = {{0, 2}, {2, 1}};
  int taken[2];
  tsr_packing packing = {.taken = taken};
  const tsr_knapsack knapsack = {2, items, options, 108};
  assert_ok(tsr_knapsack_solve(&knapsack, &packing));
  assert_int_equal(taken[0], 0);
  assert_true(packing.optimal);
  assert_true(packing.cost == 0 && packing.lower_bound == 0);
  assert_ok(tsr_knapsack_solve(&(tsr_knapsack){0, NULL, NULL, 0}, &packing));
  assert_int_equal(packing.bytes, 0);
}

static void beaten_options_are_dropped(void **state) {
  (void)state;
  tsr_option options[] = {{8, 0, 0}, {4, 3, 1}, {4, 2, 2}, {6, 2, 3},
                          {2, 9, 4}, {4, 2, 5}, {1, 9, 6}};
  assert_int_equal(tsr_options_prune(options, COUNT_OF(options)), 3);
  assert_int_equal(options[0].tag, 0);
  assert_int_equal(options[1].tag, 2);
  assert_int_equal(options[2].tag, 6);
}

static tsr_status solve_once(void *context) {
  problem *with = context;
  tsr_packing packing = {.taken = with->taken};
  return tsr_knapsack_solve(&with->knapsack, &packing);
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_random random = {1};
  problem *with = malloc(sizeof *with);
  assert_non_null(with);
  make_problem(&random, 8, 6, false, with);
  with->knapsack.limit = (with->smallest + with->largest) / 2;
  test_allocation_sweep(solve_once, with);
  free(with);
}

SUITE(knapsack, TEST(small_problems_are_solved_best), TEST(large_problems_are_close_to_their_bound),
      TEST(what_fits_is_left_alone), TEST(beaten_options_are_dropped),
      TEST(running_out_of_memory_is_reported))
