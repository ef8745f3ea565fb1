// Comparisons of two values, which check ops and custom calls make.
#ifndef TESSERA_LOWER_LOWER_CHECK_H
#define TESSERA_LOWER_LOWER_CHECK_H

#include "kernel/check_values.h"
#include "lower/lowering.h"

// Compares operand 0 of `op` with `expected`. `check` gives the rule; the rest is filled in.
TSR_MUST_USE tsr_status tsr_lower_comparison(tsr_lowering *lowering, tsr_op *op,
                                             tsr_value *expected, tsr_check_values check);

#endif
