// Failures, for the command and the tests: names of codes, and where a failure was raised.
#ifndef TESSERA_BASE_STATUS_INTERNAL_H
#define TESSERA_BASE_STATUS_INTERNAL_H

#include <stdbool.h>

#include "tessera/status.h"

// The source line of this library that raised it, as "file.c:12"; "" for NULL.
const char *tsr_status_origin(tsr_status status);

const char *tsr_code_name(tsr_code code);  // "invalid input"; "unknown" for other values
// Whether `slug` names this cause; peers have different words for some causes (see causes.def).
bool tsr_cause_matches(tsr_cause cause, const char *slug);

#endif
