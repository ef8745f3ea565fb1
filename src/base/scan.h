// A cursor over a text being parsed, for the notations that are small enough to read by hand.
//
// Blanks between tokens mean nothing and are skipped before each one. Every failure says what was
// wanted, at which byte, and what stands there instead.
#ifndef TESSERA_BASE_SCAN_H
#define TESSERA_BASE_SCAN_H

#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_scan {
  const char *start, *at;
  bool comments;  // slash-star comments count as blanks
} tsr_scan;

#define TSR_SCAN(text) \
  { (text), (text), false }

// The next character that is no blank, not taken; '\0' at the end.
char tsr_scan_peek(tsr_scan *scan);
// Takes `c` if it comes next.
bool tsr_scan_take(tsr_scan *scan, char c);
// Takes `c` or fails: wanted ']' at byte 4, found "x".
TSR_MUST_USE tsr_status tsr_scan_expect(tsr_scan *scan, char c);
// Takes the longest run of letters, digits and underscores; its length is 0 if there is none.
const char *tsr_scan_word(tsr_scan *scan, size_t *out_length);
// Takes `word` if the next word is just that.
bool tsr_scan_take_word(tsr_scan *scan, const char *word);
// Takes words joined by dots, as Python qualifies names; gives the last.
const char *tsr_scan_qualified(tsr_scan *scan, size_t *out_length);
// Takes a decimal integer, which may have a minus sign.
TSR_MUST_USE tsr_status tsr_scan_int(tsr_scan *scan, int64_t *out_value);
// Fails unless only blanks are left.
TSR_MUST_USE tsr_status tsr_scan_end(tsr_scan *scan);
// The failure itself, for other wants: `wanted` reads after the word "wanted".
TSR_MUST_USE tsr_status tsr_scan_fail(tsr_scan *scan, const char *wanted);

#endif
