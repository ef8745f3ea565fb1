// PCRE2 behind our own interface: compile once, search often, always end.
//
// A pattern is compiled to machine code where the machine has a JIT. Searches are limited in steps
// and memory, so that a pattern such as (a+)+$ ends with an error instead of running for years.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex/regex.h"

#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_STEPS = 2000000,      // backtracks; ordinary rules need hundreds
  MOST_HEAP_KIB = 64 * 1024  // of the interpreter, where the JIT's stack does not suffice
};

struct tsr_regex_engine {
  atomic_bool starved;  // an allocation failed; the JIT reports that like a missing JIT
  pcre2_general_context *general;
  pcre2_compile_context *compile;
  pcre2_match_context *match;
};

static void *allocate(size_t size, void *context) {
  void *block = malloc(size);
  if (!block) atomic_store_explicit((atomic_bool *)context, true, memory_order_relaxed);
  return block;
}

static void give_back(void *block, void *context) {
  (void)context;
  free(block);
}

void tsr_regex_engine_destroy(tsr_regex_engine *engine) {
  if (!engine) return;
  pcre2_match_context_free(engine->match);
  pcre2_compile_context_free(engine->compile);
  pcre2_general_context_free(engine->general);
  free(engine);
}

tsr_status tsr_regex_engine_create(tsr_regex_engine **out_engine) {
  tsr_regex_engine *engine = calloc(1, sizeof *engine);
  if (!engine) return tsr_fail(NO_MEMORY, "a regex engine");
  atomic_init(&engine->starved, false);
  engine->general = pcre2_general_context_create(allocate, give_back, &engine->starved);
  if (engine->general) {
    engine->compile = pcre2_compile_context_create(engine->general);
    engine->match = pcre2_match_context_create(engine->general);
  }
  if (!engine->compile || !engine->match) {
    tsr_regex_engine_destroy(engine);
    return tsr_fail(NO_MEMORY, "a regex engine");
  }
  pcre2_set_newline(engine->compile, PCRE2_NEWLINE_LF);
  pcre2_set_match_limit(engine->match, MOST_STEPS);
  pcre2_set_heap_limit(engine->match, MOST_HEAP_KIB);
  *out_engine = engine;
  return NULL;
}

// ---- compiling ----

// The engine must not skip ahead to where a match may start: its compiled code (10.42) skips too
// far for (?:a/|a)b*\b and its like. Byte pairs (regex/byte_pairs.h) make up for the time.
static uint32_t options_of(const tsr_regex_text *text) {
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_ALT_CIRCUMFLEX |
                     PCRE2_NO_START_OPTIMIZE;
  if (text->caseless) options |= PCRE2_CASELESS;
  if (text->multiline) options |= PCRE2_MULTILINE;
  if (text->dotall) options |= PCRE2_DOTALL;
  if (!text->captures) options |= PCRE2_NO_AUTO_CAPTURE;
  return options;
}

// After translation only limits of the engine can fail, such as the size of its code.
static tsr_status compile_failure(int error, const char *pattern) {
  if (error == PCRE2_ERROR_HEAP_FAILED) return tsr_fail(NO_MEMORY, "the pattern \"%s\"", pattern);
  char words[256] = "";
  pcre2_get_error_message(error, (PCRE2_UCHAR *)words, sizeof words);
  return tsr_fail(UNSUPPORTED, "the pattern \"%s\" is beyond the engine: %s", pattern, words);
}

static tsr_status compile_code(const tsr_regex_engine *engine, const char *pattern,
                               const tsr_regex_text *text, tsr_regex *out) {
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code *code =
      pcre2_compile((PCRE2_SPTR)tsr_text_string(&text->pattern), text->pattern.length,
                    options_of(text), &error, &place, engine->compile);
  if (!code) return compile_failure(error, pattern);
  // Without a JIT, the interpreter does the same more slowly.
  out->jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
  if (!out->jit && atomic_load_explicit(&engine->starved, memory_order_relaxed)) {
    pcre2_code_free(code);
    return tsr_fail(NO_MEMORY, "the pattern \"%s\"", pattern);
  }
  out->code = code;
  return NULL;
}

