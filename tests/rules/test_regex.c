// Python's regular expressions: what they become for PCRE2, what is refused, and what they match.
// The far larger comparison with Python itself is tests/peers/record_python_re.py.
#include "regex/regex.h"

#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"

static tsr_status compile(const char *pattern, tsr_regex_text *out) {
  tsr_status status = tsr_regex_translate(pattern, out);
  tsr_text_deinit(&out->pattern);
  return status;
}

static void assert_translates(const char *pattern, const char *wanted) {
  tsr_regex_text text;
  assert_ok(tsr_regex_translate(pattern, &text));
  assert_string_equal(tsr_text_string(&text.pattern), wanted);
  tsr_text_deinit(&text.pattern);
}

static void patterns_are_rewritten_for_the_engine(void **state) {
  (void)state;
  static const struct {
    const char *python, *pcre;
  } cases[] = {
      {"(q|k|v)_proj\\.weight$", "(q|k|v)_proj\\.weight$"},
      {"(?P<n>a)(?P=n)\\Z", "(a)\\g{1}\\z"},
      {"a{,5}b{2,}c{3}d{,}", "a{0,5}b{2,}c{3,3}d*"},
      {"x{ {} {a} {1", "x\\{\\x{20}\\{\\}\\x{20}\\{a\\}\\x{20}\\{1"},
      {"(?x) a b # note \\\n still\n c", "abc"},
      {"(?i-s:a)(?-i:b)", "(?i:a)(?:b)"},
      {"[[:alpha:]]", "[\\[\\:alpha\\:]\\]"},
      {"[]a-c^-]", "[\\]a-c\\^\\-]"},
      {"[^\\W_]", "(?:(?![_]|[^\\p{L}\\p{N}_])(?s:.))"},
      {"(?a)\\d\\s", "[0-9][\\x{9}-\\x{d}\\x{20}]"},
      {"(?ai)k", "[kK]"},
      {"\\101\\07\\x41\\u00e9\\U0001F600", "A\\x{7}A\\x{e9}\\x{1f600}"},
      {"(?#c)a(?>b)c*+d??", "a(?>b)c*+d??"},
      {"x(a)*+b(?P<n>\\(){2,}+c(d)*", "x(?>(a))*+b(?>(\\()){2,}+c(d)*"},
      {"(a)?(?(1)b|c)", "(a)?(?(1)b|c)"},
      {"é", "\\x{e9}"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) assert_translates(cases[i].python, cases[i].pcre);
}

// A pattern that Python refuses, and our message.
typedef struct refusal {
  const char *pattern, *message;
} refusal;

static void assert_refused(const refusal *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsr_regex_text text;
    assert_fails(compile(cases[i].pattern, &text), BAD_REGEX, cases[i].message);
  }
}

static void bad_characters_and_repeats_are_refused_with_their_column(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"*a", "pattern: column 1: nothing to repeat"},
      {"a**", "pattern: column 3: multiple repeat"},
      {"[a", "pattern: column 1: unterminated character set"},
      {"[z-a]", "pattern: column 2: bad character range z-a"},
      {"[\\d-z]", "pattern: column 2: bad character range \\d-z"},
      {"a\\q", "pattern: column 2: bad escape \\q"},
      {"a\\", "pattern: column 2: bad escape at the end"},
      {"\\x4", "pattern: column 1: an escape that needs 2 hex digits"},
      {"\\777", "pattern: column 1: an octal escape above \\377"},
      {"[\\777]", "pattern: column 2: an octal escape above \\377"},
      {"\\U00110000", "pattern: column 1: no such character, U+110000"},
      {"a{3,2}", "pattern: column 2: the minimum repetition exceeds the maximum"},
      {"a{99999999999}", "pattern: column 2: a repetition that is too large"},
      {"^*", "pattern: column 2: nothing to repeat"},
  };
  assert_refused(cases, COUNT_OF(cases));
}

