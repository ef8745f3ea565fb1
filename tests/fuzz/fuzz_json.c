// Whatever the bytes: no crash, and what can be read prints to a text that reads and prints the
// same.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "tessera/status.h"
#include "tessera/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Visits every value by every accessor.
static void walk(const tsr_json_doc *doc, const tsr_json *value, size_t size) {
  assert(tsr_json_position(doc, value) < size);
  int64_t as_int;
  double as_double;
  tsr_status_free(tsr_json_get_int(value, "fuzz", &as_int));
  tsr_status_free(tsr_json_get_double(value, "fuzz", &as_double));
  size_t count = 0;
  for (const tsr_json *m = tsr_json_first(value); m; m = tsr_json_next(m), count++) {
    size_t length;
    const char *key = tsr_json_key(m, &length);
    if (count < 50) assert(tsr_json_at(value, count) == m);
    if (key && !memchr(key, '\0', length)) {
      char *name = strndup(key, length);
      assert(tsr_json_find(value, name) == m);
      free(name);
    }
    walk(doc, m, size);
  }
  assert(count == tsr_json_count(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_json_doc *doc, *again;
  tsr_status status = tsr_json_parse((const char *)data, size, &doc);
  if (status) {
    assert(*tsr_status_text(status));
    tsr_status_free(status);
    return 0;
  }
  walk(doc, tsr_json_root(doc), size);
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  tsr_json_print(tsr_json_root(doc), &first);
  status = tsr_json_parse(first.data, first.length, &again);
  assert(!status);
  tsr_json_print(tsr_json_root(again), &second);
  assert(first.length == second.length && !memcmp(first.data, second.data, first.length));
  tsr_json_destroy(doc);
  tsr_json_destroy(again);
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
  return 0;
}
