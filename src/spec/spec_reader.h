// Reading one line of notation: what the spec parsers share beyond the plain cursor of base.
//
// A failure says where, and shows the place in the text:
//   at column 7: wanted an axis, found ")" here: data, ^)
#ifndef TESSERA_SPEC_SPEC_READER_H
#define TESSERA_SPEC_SPEC_READER_H

#include <stdint.h>

#include "base/scan.h"
#include "tessera/text.h"

// Cause SYNTAX, about the word that comes next: "wanted <what>, found ...".
TSR_MUST_USE tsr_status tsr_read_wanted(tsr_scan *scan, const char *what);
// The same with a message of its own and any cause.
#define tsr_read_fail(scan, cause, ...) \
  tsr_read_fail_at(scan, TSR_CAUSE_##cause, __FILE__, __LINE__, __VA_ARGS__)
TSR_MUST_USE TSR_PRINTF(5, 6) tsr_status
    tsr_read_fail_at(const tsr_scan *scan, tsr_cause cause, const char *file, int line,
                     const char *format, ...);

// Takes a word, not as the start of a longer one.
bool tsr_read_keyword(tsr_scan *scan, const char *word);
TSR_MUST_USE tsr_status tsr_read_expect(tsr_scan *scan, char c);
TSR_MUST_USE tsr_status tsr_read_end(tsr_scan *scan);

// A plain decimal number, 0 to INT64_MAX.
TSR_MUST_USE tsr_status tsr_read_int(tsr_scan *scan, const char *what, int64_t *out_value);
// [A-Za-z_][A-Za-z0-9_]*, a view of the text; the length is 0 when none comes next.
size_t tsr_read_identifier(tsr_scan *scan, const char **out_start);
bool tsr_is_identifier(const char *name);

// How a notation writes what a quoted string cannot hold as it is. Steps over the backslash and the
// escape, and adds the bytes meant.
typedef tsr_status tsr_escape_fn(tsr_scan *scan, tsr_text *out);
// A string in the quotes that come next (" or '), without them.
TSR_MUST_USE tsr_status tsr_read_quoted(tsr_scan *scan, tsr_escape_fn *escape, tsr_text *out);
// Exactly `digits` hexadecimal digits.
TSR_MUST_USE tsr_status tsr_read_hex(tsr_scan *scan, int digits, uint32_t *out_value);

#endif
