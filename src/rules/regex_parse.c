// The grammar: sequences, alternatives, groups and repetition, as Python 3.11 reads them.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "rules/regex_syntax.h"

enum {
  MOST_DEPTH = 100,     // of groups within groups; PCRE2 allows 250
  MOST_GROUPS = 32767,  // PCRE2 numbers them with 16 bits
  MOST_REPEATS = 65535  // of PCRE2; Python goes on to 2^32 - 1
};

// Python's largest width and repetition.
#define WIDEST UINT64_MAX
#define ENDLESS UINT64_C(4294967295)

typedef struct width {
  uint64_t min, max;
} width;

typedef struct group {
  const char *name;  // NULL = none
  size_t name_length;
  width width;
  bool closed;
} group;

typedef struct parser {
  tsr_regex_reader in;
  tsr_arena *arena;
  group *groups;  // [0] is not used
  int group_count, group_capacity;
  int depth;
  int outside_lookbehind;  // groups opened before the lookbehind we are in; -1 = in none
  const char *far_place;   // a condition on a group that has not been seen yet
  int far_group;
  tsr_regex_flags flags;  // those that hold here
  bool ascii_said, unicode_said;
  bool captures;
} parser;

// What was learnt about a piece of the pattern.
typedef enum piece_kind { PIECE_NONE, PIECE_ANCHOR, PIECE_REPEAT, PIECE_ITEM } piece_kind;
typedef struct piece {
  width width;
  tsr_needs needs;
} piece;

static tsr_status parse_alternatives(parser *p, bool top, piece *out);

// ---- the reader ----

static uint32_t decode(const char **at) {
  const unsigned char *bytes = (const unsigned char *)*at;
  if (!*bytes) return TSR_REGEX_END;
  const size_t length = tsr_utf8_length(*at, strlen(*at) < 4 ? strlen(*at) : 4);
  *at += length;
  if (length == 1) return bytes[0];
  uint32_t c = bytes[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) c = c << 6 | (bytes[i] & 0x3f);
  return c;
}

// The pattern is known to be UTF-8 and not to end inside an escape.
tsr_regex_token tsr_regex_get(tsr_regex_reader *in) {
  tsr_regex_token token = {decode(&in->at), false};
  if (token.c == '\\') token = (tsr_regex_token){decode(&in->at), true};
  return token;
}

tsr_regex_token tsr_regex_peek(const tsr_regex_reader *in) {
  tsr_regex_reader ahead = *in;
  return tsr_regex_get(&ahead);
}

bool tsr_regex_take(tsr_regex_reader *in, char c) {
  if (*in->at != c) return false;
  in->at++;
  return true;
}

static int column_of(const char *start, const char *at) {
  int column = 1;
  for (; start < at; start++) column += ((unsigned char)*start & 0xC0) != 0x80;
  return column;
}

tsr_status tsr_regex_fail_at(const tsr_regex_reader *in, tsr_cause cause, const char *at,
                             const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *words = NULL;
  if (vasprintf(&words, format, args) < 0) words = NULL;
  va_end(args);
  tsr_status status = words
                          ? tsr_fail_at(cause, file, line, "at column %d of the pattern \"%s\": %s",
                                        column_of(in->start, at), in->start, words)
                          : tsr_fail(NO_MEMORY, "a message");
  free(words);
  return status;
}

static tsr_status check_text(parser *p) {
  const char *at = p->in.start;
  size_t left = strlen(at);
  while (left) {
    const size_t length = tsr_utf8_length(at, left);
    if (!length)
      return tsr_fail(BAD_REGEX, "a pattern that is not UTF-8, at byte %zu",
                      (size_t)(at - p->in.start));
    at += length;
    left -= length;
  }
  // A backslash at the very end escapes nothing.
  for (at = p->in.start; *at; at++) {
    if (*at != '\\') continue;
    if (!at[1]) return tsr_regex_fail(&p->in, at, "bad escape at the end");
    at++;
  }
  return NULL;
}

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
  return (width){times(one.min, min), max == ENDLESS && one.max ? WIDEST : times(one.max, max)};
}

// ---- groups ----

