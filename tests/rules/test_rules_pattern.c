// eformer's mini-language, with what its users expect where eformer fails them
// (docs/compatibility.md).
#include "base/text_internal.h"
#include "rules/rules_internal.h"
#include "support/test.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/rules.h"

static void print(const tsr_rules *rules, tsr_text *out) {
  for (int i = 0; i < tsr_rules_count(rules); i++) {
    tsr_text_addf(out, "%s<%s> ", i ? "; " : "", tsr_rules_at(rules, i)->pattern);
    assert_ok(tsr_spec_print(tsr_rules_at(rules, i)->spec, TSR_FORM_SHORT, out));
  }
}

static void texts_become_rules(void **state) {
  (void)state;
  static const struct {
    const char *text, *rules;
  } cases[] = {
      {"attention|mlp->data,hidden->model.None", "<attention> data; <mlp> data; <hidden> model, _"},
      {"a -> b", "<a> b"},  // blanks around do not count
      {" a | b ->\tx . y , c->_", "<a> x, y; <b> x, y; <c> _"},
      {"(a|b)->x", "<(a|b)> x"},  // brackets keep what is theirs
      {"a{1,2}->x", "<a{1,2}> x"},
      {"[,|]w->x", "<[,|]w> x"},
      {"[]|,]w->x", "<[]|,]w> x"},
      {"[^]|,]w->x", "<[^]|,]w> x"},
      {"[\\]|]w->x", "<[\\]|]w> x"},
      {"(a->b)->x", "<(a->b)> x"},
      {"a\\,b\\|c->x", "<a\\,b\\|c> x"},  // a backslash makes one plain
      {"w{->x", "<w{> x"},                // a brace that is only a brace
      {"w{1->x", "<w{1> x"},
      {"w->dp+tp.sp", "<w> dp+tp, sp"},  // groups
      {"w-> dp + tp ", "<w> dp+tp"},
      {"w->a\\.b.c\\+d", "<w> \"a.b\", \"c+d\""},
      {"a->", "<a> _"},
      {"a->x..y", "<a> x, _, y"},
      {"a|->x", "<a> x; <> x"},
      {"->x", "<> x"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = NULL;
    tsr_text out = TSR_TEXT_EMPTY;
    assert_ok(tsr_rules_from_pattern(cases[i].text, &rules));
    print(rules, &out);
    assert_string_equal(tsr_text_string(&out), cases[i].rules);
    tsr_text_deinit(&out);
    tsr_rules_release(rules);
  }
}

static void names_may_be_taken_literally(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(tsr_rules_from_pattern_literal("w->dp+tp.None._.", &rules));
  print(rules, &out);
  assert_string_equal(tsr_text_string(&out), "<w> \"dp+tp\", \"None\", \"_\", _");
  tsr_text_deinit(&out);
  tsr_rules_release(rules);
}

static void faults_are_found_at_creation(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"noarrow", TSR_CAUSE_SYNTAX, "piece 0: wanted \"pattern->axes\", found \"noarrow\""},
      {"", TSR_CAUSE_SYNTAX, "piece 0: wanted \"pattern->axes\", found nothing"},
      {"w->tp,,", TSR_CAUSE_SYNTAX, "piece 1: wanted \"pattern->axes\", found nothing"},
      {"a->b->c", TSR_CAUSE_SYNTAX, "piece 0: two arrows in \"a->b->c\""},
      {"w->a++b", TSR_CAUSE_SYNTAX, "piece 0: an axis without a name in the group \"a++b\""},
      {"(a->x", TSR_CAUSE_BAD_REGEX, "piece 0: a bracket that is not closed in \"(a->x\""},
      {"[a->x", TSR_CAUSE_BAD_REGEX, "piece 0: a bracket that is not closed in \"[a->x\""},
      {"b->x,*a->y", TSR_CAUSE_BAD_REGEX, "rule 1: pattern: column 1: nothing to repeat"},
      {"a)->x", TSR_CAUSE_BAD_REGEX, "rule 0: pattern: column 2: unbalanced parenthesis"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_rules *rules = NULL;
    tsr_status status = tsr_rules_from_pattern(cases[i].text, &rules);
    assert_message(status, cases[i].message);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    assert_null(rules);
    tsr_status_free(status);
  }
}

static tsr_status make(void *context) {
  tsr_rules *rules = NULL;
  tsr_status status = tsr_rules_from_pattern(context, &rules);
  tsr_rules_release(rules);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(make, "a|(b|c)->x.y+z,d->_");
}

SUITE(rules_pattern, TEST(texts_become_rules), TEST(names_may_be_taken_literally),
      TEST(faults_are_found_at_creation), TEST(running_out_of_memory_is_reported))
