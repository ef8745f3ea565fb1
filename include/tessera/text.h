// A text that grows: what every printer in the library writes to.
//
// Running out of memory is remembered, not reported per call: write freely, then ask once with
// tsr_text_check or take the result with tsr_text_take.
#ifndef TESSERA_TEXT_H
#define TESSERA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_text {
  char *data;  // always ends with '\0' once anything was added; NULL while empty
  size_t length, capacity;
  bool failed;  // memory ran out; later additions are dropped
} tsr_text;

#define TSR_TEXT_EMPTY \
  { NULL, 0, 0, false }

TSR_API void tsr_text_add(tsr_text *text, const char *string);
TSR_API void tsr_text_add_bytes(tsr_text *text, const char *bytes, size_t length);
TSR_API void tsr_text_add_char(tsr_text *text, char c);
TSR_API void tsr_text_add_int(tsr_text *text, int64_t value);
TSR_API TSR_PRINTF(2, 3) void tsr_text_addf(tsr_text *text, const char *format, ...);

// The text so far, never NULL.
TSR_API const char *tsr_text_string(const tsr_text *text);
TSR_API void tsr_text_clear(tsr_text *text);   // empty again, memory kept
TSR_API void tsr_text_deinit(tsr_text *text);  // empty again, memory given back

TSR_API TSR_MUST_USE tsr_status tsr_text_check(const tsr_text *text);
// Hands the text to the caller, who frees it with free(); `text` is empty afterwards.
TSR_API TSR_MUST_USE tsr_status tsr_text_take(tsr_text *text, char **out_string);

// Replaces what a terminal would obey or could not show by '?': control characters but for tabs and
// ends of lines, those that turn the direction of text, and bytes that are no UTF-8. Names in files
// that nobody vouches for may hold any of them.
TSR_API void tsr_make_plain(char *bytes, size_t length);

// "did you mean": the one of `known` (ends with NULL) that is nearest to a misspelt word; NULL if
// none is near.
TSR_API const char *tsr_nearest_word(const char *word, const char *const *known);

TSR_END_DECLS

#endif
