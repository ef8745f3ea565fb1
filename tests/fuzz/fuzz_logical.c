// Rule files of logical axes: what is printed reads back as the same rules, and rules map any
// tensor so that no mesh axis serves two dimensions.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/logical_internal.h"
#include "tessera/logical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_logical_rules *parse(const char *text) {
  tsr_logical_rules *rules = NULL;
  tsr_status status = tsr_logical_rules_parse(text, "fuzz", &rules);
  assert((status == NULL) == (rules != NULL));
  tsr_status_free(status);
  return rules;
}

static void check_text(const tsr_logical_rules *rules) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_logical_rules_print(rules, &text);
  tsr_logical_rules *again = parse(tsr_text_string(&text));
  assert(again && tsr_logical_rules_equal(rules, again));
  tsr_logical_rules_release(again);
  tsr_text_deinit(&text);
}

// Whether two dimensions of a spec name one axis.
static bool shares_axis(const tsr_spec_dim *a, const tsr_spec_dim *b) {
  if (!a->stage_count || !b->stage_count) return false;
  for (int i = 0; i < a->stages[0].axis_count; i++)
    for (int j = 0; j < b->stages[0].axis_count; j++) {
      const char *name = a->stages[0].axes[i].name;
      if (name[0] && !strcmp(name, b->stages[0].axes[j].name)) return true;
    }
  return false;
}

// The names of the first rules, each once, as a tensor.
static void check_mapping(const tsr_logical_rules *rules) {
  const char *names[8];
  int count = 0;
  for (int i = 0; i < tsr_logical_rules_count(rules) && count < 8; i++) {
    const char *name = tsr_logical_rules_at(rules, i)->name;
    bool known = !name[0];
    for (int j = 0; j < count; j++) known = known || !strcmp(names[j], name);
    if (!known) names[count++] = name;
  }
  tsr_logical_names logical;
  tsr_spec *spec = NULL;
  tsr_status status = tsr_logical_names_of(names, count, &logical);
  assert(!status);
  status = tsr_logical_to_mesh_axes(&logical, rules, &spec, NULL);
  if (!status) {
    const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
    for (int i = 0; i < count; i++)
      for (int j = 0; j < i; j++) assert(!shares_axis(&desc->dims[i], &desc->dims[j]));
  } else {
    // Only a spec of more names than any can have.
    assert(tsr_status_cause(status) == TSR_CAUSE_TOO_LARGE);
  }
  tsr_status_free(status);
  tsr_spec_release(spec);
  tsr_logical_names_deinit(&logical);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  tsr_logical_rules *rules = parse(text);
  free(text);
  if (rules) {
    check_text(rules);
    check_mapping(rules);
  }
  tsr_logical_rules_release(rules);
  return 0;
}
