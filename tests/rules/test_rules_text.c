// Rule files: how lines are read, what is said about bad ones, and printing as the inverse.
#include "tessera/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "support/test.h"

static void assert_rule(const tsr_rules *rules, int index, const char *pattern, const char *spec,
                        int line) {
  const tsr_rule *rule = tsr_rules_at(rules, index);
  tsr_text text = TSR_TEXT_EMPTY;
  assert_non_null(rule);
  assert_string_equal(rule->pattern, pattern);
  assert_ok(tsr_spec_print(rule->spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), spec);
  assert_int_equal(rule->line, line);
  tsr_text_deinit(&text);
}

static void lines_are_rules(void **state) {
  (void)state;
  static const struct {
    const char *line, *pattern, *spec;
  } cases[] = {
      {"a -> tp", "a", "tp"},
      {"  a\\.b$\t->\ttp , fsdp  ", "a\\.b$", "tp, fsdp"},
      {"a -> P('x', None)", "a", "x, _"},
      {"a -> #sdy.sharding<@mesh, [{\"x\"}, {}]>", "a", "x, _"},
      {"a -> tp  # why", "a", "tp"},
      {"a -> tp  # was a -> fsdp", "a", "tp"},
      {"a#b -> tp", "a#b", "tp"},
      {"\\#a -> tp", "\\#a", "tp"},
      {"x -> y -> tp", "x -> y", "tp"},
      {"x -> \"a -> b\"", "x", "\"a -> b\""},
      {"x -> \"a #b\" # c", "x", "\"a #b\""},
      {"\"a -> b # \\u00e9\\\"\" -> tp # c", "a -> b # \xc3\xa9\"", "tp"},
      {"\"half -> tp", "\"half", "tp"},
      {" -> tp", "", "tp"},
      {"-> tp", "", "tp"},
      {"a->b -> tp", "a->b", "tp"},
      {"include me -> tp", "include me", "tp"},
      {"a -> tp\r", "a", "tp"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = NULL;
    assert_ok(tsr_rules_parse(cases[i].line, "f", NULL, &rules));
    assert_int_equal(tsr_rules_count(rules), 1);
    assert_rule(rules, 0, cases[i].pattern, cases[i].spec, 1);
    tsr_rules_release(rules);
  }
}

static void comments_and_blank_lines_count_as_lines(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_parse("# head\n\na -> x\n   # inner\nb -> _", "f", NULL, &rules));
  assert_int_equal(tsr_rules_count(rules), 2);
  assert_rule(rules, 0, "a", "x", 3);
  assert_rule(rules, 1, "b", "_", 5);
  tsr_rules_release(rules);
  rules = NULL;
  assert_ok(tsr_rules_parse("", NULL, NULL, &rules));
  assert_int_equal(tsr_rules_count(rules), 0);
  tsr_rules_release(rules);
}

