// Custom calls: what the functions behind lower/custom_calls.def share.
#ifndef TESSERA_LOWER_CUSTOM_CALLS_H
#define TESSERA_LOWER_CUSTOM_CALLS_H

#include "lower/lowering.h"

#define CUSTOM_CALL(target, function) extern tsr_lower_fn tsr_call_##function;
#include "lower/custom_calls.def"
#undef CUSTOM_CALL

// The target, for messages: "@Sharding at line 7".
const char *tsr_call_title(tsr_lowering *lowering, const tsr_op *op);
// An entry of the configuration, which older programs have as mhlo.backend_config; NULL = absent.
const tsr_attr *tsr_call_config(const tsr_op *op, const char *name);

// LAPACK's targets, as in lapack_sgesdd_ffi. False if it is none.
bool tsr_call_is_lapack(const tsr_op *op);
TSR_MUST_USE tsr_status tsr_call_lapack(tsr_lowering *lowering, tsr_op *op);
// The targets among which the nearest is suggested: NULL from the last one on.
const char *tsr_call_lapack_name(int index);

#endif
