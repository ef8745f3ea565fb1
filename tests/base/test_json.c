
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "support/test.h"
#include "tessera/text.h"

// The text is copied to memory of its exact size, so that a sanitizer sees any step beyond it.
typedef struct parsed {
  char *bytes;
  tsr_json_doc *doc;
} parsed;

static tsr_status parse(const char *text, size_t length, parsed *out) {
  out->doc = NULL;
  out->bytes = malloc(length ? length : 1);
  if (!out->bytes) return tsr_fail(NO_MEMORY, "text");
  memcpy(out->bytes, text, length);
  return tsr_json_parse(out->bytes, length, &out->doc);
}

static void discard(parsed *p) {
  tsr_json_destroy(p->doc);
  free(p->bytes);
}

static parsed must_parse(const char *text) {
  parsed p;
  assert_ok(parse(text, strlen(text), &p));
  return p;
}

static void assert_prints(const tsr_json *value, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_print(value, &text);
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

static const struct {
  const char *text, *printed;
} good[] = {
    {"null", "null"},
    {" true ", "true"},
    {"false", "false"},
    {"0", "0"},
    {"-0", "-0"},
    {"-12.50e+7", "-12.50e+7"},
    {"1E5", "1E5"},
    {"18446744073709551616", "18446744073709551616"},
    {"\"\"", "\"\""},
    {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"a\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "\"A\u00e9\u20ac\U0001f600\""},
    {"\"\\u0000\\u001F\"", "\"\\u0000\\u001f\""},
    {"\"\u00e9\u20ac\U0001f600\x7f\"", "\"\u00e9\u20ac\U0001f600\x7f\""},
    {"[]", "[]"},
    {" [ ] ", "[]"},
    {"{}", "{}"},
    {"{ }", "{}"},
    {"[1,[2,[3,[]],{}],4]", "[1,[2,[3,[]],{}],4]"},
    {"\t{\"a\" : 1 ,\r\n \"b\":[ true , null ] } ", "{\"a\":1,\"b\":[true,null]}"},
    {"{\"\":0,\" \":0}", "{\"\":0,\" \":0}"},
    {"{\"a\\u0062\":{\"ab\":{\"ab\":1}}}", "{\"ab\":{\"ab\":{\"ab\":1}}}"},
};

static void valid_texts_print_back(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(good); i++) {
    parsed first = must_parse(good[i].text);
    assert_prints(tsr_json_root(first.doc), good[i].printed);
    parsed again = must_parse(good[i].printed);
    assert_prints(tsr_json_root(again.doc), good[i].printed);
    discard(&first);
    discard(&again);
  }
}

