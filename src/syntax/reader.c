// Taking tokens, the small things made of them (words, integers, strings, lists), and failing at a
// place in the text.
#include "syntax/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text_internal.h"
#include "base/utf8.h"
#include "syntax/reader_parts.h"

enum { MOST_FOUND = 24 };

// ---- failing ----

tsr_status tsr_reader_fail_at(const tsr_reader *reader, const char *at, tsr_cause cause,
                              const char *file, int line, const char *format, ...) {
  // Lines are counted from the newest place asked for, not from the start: texts are long, and the
  // failures in one may be many.
  const bool below = !reader->one_line && at >= reader->line_start;
  const tsr_cursor cursor = {.name = reader->name,
                             .start = below ? reader->line_start : reader->start,
                             .at = at,
                             .end = reader->end,
                             .lines = !reader->one_line,
                             .lines_before = below ? (int)reader->line - 1 : 0};
  va_list args;
  va_start(args, format);
  char *message = NULL;
  if (vasprintf(&message, format, args) < 0) message = NULL;
  va_end(args);
  if (!message) return tsr_fail(NO_MEMORY, "a message");
  tsr_make_plain(message, strlen(message));
  tsr_status status = tsr_cursor_place(&cursor, tsr_fail_at(cause, file, line, "%s", message));
  free(message);
  return status;
}

tsr_status tsr_reader_expected(const tsr_reader *reader, const char *what) {
  const tsr_token *token = &reader->token;
  if (token->kind == TSR_TOKEN_WRONG && *token->start == '"')
    return tsr_reader_fail(reader, token->start, SYNTAX, "the string has no closing quote");
  if (token->kind == TSR_TOKEN_END)
    return tsr_reader_fail(reader, token->start, SYNTAX, "expected %s, found the end", what);
  const size_t length = tsr_token_length(token);
  const bool is_long = length > MOST_FOUND;
  const char *quote = *token->start == '"' ? (is_long ? "'" : "") : "\"";
  return tsr_reader_fail(reader, token->start, SYNTAX, "expected %s, found %s%.*s%s%s", what, quote,
                         (int)(is_long ? MOST_FOUND : length), token->start, is_long ? "..." : "",
                         quote);
}

void tsr_reader_place(tsr_reader *reader, const char *at, uint32_t *out_line,
                      uint32_t *out_column) {
  if (at < reader->line_start) reader->line_start = reader->start, reader->line = 1;
  for (const char *next;
       (next = memchr(reader->line_start, '\n', (size_t)(at - reader->line_start))); reader->line++)
    reader->line_start = next + 1;
  uint32_t column = 1;
  for (const char *c = reader->line_start; c < at; column++) {
    const bool plain = (unsigned char)*c < 0x80;
    const size_t length = plain ? 1 : tsr_utf8_length(c, (size_t)(reader->end - c));
    c += length ? length : 1;
  }
  *out_line = reader->line;
  *out_column = column;
}

tsr_status tsr_reader_enter(tsr_reader *reader) {
  if (reader->depth >= TSR_READER_DEPTH)
    return tsr_reader_fail(reader, reader->token.start, TOO_LARGE, "nested deeper than %d levels",
                           TSR_READER_DEPTH);
  reader->depth++;
  if (reader->depth > reader->reached) reader->reached = reader->depth;
  return NULL;
}

// ---- tokens ----

tsr_status tsr_reader_expected_literal(const tsr_reader *reader, const char *literal) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\"", literal);
  return tsr_reader_expected(reader, quoted);
}

tsr_status tsr_read_word(tsr_reader *reader, const char *what, const char **out_word) {
  if (!tsr_at_kind(reader, TSR_TOKEN_WORD)) return tsr_reader_expected(reader, what);
  const char *word = tsr_ir_name(reader->ir, reader->token.start, tsr_token_length(&reader->token));
  TSR_NEED(word);
  tsr_next(reader);
  *out_word = word;
  return NULL;
}

tsr_status tsr_read_bool(tsr_reader *reader, bool *out_value) {
  const bool value = tsr_at_word(reader, "true");
  if (!value && !tsr_at_word(reader, "false")) return tsr_reader_expected(reader, "true or false");
  tsr_next(reader);
  *out_value = value;
  return NULL;
}

// ---- integers ----

bool tsr_token_magnitude(const tsr_token *token, uint64_t *out_magnitude) {
  const bool hex = tsr_token_length(token) > 2 && token->start[1] == 'x';
  uint64_t value = 0;
  for (const char *c = token->start + (hex ? 2 : 0); c < token->end; c++)
    if (__builtin_mul_overflow(value, hex ? 16u : 10u, &value) ||
        __builtin_add_overflow(value, (uint64_t)tsr_hex_digit(*c), &value))
      return false;
  *out_magnitude = value;
  return true;
}

