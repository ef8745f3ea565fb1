// Trees of which some branches are values already have the bits of the whole tree.
#include <stdlib.h>
#include <string.h>

#include "ranks/rank_fold.h"
#include "support/test.h"
#include "tessera/engine/kernels.h"

enum { MEMBERS = 13, OUTER = 3, RUN = 1500, COUNT = OUTER * RUN };

static void *need(size_t bytes) {
  void *memory = malloc(bytes);
  assert_non_null(memory);
  return memory;
}

typedef struct fold_test {
  tsr_lane_value value;
  tsr_lane_reduction reduction;
  tsr_fold_programs *programs;
  char *members[MEMBERS];
  char *scratch;
} fold_test;

static void open_test(fold_test *t, tsr_dtype dtype, tsr_dtype sums, int64_t bytes) {
  test_random random = {3};
  *t = (fold_test){.value = {OUTER, RUN, bytes}};
  t->reduction = (tsr_lane_reduction){.count = 1,
                                      .values = &t->value,
                                      .arity = MEMBERS,
                                      .op = TSR_TILE_ADD,
                                      .dtype = dtype,
                                      .sum_dtype = sums};
  assert_ok(tsr_fold_programs_create(&t->reduction, &t->programs));
  t->scratch = need((size_t)tsr_fold_scratch(t->programs));
  for (int m = 0; m < MEMBERS; m++) {
    float *numbers = need(COUNT * sizeof *numbers);
    t->members[m] = need((size_t)(COUNT * bytes));
    for (int i = 0; i < COUNT; i++)
      numbers[i] = (float)test_random_range(&random, -1000000, 1000000) * 1e-3F;
    assert_ok(tsr_convert(TSR_F32, numbers, dtype, t->members[m], COUNT));
    free(numbers);
  }
}

static void close_test(fold_test *t) {
  tsr_fold_programs_destroy(t->programs);
  for (int m = 0; m < MEMBERS; m++) free(t->members[m]);
  free(t->scratch);
}

static void fold(const fold_test *t, const tsr_fold_term *terms, int count, bool to_partial,
                 char *out) {
  const tsr_rank_fold f = {.programs = t->programs,
                           .outer = OUTER,
                           .run = RUN,
                           .members = MEMBERS,
                           .terms = terms,
                           .term_count = count,
                           .to_partial = to_partial,
                           .out = out,
                           .scratch = t->scratch};
  assert_ok(tsr_fold_run(&f, NULL));
}

static int add_members(const fold_test *t, int64_t first, int64_t last, tsr_fold_term *terms) {
  for (int64_t m = first; m < last; m++)
    terms[m - first] =
        (tsr_fold_term){.node = {m, m + 1}, .data = t->members[m], .stride = RUN * t->value.bytes};
  return (int)(last - first);
}

// Members cut at `cuts` among ranks, which combine their branches first.
static void fold_cut(const fold_test *t, const int64_t *cuts, int cut_count, char *out) {
  tsr_fold_term terms[MEMBERS * 2];
  char *partials[MEMBERS * 2] = {0};
  int count = 0;
  for (int c = 0; c + 1 < cut_count; c++) {
    tsr_reduce_node nodes[TSR_REDUCE_MAX_NODES];
    const int64_t found = tsr_reduce_nodes(MEMBERS, cuts[c], cuts[c + 1], nodes);
    for (int64_t i = 0; i < found; i++) {
      tsr_fold_term own[MEMBERS];
      const int some = add_members(t, nodes[i].first, nodes[i].last, own);
      if (some == 1) {
        terms[count++] = own[0];
        continue;
      }
      partials[count] = need((size_t)(COUNT * t->programs->partial_bytes));
      fold(t, own, some, true, partials[count]);
      terms[count] = (tsr_fold_term){.node = nodes[i],
                                     .data = partials[count],
                                     .stride = RUN * t->programs->partial_bytes,
                                     .is_partial = true};
      count++;
    }
  }
  fold(t, terms, count, false, out);
  for (size_t i = 0; i < COUNT_OF(partials); i++) free(partials[i]);
}

static void check_dtype(tsr_dtype dtype, tsr_dtype sums, int64_t bytes) {
  static const int64_t cuts[][5] = {
      {0, 4, 8, 13, 13}, {0, 1, 12, 13, 13}, {0, 5, 6, 11, 13}, {0, 13, 13, 13, 13}};
  fold_test t;
  open_test(&t, dtype, sums, bytes);
  char *whole = need((size_t)(COUNT * bytes)), *cut = need((size_t)(COUNT * bytes));
  tsr_fold_term all[MEMBERS];
  fold(&t, all, add_members(&t, 0, MEMBERS, all), false, whole);
  for (size_t i = 0; i < COUNT_OF(cuts); i++) {
    memset(cut, 0, (size_t)(COUNT * bytes));
    fold_cut(&t, cuts[i], 5, cut);
    assert_memory_equal(whole, cut, (size_t)(COUNT * bytes));
  }
  free(whole);
  free(cut);
  close_test(&t);
}

static void branches_have_the_bits_of_the_tree(void **state) {
  (void)state;
  check_dtype(TSR_F32, TSR_F32, 4);
  check_dtype(TSR_F64, TSR_F64, 8);
}

// Sums of narrow floats are rounded once: partial results are wider.
static void narrow_floats_have_wide_partial_results(void **state) {
  (void)state;
  check_dtype(TSR_BF16, TSR_F32, 2);
  check_dtype(TSR_F16, TSR_F32, 2);
}

SUITE(rank_fold, TEST(branches_have_the_bits_of_the_tree),
      TEST(narrow_floats_have_wide_partial_results))
