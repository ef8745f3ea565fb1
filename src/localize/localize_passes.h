// The passes of this room: a sharded program becomes the program of one device. One row of
// localize/localize_passes.def each.
#ifndef TESSERA_LOCALIZE_LOCALIZE_PASSES_H
#define TESSERA_LOCALIZE_LOCALIZE_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_LOCALIZE_##id,
enum tsr_localize_option {
#include "localize/localize_passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "localize/localize_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_localize_passes(void);

#endif
