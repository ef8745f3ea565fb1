#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text_internal.h"
#include "json/json.h"
#include "json/json_fields.h"
#include "support/test.h"

static void write_sample(tsr_json_writer *w) {
  tsr_json_begin_object(w);
  tsr_json_write_key(w, "name");
  tsr_json_write_string(w, "a\"b");
  tsr_json_write_key(w, "none");
  tsr_json_write_string(w, NULL);
  tsr_json_write_key(w, "dims");
  tsr_json_write_ints(w, (int64_t[]){1, -2}, 2);
  tsr_json_write_key(w, "list");
  tsr_json_begin_array(w);
  tsr_json_write_bool(w, true);
  tsr_json_write_bool(w, false);
  tsr_json_begin_object(w);
  tsr_json_end_object(w);
  tsr_json_end_array(w);
  tsr_json_write_key(w, "grid");
  tsr_json_begin_inline_array(w);
  tsr_json_begin_array(w);
  tsr_json_write_uint(w, UINT64_MAX);
  tsr_json_end_array(w);
  tsr_json_begin_object(w);
  tsr_json_write_key(w, "x");
  tsr_json_write_double(w, 0.5);
  tsr_json_end_object(w);
  tsr_json_end_array(w);
  tsr_json_write_key(w, "after");
  tsr_json_write_int(w, INT64_MIN);
  tsr_json_end_object(w);
}

static void assert_writes(int indent, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer w;
  tsr_json_writer_init(&w, &text, indent);
  write_sample(&w);
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_parse(text.data, text.length, &doc));
  tsr_json_destroy(doc);
  tsr_text_deinit(&text);
}

static void commas_and_lines_are_put_by_the_writer(void **state) {
  (void)state;
  assert_writes(0,
                "{\"name\":\"a\\\"b\",\"none\":null,\"dims\":[1,-2],\"list\":[true,false,{}],"
                "\"grid\":[[18446744073709551615],{\"x\":0.5}],\"after\":-9223372036854775808}");
  assert_writes(2,
                "{\n"
                "  \"name\": \"a\\\"b\",\n"
                "  \"none\": null,\n"
                "  \"dims\": [1, -2],\n"
                "  \"list\": [\n"
                "    true,\n"
                "    false,\n"
                "    {}\n"
                "  ],\n"
                "  \"grid\": [[18446744073709551615], {\"x\": 0.5}],\n"
                "  \"after\": -9223372036854775808\n"
                "}");
}

static void deep_nesting_stays_balanced(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer w;
  tsr_json_writer_init(&w, &text, 1);
  for (int i = 0; i < 100; i++) tsr_json_begin_array(&w);
  for (int i = 0; i < 100; i++) tsr_json_end_array(&w);
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_parse(text.data, text.length, &doc));
  tsr_json_destroy(doc);
  tsr_text_deinit(&text);
}

static const struct {
  const char *bytes;
  size_t length;
  const char *written;
} strings[] = {
    {"", 0, "\"\""},
    {"tab\tnul\0bell\a", 13, "\"tab\\tnul\\u0000bell\\u0007\""},
    {"/\\\"\x7f", 4, "\"/\\\\\\\"\x7f\""},
    {"\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\u00e9\U0001f600\""},
    {"a\xff\xc3", 3, "\"a\ufffd\ufffd\""},
    {"\xed\xa0\x80", 3, "\"\ufffd\ufffd\ufffd\""},
};

static void strings_are_escaped_and_stay_utf8(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(strings); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_json_writer w;
    tsr_json_writer_init(&w, &text, 0);
    tsr_json_write_bytes(&w, strings[i].bytes, strings[i].length);
    assert_string_equal(tsr_text_string(&text), strings[i].written);
    tsr_text_deinit(&text);
  }
}

static void lines_for_people_have_nothing_that_terminals_obey(void **state) {
  (void)state;
  static const char bytes[] = "\x7f|\xc2\x9b\xc2\xa0\xe2\x80\xae\x7f\x7f|";
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer w;
  tsr_json_writer_init(&w, &text, 2);
  tsr_json_write_string(&w, bytes);
  assert_string_equal(tsr_text_string(&text), "\"\\u007f|\\u009b\xc2\xa0\\u202e\\u007f\\u007f|\"");
  tsr_text_clear(&text);
  tsr_json_writer_init(&w, &text, 0);
  tsr_json_write_string(&w, bytes);
  assert_int_equal(text.length, sizeof bytes + 1);
  tsr_text_deinit(&text);
}

// As Python's repr prints them.
static const struct {
  double value;
  const char *written;
} doubles[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.3, "0.3"},
    {0.1 + 0.2, "0.30000000000000004"},
    {100.0, "100.0"},
    {123456789.125, "123456789.125"},
    {1e15, "1000000000000000.0"},
    {1e16, "1e+16"},
    {123456789012345678.0, "1.2345678901234568e+17"},
    {1e22, "1e+22"},
    {1.5e300, "1.5e+300"},
    {0.0001, "0.0001"},
    {0.00012, "0.00012"},
    {0.00001, "1e-05"},
    {1.25e-7, "1.25e-07"},
    {5e-324, "5e-324"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {2.225073858507201e-308, "2.225073858507201e-308"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {9007199254740993.0, "9007199254740992.0"},
    {0x1p-1017, "7.120236347223045e-307"},  // just above a power of two is fewer digits away
    {0x1p-24, "5.960464477539063e-08"},
    {0x1p100, "1.2676506002282294e+30"},
    {4.35, "4.35"},
    {2.0 / 3, "0.6666666666666666"},
    {9.5367431640625e-07, "9.5367431640625e-07"},
};

static void assert_reads_back(double value, const tsr_text *text) {
  double again = NAN;
  assert_ok(tsr_decimal_parse(text->data, text->length, &again));
  assert_memory_equal(&again, &value, sizeof value);
}

static void doubles_are_written_in_the_fewest_digits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(doubles); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_add_double(&text, doubles[i].value);
    assert_string_equal(tsr_text_string(&text), doubles[i].written);
    assert_reads_back(doubles[i].value, &text);
    tsr_text_deinit(&text);
  }
}

