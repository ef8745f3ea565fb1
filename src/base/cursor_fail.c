// Places in texts, for people: name, line, column, and the line itself with a caret below.
//
// Lines that are too long for a terminal are cut around the caret. A failure has at most one place:
// one inside a text that stands in a larger one moves to the larger text (tsr_cursor_place).
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "base/utf8.h"

enum { MOST_SHOWN = 76, MOST_BEFORE = 48, MOST_FOUND = 24, MOST_NAMED = 60 };

static const char *end_of(const tsr_cursor *cursor) {
  return cursor->end ? cursor->end : cursor->at + strlen(cursor->at);
}

// Bytes of the character at `at`; a byte that is not UTF-8 counts as a character.
static size_t step(const char *at, const char *end) {
  const size_t length = tsr_utf8_length(at, (size_t)(end - at));
  return length ? length : 1;
}

static size_t characters(const char *from, const char *to, const char *end) {
  size_t count = 0;
  for (; from < to; from += step(from, end)) count++;
  return count;
}

static const char *line_start(const tsr_cursor *cursor) {
  const char *line = cursor->at;
  while (line > cursor->start && line[-1] != '\n') line--;
  return line;
}

int tsr_cursor_line(const tsr_cursor *cursor) {
  int line = 1 + cursor->lines_before;
  for (const char *c = cursor->start; c < cursor->at; c++) line += *c == '\n';
  return line;
}

static void print_place(const tsr_cursor *cursor, tsr_text *out) {
  const size_t column = characters(line_start(cursor), cursor->at, end_of(cursor)) + 1;
  if (cursor->lines && cursor->name)
    tsr_text_addf(out, "%s:%d:%zu", cursor->name, tsr_cursor_line(cursor), column);
  else if (cursor->lines)
    tsr_text_addf(out, "line %d, column %zu", tsr_cursor_line(cursor), column);
  else
    tsr_text_addf(out, "%s%scolumn %zu", cursor->name ? cursor->name : "", cursor->name ? ": " : "",
                  column);
  if (cursor->offset)
    tsr_text_addf(out, " (byte %zu)", cursor->offset + (size_t)(cursor->at - cursor->start));
}

// One column for each character, whatever terminals would make of it.
static void add_shown(const char *from, const char *to, const char *end, tsr_text *out) {
  while (from < to) {
    const size_t known = tsr_utf8_length(from, (size_t)(end - from)), length = known ? known : 1;
    if (*from == '\t')
      tsr_text_add_char(out, ' ');
    else if (!known || tsr_utf8_is_control(from, length))
      tsr_text_add_char(out, '?');
    else
      tsr_text_add_bytes(out, from, length);
    from += length;
  }
}

// The line of the cursor and a caret below the cursor.
static void print_excerpt(const tsr_cursor *cursor, tsr_text *out) {
  const char *const end = end_of(cursor), *from = line_start(cursor), *to = cursor->at;
  size_t before = characters(from, cursor->at, end), after = 0;
  while (to < end && *to != '\n' && *to != '\r' && after <= MOST_SHOWN)
    to += step(to, end), after++;
  const bool is_long = before + after > MOST_SHOWN;
  const bool cut_front = is_long && before > MOST_BEFORE;
  for (; cut_front && before > MOST_BEFORE; before--) from += step(from, end);
  const bool cut_back = before + after > MOST_SHOWN;
  if (cut_back) {
    to = cursor->at;
    for (size_t i = before; i < MOST_SHOWN; i++) to += step(to, end);
  }
  if (from == to) return;
  tsr_text_add(out, cut_front ? "  ..." : "  ");
  add_shown(from, to, end, out);
  tsr_text_addf(out, "%s\n%*s^", cut_back ? "..." : "", (int)before + (cut_front ? 5 : 2), "");
}

