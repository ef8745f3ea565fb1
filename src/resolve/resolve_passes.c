// The table of all passes of this room.
#include "resolve/resolve_passes.h"

#define OPTION(id) (1u << TSR_RESOLVE_##id)
static const tsr_pass passes[] = {
#define PASS(name, function, options, summary) {name, tsr_pass_##function, options, summary},
#define PASS_OPTION(...)
#include "resolve/resolve_passes.def"
#undef PASS
#undef PASS_OPTION
};
static const tsr_pass_option pass_options[] = {
#define PASS(...)
#define PASS_OPTION(id, name, kind, words, summary) {name, TSR_PASS_##kind, words, summary},
#include "resolve/resolve_passes.def"
#undef PASS
#undef PASS_OPTION
};

tsr_pass_table tsr_resolve_passes(void) {
  return (tsr_pass_table){passes, sizeof passes / sizeof *passes, pass_options,
                          sizeof pass_options / sizeof *pass_options};
}
