// A growing text, which every printer of the library writes to.
//
// A text is a struct in the caller's memory, all zero while empty. Printers add to it. If memory
// runs out it sets `failed`, so a caller checks once, after printing.
//
//   TSR_OWN(text, text);  // released at the end of the block: tessera/own.h
//   tsr_mesh_print(mesh, &text);
//   if (!text.failed) puts(tsr_text_string(&text));
#ifndef TESSERA_TEXT_H
#define TESSERA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"

TSR_BEGIN_DECLS

typedef struct tsr_text {
  char *data;  // ends with '\0' after the first addition; NULL while empty
  size_t length, capacity;
  bool failed;  // memory ran out; later additions are dropped
} tsr_text;

#define TSR_TEXT_EMPTY \
  { NULL, 0, 0, false }

// The text so far, never NULL.
TSR_API TSR_NONNULL const char *tsr_text_string(const tsr_text *text);
TSR_API TSR_NONNULL void tsr_text_clear(tsr_text *text);  // empty again, memory kept
TSR_API void tsr_text_deinit(tsr_text *text);             // empty again, memory freed

TSR_END_DECLS

#endif
