// Loops and branches: steps with lists of steps inside.
//
// A loop has one slot for each carry, which its condition and its body read and its results are.
// The body leaves the next values in slots of its own; at its end these become the carries by an
// exchange of addresses, so nothing is copied, and values that change places are no special case.
#include <string.h>

#include "lower/lowering.h"

static tsr_ir_block *only_block(const tsr_op *op, int region, int arguments) {
  const tsr_region *r = &op->regions[region];
  return r->block_count == 1 && r->first->arg_count == arguments ? r->first : NULL;
}

// ---- copies ----

static tsr_status run_copy(const void *description, const tsr_kernel_call *call) {
  const int64_t bytes = *(const int64_t *)description;
  if (bytes && call->outputs[0] != call->inputs[0])
    memcpy(call->outputs[0], call->inputs[0], (size_t)bytes);
  return NULL;
}

tsr_status tsr_lower_copy(tsr_lowering *lowering, const tsr_op *op, int from, int to) {
  const int64_t bytes = lowering->schedule->slots[to].bytes;
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_step(lowering, op, &from, 1, &to, 1, run_copy, &bytes, sizeof bytes, &step));
  step->overwrites[0] = TSR_INPUT(0);
  step->op_count = 0;
  return NULL;
}

// The slot that holds all of what `slot` views; -1 if it is only a part, or no memory of the run.
static int whole_slot(const tsr_schedule *schedule, int slot) {
  const tsr_slot *slots = schedule->slots;
  const int64_t bytes = slots[slot].bytes;
  while (slots[slot].kind == TSR_SLOT_VIEW) {
    if (slots[slot].offset || slots[slot].class_offsets) return -1;
    slot = slots[slot].base;
  }
  return slots[slot].kind == TSR_SLOT_ARENA && slots[slot].bytes == bytes ? slot : -1;
}

// ---- lists ----

// Lowers the ops of a block to a list of their own, and what `finish` adds after them.
typedef tsr_status tsr_list_end(tsr_lowering *lowering, tsr_schedule_step *step, const tsr_op *end,
                                int first_slot);

static tsr_status lower_list(tsr_lowering *lowering, tsr_ir_block *block, tsr_schedule_step *step,
                             int index, tsr_list_end *finish) {
  tsr_step_list *outer = lowering->list;
  const tsr_op *end = tsr_block_terminator(block);
  if (!end) return tsr_lower_none(lowering, block->region->parent);
  const int first_slot = lowering->schedule->slot_count;
  lowering->list = &step->lists[index];
  tsr_status status = tsr_lower_block(lowering, block);
  if (!status) status = finish(lowering, step, end, first_slot);
  lowering->list = outer;
  return status;
}

static tsr_status open_lists(tsr_lowering *lowering, tsr_schedule_step *step, int count) {
  step->list_count = count;
  step->lists = tsr_lower_alloc(lowering, count, sizeof *step->lists);
  step->moves = tsr_lower_alloc(lowering, step->output_count + 1, sizeof *step->moves);
  TSR_NEED(step->lists && step->moves ? step : NULL);
  return NULL;
}

// Whether a value is carried through a loop: it is a tensor, and the body does not just give it
// back. One that the body gives back stays where it was before the loop.
static bool is_carried(const tsr_op *op, int index) {
  const tsr_ir_block *body = op->regions[1].first;
  const tsr_op *end = tsr_block_terminator(body);
  return tsr_operand_type(op, index)->kind == TSR_TYPE_TENSOR &&
         !(end && index < end->operand_count && tsr_op_operand(end, index) == body->args[index]);
}

