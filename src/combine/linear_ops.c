#include "combine/linear_ops.h"

#include "propagate/edits.h"
#include "simplify/evaluate.h"

// How an op treats a partial operand.
typedef enum linear_form {
  FORM_MOVES = 1,  // elements change places only: any reduction passes
  FORM_NEGATES,    // sums pass
  FORM_SCALES,     // sums pass: the other operand is a factor
  FORM_SCALES_BY,  // the same if the first operand is the partial one
  FORM_WIDENS,     // sums of floats pass to a wider type
  FORM_REDUCES     // its body must fit
} linear_form;

static linear_form form_of(tsr_op_id id) {
  switch (id) {
    case TSR_OP_TRANSPOSE:
    case TSR_OP_RESHAPE:
    case TSR_OP_SLICE:
    case TSR_OP_REVERSE:
    case TSR_OP_BROADCAST_IN_DIM:
    case TSR_OP_DYNAMIC_SLICE:
      return FORM_MOVES;
    case TSR_OP_NEGATE:
      return FORM_NEGATES;
    case TSR_OP_MULTIPLY:
    case TSR_OP_DOT_GENERAL:
      return FORM_SCALES;
    case TSR_OP_DIVIDE:
      return FORM_SCALES_BY;
    case TSR_OP_CONVERT:
      return FORM_WIDENS;
    case TSR_OP_REDUCE:
      return FORM_REDUCES;
    default:
      return 0;
  }
}

static tsr_op_id combiner_of(int reduction) {
  switch (reduction) {
    case TSR_SDY_REDUCTION_MAX:
      return TSR_OP_MAXIMUM;
    case TSR_SDY_REDUCTION_MIN:
      return TSR_OP_MINIMUM;
    default:
      return TSR_OP_ADD;
  }
}

static bool is_float(const tsr_type *type) {
  return tsr_type_element(type)->kind == TSR_TYPE_FLOAT;
}

// Partial integers wrap around in their own type only; floats that become narrower are rounded.
static bool widens(const tsr_op *op) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  return is_float(from) && is_float(to) &&
         tsr_type_bits(tsr_type_element(to)) >= 2 * tsr_type_bits(tsr_type_element(from));
}

bool tsr_is_zero(const tsr_value *value) {
  while (tsr_op_is(value->def, TSR_OP_BROADCAST_IN_DIM)) value = tsr_op_operand(value->def, 0);
  const tsr_attr *dense = tsr_value_constant(value);
  if (!dense || !dense->length) return false;
  for (size_t i = 0; i < dense->length; i++)
    if (dense->bytes[i]) return false;
  return true;
}

// A sum begins at zero, or each device would add what it begins at; a maximum may begin anywhere.
static bool reduces_by(const tsr_op *op, int reduction) {
  if (op->operand_count != 2 || op->region_count != 1 || !op->regions[0].first) return false;
  const tsr_ir_block *body = op->regions[0].first;
  const tsr_op *first = body->first, *end = tsr_block_terminator(body);
  if (!first || first->next != end || !tsr_op_is(first, combiner_of(reduction)) ||
      end->operand_count != 1 || tsr_op_operand(end, 0) != tsr_op_result(first, 0))
    return false;
  const tsr_value *a = tsr_op_operand(first, 0), *b = tsr_op_operand(first, 1);
  if (a->block != body || b->block != body || a == b) return false;
  return reduction != TSR_SDY_REDUCTION_SUM || tsr_is_zero(tsr_op_operand(op, 1));
}

bool tsr_is_linear(const tsr_op *op, int index, int reduction) {
  const bool sum = reduction == TSR_SDY_REDUCTION_SUM;
  if (op->result_count != 1) return false;
  switch (form_of(op->info->id)) {
    case FORM_MOVES:
      return index == 0;
    case FORM_NEGATES:
      return sum;
    case FORM_SCALES:
      return sum;
    case FORM_SCALES_BY:  // quotients of integers are rounded
      return sum && index == 0 && is_float(op->results[0].type);
    case FORM_WIDENS:
      return sum && widens(op);
    case FORM_REDUCES:
      return index == 0 && reduces_by(op, reduction);
  }
  return false;
}

bool tsr_joins_partials(const tsr_op *op, int reduction) {
  return tsr_op_is(op, combiner_of(reduction)) ||
         (reduction == TSR_SDY_REDUCTION_SUM && tsr_op_is(op, TSR_OP_SUBTRACT));
}