static const struct {
  const char *text, *message;
} bad[] = {
    {"", "line 1, column 1: expected a value, found the end"},
    {"  ", "line 1, column 3: expected a value, found the end"},
    {"nul", "line 1, column 1: expected a value, found \"nul\""},
    {"True", "line 1, column 1: expected a value, found \"True\""},
    {"NaN", "line 1, column 1: expected a value, found \"NaN\""},
    {"+1", "line 1, column 1: expected a value, found \"+\""},
    {".5", "line 1, column 1: expected a value, found \".\""},
    {"\xef\xbb\xbf[]", "line 1, column 1: expected a value, found a byte order mark"},
    {"01", "line 1, column 2: expected the end, found \"1\""},
    {"-", "line 1, column 2: expected a digit, found the end"},
    {"-a", "line 1, column 2: expected a digit, found \"a\""},
    {"1.", "line 1, column 3: expected a digit, found the end"},
    {"[1.]", "line 1, column 4: expected a digit, found \"]\""},
    {"1e", "line 1, column 3: expected a digit, found the end"},
    {"1e+-2", "line 1, column 4: expected a digit, found \"-\""},
    {"0x10", "line 1, column 2: expected the end, found \"x10\""},
    {"[1,]", "line 1, column 4: expected a value, found \"]\""},
    {"[1 2]", "line 1, column 4: expected \",\" or \"]\", found \"2\""},
    {"[1}", "line 1, column 3: expected \",\" or \"]\", found \"}\""},
    {"[1", "line 1, column 3: expected \",\" or \"]\", found the end"},
    {"[", "line 1, column 2: expected a value, found the end"},
    {"{", "line 1, column 2: expected a key, found the end"},
    {"{a:1}", "line 1, column 2: expected a key, found \"a\""},
    {"{\"a\" 1}", "line 1, column 6: expected \":\", found \"1\""},
    {"{\"a\":1,}", "line 1, column 8: expected a key, found \"}\""},
    {"{\"a\":1]", "line 1, column 7: expected \",\" or \"}\", found \"]\""},
    {"[1] x", "line 1, column 5: expected the end, found \"x\""},
    {"// no", "line 1, column 1: expected a value, found \"/\""},
    {"\"abc", "line 1, column 5: expected the end of a string, found the end"},
    {"\"a\nb\"", "line 1, column 3: control character 0x0a in a string"},
    {"\"\\x\"",
     "line 1, column 3: expected one of \" \\ / b f n r t u after the backslash, found \"x\""},
    {"\"\\",
     "line 1, column 3: expected one of \" \\ / b f n r t u after the backslash, found the end"},
    {"\"\\u12g4\"", "line 1, column 6: expected a hexadecimal digit, found \"g4\""},
    {"\"\\ud800\"", "line 1, column 2: \\ud800 is half a surrogate pair"},
    {"\"\\udc00\"", "line 1, column 2: \\udc00 is half a surrogate pair"},
    {"\"\\ud800\\n\"", "line 1, column 2: \\ud800 is half a surrogate pair"},
    {"\"\\ud800\\u0041\"", "line 1, column 2: \\ud800\\u0041 is not a surrogate pair"},
    {"\"\x80\"", "line 1, column 2: byte 0x80 is not UTF-8"},
    {"\"\xc0\xaf\"", "line 1, column 2: byte 0xc0 is not UTF-8"},
    {"\"\xed\xa0\x80\"", "line 1, column 2: byte 0xed is not UTF-8"},
    {"\"\xe0\x80\x80\"", "line 1, column 2: byte 0xe0 is not UTF-8"},
    {"\"\xf0\x80\x80\x80\"", "line 1, column 2: byte 0xf0 is not UTF-8"},
    {"\"\xf4\x90\x80\x80\"", "line 1, column 2: byte 0xf4 is not UTF-8"},
    {"\"\xf5\x80\x80\x80\"", "line 1, column 2: byte 0xf5 is not UTF-8"},
    {"\"\xe2\x82\"", "line 1, column 2: byte 0xe2 is not UTF-8"},
    {"\"\xe2\x82", "line 1, column 2: byte 0xe2 is not UTF-8"},
    {"\"\u00e9\"\n\n  \u20ac", "line 3, column 3: expected the end, found \"€\""},
    {"[\"\u20ac\u20ac\", x]", "line 1, column 8: expected a value, found \"x\""},
};

static void malformed_texts_say_where(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    parsed p;
    assert_fails(parse(bad[i].text, strlen(bad[i].text), &p), JSON_SYNTAX, bad[i].message);
    assert_null(p.doc);
    discard(&p);
  }
}

static void a_nul_byte_is_no_end(void **state) {
  (void)state;
  parsed p;
  assert_fails(parse("1\0", 2, &p), JSON_SYNTAX,
               "line 1, column 2: expected the end, found byte 0x00");
  discard(&p);
  assert_fails(
      parse("\"\\\0\"", 4, &p), JSON_SYNTAX,
      "line 1, column 3: expected one of \" \\ / b f n r t u after the backslash, found byte 0x00");
  discard(&p);
}