static void bad_lines_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"a -> x\nfoo", TSR_CAUSE_SYNTAX, "f:2:4: expected \" -> \", found the end"},
      {"a -> x\n\n** -> y", TSR_CAUSE_BAD_REGEX, "f:3: pattern: column 1: nothing to repeat"},
      {"a ->", TSR_CAUSE_SYNTAX, "f:1:5: the text is empty; the empty spec is written ()"},
      {"a -> \"x", TSR_CAUSE_SYNTAX, "f:1:1: the spec has a \" that is not closed"},
      {"\"a\\q\" -> x", TSR_CAUSE_JSON_SYNTAX, NULL},
      {"\"a\\u0000\" -> x", TSR_CAUSE_SYNTAX, "f:1:1: a pattern with a zero byte; write \\x00"},
      {"include x.rules", TSR_CAUSE_UNSUPPORTED, "f:1:1: include works in files only"},
      {"together a over", TSR_CAUSE_SYNTAX,
       "f:1:1: wanted \"together NAME over AXIS\", as in together attention over tp"},
      {"together a by tp", TSR_CAUSE_SYNTAX,
       "f:1:1: wanted \"together NAME over AXIS\", as in together attention over tp"},
      {"together a over tp fsdp", TSR_CAUSE_SYNTAX,
       "f:1:1: wanted \"together NAME over AXIS\", as in together attention over tp"},
      {"together a/b over tp", TSR_CAUSE_BAD_ARGUMENT,
       "f:1:1: group name \"a/b\" may only have letters, digits, _, - and ."},
      {"together a over \"\"", TSR_CAUSE_BAD_ARGUMENT,
       "f:1:1: a group needs a name and an axis, as in attention over tp"},
      {"together a over tp\nx -> tp\ntogether b over tp", TSR_CAUSE_SYNTAX,
       "f:3:1: the group of line 1 has no end yet"},
      {"x -> tp\ntogether a over tp", TSR_CAUSE_SYNTAX, "f:2:10: the group has no end"},
      {"x -> tp\nend", TSR_CAUSE_SYNTAX, "f:2:1: end without \"together NAME over AXIS\""},
      {"together a over tp\nend of it", TSR_CAUSE_SYNTAX, "f:2:1: nothing follows end"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = NULL;
    tsr_status status = tsr_rules_parse(cases[i].text, "f", NULL, &rules);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    if (cases[i].message) assert_message(status, cases[i].message);
    assert_null(rules);
    tsr_status_free(status);
  }
}

// The group of each rule, as "name/axis" or "-".
static void assert_groups(const tsr_rules *rules, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  for (int i = 0; i < tsr_rules_count(rules); i++) {
    const tsr_rule *rule = tsr_rules_at(rules, i);
    if (rule->together)
      tsr_text_addf(&text, " %s/%s", rule->together, rule->over);
    else
      tsr_text_add(&text, " -");
  }
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

static const char grouped[] =
    "a -> tp\n"
    "together attention over tp  # by heads\n"
    "q -> tp, _\n"
    "o -> _, tp\n"
    "end  # of it\n"
    "together mlp over ep\n"
    "up -> ep\n"
    "end\n"
    "end -> tp\n"
    "together x over y -> tp\n";

static void rules_between_together_and_end_are_a_group(void **state) {
  (void)state;
  static const char *const keep[] = {"tp"}, *const rename[] = {"tp", "my axis"};
  const tsr_rules_options options = {.size = sizeof options,
                                     .keep_axes = keep,
                                     .keep_axis_count = 1,
                                     .rename_axes = rename,
                                     .rename_axis_count = 1};
  tsr_rules *rules = NULL, *fewer = NULL, *again = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_rules_parse(grouped, "f", NULL, &rules));
  assert_groups(rules, " - attention/tp attention/tp mlp/ep - -");
  assert_ok(tsr_rules_parse(grouped, "f", &options, &fewer));  // no ep, so no mlp
  assert_groups(fewer, " - attention/my axis attention/my axis - - -");
  tsr_rules_print(fewer, &text);
  assert_string_equal(tsr_text_string(&text),
                      "a  ->  \"my axis\"\n"
                      "together attention over \"my axis\"\n"
                      "q  ->  \"my axis\", _\n"
                      "o  ->  _, \"my axis\"\n"
                      "end\n"
                      "up  ->  _\n"
                      "\"end\"  ->  \"my axis\"\n"
                      "\"together x over y\"  ->  \"my axis\"\n");
  assert_ok(tsr_rules_parse(tsr_text_string(&text), "f", NULL, &again));
  assert_groups(again, " - attention/my axis attention/my axis - - -");
  tsr_text_deinit(&text);
  tsr_rules_release(again);
  tsr_rules_release(fewer);
  tsr_rules_release(rules);
}

