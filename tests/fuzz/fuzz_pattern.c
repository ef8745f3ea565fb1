// Whatever the text of the mini-language: no crash; rules that come out of it can be printed and
// read as rules, and both readings of axes agree on the patterns.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules_internal.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_printing(const tsr_rules *rules) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_rules *again = NULL;
  tsr_rules_print(rules, &text);
  tsr_status status = tsr_rules_parse(tsr_text_string(&text), "again", NULL, &again);
  assert(!status && tsr_rules_count(again) == tsr_rules_count(rules));
  for (int i = 0; i < tsr_rules_count(rules); i++) {
    assert(!strcmp(tsr_rules_at(rules, i)->pattern, tsr_rules_at(again, i)->pattern));
    assert(tsr_spec_equal(tsr_rules_at(rules, i)->spec, tsr_rules_at(again, i)->spec));
  }
  tsr_rules_release(again);
  tsr_text_deinit(&text);
}

static void check_literal(const char *text, const tsr_rules *rules) {
  tsr_rules *literal = NULL;
  tsr_status status = tsr_rules_from_pattern_literal(text, &literal);
  assert(!status && tsr_rules_count(literal) == tsr_rules_count(rules));
  for (int i = 0; i < tsr_rules_count(rules); i++)
    assert(!strcmp(tsr_rules_at(rules, i)->pattern, tsr_rules_at(literal, i)->pattern));
  check_printing(literal);
  tsr_rules_release(literal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  tsr_rules *rules = NULL;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_status status = tsr_rules_from_pattern(text, &rules);
  if (status) {
    assert(*tsr_status_text(status) && !rules);
    tsr_status_free(status);
  } else {
    check_printing(rules);
    check_literal(text, rules);
    tsr_rules_release(rules);
  }
  free(text);
  return 0;
}
