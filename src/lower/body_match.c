// Patterns of bodies. They are read after simplification, which leaves out what integers do not
// need, such as comparisons of a value with itself.
#include "lower/body_match.h"

const tsr_op *tsr_match_op(const tsr_value *value, tsr_op_id id) {
  return value->def && value->def->info->id == id ? value->def : NULL;
}

int tsr_direction_exchanged(int direction) {
  switch (direction) {
    case TSR_DIRECTION_LT:
      return TSR_DIRECTION_GT;
    case TSR_DIRECTION_LE:
      return TSR_DIRECTION_GE;
    case TSR_DIRECTION_GT:
      return TSR_DIRECTION_LT;
    case TSR_DIRECTION_GE:
      return TSR_DIRECTION_LE;
    default:
      return direction;
  }
}

bool tsr_compares_totally(const tsr_op *compare) {
  return tsr_op_int(compare, "compare_type", -1) == TSR_COMPARE_TYPE_TOTALORDER;
}

bool tsr_match_compare(const tsr_value *value, int direction, const tsr_value *a,
                       const tsr_value *b) {
  const tsr_op *op = tsr_match_op(value, TSR_OP_COMPARE);
  if (!op || tsr_compares_totally(op)) return false;
  const int found = (int)tsr_op_int(op, "comparison_direction", -1);
  const tsr_value *x = tsr_op_operand(op, 0), *y = tsr_op_operand(op, 1);
  return (found == direction && x == a && y == b) ||
         (found == tsr_direction_exchanged(direction) && x == b && y == a);
}

const tsr_value *tsr_match_other(const tsr_value *value, tsr_op_id id, const tsr_value *one) {
  const tsr_op *op = tsr_match_op(value, id);
  if (!op) return NULL;
  const tsr_value *a = tsr_op_operand(op, 0), *b = tsr_op_operand(op, 1);
  return a == one ? b : b == one ? a : NULL;
}

bool tsr_match_select(const tsr_value *value, const tsr_value *choice, const tsr_value *a,
                      const tsr_value *b) {
  const tsr_op *op = tsr_match_op(value, TSR_OP_SELECT);
  return op && tsr_op_operand(op, 0) == choice && tsr_op_operand(op, 1) == a &&
         tsr_op_operand(op, 2) == b;
}

// ---- argmax and argmin ----

// `a` beyond `b`, or a NaN.
static bool is_beyond(const tsr_value *value, int direction, const tsr_value *a,
                      const tsr_value *b) {
  if (tsr_type_element(a->type)->kind != TSR_TYPE_FLOAT)
    return tsr_match_compare(value, direction, a, b);
  const tsr_op *either = tsr_match_op(value, TSR_OP_OR);
  if (!either) return false;
  const tsr_value *x = tsr_op_operand(either, 0), *y = tsr_op_operand(either, 1);
  return (tsr_match_compare(x, direction, a, b) && tsr_match_compare(y, TSR_DIRECTION_NE, a, a)) ||
         (tsr_match_compare(y, direction, a, b) && tsr_match_compare(x, TSR_DIRECTION_NE, a, a));
}

// Equal, and the first index lower.
static bool is_earlier(const tsr_value *value, tsr_value *const *args) {
  const tsr_op *both = tsr_match_op(value, TSR_OP_AND);
  if (!both) return false;
  const tsr_value *x = tsr_op_operand(both, 0), *y = tsr_op_operand(both, 1);
  return (tsr_match_compare(x, TSR_DIRECTION_EQ, args[0], args[2]) &&
          tsr_match_compare(y, TSR_DIRECTION_LT, args[1], args[3])) ||
         (tsr_match_compare(y, TSR_DIRECTION_EQ, args[0], args[2]) &&
          tsr_match_compare(x, TSR_DIRECTION_LT, args[1], args[3]));
}

tsr_arg_body tsr_match_arg_body(const tsr_region *region) {
  const tsr_ir_block *block = region->first;
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  if (!end || block->arg_count != 4 || end->operand_count != 2) return TSR_ARG_NONE;
  tsr_value *const *args = block->args;
  const tsr_op *chosen = tsr_match_op(tsr_op_operand(end, 0), TSR_OP_SELECT);
  const tsr_op *place = tsr_match_op(tsr_op_operand(end, 1), TSR_OP_SELECT);
  if (!chosen || !place) return TSR_ARG_NONE;
  const tsr_value *beyond = tsr_op_operand(chosen, 0), *first = tsr_op_operand(place, 0);
  if (!tsr_match_select(tsr_op_operand(end, 0), beyond, args[0], args[2]) ||
      !tsr_match_select(tsr_op_operand(end, 1), first, args[1], args[3]))
    return TSR_ARG_NONE;
  const tsr_value *earlier = tsr_match_other(first, TSR_OP_OR, beyond);
  if (!earlier || !is_earlier(earlier, args)) return TSR_ARG_NONE;
  if (is_beyond(beyond, TSR_DIRECTION_GT, args[0], args[2])) return TSR_ARG_LARGEST;
  return is_beyond(beyond, TSR_DIRECTION_LT, args[0], args[2]) ? TSR_ARG_SMALLEST : TSR_ARG_NONE;
}
