// The grammar: sequences, alternatives, groups and repetition, as Python 3.11 reads them. Each
// piece is written for PCRE2 while it is read, and its width and byte pairs are computed.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "base/utf8.h"
#include "regex/regex_syntax.h"

enum {
  MOST_DEPTH = 100,    // of groups within groups; PCRE2 allows 250
  MOST_GROUPS = 32767  // PCRE2 numbers them with 16 bits
};

#define WIDEST UINT64_MAX  // a width without end

typedef struct width {
  uint64_t min, max;
} width;

typedef struct pattern_group {
  const char *name;  // NULL = none
  size_t name_length;
  width width;
  bool closed;
} pattern_group;

typedef struct pattern_parser {
  tsr_regex_reader in;
  pattern_group *groups;  // [0] is not used
  int group_count;
  int64_t group_capacity;
  int depth;
  int outside_lookbehind;  // groups opened before the current lookbehind; -1 = in none
  const char *far_place;   // a condition on a group that has not been opened yet
  int far_group;
  unsigned flags;  // in force here
  unsigned global_flags;
  bool captures;
} pattern_parser;

// What is known about a piece of the pattern.
typedef enum piece_kind { PIECE_NONE, PIECE_ANCHOR, PIECE_REPEAT, PIECE_ITEM } piece_kind;
typedef struct pattern_piece {
  width width;
  tsr_byte_pairs pairs;  // in every match
  int first, last;       // bytes that every match begins and ends with; ANY_BYTE = they vary
  size_t start;          // of its text for PCRE2
} pattern_piece;

enum { ANY_BYTE = -1 };

static tsr_status parse_alternatives(pattern_parser *p, bool top, pattern_piece *out);

// ---- widths ----

static uint64_t add_width(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? WIDEST : sum;
}

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? WIDEST : product;
}

static void widen(width *sum, width more) {
  sum->min = add_width(sum->min, more.min);
  sum->max = add_width(sum->max, more.max);
}

