// Repetition: * + ? {2,5}, each greedy, lazy or possessive.
#include "base/text_internal.h"
#include "regex/regex_syntax.h"

enum { MOST_REPEATS = 65535 };  // of PCRE2; Python goes on to 2^32 - 2

// A bound of a repetition; all bounds beyond Python's limit are equal.
static bool read_bound(const char **at, uint64_t *out) {
  if (**at < '0' || **at > '9') return false;
  uint64_t value = 0;
  for (; **at >= '0' && **at <= '9'; ++*at)
    value = value >= TSR_REGEX_ENDLESS ? value : value * 10 + (uint64_t)(**at - '0');
  *out = value >= TSR_REGEX_ENDLESS ? TSR_REGEX_ENDLESS + 1 : value;
  return true;
}

// Reads {2,5} and the like; false = it is none, and nothing was consumed.
static bool read_bounds(tsr_regex_reader *in, uint64_t *out_min, uint64_t *out_max) {
  const char *at = in->at;
  uint64_t min = 0, max = TSR_REGEX_ENDLESS;
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

static tsr_status check_bounds(const tsr_regex_reader *in, const char *at, uint64_t min,
                               uint64_t max) {
  if (min >= TSR_REGEX_ENDLESS || max > TSR_REGEX_ENDLESS)
    return tsr_regex_fail(in, at, "a repetition that is too large");
  if (max < min) return tsr_regex_fail(in, at, "the minimum repetition exceeds the maximum");
  if (min > MOST_REPEATS || (max != TSR_REGEX_ENDLESS && max > MOST_REPEATS))
    return tsr_regex_unsupported(in, at, "more than %d repetitions", MOST_REPEATS);
  return NULL;
}

tsr_status tsr_regex_read_repeat(tsr_regex_reader *in, const char *at, uint32_t c,
                                 uint64_t *out_min, uint64_t *out_max, bool *out_is) {
  *out_is = true;
  *out_min = c == '+';
  *out_max = c == '?' ? 1 : TSR_REGEX_ENDLESS;
  if (c != '{') return NULL;
  *out_is = read_bounds(in, out_min, out_max);
  return *out_is ? check_bounds(in, at, *out_min, *out_max) : NULL;
}

void tsr_regex_write_repeat(tsr_regex_reader *in, uint64_t min, uint64_t max) {
  tsr_text *out = in->out;
  if (min == 0 && max == 1)
    tsr_text_add_char(out, '?');
  else if (max == TSR_REGEX_ENDLESS && min <= 1)
    tsr_text_add_char(out, min ? '+' : '*');
  else if (max == TSR_REGEX_ENDLESS)
    tsr_text_addf(out, "{%llu,}", (unsigned long long)min);
  else
    tsr_text_addf(out, "{%llu,%llu}", (unsigned long long)min, (unsigned long long)max);
  if (tsr_regex_take(in, '?'))
    tsr_text_add_char(out, '?');
  else if (tsr_regex_take(in, '+'))
    tsr_text_add_char(out, '+');
}
