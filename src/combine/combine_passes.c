#include "combine/combine_passes.h"

static const tsr_pass passes[] = {
#define PASS(name, function, options, summary) {name, tsr_pass_##function, options, summary},
#define PASS_OPTION(...)
#include "combine/combine_passes.def"
#undef PASS
#undef PASS_OPTION
};

tsr_pass_table tsr_combine_passes(void) {
  return (tsr_pass_table){passes, sizeof passes / sizeof *passes, NULL, 0};
}