// Marks in strings are found wherever they lie within the words the scan takes.
static void strings_of_all_lengths_end_where_they_should(void **state) {
  (void)state;
  for (int length = 0; length < 40; length++)
    for (int escape = -1; escape < length; escape++) {
      char text[100], expected[48];
      int at = sprintf(text, "[\"");
      for (int i = 0; i < length; i++) {
        expected[i] = i == escape ? '"' : (char)('#' + i);
        at += sprintf(text + at, i == escape ? "\\\"" : "%c", expected[i]);
      }
      sprintf(text + at, "\",7]");
      parsed p = must_parse(text);
      const char *bytes;
      size_t got;
      assert_ok(tsr_json_get_string(tsr_json_at(tsr_json_root(p.doc), 0), "it", &bytes, &got));
      assert_int_equal(got, length);
      assert_memory_equal(bytes, expected, (size_t)length);
      int64_t seven = 0;
      assert_ok(tsr_json_get_int(tsr_json_at(tsr_json_root(p.doc), 1), "it", &seven));
      assert_int_equal(seven, 7);
      discard(&p);
    }
}

static void duplicate_keys_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"{\"a\":1,\"a\":2}", "line 1, column 8: key \"a\" is in this object already"},
      {"{\"a\":{\"b\":1,\"c\":2,\"\\u0062\":3}}",
       "line 1, column 19: key \"b\" is in this object already"},
      {"{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\n\"7\":1,\"8\":1,\"9\":[0],\"7\":1}",
       "line 2, column 21: key \"7\" is in this object already"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    parsed p;
    assert_fails(parse(cases[i].text, strlen(cases[i].text), &p), JSON_DUPLICATE_KEY,
                 cases[i].message);
    discard(&p);
  }
}

static void members_are_found_in_objects_of_any_size(void **state) {
  (void)state;
  static const int sizes[] = {0, 1, 7, 8, 9, 16, 17, 1000};
  for (size_t s = 0; s < COUNT_OF(sizes); s++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_json_writer w;
    tsr_json_writer_init(&w, &text, 0);
    tsr_json_begin_object(&w);
    for (int i = 0; i < sizes[s]; i++) {
      char key[32];
      sprintf(key, "key\n%d", i * i);
      tsr_json_write_key(&w, key);
      if (i % 3)
        tsr_json_write_int(&w, i);
      else
        tsr_json_write_ints(&w, (int64_t[]){i, i}, 2);
    }
    tsr_json_end_object(&w);
    parsed p = must_parse(tsr_text_string(&text));
    const tsr_json *root = tsr_json_root(p.doc);
    assert_int_equal(tsr_json_count(root), sizes[s]);
    const tsr_json *walk = tsr_json_first(root);
    for (int i = 0; i < sizes[s]; i++, walk = tsr_json_next(walk)) {
      char key[32];
      sprintf(key, "key\n%d", i * i);
      const tsr_json *found = tsr_json_find(root, key);
      assert_ptr_equal(found, walk);
      assert_ptr_equal(tsr_json_at(root, (size_t)i), walk);
      assert_true(tsr_json_key_is(found, key));
      assert_false(tsr_json_key_is(found, "key"));
      int64_t value = -1;
      assert_ok(tsr_json_get_int(i % 3 ? found : tsr_json_at(found, 1), key, &value));
      assert_int_equal(value, i);
    }
    assert_null(walk);
    assert_null(tsr_json_find(root, "key\n2"));
    assert_null(tsr_json_at(root, (size_t)sizes[s]));
    discard(&p);
    tsr_text_deinit(&text);
  }
}

static void lookups_that_miss_give_null(void **state) {
  (void)state;
  parsed p = must_parse("[\"x\",{\"k\":[1,[2],3]}]");
  const tsr_json *root = tsr_json_root(p.doc), *string = tsr_json_at(root, 0);
  size_t length = 9;
  assert_null(tsr_json_find(NULL, "k"));
  assert_null(tsr_json_find(root, "k"));
  assert_null(tsr_json_find(string, "k"));
  assert_null(tsr_json_at(NULL, 0));
  assert_null(tsr_json_at(string, 0));
  assert_null(tsr_json_at(root, 2));
  assert_null(tsr_json_next(root));
  assert_null(tsr_json_first(string));
  assert_null(tsr_json_key(string, &length));
  assert_int_equal(length, 0);
  assert_false(tsr_json_key_is(string, "x"));
  assert_int_equal(tsr_json_count(string), 0);
  const tsr_json *list = tsr_json_find(tsr_json_at(root, 1), "k");
  assert_memory_equal(tsr_json_key(list, &length), "k", 1);
  assert_int_equal(length, 1);
  assert_prints(tsr_json_at(list, 2), "3");
  assert_null(tsr_json_at(list, 3));
  discard(&p);
}