static void bad_groups_are_refused_with_their_column(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"é(", "pattern: column 2: missing ), unterminated group"},
      {"a)", "pattern: column 2: unbalanced parenthesis"},
      {"(?<=a+)b", "pattern: column 1: a lookbehind must have one fixed width"},
      {"(?<=a|bc)", "pattern: column 1: a lookbehind must have one fixed width"},
      {"(?P<n>a)(?P<n>b)",
       "pattern: column 9: a second group called n; the first is "
       "group 1"},
      {"(?P<1>a)", "pattern: column 5: a group's name must be a word, not 1"},
      {"(?P<n", "pattern: column 5: missing > after a group's name"},
      {"(?P<>a)", "pattern: column 5: missing group name"},
      {"(?P=n)", "pattern: column 5: no group is called n"},
      {"(?Px)", "pattern: column 1: unknown extension (?P"},
      {"\\1", "pattern: column 1: there is no group 1 before this"},
      {"(\\1)", "pattern: column 2: a reference to group 1, which is still open"},
      {"(?<=(a)\\1)", "pattern: column 8: a reference to group 1 of the same lookbehind"},
      {"(?(1)a|b)", "pattern: column 4: there is no group 1"},
      {"(?(0)a)", "pattern: column 4: bad group number"},
      {"(?(+)a)", "pattern: column 4: a condition needs a group's name or number"},
      {"(?(99999)a)", "pattern: column 4: there is no such group"},
      {"(?(n)a)", "pattern: column 4: no group is called n"},
      {"(a)(?(1)b|c|d)", "pattern: column 12: a condition with more than two branches"},
      {"(a)(?(1)b", "pattern: column 4: missing ), unterminated group"},
      {"(?#a", "pattern: column 1: missing ), unterminated comment"},
      {"(?", "pattern: column 3: unexpected end of the pattern"},
      {"(?R)", "pattern: column 1: unknown extension (?R"},
      {"(?|a)", "pattern: column 1: unknown extension (?|"},
      {"(*UTF)a", "pattern: column 2: nothing to repeat"},
      {"(?<n>a)",
       "pattern: column 1: unknown extension (?<; a named group is "
       "(?P<name>...)"},
  };
  assert_refused(cases, COUNT_OF(cases));
}

static void bad_flags_are_refused_with_their_column(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"(?i-sat:b)", "pattern: column 6: flags a and u cannot be turned off"},
      {"a(?i)b",
       "pattern: column 2: global flags must be at the start of the "
       "pattern"},
      {"(?L)a", "pattern: column 3: flag L, which is for patterns of bytes"},
      {"(?au:a)", "pattern: column 4: flags a and u exclude each other"},
      {"(?a)(?u)b", "pattern: column 5: flags a and u exclude each other"},
      {"(?-a:b)", "pattern: column 4: flags a and u cannot be turned off"},
      {"(?i-i:b)", "pattern: column 1: a flag turned on and off at once"},
      {"(?-:b)", "pattern: column 4: missing flag"},
      {"(?iz)", "pattern: column 4: unknown flag, wanted one of i m s x a u"},
      {"(?i", "pattern: column 4: unterminated flags"},
  };
  assert_refused(cases, COUNT_OF(cases));
}

static void what_has_no_translation_is_said_to_be_unsupported(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *part;
  } cases[] = {
      {"\\N{DIGIT ONE}", "characters by name"},
      {"\\ud800", "U+D800 is a surrogate"},
      {"a{70000}", "more than 65535 repetitions"},
      {"(?t)a", "flag t"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_regex_text text;
    assert_fails_with(compile(cases[i].pattern, &text), UNSUPPORTED, cases[i].part);
  }
}

static void depth_is_bounded(void **state) {
  (void)state;
  char deep[2001], conditions[3001] = "(a)";
  tsr_regex_text text;
  memset(deep, '(', 1000);
  memset(deep + 1000, ')', 1000);
  deep[2000] = '\0';
  assert_fails_with(compile(deep, &text), UNSUPPORTED, "groups more than 100 deep");
  for (int i = 0; i < 400; i++) memcpy(conditions + 3 + 5 * i, "(?(1)", 6);
  assert_fails_with(compile(conditions, &text), UNSUPPORTED, "groups more than 100 deep");
}

static void patterns_must_be_utf8(void **state) {
  (void)state;
  tsr_regex_text text;
  assert_fails(compile("a\xff", &text), BAD_REGEX, "pattern: column 2: byte 0xff is not UTF-8");
}

