#include "spec/spec_reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"

enum { SHOWN = 24 };  // bytes of the text shown on either side of a fault

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

static bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }

// Whole characters only, and nothing that would break the line.
static void add_shown(tsr_text *out, const char *from, const char *to) {
  while (from < to && is_continuation(*from)) from++;
  while (to > from && is_continuation(*to)) to--;
  for (; from < to; from++) {
    const unsigned char c = (unsigned char)*from;
    tsr_text_add_char(out, c < ' ' || c == 0x7f ? ' ' : *from);
  }
}

static int column_of(const tsr_scan *scan) {
  int column = 1;
  for (const char *c = scan->start; c < scan->at; c++) column += !is_continuation(*c);
  return column;
}

tsr_status tsr_read_fail_at(const tsr_scan *scan, tsr_cause cause, const char *file, int line,
                            const char *format, ...) {
  const size_t before = (size_t)(scan->at - scan->start), after = strlen(scan->at);
  tsr_text message = TSR_TEXT_EMPTY, place = TSR_TEXT_EMPTY;
  va_list args;
  va_start(args, format);
  char *words = NULL;
  if (vasprintf(&words, format, args) < 0) words = NULL;
  va_end(args);
  add_shown(&place, scan->at - (before < SHOWN ? before : SHOWN), scan->at);
  tsr_text_add_char(&place, '^');
  add_shown(&place, scan->at, scan->at + (after < SHOWN ? after : SHOWN));
  tsr_text_addf(&message, "at column %d: %s here: %s", column_of(scan), words ? words : "",
                tsr_text_string(&place));
  const bool lost = !words || message.failed || place.failed;
  tsr_status status = lost ? tsr_fail(NO_MEMORY, "a message")
                           : tsr_fail_at(cause, file, line, "%s", tsr_text_string(&message));
  free(words);
  tsr_text_deinit(&place);
  tsr_text_deinit(&message);
  return status;
}

tsr_status tsr_read_wanted(tsr_scan *scan, const char *what) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  if (!*at) return tsr_read_fail(scan, SYNTAX, "wanted %s, found the end", what);
  int length = 1;
  while (is_continuation(at[length])) length++;
  return tsr_read_fail(scan, SYNTAX, "wanted %s, found \"%.*s\"", what, length, at);
}

bool tsr_read_keyword(tsr_scan *scan, const char *word) {
  tsr_scan_peek(scan);
  const size_t length = strlen(word);
  if (strncmp(scan->at, word, length) != 0 || is_word(scan->at[length])) return false;
  scan->at += length;
  return true;
}

tsr_status tsr_read_expect(tsr_scan *scan, char c) {
  if (tsr_scan_take(scan, c)) return NULL;
  return tsr_read_wanted(scan, (const char[]){'"', c, '"', '\0'});
}

tsr_status tsr_read_end(tsr_scan *scan) {
  return tsr_scan_peek(scan) ? tsr_read_wanted(scan, "the end") : NULL;
}

tsr_status tsr_read_int(tsr_scan *scan, const char *what, int64_t *out_value) {
  if (!isdigit((unsigned char)tsr_scan_peek(scan))) return tsr_read_wanted(scan, what);
  tsr_scan next = *scan;
  int64_t value = 0;
  for (; isdigit((unsigned char)*next.at); next.at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *next.at - '0', &value))
      return tsr_read_fail(scan, OVERFLOW, "%s beyond 64 bits", what);
  *scan = next;
  *out_value = value;
  return NULL;
}

size_t tsr_read_identifier(tsr_scan *scan, const char **out_start) {
  if (!is_word_start(tsr_scan_peek(scan))) return 0;
  *out_start = scan->at;
  while (is_word(*scan->at)) scan->at++;
  return (size_t)(scan->at - *out_start);
}

bool tsr_is_identifier(const char *name) {
  if (!is_word_start(*name)) return false;
  while (is_word(*name)) name++;
  return !*name;
}

tsr_status tsr_read_quoted(tsr_scan *scan, tsr_escape_fn *escape, tsr_text *out) {
  const char quote = tsr_scan_peek(scan);
  tsr_scan next = *scan;
  next.at++;
  while (*next.at != quote) {
    if (!*next.at) return tsr_read_fail(scan, SYNTAX, "a string that does not end");
    if (*next.at == '\\')
      TSR_TRY(escape(&next, out));
    else
      tsr_text_add_char(out, *next.at++);
  }
  scan->at = next.at + 1;
  if (strlen(tsr_text_string(out)) != out->length)
    return tsr_read_fail(scan, SYNTAX, "a name with a zero byte");
  return tsr_text_check(out);
}

tsr_status tsr_read_hex(tsr_scan *scan, int digits, uint32_t *out_value) {
  uint32_t value = 0;
  for (int i = 0; i < digits; i++, scan->at++) {
    const char c = *scan->at;
    if (!isxdigit((unsigned char)c)) {
      return tsr_read_fail(scan, SYNTAX, "wanted %d hexadecimal digits", digits);
    }
    value = value * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  *out_value = value;
  return NULL;
}
