#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
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
    tsr_cursor cursor = TSR_CURSOR("list", integers[i].text);
    int64_t value = 1;
    assert_ok(tsr_cursor_int(&cursor, &value));
    assert_true(value == integers[i].value);
  }
}

static void failures_say_what_was_expected_and_what_was_found(void **state) {
  (void)state;
  int64_t value = 5;
  tsr_cursor cursor = TSR_CURSOR("list", " x1");
  assert_fails(tsr_cursor_int(&cursor, &value), SYNTAX,
               "list: column 2: expected an integer, found \"x1\"\n   x1\n   ^");
  assert_fails(tsr_cursor_expect(&cursor, ']'), SYNTAX,
               "list: column 2: expected \"]\", found \"x1\"");
  assert_fails(tsr_cursor_end(&cursor), SYNTAX, "list: column 2: expected the end, found \"x1\"");
  cursor = (tsr_cursor)TSR_CURSOR("list", "9223372036854775808");
  assert_fails(tsr_cursor_int(&cursor, &value), SYNTAX,
               "list: column 1: expected an integer of 64 bits, found \"9223372036854775808\"");
  assert_fails(tsr_cursor_count(&cursor, "a size", &value), OVERFLOW,
               "list: column 1: a size is beyond 64 bits");
  cursor = (tsr_cursor)TSR_CURSOR("list", "\t\x01");
  assert_fails(tsr_cursor_int(&cursor, &value), SYNTAX,
               "list: column 2: expected an integer, found byte 0x01\n   ?\n   ^");
  cursor = (tsr_cursor)TSR_CURSOR("list", "-");
  assert_fails(tsr_cursor_int(&cursor, &value), SYNTAX,
               "list: column 1: expected an integer, found \"-\"");
  cursor = (tsr_cursor)TSR_CURSOR("list", "-7");
  assert_fails(tsr_cursor_count(&cursor, "a size", &value), SYNTAX,
               "list: column 1: expected a size, found \"-\"");
  cursor = (tsr_cursor)TSR_CURSOR("list", "");
  assert_fails(tsr_cursor_expect(&cursor, '{'), SYNTAX,
               "list: column 1: expected \"{\", found the end");
  assert_ok(tsr_cursor_end(&cursor));
  assert_true(value == 5);
}

// Each case fails at the '!' of its text, or where the '!' is not there, at its end.
static const struct {
  tsr_cursor cursor;
  const char *message;
} places[] = {
    {{.name = "a.txt", .start = "x\n\ty => z!\nw", .lines = true},
     "a.txt:2:8: wrong\n   y => z!\n         ^"},
    {{.start = "x\ny!", .lines = true}, "line 2, column 2: wrong\n  y!\n   ^"},
    {{.start = "x!"}, "column 2: wrong\n  x!\n   ^"},
    {{.name = "head", .start = "x!", .offset = 10}, "head: column 2 (byte 11): wrong\n  x!\n   ^"},
    // Characters count, not bytes; what is not UTF-8 or moves the terminal shows as '?'.
    {{.name = "spec", .start = "\xC3\xA9\xE2\x82\xAC!"},
     "spec: column 3: wrong\n  \xC3\xA9\xE2\x82\xAC!\n    ^"},
    {{.name = "spec", .start = "\x80\xE2\x80\xAE\x1b!"},
     "spec: column 4: wrong\n  \?\?\?!\n     ^"},
    {{.name = "a.txt", .start = "x!\r\ny", .lines = true}, "a.txt:1:2: wrong\n  x!\n   ^"},
    {{.name = "a.txt", .start = "x\n", .lines = true}, "a.txt:2:1: wrong"},
    // Long lines are cut around the caret.
    {{.name = "t",
      .start = "1234567890123456789012345678901234567890123456789012345678901234567890!"
               "12345678901234567890123456789012345678901234567890"},
     "t: column 71: wrong\n"
     "  ...345678901234567890123456789012345678901234567890!123456789012345678901234567...\n"
     "                                                     ^"},
    {{.name = "t",
      .start = "123!5678901234567890123456789012345678901234567890123456789012345678901"
               "2345678901234567890"},
     "t: column 4: wrong\n"
     "  123!567890123456789012345678901234567890123456789012345678901234567890123456...\n"
     "     ^"},
};

static void places_are_shown_with_their_line_and_a_caret(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    tsr_cursor cursor = places[i].cursor;
    cursor.at = cursor.start + strcspn(cursor.start, "!");
    assert_fails(tsr_cursor_fail(&cursor, SYNTAX, "wrong"), SYNTAX, places[i].message);
  }
}