static tsr_status open_group(parser *p, const char *at, const char *name, size_t length) {
  for (int i = 1; name && i < p->group_count; i++)
    if (p->groups[i].name && p->groups[i].name_length == length &&
        !memcmp(p->groups[i].name, name, length))
      return tsr_regex_fail(&p->in, at, "a second group called %.*s; the first is group %d",
                            (int)length, name, i);
  if (p->group_count > MOST_GROUPS)
    return tsr_regex_unsupported(&p->in, at, "more than %d groups", MOST_GROUPS);
  if (p->group_count == p->group_capacity) {
    const int capacity = p->group_capacity ? p->group_capacity * 2 : 8;
    group *grown = realloc(p->groups, (size_t)capacity * sizeof *grown);
    if (!grown) return tsr_fail(NO_MEMORY, "%d groups of a pattern", capacity);
    p->groups = grown;
    p->group_capacity = capacity;
  }
  p->groups[p->group_count++] = (group){.name = name, .name_length = length};
  return NULL;
}

static int find_group(const parser *p, const char *name, size_t length) {
  for (int i = 1; i < p->group_count; i++)
    if (p->groups[i].name && p->groups[i].name_length == length &&
        !memcmp(p->groups[i].name, name, length))
      return i;
  return 0;
}

static tsr_status check_closed(const parser *p, const char *at, int number) {
  if (number < p->group_count && p->groups[number].closed) return NULL;
  return tsr_regex_fail(&p->in, at, "a reference to group %d, which is still open", number);
}

// What is looked at backwards must not depend on what the same lookbehind captures.
static tsr_status check_lookbehind(const parser *p, const char *at, int number) {
  if (p->outside_lookbehind < 0) return NULL;
  TSR_TRY(check_closed(p, at, number));
  if (number < p->outside_lookbehind) return NULL;
  return tsr_regex_fail(&p->in, at, "a reference to group %d of the same lookbehind", number);
}

