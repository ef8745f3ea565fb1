// The passes of this room: what partitioning needs beside the passes of Shardy. One row of
// spmd/spmd_passes.def each.
#ifndef TESSERA_SPMD_SPMD_PASSES_H
#define TESSERA_SPMD_SPMD_PASSES_H

#include "simplify/pass_list.h"

#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "spmd/spmd_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_spmd_passes(void);

// Whether an op is one of StableHLO's dialects: it computes with tensors, and is cut by a rule.
bool tsr_op_computes(const tsr_op *op);

#endif
