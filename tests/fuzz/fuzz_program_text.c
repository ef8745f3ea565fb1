// Whatever the bytes: a program is read or refused, and what is read prints to a text that reads
// and prints the same.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "syntax/syntax.h"
#include "tessera/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Reads and prints; false if the text is refused, with a message.
static bool print(const char *text, size_t length, const tsr_print_options *options,
                  tsr_text *out) {
  tsr_ir *ir = tsr_ir_create();
  tsr_status status = tsr_syntax_read(ir, "fuzz", text, length);
  const bool read = !status;
  assert(read || *tsr_status_text(status));
  if (read) tsr_syntax_print(ir, options, out);
  tsr_status_free(status);
  tsr_ir_destroy(ir);
  return read;
}

static void check(const char *text, size_t length, const tsr_print_options *options) {
  tsr_text once = TSR_TEXT_EMPTY, twice = TSR_TEXT_EMPTY;
  if (print(text, length, options, &once)) {
    const bool read = print(once.data, once.length, options, &twice);
    assert(read && once.length == twice.length);
    assert(!memcmp(once.data, twice.data, once.length));
  }
  tsr_text_deinit(&once);
  tsr_text_deinit(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check((const char *)data, size, &(tsr_print_options){.locations = true});
  check((const char *)data, size, &(tsr_print_options){.generic = true});
  return 0;
}
