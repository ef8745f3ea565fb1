// The tokens of MLIR text.
//
// One token is known at a time; the text itself is the only state, so a reader goes back by seeking
// to a place. Strings are found with memchr: the data of large constants stands in them.
#include <stdlib.h>
#include <string.h>

#include "syntax/reader.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool is_word_start(char c) { return is_letter(c) || c == '_'; }
static bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '$' || c == '.'; }
// After %, ^, # and !.
static bool is_suffix_start(char c) { return is_word_start(c) || c == '$' || c == '.' || c == '-'; }
static bool is_suffix(char c) { return is_suffix_start(c) || is_digit(c); }

// The end of the characters from `at` on that belong.
static const char *run(const char *at, const char *end, bool (*belongs)(char)) {
  while (at < end && belongs(*at)) at++;
  return at;
}

static const char *skip_blanks(const char *at, const char *end) {
  for (; at < end; at++) {
    if (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') continue;
    if (*at != '/' || end - at < 2 || at[1] != '/') break;
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line) return end;
    at = line;
  }
  return at;
}

// ---- one token each; `at` is its first character ----

// The closing quote of a string; NULL if there is none in its line.
static const char *find_quote(const char *at, const char *end) {
  const char *quote = NULL;
  while (at < end) {
    if (!quote || quote < at) quote = memchr(at, '"', (size_t)(end - at));
    if (!quote) return NULL;
    const char *escape = memchr(at, '\\', (size_t)(quote - at));
    if (!escape) return quote;
    at = escape + 2;
  }
  return NULL;
}

static tsr_token lex_string(const char *at, const char *end, tsr_token_kind kind,
                            const char *start) {
  const char *quote = find_quote(at + 1, end);
  if (!quote || memchr(at, '\n', (size_t)(quote - at)))
    return (tsr_token){TSR_TOKEN_WRONG, at, at + 1};
  return (tsr_token){kind, start, quote + 1};
}

static tsr_token lex_symbol(const char *at, const char *end) {
  if (at + 1 < end && at[1] == '"') return lex_string(at + 1, end, TSR_TOKEN_SYMBOL, at);
  if (at + 1 < end && is_word_start(at[1]))
    return (tsr_token){TSR_TOKEN_SYMBOL, at, run(at + 1, end, is_word)};
  return (tsr_token){TSR_TOKEN_WRONG, at, at + 1};
}

static tsr_token lex_prefixed(const char *at, const char *end, tsr_token_kind kind) {
  if (at + 1 < end && is_digit(at[1])) return (tsr_token){kind, at, run(at + 1, end, is_digit)};
  if (at + 1 < end && is_suffix_start(at[1]))
    return (tsr_token){kind, at, run(at + 1, end, is_suffix)};
  return (tsr_token){TSR_TOKEN_WRONG, at, at + 1};
}

static tsr_token lex_number(const char *at, const char *end) {
  if (end - at > 2 && at[0] == '0' && at[1] == 'x' && is_hex(at[2]))
    return (tsr_token){TSR_TOKEN_INTEGER, at, run(at + 2, end, is_hex)};
  const char *stop = run(at, end, is_digit);
  if (stop == end || *stop != '.') return (tsr_token){TSR_TOKEN_INTEGER, at, stop};
  stop = run(stop + 1, end, is_digit);
  if (stop < end && (*stop == 'e' || *stop == 'E')) {
    const char *digits = stop + 1;
    if (digits < end && (*digits == '+' || *digits == '-')) digits++;
    if (digits < end && is_digit(*digits)) stop = run(digits, end, is_digit);
  }
  return (tsr_token){TSR_TOKEN_FLOAT, at, stop};
}

static bool starts_with(const char *at, const char *end, const char *sign) {
  const size_t length = strlen(sign);
  return (size_t)(end - at) >= length && !memcmp(at, sign, length);
}

static tsr_token lex_sign(const char *at, const char *end) {
  static const char *const longer[] = {"->", "::", "...", "{-#", "#-}"};
  for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
    if (starts_with(at, end, longer[i]))
      return (tsr_token){TSR_TOKEN_SIGN, at, at + strlen(longer[i])};
  const bool known = *at && strchr("(){}[]<>,:=?*+-|/", *at);
  return (tsr_token){known ? TSR_TOKEN_SIGN : TSR_TOKEN_WRONG, at, at + 1};
}

static tsr_token lex(const char *at, const char *end) {
  at = skip_blanks(at, end);
  if (at == end) return (tsr_token){TSR_TOKEN_END, at, at};
  if (is_word_start(*at)) return (tsr_token){TSR_TOKEN_WORD, at, run(at, end, is_word)};
  if (is_digit(*at)) return lex_number(at, end);
  switch (*at) {
    case '"':
      return lex_string(at, end, TSR_TOKEN_STRING, at);
    case '@':
      return lex_symbol(at, end);
    case '%':
      return lex_prefixed(at, end, TSR_TOKEN_VALUE);
    case '^':
      return lex_prefixed(at, end, TSR_TOKEN_BLOCK);
    case '!':
      return lex_prefixed(at, end, TSR_TOKEN_BANG);
    case '#':
      if (starts_with(at, end, "#-}")) return lex_sign(at, end);
      return lex_prefixed(at, end, TSR_TOKEN_HASH);
    default:
      return lex_sign(at, end);
  }
}

// ---- the reader ----

void tsr_reader_init(tsr_reader *reader, tsr_ir *ir, const char *name, const char *text,
                     size_t length) {
  *reader = (tsr_reader){.ir = ir, .name = name, .start = text, .end = text + length};
  reader->line_start = text;
  reader->line = 1;
  tsr_reader_seek(reader, text);
}

void tsr_reader_deinit(tsr_reader *reader) {
  tsr_name_index_deinit(&reader->attr_aliases.index);
  tsr_name_index_deinit(&reader->type_aliases.index);
  free(reader->attr_aliases.aliases);
  free(reader->type_aliases.aliases);
  tsr_status_free(tsr_issues_take(&reader->issues));
  tsr_text_deinit(&reader->scratch);
}

void tsr_next(tsr_reader *reader) {
  reader->last_end = reader->token.end;
  reader->token = lex(reader->at, reader->end);
  reader->at = reader->token.end;
}

void tsr_reader_seek(tsr_reader *reader, const char *at) {
  reader->last_end = at;
  reader->token = lex(at, reader->end);
  reader->at = reader->token.end;
}

tsr_token tsr_peek_next(const tsr_reader *reader) { return lex(reader->at, reader->end); }
