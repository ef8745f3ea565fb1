#include "draw/draw.h"
#include "support/test.h"

static void sizes_have_the_unit_that_fits(void **state) {
  (void)state;
  static const struct {
    int64_t bytes;
    const char *text;
  } cases[] = {{0, "0 B"},         {999, "999 B"},           {1000, "1.0 kB"},
               {99949, "99.9 kB"}, {99950, "100 kB"},        {999499, "999 kB"},
               {999500, "1.0 MB"}, {16100000000, "16.1 GB"}, {INT64_MAX, "9.2 EB"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_string_equal(tsr_format_bytes(cases[i].bytes).text, cases[i].text);
}

static void times_have_the_unit_that_fits(void **state) {
  (void)state;
  static const struct {
    double seconds;
    const char *text;
  } cases[] = {
      {0, "0 s"}, {1.25e-3, "1.25 ms"}, {0.9996, "1 s"}, {12345, "12345 s"}, {3e-9, "3 ns"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_string_equal(tsr_format_seconds(cases[i].seconds).text, cases[i].text);
}

static void width_counts_characters(void **state) {
  (void)state;
  assert_int_equal(tsr_display_width(""), 0);
  assert_int_equal(tsr_display_width("a─…"), 3);
}

SUITE(units, TEST(sizes_have_the_unit_that_fits), TEST(times_have_the_unit_that_fits),
      TEST(width_counts_characters))