// The slots of the tensors among the results of an op.
static tsr_status result_slots(tsr_lowering *lowering, tsr_op *op, int **out_slots,
                               int *out_count) {
  int *slots = tsr_lower_alloc(lowering, op->result_count + 1, sizeof *slots);
  TSR_NEED(slots);
  int count = 0;
  for (int i = 0; i < op->result_count; i++) {
    if (op->results[i].type->kind != TSR_TYPE_TENSOR) continue;
    if (op->info->id == TSR_OP_WHILE && !is_carried(op, i))
      TSR_TRY(tsr_slot_view(lowering, &op->results[i], tsr_op_operand(op, i), 0));
    else
      TSR_TRY(tsr_slot_create(lowering, &op->results[i], &slots[count++]));
  }
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

static tsr_status end_condition(tsr_lowering *lowering, tsr_schedule_step *step, const tsr_op *end,
                                int first_slot) {
  (void)first_slot;
  return tsr_slot_of(lowering, tsr_op_operand(end, 0), &step->condition);
}

static bool is_carry(const tsr_schedule_step *step, int slot) {
  for (int i = 0; i < step->output_count; i++)
    if (step->outputs[i] == slot) return true;
  return false;
}

// Whether the memory of a value can become that of a carry: it is all of a slot that the body made,
// or of a carry, and no earlier move takes it.
static bool can_move(const tsr_schedule *schedule, const tsr_schedule_step *step, int slot,
                     int first_slot, int done) {
  const int whole = whole_slot(schedule, slot);
  if (whole < 0 || (whole < first_slot && !is_carry(step, whole))) return false;
  if (schedule->slots[whole].classes != schedule->slots[step->outputs[done]].classes) return false;
  for (int i = 0; i < done; i++)
    if (step->moves[i].from == whole) return false;
  return true;
}

static tsr_status end_body(tsr_lowering *lowering, tsr_schedule_step *step, const tsr_op *end,
                           int first_slot) {
  for (int i = 0, k = 0; i < end->operand_count; i++) {
    if (!is_carried(step->op, i)) continue;
    int slot = -1;
    TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(end, i), &slot));
    if (!can_move(lowering->schedule, step, slot, first_slot, k)) {
      int copy = -1;
      const tsr_slot *carry = &lowering->schedule->slots[step->outputs[k]];
      TSR_TRY(tsr_slot_temp(lowering, carry->bytes, carry->classes, &copy));
      TSR_TRY(tsr_lower_copy(lowering, end, slot, copy));
      slot = copy;
    }
    step->moves[k] = (tsr_slot_move){whole_slot(lowering->schedule, slot), step->outputs[k]};
    k++;
  }
  return NULL;
}

// The slot of a first value. A large constant is written to memory of its own, which the carry
// takes.
static tsr_status initial_slot(tsr_lowering *lowering, tsr_value *value, const tsr_value *carry,
                               int *out_slot) {
  if (!value->def || !tsr_op_fills(value->def)) return tsr_slot_of(lowering, value, out_slot);
  TSR_TRY(tsr_slot_temp(lowering, tsr_type_bytes(value->type), tsr_value_classes(lowering, carry),
                        out_slot));
  return tsr_lower_fill(lowering, value->def, *out_slot);
}

tsr_status tsr_lower_while(tsr_lowering *lowering, tsr_op *op) {
  tsr_ir_block *cond = only_block(op, 0, op->operand_count);
  tsr_ir_block *body = only_block(op, 1, op->operand_count);
  if (!cond || !body) return tsr_lower_none(lowering, op);
  int *inits = tsr_lower_alloc(lowering, op->operand_count + 1, sizeof *inits);
  TSR_NEED(inits);
  int init_count = 0, carry_count = 0, *carries = NULL;
  for (int i = 0; i < op->operand_count; i++)
    if (is_carried(op, i))
      TSR_TRY(initial_slot(lowering, tsr_op_operand(op, i), tsr_op_result(op, i),
                           &inits[init_count++]));
  TSR_TRY(result_slots(lowering, op, &carries, &carry_count));
  tsr_schedule_step *step = NULL;
  TSR_TRY(
      tsr_lower_add(lowering, op, TSR_STEP_WHILE, inits, init_count, carries, carry_count, &step));
  for (int i = 0; i < carry_count; i++) step->overwrites[i] = TSR_INPUT(i);
  TSR_TRY(open_lists(lowering, step, 2));
  TSR_TRY(view_carries(lowering, op, cond));
  TSR_TRY(view_carries(lowering, op, body));
  TSR_TRY(lower_list(lowering, cond, step, 0, end_condition));
  return lower_list(lowering, body, step, 1, end_body);
}

// A value that the branch made is made in the memory of the result; others are copied there.
static tsr_status end_branch(tsr_lowering *lowering, tsr_schedule_step *step, const tsr_op *end,
                             int first_slot) {
  tsr_schedule *schedule = lowering->schedule;
  for (int i = 0, k = 0; i < end->operand_count; i++) {
    if (tsr_operand_type(end, i)->kind != TSR_TYPE_TENSOR) continue;
    int slot = -1;
    TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(end, i), &slot));
    const int whole = whole_slot(schedule, slot), to = step->outputs[k++];
    if (whole >= first_slot && schedule->slots[whole].classes == schedule->slots[to].classes) {
      schedule->slots[whole].kind = TSR_SLOT_VIEW;
      schedule->slots[whole].base = to;
    } else {
      TSR_TRY(tsr_lower_copy(lowering, end, slot, to));
    }
  }
  return NULL;
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
    TSR_TRY(lower_list(lowering, block, step, i, end_branch));
  }
  return NULL;
}
