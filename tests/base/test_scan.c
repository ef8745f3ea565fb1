#include <string.h>

#include "base/scan.h"
#include "support/test.h"

static const struct {
  const char *text;
  int64_t value;
} integers[] = {
    {"0", 0},
    {" 42]", 42},
    {"-7", -7},
    {"007", 7},
    {"9223372036854775807", INT64_MAX},
    {"-9223372036854775808", INT64_MIN},
};

static void integers_are_read_to_their_limits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(integers); i++) {
    tsr_scan scan = TSR_SCAN(integers[i].text);
    int64_t value = 1;
    assert_ok(tsr_scan_int(&scan, &value));
    assert_true(value == integers[i].value);
  }
}

static void failures_say_what_was_wanted_and_what_stands_there(void **state) {
  (void)state;
  int64_t value = 5;
  tsr_scan scan = TSR_SCAN(" x1");
  assert_fails(tsr_scan_int(&scan, &value), SYNTAX, "wanted an integer at byte 1, found \"x1\"");
  assert_fails(tsr_scan_expect(&scan, ']'), SYNTAX, "wanted ']' at byte 1, found \"x1\"");
  assert_fails(tsr_scan_end(&scan), SYNTAX, "wanted the end at byte 1, found \"x1\"");
  scan = (tsr_scan)TSR_SCAN("9223372036854775808");
  assert_fails(tsr_scan_int(&scan, &value), SYNTAX,
               "wanted an integer of 64 bits at byte 0, found \"922337203685...\"");
  scan = (tsr_scan)TSR_SCAN("\t\x01");
  assert_fails(tsr_scan_int(&scan, &value), SYNTAX, "wanted an integer at byte 1, found \".\"");
  scan = (tsr_scan)TSR_SCAN("-");
  assert_fails(tsr_scan_int(&scan, &value), SYNTAX, "wanted an integer at byte 0, found \"-\"");
  scan = (tsr_scan)TSR_SCAN("  ");
  assert_fails(tsr_scan_expect(&scan, '{'), SYNTAX, "wanted '{' at byte 2, found the end");
  assert_ok(tsr_scan_end(&scan));
  assert_true(value == 5);
}

static void words_and_characters_are_taken_past_blanks_and_comments(void **state) {
  (void)state;
  tsr_scan scan = TSR_SCAN(" { /*index=5*/ last_2 /* open");
  scan.comments = true;
  assert_true(tsr_scan_take(&scan, '{'));
  assert_false(tsr_scan_take(&scan, '}'));
  size_t length = 0;
  const char *word = tsr_scan_word(&scan, &length);
  assert_memory_equal(word, "last_2", 6);
  assert_int_equal(length, 6);
  assert_int_equal(tsr_scan_peek(&scan), '/');
  tsr_scan_word(&scan, &length);
  assert_int_equal(length, 0);
  assert_false(tsr_scan_take(&scan, '\0'));
}

static void qualified_names_give_their_last_word(void **state) {
  (void)state;
  static const struct {
    const char *text, *word, *rest;
  } cases[] = {
      {"torch.distributed.tensor.Shard(0)", "Shard", "(0)"},
      {" Shard", "Shard", ""},
      {"a.b.", "b", "."},
      {"a. b", "a", ". b"},
      {".a", "", ".a"},
      {"", "", ""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_scan scan = TSR_SCAN(cases[i].text);
    size_t length = 0;
    const char *word = tsr_scan_qualified(&scan, &length);
    assert_int_equal(length, strlen(cases[i].word));
    assert_memory_equal(word, cases[i].word, length);
    assert_string_equal(scan.at, cases[i].rest);
  }
}

static void only_the_whole_word_is_taken(void **state) {
  (void)state;
  tsr_scan scan = TSR_SCAN(" placements=");
  assert_false(tsr_scan_take_word(&scan, "place"));
  assert_false(tsr_scan_take_word(&scan, "placements_"));
  assert_string_equal(scan.at, " placements=");
  assert_true(tsr_scan_take_word(&scan, "placements"));
  assert_string_equal(scan.at, "=");
}

SUITE(scan, TEST(integers_are_read_to_their_limits),
      TEST(failures_say_what_was_wanted_and_what_stands_there),
      TEST(words_and_characters_are_taken_past_blanks_and_comments),
      TEST(qualified_names_give_their_last_word), TEST(only_the_whole_word_is_taken))
