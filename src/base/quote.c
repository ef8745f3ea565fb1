// One table of escapes serves both directions, so that quoting and reading cannot disagree.
#include "base/quote.h"

#include <string.h>

#include "base/cursor.h"
#include "base/text_internal.h"

static const char letters[] = "\"\\ntr", meant[] = "\"\\\n\t\r";

void tsr_quote(const char *name, tsr_text *out) {
  tsr_text_add_char(out, '"');
  for (const char *c = name; *c; c++) {
    const char *known = strchr(meant, *c);
    if (known)
      tsr_text_addf(out, "\\%c", letters[known - meant]);
    else if ((unsigned char)*c < ' ' || *c == 0x7f)
      tsr_text_addf(out, "\\x%02x", (unsigned)*c);
    else
      tsr_text_add_char(out, *c);
  }
  tsr_text_add_char(out, '"');
}

const char *tsr_unescape(const char *at, char *out_byte) {
  const char c = at[1];
  const char *known = c ? strchr(letters, c) : NULL;
  if (known) {
    *out_byte = meant[known - letters];
    return at + 2;
  }
  if (c != 'x' || tsr_hex_digit(at[2]) < 0 || tsr_hex_digit(at[3]) < 0) return NULL;
  *out_byte = (char)(16 * tsr_hex_digit(at[2]) + tsr_hex_digit(at[3]));
  return at + 4;
}
