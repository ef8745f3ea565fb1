// Rules as a list: the first match wins, whatever the filter does; shared by threads.
#include "tessera/rules.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "rules/rules_internal.h"
#include "support/test.h"

static tsr_rules *rules_of(const char *text) {
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_parse(text, "test.rules", NULL, &rules));
  return rules;
}

static int64_t match(const tsr_rules *rules, const char *path) {
  int64_t rule = -2;
  assert_ok(tsr_rules_match(rules, path, &rule));
  return rule;
}

static void the_first_match_wins(void **state) {
  (void)state;
  tsr_rules *rules = rules_of("kernel$ -> a\nattn -> b\n(?i)EMBED -> c\n^params/\\d+$ -> d\n");
  assert_int_equal(match(rules, "attn/kernel"), 0);
  assert_int_equal(match(rules, "attn/bias"), 1);
  assert_int_equal(match(rules, "x/embedding"), 2);
  assert_int_equal(match(rules, "params/12"), 3);
  assert_int_equal(match(rules, "params/x"), -1);
  assert_int_equal(match(rules, ""), -1);
  assert_int_equal(tsr_rules_count(rules), 4);
  assert_string_equal(tsr_rules_at(rules, 1)->pattern, "attn");
  assert_int_equal(tsr_rules_at(rules, 1)->line, 2);
  assert_string_equal(tsr_rules_at(rules, 1)->file, "test.rules");
  assert_null(tsr_rules_at(rules, 4));
  assert_null(tsr_rules_at(rules, -1));
  tsr_rules_release(rules);
}

static void no_rules_match_nothing(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_create(NULL, 0, &rules));
  assert_int_equal(match(rules, "a"), -1);
  tsr_rules_release(rules);
  tsr_rules_release(NULL);
}

static void one_rule_can_be_asked_alone(void **state) {
  (void)state;
  tsr_rules *rules = rules_of("a -> x\nb$ -> y\n");
  bool matches = false;
  assert_ok(tsr_rules_match_one(rules, 1, "ab", &matches));
  assert_true(matches);
  assert_ok(tsr_rules_match_one(rules, 0, "b", &matches));
  assert_false(matches);
  assert_fails(tsr_rules_match_one(rules, 2, "b", &matches), INDEX_OUT_OF_RANGE,
               "there is no rule 2 among 2");
  tsr_rules_release(rules);
}

static void broken_patterns_are_found_at_once(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  tsr_rules *rules = NULL;
  assert_ok(tsr_spec_parse("a", TSR_FORM_SHORT, &spec));
  const tsr_rule broken[] = {{.pattern = ".*", .spec = spec}, {.pattern = "((", .spec = spec}};
  assert_fails(tsr_rules_create(broken, 2, &rules), BAD_REGEX,
               "rule 1: pattern: column 2: missing ), unterminated group");
  const tsr_rule empty[] = {{.pattern = NULL, .spec = spec}, {.pattern = "a", .spec = NULL}};
  assert_fails(tsr_rules_create(empty, 1, &rules), BAD_ARGUMENT, "rule 0 has no pattern");
  assert_fails(tsr_rules_create(empty + 1, 1, &rules), BAD_ARGUMENT, "rule 0 has no spec");
  assert_fails(tsr_rules_create(empty, INT64_C(1) << 32, &rules), BAD_ARGUMENT,
               "4294967296 rules, wanted 0 to 1073741824");
  assert_fails(tsr_rules_create(NULL, 1, &rules), BAD_ARGUMENT,
               "1 rules in a NULL list, wanted 0 to 1073741824");
  assert_null(rules);
  tsr_spec_release(spec);
}

static void slow_patterns_name_rule_and_path(void **state) {
  (void)state;
  tsr_rules *rules = rules_of("b -> x\n(a+)+$ -> y\n");
  char path[64];
  int64_t rule = 7;
  memset(path, 'a', 60);
  strcpy(path + 60, "c");
  assert_fails_with(tsr_rules_match(rules, path, &rule), REGEX_TOO_SLOW,
                    "test.rules:2: pattern \"(a+)+$\" on the path \"aaaa");
  assert_int_equal(rule, 7);
  tsr_rules_release(rules);
}

