// Rules of shapes that several ops have.
#ifndef TESSERA_VERIFY_SHAPE_RULES_H
#define TESSERA_VERIFY_SHAPE_RULES_H

#include "verify/op_checks.h"

// (C2) to (C6) of broadcast_in_dim and dynamic_broadcast_in_dim, whose elements match.
TSR_MUST_USE tsr_status tsr_check_broadcast(const tsr_op *op);
// (C2) and (C3) of reshape and dynamic_reshape, whose elements match.
TSR_MUST_USE tsr_status tsr_check_reshape(const tsr_op *op);

#endif
