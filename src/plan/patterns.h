// Names chosen by a set of patterns, for options such as those to include tensors.
#ifndef TESSERA_PLAN_PATTERNS_H
#define TESSERA_PLAN_PATTERNS_H

#include <stdint.h>

#include "tessera/status.h"

// The first pattern that is found in each of `names`, or -1. A pattern that is found in none is
// an error: it was meant to match. `what` names the list in messages.
TSR_MUST_USE tsr_status tsr_patterns_match(const char *const *patterns, int64_t count,
                                           const char *what, const char *const *names,
                                           int64_t name_count, int64_t *out_found);

#endif
