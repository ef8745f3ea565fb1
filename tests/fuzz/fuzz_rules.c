// Whatever the text of a rule file: no crash; rules that come out of it survive printing, and a
// match is the first rule that matches alone.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules_internal.h"
#include "tessera/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const tsr_fact facts[] = {{"heads", 32}, {"kv_heads", 8}, {"head_dim", 128}};
static const tsr_rules_options options = {
    .size = sizeof options, .facts = facts, .fact_count = sizeof facts / sizeof *facts};

static void check_printing(const tsr_rules *rules) {
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  tsr_rules *again = NULL;
  tsr_rules_print(rules, &first);
  tsr_status status = tsr_rules_parse(tsr_text_string(&first), "again", NULL, &again);
  assert(!status && tsr_rules_count(again) == tsr_rules_count(rules));
  for (int i = 0; i < tsr_rules_count(rules); i++) {
    assert(!strcmp(tsr_rules_at(rules, i)->pattern, tsr_rules_at(again, i)->pattern));
    assert(tsr_spec_equal(tsr_rules_at(rules, i)->spec, tsr_rules_at(again, i)->spec));
  }
  tsr_rules_print(again, &second);
  assert(!strcmp(tsr_text_string(&first), tsr_text_string(&second)));
  tsr_rules_release(again);
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
}

static void check_match(const tsr_rules *rules, const char *path) {
  int64_t found = -1, first = -1;
  tsr_status status = tsr_rules_match(rules, path, &found);
  for (int i = 0; i < tsr_rules_count(rules) && first < 0 && !status; i++) {
    bool matches = false;
    status = tsr_rules_match_one(rules, i, path, &matches);
    if (matches) first = i;
  }
  // A rule that the filter spares may be too slow when it is asked alone.
  assert(status ? tsr_status_cause(status) == TSR_CAUSE_REGEX_TOO_SLOW : found == first);
  tsr_status_free(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  tsr_rules *rules = NULL;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_status status = tsr_rules_parse(text, "fuzz", &options, &rules);
  free(text);
  if (status) {
    assert(*tsr_status_text(status) && !rules);
    tsr_status_free(status);
    return 0;
  }
  check_printing(rules);
  check_match(rules, "model.layers.0.self_attn.q_proj.weight");
  check_match(rules, "");
  tsr_rules_release(rules);
  return 0;
}
