#include "tessera/api.h"

const char *tsr_version(void) { return TSR_VERSION; }
