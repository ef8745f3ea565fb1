// The passes of this room: collectives made fewer and smaller. One row of
// combine/combine_passes.def each.
#ifndef TESSERA_COMBINE_COMBINE_PASSES_H
#define TESSERA_COMBINE_COMBINE_PASSES_H

#include "simplify/pass_list.h"

#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "combine/combine_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_combine_passes(void);

#endif
