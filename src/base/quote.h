// Names in double quotes, as in all our notations, with the escapes \" \\ \n \t \r and \xHH.
#ifndef TESSERA_BASE_QUOTE_H
#define TESSERA_BASE_QUOTE_H

#include "tessera/text.h"

void tsr_quote(const char *name, tsr_text *out);
// Reads the escape whose backslash is at `at`. Gives its end, or NULL if there is no such escape.
const char *tsr_unescape(const char *at, char *out_byte);

#endif
