// Ops that others stand for: replaced before a program is lowered.
#ifndef TESSERA_SIMPLIFY_DECOMPOSE_H
#define TESSERA_SIMPLIFY_DECOMPOSE_H

#include "ir/ir.h"

// Replaces ops whose row says `decomposed` by simpler ones, where their operands allow it. Calls
// are in place already.
TSR_MUST_USE tsr_status tsr_decompose(tsr_ir *ir);

#endif
