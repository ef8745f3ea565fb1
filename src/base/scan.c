#include "base/scan.h"

#include <string.h>

// Own tests, because those of <ctype.h> depend on the locale.
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The end of the comment at `at`, or `at` itself if none starts (or none ends) there.
static const char *skip_comment(const char *at) {
  if (at[0] != '/' || at[1] != '*') return at;
  const char *end = strstr(at + 2, "*/");
  return end ? end + 2 : at;
}

char tsr_scan_peek(tsr_scan *scan) {
  for (;;) {
    while (is_blank(*scan->at)) scan->at++;
    const char *next = scan->comments ? skip_comment(scan->at) : scan->at;
    if (next == scan->at) return *scan->at;
    scan->at = next;
  }
}

bool tsr_scan_take(tsr_scan *scan, char c) {
  if (c == '\0' || tsr_scan_peek(scan) != c) return false;
  scan->at++;
  return true;
}

const char *tsr_scan_word(tsr_scan *scan, size_t *out_length) {
  tsr_scan_peek(scan);
  const char *word = scan->at;
  while (is_word(*scan->at)) scan->at++;
  *out_length = (size_t)(scan->at - word);
  return word;
}

bool tsr_scan_take_word(tsr_scan *scan, const char *word) {
  tsr_scan ahead = *scan;
  size_t length = 0;
  const char *found = tsr_scan_word(&ahead, &length);
  if (strlen(word) != length || memcmp(found, word, length) != 0) return false;
  *scan = ahead;
  return true;
}

const char *tsr_scan_qualified(tsr_scan *scan, size_t *out_length) {
  const char *word = tsr_scan_word(scan, out_length);
  while (*out_length && *scan->at == '.' && is_word(scan->at[1])) {
    scan->at++;
    word = tsr_scan_word(scan, out_length);
  }
  return word;
}

// What stands at the cursor, short enough for a message and without control characters.
static void quote_rest(const char *at, char out[24]) {
  size_t length = 0;
  while (length < 12 && at[length]) {
    const bool plain = at[length] >= ' ' && at[length] < 127;
    out[length] = plain ? at[length] : '.';
    length++;
  }
  strcpy(out + length, at[length] ? "..." : "");
}

tsr_status tsr_scan_fail(tsr_scan *scan, const char *wanted) {
  tsr_scan_peek(scan);
  const size_t byte = (size_t)(scan->at - scan->start);
  if (!*scan->at) return tsr_fail(SYNTAX, "wanted %s at byte %zu, found the end", wanted, byte);
  char found[24];
  quote_rest(scan->at, found);
  return tsr_fail(SYNTAX, "wanted %s at byte %zu, found \"%s\"", wanted, byte, found);
}

tsr_status tsr_scan_expect(tsr_scan *scan, char c) {
  if (tsr_scan_take(scan, c)) return NULL;
  return tsr_scan_fail(scan, (char[]){'\'', c, '\'', '\0'});
}

tsr_status tsr_scan_int(tsr_scan *scan, int64_t *out_value) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  const bool negative = *at == '-';
  at += negative;
  if (!is_digit(*at)) return tsr_scan_fail(scan, "an integer");
  int64_t value = 0;
  for (; is_digit(*at); at++) {
    const int digit = *at - '0';
    if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
        __builtin_add_overflow(value, negative ? -digit : digit, &value))
      return tsr_scan_fail(scan, "an integer of 64 bits");
  }
  scan->at = at;
  *out_value = value;
  return NULL;
}

tsr_status tsr_scan_end(tsr_scan *scan) {
  return tsr_scan_peek(scan) ? tsr_scan_fail(scan, "the end") : NULL;
}
