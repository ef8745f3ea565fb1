// The filter finds every rule whose needs a path meets, and no other.
#include "regex/prefilter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { RULES = 150 };

static void random_text(test_random *random, int most, char *out) {
  const int length = (int)test_random_range(random, 1, most);
  for (int i = 0; i < length; i++) out[i] = (char)('a' + test_random_range(random, 0, 2));
  out[length] = '\0';
}

static void random_needs(test_random *random, char texts[TSR_NEED_MAX][2][8], tsr_needs *out) {
  out->count = (int)test_random_range(random, 0, TSR_NEED_MAX);
  for (int s = 0; s < out->count; s++) {
    out->sets[s].count = (int)test_random_range(random, 1, 2);
    for (int i = 0; i < out->sets[s].count; i++) {
      random_text(random, 4, texts[s][i]);
      out->sets[s].items[i] = texts[s][i];
      out->sets[s].lengths[i] = (uint8_t)strlen(texts[s][i]);
    }
  }
}

static bool holds_all(const char *path, const tsr_needs *needs) {
  for (int s = 0; s < needs->count; s++) {
    bool one = false;
    for (int i = 0; i < needs->sets[s].count; i++)
      one |= strstr(path, needs->sets[s].items[i]) != NULL;
    if (!one) return false;
  }
  return true;
}

static void candidates_are_the_rules_whose_needs_are_met(void **state) {
  (void)state;
  static char texts[RULES][TSR_NEED_MAX][2][8];
  static tsr_regex regexes[RULES];
  test_random random = {11};
  int met = 0;
  for (int round = 0; round < 50; round++) {
    for (int r = 0; r < RULES; r++) random_needs(&random, texts[r], &regexes[r].needs);
    tsr_prefilter *filter = NULL;
    assert_ok(tsr_prefilter_create(regexes, RULES, &filter));
    assert_int_equal(tsr_prefilter_words(filter), 3);
    for (int k = 0; k < 50; k++) {
      char path[32];
      uint64_t candidates[3 * TSR_NEED_MAX];
      random_text(&random, 25, path);
      tsr_prefilter_run(filter, path, strlen(path), candidates);
      for (int r = 0; r < RULES; r++) {
        const bool wanted = holds_all(path, &regexes[r].needs);
        assert_int_equal(candidates[r / 64] >> (r % 64) & 1, wanted);
        met += wanted && regexes[r].needs.count;
      }
    }
    tsr_prefilter_destroy(filter);
  }
  assert_true(met > 1000);
}

static void rules_beyond_the_table_are_always_candidates(void **state) {
  (void)state;
  enum { MANY = 3000 };
  char(*texts)[32] = calloc(MANY, sizeof *texts);
  tsr_regex *regexes = calloc(MANY, sizeof *regexes);
  uint64_t *candidates = calloc((MANY / 64 + 1) * TSR_NEED_MAX, sizeof *candidates);
  assert_true(texts && regexes && candidates);
  for (int r = 0; r < MANY; r++) {
    snprintf(texts[r], sizeof texts[r], "%05d_and_more_bytes", r);
    const tsr_needles set = {
        .count = 1, .items = {texts[r]}, .lengths = {(uint8_t)strlen(texts[r])}};
    regexes[r].needs = (tsr_needs){.count = 1, .sets = {set}};
  }
  tsr_prefilter *filter = NULL;
  assert_ok(tsr_prefilter_create(regexes, MANY, &filter));
  tsr_prefilter_run(filter, texts[17], strlen(texts[17]), candidates);
  assert_true(candidates[0] >> 17 & 1);
  assert_false(candidates[0] >> 18 & 1);
  assert_true(candidates[(MANY - 1) / 64] >> ((MANY - 1) % 64) & 1);  // for want of room
  tsr_prefilter_destroy(filter);
  free(candidates);
  free(regexes);
  free(texts);
}

static tsr_status make_filter(void *context) {
  tsr_prefilter *filter = NULL;
  tsr_status status = tsr_prefilter_create(context, 1, &filter);
  tsr_prefilter_destroy(filter);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  const tsr_needles set = {.count = 1, .items = {"abc"}, .lengths = {3}};
  tsr_regex regex = {.needs = {.count = 1, .sets = {set}}};
  test_allocation_sweep(make_filter, &regex);
}

SUITE(prefilter, TEST(candidates_are_the_rules_whose_needs_are_met),
      TEST(rules_beyond_the_table_are_always_candidates), TEST(running_out_of_memory_is_reported))
