// drop-local-shardings: the shardings of ops are those of whole tensors, which a program of one
// device does not have any more. Arguments and results of functions keep theirs: they say how
// inputs are cut.
#include "propagate/edits.h"
#include "spmd/spmd_passes.h"

static tsr_status drop_sharding(tsr_op *op, void *context) {
  return tsr_op_attr(op, "sdy.sharding") ? tsr_op_attr_set(context, op, "sdy.sharding", NULL)
                                         : NULL;
}

tsr_status tsr_pass_drop_local_shardings(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  (void)options;
  (void)changes;
  return tsr_op_walk_after(ir->module, drop_sharding, ir);
}
