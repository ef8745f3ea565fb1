// Puts the ops of a block in groups that run as one step.
#include "lower/lowering.h"

bool tsr_op_absorbs(const tsr_use *use, const tsr_op *producer) {
  (void)use;
  (void)producer;
  return false;
}

tsr_status tsr_fuse_block(tsr_lowering *lowering, tsr_ir_block *block, tsr_fusion **out_fusions,
                          int *out_count) {
  const tsr_op *end = tsr_block_terminator(block);
  int64_t count = 0;
  for (const tsr_op *op = block->first; op; op = op->next) count += op != end;
  tsr_fusion *fusions = tsr_lower_alloc(lowering, count + 1, sizeof *fusions);
  tsr_op **ops = tsr_lower_alloc(lowering, count + 1, sizeof(tsr_op *));
  TSR_NEED(fusions && ops ? fusions : NULL);
  int next = 0;
  for (tsr_op *op = block->first; op; op = op->next) {
    if (op == end) continue;
    ops[next] = op;
    fusions[next] = (tsr_fusion){.ops = &ops[next], .count = 1};
    next++;
  }
  *out_fusions = fusions;
  *out_count = next;
  return NULL;
}

tsr_status tsr_lower_fusion(tsr_lowering *lowering, const tsr_fusion *fusion) {
  tsr_op *op = fusion->ops[0];
  return tsr_lower_of(op->info->id)(lowering, op);
}
