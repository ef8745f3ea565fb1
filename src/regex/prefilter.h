// Which rules can match a path at all, told in one pass over it.
#ifndef TESSERA_REGEX_PREFILTER_H
#define TESSERA_REGEX_PREFILTER_H

#include <stddef.h>
#include <stdint.h>

#include "regex/regex.h"

typedef struct tsr_prefilter tsr_prefilter;

TSR_MUST_USE tsr_status tsr_prefilter_create(const tsr_regex *regexes, int count,
                                             tsr_prefilter **out_filter);
void tsr_prefilter_destroy(tsr_prefilter *filter);  // NULL is fine

// Words of 64 rules, one bit each. tsr_prefilter_run works in TSR_NEED_MAX times as many, and
// leaves the candidates in the first of them.
int tsr_prefilter_words(const tsr_prefilter *filter);
void tsr_prefilter_run(const tsr_prefilter *filter, const char *path, size_t length,
                       uint64_t *scratch);

#endif
