// Whatever the pattern: no crash; it is refused with a reason, or its translation compiles (but for
// the engine's own limits) and searches end, and all it matches has its byte pairs.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "regex/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_search(const tsr_regex_engine *engine, const tsr_regex *regex,
                         const char *subject) {
  tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
  bool found = false;
  tsr_status status = tsr_regex_search(engine, regex, subject, strlen(subject), &scratch, &found);
  assert(!status || tsr_status_cause(status) == TSR_CAUSE_REGEX_TOO_SLOW);
  const tsr_byte_pairs pairs = tsr_byte_pairs_of(subject, strlen(subject));
  assert(status || !found || tsr_byte_pairs_contain(&pairs, &regex->pairs));
  tsr_status_free(status);
  tsr_regex_scratch_deinit(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const subjects[] = {"", "a", "model.layers.0.self_attn.q_proj.weight",
                                         "aaaaaaaaaaaaaaaaaaaaaaaab", "\xc3\xa9/\xe2\x84\xaa\n1"};
  char *pattern = malloc(size + 1);
  tsr_regex_engine *engine = NULL;
  tsr_regex regex;
  if (!pattern) return 0;
  memcpy(pattern, data, size);
  pattern[size] = '\0';
  tsr_status status = tsr_regex_engine_create(&engine);
  assert(!status);
  status = tsr_regex_compile(engine, pattern, &regex);
  if (status) {
    const tsr_cause cause = tsr_status_cause(status);
    assert(cause == TSR_CAUSE_BAD_REGEX || cause == TSR_CAUSE_UNSUPPORTED);
    assert(*tsr_status_text(status));
    tsr_status_free(status);
  } else {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
      check_search(engine, &regex, subjects[i]);
    tsr_regex_deinit(&regex);
  }
  tsr_regex_engine_destroy(engine);
  free(pattern);
  return 0;
}
