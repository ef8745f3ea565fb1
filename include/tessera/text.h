// A text that grows: what every printer in the library writes to.
//
// Running out of memory is remembered, not reported per call: write freely, then ask once with
// tsr_text_check or take the result with tsr_text_take.
#ifndef TESSERA_TEXT_H
#define TESSERA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"

TSR_BEGIN_DECLS

typedef struct tsr_text {
  char *data;  // always ends with '\0' once anything was added; NULL while empty
  size_t length, capacity;
  bool failed;  // memory ran out; later additions are dropped
} tsr_text;

#define TSR_TEXT_EMPTY \
  { NULL, 0, 0, false }

// The text so far, never NULL.
TSR_API const char *tsr_text_string(const tsr_text *text);
TSR_API void tsr_text_clear(tsr_text *text);   // empty again, memory kept
TSR_API void tsr_text_deinit(tsr_text *text);  // empty again, memory given back

TSR_END_DECLS

#endif
