// Flags: (?i) for a whole pattern, (?i-s:...) for a group.
#include <string.h>

#include "base/text_internal.h"
#include "regex/regex_syntax.h"

static tsr_status set_flag(tsr_regex_reader *in, const char *at, uint32_t c, bool off,
                           tsr_regex_letters *letters) {
  if (off && (c == 'a' || c == 'u'))
    return tsr_regex_fail(in, at, "flags a and u cannot be turned off");
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
      return tsr_regex_fail(in, at, "flag L, which is for patterns of bytes");
    case 't':
      return tsr_regex_unsupported(in, at, "flag t, which Python is giving up");
    default:
      return tsr_regex_fail(in, at, "unknown flag, wanted one of i m s x a u");
  }
  if (letters->a && letters->u) return tsr_regex_fail(in, at, "flags a and u exclude each other");
  return NULL;
}

// Reads letters up to one of `ends`, which it takes and returns.
static tsr_status read_letters(tsr_regex_reader *in, const char *ends, bool off,
                               tsr_regex_letters *letters, char *out_end) {
  for (;;) {
    const char *at = in->at;
    const tsr_regex_token token = tsr_regex_get(in);
    if (token.c == TSR_REGEX_END) return tsr_regex_fail(in, at, "unterminated flags");
    if (!token.escaped && token.c < 128 && token.c && strchr(ends, (int)token.c)) {
      *out_end = (char)token.c;
      return NULL;
    }
    TSR_TRY(set_flag(in, at, token.escaped ? 0 : token.c, off, letters));
  }
}

static tsr_status check_letters(tsr_regex_reader *in, const char *at, const tsr_regex_letters *on,
                                const tsr_regex_letters *off) {
  if ((on->i && off->i) || (on->m && off->m) || (on->s && off->s) || (on->x && off->x))
    return tsr_regex_fail(in, at, "a flag turned on and off at once");
  return NULL;
}

void tsr_regex_apply_letters(tsr_regex_flags *flags, const tsr_regex_letters *on,
                             const tsr_regex_letters *off) {
  flags->ignore_case = (flags->ignore_case || on->i) && !off->i;
  flags->multiline = (flags->multiline || on->m) && !off->m;
  flags->dotall = (flags->dotall || on->s) && !off->s;
  flags->verbose = (flags->verbose || on->x) && !off->x;
  flags->ascii = (flags->ascii || on->a) && !on->u;
}

bool tsr_regex_is_caseless(const tsr_regex_flags *flags) {
  return flags->ignore_case && !flags->ascii;
}

void tsr_regex_write_scope(tsr_text *out, const tsr_regex_flags *from, const tsr_regex_flags *to) {
  const bool before[] = {tsr_regex_is_caseless(from), from->multiline, from->dotall};
  const bool after[] = {tsr_regex_is_caseless(to), to->multiline, to->dotall};
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

tsr_status tsr_regex_read_flags(tsr_regex_reader *in, const char *at, tsr_regex_letters *out_on,
                                tsr_regex_letters *out_off, bool *out_global) {
  char end = '-';
  *out_on = *out_off = (tsr_regex_letters){0};
  if (*in->at != '-')
    TSR_TRY(read_letters(in, ")-:", false, out_on, &end));
  else
    in->at++;
  *out_global = end == ')';
  if (end == '-') {
    if (*in->at == ':') return tsr_regex_fail(in, in->at, "missing flag");
    TSR_TRY(read_letters(in, ":", true, out_off, &end));
  }
  return check_letters(in, at, out_on, out_off);
}
