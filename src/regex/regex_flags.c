// Flags: (?i) for a whole pattern, (?i-s:...) for a group.
#include <string.h>

#include "base/text_internal.h"
#include "regex/regex_syntax.h"

static const char flag_letters[] = "imsxau";
enum { ASCII_OR_UNICODE = TSR_REGEX_ASCII | TSR_REGEX_UNICODE };

static tsr_status add_flag(tsr_regex_reader *in, const char *at, uint32_t c, bool off,
                           unsigned *flags) {
  const char *letter = c && c < 128 ? strchr(flag_letters, (int)c) : NULL;
  const unsigned flag = letter ? 1u << (letter - flag_letters) : 0;
  if (c == 'L') return tsr_regex_fail(in, at, "flag L, which is for patterns of bytes");
  if (c == 't') return tsr_regex_unsupported(in, at, "flag t, which Python has deprecated");
  if (!flag) return tsr_regex_fail(in, at, "unknown flag, wanted one of i m s x a u");
  if (off && flag & ASCII_OR_UNICODE)
    return tsr_regex_fail(in, at, "flags a and u cannot be turned off");
  *flags |= flag;
  if ((*flags & ASCII_OR_UNICODE) == ASCII_OR_UNICODE)
    return tsr_regex_fail(in, at, "flags a and u exclude each other");
  return NULL;
}

// Reads letters up to one of `ends`, which is consumed and returned.
static tsr_status read_letters(tsr_regex_reader *in, const char *ends, bool off, unsigned *flags,
                               char *out_end) {
  for (;;) {
    const char *at = in->at;
    const tsr_regex_token token = tsr_regex_get(in);
    if (token.c == TSR_REGEX_END) return tsr_regex_fail(in, at, "unterminated flags");
    if (!token.escaped && token.c < 128 && token.c && strchr(ends, (int)token.c)) {
      *out_end = (char)token.c;
      return NULL;
    }
    TSR_TRY(add_flag(in, at, token.escaped ? 0 : token.c, off, flags));
  }
}

unsigned tsr_regex_apply_flags(unsigned flags, unsigned on, unsigned off) {
  flags = (flags | on) & ~off;
  return on & TSR_REGEX_UNICODE ? flags & ~(unsigned)ASCII_OR_UNICODE : flags;
}

bool tsr_regex_is_caseless(unsigned flags) {
  return flags & TSR_REGEX_IGNORE_CASE && !(flags & TSR_REGEX_ASCII);
}

// The flags that PCRE2 has too.
static unsigned engine_flags(unsigned flags) {
  return (tsr_regex_is_caseless(flags) ? TSR_REGEX_IGNORE_CASE : 0) |
         (flags & (TSR_REGEX_MULTILINE | TSR_REGEX_DOTALL));
}

static void write_letters(tsr_text *out, unsigned flags) {
  for (int i = 0; flag_letters[i]; i++)
    if (flags >> i & 1) tsr_text_add_char(out, flag_letters[i]);
}

void tsr_regex_write_scope(tsr_text *out, unsigned from, unsigned to) {
  const unsigned before = engine_flags(from), after = engine_flags(to);
  tsr_text_add(out, "(?");
  write_letters(out, after & ~before);
  if (before & ~after) tsr_text_add_char(out, '-');
  write_letters(out, before & ~after);
  tsr_text_add_char(out, ':');
}

tsr_status tsr_regex_read_flags(tsr_regex_reader *in, const char *at, unsigned *out_on,
                                unsigned *out_off, bool *out_global) {
  char end = '-';
  *out_on = *out_off = 0;
  if (*in->at != '-')
    TSR_TRY(read_letters(in, ")-:", false, out_on, &end));
  else
    in->at++;
  *out_global = end == ')';
  if (end == '-') {
    if (*in->at == ':') return tsr_regex_fail(in, in->at, "missing flag");
    TSR_TRY(read_letters(in, ":", true, out_off, &end));
  }
  if (*out_on & *out_off) return tsr_regex_fail(in, at, "a flag turned on and off at once");
  return NULL;
}
