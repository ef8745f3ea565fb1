// A pattern as characters and escapes, and failures with Python's words and their column.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/utf8.h"
#include "regex/regex_syntax.h"

static uint32_t decode(const char **at) {
  const unsigned char *bytes = (const unsigned char *)*at;
  if (!*bytes) return TSR_REGEX_END;
  const size_t length = tsr_utf8_length(*at, strlen(*at) < 4 ? strlen(*at) : 4);
  *at += length;
  if (length == 1) return bytes[0];
  uint32_t c = bytes[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) c = c << 6 | (bytes[i] & 0x3f);
  return c;
}

tsr_regex_token tsr_regex_get(tsr_regex_reader *in) {
  tsr_regex_token token = {decode(&in->at), false};
  if (token.c == '\\') token = (tsr_regex_token){decode(&in->at), true};
  return token;
}

tsr_regex_token tsr_regex_peek(const tsr_regex_reader *in) {
  tsr_regex_reader ahead = *in;
  return tsr_regex_get(&ahead);
}

bool tsr_regex_take(tsr_regex_reader *in, char c) {
  if (*in->at != c) return false;
  in->at++;
  return true;
}

tsr_status tsr_regex_fail_at(const tsr_regex_reader *in, tsr_cause cause, const char *at,
                             const char *file, int line, const char *format, ...) {
  const tsr_cursor cursor = {.name = "pattern", .start = in->start, .at = at};
  va_list args;
  va_start(args, format);
  char *words = NULL;
  if (vasprintf(&words, format, args) < 0) words = NULL;
  va_end(args);
  tsr_status status = words ? tsr_cursor_fail_at(&cursor, cause, file, line, "%s", words)
                            : tsr_fail(NO_MEMORY, "a message");
  free(words);
  return status;
}

tsr_status tsr_regex_check_text(const tsr_regex_reader *in) {
  const char *at = in->start;
  size_t left = strlen(at);
  while (left) {
    const size_t length = tsr_utf8_length(at, left);
    if (!length)
      return tsr_regex_fail(in, at, "byte 0x%02x is not UTF-8", (unsigned)(unsigned char)*at);
    at += length;
    left -= length;
  }
  // A backslash at the very end escapes nothing.
  for (at = in->start; *at; at++) {
    if (*at != '\\') continue;
    if (!at[1]) return tsr_regex_fail(in, at, "bad escape at the end");
    at++;
  }
  return NULL;
}
