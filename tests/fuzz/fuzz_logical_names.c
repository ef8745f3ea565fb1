// Names of dimensions as text: what is printed reads back as the same names.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/logical_internal.h"
#include "tessera/logical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_entry(const tsr_logical_entry *a, const tsr_logical_entry *b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->names[i], b->names[i]) != 0) return false;
  return true;
}

static void check_text(const tsr_logical_names *names) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_logical_names again = {0};
  tsr_logical_names_print(names, &text);
  tsr_status status = tsr_logical_names_parse(tsr_text_string(&text), &again);
  assert(!status && names->count == again.count);
  for (int i = 0; i < names->count; i++) assert(same_entry(&names->items[i], &again.items[i]));
  tsr_logical_names_deinit(&again);
  tsr_text_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_logical_names names = {0};
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  tsr_status status = tsr_logical_names_parse(text, &names);
  free(text);
  if (!status) check_text(&names);
  tsr_status_free(status);
  tsr_logical_names_deinit(&names);
  return 0;
}
