// Characters: escapes, sets and categories, and how each is written for PCRE2.
//
// Categories are spelt out, since \w, \s and \b changed between versions of PCRE2 and never quite
// match Python's: \s includes U+001C to U+001F, which PCRE2 lacks, and excludes U+180E, which PCRE2
// has. ASCII mode, which PCRE2 gained late, is spelt out too; without case it writes both letters.
#include <string.h>

#include "base/text_internal.h"
#include "regex/regex_syntax.h"

// The members of each category, for use inside a set.
static const char unicode_word[] = "\\p{L}\\p{N}_", ascii_word[] = "0-9A-Z_a-z";
static const char unicode_digit[] = "\\p{Nd}", ascii_digit[] = "0-9";
static const char unicode_space[] =
    "\\x{9}-\\x{d}\\x{1c}-\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
    "\\x{202f}\\x{205f}\\x{3000}";
static const char ascii_space[] = "\\x{9}-\\x{d}\\x{20}";

// Letters that are equal without case in Python, but not in PCRE2.
static const uint32_t kin[][4] = {
    {'I', 'i', 0x130, 0x131}, {0x390, 0x1fd3}, {0x3b0, 0x1fe3}, {0xfb05, 0xfb06}};
enum { KIN_COUNT = sizeof kin / sizeof *kin };

static bool is_letter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

static bool is_octal(uint32_t c) { return c >= '0' && c <= '7'; }