tsr_status tsr_read_int(tsr_reader *reader, const char *what, int64_t *out_value) {
  const bool negative = tsr_at_sign(reader, "-");
  const char *start = reader->token.start;
  if (negative) tsr_next(reader);
  if (!tsr_at_kind(reader, TSR_TOKEN_INTEGER)) return tsr_reader_expected(reader, what);
  uint64_t magnitude = 0;
  const uint64_t most = (uint64_t)INT64_MAX + negative;
  if (!tsr_token_magnitude(&reader->token, &magnitude) || magnitude > most)
    return tsr_reader_fail(reader, start, OVERFLOW, "%s is beyond 64 bits", what);
  tsr_next(reader);
  *out_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return NULL;
}

// ---- lists ----

tsr_status tsr_read_list(tsr_reader *reader, const char *open, const char *close,
                         tsr_read_one *read_one, void *context) {
  TSR_TRY(tsr_expect_sign(reader, open));
  if (tsr_take_sign(reader, close)) return NULL;
  do {
    TSR_TRY(read_one(reader, context));
  } while (tsr_take_sign(reader, ","));
  if (tsr_take_sign(reader, close)) return NULL;
  char what[32];
  snprintf(what, sizeof what, "\",\" or \"%s\"", close);
  return tsr_reader_expected(reader, what);
}

typedef struct int_list {
  int64_t *values, count;
} int_list;

static tsr_status read_list_int(tsr_reader *reader, void *context) {
  int_list *list = context;
  int64_t *values =
      tsr_arena_grow(&reader->ir->arena, list->values, list->count, sizeof *list->values);
  TSR_NEED(values);
  list->values = values;
  return tsr_read_int(reader, "an integer", &values[list->count++]);
}

tsr_status tsr_read_int_list(tsr_reader *reader, const int64_t **out_values, int64_t *out_count) {
  int_list list = {NULL, 0};
  TSR_TRY(tsr_read_list(reader, "[", "]", read_list_int, &list));
  *out_values = list.values;
  *out_count = list.count;
  return NULL;
}

// ---- strings ----

// Steps over a backslash and its escape, and adds the byte it stands for.
static tsr_status read_escape(tsr_reader *reader, const char **at) {
  const char *escape = *at;
  static const char plain[] = "\"\\nt", meant[] = "\"\\\n\t";
  const char *found = escape[1] ? strchr(plain, escape[1]) : NULL;
  if (found) {
    tsr_text_add_char(&reader->scratch, meant[found - plain]);
    *at += 2;
    return NULL;
  }
  const int high = tsr_hex_digit(escape[1]), low = high < 0 ? -1 : tsr_hex_digit(escape[2]);
  if (low < 0)
    return tsr_reader_fail(reader, escape, SYNTAX,
                           "expected one of the escapes \\\" \\\\ \\n \\t \\HH");
  tsr_text_add_char(&reader->scratch, (char)(high * 16 + low));
  *at += 3;
  return NULL;
}

// What the quoted text from `at` (after its quote) to `end` (at its quote) means.
static tsr_status unescape(tsr_reader *reader, const char *at, const char *end,
                           const char **out_bytes, size_t *out_length) {
  tsr_text_clear(&reader->scratch);
  while (at < end) {
    const char *escape = memchr(at, '\\', (size_t)(end - at));
    tsr_text_add_bytes(&reader->scratch, at, (size_t)((escape ? escape : end) - at));
    if (!escape) break;
    TSR_TRY(read_escape(reader, &escape));
    at = escape;
  }
  TSR_TRY(tsr_text_check(&reader->scratch));
  *out_bytes = tsr_text_string(&reader->scratch);
  *out_length = reader->scratch.length;
  return NULL;
}

// The string of the current token; the bytes are the reader's or the text's.
static tsr_status view_string(tsr_reader *reader, const char *start, const char **out_bytes,
                              size_t *out_length) {
  const char *end = reader->token.end - 1;
  if (memchr(start, '\\', (size_t)(end - start)))
    return unescape(reader, start, end, out_bytes, out_length);
  *out_bytes = start;
  *out_length = (size_t)(end - start);
  return NULL;
}

tsr_status tsr_read_string(tsr_reader *reader, const char *what, const char **out_bytes,
                           size_t *out_length) {
  if (!tsr_at_kind(reader, TSR_TOKEN_STRING)) return tsr_reader_expected(reader, what);
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(view_string(reader, reader->token.start + 1, &bytes, &length));
  bytes = tsr_arena_copy(&reader->ir->arena, bytes, length);
  TSR_NEED(bytes);
  tsr_next(reader);
  *out_bytes = bytes;
  *out_length = length;
  return NULL;
}

tsr_status tsr_read_symbol_name(tsr_reader *reader, const char **out_name) {
  if (!tsr_at_kind(reader, TSR_TOKEN_SYMBOL))
    return tsr_reader_expected(reader, "a symbol such as @name");
  const char *bytes = reader->token.start + 1;
  size_t length = (size_t)(reader->token.end - bytes);
  if (*bytes == '"') TSR_TRY(view_string(reader, bytes + 1, &bytes, &length));
  if (memchr(bytes, '\0', length))
    return tsr_reader_fail(reader, reader->token.start, SYNTAX,
                           "the name of a symbol is not a text: it has a zero byte");
  const char *name = tsr_ir_name(reader->ir, bytes, length);
  TSR_NEED(name);
  tsr_next(reader);
  *out_name = name;
  return NULL;
}
