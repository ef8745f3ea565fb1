// The filter finds every rule whose needle a path holds, and no other.
#include "rules/prefilter.h"

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

static void candidates_are_the_rules_whose_needles_occur(void **state) {
  (void)state;
  static char texts[RULES][2][8];
  test_random random = {11};
  for (int round = 0; round < 50; round++) {
    tsr_regex regexes[RULES] = {{.code = NULL}};
    for (int r = 0; r < RULES; r++) {
      regexes[r].needles.count = (int)test_random_range(&random, 0, 2);
      for (int i = 0; i < regexes[r].needles.count; i++) {
        random_text(&random, 6, texts[r][i]);
        regexes[r].needles.items[i] = texts[r][i];
        regexes[r].needles.lengths[i] = strlen(texts[r][i]);
      }
    }
    tsr_prefilter *filter = NULL;
    assert_ok(tsr_prefilter_create(regexes, RULES, &filter));
    assert_int_equal(tsr_prefilter_words(filter), 3);
    for (int k = 0; k < 50; k++) {
      char path[32];
      uint64_t candidates[3];
      random_text(&random, 25, path);
      tsr_prefilter_run(filter, path, strlen(path), candidates);
      for (int r = 0; r < RULES; r++) {
        bool wanted = regexes[r].needles.count == 0;
        for (int i = 0; i < regexes[r].needles.count; i++)
          wanted |= strstr(path, texts[r][i]) != NULL;
        assert_int_equal(candidates[r / 64] >> (r % 64) & 1, wanted);
      }
    }
    tsr_prefilter_destroy(filter);
  }
}

static void rules_beyond_the_table_are_always_candidates(void **state) {
  (void)state;
  enum { MANY = 3000 };
  char(*texts)[24] = calloc(MANY, sizeof *texts);
  tsr_regex *regexes = calloc(MANY, sizeof *regexes);
  uint64_t *candidates = calloc(MANY / 64 + 1, sizeof *candidates);
  assert_true(texts && regexes && candidates);
  for (int r = 0; r < MANY; r++) {
    snprintf(texts[r], sizeof texts[r], "%05d_and_more_bytes", r);
    regexes[r].needles =
        (tsr_needles){.count = 1, .items = {texts[r]}, .lengths = {strlen(texts[r])}};
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
  tsr_regex regex = {.needles = {.count = 1, .items = {"abc"}, .lengths = {3}}};
  test_allocation_sweep(make_filter, &regex);
}

SUITE(prefilter, TEST(candidates_are_the_rules_whose_needles_occur),
      TEST(rules_beyond_the_table_are_always_candidates), TEST(running_out_of_memory_is_reported))
