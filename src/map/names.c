// Reads the names of tensors in a map: plain characters, escapes in quotes, and {holes}.
#include <string.h>

#include "base/quote.h"
#include "base/text_internal.h"
#include "map/map_reader.h"

static tsr_status add_piece(tsr_map_reader *r, tsr_map_name *name, tsr_name_piece piece) {
  tsr_name_piece *pieces = tsr_map_grow(r, name->pieces, name->count, sizeof *pieces);
  if (!pieces) return tsr_map_no_memory();
  name->pieces = pieces;
  name->pieces[name->count++] = piece;
  return NULL;
}

static tsr_status flush_text(tsr_map_reader *r, tsr_map_name *name, tsr_text *text) {
  if (text->failed) return tsr_map_no_memory();
  if (text->length == 0) return NULL;
  tsr_name_piece piece = {.text = tsr_arena_copy(&r->map->arena, text->data, text->length)};
  tsr_text_clear(text);
  return piece.text ? add_piece(r, name, piece) : tsr_map_no_memory();
}

// The brace that closes the one before `at`; NULL when the line ends first.
static const char *closing_brace(const char *at) {
  int open = 1;
  for (; *at && *at != '\n'; at++) {
    open += (*at == '{') - (*at == '}');
    if (open == 0) return at;
  }
  return NULL;
}

static bool has_numbered_reference(const char *pattern) {
  for (const char *at = pattern; *at; at += *at == '\\' && at[1] ? 2 : 1)
    if (at[0] == '\\' && at[1] >= '1' && at[1] <= '9') return true;
  return false;
}

// {word:regex}. The regex is compiled alone first, so that it cannot close the group around it.
static tsr_status read_pattern(tsr_map_reader *r, const char *at, const char *end,
                               tsr_name_piece *piece) {
  tsr_regex regex;
  piece->pattern = tsr_arena_copy(&r->map->arena, at, (size_t)(end - at));
  if (!piece->pattern) return tsr_map_no_memory();
  if (at == end)
    return tsr_map_place(r, at,
                         tsr_fail(SYNTAX, "capture \"%s\" has an empty pattern", piece->word));
  if (has_numbered_reference(piece->pattern))
    return tsr_map_place(
        r, at,
        tsr_fail(UNSUPPORTED, "the pattern \"%s\" refers to a group by number; use a name",
                 piece->pattern));
  tsr_status status = tsr_regex_compile_capturing(r->map->engine, piece->pattern, &regex);
  if (status) return tsr_map_place(r, at, status);
  tsr_regex_deinit(&regex);
  return NULL;
}

static tsr_status read_hole(tsr_map_reader *r, tsr_map_name *name) {
  const char *begin = ++r->cursor.at, *end = closing_brace(begin);
  tsr_name_piece piece = {0};
  if (!end) return tsr_map_place(r, begin - 1, tsr_fail(SYNTAX, "{ has no }"));
  r->cursor.at = end + 1;
  const char *at = begin, *stop = end;
  while (at < stop && tsr_map_is_blank(*at)) at++;
  while (stop > at && tsr_map_is_blank(stop[-1])) stop--;
  if (at == stop)
    return tsr_map_place(r, begin - 1,
                         tsr_fail(SYNTAX, "{} is empty; a plain brace is written {{"));
  const size_t length = tsr_map_word_length(at);
  const bool bare = length > 0 && at + length == stop, pattern = length > 0 && at[length] == ':';
  const char *text =
      tsr_arena_copy(&r->map->arena, at, bare || pattern ? length : (size_t)(stop - at));
  if (!text) return tsr_map_no_memory();
  if (bare || pattern)
    piece.word = text;
  else
    piece.number = text;
  if (pattern) TSR_TRY(read_pattern(r, at + length + 1, end, &piece));
  if (piece.number) TSR_TRY(tsr_map_check_number(r, at, piece.number));
  return add_piece(r, name, piece);
}

static bool ends_name(char c, bool quoted) {
  if (quoted) return c == '"' || c == '\0' || c == '\n';
  return c == '\0' || strchr(" \t\r\n,()=#\"", c) != NULL;
}

// One character of a name, or a hole.
static tsr_status read_character(tsr_map_reader *r, bool quoted, tsr_map_name *name,
                                 tsr_text *text) {
  const char c = *r->cursor.at;
  if ((c == '{' || c == '}') && r->cursor.at[1] == c) {
    tsr_text_add_char(text, c);
    r->cursor.at += 2;
    return NULL;
  }
  if (c == '}')
    return tsr_map_place(r, r->cursor.at,
                         tsr_fail(SYNTAX, "} has no {; a plain one is written }}"));
  if (c == '{') {
    TSR_TRY(flush_text(r, name, text));
    return read_hole(r, name);
  }
  char byte = c;
  const char *end = quoted && c == '\\' ? tsr_unescape(r->cursor.at, &byte) : r->cursor.at + 1;
  if (!end || byte == '\0')
    return tsr_map_place(
        r, r->cursor.at,
        tsr_fail(SYNTAX, "expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH"));
  tsr_text_add_char(text, byte);
  r->cursor.at = end;
  return NULL;
}

tsr_status tsr_map_read_name(tsr_map_reader *r, tsr_map_name *name) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  *name = (tsr_map_name){0};
  tsr_cursor_peek(&r->cursor);
  const char *begin = r->cursor.at;
  const bool quoted = *r->cursor.at == '"';
  r->cursor.at += quoted;
  while (!status && !ends_name(*r->cursor.at, quoted))
    status = read_character(r, quoted, name, &text);
  if (!status && quoted && *r->cursor.at != '"')
    status = tsr_map_place(r, begin, tsr_fail(SYNTAX, "the name has no closing quote"));
  if (!status) status = flush_text(r, name, &text);
  tsr_text_deinit(&text);
  if (status) return status;
  r->cursor.at += quoted;
  if (!quoted && r->cursor.at == begin) return tsr_cursor_expected(&r->cursor, "a tensor's name");
  return NULL;
}