tsr_status tsr_cursor_place(const tsr_cursor *cursor, tsr_status status) {
  if (!status || tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
  tsr_text place = TSR_TEXT_EMPTY, excerpt = TSR_TEXT_EMPTY;
  tsr_cursor at = *cursor;
  const size_t inside = tsr_status_place(status), left = (size_t)(end_of(cursor) - cursor->at);
  at.at += inside < left ? inside : left;
  print_place(&at, &place);
  print_excerpt(&at, &excerpt);
  status = tsr_status_set_place(status, tsr_text_string(&place), tsr_text_string(&excerpt),
                                (size_t)(at.at - at.start));
  tsr_text_deinit(&place);
  tsr_text_deinit(&excerpt);
  return status;
}

tsr_status tsr_cursor_place_missing(const tsr_cursor *cursor, tsr_status status) {
  return tsr_status_has_place(status) ? status : tsr_cursor_place(cursor, status);
}

tsr_status tsr_cursor_note(const tsr_cursor *cursor, tsr_status status) {
  if (!status || tsr_status_has_place(status)) return status;
  const char *end = cursor->start;
  for (int i = 0; *end && i < MOST_NAMED; i++) end += step(end, end + strnlen(end, 4));
  return tsr_note(status, "%s \"%.*s%s\"", cursor->name, (int)(end - cursor->start), cursor->start,
                  *end ? "..." : "");
}

tsr_status tsr_cursor_fail_at(const tsr_cursor *cursor, tsr_cause cause, const char *file, int line,
                              const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *message = NULL;
  if (vasprintf(&message, format, args) < 0) message = NULL;
  va_end(args);
  tsr_status status =
      message ? tsr_fail_at(cause, file, line, "%s", message) : tsr_fail(NO_MEMORY, "a message");
  free(message);
  return tsr_cursor_place(cursor, status);
}

// ---- what was found ----

static bool is_name_character(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (unsigned char)c >= 0x80;
}

static bool is_arrow_character(char c) { return c == '-' || c == '=' || c == '<' || c == '>'; }

// The end of the token at `at`: a word, an arrow, or one character.
static const char *token_end(const char *at, const char *end) {
  bool (*const belongs)(char) = is_name_character(*at)    ? is_name_character
                                : is_arrow_character(*at) ? is_arrow_character
                                                          : NULL;
  if (!belongs) return at + 1;
  while (at < end && belongs(*at)) at++;
  return at;
}

static void print_found(const tsr_cursor *cursor, tsr_text *out) {
  const char *const end = end_of(cursor), *at = cursor->at;
  if (at == end) {
    tsr_text_add(out, "the end");
  } else if (*at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n')) {
    tsr_text_add(out, "the end of the line");
  } else if (end - at >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) {
    tsr_text_add(out, "a byte order mark");
  } else if ((unsigned char)*at < ' ' || *at == 0x7f || !tsr_utf8_length(at, (size_t)(end - at))) {
    tsr_text_addf(out, "byte 0x%02x", (unsigned)(unsigned char)*at);
  } else {
    const char *to = token_end(at, end), *shown = at;
    for (int i = 0; shown < to && i < MOST_FOUND; i++) shown += step(shown, end);
    const char quote = *at == '"' ? '\'' : '"';
    tsr_text_add_char(out, quote);
    add_shown(at, shown, end, out);
    tsr_text_addf(out, "%s%c", shown < to ? "..." : "", quote);
  }
}

tsr_status tsr_cursor_expected_at(const tsr_cursor *cursor, tsr_cause cause, const char *what) {
  tsr_text found = TSR_TEXT_EMPTY;
  print_found(cursor, &found);
  tsr_status status =
      found.failed ? tsr_fail(NO_MEMORY, "a message")
                   : tsr_cursor_fail_at(cursor, cause, __FILE__, __LINE__, "expected %s, found %s",
                                        what, tsr_text_string(&found));
  tsr_text_deinit(&found);
  return status;
}

tsr_status tsr_cursor_expected(tsr_cursor *cursor, const char *what) {
  tsr_cursor_peek(cursor);
  return tsr_cursor_expected_at(cursor, TSR_CAUSE_SYNTAX, what);
}
