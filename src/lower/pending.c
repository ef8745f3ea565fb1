// Ops whose kernels are still to be written; each is refused by name.
#include "lower/lowering.h"

#define PENDING(name)                                                                          \
  tsr_status tsr_lower_##name(tsr_lowering *lowering, tsr_op *op) {                            \
    return tsr_fail(UNSUPPORTED, "%s: there is no kernel for it", tsr_op_title(lowering, op)); \
  }
// clang-format off
PENDING(ragged_dot)
// clang-format on
