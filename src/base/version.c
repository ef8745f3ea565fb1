// The version of the library itself, which may differ from that of the headers.
#include "tessera/api.h"

const char *tsr_version(void) { return TSR_VERSION; }

int tsr_version_number(void) { return TSR_VERSION_NUMBER; }