static width either(width a, width b) {
  return (width){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static width repeated(width one, uint64_t min, uint64_t max) {
  return (width){times(one.min, min),
                 max == TSR_REGEX_ENDLESS && one.max ? WIDEST : times(one.max, max)};
}

// ---- bytes ----

static pattern_piece piece_of_width(uint64_t n) {
  return (pattern_piece){.width = {n, n}, .first = ANY_BYTE, .last = ANY_BYTE};
}

static pattern_piece piece_of_character(uint32_t c) {
  char bytes[4];
  const size_t length = tsr_utf8_encode(c, bytes);
  return (pattern_piece){.width = {1, 1},
                         .pairs = tsr_byte_pairs_of(bytes, length),
                         .first = (unsigned char)bytes[0],
                         .last = (unsigned char)bytes[length - 1]};
}

// Only the pairs still hold: the piece may match nothing, or only looks at the text.
static void clear_ends(pattern_piece *one) { one->first = one->last = ANY_BYTE; }

static void clear_bytes(pattern_piece *one) {
  one->pairs = (tsr_byte_pairs){{0}};
  clear_ends(one);
}

static void join_alternative(pattern_piece *one, const pattern_piece *other) {
  one->width = either(one->width, other->width);
  for (int i = 0; i < TSR_PAIR_WORDS; i++) one->pairs.words[i] &= other->pairs.words[i];
  if (one->first != other->first) one->first = ANY_BYTE;
  if (one->last != other->last) one->last = ANY_BYTE;
}

static void append(pattern_piece *sequence, const pattern_piece *next, bool is_first) {
  widen(&sequence->width, next->width);
  for (int i = 0; i < TSR_PAIR_WORDS; i++) sequence->pairs.words[i] |= next->pairs.words[i];
  if (sequence->last != ANY_BYTE && next->first != ANY_BYTE)
    tsr_byte_pairs_add(&sequence->pairs, (unsigned char)sequence->last, (unsigned char)next->first);
  if (is_first) sequence->first = next->first;
  sequence->last = next->last;
}

// ---- groups ----

static int find_group(const pattern_parser *p, const char *name, size_t length) {
  for (int i = 1; i < p->group_count; i++)
    if (p->groups[i].name && p->groups[i].name_length == length &&
        !memcmp(p->groups[i].name, name, length))
      return i;
  return 0;
}

static tsr_status open_group(pattern_parser *p, const char *at, const char *name, size_t length) {
  const int same = name ? find_group(p, name, length) : 0;
  if (same)
    return tsr_regex_fail(&p->in, at, "a second group called %.*s; the first is group %d",
                          (int)length, name, same);
  if (p->group_count > MOST_GROUPS)
    return tsr_regex_unsupported(&p->in, at, "more than %d groups", MOST_GROUPS);
  pattern_group *groups = tsr_grow(p->groups, p->group_count, &p->group_capacity, sizeof *groups);
  if (!groups) return tsr_fail(NO_MEMORY, "%d groups of a pattern", p->group_count);
  p->groups = groups;
  p->groups[p->group_count++] = (pattern_group){.name = name, .name_length = length};
  return NULL;
}

static tsr_status check_closed(const pattern_parser *p, const char *at, int number) {
  if (number < p->group_count && p->groups[number].closed) return NULL;
  return tsr_regex_fail(&p->in, at, "a reference to group %d, which is still open", number);
}

// A lookbehind must not refer to its own groups.
static tsr_status check_lookbehind(const pattern_parser *p, const char *at, int number) {
  if (p->outside_lookbehind < 0) return NULL;
  TSR_TRY(check_closed(p, at, number));
  if (number < p->outside_lookbehind) return NULL;
  return tsr_regex_fail(&p->in, at, "a reference to group %d of the same lookbehind", number);
}

static tsr_status write_reference(pattern_parser *p, const char *at, int number,
                                  pattern_piece *out) {
  TSR_TRY(check_closed(p, at, number));
  TSR_TRY(check_lookbehind(p, at, number));
  // In ASCII mode, letters that ignore case are written as sets, which a reference cannot be.
  const bool spelt = p->flags & TSR_REGEX_IGNORE_CASE && p->flags & TSR_REGEX_ASCII;
  tsr_text_addf(p->in.out, spelt ? "(?i:\\g{%d})" : "\\g{%d}", number);
  p->captures = true;
  *out = piece_of_width(0);
  out->width = p->groups[number].width;
  return NULL;
}

static bool is_name_start(unsigned char c) {
  return c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(const char *name, size_t length) {
  if (!length || !is_name_start((unsigned char)*name)) return false;
  for (size_t i = 1; i < length; i++)
    if (!is_name_start((unsigned char)name[i]) && !(name[i] >= '0' && name[i] <= '9')) return false;
  return true;
}

// The text up to `end`, which is consumed.
static tsr_status read_name(pattern_parser *p, char end, const char **out_name,
                            size_t *out_length) {
  const char *name = p->in.at;
  for (;;) {
    const tsr_regex_token token = tsr_regex_get(&p->in);
    if (token.c == TSR_REGEX_END)
      return tsr_regex_fail(&p->in, name, "missing %c after a group's name", end);
    if (token.c == (uint32_t)end && !token.escaped) break;
  }
  *out_name = name;
  *out_length = (size_t)(p->in.at - 1 - name);
  return *out_length ? NULL : tsr_regex_fail(&p->in, name, "missing group name");
}

static tsr_status read_identifier(pattern_parser *p, char end, const char **out_name,
                                  size_t *out_length) {
  TSR_TRY(read_name(p, end, out_name, out_length));
  if (is_name(*out_name, *out_length)) return NULL;
  return tsr_regex_fail(&p->in, *out_name, "a group's name must be a word, not %.*s",
                        (int)*out_length, *out_name);
}

// The rest of a group: its alternatives and the closing parenthesis. `at` is where it began.
static tsr_status parse_inside(pattern_parser *p, const char *at, pattern_piece *out) {
  if (++p->depth > MOST_DEPTH)
    return tsr_regex_unsupported(&p->in, at, "groups more than %d deep", MOST_DEPTH);
  TSR_TRY(parse_alternatives(p, false, out));
  p->depth--;
  if (!tsr_regex_take(&p->in, ')'))
    return tsr_regex_fail(&p->in, at, "missing ), unterminated group");
  tsr_text_add_char(p->in.out, ')');
  return NULL;
}

static tsr_status parse_capture(pattern_parser *p, const char *at, const char *name, size_t length,
                                pattern_piece *out) {
  const int number = p->group_count;
  TSR_TRY(open_group(p, at, name, length));
  tsr_text_add_char(p->in.out, '(');
  TSR_TRY(parse_inside(p, at, out));
  p->groups[number].width = out->width;
  p->groups[number].closed = true;
  return NULL;
}

static tsr_status parse_python_extension(pattern_parser *p, const char *at, pattern_piece *out) {
  const char *name = NULL;
  size_t length = 0;
  if (tsr_regex_take(&p->in, '<')) {
    TSR_TRY(read_identifier(p, '>', &name, &length));
    return parse_capture(p, at, name, length, out);
  }
  if (!tsr_regex_take(&p->in, '=')) return tsr_regex_fail(&p->in, at, "unknown extension (?P");
  TSR_TRY(read_identifier(p, ')', &name, &length));
  const int number = find_group(p, name, length);
  if (!number) return tsr_regex_fail(&p->in, name, "no group is called %.*s", (int)length, name);
  return write_reference(p, name, number, out);
}

static tsr_status parse_look(pattern_parser *p, const char *at, pattern_piece *out) {
  const bool behind = tsr_regex_take(&p->in, '<');
  const bool positive = *p->in.at == '=';
  if (!positive && *p->in.at != '!')
    return tsr_regex_fail(&p->in, at, "unknown extension (?<; a named group is (?P<name>...)");
  p->in.at++;
  const int outside = p->outside_lookbehind;
  if (behind && outside < 0) p->outside_lookbehind = p->group_count;
  tsr_text_addf(p->in.out, "(?%s%c", behind ? "<" : "", positive ? '=' : '!');
  TSR_TRY(parse_inside(p, at, out));
  p->outside_lookbehind = outside;
  if (behind && out->width.min != out->width.max)
    return tsr_regex_fail(&p->in, at, "a lookbehind must have one fixed width");
  out->width = (width){0, 0};
  if (positive)
    clear_ends(out);
  else
    clear_bytes(out);
  return NULL;
}

// The group of a condition: a name, or a number of a group that may come later.
static tsr_status read_condition(pattern_parser *p, int *out_number) {
  const char *name = NULL;
  size_t length = 0;
  TSR_TRY(read_name(p, ')', &name, &length));
  if (is_name(name, length)) {
    *out_number = find_group(p, name, length);
    if (!*out_number)
      return tsr_regex_fail(&p->in, name, "no group is called %.*s", (int)length, name);
    return check_lookbehind(p, name, *out_number);
  }
  int64_t number = 0;
  for (size_t i = 0; i < length; i++) {
    if (name[i] < '0' || name[i] > '9')
      return tsr_regex_fail(&p->in, name, "a condition needs a group's name or number");
    number = number > MOST_GROUPS ? number : number * 10 + (name[i] - '0');
  }
  if (number == 0) return tsr_regex_fail(&p->in, name, "bad group number");
  if (number > MOST_GROUPS) return tsr_regex_fail(&p->in, name, "there is no such group");
  if (number >= p->group_count && number > p->far_group) {
    p->far_group = (int)number;
    p->far_place = name;
  }
  *out_number = (int)number;
  return check_lookbehind(p, name, *out_number);
}

static tsr_status parse_sequence(pattern_parser *p, bool first, pattern_piece *out);

static tsr_status parse_condition(pattern_parser *p, const char *at, pattern_piece *out) {
  int number = 0;
  pattern_piece otherwise = piece_of_width(0);
  TSR_TRY(read_condition(p, &number));
  p->captures = true;
  if (++p->depth > MOST_DEPTH)
    return tsr_regex_unsupported(&p->in, at, "groups more than %d deep", MOST_DEPTH);
  tsr_text_addf(p->in.out, "(?(%d)", number);
  TSR_TRY(parse_sequence(p, false, out));
  if (tsr_regex_take(&p->in, '|')) {
    tsr_text_add_char(p->in.out, '|');
    TSR_TRY(parse_sequence(p, false, &otherwise));
    if (*p->in.at == '|')
      return tsr_regex_fail(&p->in, p->in.at, "a condition with more than two branches");
  }
  p->depth--;
  if (!tsr_regex_take(&p->in, ')'))
    return tsr_regex_fail(&p->in, at, "missing ), unterminated group");
  tsr_text_add_char(p->in.out, ')');
  join_alternative(out, &otherwise);
  return NULL;
}

static tsr_status skip_comment(pattern_parser *p, const char *at) {
  for (;;) {
    const tsr_regex_token token = tsr_regex_get(&p->in);
    if (token.c == TSR_REGEX_END)
      return tsr_regex_fail(&p->in, at, "missing ), unterminated comment");
    if (token.c == ')' && !token.escaped) return NULL;
  }
}

// ---- flags ----

static tsr_status set_global_flags(pattern_parser *p, const char *at, unsigned on, bool first) {
  if (!first) return tsr_regex_fail(&p->in, at, "global flags must be at the start of the pattern");
  p->global_flags |= on;
  if (p->global_flags & TSR_REGEX_ASCII && p->global_flags & TSR_REGEX_UNICODE)
    return tsr_regex_fail(&p->in, at, "flags a and u exclude each other");
  p->flags = tsr_regex_apply_flags(p->flags, on, 0);
  return NULL;
}

// (?i) for all that follows, or (?i-s:...) for a group. `*out_kind` says which it was.
static tsr_status parse_flags(pattern_parser *p, const char *at, bool first, pattern_piece *out,
                              piece_kind *out_kind) {
  unsigned on = 0, off = 0;
  bool global = false;
  TSR_TRY(tsr_regex_read_flags(&p->in, at, &on, &off, &global));
  if (global) {
    *out_kind = PIECE_NONE;
    return set_global_flags(p, at, on, first);
  }
  const unsigned outer = p->flags;
  p->flags = tsr_regex_apply_flags(outer, on, off);
  tsr_regex_write_scope(p->in.out, outer, p->flags);
  TSR_TRY(parse_inside(p, at, out));
  p->flags = outer;
  return NULL;
}

// ---- groups by their first letters ----

static tsr_status parse_extension(pattern_parser *p, const char *at, bool first, pattern_piece *out,
                                  piece_kind *out_kind) {
  const char c = *p->in.at;
  switch (c) {
    case '\0':
      return tsr_regex_fail(&p->in, p->in.at, "unexpected end of the pattern");
    case 'P':
      p->in.at++;
      return parse_python_extension(p, at, out);
    case ':':
    case '>':
      p->in.at++;
      tsr_text_addf(p->in.out, "(?%c", c);
      return parse_inside(p, at, out);
    case '#':
      p->in.at++;
      *out_kind = PIECE_NONE;
      return skip_comment(p, at);
    case '=':
    case '!':
    case '<':
      return parse_look(p, at, out);
    case '(':
      p->in.at++;
      return parse_condition(p, at, out);
    default:
      break;
  }
  if (strchr("imsxauLt-", c)) return parse_flags(p, at, first, out, out_kind);
  return tsr_regex_fail(&p->in, at, "unknown extension (?%.*s",
                        (int)tsr_utf8_length(p->in.at, strlen(p->in.at)), p->in.at);
}

static tsr_status parse_group(pattern_parser *p, const char *at, bool first, pattern_piece *out,
                              piece_kind *out_kind) {
  if (tsr_regex_take(&p->in, '?')) return parse_extension(p, at, first, out, out_kind);
  return parse_capture(p, at, NULL, 0, out);
}

// ---- escapes and plain characters ----

static tsr_status write_character(pattern_parser *p, uint32_t c, pattern_piece *out) {
  tsr_regex_write_literal(p->in.out, c, p->flags);
  // Without case only characters that have no case have known bytes.
  const bool cased = c >= 128 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  *out = p->flags & TSR_REGEX_IGNORE_CASE && cased ? piece_of_width(1) : piece_of_character(c);
  return NULL;
}

static tsr_status write_anchor(pattern_parser *p, const char *text, piece_kind *out_kind) {
  tsr_text_add(p->in.out, text);
  *out_kind = PIECE_ANCHOR;
  return NULL;
}

static bool digit_follows(const pattern_parser *p, char most) {
  return *p->in.at >= '0' && *p->in.at <= most;
}

// \1 to \99 refer to groups, unless three octal digits make a character.
static tsr_status parse_number(pattern_parser *p, const char *at, uint32_t first,
                               pattern_piece *out) {
  const char *digits = p->in.at - 1;
  int number = (int)(first - '0');
  if (digit_follows(p, '9')) {
    number = number * 10 + (*p->in.at++ - '0');
    if (digits[0] <= '7' && digits[1] <= '7' && digit_follows(p, '7')) {
      const int octal = (digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (*p->in.at++ - '0');
      if (octal > 0377) return tsr_regex_fail(&p->in, at, "an octal escape above \\377");
      return write_character(p, (uint32_t)octal, out);
    }
  }
  if (number >= p->group_count)
    return tsr_regex_fail(&p->in, at, "there is no group %d before this", number);
  return write_reference(p, at, number, out);
}

static tsr_status parse_escape(pattern_parser *p, const char *at, uint32_t c, pattern_piece *out,
                               piece_kind *out_kind) {
  if (c == 'A') return write_anchor(p, "\\A", out_kind);
  if (c == 'Z') return write_anchor(p, "\\z", out_kind);
  if (c == 'b' || c == 'B') {
    tsr_regex_write_boundary(p->in.out, c == 'B', p->flags);
    *out_kind = PIECE_ANCHOR;
    return NULL;
  }
  if (tsr_regex_is_category(c)) {
    tsr_regex_write_category(p->in.out, c, p->flags);
    *out = piece_of_width(1);
    return NULL;
  }
  if (c >= '1' && c <= '9') return parse_number(p, at, c, out);
  uint32_t character = 0;
  TSR_TRY(tsr_regex_escape(&p->in, at, c, &character));
  return write_character(p, character, out);
}

static tsr_status parse_set(pattern_parser *p, pattern_piece *out) {
  uint32_t literal = TSR_REGEX_END;
  TSR_TRY(tsr_regex_write_set(&p->in, p->flags, &literal));
  const bool varies = literal == TSR_REGEX_END || p->flags & TSR_REGEX_IGNORE_CASE;
  *out = varies ? piece_of_width(1) : piece_of_character(literal);
  return NULL;
}

// ---- repetition ----

// Encloses the text from `start` on in a group with this opening of 3 characters.
static void enclose(tsr_text *out, size_t start, const char *opening) {
  const size_t length = out->length - start;
  tsr_text_addf(out, "%s)", opening);
  if (out->failed) return;
  memmove(out->data + start + 3, out->data + start, length);
  memcpy(out->data + start, opening, 3);
  out->data[out->length - 1] = ')';
}

// Python (3.11) never backtracks into a round of (x)*+, not even for the next round. So every round
// is an atomic group, which also makes PCRE2's JIT (10.42) restore the captures of (x) when the
// match backtracks before all rounds. In (x|^y){0}, PCRE2 takes the anchor for one of the whole
// pattern unless the alternatives are one group.
static void enclose_rounds(const pattern_parser *p, size_t start, uint64_t max) {
  const bool possessive = *p->in.at == '+';
  if (tsr_text_string(p->in.out)[start] != '(') return;
  if (possessive)
    enclose(p->in.out, start, "(?>");
  else if (max == 0)
    enclose(p->in.out, start, "(?:");
}

static tsr_status repeat_piece(pattern_parser *p, const char *at, piece_kind last, uint64_t min,
                               uint64_t max, pattern_piece *item) {
  if (last == PIECE_NONE || last == PIECE_ANCHOR)
    return tsr_regex_fail(&p->in, at, "nothing to repeat");
  if (last == PIECE_REPEAT) return tsr_regex_fail(&p->in, at, "multiple repeat");
  enclose_rounds(p, item->start, max);
  tsr_regex_write_repeat(&p->in, min, max);
  item->width = repeated(item->width, min, max);
  if (min == 0) clear_bytes(item);
  return NULL;
}

// ---- sequences ----

// White space and comments between the pieces of a verbose pattern.
static bool skip_verbose(pattern_parser *p, tsr_regex_token token) {
  if (!(p->flags & TSR_REGEX_VERBOSE) || token.escaped) return false;
  if (token.c < 128 && token.c && strchr(" \t\n\r\v\f", (int)token.c)) return true;
  if (token.c != '#') return false;
  do {
    token = tsr_regex_get(&p->in);
  } while (token.c != TSR_REGEX_END && (token.c != '\n' || token.escaped));
  return true;
}

static tsr_status parse_piece(pattern_parser *p, const char *at, tsr_regex_token token, bool first,
                              pattern_piece *out, piece_kind *out_kind) {
  *out_kind = PIECE_ITEM;
  *out = piece_of_width(0);
  if (token.escaped) return parse_escape(p, at, token.c, out, out_kind);
  switch (token.c) {
    case '[':
      return parse_set(p, out);
    case '(':
      return parse_group(p, at, first, out, out_kind);
    case '.':
      *out = piece_of_width(1);
      tsr_text_add_char(p->in.out, '.');
      return NULL;
    case '^':
      return write_anchor(p, "^", out_kind);
    case '$':
      return write_anchor(p, "$", out_kind);
    default:
      return write_character(p, token.c, out);
  }
}

// A sequence under construction. The last piece waits for a quantifier.
typedef struct sequence {
  pattern_piece whole;  // of the pieces before `last`
  bool begun;           // `whole` has a piece that is no anchor
  pattern_piece last;
  piece_kind kind;  // of `last`; PIECE_NONE = there is none yet
} sequence;

// Anchors have no width, so the pieces around them are neighbours.
static void settle(sequence *s) {
  if (s->kind == PIECE_NONE || s->kind == PIECE_ANCHOR) return;
  append(&s->whole, &s->last, !s->begun);
  s->begun = true;
}

static tsr_status parse_next(pattern_parser *p, sequence *s, const char *at, tsr_regex_token token,
                             bool first) {
  const bool quantifier =
      !token.escaped && token.c < 128 && token.c && strchr("*+?{", (int)token.c);
  if (quantifier) {
    uint64_t min = 0, max = 0;
    bool is = false;
    TSR_TRY(tsr_regex_read_repeat(&p->in, at, token.c, &min, &max, &is));
    if (is) {
      TSR_TRY(repeat_piece(p, at, s->kind, min, max, &s->last));
      s->kind = PIECE_REPEAT;
      return NULL;
    }
  }
  const size_t start = p->in.out->length;
  pattern_piece next;
  piece_kind kind = PIECE_NONE;
  TSR_TRY(parse_piece(p, at, token, first && s->kind == PIECE_NONE, &next, &kind));
  if (kind == PIECE_NONE) return NULL;
  next.start = start;
  settle(s);
  s->last = next;
  s->kind = kind;
  return NULL;
}

static tsr_status parse_sequence(pattern_parser *p, bool first, pattern_piece *out) {
  sequence s = {.whole = piece_of_width(0), .kind = PIECE_NONE};
  for (;;) {
    const char *at = p->in.at;
    if (!*at || *at == '|' || *at == ')') break;
    const tsr_regex_token token = tsr_regex_get(&p->in);
    if (skip_verbose(p, token)) continue;
    TSR_TRY(parse_next(p, &s, at, token, first));
  }
  settle(&s);
  *out = s.whole;
  return NULL;
}

// `top`: the whole pattern, which may begin with global flags.
static tsr_status parse_alternatives(pattern_parser *p, bool top, pattern_piece *out) {
  TSR_TRY(parse_sequence(p, top, out));
  while (tsr_regex_take(&p->in, '|')) {
    pattern_piece next;
    tsr_text_add_char(p->in.out, '|');
    TSR_TRY(parse_sequence(p, false, &next));
    join_alternative(out, &next);
  }
  return NULL;
}

static tsr_status parse_pattern(pattern_parser *p, pattern_piece *out) {
  TSR_TRY(tsr_regex_check_text(&p->in));
  TSR_TRY(open_group(p, p->in.start, NULL, 0));  // number 0, the whole
  TSR_TRY(parse_alternatives(p, true, out));
  if (*p->in.at) return tsr_regex_fail(&p->in, p->in.at, "unbalanced parenthesis");
  if (p->far_group >= p->group_count)
    return tsr_regex_fail(&p->in, p->far_place, "there is no group %d", p->far_group);
  return tsr_text_check(p->in.out);
}

tsr_status tsr_regex_translate(const char *pattern, tsr_regex_text *out) {
  *out = (tsr_regex_text){.pattern = TSR_TEXT_EMPTY};
  pattern_parser p = {.in = {pattern, pattern, &out->pattern}, .outside_lookbehind = -1};
  pattern_piece whole;
  tsr_status status = parse_pattern(&p, &whole);
  free(p.groups);
  if (status) return status;
  out->caseless = tsr_regex_is_caseless(p.flags);
  out->multiline = p.flags & TSR_REGEX_MULTILINE;
  out->dotall = p.flags & TSR_REGEX_DOTALL;
  out->captures = p.captures;
  out->pairs = whole.pairs;
  return NULL;
}
