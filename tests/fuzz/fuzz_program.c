// A program of any bytes, text above all, is read or refused with a message. One that is read and
// right prints to a text that reads back to an equal program and prints the same again; simplified,
// it is still right; what an artifact can hold of it comes back from there.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "tessera/own.h"
#include "tessera/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_refused(tsr_status status) {
  assert(status && *tsr_status_text(status));
  tsr_status_free(status);
}

static void check_printing(const tsr_program *program, bool generic) {
  TSR_OWN(program, again);
  TSR_OWN(text, first);
  TSR_OWN(text, second);
  tsr_program_print_options options = TSR_PROGRAM_PRINT_OPTIONS;
  options.generic = generic;
  tsr_status status = tsr_program_print(program, &options, &first);
  if (!status) status = tsr_program_read("again", first.data, first.length, NULL, &again);
  assert(!status && tsr_program_equal(program, again));
  status = tsr_program_print(again, &options, &second);
  assert(!status && !strcmp(tsr_text_string(&first), tsr_text_string(&second)));
}

static void check_passes(const tsr_program *program) {
  TSR_OWN(program, changed);
  tsr_status status = tsr_program_transform(program, "inline,simplify", &changed);
  if (status) {
    assert_refused(status);
    return;
  }
  status = tsr_program_check(changed);
  assert(!status);
}

static void check_artifact(const tsr_program *program) {
  TSR_OWN(program, again);
  TSR_OWN(text, bytes);
  tsr_status status = tsr_program_serialize(program, NULL, &bytes);
  if (status) {
    assert_refused(status);
    return;
  }
  status = tsr_program_read("artifact", bytes.data, bytes.length, NULL, &again);
  assert(!status && tsr_program_function_count(again) >= tsr_program_function_count(program));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  TSR_OWN(program, program);
  tsr_status status = tsr_program_read("fuzz", data, size, NULL, &program);
  if (status) {
    assert_refused(status);
    return 0;
  }
  check_printing(program, false);
  check_printing(program, true);
  check_passes(program);
  check_artifact(program);
  return 0;
}
