// A cursor over a text being read: the one reader below every notation, and the one form in which a
// failure names a place in a text.
//
//   rules.txt:3:14: expected "->", found "=>"        spec: column 7: expected an axis, found ")"
//     q_proj => tp, _                                  data, )
//            ^                                               ^
//
// Texts of several lines are placed by NAME:LINE:COLUMN, texts of one line by their column. Columns
// count characters from 1. Blanks between tokens mean nothing and are skipped before each one.
#ifndef TESSERA_BASE_CURSOR_H
#define TESSERA_BASE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/status.h"
#include "tessera/text.h"

typedef struct tsr_cursor {
  const char *name;  // the file, or what the text is ("spec"); NULL = the caller's note names it
  const char *start, *at;
  const char *end;      // NULL = at its '\0'; used by places only
  size_t offset;        // where the text begins in a binary file; 0 = places name no byte
  bool lines;           // a text of several lines
  int lines_before;     // `start` is that many lines below the text's own start
  bool ends_matter;     // the end of a line is a token, not a blank
  bool hash_comments;   // '#' and what follows on its line are a blank
  bool slash_comments;  // slash-star comments are blanks
} tsr_cursor;

#define TSR_CURSOR(what, text) \
  { .name = (what), .start = (text), .at = (text) }

// ---- reading ----

// The next character that is no blank, not taken; '\0' at the end.
char tsr_cursor_peek(tsr_cursor *cursor);
// Takes `c` if it comes next.
bool tsr_cursor_take(tsr_cursor *cursor, char c);
// Takes `literal` if it comes next and is not the start of a longer word.
bool tsr_cursor_take_word(tsr_cursor *cursor, const char *literal);
// Takes `c` or fails: expected "]", found "x".
TSR_MUST_USE tsr_status tsr_cursor_expect(tsr_cursor *cursor, char c);
// Takes the longest run of letters, digits and underscores; its length is 0 if there is none.
const char *tsr_cursor_word(tsr_cursor *cursor, size_t *out_length);
// The same for a word that does not begin with a digit.
const char *tsr_cursor_identifier(tsr_cursor *cursor, size_t *out_length);
// Takes words joined by dots, as Python qualifies names; gives the last.
const char *tsr_cursor_qualified(tsr_cursor *cursor, size_t *out_length);
// Takes a decimal integer: any, or one without a sign. `what` reads after "expected".
TSR_MUST_USE tsr_status tsr_cursor_int(tsr_cursor *cursor, int64_t *out_value);
TSR_MUST_USE tsr_status tsr_cursor_count(tsr_cursor *cursor, const char *what, int64_t *out_value);
// Takes exactly `digits` hexadecimal digits.
TSR_MUST_USE tsr_status tsr_cursor_hex(tsr_cursor *cursor, int digits, uint32_t *out_value);
// Takes a string in the quotes that come next (" or ') and adds what it means. `escape` steps over
// a backslash and its escape, and adds the bytes meant.
typedef tsr_status tsr_escape_fn(tsr_cursor *cursor, tsr_text *out);
TSR_MUST_USE tsr_status tsr_cursor_quoted(tsr_cursor *cursor, tsr_escape_fn *escape, tsr_text *out);
// The escapes of our own notations (base/quote.h).
TSR_MUST_USE tsr_status tsr_cursor_escape(tsr_cursor *cursor, tsr_text *out);
// Fails unless only blanks are left.
TSR_MUST_USE tsr_status tsr_cursor_end(tsr_cursor *cursor);

bool tsr_is_identifier(const char *name);  // [A-Za-z_][A-Za-z0-9_]*
bool tsr_word_is(const char *word, size_t length, const char *name);
int tsr_hex_digit(char c);  // 0 to 15, or -1

// ---- failing ----

// The line of the cursor, counted from 1.
int tsr_cursor_line(const tsr_cursor *cursor);
// Fails at the cursor, with the line and a caret below the message.
#define tsr_cursor_fail(cursor, cause, ...) \
  tsr_cursor_fail_at(cursor, TSR_CAUSE_##cause, __FILE__, __LINE__, __VA_ARGS__)
TSR_MUST_USE TSR_PRINTF(5, 6) tsr_status
    tsr_cursor_fail_at(const tsr_cursor *cursor, tsr_cause cause, const char *file, int line,
                       const char *format, ...);
// Fails with SYNTAX at the next token: expected `what`, found "token".
TSR_MUST_USE tsr_status tsr_cursor_expected(tsr_cursor *cursor, const char *what);
// The same with another cause, at the cursor itself.
TSR_MUST_USE tsr_status tsr_cursor_expected_at(const tsr_cursor *cursor, tsr_cause cause,
                                               const char *what);
// Adds the place of the cursor to a failure. A failure inside a text that begins at the cursor gets
// its place in the cursor's text instead. NULL and no_memory stay as they are.
TSR_MUST_USE tsr_status tsr_cursor_place(const tsr_cursor *cursor, tsr_status status);
// The same, but a failure that has a place keeps it.
TSR_MUST_USE tsr_status tsr_cursor_place_missing(const tsr_cursor *cursor, tsr_status status);
// Names the whole text in a failure that has no place: mesh "data=4": ...
TSR_MUST_USE tsr_status tsr_cursor_note(const tsr_cursor *cursor, tsr_status status);

#endif
