// Names in double quotes, the same in every notation of ours: \" \\ \n \t \r and \xHH stand for
// what would end the name or break the line.
#ifndef TESSERA_BASE_QUOTE_H
#define TESSERA_BASE_QUOTE_H

#include "tessera/text.h"

void tsr_quote(const char *name, tsr_text *out);
// The byte that the escape at `at` (its backslash) stands for, and where it ends; NULL when there
// is no such escape.
const char *tsr_unescape(const char *at, char *out_byte);

#endif