static tsr_status compile(const tsr_regex_engine *engine, const char *pattern, bool capturing,
                          tsr_regex *out) {
  tsr_regex_text text;
  tsr_regex regex = {.code = NULL};
  tsr_status status = tsr_regex_translate(pattern, &text);
  text.captures |= capturing;
  if (!status) status = compile_code(engine, pattern, &text, &regex);
  regex.pairs = text.pairs;
  tsr_text_deinit(&text.pattern);
  if (!status) *out = regex;
  return status;
}

tsr_status tsr_regex_compile(const tsr_regex_engine *engine, const char *pattern, tsr_regex *out) {
  return compile(engine, pattern, false, out);
}

tsr_status tsr_regex_compile_capturing(const tsr_regex_engine *engine, const char *pattern,
                                       tsr_regex *out) {
  return compile(engine, pattern, true, out);
}

int tsr_regex_group_count(const tsr_regex *regex) {
  uint32_t count = 0;
  pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
  return (int)count;
}

void tsr_regex_deinit(tsr_regex *regex) {
  pcre2_code_free(regex->code);
  regex->code = NULL;
}

// ---- searching ----

void tsr_regex_scratch_deinit(tsr_regex_scratch *scratch) {
  pcre2_match_data_free(scratch->match_data);
  scratch->match_data = NULL;
}

static int run(const tsr_regex_engine *engine, const tsr_regex *regex, const char *subject,
               size_t length, pcre2_match_data *data) {
  if (regex->jit) {
    const int result =
        pcre2_jit_match(regex->code, (PCRE2_SPTR)subject, length, 0, 0, data, engine->match);
    if (result != PCRE2_ERROR_JIT_STACKLIMIT) return result;
  }
  return pcre2_match(regex->code, (PCRE2_SPTR)subject, length, 0, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                     data, engine->match);
}

static tsr_status search_failure(int error) {
  if (error == PCRE2_ERROR_NOMEMORY) return tsr_fail(NO_MEMORY, "a search");
  return tsr_fail(REGEX_TOO_SLOW, "the search takes too many steps");
}

tsr_status tsr_regex_search(const tsr_regex_engine *engine, const tsr_regex *regex,
                            const char *subject, size_t length, tsr_regex_scratch *scratch,
                            bool *out_found) {
  if (!scratch->match_data) scratch->match_data = pcre2_match_data_create(1, engine->general);
  if (!scratch->match_data) return tsr_fail(NO_MEMORY, "a search");
  const int result = run(engine, regex, subject, length, scratch->match_data);
  if (result < 0 && result != PCRE2_ERROR_NOMATCH) return search_failure(result);
  *out_found = result >= 0;
  return NULL;
}

static void copy_groups(pcre2_match_data *data, tsr_regex_group *groups, int count) {
  const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
  for (int i = 0; i < count; i++) {
    const PCRE2_SIZE start = ends[2 * i + 2], end = ends[2 * i + 3];
    groups[i] =
        start == PCRE2_UNSET ? (tsr_regex_group){0, 0} : (tsr_regex_group){start, end - start};
  }
}

tsr_status tsr_regex_capture(const tsr_regex_engine *engine, const tsr_regex *regex,
                             const char *subject, size_t length, bool *out_found,
                             tsr_regex_group *out_groups, int group_count) {
  pcre2_match_data *data = pcre2_match_data_create((uint32_t)group_count + 1, engine->general);
  if (!data) return tsr_fail(NO_MEMORY, "a search");
  const int result = run(engine, regex, subject, length, data);
  if (result >= 0) copy_groups(data, out_groups, group_count);
  pcre2_match_data_free(data);
  if (result < 0 && result != PCRE2_ERROR_NOMATCH) return search_failure(result);
  *out_found = result >= 0;
  return NULL;
}
