// Whatever stands in a config.json: no crash; a family that it names has rules, and its facts are
// known ones.
#include <assert.h>
#include <string.h>

#include "json/json.h"
#include "rules/rules_internal.h"
#include "tessera/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_preset(const tsr_json *config) {
  const char *family = NULL, *again = NULL;
  tsr_text reason = TSR_TEXT_EMPTY;
  tsr_status status = tsr_preset_from_config(config, &family, &reason);
  if (!status) {
    assert(!family || (tsr_preset_text(family) && reason.length));
    status = tsr_preset_from_config(config, &again, NULL);
    assert(!status && family == again);
  }
  tsr_status_free(status);
  tsr_text_deinit(&reason);
}

static void check_facts(const tsr_json *config) {
  int64_t count = 0;
  const tsr_preset_fact *known = tsr_preset_facts(&count);
  tsr_facts facts = {0, NULL};
  tsr_status status = tsr_facts_from_config(config, &facts);
  for (int i = 0; i < facts.count; i++) {
    bool found = false;
    for (int j = 0; j < count; j++) found |= !strcmp(known[j].name, facts.items[i].name);
    assert(found);
  }
  tsr_facts_deinit(&facts);
  tsr_status_free(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_json_doc *doc = NULL;
  tsr_status status = tsr_json_parse((const char *)data, size, &doc);
  if (!status) {
    check_preset(tsr_json_root(doc));
    check_facts(tsr_json_root(doc));
  }
  tsr_json_destroy(doc);
  tsr_status_free(status);
  return 0;
}