static void paths_must_be_utf8(void **state) {
  (void)state;
  tsr_rules *rules = rules_of("b -> x\n");
  int64_t rule = 0;
  bool matches = false;
  assert_fails_with(tsr_rules_match(rules, "a\xff", &rule), BAD_ARGUMENT, "is not UTF-8");
  assert_fails_with(tsr_rules_match_one(rules, 0, "a\xff", &matches), BAD_ARGUMENT, "is not UTF-8");
  tsr_rules_release(rules);
}

// Random rules of few letters: the filtered search agrees with one rule after the other.
static void the_filter_changes_no_answer(void **state) {
  (void)state;
  static const char *const pieces[] = {"a",      "b",      "ab", "(a|b)",  "b*", "a+",
                                       "[ab]",   "^",      "$",  "(?:ba)", ".",  "a?",
                                       "(?=ab)", "(?i:B)", "|b", "(aa|bb)"};
  test_random random = {5};
  for (int round = 0; round < 60; round++) {
    tsr_text text = TSR_TEXT_EMPTY;
    for (int r = 0; r < 70; r++) {
      for (int64_t n = test_random_range(&random, 1, 4); n; n--) {
        const int64_t piece = test_random_range(&random, 0, (int64_t)COUNT_OF(pieces) - 1);
        tsr_text_add(&text, pieces[piece]);
      }
      tsr_text_add(&text, "c -> x\n");
    }
    tsr_rules *rules = rules_of(tsr_text_string(&text));
    for (int k = 0; k < 40; k++) {
      char path[16];
      const int length = (int)test_random_range(&random, 0, 12);
      for (int i = 0; i < length; i++) path[i] = (char)('a' + test_random_range(&random, 0, 2));
      path[length] = '\0';
      int first = -1;
      for (int r = 0; r < tsr_rules_count(rules) && first < 0; r++) {
        bool matches = false;
        assert_ok(tsr_rules_match_one(rules, r, path, &matches));
        if (matches) first = r;
      }
      assert_int_equal(match(rules, path), first);
    }
    tsr_rules_release(rules);
    tsr_text_deinit(&text);
  }
}

static void thousands_of_rules_work(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  for (int r = 0; r < 5000; r++) tsr_text_addf(&text, "layer_%d/weight -> x\n", r);
  tsr_rules *rules = rules_of(tsr_text_string(&text));
  assert_int_equal(match(rules, "m/layer_4999/weight"), 4999);
  assert_int_equal(match(rules, "m/layer_7/weight"), 7);
  assert_int_equal(match(rules, "m/layer_5000/weight"), -1);
  tsr_rules_release(rules);
  tsr_text_deinit(&text);
}

static void *match_many(void *context) {
  const tsr_rules *rules = context;
  long wrong = 0;
  for (int i = 0; i < 2000; i++) {
    char path[64];
    int64_t rule = -2;
    snprintf(path, sizeof path, "model.layers.%d.%s_proj.weight", i, i % 2 ? "q" : "down");
    tsr_status status = tsr_rules_match(rules, path, &rule);
    wrong += status || rule != (i % 2 ? 0 : 1);
    tsr_status_free(status);
  }
  return (void *)wrong;
}

static void threads_share_rules(void **state) {
  (void)state;
  tsr_rules *rules = rules_of("[qkv]_proj\\.weight$ -> tp\n(down|o)_proj\\.weight$ -> _, tp\n");
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, match_many, rules), 0);
  for (int i = 0; i < 4; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  tsr_rules_release(rules);
}

static tsr_status make_and_match(void *context) {
  (void)context;
  tsr_rules *rules = NULL;
  int64_t rule = -1;
  tsr_status status = tsr_rules_parse(
      "a+ -> x, y\n\"b b\" -> tp/parts(q:{2*3})\nc|d|e$ -> z # note\n", "r", NULL, &rules);
  if (!status) status = tsr_rules_match(rules, "xaa", &rule);
  tsr_rules_release(rules);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(make_and_match, NULL);
}

SUITE(rules, TEST(the_first_match_wins), TEST(no_rules_match_nothing),
      TEST(one_rule_can_be_asked_alone), TEST(broken_patterns_are_found_at_once),
      TEST(slow_patterns_name_rule_and_path), TEST(paths_must_be_utf8),
      TEST(the_filter_changes_no_answer), TEST(thousands_of_rules_work), TEST(threads_share_rules),
      TEST(running_out_of_memory_is_reported))
