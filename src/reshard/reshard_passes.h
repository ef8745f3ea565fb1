// The passes of this room: one row of reshard/reshard_passes.def each.
#ifndef TESSERA_RESHARD_RESHARD_PASSES_H
#define TESSERA_RESHARD_RESHARD_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_RESHARD_##id,
enum tsr_reshard_option {
#include "reshard/reshard_passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "reshard/reshard_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_reshard_passes(void);

#endif
