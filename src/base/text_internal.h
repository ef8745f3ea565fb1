// Writing to a text (tessera/text.h): additions remember running out of memory, and tsr_text_check
// or tsr_text_take reports it once.
#ifndef TESSERA_BASE_TEXT_INTERNAL_H
#define TESSERA_BASE_TEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/text.h"

void tsr_text_add(tsr_text *text, const char *string);
void tsr_text_add_bytes(tsr_text *text, const char *bytes, size_t length);
void tsr_text_add_char(tsr_text *text, char c);
void tsr_text_add_int(tsr_text *text, int64_t value);
TSR_PRINTF(2, 3) void tsr_text_addf(tsr_text *text, const char *format, ...);

// Fails with no_memory where an addition did.
TSR_MUST_USE tsr_status tsr_text_check(const tsr_text *text);
// Hands the text to the caller, who frees it with free(); `text` is empty afterwards.
TSR_MUST_USE tsr_status tsr_text_take(tsr_text *text, char **out_string);

// Replaces what a terminal would obey or could not show by '?': control characters but for tabs and
// ends of lines, those that turn the direction of text, and bytes that are no UTF-8. Names in files
// that nobody vouches for may hold any of them.
void tsr_make_plain(char *bytes, size_t length);

static inline bool tsr_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && !strcmp(text + length - end_length, end);
}

#endif
