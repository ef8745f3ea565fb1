// Logical rules as values: made by calls, text and JSON, joined, and t5x's standard ones.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "rules/entries.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/t5x_rules.h"

static tsr_logical_rules *parse(const char *text) {
  tsr_logical_rules *rules = NULL;
  assert_ok(tsr_logical_rules_parse(text, "test.rules", &rules));
  return rules;
}

static void assert_prints(const tsr_logical_rules *rules, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_logical_rules_print(rules, &text);
  assert_ok(tsr_text_check(&text));
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
}

// ---- text ----

static void text_says_what_json_says(void **state) {
  (void)state;
  static const struct {
    const char *text, *json, *printed;
  } cases[] = {
      {"", "[]", ""},
      {"\n # only words\n\n", "[]", ""},
      {"embed -> model", "[['embed','model']]", "embed -> model\n"},
      {"batch->replica + data# two", "[['batch',['replica','data']]]", "batch -> replica+data\n"},
      {"kv -> _\nkv -> None\n", "[['kv',null],['kv',null]]", "kv -> _\nkv -> _\n"},
      {"a -> ()\nb -> (x)\nc -> (x+y)\n", "[['a',[]],['b',['x']],['c',['x','y']]]",
       "a -> ()\nb -> (x)\nc -> x+y\n"},
      {"a -> _+x\nb -> (_)\r\n", "[['a',[null,'x']],['b',[null]]]", "a -> _+x\nb -> (_)\n"},
      {"rest -> ?", "[['rest',{'unconstrained':true}]]", "rest -> ?\n"},
      {"\"my axis\" -> \"a#b\"+\"_\"", "[['my axis',['a#b','_']]]",
       "\"my axis\" -> \"a#b\"+\"_\"\n"},
      {"_ -> \"\"", "[['_','']]", "\"_\" -> \"\"\n"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_rules *rules = parse(cases[i].text), *again = parse(cases[i].printed);
    assert_rules(rules, cases[i].json);
    assert_prints(rules, cases[i].printed);
    assert_true(tsr_logical_rules_equal(rules, again));
    tsr_logical_rules_release(rules);
    tsr_logical_rules_release(again);
  }
}

static void faults_in_text_name_line_and_column(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"a -> x\nb - > y", "f:2:3: expected \"->\", found \"-\""},
      {"a", "f:1:2: expected \"->\", found the end"},
      {"a -> ", "f:1:6: expected a mesh axis, found the end"},
      {"\n\na -> x y", "f:3:8: expected the end of the line, found \"y\""},
      {"a -> x,y", "f:1:7: expected the end of the line, found \",\""},
      {"a -> (x", "f:1:8: expected \")\", found the end"},
      {"a -> x+", "f:1:8: expected a mesh axis, found the end"},
      {"-> x", "f:1:1: expected a logical name, found \"->\""},
      {"\"a -> x", "f:1:1: the string has no closing quote"},
      {"\"\\q\" -> x", "f:1:2: expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_rules *rules = NULL;
    assert_fails(tsr_logical_rules_parse(cases[i].text, "f", &rules), SYNTAX, cases[i].message);
    assert_null(rules);
  }
  tsr_logical_rules *unnamed = NULL;
  assert_fails_with(tsr_logical_rules_parse("batch data", NULL, &unnamed), SYNTAX,
                    "rules:1:7: expected \"->\", found \"data\"");
}

static void rules_know_where_they_stand(void **state) {
  (void)state;
  tsr_logical_rules *rules = parse("# first\na -> x\n\nb -> y # second\n");
  assert_int_equal(tsr_logical_rules_count(rules), 2);
  assert_int_equal(tsr_logical_rules_at(rules, 0)->line, 2);
  assert_int_equal(tsr_logical_rules_at(rules, 1)->line, 4);
  assert_string_equal(tsr_logical_rules_at(rules, 1)->file, "test.rules");
  tsr_logical_rules *joined = NULL, *more = rules_of("[['c','z']]");
  assert_ok(tsr_logical_compose(rules, more, &joined));
  assert_int_equal(tsr_logical_rules_at(joined, 1)->line, 4);
  assert_string_equal(tsr_logical_rules_at(joined, 1)->file, "test.rules");
  assert_string_equal(tsr_logical_rules_at(joined, 2)->file, "");
  tsr_logical_rules_release(rules);
  tsr_logical_rules_release(more);
  tsr_logical_rules_release(joined);
}

