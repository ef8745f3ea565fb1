// The passes of this room: what a sharded program needs before it is cut into the programs of
// devices. One row of resolve/resolve_passes.def each.
#ifndef TESSERA_RESOLVE_RESOLVE_PASSES_H
#define TESSERA_RESOLVE_RESOLVE_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_RESOLVE_##id,
enum tsr_resolve_option {
#include "resolve/resolve_passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "resolve/resolve_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_resolve_passes(void);

#endif