// ---- searching ----

static bool search(const char *pattern, const char *subject) {
  tsr_regex_engine *engine = NULL;
  tsr_regex regex;
  tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
  bool found = false;
  assert_ok(tsr_regex_engine_create(&engine));
  assert_ok(tsr_regex_compile(engine, pattern, &regex));
  assert_ok(tsr_regex_search(engine, &regex, subject, strlen(subject), &scratch, &found));
  const tsr_byte_pairs pairs = tsr_byte_pairs_of(subject, strlen(subject));
  assert_true(!found || tsr_byte_pairs_contain(&pairs, &regex.pairs));
  tsr_regex_scratch_deinit(&scratch);
  tsr_regex_deinit(&regex);
  tsr_regex_engine_destroy(engine);
  return found;
}

static void searches_mean_what_they_mean_in_python(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *subject;
    bool found;
  } cases[] = {
      {"b", "abc", true},
      {"", "", true},
      {"^$", "", true},
      {"\\B", "", false},       // so in Python 3.11
      {"a$", "a\n", true},      // before a newline that ends the text
      {"a\\Z", "a\n", false},   // the very end
      {"(?m)^$", "a\n", true},  // also after a newline that ends the text
      {".", "\n", false},
      {".", "\r", true},  // only \n is a newline
      {"(?s).", "\n", true},
      {"\\s", "\x1c", true},           // Python's white space
      {"\\s", "\xe1\xa0\x8e", false},  // U+180E is none
      {"(?a)\\s", "\x1c", false},
      {"\\w", "\xc3\xa9", true},
      {"(?a)\\w", "\xc3\xa9", false},
      {"\\w", "\xc2\xb2", true},        // superscript two is alphanumeric
      {"\\d", "\xd9\xa3", true},        // an Arabic digit
      {"(?i)k", "\xe2\x84\xaa", true},  // the Kelvin sign
      {"(?ai)k", "\xe2\x84\xaa", false},
      {"(?i)i", "\xc4\xb1", true},      // dotless i
      {"(?i)[h-j]", "\xc4\xb0", true},  // I with a dot
      {"(?i)\xc3\xa9", "\xc3\x89", true},
      {"(a)?(?(1)/0|b/0)", "b/0", true},
      {"h/(\\d)\\1/", "h/11/", true},
      {"[abc]++/\\d", "abc/1", true},
      {"(?>a|ab)/1", "ab/1", false},    // 'a' is taken, and not given back
      {"a(b)*+x|\\1b", "abbb", false},  // what was captured on a way that failed is forgotten
      {"a(b)*+x|(?(1)b|z)", "abbb", false},
      {"a(b)*+c\\1", "abbcb", true},
      {"(?>.-+?)$", "k1--", true},
      {"(?:a/|a)b*\\b", "a/", true},
      {"(a|^b){0}c", "abc", true},
      {"(a|^b){0}+c", "abc", true},
      {"(?ai)(k)\\1", "Kk", true},
      {"(?:-|.b){2}+b", "-b-bb", false},  // the round that took '-' is not tried again
      {"[\\W\\d]x", "5x", true},
      {"[^\\W\\d]x", "5x", false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    if (search(cases[i].pattern, cases[i].subject) != cases[i].found)
      fail_msg("%s in \"%s\"", cases[i].pattern, cases[i].subject);
}

static void catastrophic_patterns_end(void **state) {
  (void)state;
  static const char *const patterns[] = {"(a+)+$", "(a|a)*$", "(?:a*)*b\\Z", "(\\w+\\s?)*!$",
                                         "(a+)+\\1$"};
  char subject[80];
  memset(subject, 'a', 70);
  strcpy(subject + 70, "c");
  for (size_t i = 0; i < COUNT_OF(patterns); i++) {
    tsr_regex_engine *engine = NULL;
    tsr_regex regex;
    tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
    bool found = true;
    assert_ok(tsr_regex_engine_create(&engine));
    assert_ok(tsr_regex_compile(engine, patterns[i], &regex));
    tsr_status status =
        tsr_regex_search(engine, &regex, subject, strlen(subject), &scratch, &found);
    // PCRE2 may see through it; if not, the limit ends it.
    assert_true(status ? tsr_status_cause(status) == TSR_CAUSE_REGEX_TOO_SLOW : !found);
    tsr_status_free(status);
    tsr_regex_scratch_deinit(&scratch);
    tsr_regex_deinit(&regex);
    tsr_regex_engine_destroy(engine);
  }
}

static void what_the_engine_cannot_hold_is_unsupported(void **state) {
  (void)state;
  tsr_regex_engine *engine = NULL;
  tsr_regex regex;
  assert_ok(tsr_regex_engine_create(&engine));
  assert_fails_with(tsr_regex_compile(engine, "(?:[a-c]x){60000}", &regex), UNSUPPORTED,
                    "is beyond the engine: ");
  tsr_regex_engine_destroy(engine);
}

// ---- byte pairs ----

// The pairs of a list of texts: "ab,bcd" is ab, bc and cd.
static tsr_byte_pairs pairs_of_list(const char *list) {
  tsr_byte_pairs all = {{0}};
  for (const char *at = list; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strlen(at)) {
    const tsr_byte_pairs some = tsr_byte_pairs_of(at, strcspn(at, ","));
    for (int i = 0; i < TSR_PAIR_WORDS; i++) all.words[i] |= some.words[i];
  }
  return all;
}

static void pairs_are_what_every_match_contains(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *texts;
  } cases[] = {
      {"weight", "weight"},
      {"(?x) a b", "ab"},
      {"(?:a(b))c", "abc"},
      {"weight$", "weight"},
      {"(q|k|v)_proj\\.weight", "_proj.weight"},
      {"attn/.*(q|k)_proj/w$", "_proj/w,attn/"},
      {"(self|cross)_attn", "_attn"},
      {"(q_proj|k_proj)/w", "_proj/w"},  // in both, and both end with j
      {"q_proj|k_proj|wte", ""},
      {"q_proj|", ""},
      {"ab?cd", "cd"},
      {"(?:abc)+d", "abcd"},
      {"(?:abc){2,3}d", "abcd"},
      {"(?:abc)*d", ""},
      {"x(?:abc)?d", ""},
      {"(?i)abc_12", "_12"},
      {"a(?i:b)cd", "cd"},
      {"(?=abc)ad", "abc,ad"},
      {"x(?=abc)ad", "abc,ad"},
      {"(?!abc)ad", "ad"},
      {"(?<=/x)attn", "attn,/x"},
      {"a\\bb", "ab"},
      {"^a$b", "ab"},
      {"[a][b]", "ab"},
      {"a[ab]b", ""},
      {"a.b", ""},
      {"a\\wb", ""},
      {"(a)b\\1c", "ab"},
      {"\xc3\xa9x", "\xc3\xa9x"},
      {"(?i)\xc3\xa9", ""},
      {".*", ""},
      {"", ""},
      {"a()b", ""},
      {"(a)(?(1)bb|cc)", ""},
      {"(a)(?(1)xbb|ybb)d", "bbd"},
      {"(a)(?(1)bb)d", ""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_regex_text text;
    assert_ok(tsr_regex_translate(cases[i].pattern, &text));
    const tsr_byte_pairs wanted = pairs_of_list(cases[i].texts);
    if (memcmp(&text.pairs, &wanted, sizeof wanted) != 0)
      fail_msg("%s does not need just the pairs of %s", cases[i].pattern, cases[i].texts);
    tsr_text_deinit(&text.pattern);
  }
}

static void long_texts_are_found(void **state) {
  (void)state;
  char pattern[201];
  memset(pattern, 'a', 200);
  pattern[200] = '\0';
  assert_true(search(pattern, pattern));
  assert_false(search(pattern, pattern + 1));
}

// A pattern over a, b and c of the constructs that pairs are gathered from.
static void random_pattern(test_random *random, int depth, tsr_text *out) {
  static const char *const atoms[] = {"a",   "ab", "bc", ".",   "[ab]",
                                      "\\w", "^",  "$",  "\\b", "(?=a)"};
  static const char *const opens[] = {"(", "(?:", "(?=", "(?!", "(?>", "(?i:"};
  static const char *const repeats[] = {"", "", "", "?", "*", "+", "{2}", "{1,2}?"};
  const int64_t count = test_random_range(random, 0, 4);
  for (int64_t i = 0; i < count; i++) {
    if (depth && !test_random_range(random, 0, 2)) {
      tsr_text_add(out, opens[test_random_range(random, 0, COUNT_OF(opens) - 1)]);
      random_pattern(random, depth - 1, out);
      tsr_text_add(out, ")");
      tsr_text_add(out, repeats[test_random_range(random, 0, COUNT_OF(repeats) - 1)]);
    } else {
      const int64_t atom = test_random_range(random, 0, COUNT_OF(atoms) - 1);
      tsr_text_add(out, atoms[atom]);
      if (atom < 6) tsr_text_add(out, repeats[test_random_range(random, 0, COUNT_OF(repeats) - 1)]);
    }
    if (depth && !test_random_range(random, 0, 3)) tsr_text_add(out, "|");
  }
}

static void no_match_lacks_a_pair_of_its_pattern(void **state) {
  (void)state;
  test_random random = {17};
  int matches = 0, filtered = 0;
  for (int round = 0; round < 3000; round++) {
    tsr_regex_engine *engine = NULL;
    tsr_regex regex;
    tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
    tsr_text pattern = TSR_TEXT_EMPTY;
    random_pattern(&random, 2, &pattern);
    assert_ok(tsr_regex_engine_create(&engine));
    assert_ok(tsr_regex_compile(engine, tsr_text_string(&pattern), &regex));
    for (int k = 0; k < 10; k++) {
      char subject[10];
      bool found = false;
      const size_t length = (size_t)test_random_range(&random, 0, 9);
      for (size_t i = 0; i < length; i++) subject[i] = "abcAB"[test_random_range(&random, 0, 4)];
      assert_ok(tsr_regex_search(engine, &regex, subject, length, &scratch, &found));
      const tsr_byte_pairs pairs = tsr_byte_pairs_of(subject, length);
      const bool may = tsr_byte_pairs_contain(&pairs, &regex.pairs);
      if (found && !may)
        fail_msg("%s matches %.*s", tsr_text_string(&pattern), (int)length, subject);
      matches += found;
      filtered += !may;
    }
    tsr_regex_scratch_deinit(&scratch);
    tsr_regex_deinit(&regex);
    tsr_regex_engine_destroy(engine);
    tsr_text_deinit(&pattern);
  }
  assert_true(matches > 5000);
  assert_true(filtered > 2000);
}

static tsr_status compile_and_search(void *context) {
  tsr_regex_engine *engine = NULL;
  tsr_regex regex = {.code = NULL};
  tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
  bool found = false;
  tsr_status status = tsr_regex_engine_create(&engine);
  if (!status) status = tsr_regex_compile(engine, context, &regex);
  if (!status) status = tsr_regex_search(engine, &regex, "abc", 3, &scratch, &found);
  tsr_regex_scratch_deinit(&scratch);
  tsr_regex_deinit(&regex);
  tsr_regex_engine_destroy(engine);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(compile_and_search, "(?P<n>a|b)[\\W\\dx]+(?(n)c|d)\\1(?:xy|z)");
  test_allocation_sweep(compile_and_search, "abc");
}

SUITE(regex, TEST(patterns_are_rewritten_for_the_engine),
      TEST(bad_characters_and_repeats_are_refused_with_their_column),
      TEST(bad_groups_are_refused_with_their_column), TEST(bad_flags_are_refused_with_their_column),
      TEST(what_has_no_translation_is_said_to_be_unsupported), TEST(depth_is_bounded),
      TEST(patterns_must_be_utf8), TEST(searches_mean_what_they_mean_in_python),
      TEST(catastrophic_patterns_end), TEST(what_the_engine_cannot_hold_is_unsupported),
      TEST(pairs_are_what_every_match_contains), TEST(long_texts_are_found),
      TEST(no_match_lacks_a_pair_of_its_pattern), TEST(running_out_of_memory_is_reported))