static void a_group_has_a_largest_size(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_logical_rules *rules = NULL;
  tsr_text_add(&text, "a -> x");
  for (int i = 1; i < 4096; i++) tsr_text_add(&text, "+x");
  assert_ok(tsr_logical_rules_parse(tsr_text_string(&text), "f", &rules));
  tsr_logical_rules_release(rules);
  tsr_text_add(&text, "+x");
  assert_fails_with(tsr_logical_rules_parse(tsr_text_string(&text), "f", &rules), TOO_LARGE,
                    "more than 4096 axes in a group");
  tsr_text_deinit(&text);
}

// ---- JSON ----

static void faults_in_json_name_the_rule(void **state) {
  (void)state;
  static const struct {
    const char *json, *message;
  } cases[] = {
      {"{}", "logical rules: wanted an array, found object"},
      {"[['a','x'],3]", "in rule 1: rule: wanted an array, found number"},
      {"[['a']]", "in rule 0: 1 values, wanted a name and its mesh axes"},
      {"[[null,'x']]", "in rule 0: name: wanted a string, found null"},
      {"[['a',3]]", "in rule 0: axis: wanted a string, found 3"},
      {"[['a',['x',3]]]", "in rule 0: axis: wanted a string, found 3"},
      {"[['a',{}]]", "in rule 0: unconstrained: missing, wanted a bool"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    json_text text = json_of(cases[i].json);
    tsr_logical_rules *rules = NULL;
    tsr_status status = tsr_logical_rules_from_json(tsr_json_root(text.doc), &rules);
    assert_message(status, cases[i].message);
    assert_null(rules);
    tsr_status_free(status);
    json_free(&text);
  }
  json_text nested = json_of("[['a',[['x']]]]"), zero = json_of("[['a\\u0000b',null]]");
  tsr_logical_rules *rules = NULL;
  assert_fails(tsr_logical_rules_from_json(tsr_json_root(nested.doc), &rules), NESTED_TUPLE,
               "in rule 0: a group inside a group, wanted an axis");
  assert_fails(tsr_logical_rules_from_json(tsr_json_root(zero.doc), &rules), SYNTAX,
               "in rule 0: a name with a zero byte");
  assert_fails(tsr_logical_rules_from_json(NULL, &rules), JSON_KIND,
               "logical rules: wanted an array, found nothing");
  json_free(&nested);
  json_free(&zero);
}

// ---- calls ----

static void calls_are_checked(void **state) {
  (void)state;
  tsr_logical_rules *rules = NULL;
  const tsr_logical_rule nameless = {.entry = TSR_LOGICAL_NAME("x")};
  const tsr_logical_rule null_axis = {.name = "a", .entry = {TSR_ENTRY_NAME, 1, NULL}};
  const tsr_logical_rule two_names = {.name = "a",
                                      .entry = {TSR_ENTRY_NAME, 2, (const char *[]){"x", "y"}}};
  const tsr_logical_rule no_kind = {.name = "a", .entry = {(tsr_entry_kind)9, 0, NULL}};
  const tsr_logical_rule too_many = {.name = "a", .entry = {TSR_ENTRY_GROUP, 5000, NULL}};
  assert_fails(tsr_logical_rules_create(&nameless, 1, &rules), BAD_ARGUMENT,
               "a logical rule without a name");
  assert_fails(tsr_logical_rules_create(&null_axis, 1, &rules), BAD_ARGUMENT,
               "rule \"a\": entry 0: an entry whose name 0 is NULL");
  assert_fails(tsr_logical_rules_create(&two_names, 1, &rules), BAD_ARGUMENT,
               "rule \"a\": entry 0: an entry of 2 names");
  assert_fails(tsr_logical_rules_create(&no_kind, 1, &rules), BAD_ARGUMENT,
               "rule \"a\": entry 0: an entry of kind 9, wanted one of tsr_entry_kind");
  assert_fails(tsr_logical_rules_create(&too_many, 1, &rules), TOO_LARGE,
               "rule \"a\": entry 0: a group of 5000 names, wanted at most 4096");
  assert_fails(tsr_logical_rules_create(NULL, 1, &rules), BAD_ARGUMENT, "1 logical rules");
  assert_fails(tsr_logical_rules_create(NULL, -1, &rules), BAD_ARGUMENT, "-1 logical rules");
  assert_null(rules);
}

static void rules_are_shared_values(void **state) {
  (void)state;
  const tsr_logical_rule list[] = {{.name = "a", .entry = TSR_LOGICAL_GROUP("x", "y")},
                                   {.name = "b", .entry = TSR_LOGICAL_NONE},
                                   {.name = "c", .entry = TSR_LOGICAL_UNCONSTRAINED}};
  tsr_logical_rules *rules = NULL;
  assert_ok(tsr_logical_rules_create(list, 3, &rules));
  tsr_logical_rules *same = tsr_logical_rules_retain(rules);
  tsr_logical_rules_release(rules);
  assert_rules(same, "[['a',['x','y']],['b',null],['c',{'unconstrained':true}]]");
  tsr_logical_rules_release(same);
  tsr_logical_rules_release(NULL);
  assert_int_equal(tsr_logical_rules_count(NULL), 0);
}

static void equality_tells_names_from_groups(void **state) {
  (void)state;
  static const char *const different[] = {"[]",
                                          "[['a','x']]",
                                          "[['a',['x']]]",
                                          "[['a',[]]]",
                                          "[['a',null]]",
                                          "[['b','x']]",
                                          "[['a',['x','y']]]",
                                          "[['a',['y','x']]]",
                                          "[['a','y']]",
                                          "[['a',{'unconstrained':true}]]"};
  for (size_t i = 0; i < COUNT_OF(different); i++)
    for (size_t j = 0; j < COUNT_OF(different); j++) {
      tsr_logical_rules *a = rules_of(different[i]), *b = rules_of(different[j]);
      assert_true(tsr_logical_rules_equal(a, b) == (i == j));
      tsr_logical_rules_release(a);
      tsr_logical_rules_release(b);
    }
}

// ---- composing ----

static void composing_keeps_each_name_once(void **state) {
  (void)state;
  static const struct {
    const char *a, *b, *wanted;
  } cases[] = {
      {"null", "null", "[]"},
      {"[]", "null", "[]"},
      {"[['a','x'],['a','y']]", "[]", "[['a','x'],['a','y']]"},
      {"null", "[['a','x'],['a','y']]", "[['a','x'],['a','y']]"},
      {"[['a','x']]", "[['b','y']]", "[['a','x'],['b','y']]"},
      {"[['b','x'],['a',null]]", "[['a',null],['c','z'],['b','x']]",
       "[['b','x'],['a',null],['c','z']]"},
      // The last meaning in the first list, where the name appeared first.
      {"[['a','x'],['b','y'],['a','z']]", "[['a','z']]", "[['a','z'],['b','y']]"},
      {"[['q','x']]", "[['b','y'],['b','y']]", "[['q','x'],['b','y']]"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_rules *a = rules_of(cases[i].a), *b = rules_of(cases[i].b), *both = NULL;
    assert_ok(tsr_logical_compose(a, b, &both));
    assert_rules(both, cases[i].wanted);
    tsr_logical_rules_release(a);
    tsr_logical_rules_release(b);
    tsr_logical_rules_release(both);
  }
}

static void composing_refuses_two_meanings(void **state) {
  (void)state;
  static const struct {
    const char *a, *b, *message;
  } cases[] = {
      {"[['a','x']]", "[['a','y']]", "logical axis \"a\" is mapped to x and to y"},
      {"[['a','x'],['a',['y']]]", "[['a','x']]", "logical axis \"a\" is mapped to (y) and to x"},
      {"[['q','x']]", "[['b',null],['b',[]]]", "logical axis \"b\" is mapped to _ and to ()"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_rules *a = rules_of(cases[i].a), *b = rules_of(cases[i].b), *both = NULL;
    assert_fails(tsr_logical_compose(a, b, &both), CONFLICTING_RULES, cases[i].message);
    assert_null(both);
    tsr_logical_rules_release(a);
    tsr_logical_rules_release(b);
  }
}

// ---- t5x ----

static void standard_rules_know_four_variants(void **state) {
  (void)state;
  static const struct {
    int activations, parameters;
    const char *wanted;
  } cases[] = {
      {1, 1,
       "[['batch','data'],['vocab','model'],['embed',null],['mlp','model'],['heads','model'],"
       "['kv',null],['joined_kv','model'],"},
      {2, 1,
       "[['batch','data'],['vocab','model'],['mlp','model'],['heads','model'],['kv',null],"
       "['joined_kv','model'],['embed','model'],"},
      {1, 2,
       "[['batch','data'],['vocab','model'],['mlp','model'],['heads','model'],['kv',null],"
       "['joined_kv','model'],['embed','data'],"},
      {2, 2,
       "[['batch','data'],['vocab','model'],['mlp','model'],['heads','model'],['kv',null],"
       "['joined_kv','model'],['embed','model'],['embed','data'],"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text wanted = TSR_TEXT_EMPTY;
    tsr_logical_rules *rules = NULL;
    assert_ok(tsr_logical_standard(cases[i].activations, cases[i].parameters, NULL, false, &rules));
    tsr_text_addf(&wanted, "%s%s", cases[i].wanted,
                  "['relpos_buckets',null],['abspos_buckets',null],['length',null],"
                  "['layers',null],['stack',null],['mlp_activations',null]]");
    assert_rules(rules, tsr_text_string(&wanted));
    tsr_text_deinit(&wanted);
    tsr_logical_rules_release(rules);
  }
}

static void additional_rules_come_last_or_first(void **state) {
  (void)state;
  tsr_logical_rules *more = rules_of("[['embed','data']]"), *rules = NULL;
  assert_ok(tsr_logical_standard(1, 1, more, false, &rules));
  assert_int_equal(tsr_logical_rules_count(rules), 14);
  assert_string_equal(tsr_logical_rules_at(rules, 13)->name, "embed");
  tsr_logical_rules_release(rules);
  assert_ok(tsr_logical_standard(1, 1, more, true, &rules));
  assert_string_equal(tsr_logical_rules_at(rules, 0)->name, "embed");
  assert_string_equal(tsr_logical_rules_at(rules, 1)->name, "batch");
  tsr_logical_rules_release(rules);
  tsr_logical_rules_release(more);
}

static void standard_rules_refuse_other_dims(void **state) {
  (void)state;
  static const int64_t dims[][2] = {{0, 1}, {1, 0}, {3, 1}, {1, 3}, {-1, 2}, {INT64_MAX, 1}};
  for (size_t i = 0; i < COUNT_OF(dims); i++) {
    tsr_logical_rules *rules = NULL;
    assert_fails_with(tsr_logical_standard(dims[i][0], dims[i][1], NULL, false, &rules),
                      UNSUPPORTED_DIMS, "wanted 1 or 2");
  }
}

static void slices_rewrite_every_batch_rule(void **state) {
  (void)state;
  tsr_logical_rules *rules = rules_of("[['batch',null],['mlp','model'],['batch','data']]");
  tsr_logical_rules *over = NULL;
  assert_ok(tsr_logical_for_slices(rules, &over));
  assert_rules(over, "[['batch',['replica','data']],['mlp','model'],['batch',['replica','data']]]");
  tsr_logical_rules_release(rules);
  tsr_logical_rules_release(over);
}

// ---- files ----

static void write_file(const char *path, const char *bytes, size_t length) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void files_hold_text_or_json(void **state) {
  (void)state;
  char folder[] = "/tmp/tessera-XXXXXX", text[64], json[64];
  tsr_logical_rules *a = NULL, *b = NULL;
  assert_non_null(mkdtemp(folder));
  snprintf(text, sizeof text, "%s/a.rules", folder);
  snprintf(json, sizeof json, "%s/a.json", folder);
  write_file(text, "a -> x", 6);
  write_file(json, "[[\"a\", \"x\"]]", 12);
  assert_ok(tsr_logical_rules_read(text, &a));
  assert_ok(tsr_logical_rules_read(json, &b));
  assert_true(tsr_logical_rules_equal(a, b));
  assert_string_equal(tsr_logical_rules_at(a, 0)->file, text);
  tsr_logical_rules_release(a);
  tsr_logical_rules_release(b);
  write_file(text, "a\0> x", 5);
  write_file(json, "[3]", 3);
  assert_fails_with(tsr_logical_rules_read(text, &a), SYNTAX,
                    "/a.rules: byte 1 is zero, expected text");
  assert_fails_with(tsr_logical_rules_read(json, &a), JSON_KIND, "a.json: in rule 0: ");
  write_file(json, "[3", 2);
  assert_fails_with(tsr_logical_rules_read(json, &a), JSON_SYNTAX, "a.json");
  unlink(text);
  unlink(json);
  assert_fails_with(tsr_logical_rules_read(text, &a), IO, "a.rules: No such file");
  rmdir(folder);
}

// ---- memory ----

static tsr_status make_and_join(void *context) {
  const char *text = context;
  tsr_logical_rules *rules = NULL, *standard = NULL, *both = NULL, *slices = NULL;
  tsr_status status = tsr_logical_rules_parse(text, "f", &rules);
  if (!status) status = tsr_logical_standard(2, 2, rules, true, &standard);
  if (!status) status = tsr_logical_compose(standard, rules, &both);
  if (!status) status = tsr_logical_for_slices(both, &slices);
  tsr_logical_rules_release(rules);
  tsr_logical_rules_release(standard);
  tsr_logical_rules_release(both);
  tsr_logical_rules_release(slices);
  return status;
}

static tsr_status read_json_rules(void *context) {
  tsr_logical_rules *rules = NULL;
  tsr_status status =
      tsr_logical_rules_from_json(tsr_json_root(((json_text *)context)->doc), &rules);
  tsr_logical_rules_release(rules);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  json_text text = json_of("[['a','x'],['b',['x',null]],['c',{'unconstrained':true}]]");
  test_allocation_sweep(make_and_join, "q -> x+y\n\"a b\" -> \"c d\"\nr -> (x)\n");
  test_allocation_sweep(read_json_rules, &text);
  json_free(&text);
}

SUITE(logical_rules, TEST(text_says_what_json_says), TEST(faults_in_text_name_line_and_column),
      TEST(rules_know_where_they_stand), TEST(a_group_has_a_largest_size),
      TEST(faults_in_json_name_the_rule), TEST(calls_are_checked), TEST(rules_are_shared_values),
      TEST(equality_tells_names_from_groups), TEST(composing_keeps_each_name_once),
      TEST(composing_refuses_two_meanings), TEST(standard_rules_know_four_variants),
      TEST(additional_rules_come_last_or_first), TEST(standard_rules_refuse_other_dims),
      TEST(slices_rewrite_every_batch_rule), TEST(files_hold_text_or_json),
      TEST(running_out_of_memory_is_a_status))
