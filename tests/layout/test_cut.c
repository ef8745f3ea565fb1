#include "layout/cut.h"

#include <stdio.h>
#include <string.h>

#include "layout/layout_internal.h"
#include "support/cuts.h"
#include "support/test.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

enum { MAX_ELEMENTS = 1024 };

// The blocks of each shard, written as [lo,hi) ranges, `*` for those another shard owns.
static void print_runs(const tsr_cut *cut, char *out, size_t room) {
  *out = '\0';
  for (int64_t i = 0; i < cut->shards; i++) {
    tsr_run_list list = TSR_RUN_LIST_EMPTY;
    assert_ok(tsr_cut_runs(cut, i, &list));
    if (i > 0) strcat(out, "|");
    for (int r = 0; r < list.count; r++)
      for (int64_t k = 0; k < list.items[r].count; k++) {
        const tsr_run *run = &list.items[r];
        const int64_t lo = run->global + k * run->step;
        char block[64];
        snprintf(block, sizeof block, "%s%lld-%lld%s", r + k > 0 ? " " : "", (long long)lo,
                 (long long)(lo + run->length), run->owned ? "" : "*");
        assert_true(strlen(out) + strlen(block) + 2 < room);
        strcat(out, block);
      }
    tsr_run_list_deinit(&list);
  }
}

#define EVEN(k)                                                                         \
  {                                                                                     \
    .kind = TSR_STAGE_EVEN, .shards = k, .cut = &(tsr_stage) { .kind = TSR_STAGE_EVEN } \
  }
#define CYCLIC(k, b)                                                          \
  {                                                                           \
    .kind = TSR_STAGE_CYCLIC, .shards = k, .cut = &(tsr_stage) { .block = b } \
  }
#define SIZES(k, ...)                                                    \
  {                                                                      \
    .kind = TSR_STAGE_SIZES, .shards = k, .cut = &(tsr_stage) {          \
      .sizes = (int64_t[]){__VA_ARGS__},                                 \
      .count = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) \
    }                                                                    \
  }
#define PARTS(k, ...)                                                      \
  {                                                                        \
    .kind = TSR_STAGE_PARTS, .shards = k, .cut = &(tsr_stage) {            \
      .parts = (tsr_part[]){__VA_ARGS__},                                  \
      .count = (int)(sizeof((tsr_part[]){__VA_ARGS__}) / sizeof(tsr_part)) \
    }                                                                      \
  }

static tsr_cut cut_of(int64_t size, const tsr_bound_stage *stages, int stage_count) {
  tsr_cut cut = {.size = size, .shards = 1, .stage_count = stage_count, .stages = stages};
  for (int s = 0; s < stage_count; s++) cut.shards *= stages[s].shards;
  return cut;
}

static void runs_of_known_cuts(void **state) {
  (void)state;
  // clang-format off
  const struct { int64_t size; int stage_count; tsr_bound_stage stages[2]; const char *runs; } cases[] = {
    {8, 0, {{0}}, "0-8"},
    {8, 1, {EVEN(2)}, "0-4|4-8"},
    {17, 1, {EVEN(8)}, "0-3|3-6|6-9|9-12|12-15|15-17||"},
    {10, 1, {EVEN(8)}, "0-2|2-4|4-6|6-8|8-10|||"},
    {10, 2, {EVEN(2), EVEN(4)}, "0-2|2-4|4-5||5-7|7-9|9-10|"},  // nested differs from flat
    {0, 1, {EVEN(2)}, "|"},
    {8, 1, {SIZES(3, 3, 3, 2)}, "0-3|3-6|6-8"},
    {4, 1, {SIZES(3, 4, 0, 0)}, "0-4||"},
    {8, 1, {CYCLIC(2, 1)}, "0-1 2-3 4-5 6-7|1-2 3-4 5-6 7-8"},
    {11, 1, {CYCLIC(2, 3)}, "0-3 6-9|3-6 9-11"},
    {2, 1, {CYCLIC(3, 4)}, "0-2||"},
    {12, 1, {CYCLIC(1, 4)}, "0-12"},
    {12, 1, {PARTS(2, {"q", 8, 2, 1}, {"k", 4, 2, 1})}, "0-4 8-10|4-8 10-12"},
    {12, 1, {PARTS(4, {"q", 8, 2, 1}, {"k", 4, 2, 2})},
     "0-2 8-10|2-4 8-10*|4-6 10-12|6-8 10-12*"},
    {12, 1, {PARTS(1, {"q", 8, 2, 1}, {"k", 4, 2, 1})}, "0-12"},
    {10, 1, {PARTS(2, {"a", 7, 2, 1}, {"b", 3, 1, 2})}, "0-4 7-10|4-7 7-10*"},
    {16, 2, {CYCLIC(2, 4), EVEN(2)}, "0-4|8-12|4-8|12-16"},
    {16, 2, {CYCLIC(2, 2), EVEN(4)}, "0-2|4-6|8-10|12-14|2-4|6-8|10-12|14-16"},
    {16, 2, {CYCLIC(2, 1), CYCLIC(2, 1)}, "0-1 4-5 8-9 12-13|2-3 6-7 10-11 14-15|"
                                          "1-2 5-6 9-10 13-14|3-4 7-8 11-12 15-16"},
  };
  // clang-format on
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    const tsr_cut cut = cut_of(cases[c].size, cases[c].stages, cases[c].stage_count);
    char text[512];
    print_runs(&cut, text, sizeof text);
    assert_string_equal(text, cases[c].runs);
  }
}

