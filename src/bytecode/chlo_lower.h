// CHLO ops as StableHLO: portable artifacts have no CHLO.
#ifndef TESSERA_BYTECODE_CHLO_LOWER_H
#define TESSERA_BYTECODE_CHLO_LOWER_H

#include "ir/ir.h"

bool tsr_chlo_is_used(const tsr_ir *ir);
// Replaces the CHLO ops of a program that StableHLO can compute, in place; others stay. JAX's
// export does the same, in other formulas.
TSR_MUST_USE tsr_status tsr_chlo_lower(tsr_ir *ir);

#endif
