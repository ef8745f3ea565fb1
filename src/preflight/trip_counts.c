// How often each op runs: calls of its function, times the steps of the loops around it.
//
// JAX counts the steps of fori_loop and scan: a carried integer begins at a constant, is compared
// with a constant, and a constant is added in each step. Other loops have no length that the
// program shows; they are counted once, and said to be.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "preflight/preflight.h"
#include "propagate/symbol_names.h"
#include "simplify/evaluate.h"

// ---- one loop ----

// The value behind reshards and copies of scalars.
static const tsr_value *behind(const tsr_value *value) {
  while (value->def &&
         (tsr_flight_is_collective(value->def) || value->def->info->id == TSR_OP_SDY_RESHARD ||
          value->def->info->id == TSR_OP_CONVERT))
    value = tsr_op_operand(value->def, 0);
  return value;
}

static bool constant_of(const tsr_value *value, int64_t *out) {
  const tsr_attr *dense = tsr_value_constant(behind(value));
  const tsr_type *element = dense ? tsr_type_element(dense->type) : NULL;
  if (!element || element->kind != TSR_TYPE_INTEGER || element->width > 64 || !dense->length)
    return false;
  uint64_t bits = 0;
  const unsigned char *bytes = (const unsigned char *)dense->bytes;
  const int count = element->width / 8;
  for (int i = 0; i < count; i++) bits |= (uint64_t)bytes[i] << (8 * i);
  if (count > 0 && count < 8 && element->sign != TSR_UNSIGNED && bytes[count - 1] & 0x80)
    bits |= ~UINT64_C(0) << (8 * count);
  *out = (int64_t)bits;
  return count > 0;
}

// An argument of this block; NULL for other values.
static const tsr_value *argument_of(const tsr_value *value, const tsr_ir_block *block) {
  value = behind(value);
  return !value->def && value->block == block ? value : NULL;
}

typedef struct loop_bound {
  int carried;  // the counter
  int64_t limit;
  int direction;
} loop_bound;

static bool find_bound(const tsr_op *loop, loop_bound *out) {
  const tsr_ir_block *block = loop->regions[0].first;
  const tsr_op *end = tsr_block_terminator(block);
  const tsr_value *truth = end && end->operand_count ? behind(tsr_op_operand(end, 0)) : NULL;
  const tsr_op *compare = truth ? truth->def : NULL;
  if (!compare || compare->info->id != TSR_OP_COMPARE) return false;
  const tsr_value *left = argument_of(tsr_op_operand(compare, 0), block);
  if (!left || !constant_of(tsr_op_operand(compare, 1), &out->limit)) return false;
  out->carried = left->index;
  out->direction = (int)tsr_op_int(compare, "comparison_direction", -1);
  return true;
}

static bool find_step(const tsr_op *loop, int carried, int64_t *out_step) {
  const tsr_ir_block *block = loop->regions[1].first;
  const tsr_op *end = tsr_block_terminator(block);
  if (!end || carried >= end->operand_count) return false;
  const tsr_op *add = behind(tsr_op_operand(end, carried))->def;
  if (!add || add->info->id != TSR_OP_ADD) return false;
  const tsr_value *left = argument_of(tsr_op_operand(add, 0), block);
  const int other = left ? 1 : 0;
  if (!left) left = argument_of(tsr_op_operand(add, 1), block);
  return left && left->index == carried && constant_of(tsr_op_operand(add, other), out_step);
}

// -1 = not known.
static int64_t trips_of(const tsr_op *loop) {
  loop_bound bound;
  int64_t start = 0, step = 0;
  if (loop->region_count != 2 || !loop->regions[0].first || !loop->regions[1].first) return -1;
  if (!find_bound(loop, &bound) || !find_step(loop, bound.carried, &step)) return -1;
  if (!constant_of(tsr_op_operand(loop, bound.carried), &start) || step < 1) return -1;
  if (bound.direction == TSR_DIRECTION_LE && bound.limit < INT64_MAX)
    bound.limit++;
  else if (bound.direction != TSR_DIRECTION_LT)
    return -1;
  if (start >= bound.limit) return 0;
  const uint64_t span = (uint64_t)bound.limit - (uint64_t)start;
  const uint64_t trips = span / (uint64_t)step + (span % (uint64_t)step != 0);
  return trips > INT64_MAX ? INT64_MAX : (int64_t)trips;
}

// ---- all ops ----

// The condition of a loop runs once more than its body; what it costs is not worth the difference.
static void count_op(tsr_preflight *flight, int64_t index) {
  tsr_flight_op *op = &flight->ops[index];
  if (op->parent >= 0) {
    const tsr_flight_op *parent = &flight->ops[op->parent];
    const bool unknown = parent->trips < 0;
    op->times = tsr_saturated_multiply(parent->times, unknown ? 1 : parent->trips);
    op->uncertain = parent->uncertain || unknown;
  }
  if (op->op->info->id != TSR_OP_WHILE) return;
  op->trips = trips_of(op->op);
  flight->info.unknown_loops += op->trips < 0;
}

static void count_calls(tsr_preflight *flight, int64_t function) {
  for (int64_t i = function + 1; i < flight->op_count && flight->ops[i].function == function; i++) {
    count_op(flight, i);
    const tsr_op *op = flight->ops[i].op;
    const tsr_op *callee = op->info->id == TSR_OP_CALL ? tsr_callee(flight->ir, op) : NULL;
    if (!callee) continue;
    tsr_flight_op *called = &flight->ops[tsr_flight_index(callee)];
    called->times = tsr_saturated_add(called->times, flight->ops[i].times);
    called->uncertain |= flight->ops[i].uncertain;
  }
}

// Callers first: then all calls of a function are known before it is walked.
tsr_status tsr_flight_count_times(tsr_preflight *flight) {
  tsr_call_order order = {0};
  TSR_TRY(tsr_call_order_make(flight->ir, &order));
  // The order is found by marks of functions, which are indices here.
  for (int64_t i = 0; i < flight->op_count; i++) flight->ops[i].op->mark = (uint32_t)i + 1;
  flight->ops[flight->entry].times = 1;
  for (int i = order.count - 1; i >= 0; i--) count_calls(flight, tsr_flight_index(order.list[i]));
  free(order.list);
  return NULL;
}
