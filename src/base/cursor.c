// Tokens of small notations, taken one by one. Character tests are our own, because those of
// <ctype.h> depend on the locale.
#include "base/cursor.h"

#include <string.h>

#include "base/quote.h"
#include "base/text_internal.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word_start(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static bool is_word(char c) { return is_word_start(c) || is_digit(c); }

int tsr_hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = (char)(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool tsr_is_identifier(const char *name) {
  if (!is_word_start(*name)) return false;
  while (is_word(*name)) name++;
  return !*name;
}

bool tsr_word_is(const char *word, size_t length, const char *name) {
  return strlen(name) == length && !memcmp(word, name, length);
}

// ---- blanks ----

// The end of the blank or comment at the cursor; the cursor itself where there is none.
static const char *skip_blank(const tsr_cursor *cursor) {
  const char *at = cursor->at;
  if (*at == '\n') return cursor->ends_matter ? at : at + 1;
  if (*at == ' ' || (*at >= '\t' && *at <= '\r')) return at + 1;
  if (cursor->hash_comments && *at == '#') return at + strcspn(at, "\n");
  if (!cursor->slash_comments || at[0] != '/' || at[1] != '*') return at;
  const char *end = strstr(at + 2, "*/");
  return end ? end + 2 : at;
}

char tsr_cursor_peek(tsr_cursor *cursor) {
  for (;;) {
    const char *next = skip_blank(cursor);
    if (next == cursor->at) return *next;
    cursor->at = next;
  }
}

// ---- tokens ----

bool tsr_cursor_take(tsr_cursor *cursor, char c) {
  if (c == '\0' || tsr_cursor_peek(cursor) != c) return false;
  cursor->at++;
  return true;
}

bool tsr_cursor_take_word(tsr_cursor *cursor, const char *literal) {
  const size_t length = strlen(literal);
  tsr_cursor_peek(cursor);
  if (strncmp(cursor->at, literal, length) != 0) return false;
  if (is_word(literal[length - 1]) && is_word(cursor->at[length])) return false;
  cursor->at += length;
  return true;
}

tsr_status tsr_cursor_expect(tsr_cursor *cursor, char c) {
  if (tsr_cursor_take(cursor, c)) return NULL;
  const char quote = c == '"' ? '\'' : '"';
  return tsr_cursor_expected(cursor, (char[]){quote, c, quote, '\0'});
}

const char *tsr_cursor_word(tsr_cursor *cursor, size_t *out_length) {
  tsr_cursor_peek(cursor);
  const char *word = cursor->at;
  while (is_word(*cursor->at)) cursor->at++;
  *out_length = (size_t)(cursor->at - word);
  return word;
}

const char *tsr_cursor_identifier(tsr_cursor *cursor, size_t *out_length) {
  *out_length = 0;
  return is_word_start(tsr_cursor_peek(cursor)) ? tsr_cursor_word(cursor, out_length) : cursor->at;
}

const char *tsr_cursor_qualified(tsr_cursor *cursor, size_t *out_length) {
  const char *word = tsr_cursor_word(cursor, out_length);
  while (*out_length && *cursor->at == '.' && is_word(cursor->at[1])) {
    cursor->at++;
    word = tsr_cursor_word(cursor, out_length);
  }
  return word;
}

// ---- numbers ----

// Takes the digits at `digits`, before which a sign may stand; false beyond 64 bits.
static bool take_digits(tsr_cursor *cursor, const char *digits, int64_t *out_value) {
  const bool negative = digits > cursor->at;
  int64_t value = 0;
  for (; is_digit(*digits); digits++) {
    const int digit = *digits - '0';
    if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
        __builtin_add_overflow(value, negative ? -digit : digit, &value))
      return false;
  }
  cursor->at = digits;
  *out_value = value;
  return true;
}

tsr_status tsr_cursor_int(tsr_cursor *cursor, int64_t *out_value) {
  const bool negative = tsr_cursor_peek(cursor) == '-';
  const char *digits = cursor->at + negative;
  if (!is_digit(*digits)) return tsr_cursor_expected(cursor, "an integer");
  return take_digits(cursor, digits, out_value)
             ? NULL
             : tsr_cursor_expected(cursor, "an integer of 64 bits");
}

tsr_status tsr_cursor_count(tsr_cursor *cursor, const char *what, int64_t *out_value) {
  if (!is_digit(tsr_cursor_peek(cursor))) return tsr_cursor_expected(cursor, what);
  return take_digits(cursor, cursor->at, out_value)
             ? NULL
             : tsr_cursor_fail(cursor, OVERFLOW, "%s is beyond 64 bits", what);
}

tsr_status tsr_cursor_hex(tsr_cursor *cursor, int digits, uint32_t *out_value) {
  uint32_t value = 0;
  for (int i = 0; i < digits; i++, cursor->at++) {
    const int digit = tsr_hex_digit(*cursor->at);
    if (digit < 0) return tsr_cursor_fail(cursor, SYNTAX, "expected %d hexadecimal digits", digits);
    value = value * 16 + (uint32_t)digit;
  }
  *out_value = value;
  return NULL;
}

// ---- quotes ----

tsr_status tsr_cursor_quoted(tsr_cursor *cursor, tsr_escape_fn *escape, tsr_text *out) {
  const char quote = tsr_cursor_peek(cursor);
  const size_t before = out->length;
  tsr_cursor next = *cursor;
  next.at++;
  while (*next.at != quote) {
    if (!*next.at) return tsr_cursor_fail(cursor, SYNTAX, "the string has no closing quote");
    if (*next.at == '\\')
      TSR_TRY(escape(&next, out));
    else
      tsr_text_add_char(out, *next.at++);
  }
  TSR_TRY(tsr_text_check(out));
  if (out->length > before && memchr(out->data + before, '\0', out->length - before))
    return tsr_cursor_fail(cursor, SYNTAX, "the name has a zero byte");
  cursor->at = next.at + 1;
  return NULL;
}

tsr_status tsr_cursor_escape(tsr_cursor *cursor, tsr_text *out) {
  char byte = 0;
  const char *end = tsr_unescape(cursor->at, &byte);
  if (!end)
    return tsr_cursor_fail(cursor, SYNTAX,
                           "expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH");
  tsr_text_add_char(out, byte);
  cursor->at = end;
  return NULL;
}

tsr_status tsr_cursor_end(tsr_cursor *cursor) {
  return tsr_cursor_peek(cursor) ? tsr_cursor_expected(cursor, "the end") : NULL;
}
