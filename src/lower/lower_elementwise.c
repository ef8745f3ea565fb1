// An elementwise op by itself: a tile program of one dim.
#include "lower/elementwise_code.h"

typedef struct element_inputs {
  int slots[3];
  int count;
  uint64_t overwritten;  // the inputs whose memory the result may take
} element_inputs;

// A value is one input, however often the op reads it.
static int add_input(element_inputs *inputs, int slot) {
  int index = 0;
  while (index < inputs->count && inputs->slots[index] != slot) index++;
  if (index == inputs->count) inputs->slots[inputs->count++] = slot;
  return index;
}

// A scalar serves all indices: the predicate of a select, the bounds of a clamp.
static tsr_status load_operand(tsr_lowering *lowering, tsr_tile_program *program, const tsr_op *op,
                               int operand, element_inputs *inputs, int *out_value) {
  tsr_value *value = tsr_op_operand(op, operand);
  const tsr_type *result = op->results[0].type;
  const tsr_attr *splat = value->def ? tsr_op_splat(value->def) : NULL;
  if (splat) {
    *out_value = tsr_tile_add_splat(program, splat);
    return NULL;
  }
  int slot = -1;
  TSR_TRY(tsr_slot_of(lowering, value, &slot));
  const bool whole = tsr_type_element_count(value->type) == tsr_type_element_count(result);
  const int index = add_input(inputs, slot);
  if (whole && tsr_type_bytes(value->type) == tsr_type_bytes(result))
    inputs->overwritten |= TSR_INPUT(index);
  *out_value = tsr_tile_load(program, index, value->type->dtype, (int64_t[]){whole}, 0);
  return NULL;
}

static tsr_status make_program(tsr_lowering *lowering, tsr_tile_program *program, const tsr_op *op,
                               element_inputs *inputs) {
  int operands[3] = {-1, -1, -1};
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(load_operand(lowering, program, op, i, inputs, &operands[i]));
  const int value = tsr_tile_add_op(program, op, operands);
  tsr_tile_store(program, value, 0, (int64_t[]){1}, 0);
  TSR_TRY(tsr_tile_finish(program));
  return value >= 0 ? NULL : tsr_lower_none(lowering, (tsr_op *)op);
}

tsr_status tsr_lower_elementwise(tsr_lowering *lowering, tsr_op *op) {
  if (!tsr_op_is_elementwise(op)) return tsr_lower_none(lowering, op);
  const int64_t count = tsr_type_element_count(op->results[0].type);
  int slot = -1;
  TSR_TRY(tsr_slot_create(lowering, &op->results[0], &slot));
  if (count == 0) return NULL;
  element_inputs inputs = {0};
  tsr_tile_program *program =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {count}, .row_dims = 1});
  TSR_NEED(program);
  const tsr_status status = make_program(lowering, program, op, &inputs);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_tile(lowering, op, program, inputs.slots, inputs.count, &slot, 1, &step));
  step->overwrites[0] = inputs.overwritten;
  return NULL;
}