static void what_was_found_is_a_token(void **state) {
  (void)state;
  static const struct {
    const char *text, *found;
  } cases[] = {
      {"=> tp", "\"=>\""},
      {"name_2.x", "\"name_2\""},
      {"),", "\")\""},
      {"\"x\"", "'\"'"},
      {"\xC3\xA9t\xC3\xA9 ", "\"\xC3\xA9t\xC3\xA9\""},
      {"\n", "the end of the line"},
      {"\r\n", "the end of the line"},
      {"", "the end"},
      {"\xEF\xBB\xBF{", "a byte order mark"},
      {"\x80", "byte 0x80"},
      {"abcdefghijklmnopqrstuvwxyz", "\"abcdefghijklmnopqrstuvwx...\""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_cursor cursor = TSR_CURSOR("t", cases[i].text);
    char message[100];
    snprintf(message, sizeof message, "t: column 1: expected x, found %s", cases[i].found);
    assert_fails(tsr_cursor_expected_at(&cursor, TSR_CAUSE_SYNTAX, "x"), SYNTAX, message);
  }
}

// A spec inside a file: the place inside the spec becomes one of the file.
static void a_place_inside_a_text_moves_to_the_text_around_it(void **state) {
  (void)state;
  const char *text = "# rules\nq -> data, )\n";
  const tsr_cursor inner = {.name = "spec", .start = "data, )", .at = inner.start + 6};
  const tsr_cursor outer = {.name = "a.rules", .start = text, .at = text + 13, .lines = true};
  tsr_status status = tsr_cursor_fail(&inner, SYNTAX, "wrong");
  status = tsr_cursor_place(&outer, tsr_note(status, "in entry 1"));
  assert_fails(tsr_note(status, "model"), SYNTAX,
               "model: a.rules:2:12: in entry 1: wrong\n  q -> data, )\n             ^");
  assert_ok(tsr_cursor_place(&outer, NULL));
  status = tsr_cursor_fail(&inner, SYNTAX, "wrong");
  assert_fails(tsr_cursor_place_missing(&outer, status), SYNTAX, "spec: column 7: wrong");
  status = tsr_fail(SYNTAX, "wrong");
  assert_fails(tsr_cursor_place_missing(&outer, status), SYNTAX, "a.rules:2:6: wrong");
  assert_fails(tsr_cursor_note(&inner, tsr_fail(SYNTAX, "wrong")), SYNTAX,
               "spec \"data, )\": wrong");
}

static void words_and_characters_are_taken_past_blanks_and_comments(void **state) {
  (void)state;
  tsr_cursor cursor = TSR_CURSOR("list", " { /*index=5*/ last_2 /* open");
  cursor.slash_comments = true;
  assert_true(tsr_cursor_take(&cursor, '{'));
  assert_false(tsr_cursor_take(&cursor, '}'));
  size_t length = 0;
  const char *word = tsr_cursor_word(&cursor, &length);
  assert_memory_equal(word, "last_2", 6);
  assert_int_equal(length, 6);
  assert_int_equal(tsr_cursor_peek(&cursor), '/');
  tsr_cursor_word(&cursor, &length);
  assert_int_equal(length, 0);
  assert_false(tsr_cursor_take(&cursor, '\0'));
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
    tsr_cursor cursor = TSR_CURSOR("list", cases[i].text);
    size_t length = 0;
    const char *word = tsr_cursor_qualified(&cursor, &length);
    assert_int_equal(length, strlen(cases[i].word));
    assert_memory_equal(word, cases[i].word, length);
    assert_string_equal(cursor.at, cases[i].rest);
  }
}

static void only_the_whole_word_is_taken(void **state) {
  (void)state;
  tsr_cursor cursor = TSR_CURSOR("list", "placements=");
  assert_false(tsr_cursor_take_word(&cursor, "place"));
  assert_false(tsr_cursor_take_word(&cursor, "placements_"));
  assert_string_equal(cursor.at, "placements=");
  assert_true(tsr_cursor_take_word(&cursor, "placements"));
  assert_string_equal(cursor.at, "=");
}

SUITE(cursor, TEST(integers_are_read_to_their_limits),
      TEST(failures_say_what_was_expected_and_what_was_found),
      TEST(places_are_shown_with_their_line_and_a_caret), TEST(what_was_found_is_a_token),
      TEST(a_place_inside_a_text_moves_to_the_text_around_it),
      TEST(words_and_characters_are_taken_past_blanks_and_comments),
      TEST(qualified_names_give_their_last_word), TEST(only_the_whole_word_is_taken))