static void fit_finds_what_is_wrong(void **state) {
  (void)state;
  // clang-format off
  const struct {
    int64_t size; int stage_count; tsr_bound_stage stages[2];
    bool evenly; tsr_misfit_kind kind; int stage, part; int64_t found, unit;
  } cases[] = {
    {16, 1, {EVEN(8)}, true, TSR_FITS, 0, 0, 16, 1},
    {17, 1, {EVEN(8)}, false, TSR_FITS, 0, 0, 17, 1},
    {17, 1, {EVEN(8)}, true, TSR_MISFIT_REMAINDER, 0, 0, 17, 8},
    {12, 2, {EVEN(2), EVEN(4)}, true, TSR_MISFIT_REMAINDER, 1, 0, 6, 4},
    {12, 1, {CYCLIC(2, 4)}, true, TSR_MISFIT_REMAINDER, 0, 0, 12, 8},
    {12, 2, {CYCLIC(2, 3), EVEN(3)}, true, TSR_FITS, 0, 0, 12, 1},
    {9, 1, {SIZES(3, 3, 3, 2)}, false, TSR_MISFIT_SUM, 0, 0, 9, 8},
    {8, 1, {SIZES(4, 3, 3, 2)}, false, TSR_MISFIT_SIZES_COUNT, 0, 0, 3, 4},
    {8, 1, {SIZES(2, 9, -1)}, false, TSR_MISFIT_VALUE, 0, 0, -1, 0},
    {8, 1, {SIZES(2, INT64_MAX, 1)}, false, TSR_MISFIT_VALUE, 0, 0, 1, 0},
    {8, 1, {SIZES(2, 5, 3)}, true, TSR_FITS, 0, 0, 8, 1},
    {8, 2, {SIZES(2, 6, 2), EVEN(2)}, true, TSR_FITS, 0, 0, 8, 1},
    {8, 2, {SIZES(2, 5, 3), EVEN(2)}, true, TSR_MISFIT_REMAINDER, 1, 0, 5, 2},
    {8, 2, {SIZES(2, 5, 3), SIZES(2, 2, 3)}, false, TSR_MISFIT_UNEQUAL, 1, 0, 5, 3},
    {9, 2, {EVEN(2), SIZES(2, 2, 3)}, false, TSR_MISFIT_UNEQUAL, 1, 0, 5, 4},
    {10, 2, {EVEN(2), SIZES(2, 2, 3)}, true, TSR_FITS, 0, 0, 10, 1},
    {12, 1, {PARTS(4, {"q", 8, 2, 1}, {"k", 4, 2, 2})}, true, TSR_FITS, 0, 0, 12, 1},
    {12, 1, {PARTS(4, {"q", 8, 2, 1}, {"k", 4, 2, 1})}, true, TSR_MISFIT_REMAINDER, 0, 1, 4, 8},
    {12, 1, {PARTS(4, {"q", 8, 2, 1}, {"k", 4, 2, 1})}, false, TSR_FITS, 0, 0, 12, 1},
    {12, 1, {PARTS(4, {"q", 8, 2, 1}, {"k", 4, 2, 3})}, false, TSR_MISFIT_COPIES, 0, 1, 4, 3},
    {13, 1, {PARTS(4, {"q", 8, 2, 1}, {"k", 4, 2, 2})}, false, TSR_MISFIT_SUM, 0, 0, 13, 12},
    {12, 1, {PARTS(4, {"q", 12, 0, 1})}, false, TSR_MISFIT_VALUE, 0, 0, 12, 0},
    {12, 2, {PARTS(2, {"q", 8, 2, 1}, {"k", 4, 2, 1}), EVEN(3)}, true, TSR_FITS, 0, 0, 12, 1},
    {12, 2, {PARTS(2, {"q", 8, 2, 1}, {"k", 4, 2, 1}), EVEN(4)}, true, TSR_MISFIT_REMAINDER, 1, 0, 6, 4},
    {8, 1, {CYCLIC(2, 0)}, false, TSR_MISFIT_VALUE, 0, 0, 0, 0},
    {8, 1, {CYCLIC(2, INT64_MAX)}, true, TSR_MISFIT_REMAINDER, 0, 0, 8, INT64_MAX},
  };
  // clang-format on
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    const tsr_cut cut = cut_of(cases[c].size, cases[c].stages, cases[c].stage_count);
    const tsr_misfit found = tsr_cut_fit(&cut, cases[c].evenly);
    assert_int_equal(found.kind, cases[c].kind);
    if (found.kind == TSR_FITS) continue;
    assert_int_equal(found.stage, cases[c].stage);
    assert_int_equal(found.part, cases[c].part);
    assert_int_equal(found.size, cases[c].found);
    assert_int_equal(found.unit, cases[c].unit);
  }
}

