// Compiled regular expressions of Python's syntax.
#ifndef TESSERA_REGEX_REGEX_H
#define TESSERA_REGEX_REGEX_H

#include <stddef.h>

#include "regex/regex_syntax.h"
#include "tessera/status.h"

// Shared by patterns: allocator, limits, conventions. Immutable once made.
typedef struct tsr_regex_engine tsr_regex_engine;
TSR_MUST_USE tsr_status tsr_regex_engine_create(tsr_regex_engine **out_engine);
void tsr_regex_engine_destroy(tsr_regex_engine *engine);  // NULL is fine

typedef struct tsr_regex {
  void *code;
  bool jit;              // compiled to machine code
  tsr_byte_pairs pairs;  // in every subject that matches
} tsr_regex;

// `out` needs tsr_regex_deinit after success.
TSR_MUST_USE tsr_status tsr_regex_compile(const tsr_regex_engine *engine, const char *pattern,
                                          tsr_regex *out);
// The same for a pattern whose groups tsr_regex_capture needs.
TSR_MUST_USE tsr_status tsr_regex_compile_capturing(const tsr_regex_engine *engine,
                                                    const char *pattern, tsr_regex *out);
void tsr_regex_deinit(tsr_regex *regex);
int tsr_regex_group_count(const tsr_regex *regex);  // of one compiled for capturing

// Scratch memory for the searches of one thread, allocated at the first search.
typedef struct tsr_regex_scratch {
  void *match_data;
} tsr_regex_scratch;
#define TSR_REGEX_SCRATCH_EMPTY \
  { NULL }
void tsr_regex_scratch_deinit(tsr_regex_scratch *scratch);

// Whether the pattern matches anywhere in the subject, which must be UTF-8. Fails with
// REGEX_TOO_SLOW beyond a limit of steps.
TSR_MUST_USE tsr_status tsr_regex_search(const tsr_regex_engine *engine, const tsr_regex *regex,
                                         const char *subject, size_t length,
                                         tsr_regex_scratch *scratch, bool *out_found);
// The same for a pattern compiled for capturing, with the matches of groups 1, 2, ...
typedef struct tsr_regex_group {
  size_t start, length;  // in the subject; both 0 for a group without a match
} tsr_regex_group;
TSR_MUST_USE tsr_status tsr_regex_capture(const tsr_regex_engine *engine, const tsr_regex *regex,
                                          const char *subject, size_t length, bool *out_found,
                                          tsr_regex_group *out_groups, int group_count);

#endif
