// One order of operands for ops that mean the same in either, so that equal computations look
// equal.
#include "simplify/evaluate.h"
#include "simplify/rewriter.h"

typedef struct ordering {
  tsr_ir *ir;
  uint32_t last;  // number of the newest value, in the order of definition
  int64_t changes;
} ordering;

static uint32_t place_of(const tsr_value *value) {
  return tsr_value_constant(value) ? UINT32_MAX : value->mark;
}

static void swap(tsr_op *op) {
  tsr_value *first = tsr_op_operand(op, 0), *second = tsr_op_operand(op, 1);
  tsr_op_set_operand(op, 0, second);
  tsr_op_set_operand(op, 1, first);
}

static int mirrored(int64_t direction) {
  switch (direction) {
    case TSR_DIRECTION_GE:
      return TSR_DIRECTION_LE;
    case TSR_DIRECTION_GT:
      return TSR_DIRECTION_LT;
    case TSR_DIRECTION_LE:
      return TSR_DIRECTION_GE;
    case TSR_DIRECTION_LT:
      return TSR_DIRECTION_GT;
    default:
      return (int)direction;
  }
}

// Constants to the right; other operands keep their sides, which the direction was chosen for.
static tsr_status order_compare(ordering *o, tsr_op *op) {
  const int64_t direction = tsr_op_int(op, "comparison_direction", -1);
  if (direction < 0 || !tsr_value_constant(tsr_op_operand(op, 0))) return NULL;
  if (tsr_value_constant(tsr_op_operand(op, 1))) return NULL;
  const char *name = tsr_ir_name(o->ir, "comparison_direction", 20);
  const tsr_attr *attr = tsr_attr_enum(o->ir, TSR_ENUM_DIRECTION, mirrored(direction));
  TSR_NEED(name);
  TSR_NEED(attr);
  if (!tsr_op_set_attr(o->ir, op, name, attr)) return tsr_fail(NO_MEMORY, "memory of a program");
  swap(op);
  o->changes++;
  return NULL;
}

static tsr_status order_op(tsr_op *op, void *context) {
  ordering *o = context;
  for (int i = 0; i < op->result_count; i++) op->results[i].mark = ++o->last;
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int k = 0; k < block->arg_count; k++) block->args[k]->mark = ++o->last;
  if (op->info->id == TSR_OP_COMPARE && op->operand_count == 2) return order_compare(o, op);
  if (!(op->info->traits & TSR_TRAIT_COMMUTES) || op->operand_count < 2) return NULL;
  if (tsr_operand_type(op, 0) != tsr_operand_type(op, 1)) return NULL;
  if (place_of(tsr_op_operand(op, 0)) <= place_of(tsr_op_operand(op, 1))) return NULL;
  swap(op);
  o->changes++;
  return NULL;
}

tsr_status tsr_pass_operand_order(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  ordering o = {.ir = ir};
  tsr_status status = tsr_op_walk(ir->module, order_op, &o);
  *changes += o.changes;
  return status;
}