// Where the runs put each element of shard `index`, against the oracle's list.
static void check_runs(const tsr_cut *cut, int64_t index, int64_t *owner) {
  int64_t elements[MAX_ELEMENTS], seen = 0;
  const int64_t count = test_cut_elements(cut, index, elements);
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  assert_ok(tsr_cut_runs(cut, index, &list));
  for (int r = 0; r < list.count; r++) {
    const tsr_run *run = &list.items[r];
    for (int64_t k = 0; k < run->count; k++)
      for (int64_t e = 0; e < run->length; e++, seen++) {
        const int64_t place = run->local + k * run->local_step + e;
        const int64_t element = run->global + k * run->step + e;
        assert_in_range(place, 0, count - 1);
        assert_int_equal(elements[place], element);
        elements[place] = -1;  // once only
        assert_int_equal(run->owned, owner[element] < 0);
        if (run->owned) owner[element] = index;
      }
  }
  assert_int_equal(seen, count);
  assert_int_equal(tsr_cut_length(cut, index), count);
  tsr_run_list_deinit(&list);
}

static void check_ranges(const tsr_cut *cut) {
  tsr_range ranges[MAX_ELEMENTS];
  tsr_cut_ranges(cut, ranges);
  for (int64_t i = 0; i < cut->shards; i++) {
    int64_t elements[MAX_ELEMENTS];
    const int64_t count = test_cut_elements(cut, i, elements);
    const tsr_range range = tsr_cut_range(cut, i);
    assert_memory_equal(&range, &ranges[i], sizeof range);
    assert_int_equal(range.hi - range.lo, count);
    for (int64_t e = 0; e < count; e++) assert_int_equal(elements[e], range.lo + e);
  }
}

// Shards in ascending order: the first that holds an element must be the one that owns it.
static void runs_agree_with_every_element(void **state) {
  (void)state;
  test_random random = {11};
  for (int round = 0; round < 10000; round++) {
    test_cut made;
    test_random_cut(&random, 120, &made);
    const tsr_cut *cut = &made.cut;
    assert_int_equal(tsr_cut_fit(cut, false).kind, TSR_FITS);
    int64_t owner[MAX_ELEMENTS], longest = 0;
    for (int64_t e = 0; e < cut->size; e++) owner[e] = -1;
    for (int64_t i = 0; i < cut->shards; i++) {
      check_runs(cut, i, owner);
      if (tsr_cut_length(cut, i) > longest) longest = tsr_cut_length(cut, i);
    }
    for (int64_t e = 0; e < cut->size; e++) assert_true(owner[e] >= 0);
    assert_int_equal(tsr_cut_longest(cut), longest);
    if (tsr_cut_is_plain(cut)) check_ranges(cut);
  }
}

static void huge_cuts_stay_small(void **state) {
  (void)state;
  const int64_t huge = (INT64_C(1) << 62) - 3;
  const tsr_bound_stage nested[] = {CYCLIC(100000, 1), EVEN(7), CYCLIC(3, 1000)};
  const tsr_cut cut = cut_of(huge, nested, 3);
  int64_t total = 0;
  for (int64_t i = 0; i < 21; i++) {
    tsr_run_list list = TSR_RUN_LIST_EMPTY;
    assert_ok(tsr_cut_runs(&cut, i, &list));
    assert_true(list.count <= 3000);
    assert_int_equal(tsr_run_list_elements(&list), tsr_cut_length(&cut, i));
    total += tsr_cut_length(&cut, i);
    tsr_run_list_deinit(&list);
  }
  const tsr_cut first = cut_of(huge, nested, 1);
  assert_int_equal(total, tsr_cut_length(&first, 0));
}

static tsr_status make_runs(void *context) {
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(context, 0, &list);
  tsr_run_list_deinit(&list);
  return status;
}

static void runs_survive_failing_allocations(void **state) {
  (void)state;
  const tsr_bound_stage stages[] = {PARTS(2, {"q", 40, 2, 1}, {"k", 20, 2, 1}, {"v", 20, 2, 2}),
                                    CYCLIC(2, 3)};
  tsr_cut cut = cut_of(80, stages, 2);
  test_allocation_sweep(make_runs, &cut);
}

SUITE(cut, TEST(runs_of_known_cuts), TEST(fit_finds_what_is_wrong),
      TEST(runs_agree_with_every_element), TEST(huge_cuts_stay_small),
      TEST(runs_survive_failing_allocations))
