// The tokens of MLIR text.
//
// One token is known at a time; the text itself is the only state, so a reader goes back by seeking
// to a place. Strings are found with memchr: the data of large constants stands in them.
#include <stdlib.h>
#include <string.h>

#include "syntax/reader.h"

// What a character may be part of.
enum { DIGIT = 1, HEX = 2, WORD_START = 4, WORD = 8, SUFFIX_START = 16, SUFFIX = 32 };
#define IN_NUMBER (DIGIT | HEX | WORD | SUFFIX)
#define IN_NAME (WORD_START | WORD | SUFFIX_START | SUFFIX)
#define TEN(class, a, b, c, d, e, f, g, h, i, j)                                             \
  [a] = class, [b] = class, [c] = class, [d] = class, [e] = class, [f] = class, [g] = class, \
  [h] = class, [i] = class, [j] = class
// A suffix follows %, ^, # and !.
static const uint8_t classes[256] = {
    TEN(IN_NUMBER, '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'),
    TEN(IN_NAME, 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'),
    TEN(IN_NAME, 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'),
    TEN(IN_NAME, 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P'),
    TEN(IN_NAME, 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z'),
    TEN(IN_NAME | HEX, 'a', 'b', 'c', 'd', 'e', 'A', 'B', 'C', 'D', 'E'),
    ['f'] = IN_NAME | HEX,
    ['F'] = IN_NAME | HEX,
    ['_'] = IN_NAME,
    ['$'] = WORD | SUFFIX_START | SUFFIX,
    ['.'] = WORD | SUFFIX_START | SUFFIX,
    ['-'] = SUFFIX_START | SUFFIX};
#undef TEN

static bool is(char c, int class) { return classes[(unsigned char)c] & class; }

// The end of the characters from `at` on that are of a class.
static const char *run(const char *at, const char *end, int class) {
  while (at < end && is(*at, class)) at++;
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
  if (at + 1 < end && is(at[1], WORD_START))
    return (tsr_token){TSR_TOKEN_SYMBOL, at, run(at + 1, end, WORD)};
  return (tsr_token){TSR_TOKEN_WRONG, at, at + 1};
}

static tsr_token lex_prefixed(const char *at, const char *end, tsr_token_kind kind) {
  if (at + 1 < end && is(at[1], DIGIT)) return (tsr_token){kind, at, run(at + 1, end, DIGIT)};
  if (at + 1 < end && is(at[1], SUFFIX_START))
    return (tsr_token){kind, at, run(at + 1, end, SUFFIX)};
  return (tsr_token){TSR_TOKEN_WRONG, at, at + 1};
}

static tsr_token lex_number(const char *at, const char *end) {
  if (end - at > 2 && at[0] == '0' && at[1] == 'x' && is(at[2], HEX))
    return (tsr_token){TSR_TOKEN_INTEGER, at, run(at + 2, end, HEX)};
  const char *stop = run(at, end, DIGIT);
  if (stop == end || *stop != '.') return (tsr_token){TSR_TOKEN_INTEGER, at, stop};
  stop = run(stop + 1, end, DIGIT);
  if (stop < end && (*stop == 'e' || *stop == 'E')) {
    const char *digits = stop + 1;
    if (digits < end && (*digits == '+' || *digits == '-')) digits++;
    if (digits < end && is(*digits, DIGIT)) stop = run(digits, end, DIGIT);
  }
  return (tsr_token){TSR_TOKEN_FLOAT, at, stop};
}

static bool starts_with(const char *at, const char *end, const char *sign) {
  const size_t length = strlen(sign);
  return (size_t)(end - at) >= length && !memcmp(at, sign, length);
}

// How long the sign at `at` is; 0 = there is no such sign.
static int sign_length(const char *at, const char *end) {
  switch (*at) {
    case '(':
    case ')':
    case '}':
    case '[':
    case ']':
    case '<':
    case '>':
    case ',':
    case '=':
    case '?':
    case '*':
    case '+':
    case '|':
    case '/':
      return 1;
    case '-':
      return starts_with(at, end, "->") ? 2 : 1;
    case ':':
      return starts_with(at, end, "::") ? 2 : 1;
    case '{':
      return starts_with(at, end, "{-#") ? 3 : 1;
    case '#':
      return starts_with(at, end, "#-}") ? 3 : 0;
    case '.':
      return starts_with(at, end, "...") ? 3 : 0;
    default:
      return 0;
  }
}

static tsr_token lex_sign(const char *at, const char *end) {
  const int length = sign_length(at, end);
  return (tsr_token){length ? TSR_TOKEN_SIGN : TSR_TOKEN_WRONG, at, at + (length ? length : 1)};
}

static tsr_token lex(const char *at, const char *end) {
  at = skip_blanks(at, end);
  if (at == end) return (tsr_token){TSR_TOKEN_END, at, at};
  if (is(*at, WORD_START)) return (tsr_token){TSR_TOKEN_WORD, at, run(at, end, WORD)};
  if (is(*at, DIGIT)) return lex_number(at, end);
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
