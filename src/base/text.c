// A text doubles its memory when it is full, so that building n bytes costs O(n).
#include "tessera/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "base/utf8.h"
#include "tessera/status.h"

enum { FIRST_CAPACITY = 64 };

static bool grow(tsr_text *text, size_t more) {
  size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
  while (capacity - text->length <= more) {
    if (capacity > SIZE_MAX / 2) {
      text->failed = true;
      return false;
    }
    capacity *= 2;
  }
  char *data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

// Makes room for `more` bytes and the final '\0'.
static inline bool reserve(tsr_text *text, size_t more) {
  if (text->failed) return false;
  return more < text->capacity - text->length || grow(text, more);
}

void tsr_text_add_bytes(tsr_text *text, const char *bytes, size_t length) {
  if (!length || !reserve(text, length)) return;
  memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void tsr_text_add_again(tsr_text *text, size_t at, size_t length) {
  if (reserve(text, length)) tsr_text_add_bytes(text, text->data + at, length);
}

void tsr_text_add(tsr_text *text, const char *string) {
  tsr_text_add_bytes(text, string, strlen(string));
}

void tsr_text_add_char(tsr_text *text, char c) {
  if (!reserve(text, 1)) return;
  text->data[text->length++] = c;
  text->data[text->length] = '\0';
}

void tsr_text_add_int(tsr_text *text, int64_t value) {
  char digits[24];
  char *end = digits + sizeof digits, *start = end;
  // Work on the magnitude as unsigned: the lowest int64 has no positive counterpart.
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    *--start = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0) *--start = '-';
  tsr_text_add_bytes(text, start, (size_t)(end - start));
}

void tsr_text_addf(tsr_text *text, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length > 0 && reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

const char *tsr_text_string(const tsr_text *text) { return text->data ? text->data : ""; }

void tsr_text_clear(tsr_text *text) {
  text->length = 0;
  text->failed = false;
  if (text->data) text->data[0] = '\0';
}

void tsr_text_deinit(tsr_text *text) {
  if (!text) return;
  free(text->data);
  *text = (tsr_text)TSR_TEXT_EMPTY;
}

tsr_status tsr_text_check(const tsr_text *text) {
  return text->failed ? tsr_fail(NO_MEMORY, "text of %zu bytes", text->length) : NULL;
}

tsr_status tsr_fail_text_at(tsr_cause cause, const char *file, int line, tsr_text *text) {
  tsr_status status = tsr_text_check(text);
  if (!status) status = tsr_fail_at(cause, file, line, "%s", tsr_text_string(text));
  tsr_text_deinit(text);
  return status;
}

tsr_status tsr_text_end(tsr_text *text, tsr_status status) {
  const tsr_status failed = tsr_text_check(text);
  tsr_text_deinit(text);
  if (!failed) return status;
  tsr_status_free(status);
  return failed;
}

tsr_status tsr_text_take(tsr_text *text, char **out_string) {
  if (!text->failed) reserve(text, 0);
  if (text->failed) {
    tsr_text_deinit(text);
    return tsr_fail(NO_MEMORY, "text");
  }
  text->data[text->length] = '\0';
  *out_string = text->data;
  *text = (tsr_text)TSR_TEXT_EMPTY;
  return NULL;
}

void tsr_make_plain(char *bytes, size_t length) {
  for (size_t i = 0; i < length;) {
    const size_t known = tsr_utf8_length(bytes + i, length - i), size = known ? known : 1;
    const bool kept = bytes[i] == '\n' || bytes[i] == '\t';
    if (!kept && (!known || tsr_utf8_is_control(bytes + i, size))) memset(bytes + i, '?', size);
    i += size;
  }
}
