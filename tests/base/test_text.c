#include "tessera/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"

static void texts_grow(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_string_equal(tsr_text_string(&text), "");
  for (int i = 0; i < 1000; i++) tsr_text_addf(&text, "%03d,", i);
  assert_int_equal(text.length, 4000);
  assert_memory_equal(text.data + 3996, "999,", 5);
  tsr_text_clear(&text);
  assert_string_equal(tsr_text_string(&text), "");
  tsr_text_deinit(&text);
}

static void integers_print_exactly(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add_int(&text, INT64_MIN);
  tsr_text_add_char(&text, ' ');
  tsr_text_add_int(&text, INT64_MAX);
  tsr_text_add(&text, " ");
  tsr_text_add_int(&text, 0);
  assert_string_equal(tsr_text_string(&text), "-9223372036854775808 9223372036854775807 0");
  tsr_text_deinit(&text);
}

static tsr_status build_text(void *context) {
  (void)context;
  tsr_text text = TSR_TEXT_EMPTY;
  for (int i = 0; i < 100; i++) tsr_text_add(&text, "some words ");
  char *string = NULL;
  TSR_TRY(tsr_text_take(&text, &string));
  free(string);
  return NULL;
}

static void running_out_of_memory_is_reported_once(void **state) {
  (void)state;
  test_allocation_sweep(build_text, NULL);
}

static void an_empty_text_can_be_taken(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  char *string = NULL;
  assert_ok(tsr_text_check(&text));
  assert_ok(tsr_text_take(&text, &string));
  assert_string_equal(string, "");
  free(string);
}

static void what_terminals_obey_is_made_plain(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
  } cases[] = {
      {"", ""},
      {"a\tb\n", "a\tb\n"},
      {"\x1b[31m\x7f\r", "?[31m??"},
      {"\xc2\x9b"
       "1m",
       "??1m"},
      {"\xc2\xa0\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
       "\xc2\xa0\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf", "\xe2\x80\xa9??????\xe2\x80\xaf"},
      {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5??????\xe2\x81\xaa"},
      {"\x9b\xe9t\xe9 \xe2\x82", "??t? ??"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[64];
    strcpy(text, cases[i].from);
    tsr_make_plain(text, strlen(text));
    assert_string_equal(text, cases[i].to);
  }
}

SUITE(text, TEST(texts_grow), TEST(integers_print_exactly),
      TEST(running_out_of_memory_is_reported_once), TEST(an_empty_text_can_be_taken),
      TEST(what_terminals_obey_is_made_plain))