static void neighbouring_groups_are_printed_apart(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  tsr_rules *rules = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_spec_parse("tp", TSR_FORM_SHORT, &spec));
  const tsr_rule given[] = {{.pattern = "a", .spec = spec, .together = "x", .over = "tp"},
                            {.pattern = "b", .spec = spec, .together = "y", .over = "tp"},
                            {.pattern = "c", .spec = spec, .together = "y", .over = "ep"}};
  const tsr_rule half = {.pattern = "a", .spec = spec, .together = "x"};
  const tsr_rule arrow = {.pattern = "a", .spec = spec, .together = "x", .over = "a -> b"};
  assert_ok(tsr_rules_create(given, COUNT_OF(given), &rules));
  tsr_rules_print(rules, &text);
  assert_string_equal(tsr_text_string(&text),
                      "together x over tp\na  ->  tp\nend\n"
                      "together y over tp\nb  ->  tp\nend\n"
                      "together y over ep\nc  ->  tp\nend\n");
  tsr_rules_release(rules);
  rules = NULL;
  assert_fails(tsr_rules_create(&half, 1, &rules), BAD_ARGUMENT,
               "rule 0: a group needs a name and an axis, as in attention over tp");
  assert_fails(tsr_rules_create(&arrow, 1, &rules), BAD_ARGUMENT,
               "rule 0: axis \"a -> b\" of a group contains \"->\"");
  tsr_text_deinit(&text);
  tsr_spec_release(spec);
}

static tsr_status parse_grouped(void *context) {
  (void)context;
  tsr_rules *rules = NULL;
  tsr_status status = tsr_rules_parse(grouped, "f", NULL, &rules);
  tsr_rules_release(rules);
  return status;
}

static void groups_survive_failing_allocations(void **state) {
  (void)state;
  test_allocation_sweep(parse_grouped, NULL);
}

static void printing_is_the_inverse_of_parsing(void **state) {
  (void)state;
  static const char *const patterns[] = {
      "a",        "",
      " a",       "a ",
      "#a",       "a #b",
      "a -> b",   "->",
      "\"a\"",    "\"",
      "include",  "include x",
      "together", "together a over b",
      "end",      "inc",
      "a\nb",     "\xc3\xa9",
      "a\\ ",     "x\\\\",
      "\x7f",     "(?x) a # c\n b",
      "a ->",     "-> a",
      "a\tb",     "a -> \"b",
      "{",        "\\\"",
  };
  tsr_spec *spec = NULL;
  tsr_rule rules[COUNT_OF(patterns)];
  assert_ok(
      tsr_spec_parse("\"a -> b #\", tp/parts(q:4/2*2), ? | unreduced=x", TSR_FORM_SHORT, &spec));
  for (size_t i = 0; i < COUNT_OF(patterns); i++)
    rules[i] = (tsr_rule){.pattern = patterns[i], .spec = spec};
  tsr_rules *made = NULL, *again = NULL;
  tsr_text text = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  assert_ok(tsr_rules_create(rules, COUNT_OF(patterns), &made));
  tsr_rules_print(made, &text);
  assert_ok(tsr_rules_parse(tsr_text_string(&text), "f", NULL, &again));
  assert_int_equal(tsr_rules_count(again), COUNT_OF(patterns));
  for (size_t i = 0; i < COUNT_OF(patterns); i++) {
    assert_string_equal(tsr_rules_at(again, (int)i)->pattern, patterns[i]);
    assert_true(tsr_spec_equal(tsr_rules_at(again, (int)i)->spec, spec));
  }
  tsr_rules_print(again, &second);
  assert_string_equal(tsr_text_string(&second), tsr_text_string(&text));
  tsr_text_deinit(&text);
  tsr_text_deinit(&second);
  tsr_rules_release(made);
  tsr_rules_release(again);
  tsr_spec_release(spec);
}

// ---- files ----

typedef struct folder {
  char path[64];
} folder;

static void make_folder(folder *f) {
  strcpy(f->path, "/tmp/tessera_rules_XXXXXX");
  assert_non_null(mkdtemp(f->path));
}

static const char *path_in(const folder *f, const char *name, char out[128]) {
  snprintf(out, 128, "%s/%s", f->path, name);
  return out;
}

