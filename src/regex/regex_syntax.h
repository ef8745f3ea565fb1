// Python's regular expressions, rewritten for PCRE2.
//
// The two syntaxes look alike and differ in a hundred places: \Z, (?P=name), {,5}, global flags,
// \s, escapes. So a pattern is read by Python's grammar (3.11) and written for PCRE2 with
// constructs that mean the same in both. What Python rejects is an error here, with the column.
// Constructs that only PCRE2 has (verbs, \K, [:alpha:], recursion) never reach it.
//
// For each piece the parser computes the width of its matches (a lookbehind must have one width)
// and the byte pairs of every match (regex/byte_pairs.h).
#ifndef TESSERA_REGEX_REGEX_SYNTAX_H
#define TESSERA_REGEX_REGEX_SYNTAX_H

#include <stdint.h>

#include "regex/byte_pairs.h"
#include "tessera/status.h"
#include "tessera/text.h"

typedef struct tsr_regex_text {
  tsr_text pattern;  // for PCRE2, in ASCII
  bool caseless, multiline, dotall;
  bool captures;         // a reference needs the groups
  tsr_byte_pairs pairs;  // in every subject that matches
} tsr_regex_text;

// `out` needs tsr_text_deinit(&out->pattern), also after a failure. Fails with BAD_REGEX and the
// column, or UNSUPPORTED if there is no translation.
TSR_MUST_USE tsr_status tsr_regex_translate(const char *pattern, tsr_regex_text *out);

// ---- between the files of the translator ----

// Python's flags, a bit for each letter of "imsxau". UNICODE only cancels ASCII.
enum {
  TSR_REGEX_IGNORE_CASE = 1,
  TSR_REGEX_MULTILINE = 2,
  TSR_REGEX_DOTALL = 4,
  TSR_REGEX_VERBOSE = 8,
  TSR_REGEX_ASCII = 16,
  TSR_REGEX_UNICODE = 32,
};

// The next token: a character, or a backslash with one.
typedef struct tsr_regex_token {
  uint32_t c;  // TSR_REGEX_END at the end
  bool escaped;
} tsr_regex_token;
#define TSR_REGEX_END UINT32_MAX

typedef struct tsr_regex_reader {
  const char *start, *at;
  tsr_text *out;
} tsr_regex_reader;

// A pattern must be UTF-8 and not end inside an escape. Everything below relies on it.
TSR_MUST_USE tsr_status tsr_regex_check_text(const tsr_regex_reader *in);
tsr_regex_token tsr_regex_peek(const tsr_regex_reader *in);
tsr_regex_token tsr_regex_get(tsr_regex_reader *in);
bool tsr_regex_take(tsr_regex_reader *in, char c);  // if it is next and not escaped

// BAD_REGEX about the place `at`: "pattern: column 3: multiple repeat".
#define tsr_regex_fail(in, at, ...) \
  tsr_regex_fail_at(in, TSR_CAUSE_BAD_REGEX, at, __FILE__, __LINE__, __VA_ARGS__)
#define tsr_regex_unsupported(in, at, ...) \
  tsr_regex_fail_at(in, TSR_CAUSE_UNSUPPORTED, at, __FILE__, __LINE__, __VA_ARGS__)
TSR_MUST_USE TSR_PRINTF(6, 7) tsr_status
    tsr_regex_fail_at(const tsr_regex_reader *in, tsr_cause cause, const char *at, const char *file,
                      int line, const char *format, ...);

// The character of an escape in sets and expressions: \n, \x41, \u00e9, \., \0. `at` is where the
// escape began; `c` follows its backslash and was consumed.
TSR_MUST_USE tsr_status tsr_regex_escape(tsr_regex_reader *in, const char *at, uint32_t c,
                                         uint32_t *out_character);
// Whether this is one of d D s S w W.
bool tsr_regex_is_category(uint32_t c);

// Reads flags up to the ')' of global ones, or the ':' of a group that began at `at`.
TSR_MUST_USE tsr_status tsr_regex_read_flags(tsr_regex_reader *in, const char *at, unsigned *out_on,
                                             unsigned *out_off, bool *out_global);
unsigned tsr_regex_apply_flags(unsigned flags, unsigned on, unsigned off);
// Opens a group in which PCRE2's flags are those of `to`.
void tsr_regex_write_scope(tsr_text *out, unsigned from, unsigned to);
// Whether PCRE2 ignores case; in ASCII mode both letters are written instead.
bool tsr_regex_is_caseless(unsigned flags);

#define TSR_REGEX_ENDLESS UINT64_C(4294967295)  // Python's largest repetition, which has no end
// The quantifier that begins with `c` at `at`; `*out_is` is false for a literal '{'.
TSR_MUST_USE tsr_status tsr_regex_read_repeat(tsr_regex_reader *in, const char *at, uint32_t c,
                                              uint64_t *out_min, uint64_t *out_max, bool *out_is);
// Writes it, with the '?' or '+' that may follow.
void tsr_regex_write_repeat(tsr_regex_reader *in, uint64_t min, uint64_t max);

// Writers. `tsr_regex_write_set` reads a set whose '[' was consumed; `*out_literal` is its
// character if it has just one, else TSR_REGEX_END.
void tsr_regex_write_literal(tsr_text *out, uint32_t c, unsigned flags);
void tsr_regex_write_category(tsr_text *out, uint32_t category, unsigned flags);
void tsr_regex_write_boundary(tsr_text *out, bool negated, unsigned flags);
TSR_MUST_USE tsr_status tsr_regex_write_set(tsr_regex_reader *in, unsigned flags,
                                            uint32_t *out_literal);

#endif