static void all_doubles_round_trip(void **state) {
  (void)state;
  test_random random = {2};
  tsr_text text = TSR_TEXT_EMPTY;
  for (int i = 0; i < 20000; i++) {
    const uint64_t bits = test_random_next(&random);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    tsr_text_clear(&text);
    tsr_text_add_double(&text, value);
    assert_reads_back(value, &text);
  }
  tsr_text_deinit(&text);
}

static void long_numbers_are_read_with_correct_rounding(void **state) {
  (void)state;
  // Halfway between 1 and the next double, then a digit far out that tips it up.
  char digits[1000] = "1.00000000000000011102230246251565404236316680908203125";
  double value = 0;
  assert_ok(tsr_decimal_parse(digits, strlen(digits), &value));
  assert_true(value == 1.0);
  size_t length = strlen(digits);
  memset(digits + length, '0', 900 - length);
  digits[900] = '1';
  assert_ok(tsr_decimal_parse(digits, 901, &value));
  assert_true(value == 1.0 + DBL_EPSILON);
  assert_ok(tsr_decimal_parse("1e-400", 6, &value));
  assert_true(value == 0);
}

static void numbers_without_value_are_written_as_null(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer w;
  tsr_json_writer_init(&w, &text, 0);
  tsr_json_begin_array(&w);
  tsr_json_write_double(&w, INFINITY);
  tsr_json_write_double(&w, NAN);
  tsr_json_end_array(&w);
  tsr_text_add_double(&text, -INFINITY);
  tsr_text_add_double(&text, NAN);
  assert_string_equal(tsr_text_string(&text), "[null,null]-infnan");
  tsr_text_deinit(&text);
}

static void the_locale_changes_nothing(void **state) {
  (void)state;
  // A locale with a decimal comma, if the machine has one.
  static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  bool set = false;
  for (size_t i = 0; i < COUNT_OF(commas) && !set; i++) set = setlocale(LC_ALL, commas[i]) != NULL;
  if (!set) skip();
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add_double(&text, 1234.5);
  double value = 0;
  tsr_status status = tsr_decimal_parse("2.5", 3, &value);
  setlocale(LC_ALL, "C");
  assert_ok(status);
  assert_true(value == 2.5);
  assert_string_equal(tsr_text_string(&text), "1234.5");
  tsr_text_deinit(&text);
}

typedef struct reading {
  const char *name, *unit;
  int runs;
  int64_t bytes;
  double seconds;
  bool settled;
} reading;

static const tsr_json_field reading_fields[] = {TSR_JSON_FIELD(reading, name),
                                                TSR_JSON_FIELD(reading, unit),
                                                TSR_JSON_FIELD(reading, runs),
                                                TSR_JSON_FIELD_AS(reading, bytes, "bytes_moved"),
                                                TSR_JSON_FIELD(reading, seconds),
                                                TSR_JSON_FIELD(reading, settled),
                                                {0}};

static void fields_of_a_struct_are_written_by_a_table(void **state) {
  (void)state;
  const reading r = {"a\"b", NULL, -3, INT64_MAX, 0.25, true};
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer w;
  tsr_json_begin_document(&w, &text);
  tsr_json_add_fields(&w, reading_fields, &r);
  tsr_json_add_array(&w, "none");
  tsr_json_end_array(&w);
  tsr_json_end_document(&w);
  assert_string_equal(tsr_text_string(&text),
                      "{\n  \"name\": \"a\\\"b\",\n  \"unit\": null,\n  \"runs\": -3,\n"
                      "  \"bytes_moved\": 9223372036854775807,\n  \"seconds\": 0.25,\n"
                      "  \"settled\": true,\n  \"none\": []\n}\n");
  tsr_text_deinit(&text);
}

static tsr_status write_once(void *context) {
  (void)context;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer w;
  tsr_json_writer_init(&w, &text, 2);
  write_sample(&w);
  char *string;
  TSR_TRY(tsr_text_take(&text, &string));
  free(string);
  return NULL;
}

static tsr_status read_long_number(void *context) {
  double value;
  return tsr_decimal_parse(context, 100, &value);
}

static void writing_survives_running_out_of_memory(void **state) {
  (void)state;
  char digits[101];
  memset(digits, '1', 100);
  test_allocation_sweep(write_once, NULL);
  test_allocation_sweep(read_long_number, digits);
}

SUITE(json_writer, TEST(commas_and_lines_are_put_by_the_writer),
      TEST(fields_of_a_struct_are_written_by_a_table), TEST(deep_nesting_stays_balanced),
      TEST(strings_are_escaped_and_stay_utf8),
      TEST(lines_for_people_have_nothing_that_terminals_obey),
      TEST(doubles_are_written_in_the_fewest_digits), TEST(all_doubles_round_trip),
      TEST(long_numbers_are_read_with_correct_rounding),
      TEST(numbers_without_value_are_written_as_null), TEST(the_locale_changes_nothing),
      TEST(writing_survives_running_out_of_memory))