static void write_file(const folder *f, const char *name, const char *text) {
  char path[128];
  FILE *file = fopen(path_in(f, name, path), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void remove_folder(const folder *f) {
  static const char *const names[] = {"a.rules", "b.rules", "c.json", "self.rules"};
  char path[128];
  for (size_t i = 0; i < COUNT_OF(names); i++) unlink(path_in(f, names[i], path));
  rmdir(f->path);
}

static void files_include_files_beside_them(void **state) {
  (void)state;
  folder f;
  char path[128];
  tsr_rules *rules = NULL;
  make_folder(&f);
  write_file(&f, "a.rules", "one -> x\ninclude b.rules  # common\ntwo -> y\ninclude c.json\n");
  write_file(&f, "b.rules", "\nthree -> z\n");
  write_file(&f, "c.json", "[[\"four\", [\"w\", null]], [\"five\", \"tp/parts({2*n})\"]]");
  const tsr_fact n = {"n", 21};
  const tsr_rules_options options = {.size = sizeof options, .facts = &n, .fact_count = 1};
  assert_ok(tsr_rules_read(path_in(&f, "a.rules", path), &options, &rules));
  assert_int_equal(tsr_rules_count(rules), 5);
  assert_rule(rules, 0, "one", "x", 1);
  assert_rule(rules, 1, "three", "z", 2);
  assert_string_equal(tsr_rules_at(rules, 1)->file, path_in(&f, "b.rules", path));
  assert_rule(rules, 2, "two", "y", 3);
  assert_string_equal(tsr_rules_at(rules, 2)->file, path_in(&f, "a.rules", path));
  assert_rule(rules, 3, "four", "w, _", 0);
  assert_rule(rules, 4, "five", "tp/parts(42)", 0);
  tsr_rules_release(rules);
  remove_folder(&f);
}

static void faults_in_files_name_the_way_to_them(void **state) {
  (void)state;
  folder f;
  char path[128], message[512];
  tsr_rules *rules = NULL;
  make_folder(&f);
  write_file(&f, "a.rules", "\ninclude b.rules\n");
  write_file(&f, "b.rules", "x -> y\nnothing\n");
  snprintf(message, sizeof message,
           "%s/a.rules:2: %s/b.rules:2:8: expected \" -> \", found the end of the line", f.path,
           f.path);
  assert_fails(tsr_rules_read(path_in(&f, "a.rules", path), NULL, &rules), SYNTAX, message);
  write_file(&f, "b.rules", "x -> y\ninclude a.rules\n");
  snprintf(message, sizeof message,
           "%s/a.rules:2 includes %s/b.rules:2 includes %s/a.rules, which goes in a circle", f.path,
           f.path, f.path);
  assert_fails(tsr_rules_read(path_in(&f, "a.rules", path), NULL, &rules), INCLUDE_CYCLE, message);
  // A circle that names itself differently each time ends by depth.
  write_file(&f, "self.rules", "include ./self.rules\n");
  assert_fails_with(tsr_rules_read(path_in(&f, "self.rules", path), NULL, &rules), INCLUDE_CYCLE,
                    "more than 16 files within one another: ");
  write_file(&f, "b.rules", "include missing.rules\n");
  assert_fails_with(tsr_rules_read(path_in(&f, "b.rules", path), NULL, &rules), IO,
                    "/b.rules:1:9: ");
  write_file(&f, "b.rules", "include  \n");
  assert_fails_with(tsr_rules_read(path_in(&f, "b.rules", path), NULL, &rules), SYNTAX,
                    "/b.rules:1:1: include wants the name of a file");
  write_file(&f, "c.json", "{}");
  assert_fails_with(tsr_rules_read(path_in(&f, "c.json", path), NULL, &rules), JSON_KIND,
                    "rules must be a list of [pattern, spec]");
  assert_fails_with(tsr_rules_read("/no/such/file.rules", NULL, &rules), IO,
                    "/no/such/file.rules: ");
  assert_null(rules);
  remove_folder(&f);
}

SUITE(rules_text, TEST(rules_between_together_and_end_are_a_group),
      TEST(neighbouring_groups_are_printed_apart), TEST(groups_survive_failing_allocations),
      TEST(lines_are_rules), TEST(comments_and_blank_lines_count_as_lines),
      TEST(bad_lines_are_named), TEST(printing_is_the_inverse_of_parsing),
      TEST(files_include_files_beside_them), TEST(faults_in_files_name_the_way_to_them))
