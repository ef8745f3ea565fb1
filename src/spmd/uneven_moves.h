// Reversals and reshapes along dims that their axes do not divide.
#ifndef TESSERA_SPMD_UNEVEN_MOVES_H
#define TESSERA_SPMD_UNEVEN_MOVES_H

#include "factor/rule.h"

// Replaces such an op by one of dims that are divided, with a pad before it and a slice behind it,
// where that makes all of its dims even or served (pad_uneven.h). The program means the same.
TSR_MUST_USE tsr_status tsr_uneven_move_replace(tsr_arena *arena, tsr_ir *ir, tsr_op *op,
                                                const tsr_op_rule *rule, bool *out_replaced);

#endif
