// The passes of this room.
#ifndef TESSERA_FACTOR_FACTOR_PASSES_H
#define TESSERA_FACTOR_FACTOR_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_FACTOR_##id,
enum tsr_factor_option {
#include "factor/factor_passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "factor/factor_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_factor_passes(void);

#endif