static void positions_are_bytes_of_the_text(void **state) {
  (void)state;
  parsed p = must_parse(" {\"a\\n\": [true, \"b\\\\\", \"\u20ac\", {}, -5], \"c\":\"\"}");
  const tsr_json *root = tsr_json_root(p.doc), *list = tsr_json_find(root, "a\n");
  static const char starts[] = {'t', '"', '"', '{', '-'};
  assert_int_equal(tsr_json_position(p.doc, root), 1);
  assert_int_equal(tsr_json_position(p.doc, list), 9);
  for (size_t i = 0; i < COUNT_OF(starts); i++)
    assert_int_equal(p.bytes[tsr_json_position(p.doc, tsr_json_at(list, i))], starts[i]);
  assert_int_equal(tsr_json_position(p.doc, tsr_json_at(list, 1)), 16);
  assert_int_equal(tsr_json_position(p.doc, tsr_json_find(root, "c")), 43);
  discard(&p);
}

static void plain_strings_are_views(void **state) {
  (void)state;
  parsed p = must_parse("[\"plain\",\"esc\\naped\"]");
  const char *bytes;
  size_t length;
  assert_ok(tsr_json_get_string(tsr_json_at(tsr_json_root(p.doc), 0), "it", &bytes, &length));
  assert_ptr_equal(bytes, p.bytes + 2);
  assert_ok(tsr_json_get_string(tsr_json_at(tsr_json_root(p.doc), 1), "it", &bytes, &length));
  assert_int_equal(length, 8);
  assert_memory_equal(bytes, "esc\naped", 8);
  assert_true(tsr_json_is_string(tsr_json_at(tsr_json_root(p.doc), 0), "plain"));
  assert_false(tsr_json_is_string(tsr_json_at(tsr_json_root(p.doc), 0), "plai"));
  assert_false(tsr_json_is_string(tsr_json_root(p.doc), "plain"));
  assert_false(tsr_json_is_string(NULL, ""));
  discard(&p);
}

static void kinds_are_told_and_named(void **state) {
  (void)state;
  parsed p = must_parse("[null,true,1,\"\",[],{}]");
  static const char *const names[] = {"null", "bool", "number", "string", "array", "object"};
  for (size_t i = 0; i < 6; i++) {
    const tsr_json_kind kind = tsr_json_kind_of(tsr_json_at(tsr_json_root(p.doc), i));
    assert_int_equal(kind, i);
    assert_string_equal(tsr_json_kind_name(kind), names[i]);
  }
  assert_string_equal(tsr_json_kind_name((tsr_json_kind)6), "unknown");
  discard(&p);
}

static const struct {
  const char *text;
  bool fits;
  int64_t value;
} integers[] = {
    {"0", true, 0},
    {"-0", true, 0},
    {"-1", true, -1},
    {"9007199254740993", true, 9007199254740993},
    {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"9223372036854775808", false, 0},
    {"18446744073709551615", false, 0},
    {"18446744073709551616", false, 0},
    {"-9223372036854775809", false, 0},
    {"100000000000000000000000000000", false, 0},
};

static void integers_of_64_bits_are_exact(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(integers); i++) {
    parsed p = must_parse(integers[i].text);
    int64_t signed_value = 77;
    tsr_status as_int = tsr_json_get_int(tsr_json_root(p.doc), "it", &signed_value);
    assert_int_equal(!as_int, integers[i].fits);
    assert_int_equal(signed_value, as_int ? 77 : integers[i].value);
    if (as_int) assert_int_equal(tsr_status_cause(as_int), TSR_CAUSE_OVERFLOW);
    tsr_status_free(as_int);
    discard(&p);
  }
}

