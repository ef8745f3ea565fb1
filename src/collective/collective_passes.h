// The passes of this room. One row of collective/collective_passes.def each.
#ifndef TESSERA_COLLECTIVE_COLLECTIVE_PASSES_H
#define TESSERA_COLLECTIVE_COLLECTIVE_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_COLLECTIVE_##id,
enum tsr_collective_option {
#include "collective/collective_passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "collective/collective_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_collective_passes(void);

#endif
