// Whether ops stand where they may: the ends of blocks, and values that are visible where used.
#include "verify/op_rows.h"

// ---- blocks

// The op that ends the blocks of an op's regions. Functions may end with any terminator, and with
// an op of an unknown dialect, which may be one.
static tsr_op_id end_of(const tsr_op *op) {
  return op->info->id == TSR_OP_SDY_MANUAL_COMPUTATION ||
                 op->info->id == TSR_OP_SDY_NAMED_COMPUTATION
             ? TSR_OP_SDY_RETURN
             : TSR_OP_RETURN;
}

static tsr_status check_end(const tsr_op *op, const tsr_ir_block *block) {
  const tsr_op *end = tsr_block_terminator(block);
  const bool is_func = op->info->id == TSR_OP_FUNC;
  if (is_func && block->last && block->last->info->id == TSR_OP_UNKNOWN) return NULL;
  TSR_ASK(end && (is_func || end->info->id == end_of(op)), op, "",
          "a block ends with %s, expected %s", block->last ? block->last->name : "no op",
          is_func ? "func.return" : tsr_op_info_of(end_of(op))->name);
  return NULL;
}

static tsr_status check_region(const tsr_op *op, int index) {
  const tsr_region *region = &op->regions[index];
  const bool several = op->info->id == TSR_OP_FUNC;
  TSR_ASK(region->block_count == 1 || several, op, "", "region %d has %d blocks, expected 1", index,
          region->block_count);
  if (op->info->id == TSR_OP_MODULE) return NULL;
  for (const tsr_ir_block *block = region->first; block; block = block->next) {
    for (int i = 0; i < block->arg_count; i++) TSR_TRY(tsr_check_type(op, block->args[i]->type));
    TSR_TRY(check_end(op, block));
  }
  return NULL;
}

tsr_status tsr_check_blocks(const tsr_op *op) {
  const tsr_op *parent = tsr_op_parent(op);
  if (op->info->id == TSR_OP_FUNC_RETURN)
    TSR_ASK(!parent || parent->info->id == TSR_OP_FUNC, op, "", "stands in %s, expected func.func",
            parent->name);
  if (op->info->traits & TSR_TRAIT_TERMINATES)
    TSR_ASK(!op->next, op, "", "stands before %s, expected the end of the block", op->next->name);
  for (int i = 0; i < op->region_count; i++) TSR_TRY(check_region(op, i));
  return NULL;
}

// ---- values

// The op of the block `block` that holds `op`, which may be itself; NULL if the block is no
// ancestor. `*out_isolated` is the isolated op that is left on the way, or NULL.
static const tsr_op *ancestor_in(const tsr_op *op, const tsr_ir_block *block,
                                 const tsr_op **out_isolated) {
  *out_isolated = NULL;
  while (op && op->block != block) {
    op = tsr_op_parent(op);
    if (op && op->info->traits & TSR_TRAIT_ISOLATED) *out_isolated = op;
  }
  return op;
}

static bool is_reached(const tsr_reached *reached, const tsr_op *op) {
  return op->mark < reached->count && reached->ops[op->mark] == op;
}

// The walk reaches an op after those before it in its block, and before those in its regions. So
// the ops of an ancestor's block that it has reached, but for the ancestor, stand before that.
static tsr_status check_use(const tsr_op *op, int index, const tsr_reached *reached) {
  const tsr_value *value = tsr_op_operand(op, index);
  const tsr_op *def = value->def;
  if (def && def->block == op->block && def != op && is_reached(reached, def)) return NULL;
  const tsr_ir_block *block = tsr_value_block(value);
  const tsr_op *isolated = NULL;
  const tsr_op *place = block ? ancestor_in(op, block, &isolated) : NULL;
  TSR_ASK(place, op, "", "operand %d is defined in a region that does not hold the op", index);
  TSR_ASK(!isolated, op, "", "operand %d is defined outside of %s, which is isolated", index,
          isolated->name);
  const tsr_op *parent = tsr_block_parent(block);
  const bool ordered = !parent || parent->info->id != TSR_OP_MODULE;
  TSR_ASK(!def || !ordered || (def != place && is_reached(reached, def)), op, "",
          "operand %d is used before it is defined", index);
  return NULL;
}

tsr_status tsr_check_uses(const tsr_op *op, const tsr_reached *reached) {
  for (int i = 0; i < op->operand_count; i++) TSR_TRY(check_use(op, i, reached));
  return NULL;
}
