// Characters, words and numbers of a map's text, and where in it a failure is.
#include "map/map_reader.h"

#include <assert.h>
#include <string.h>

#include "base/text_internal.h"
#include "rules/rules.h"

// ---- places ----

int tsr_map_line(const tsr_map_reader *r, const char *at) {
  int line = 1;
  for (const char *c = r->start; c < at; c++) line += *c == '\n';
  return line;
}

tsr_status tsr_map_place(const tsr_map_reader *r, const char *at, tsr_status status) {
  const char *line = at;
  while (line > r->start && line[-1] != '\n') line--;
  return tsr_note(status, "%s:%d:%d", r->map->name, tsr_map_line(r, at), (int)(at - line) + 1);
}

tsr_status tsr_map_wanted(const tsr_map_reader *r, const char *what) {
  const size_t length = strcspn(r->at, " \t\r\n,()=#");
  const int shown = length == 0 ? *r->at && *r->at != '\n' && *r->at != '\r' : (int)length;
  return tsr_map_place(r, r->at,
                       shown ? tsr_fail(SYNTAX, "wanted %s, found \"%.*s\"", what, shown, r->at)
                             : tsr_fail(SYNTAX, "wanted %s, found the end of the line", what));
}

tsr_status tsr_map_no_memory(void) { return tsr_fail(NO_MEMORY, "a map"); }

void *tsr_map_more(tsr_map_reader *r, void *list, int count, size_t size) {
  if (count > 0 && (count < 4 || (count & (count - 1)))) return list;
  void *larger = tsr_arena_alloc(&r->map->arena, size * (size_t)(count < 4 ? 4 : 2 * count));
  if (larger && count > 0) memcpy(larger, list, size * (size_t)count);
  return larger;
}

// ---- characters ----

bool tsr_map_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

void tsr_map_skip(tsr_map_reader *r) {
  for (;;) {
    if (tsr_map_is_blank(*r->at) || (r->open > 0 && *r->at == '\n'))
      r->at++;
    else if (*r->at == '#')
      r->at += strcspn(r->at, "\n");
    else
      return;
  }
}

bool tsr_map_take(tsr_map_reader *r, char c) {
  tsr_map_skip(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

tsr_status tsr_map_expect(tsr_map_reader *r, char c) {
  const char what[] = {'\'', c, '\'', '\0'};
  return tsr_map_take(r, c) ? NULL : tsr_map_wanted(r, what);
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
  tsr_map_skip(r);
  const size_t length = tsr_map_word_length(r->at);
  if (length == 0) return tsr_map_wanted(r, what);
  *out = tsr_arena_copy(&r->map->arena, r->at, length);
  r->at += length;
  return *out ? NULL : tsr_map_no_memory();
}

// ---- numbers ----

static bool ends_number(const tsr_map_reader *r, const char *at) {
  if (*at == '\0' || strchr(",):=#", *at) || (*at == '\n' && r->open == 0)) return true;
  if (at[0] == '.' && at[1] == '.') return true;
  return (tsr_map_is_blank(at[-1]) || at[-1] == '\n') && tsr_map_is_word(at, "for") &&
         tsr_map_is_blank(at[3]);
}

// An expression as it is written, blanks made single.
tsr_status tsr_map_read_raw(tsr_map_reader *r, const char **out) {
  tsr_text text = TSR_TEXT_EMPTY;
  int parentheses = 0;
  tsr_map_skip(r);
  for (const char *begin = r->at; r->at == begin || parentheses || !ends_number(r, r->at);
       r->at++) {
    const char c = *r->at;
    if (r->at == begin &&
        (c == '\0' || strchr(",):=#", c) || c == '\n' || (c == '.' && begin[1] == '.')))
      break;
    if (c == '\0' || c == '#' || (c == '\n' && r->open == 0)) break;
    parentheses += (c == '(') - (c == ')');
    if (!tsr_map_is_blank(c) && c != '\n')
      tsr_text_add_char(&text, c);
    else if (!tsr_map_is_blank(r->at[1]) && r->at[1] != '\n')
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
  return status ? tsr_map_place(r, at, tsr_note(status, "in \"%s\"", number)) : NULL;
}

tsr_status tsr_map_read_number(tsr_map_reader *r, const char **out) {
  tsr_map_skip(r);
  const char *at = r->at;
  TSR_TRY(tsr_map_read_raw(r, out));
  assert(*out);
  if (!**out) return tsr_map_wanted(r, "a number");
  return tsr_map_check_number(r, at, *out);
}

// A number, or "_" for what is left.
tsr_status tsr_map_read_size(tsr_map_reader *r, const char **out) {
  tsr_map_skip(r);
  const char *at = r->at;
  TSR_TRY(tsr_map_read_raw(r, out));
  if (!**out) return tsr_map_wanted(r, "a size");
  return strcmp(*out, "_") != 0 ? tsr_map_check_number(r, at, *out) : NULL;
}