static int hex_value(uint32_t c) {
  if (is_digit(c)) return (int)(c - '0');
  if (c >= 'a' && c <= 'f') return (int)(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return (int)(c - 'A' + 10);
  return -1;
}

// ---- escapes ----

bool tsr_regex_is_category(uint32_t c) { return c < 128 && c && strchr("dDsSwW", (int)c); }

static tsr_status read_hex(tsr_regex_reader *in, const char *at, int digits, uint32_t *out) {
  uint32_t value = 0;
  for (int i = 0; i < digits; i++) {
    const tsr_regex_token next = tsr_regex_peek(in);
    const int digit = next.escaped ? -1 : hex_value(next.c);
    if (digit < 0) return tsr_regex_fail(in, at, "an escape that needs %d hex digits", digits);
    value = value * 16 + (uint32_t)digit;
    tsr_regex_get(in);
  }
  if (value > 0x10ffff) return tsr_regex_fail(in, at, "no such character, U+%X", value);
  if (value >= 0xd800 && value < 0xe000)
    return tsr_regex_unsupported(in, at, "U+%X is a surrogate, which UTF-8 cannot encode", value);
  *out = value;
  return NULL;
}

// Up to two more octal digits after `value`.
static tsr_status read_octal(tsr_regex_reader *in, const char *at, uint32_t value, uint32_t *out) {
  for (int i = 0; i < 2; i++) {
    const tsr_regex_token next = tsr_regex_peek(in);
    if (next.escaped || !is_octal(next.c)) break;
    value = value * 8 + (next.c - '0');
    tsr_regex_get(in);
  }
  if (value > 0377) return tsr_regex_fail(in, at, "an octal escape above \\377");
  *out = value;
  return NULL;
}

tsr_status tsr_regex_escape(tsr_regex_reader *in, const char *at, uint32_t c,
                            uint32_t *out_character) {
  static const char names[] = "abfnrtv", meant[] = "\a\b\f\n\r\t\v";
  const char *known = c && c < 128 ? strchr(names, (int)c) : NULL;
  if (known) {
    *out_character = (uint32_t)meant[known - names];
    return NULL;
  }
  if (c == 'x') return read_hex(in, at, 2, out_character);
  if (c == 'u') return read_hex(in, at, 4, out_character);
  if (c == 'U') return read_hex(in, at, 8, out_character);
  if (is_octal(c)) return read_octal(in, at, c - '0', out_character);
  if (c == 'N')
    return tsr_regex_unsupported(in, at, "characters by name; write \\u and four hex digits");
  if (is_letter(c) || is_digit(c)) return tsr_regex_fail(in, at, "bad escape \\%c", (char)c);
  *out_character = c;
  return NULL;
}

// ---- writing characters ----

static void write_plain(tsr_text *out, uint32_t c) {
  if (is_letter(c) || is_digit(c) || c == '_' || c == '/')
    tsr_text_add_char(out, (char)c);
  else if (c > ' ' && c < 127)
    tsr_text_addf(out, "\\%c", (char)c);
  else
    tsr_text_addf(out, "\\x{%x}", c);
}

// The letters of a range in the other case.
static void write_other_case(tsr_text *out, uint32_t low, uint32_t high, char first, char other) {
  const uint32_t from = low > (uint32_t)first ? low : (uint32_t)first;
  const uint32_t to = high < (uint32_t)first + 25 ? high : (uint32_t)first + 25;
  if (from > to) return;
  const int shift = other - first;
  tsr_text_add_char(out, (char)((int)from + shift));
  if (to > from) tsr_text_addf(out, "-%c", (char)((int)to + shift));
}

static void write_range(tsr_text *out, uint32_t low, uint32_t high, unsigned flags) {
  write_plain(out, low);
  if (high > low) {
    tsr_text_add_char(out, '-');
    write_plain(out, high);
  }
  if (!(flags & TSR_REGEX_IGNORE_CASE)) return;
  if (flags & TSR_REGEX_ASCII) {
    write_other_case(out, low, high, 'a', 'A');
    write_other_case(out, low, high, 'A', 'a');
    return;
  }
  for (int i = 0; i < KIN_COUNT; i++) {
    bool met = false;
    for (int j = 0; j < 4; j++) met |= kin[i][j] && kin[i][j] >= low && kin[i][j] <= high;
    for (int j = 0; met && j < 4; j++)
      if (kin[i][j]) write_plain(out, kin[i][j]);
  }
}

static bool has_kin(uint32_t c) {
  for (int i = 0; i < KIN_COUNT; i++)
    for (int j = 0; j < 4; j++)
      if (kin[i][j] == c) return c != 0;
  return false;
}

void tsr_regex_write_literal(tsr_text *out, uint32_t c, unsigned flags) {
  if (!(flags & TSR_REGEX_IGNORE_CASE) || !(flags & TSR_REGEX_ASCII ? is_letter(c) : has_kin(c))) {
    write_plain(out, c);
    return;
  }
  tsr_text_add_char(out, '[');
  write_range(out, c, c, flags);
  tsr_text_add_char(out, ']');
}

// ---- categories ----

static const char *members_of(uint32_t category, unsigned flags) {
  switch (category) {
    case 'd':
    case 'D':
      return flags & TSR_REGEX_ASCII ? ascii_digit : unicode_digit;
    case 's':
    case 'S':
      return flags & TSR_REGEX_ASCII ? ascii_space : unicode_space;
    default:
      return flags & TSR_REGEX_ASCII ? ascii_word : unicode_word;
  }
}

void tsr_regex_write_category(tsr_text *out, uint32_t category, unsigned flags) {
  const bool negated = category < 'a';
  tsr_text_addf(out, "[%s%s]", negated ? "^" : "", members_of(category, flags));
}

void tsr_regex_write_boundary(tsr_text *out, bool negated, unsigned flags) {
  const char *w = members_of('w', flags);
  if (negated)  // nowhere in an empty text, so says Python
    tsr_text_addf(out, "(?:(?<=[%s])(?=[%s])|(?<![%s])(?![%s])(?!\\A\\z))", w, w, w, w);
  else
    tsr_text_addf(out, "(?:(?<=[%s])(?![%s])|(?<![%s])(?=[%s]))", w, w, w, w);
}

// ---- sets ----

// A member of a set: a character, or a category.
typedef struct set_item {
  bool is_category;
  uint32_t c;
} set_item;

// A set while it is read. Negated categories (\W) cannot be members of a PCRE2 set, so they become
// alternatives beside it. These are atomic: else a character that both sides match would be tried
// twice, and repetitions would explode.
typedef struct set_reader {
  tsr_regex_reader *in;
  unsigned flags;
  tsr_text members, beside;
  int count;       // of members read
  uint32_t first;  // the first, if a character
  bool varied;     // has other members than `first`
} set_reader;

static tsr_status read_member(set_reader *set, tsr_regex_token token, const char *at,
                              set_item *out_member) {
  if (!token.escaped) {
    *out_member = (set_item){false, token.c};
    return NULL;
  }
  if (tsr_regex_is_category(token.c)) {
    *out_member = (set_item){true, token.c};
    return NULL;
  }
  out_member->is_category = false;
  return tsr_regex_escape(set->in, at, token.c, &out_member->c);
}

static void add_range(set_reader *set, uint32_t low, uint32_t high) {
  if (!set->count) set->first = low;
  set->varied |= low != high || low != set->first;
  set->count++;
  write_range(&set->members, low, high, set->flags);
}

static void add_member(set_reader *set, const set_item *one) {
  if (!one->is_category) {
    add_range(set, one->c, one->c);
    return;
  }
  set->varied = true;
  set->count++;
  if (one->c >= 'a')
    tsr_text_add(&set->members, members_of(one->c, set->flags));
  else if (one->c == 'D' && !(set->flags & TSR_REGEX_ASCII))
    tsr_text_add(&set->members, "\\P{Nd}");
  else
    tsr_text_addf(&set->beside, "|[^%s]", members_of(one->c, set->flags));
}

// Reads members up to the closing bracket. `at` is where the set began.
static tsr_status read_members(set_reader *set, const char *at) {
  tsr_regex_reader *in = set->in;
  for (;;) {
    const char *here = in->at;
    tsr_regex_token token = tsr_regex_get(in);
    if (token.c == TSR_REGEX_END) return tsr_regex_fail(in, at, "unterminated character set");
    if (token.c == ']' && !token.escaped && set->count) return NULL;
    set_item low, high;
    TSR_TRY(read_member(set, token, here, &low));
    if (!tsr_regex_take(in, '-')) {
      add_member(set, &low);
      continue;
    }
    const char *there = in->at;
    token = tsr_regex_get(in);
    if (token.c == TSR_REGEX_END) return tsr_regex_fail(in, at, "unterminated character set");
    if (token.c == ']' && !token.escaped) {
      add_member(set, &low);
      add_range(set, '-', '-');
      return NULL;
    }
    TSR_TRY(read_member(set, token, there, &high));
    if (low.is_category || high.is_category || high.c < low.c)
      return tsr_regex_fail(in, here, "bad character range %.*s", (int)(in->at - here), here);
    add_range(set, low.c, high.c);
  }
}

static void write_members(const set_reader *set, bool negated, tsr_text *out) {
  const char *members = tsr_text_string(&set->members), *beside = tsr_text_string(&set->beside);
  if (!*beside)
    tsr_text_addf(out, "[%s%s]", negated ? "^" : "", members);
  else if (negated)
    tsr_text_addf(out, "(?:(?!%s%s%s%s)(?s:.))", *members ? "[" : "", members, *members ? "]" : "",
                  *members ? beside : beside + 1);
  else
    tsr_text_addf(out, "(?>%s%s%s%s)", *members ? "[" : "", members, *members ? "]" : "",
                  *members ? beside : beside + 1);
}

tsr_status tsr_regex_write_set(tsr_regex_reader *in, unsigned flags, uint32_t *out_literal) {
  set_reader set = {.in = in, .flags = flags, .members = TSR_TEXT_EMPTY, .beside = TSR_TEXT_EMPTY};
  const char *at = in->at - 1;
  const bool negated = tsr_regex_take(in, '^');
  tsr_status status = read_members(&set, at);
  if (!status) {
    write_members(&set, negated, in->out);
    in->out->failed |= set.members.failed | set.beside.failed;
    *out_literal = set.varied || negated ? TSR_REGEX_END : set.first;
  }
  tsr_text_deinit(&set.members);
  tsr_text_deinit(&set.beside);
  return status;
}
