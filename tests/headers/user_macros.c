// The public headers leave the macros of a program alone, and do not trip over them.
#define X 1
#define CAUSE 2
#define DTYPE 3
#define FIELD 4
#define id user_id
#define text user_text
#define word user_word

#include "tessera/compat/eformer.h"
#include "tessera/tessera.h"

_Static_assert(X == 1 && CAUSE == 2 && DTYPE == 3 && FIELD == 4, "the program's own macros");
_Static_assert(TSR_CAUSE_SYNTAX > TSR_CAUSE_NONE && TSR_BF16 != TSR_F32 && TSR_MODE_INSERT > 0,
               "enumerators under hostile macros");

const char *version_of_headers(void);
const char *version_of_headers(void) { return TSR_VERSION; }