static tsr_status write_reference(parser *p, const char *at, int number, piece *out) {
  TSR_TRY(check_closed(p, at, number));
  TSR_TRY(check_lookbehind(p, at, number));
  tsr_text_addf(p->in.out, "\\g{%d}", number);
  p->captures = true;
  *out = (piece){.width = p->groups[number].width};
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

// The text up to `end`, which is taken too.
static tsr_status read_name(parser *p, char end, const char **out_name, size_t *out_length) {
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

static tsr_status read_identifier(parser *p, char end, const char **out_name, size_t *out_length) {
  TSR_TRY(read_name(p, end, out_name, out_length));
  if (is_name(*out_name, *out_length)) return NULL;
  return tsr_regex_fail(&p->in, *out_name, "a group's name must be a word, not %.*s",
                        (int)*out_length, *out_name);
}

// The rest of a group: its alternatives and the closing parenthesis. `at` is where it began.
static tsr_status parse_inside(parser *p, const char *at, piece *out) {
  if (++p->depth > MOST_DEPTH)
    return tsr_regex_unsupported(&p->in, at, "groups more than %d deep", MOST_DEPTH);
  TSR_TRY(parse_alternatives(p, false, out));
  p->depth--;
  if (!tsr_regex_take(&p->in, ')'))
    return tsr_regex_fail(&p->in, at, "missing ), unterminated group");
  tsr_text_add_char(p->in.out, ')');
  return NULL;
}

static tsr_status parse_capture(parser *p, const char *at, const char *name, size_t length,
                                piece *out) {
  const int number = p->group_count;
  TSR_TRY(open_group(p, at, name, length));
  tsr_text_add_char(p->in.out, '(');
  TSR_TRY(parse_inside(p, at, out));
  p->groups[number].width = out->width;
  p->groups[number].closed = true;
  return NULL;
}

static tsr_status parse_python_extension(parser *p, const char *at, piece *out) {
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

static tsr_status parse_look(parser *p, const char *at, piece *out) {
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
    tsr_needs_loosen(&out->needs);
  else
    out->needs = (tsr_needs){0};
  return NULL;
}

// The group a condition asks about: a name, or a number that may still come.
static tsr_status read_condition(parser *p, int *out_number) {
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
      return tsr_regex_fail(&p->in, name, "a condition wants a group's name or number");
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

static tsr_status parse_sequence(parser *p, bool first, piece *out);

static tsr_status parse_condition(parser *p, const char *at, piece *out) {
  int number = 0;
  piece otherwise = {{0, 0}, {0}};
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
  out->width = either(out->width, otherwise.width);
  tsr_needs_either(&out->needs, &otherwise.needs);
  return NULL;
}

static tsr_status skip_comment(parser *p, const char *at) {
  for (;;) {
    const tsr_regex_token token = tsr_regex_get(&p->in);
    if (token.c == TSR_REGEX_END)
      return tsr_regex_fail(&p->in, at, "missing ), unterminated comment");
    if (token.c == ')' && !token.escaped) return NULL;
  }
}

// ---- flags ----

// Flags as they are written: which letters were given before and after the minus.
typedef struct flag_letters {
  bool i, m, s, x, a, u;
} flag_letters;

static tsr_status set_flag(parser *p, const char *at, uint32_t c, flag_letters *letters) {
  switch (c) {
    case 'i':
      letters->i = true;
      return NULL;
    case 'm':
      letters->m = true;
      return NULL;
    case 's':
      letters->s = true;
      return NULL;
    case 'x':
      letters->x = true;
      return NULL;
    case 'a':
      letters->a = true;
      break;
    case 'u':
      letters->u = true;
      break;
    case 'L':
      return tsr_regex_fail(&p->in, at, "flag L, which is for patterns of bytes");
    case 't':
      return tsr_regex_unsupported(&p->in, at, "flag t, which Python is giving up");
    default:
      return tsr_regex_fail(&p->in, at, "unknown flag, wanted one of i m s x a u");
  }
  if (letters->a && letters->u)
    return tsr_regex_fail(&p->in, at, "flags a and u exclude each other");
  return NULL;
}

// Reads letters up to one of `ends`, which it takes and returns.
static tsr_status read_letters(parser *p, const char *ends, flag_letters *letters, char *out_end) {
  for (;;) {
    const char *at = p->in.at;
    const tsr_regex_token token = tsr_regex_get(&p->in);
    if (token.c == TSR_REGEX_END) return tsr_regex_fail(&p->in, at, "unterminated flags");
    if (!token.escaped && token.c < 128 && token.c && strchr(ends, (int)token.c)) {
      *out_end = (char)token.c;
      return NULL;
    }
    TSR_TRY(set_flag(p, at, token.escaped ? 0 : token.c, letters));
  }
}

static tsr_status check_letters(parser *p, const char *at, const flag_letters *on,
                                const flag_letters *off) {
  if (off->a || off->u) return tsr_regex_fail(&p->in, at, "flags a and u cannot be turned off");
  if ((on->i && off->i) || (on->m && off->m) || (on->s && off->s) || (on->x && off->x))
    return tsr_regex_fail(&p->in, at, "a flag turned on and off at once");
  return NULL;
}

static void apply_letters(tsr_regex_flags *flags, const flag_letters *on, const flag_letters *off) {
  flags->ignore_case = (flags->ignore_case || on->i) && !off->i;
  flags->multiline = (flags->multiline || on->m) && !off->m;
  flags->dotall = (flags->dotall || on->s) && !off->s;
  flags->verbose = (flags->verbose || on->x) && !off->x;
  flags->ascii = (flags->ascii || on->a) && !on->u;
}

static bool is_caseless(const tsr_regex_flags *flags) {
  return flags->ignore_case && !flags->ascii;  // in ASCII mode both letters are written
}

// Opens a group under which PCRE2's flags are as `to` says.
static void write_scope(tsr_text *out, const tsr_regex_flags *from, const tsr_regex_flags *to) {
  const bool before[] = {is_caseless(from), from->multiline, from->dotall};
  const bool after[] = {is_caseless(to), to->multiline, to->dotall};
  tsr_text_add(out, "(?");
  for (int i = 0; i < 3; i++)
    if (after[i] && !before[i]) tsr_text_add_char(out, "ims"[i]);
  bool minus = false;
  for (int i = 0; i < 3; i++) {
    if (!before[i] || after[i]) continue;
    if (!minus) tsr_text_add_char(out, '-');
    minus = true;
    tsr_text_add_char(out, "ims"[i]);
  }
  tsr_text_add_char(out, ':');
}

static tsr_status set_global_flags(parser *p, const char *at, const flag_letters *on, bool first) {
  if (!first)
    return tsr_regex_fail(&p->in, at, "global flags must stand at the start of the pattern");
  p->ascii_said |= on->a;
  p->unicode_said |= on->u;
  if (p->ascii_said && p->unicode_said)
    return tsr_regex_fail(&p->in, at, "flags a and u exclude each other");
  apply_letters(&p->flags, on, &(flag_letters){0});
  return NULL;
}

// (?i) for all that follows, or (?i-s:...) for a group. `*out_kind` says which it was.
static tsr_status parse_flags(parser *p, const char *at, bool first, piece *out,
                              piece_kind *out_kind) {
  flag_letters on = {0}, off = {0};
  char end = '-';
  if (*p->in.at != '-')
    TSR_TRY(read_letters(p, ")-:", &on, &end));
  else
    p->in.at++;
  if (end == ')') {
    *out_kind = PIECE_NONE;
    return set_global_flags(p, at, &on, first);
  }
  if (end == '-') {
    if (*p->in.at == ':') return tsr_regex_fail(&p->in, p->in.at, "missing flag");
    TSR_TRY(read_letters(p, ":", &off, &end));
  }
  TSR_TRY(check_letters(p, at, &on, &off));
  const tsr_regex_flags outer = p->flags;
  apply_letters(&p->flags, &on, &off);
  write_scope(p->in.out, &outer, &p->flags);
  TSR_TRY(parse_inside(p, at, out));
  p->flags = outer;
  return NULL;
}

// ---- groups by their first letters ----

static tsr_status parse_extension(parser *p, const char *at, bool first, piece *out,
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

static tsr_status parse_group(parser *p, const char *at, bool first, piece *out,
                              piece_kind *out_kind) {
  if (tsr_regex_take(&p->in, '?')) return parse_extension(p, at, first, out, out_kind);
  return parse_capture(p, at, NULL, 0, out);
}

// ---- escapes and plain characters ----

static tsr_status write_character(parser *p, uint32_t c, piece *out) {
  *out = (piece){.width = {1, 1}};
  tsr_regex_write_literal(p->in.out, c, &p->flags);
  // Without regard to case only what has no case is a text to look for.
  const bool cased = c >= 128 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (p->flags.ignore_case && cased) return NULL;
  return tsr_needs_of_character(p->arena, c, &out->needs);
}

static tsr_status write_anchor(parser *p, const char *text, piece_kind *out_kind) {
  tsr_text_add(p->in.out, text);
  *out_kind = PIECE_ANCHOR;
  return NULL;
}

static bool digit_follows(const parser *p, char most) {
  return *p->in.at >= '0' && *p->in.at <= most;
}

// \1 to \99 refer to groups, unless three octal digits make a character.
static tsr_status parse_number(parser *p, const char *at, uint32_t first, piece *out) {
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

static tsr_status parse_escape(parser *p, const char *at, uint32_t c, piece *out,
                               piece_kind *out_kind) {
  if (c == 'A') return write_anchor(p, "\\A", out_kind);
  if (c == 'Z') return write_anchor(p, "\\z", out_kind);
  if (c == 'b' || c == 'B') {
    tsr_regex_write_boundary(p->in.out, c == 'B', &p->flags);
    *out_kind = PIECE_ANCHOR;
    return NULL;
  }
  if (tsr_regex_is_category(c)) {
    tsr_regex_write_category(p->in.out, c, &p->flags);
    *out = (piece){.width = {1, 1}};
    return NULL;
  }
  if (c >= '1' && c <= '9') return parse_number(p, at, c, out);
  uint32_t character = 0;
  TSR_TRY(tsr_regex_escape(&p->in, at, c, &character));
  return write_character(p, character, out);
}

static tsr_status parse_set(parser *p, piece *out) {
  uint32_t literal = TSR_REGEX_END;
  *out = (piece){.width = {1, 1}};
  TSR_TRY(tsr_regex_write_set(&p->in, &p->flags, &literal));
  if (literal == TSR_REGEX_END || p->flags.ignore_case) return NULL;
  return tsr_needs_of_character(p->arena, literal, &out->needs);
}

// ---- repetition ----

// A number of a repetition, as far as it matters: beyond what Python takes, all are alike.
static bool read_bound(const char **at, uint64_t *out) {
  if (**at < '0' || **at > '9') return false;
  uint64_t value = 0;
  for (; **at >= '0' && **at <= '9'; ++*at)
    value = value >= ENDLESS ? value : value * 10 + (uint64_t)(**at - '0');
  *out = value >= ENDLESS ? ENDLESS + 1 : value;
  return true;
}

// {2,5} and its like; false if the text is none, and then nothing was taken.
static bool read_bounds(tsr_regex_reader *in, uint64_t *out_min, uint64_t *out_max) {
  const char *at = in->at;
  uint64_t min = 0, max = ENDLESS;
  const bool any = read_bound(&at, &min);
  if (*at == ',') {
    at++;
    read_bound(&at, &max);
  } else {
    if (!any) return false;
    max = min;
  }
  if (*at != '}') return false;
  in->at = at + 1;
  *out_min = min;
  *out_max = max;
  return true;
}

static tsr_status check_bounds(const parser *p, const char *at, uint64_t min, uint64_t max) {
  if (min >= ENDLESS || max > ENDLESS)
    return tsr_regex_fail(&p->in, at, "a repetition that is too large");
  if (max < min) return tsr_regex_fail(&p->in, at, "a least repetition above the greatest");
  if (min > MOST_REPEATS || (max != ENDLESS && max > MOST_REPEATS))
    return tsr_regex_unsupported(&p->in, at, "more than %d repetitions", MOST_REPEATS);
  return NULL;
}

// Reads the quantifier that was begun by `c` at `at`; `*out_is` is false for a '{' that is plain.
static tsr_status read_quantifier(parser *p, const char *at, uint32_t c, uint64_t *out_min,
                                  uint64_t *out_max, bool *out_is) {
  *out_is = true;
  *out_min = c == '+';
  *out_max = c == '?' ? 1 : ENDLESS;
  if (c != '{') return NULL;
  *out_is = read_bounds(&p->in, out_min, out_max);
  return *out_is ? check_bounds(p, at, *out_min, *out_max) : NULL;
}

static void write_quantifier(parser *p, uint64_t min, uint64_t max) {
  tsr_text *out = p->in.out;
  if (min == 0 && max == 1)
    tsr_text_add_char(out, '?');
  else if (max == ENDLESS && min <= 1)
    tsr_text_add_char(out, min ? '+' : '*');
  else if (max == ENDLESS)
    tsr_text_addf(out, "{%llu,}", (unsigned long long)min);
  else
    tsr_text_addf(out, "{%llu,%llu}", (unsigned long long)min, (unsigned long long)max);
  if (tsr_regex_take(&p->in, '?'))
    tsr_text_add_char(out, '?');
  else if (tsr_regex_take(&p->in, '+'))
    tsr_text_add_char(out, '+');
}

static tsr_status repeat_piece(parser *p, const char *at, piece_kind last, uint64_t min,
                               uint64_t max, piece *item) {
  if (last == PIECE_NONE || last == PIECE_ANCHOR)
    return tsr_regex_fail(&p->in, at, "nothing to repeat");
  if (last == PIECE_REPEAT) return tsr_regex_fail(&p->in, at, "multiple repeat");
  write_quantifier(p, min, max);
  item->width = repeated(item->width, min, max);
  if (min == 0)
    item->needs = (tsr_needs){0};
  else
    tsr_needs_loosen(&item->needs);
  return NULL;
}

// ---- sequences ----

// White space and comments between the pieces of a verbose pattern.
static bool skip_verbose(parser *p, tsr_regex_token token) {
  if (!p->flags.verbose || token.escaped) return false;
  if (token.c < 128 && token.c && strchr(" \t\n\r\v\f", (int)token.c)) return true;
  if (token.c != '#') return false;
  do {
    token = tsr_regex_get(&p->in);
  } while (token.c != TSR_REGEX_END && (token.c != '\n' || token.escaped));
  return true;
}

static tsr_status parse_piece(parser *p, const char *at, tsr_regex_token token, bool first,
                              piece *out, piece_kind *out_kind) {
  *out_kind = PIECE_ITEM;
  *out = (piece){.width = {0, 0}};
  if (token.escaped) return parse_escape(p, at, token.c, out, out_kind);
  switch (token.c) {
    case '[':
      return parse_set(p, out);
    case '(':
      return parse_group(p, at, first, out, out_kind);
    case '.':
      out->width = (width){1, 1};
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

// A sequence under construction. The last piece waits, since a quantifier may follow it.
typedef struct sequence {
  tsr_need_run run;
  piece last;
  piece_kind kind;  // of `last`; PIECE_NONE = there is none yet
  width width;
} sequence;

static tsr_status settle(sequence *s) {
  if (s->kind == PIECE_NONE) return NULL;
  widen(&s->width, s->last.width);
  if (s->kind != PIECE_ANCHOR) return tsr_need_run_add(&s->run, &s->last.needs);
  tsr_need_run_mark(&s->run);
  return NULL;
}

static tsr_status parse_next(parser *p, sequence *s, const char *at, tsr_regex_token token,
                             bool first) {
  const bool quantifier =
      !token.escaped && token.c < 128 && token.c && strchr("*+?{", (int)token.c);
  if (quantifier) {
    uint64_t min = 0, max = 0;
    bool is = false;
    TSR_TRY(read_quantifier(p, at, token.c, &min, &max, &is));
    if (is) {
      TSR_TRY(repeat_piece(p, at, s->kind, min, max, &s->last));
      s->kind = PIECE_REPEAT;
      return NULL;
    }
  }
  piece next;
  piece_kind kind = PIECE_NONE;
  TSR_TRY(parse_piece(p, at, token, first && s->kind == PIECE_NONE, &next, &kind));
  if (kind == PIECE_NONE) return NULL;
  TSR_TRY(settle(s));
  s->last = next;
  s->kind = kind;
  return NULL;
}

static tsr_status parse_sequence(parser *p, bool first, piece *out) {
  sequence s = {.kind = PIECE_NONE};
  tsr_need_run_init(&s.run, p->arena);
  for (;;) {
    const char *at = p->in.at;
    if (!*at || *at == '|' || *at == ')') break;
    const tsr_regex_token token = tsr_regex_get(&p->in);
    if (skip_verbose(p, token)) continue;
    TSR_TRY(parse_next(p, &s, at, token, first));
  }
  TSR_TRY(settle(&s));
  out->width = s.width;
  return tsr_need_run_finish(&s.run, &out->needs);
}

// `top` is the pattern itself: global flags may stand at its start.
static tsr_status parse_alternatives(parser *p, bool top, piece *out) {
  TSR_TRY(parse_sequence(p, top, out));
  while (tsr_regex_take(&p->in, '|')) {
    piece next;
    tsr_text_add_char(p->in.out, '|');
    TSR_TRY(parse_sequence(p, false, &next));
    out->width = either(out->width, next.width);
    tsr_needs_either(&out->needs, &next.needs);
  }
  return NULL;
}

static tsr_status parse_pattern(parser *p, piece *out) {
  TSR_TRY(check_text(p));
  TSR_TRY(open_group(p, p->in.start, NULL, 0));  // number 0, the whole
  TSR_TRY(parse_alternatives(p, true, out));
  if (*p->in.at) return tsr_regex_fail(&p->in, p->in.at, "unbalanced parenthesis");
  if (p->far_group >= p->group_count)
    return tsr_regex_fail(&p->in, p->far_place, "there is no group %d", p->far_group);
  return tsr_text_check(p->in.out);
}

tsr_status tsr_regex_translate(const char *pattern, tsr_arena *arena, tsr_regex_text *out) {
  *out = (tsr_regex_text){.pattern = TSR_TEXT_EMPTY};
  parser p = {.in = {pattern, pattern, &out->pattern}, .arena = arena, .outside_lookbehind = -1};
  piece whole;
  tsr_status status = parse_pattern(&p, &whole);
  free(p.groups);
  if (status) return status;
  out->caseless = is_caseless(&p.flags);
  out->multiline = p.flags.multiline;
  out->dotall = p.flags.dotall;
  out->captures = p.captures;
  out->needs = whole.needs;
  return NULL;
}
