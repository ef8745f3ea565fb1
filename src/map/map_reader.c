// Words and numbers of a map's text. Numbers are kept as text, since facts may give their values
// only when the map is applied.
#include "map/map_reader.h"

#include <assert.h>
#include <string.h>

#include "base/text_internal.h"
#include "rules/rules.h"

tsr_status tsr_map_place(const tsr_map_reader *r, const char *at, tsr_status status) {
  tsr_cursor cursor = r->cursor;
  cursor.at = at;
  return tsr_cursor_place(&cursor, status);
}

tsr_status tsr_map_no_memory(void) { return tsr_fail(NO_MEMORY, "a map"); }

void *tsr_map_grow(tsr_map_reader *r, void *list, int count, size_t size) {
  return tsr_arena_grow(&r->map->arena, list, count, size);
}

// ---- characters ----

bool tsr_map_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

void tsr_map_open(tsr_map_reader *r, int open) {
  r->open = open;
  r->cursor.ends_matter = open == 0;
}

size_t tsr_map_word_length(const char *at) {
  size_t length = 0;
  if (!is_letter(*at)) return 0;
  while (is_letter(at[length]) || is_digit(at[length])) length++;
  return length;
}

bool tsr_map_is_word(const char *at, const char *word) {
  return tsr_map_word_length(at) == strlen(word) && !memcmp(at, word, strlen(word));
}

tsr_status tsr_map_read_word(tsr_map_reader *r, const char *what, const char **out) {
  tsr_cursor_peek(&r->cursor);
  const size_t length = tsr_map_word_length(r->cursor.at);
  if (length == 0) return tsr_cursor_expected(&r->cursor, what);
  *out = tsr_arena_copy(&r->map->arena, r->cursor.at, length);
  r->cursor.at += length;
  return *out ? NULL : tsr_map_no_memory();
}

// ---- numbers ----

static bool ends_number(const tsr_map_reader *r, const char *at) {
  if (*at == '\0' || strchr(",):=#", *at) || (*at == '\n' && r->open == 0)) return true;
  if (at[0] == '.' && at[1] == '.') return true;
  return (tsr_map_is_blank(at[-1]) || at[-1] == '\n') && tsr_map_is_word(at, "for") &&
         tsr_map_is_blank(at[3]);
}

// An expression as written, with single blanks.
tsr_status tsr_map_read_raw(tsr_map_reader *r, const char **out) {
  tsr_text text = TSR_TEXT_EMPTY;
  int parentheses = 0;
  tsr_cursor_peek(&r->cursor);
  for (const char *begin = r->cursor.at;
       r->cursor.at == begin || parentheses || !ends_number(r, r->cursor.at); r->cursor.at++) {
    const char c = *r->cursor.at;
    if (r->cursor.at == begin &&
        (c == '\0' || strchr(",):=#", c) || c == '\n' || (c == '.' && begin[1] == '.')))
      break;
    if (c == '\0' || c == '#' || (c == '\n' && r->open == 0)) break;
    parentheses += (c == '(') - (c == ')');
    if (!tsr_map_is_blank(c) && c != '\n')
      tsr_text_add_char(&text, c);
    else if (!tsr_map_is_blank(r->cursor.at[1]) && r->cursor.at[1] != '\n')
      tsr_text_add_char(&text, ' ');
  }
  while (text.length > 0 && text.data[text.length - 1] == ' ') text.length--;
  *out = tsr_arena_copy(&r->map->arena, tsr_text_string(&text), text.length);
  const bool failed = text.failed || !*out;
  tsr_text_deinit(&text);
  return failed ? tsr_map_no_memory() : NULL;
}

tsr_status tsr_map_check_number(const tsr_map_reader *r, const char *at, const char *number) {
  tsr_status status = tsr_facts_check(number);
  return tsr_map_place(r, at, status);
}

tsr_status tsr_map_read_number(tsr_map_reader *r, const char **out) {
  tsr_cursor_peek(&r->cursor);
  const char *at = r->cursor.at;
  TSR_TRY(tsr_map_read_raw(r, out));
  assert(*out);
  if (!**out) return tsr_cursor_expected(&r->cursor, "a number");
  return tsr_map_check_number(r, at, *out);
}

// A number, or "_" for the rest.
tsr_status tsr_map_read_size(tsr_map_reader *r, const char **out) {
  tsr_cursor_peek(&r->cursor);
  const char *at = r->cursor.at;
  TSR_TRY(tsr_map_read_raw(r, out));
  if (!**out) return tsr_cursor_expected(&r->cursor, "a size");
  return strcmp(*out, "_") != 0 ? tsr_map_check_number(r, at, *out) : NULL;
}
