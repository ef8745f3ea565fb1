// Failures, for the other rooms, the command and the tests.
#ifndef TESSERA_BASE_STATUS_INTERNAL_H
#define TESSERA_BASE_STATUS_INTERNAL_H

#include <stdbool.h>

#include "tessera/status.h"

// The source line of this library that raised it, as "file.c:12"; "" for NULL.
const char *tsr_status_origin(tsr_status status);

// Whether `slug` names this cause; peers have different words for some causes (see causes.def).
bool tsr_cause_matches(tsr_cause cause, const char *slug);

// The message without the lines that show its place, for "%.*s".
#define TSR_STATUS_LINE(status) tsr_status_line_length(status), tsr_status_text(status)
int tsr_status_line_length(tsr_status status);

// The place of a failure in a text. Only base/cursor.h sets it.
bool tsr_status_has_place(tsr_status status);
size_t tsr_status_place(tsr_status status);  // its byte in that text; 0 without a place
// Puts a place before the message and its notes, and an excerpt below. Replaces the place it had.
TSR_MUST_USE tsr_status tsr_status_set_place(tsr_status status, const char *place,
                                             const char *excerpt, size_t byte);

// Keeps the first of two failures, and frees the other.
static inline tsr_status tsr_status_first(tsr_status first, tsr_status second) {
  if (!first) return second;
  tsr_status_free(second);
  return first;
}

#endif
