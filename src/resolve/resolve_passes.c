// The table of all passes of this room.
#include "resolve/resolve_passes.h"

#define OPTION(id) (1u << TSR_RESOLVE_##id)
#define PASS_ROWS "resolve/resolve_passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_resolve_passes(void) { return pass_table; }
