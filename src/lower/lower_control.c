// Loops and branches: steps with lists of steps inside.
//
// A loop has one slot for each carry, which its condition and its body read and its results are.
// The body leaves the next values in slots of its own; at its end they are moved to the carries,
// all at once, which for memory of the run is an exchange of addresses (exec).
#include "lower/lowering.h"

static tsr_ir_block *only_block(const tsr_op *op, int region, int arguments) {
  const tsr_region *r = &op->regions[region];
  return r->block_count == 1 && r->first->arg_count == arguments ? r->first : NULL;
}

// Lowers the ops of a block to a list of their own. What ends it are `count` values, whose slots go
// to `moves`; those that are no tensors have none and are left out.
static tsr_status lower_list(tsr_lowering *lowering, tsr_ir_block *block, tsr_step_list *list,
                             const int *targets, int count, tsr_slot_move *moves) {
  tsr_step_list *outer = lowering->list;
  lowering->list = list;
  const tsr_status status = tsr_lower_block(lowering, block);
  lowering->list = outer;
  TSR_TRY(status);
  const tsr_op *end = tsr_block_terminator(block);
  if (!end || end->operand_count < count)
    return tsr_fail(CONSTRAINT, "a region gives fewer than %d values", count);
  for (int i = 0, k = 0; i < end->operand_count; i++) {
    if (tsr_operand_type(end, i)->kind != TSR_TYPE_TENSOR) continue;
    if (k == count) break;
    moves[k].to = targets[k];
    TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(end, i), &moves[k].from));
    k++;
  }
  return NULL;
}

static tsr_status open_lists(tsr_lowering *lowering, tsr_schedule_step *step, int count) {
  step->list_count = count;
  step->lists = tsr_lower_alloc(lowering, count, sizeof *step->lists);
  step->moves = tsr_lower_alloc(lowering, count, sizeof *step->moves);
  TSR_NEED(step->lists && step->moves ? step : NULL);
  for (int i = 0; i < count; i++) {
    step->moves[i] = tsr_lower_alloc(lowering, step->output_count + 1, sizeof **step->moves);
    TSR_NEED(step->moves[i]);
  }
  return NULL;
}

// The slots of the tensors among the results of an op.
static tsr_status result_slots(tsr_lowering *lowering, tsr_op *op, int **out_slots,
                               int *out_count) {
  int *slots = tsr_lower_alloc(lowering, op->result_count + 1, sizeof *slots);
  TSR_NEED(slots);
  int count = 0;
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].type->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_slot_create(lowering, &op->results[i], &slots[count++]));
  *out_slots = slots;
  *out_count = count;
  return NULL;
}

static tsr_status view_carries(tsr_lowering *lowering, const tsr_op *op, tsr_ir_block *block) {
  for (int i = 0; i < block->arg_count; i++)
    if (block->args[i]->type->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_slot_view(lowering, block->args[i], tsr_op_result(op, i), 0));
  return NULL;
}

tsr_status tsr_lower_while(tsr_lowering *lowering, tsr_op *op) {
  tsr_ir_block *cond = only_block(op, 0, op->operand_count);
  tsr_ir_block *body = only_block(op, 1, op->operand_count);
  if (!cond || !body) return tsr_lower_none(lowering, op);
  int *inits = tsr_lower_alloc(lowering, op->operand_count + 1, sizeof *inits);
  TSR_NEED(inits);
  int init_count = 0, carry_count = 0, *carries = NULL;
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_operand_type(op, i)->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(op, i), &inits[init_count++]));
  TSR_TRY(result_slots(lowering, op, &carries, &carry_count));
  tsr_schedule_step *step = NULL;
  TSR_TRY(
      tsr_lower_add(lowering, op, TSR_STEP_WHILE, inits, init_count, carries, carry_count, &step));
  for (int i = 0; i < carry_count; i++) step->in_place[i] = i;
  TSR_TRY(open_lists(lowering, step, 2));
  TSR_TRY(view_carries(lowering, op, cond));
  TSR_TRY(view_carries(lowering, op, body));
  tsr_slot_move condition = {-1, -1};
  TSR_TRY(lower_list(lowering, cond, &step->lists[0], (int[]){-1}, 1, &condition));
  step->condition = condition.from;
  return lower_list(lowering, body, &step->lists[1], carries, carry_count, step->moves[1]);
}

// if and case: the first branch of an if is taken where the condition is true.
tsr_status tsr_lower_case(tsr_lowering *lowering, tsr_op *op) {
  int index = -1, result_count = 0, *results = NULL;
  TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(op, 0), &index));
  TSR_TRY(result_slots(lowering, op, &results, &result_count));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_add(lowering, op, TSR_STEP_CASE, &index, 1, results, result_count, &step));
  TSR_TRY(open_lists(lowering, step, op->region_count));
  for (int i = 0; i < op->region_count; i++) {
    tsr_ir_block *block = only_block(op, i, 0);
    if (!block) return tsr_lower_none(lowering, op);
    TSR_TRY(lower_list(lowering, block, &step->lists[i], results, result_count, step->moves[i]));
  }
  return NULL;
}
