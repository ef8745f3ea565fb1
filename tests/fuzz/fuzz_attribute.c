// Whatever the bytes: an attribute or a type is read or refused, and what is read prints to a text
// that reads and prints the same.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "syntax/syntax.h"
#include "tessera/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Reads and prints; false if the text is refused, with a message.
static bool print_attr(tsr_ir *ir, const char *text, size_t length, tsr_text *out) {
  const tsr_attr *attr = NULL;
  tsr_status status = tsr_syntax_read_attr(ir, text, length, &attr);
  assert(!status || *tsr_status_text(status));
  if (!status) tsr_attr_print(attr, out);
  tsr_status_free(status);
  return attr;
}

static bool print_type(tsr_ir *ir, const char *text, size_t length, tsr_text *out) {
  const tsr_type *type = NULL;
  tsr_status status = tsr_syntax_read_type(ir, text, length, &type);
  assert(!status || *tsr_status_text(status));
  if (!status) tsr_type_print(type, out);
  tsr_status_free(status);
  return type;
}

static void check(bool (*print)(tsr_ir *, const char *, size_t, tsr_text *), const char *text,
                  size_t length) {
  tsr_ir *ir = tsr_ir_create();
  tsr_text once = TSR_TEXT_EMPTY, twice = TSR_TEXT_EMPTY;
  if (print(ir, text, length, &once)) {
    const bool read = print(ir, once.data, once.length, &twice);
    assert(read && once.length == twice.length);
    assert(!memcmp(once.data, twice.data, once.length));
  }
  tsr_text_deinit(&once);
  tsr_text_deinit(&twice);
  tsr_ir_destroy(ir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check(print_attr, (const char *)data, size);
  check(print_type, (const char *)data, size);
  return 0;
}
