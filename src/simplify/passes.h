// The passes of this room: changes of a program that keep what it computes. One row of
// simplify/passes.def each.
//
// Every pass keeps these promises. Ops with effects are neither dropped nor merged nor moved. An op
// that carries a discardable attribute, such as sdy.sharding or mhlo.frontend_attributes, is not
// replaced by one without it, and is merged only with an equal one; sharding constraints and
// barriers stay. Floats keep their NaNs, infinities and signed zeros.
#ifndef TESSERA_SIMPLIFY_PASSES_H
#define TESSERA_SIMPLIFY_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_SIMPLIFY_##id,
enum tsr_simplify_option {
#include "simplify/passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "simplify/passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_simplify_passes(void);

// tsr_pass_list_run of these passes only. It fails with no_memory, or too_large for a program that
// `inline` makes too large.
TSR_MUST_USE tsr_status tsr_passes_run(tsr_ir *ir, const char *passes, tsr_pass_report *out_report);

#endif