static void wrong_kinds_say_what_was_found(void **state) {
  (void)state;
  parsed p = must_parse(
      "[\"x\",1.5,1e2,null,[1,2],{\"a\":1},true,-1,1e999,"
      "\"0123456789012345678901234567890123456789012345678901234567890123456789\"]");
  const tsr_json *root = tsr_json_root(p.doc);
  int64_t i = 0;
  double d = 0;
  bool b = false;
  const char *bytes = NULL;
  size_t length = 0;
  assert_fails(tsr_json_get_int(tsr_json_at(root, 0), "shape", &i), JSON_KIND,
               "shape: wanted an integer, found \"x\"");
  assert_fails(tsr_json_get_int(tsr_json_at(root, 1), "shape", &i), NOT_AN_INTEGER,
               "shape: wanted an integer, found 1.5");
  assert_fails(tsr_json_get_int(tsr_json_at(root, 2), "shape", &i), NOT_AN_INTEGER,
               "shape: wanted an integer, found 1e2");
  assert_fails(tsr_json_get_int(NULL, "shape", &i), JSON_KIND, "shape: missing, wanted an integer");
  assert_fails(tsr_json_get_double(tsr_json_at(root, 3), "rate", &d), JSON_KIND,
               "rate: wanted a number, found null");
  assert_fails(tsr_json_get_string(tsr_json_at(root, 4), "name", &bytes, &length), JSON_KIND,
               "name: wanted a string, found an array of 2");
  assert_fails(tsr_json_get_bool(tsr_json_at(root, 5), "flag", &b), JSON_KIND,
               "flag: wanted a bool, found an object of 1");
  assert_fails(tsr_json_get_int(tsr_json_at(root, 6), "size", &i), JSON_KIND,
               "size: wanted an integer, found true");
  assert_fails(tsr_json_get_double(tsr_json_at(root, 8), "rate", &d), OVERFLOW,
               "rate: 1e999 is beyond the range of a double");
  assert_fails(tsr_json_get_int(tsr_json_at(root, 9), "size", &i), JSON_KIND,
               "size: wanted an integer, found a string of 70 bytes");
  assert_ok(tsr_json_get_bool(tsr_json_at(root, 6), "flag", &b));
  assert_true(b);
  discard(&p);
}

static tsr_status parse_levels(int levels, parsed *out) {
  char *text = calloc(1, 6 * (size_t)levels + 1);
  assert_non_null(text);
  for (int i = 0; i < levels; i++) strcat(text, i % 2 ? "[" : "{\"a\":");
  strcat(text, "0");
  for (int i = levels; i--;) strcat(text, i % 2 ? "]" : "}");
  tsr_status status = parse(text, strlen(text), out);
  free(text);
  return status;
}

static void nesting_has_a_limit(void **state) {
  (void)state;
  parsed p;
  assert_ok(parse_levels(512, &p));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_print(tsr_json_root(p.doc), &text);
  assert_int_equal(text.length, 512 / 2 * 8 + 1);
  tsr_text_deinit(&text);
  discard(&p);
  assert_fails_with(parse_levels(513, &p), TOO_LARGE, "nested more than 512 deep");
  discard(&p);
}

static const char sweep_text[] =
    "{\"a\\t\":[1,2,[],{}],\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":5,\"g\":6,\"h\":7,\"i\":8,\"j\":9,"
    "\"k\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}";

static tsr_status parse_once(void *context) {
  tsr_json_doc *doc;
  TSR_TRY(tsr_json_parse(context, strlen(context), &doc));
  tsr_json_destroy(doc);
  return NULL;
}

static tsr_status describe_once(void *context) {
  int64_t value;
  tsr_status status = tsr_json_get_int(context, "it", &value);
  if (tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_JSON_KIND);
  tsr_status_free(status);
  return NULL;
}

