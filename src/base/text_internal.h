// Writing to a text (tessera/text.h). A text remembers that memory ran out; tsr_text_check or
// tsr_text_take reports it once.
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
// What stands in the text from `at` on, once more.
void tsr_text_add_again(tsr_text *text, size_t at, size_t length);
void tsr_text_add_char(tsr_text *text, char c);
void tsr_text_add_int(tsr_text *text, int64_t value);
TSR_PRINTF(2, 3) void tsr_text_addf(tsr_text *text, const char *format, ...);

// Fails with no_memory if an addition did.
TSR_MUST_USE tsr_status tsr_text_check(const tsr_text *text);
// Frees the text and gives `status`, which was made of it; no_memory if an addition failed.
TSR_MUST_USE tsr_status tsr_text_end(tsr_text *text, tsr_status status);
// Hands the text to the caller, who frees it with free(); `text` is empty afterwards.
TSR_MUST_USE tsr_status tsr_text_take(tsr_text *text, char **out_string);

// The failure with this message; no_memory if an addition failed. The text is empty afterwards.
#define tsr_fail_text(cause, text) tsr_fail_text_at(cause, __FILE__, __LINE__, text)
TSR_MUST_USE tsr_status tsr_fail_text_at(tsr_cause cause, const char *file, int line,
                                         tsr_text *text);

// Replaces by '?' what a terminal would obey or cannot show: control characters except tabs and
// newlines, characters that change the direction of text, and bytes that are not UTF-8. Names in
// untrusted files may hold any of them.
void tsr_make_plain(char *bytes, size_t length);

static inline bool tsr_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && !strcmp(text + length - end_length, end);
}

#endif
