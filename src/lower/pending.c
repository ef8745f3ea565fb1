// Ops whose kernels are still to be written; each is refused by name.
#include "lower/lowering.h"

#define PENDING(name)                                                                          \
  tsr_status tsr_lower_##name(tsr_lowering *lowering, tsr_op *op) {                            \
    return tsr_fail(UNSUPPORTED, "%s: there is no kernel for it", tsr_op_title(lowering, op)); \
  }
// clang-format off
PENDING(all_gather)
PENDING(all_reduce)
PENDING(all_to_all)
PENDING(collective_broadcast)
PENDING(collective_permute)
PENDING(collective_reduce)
PENDING(convolution)
PENDING(custom_call)
PENDING(dot_general)
PENDING(dynamic_slice)
PENDING(dynamic_update_slice)
PENDING(fft)
PENDING(gather)
PENDING(map)
PENDING(process_id)
PENDING(ragged_dot)
PENDING(reduce)
PENDING(reduce_scatter)
PENDING(reduce_window)
PENDING(scatter)
PENDING(select_and_scatter)
PENDING(sort)
PENDING(top_k)
// clang-format on

#include "lower/decompose.h"

tsr_status tsr_lower_decompose(tsr_ir *ir) {
  (void)ir;
  return NULL;
}
