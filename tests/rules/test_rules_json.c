// Rules as JSON.
#include <string.h>

#include "json/json.h"
#include "rules/rules_internal.h"
#include "support/test.h"
#include "tessera/rules.h"

static tsr_status from_json(const char *text, tsr_rules **out) {
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_parse(text, strlen(text), &doc));
  tsr_status status = tsr_rules_from_json(tsr_json_root(doc), NULL, out);
  tsr_json_destroy(doc);
  return status;
}

static void writing_gives_what_was_read(void **state) {
  (void)state;
  static const char text[] =
      "[[\"kernel$\",[\"dp\",null,[\"a\",\"b\"]]],"
      "[\"x\",\"tp/parts(q:4/2*2)\",{\"file\":\"llama.rules\",\"line\":12}],[\"\",[]],"
      "[\"y\",[\"tp\"],{\"together\":\"mlp\",\"over\":\"tp\",\"written\":\"tp/parts({n})\"}]]";
  tsr_rules *rules = NULL;
  tsr_text out = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  assert_ok(from_json(text, &rules));
  assert_int_equal(tsr_rules_count(rules), 4);
  assert_string_equal(tsr_rules_at(rules, 3)->written, "tp/parts({n})");
  assert_string_equal(tsr_rules_at(rules, 1)->file, "llama.rules");
  assert_int_equal(tsr_rules_at(rules, 1)->line, 12);
  tsr_json_writer_init(&writer, &out, 0);
  tsr_rules_to_json(rules, &writer);
  tsr_json_doc *wanted = NULL, *got = NULL;
  assert_ok(tsr_json_parse(text, strlen(text), &wanted));
  assert_ok(tsr_json_parse(out.data, out.length, &got));
  tsr_text a = TSR_TEXT_EMPTY, b = TSR_TEXT_EMPTY;
  tsr_json_print(tsr_json_root(wanted), &a);
  tsr_json_print(tsr_json_root(got), &b);
  assert_string_equal(tsr_text_string(&b), tsr_text_string(&a));
  tsr_text_deinit(&a);
  tsr_text_deinit(&b);
  tsr_json_destroy(wanted);
  tsr_json_destroy(got);
  tsr_text_deinit(&out);
  tsr_rules_release(rules);
}

static void bad_rules_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tsr_cause cause;
    const char *part;
  } cases[] = {
      {"{}", TSR_CAUSE_JSON_KIND, "rules must be a list of [pattern, spec]"},
      {"[[\"a\",[]],3]", TSR_CAUSE_JSON_KIND,
       "rule 1: a rule: wanted a list of pattern and spec, found 3"},
      {"[[\"a\"]]", TSR_CAUSE_JSON_KIND, "rule 0: a rule: wanted a list"},
      {"[[\"a\",[],{},1]]", TSR_CAUSE_JSON_KIND, "rule 0: a rule: wanted a list"},
      {"[[1,[]]]", TSR_CAUSE_JSON_KIND, "rule 0: "},
      {"[[\"a\",7]]", TSR_CAUSE_JSON_KIND, "rule 0: "},
      {"[[\"a\",[],3]]", TSR_CAUSE_JSON_KIND,
       "rule 0: its place: wanted an object with file and line, found 3"},
      {"[[\"a\",[],{\"together\":\"x\"}]]", TSR_CAUSE_BAD_ARGUMENT,
       "rule 0: a group needs a name and an axis"},
      {"[[\"a\",[],{\"over\":3}]]", TSR_CAUSE_JSON_KIND, "rule 0: "},
      {"[[\"a\",[],{\"line\":-1}]]", TSR_CAUSE_BAD_ARGUMENT, "rule 0: line -1"},
      {"[[\"a\\u0000\",[]]]", TSR_CAUSE_SYNTAX, "rule 0: a pattern with a zero byte"},
      {"[[\"a\",\"x{\"]]", TSR_CAUSE_SYNTAX, "rule 0: a { without a }"},
      {"[[\"*\",[]]]", TSR_CAUSE_BAD_REGEX, "rule 0: pattern: column 1: nothing to repeat"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = NULL;
    tsr_status status = from_json(cases[i].text, &rules);
    if (tsr_status_cause(status) != cases[i].cause ||
        !strstr(tsr_status_text(status), cases[i].part))
      fail_msg("%s: %s", cases[i].text, tsr_status_text(status));
    tsr_status_free(status);
  }
}

static tsr_status read_and_drop(void *context) {
  tsr_rules *rules = NULL;
  tsr_status status = tsr_rules_from_json(context, NULL, &rules);
  tsr_rules_release(rules);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  static const char text[] = "[[\"a+\",[\"x\",null],{\"file\":\"f\",\"line\":1}],[\"b\",\"y{\"]]";
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_parse(text, strlen(text), &doc));
  tsr_rules *rules = NULL;
  assert_fails_with(tsr_rules_from_json(tsr_json_root(doc), NULL, &rules), SYNTAX, "rule 1: ");
  tsr_json_destroy(doc);
  static const char good[] = "[[\"a+\",[\"x\",null],{\"file\":\"f\",\"line\":1}],[\"b\",\"y\"]]";
  assert_ok(tsr_json_parse(good, strlen(good), &doc));
  test_allocation_sweep(read_and_drop, (void *)(uintptr_t)tsr_json_root(doc));
  tsr_json_destroy(doc);
}

SUITE(rules_json, TEST(writing_gives_what_was_read), TEST(bad_rules_are_named),
      TEST(running_out_of_memory_is_reported))
