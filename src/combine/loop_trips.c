// JAX counts the steps of fori_loop and scan: a carried integer begins at a constant, is compared
// with a constant, and a constant is added in each step. Other loops have no length that the
// program shows.
#include "combine/loop_trips.h"

#include "simplify/evaluate.h"

// The value behind reshards, collectives of Shardy and conversions: none of them changes a scalar
// that counts.
static const tsr_value *behind(const tsr_value *value) {
  for (const tsr_op *def = value->def; def; def = value->def) {
    const bool moves = def->info->id >= TSR_OP_SDY_ALL_GATHER &&
                       def->info->id <= TSR_OP_SDY_REPLICATED_TO_UNREDUCED;
    if (!moves && def->info->id != TSR_OP_SDY_RESHARD && def->info->id != TSR_OP_CONVERT) break;
    value = tsr_op_operand(def, 0);
  }
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

int64_t tsr_loop_trips(const tsr_op *loop) {
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