static void reading_survives_running_out_of_memory(void **state) {
  (void)state;
  char text[sizeof sweep_text];
  memcpy(text, sweep_text, sizeof text);
  test_allocation_sweep(parse_once, text);
  parsed p = must_parse("\"x\"");
  test_allocation_sweep(describe_once, (void *)tsr_json_root(p.doc));
  discard(&p);
}

static const char *write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fputs(text, file) >= 0, 1);
  assert_int_equal(fclose(file), 0);
  return path;
}

static tsr_status read_once(void *path) {
  tsr_json_doc *doc;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_json_destroy(doc);
  return NULL;
}

static void files_are_read(void **state) {
  (void)state;
  char path[] = "/tmp/tessera_json_XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_read_file(write_file(path, "{\"a\":[1,2]}"), &doc));
  assert_prints(tsr_json_root(doc), "{\"a\":[1,2]}");
  tsr_json_destroy(doc);
  test_allocation_sweep(read_once, path);
  char message[200];
  sprintf(message, "%s:2:2: expected the end, found \"]\"", path);
  assert_fails(tsr_json_read_file(write_file(path, "[\n]]"), &doc), JSON_SYNTAX, message);
  unlink(path);
  sprintf(message, "%s: No such file or directory", path);
  assert_fails(tsr_json_read_file(path, &doc), IO, message);
  assert_fails_with(tsr_json_read_file("/", &doc), IO, "/: Is a directory");
  tsr_json_destroy(NULL);
}

// An object of `count` keys.
static void write_large(tsr_text *text, int count) {
  tsr_json_writer w;
  tsr_json_writer_init(&w, text, 0);
  tsr_json_begin_object(&w);
  for (int i = 0; i < count; i++) {
    char key[32];
    sprintf(key, "tensor.%d", i);
    tsr_json_write_key(&w, key);
    tsr_json_write_int(&w, i);
  }
  tsr_json_end_object(&w);
}

static void pipes_are_read_too(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  write_large(&text, 5000);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  if (fcntl(ends[1], F_SETPIPE_SZ, 1 << 18) < (int)text.length) skip();
  assert_int_equal(write(ends[1], text.data, text.length), text.length);
  close(ends[1]);
  char path[40];
  sprintf(path, "/dev/fd/%d", ends[0]);
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_read_file(path, &doc));
  assert_prints(tsr_json_root(doc), text.data);
  tsr_json_destroy(doc);
  close(ends[0]);
  tsr_text_deinit(&text);
}

static void a_hundred_thousand_keys_are_told_apart(void **state) {
  (void)state;
  enum { KEYS = 100000 };
  tsr_text text = TSR_TEXT_EMPTY;
  write_large(&text, KEYS);
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_parse(text.data, text.length, &doc));
  for (int i = 0; i < KEYS; i += 7) {
    char key[32];
    int64_t value = -1;
    sprintf(key, "tensor.%d", i);
    assert_ok(tsr_json_get_int(tsr_json_find(tsr_json_root(doc), key), key, &value));
    assert_int_equal(value, i);
  }
  tsr_json_destroy(doc);
  memcpy(strstr(text.data, "tensor.99999"), "tensor.12345", 12);
  assert_fails_with(tsr_json_parse(text.data, text.length, &doc), JSON_DUPLICATE_KEY,
                    "key \"tensor.12345\" is in this object already");
  tsr_text_deinit(&text);
}

SUITE(json, TEST(valid_texts_print_back), TEST(malformed_texts_say_where),
      TEST(a_nul_byte_is_no_end), TEST(strings_of_all_lengths_end_where_they_should),
      TEST(duplicate_keys_are_refused), TEST(members_are_found_in_objects_of_any_size),
      TEST(lookups_that_miss_give_null), TEST(positions_are_bytes_of_the_text),
      TEST(plain_strings_are_views), TEST(kinds_are_told_and_named),
      TEST(integers_of_64_bits_are_exact), TEST(wrong_kinds_say_what_was_found),
      TEST(nesting_has_a_limit), TEST(reading_survives_running_out_of_memory), TEST(files_are_read),
      TEST(pipes_are_read_too), TEST(a_hundred_thousand_keys_are_told_apart))
