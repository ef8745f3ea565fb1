// loop-collectives: what a loop would do in every step and can do once.
//
// A collective of a value that no step changes comes before the loop. A carried sum to which each
// step adds an all-reduced value stays partial inside the loop, and is reduced behind it; so does a
// stack in which each step writes one, if all of it is written. Gradients of the weights of a layer
// that is scanned are such sums or stacks.
#include "base/arithmetic.h"
#include "collective/collective_build.h"
#include "combine/combine_passes.h"
#include "combine/cut_values.h"
#include "combine/device_ops.h"
#include "combine/linear_ops.h"
#include "combine/loop_trips.h"
#include "propagate/edits.h"

enum { MOST_DEPTH = 8 };

// ---- what no step changes ----

static bool is_carried_on(const tsr_op *loop, const tsr_value *argument) {
  const tsr_op *end = tsr_block_terminator(loop->regions[1].first);
  return end && argument->index < end->operand_count &&
         tsr_op_operand(end, argument->index) == argument;
}

static bool is_inside(const tsr_ir_block *block, const tsr_op *loop) {
  for (const tsr_op *op = tsr_block_parent(block); op; op = tsr_op_parent(op))
    if (op == loop) return true;
  return false;
}

static bool moves_only(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_TRANSPOSE:
    case TSR_OP_RESHAPE:
    case TSR_OP_CONVERT:
    case TSR_OP_SLICE:
      return true;
    default:
      return false;
  }
}

// The value before the loop that a value of its body has in every step; NULL if it has none. Ops
// between are put there too.
// NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH deep
static tsr_status value_before(tsr_ir *ir, tsr_op *loop, tsr_value *value, int depth,
                               tsr_value **out) {
  const tsr_ir_block *body = loop->regions[1].first;
  tsr_value *outer = NULL;
  *out = NULL;
  if (!is_inside(tsr_value_block(value), loop)) {
    *out = value;
    return NULL;
  }
  if (!value->def) {
    if (value->block == body && is_carried_on(loop, value))
      *out = tsr_op_operand(loop, value->index);
    return NULL;
  }
  if (!moves_only(value->def) || depth == MOST_DEPTH) return NULL;
  TSR_TRY(value_before(ir, loop, tsr_op_operand(value->def, 0), depth + 1, &outer));
  if (!outer) return NULL;
  tsr_value_map *map = tsr_value_map_create();
  const bool mapped = map && tsr_value_map_add(map, tsr_op_operand(value->def, 0), outer);
  tsr_op *copy = mapped ? tsr_op_clone(ir, value->def, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  tsr_op_insert_before(loop, copy);
  *out = tsr_op_result(copy, 0);
  return NULL;
}

static bool moves_data(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_SDY_ALL_GATHER) || tsr_op_is(op, TSR_OP_SDY_ALL_TO_ALL) ||
         tsr_op_is(op, TSR_OP_SDY_COLLECTIVE_PERMUTE) || tsr_op_is(op, TSR_OP_SDY_ALL_REDUCE);
}

static tsr_status hoist(tsr_ir *ir, tsr_op *loop, int64_t *changes) {
  for (tsr_op *op = loop->regions[1].first->first, *next = NULL; op; op = next) {
    tsr_value *outer = NULL;
    next = op->next;
    if (!moves_data(op)) continue;
    TSR_TRY(value_before(ir, loop, tsr_op_operand(op, 0), 0, &outer));
    if (!outer) continue;
    tsr_op_unlink(op);
    tsr_op_insert_before(loop, op);
    tsr_op_set_operand(op, 0, outer);
    ++*changes;
  }
  return NULL;
}

// ---- sums and stacks that are carried ----

typedef struct carried_sum {
  tsr_op *reduce;
  int index;     // of the carry
  bool stacked;  // written by a dynamic_update_slice, not added
} carried_sum;

// The all-reduce behind views of one use each.
static tsr_op *sum_behind(const tsr_value *value) {
  for (int i = 0; i < MOST_DEPTH && value->def && tsr_value_has_one_use(value); i++) {
    if (tsr_op_is(value->def, TSR_OP_SDY_ALL_REDUCE))
      return tsr_reduction_of(value->def) == TSR_SDY_REDUCTION_SUM ? value->def : NULL;
    if (!tsr_is_linear(value->def, 0, TSR_SDY_REDUCTION_SUM) || value->def->operand_count != 1)
      return NULL;
    value = tsr_op_operand(value->def, 0);
  }
  return NULL;
}

static bool find_sum(const tsr_op *loop, int index, carried_sum *out) {
  tsr_ir_block *body = loop->regions[1].first;
  const tsr_op *end = tsr_block_terminator(body);
  const tsr_value *carry = body->args[index], *next = tsr_op_operand(end, index);
  tsr_op *def = next->def;
  if (!def || def->block != body || !tsr_value_has_one_use(carry) || !tsr_value_has_one_use(next) ||
      carry->uses->user != def || loop->regions[0].first->args[index]->uses)
    return false;
  *out = (carried_sum){.index = index, .stacked = tsr_op_is(def, TSR_OP_DYNAMIC_UPDATE_SLICE)};
  if (out->stacked && tsr_op_operand(def, 0) == carry && tsr_is_zero(tsr_op_operand(loop, index)))
    out->reduce = sum_behind(tsr_op_operand(def, 1));
  else if (tsr_op_is(def, TSR_OP_ADD))
    out->reduce = sum_behind(tsr_op_operand(def, tsr_op_operand(def, 0) == carry));
  return out->reduce && out->reduce->block == body;
}

// Whether reducing once moves no more than reducing in every step, and the carry has a place for
// partial sums: the axes that are reduced do not cut it.
static tsr_status is_worth_it(tsr_ir *ir, tsr_op *loop, const carried_sum *sum, bool *out) {
  const int64_t trips = tsr_loop_trips(loop);
  int64_t each = 0, once = 0;
  TSR_TRY(
      tsr_cut_is_uniform(ir, tsr_op_result(loop, sum->index), tsr_reduced_axes(sum->reduce), out));
  if (!*out) return NULL;
  TSR_TRY(tsr_cut_bytes(ir, tsr_op_operand(sum->reduce, 0), &each));
  TSR_TRY(tsr_cut_bytes(ir, tsr_op_result(loop, sum->index), &once));
  *out = sum->stacked ? trips > 1 && once <= tsr_saturated_multiply(each, trips)
                      : trips < 0 || trips > 1;
  return NULL;
}

// Zeros of the type and sharding of a value.
static tsr_status zeros_like(tsr_ir *ir, tsr_op *loop, tsr_value *value, tsr_value **out) {
  const tsr_attr *sharding = NULL;
  const size_t width = tsr_type_element_bytes(tsr_type_element(value->type));
  char *bytes = tsr_ir_alloc(ir, width + 1);
  TSR_NEED(bytes);
  for (size_t i = 0; i < width; i++) bytes[i] = 0;
  const tsr_named_attr attr = {tsr_ir_name(ir, "value", 5),
                               tsr_attr_dense(ir, value->type, bytes, width)};
  TSR_NEED(attr.name && attr.attr ? attr.name : NULL);
  const tsr_op_parts parts = {.id = TSR_OP_SDY_CONSTANT,
                              .result_count = 1,
                              .result_types = &value->type,
                              .attrs = &attr,
                              .attr_count = 1,
                              .location = loop->location};
  tsr_op *op = tsr_op_create(ir, &parts);
  TSR_NEED(op);
  tsr_op_insert_before(loop, op);
  *out = tsr_op_result(op, 0);
  TSR_TRY(tsr_sharding_get(ir, value, &sharding));
  return sharding ? tsr_value_sharding_set(ir, *out, sharding) : NULL;
}

// What the sum began with is added behind the loop: inside, each device would add it.
static tsr_status add_start(tsr_ir *ir, tsr_op *loop, int index, tsr_op *reduce) {
  tsr_value *const operands[] = {tsr_op_operand(loop, index), tsr_op_result(reduce, 0)};
  const tsr_attr *sharding = tsr_op_attr(reduce, "out_sharding");
  tsr_value *zeros = NULL;
  if (tsr_is_zero(operands[0])) return NULL;
  TSR_TRY(zeros_like(ir, loop, operands[0], &zeros));
  const tsr_op_parts parts = {.id = TSR_OP_ADD,
                              .operand_count = 2,
                              .operands = operands,
                              .result_count = 1,
                              .result_types = &operands[0]->type,
                              .location = loop->location};
  tsr_op *sum = tsr_op_create(ir, &parts);
  TSR_NEED(sum);
  tsr_op_insert_after(reduce, sum);
  tsr_uses_move(tsr_op_result(reduce, 0), tsr_op_result(sum, 0), sum);
  tsr_op_set_operand(loop, index, zeros);
  return tsr_value_sharding_set(ir, tsr_op_result(sum, 0), sharding);
}

static tsr_status reduce_later(tsr_ir *ir, tsr_op *loop, const carried_sum *sum) {
  tsr_value *result = tsr_op_result(loop, sum->index), *partial = tsr_op_operand(sum->reduce, 0);
  tsr_collective_parts parts = {.id = TSR_OP_SDY_ALL_REDUCE,
                                .name = "reduction_axes",
                                .axes = tsr_reduced_axes(sum->reduce),
                                .reduction = tsr_op_attr(sum->reduce, "reduction_op")};
  TSR_TRY(tsr_cut_attr(ir, result, tsr_op_attr(sum->reduce, "out_sharding"), &parts.sharding));
  tsr_op *made = tsr_collective_create(ir, sum->reduce, result, &parts);
  TSR_NEED(made);
  tsr_op_insert_after(loop, made);
  tsr_uses_move(result, tsr_op_result(made, 0), made);
  TSR_TRY(tsr_partial_mark(ir, partial, sum->reduce));
  tsr_value_replace(tsr_op_result(sum->reduce, 0), partial);
  tsr_op_erase(sum->reduce);
  return sum->stacked ? NULL : add_start(ir, loop, sum->index, made);
}

static tsr_status delay_sums(tsr_ir *ir, tsr_op *loop, int64_t *changes) {
  for (int i = 0; i < loop->result_count; i++) {
    carried_sum sum;
    bool worth = false;
    if (!find_sum(loop, i, &sum)) continue;
    TSR_TRY(is_worth_it(ir, loop, &sum, &worth));
    if (!worth) continue;
    TSR_TRY(reduce_later(ir, loop, &sum));
    ++*changes;
  }
  return NULL;
}

// ---- all loops ----

static bool is_whole(const tsr_op *loop) {
  if (loop->region_count != 2 || loop->operand_count != loop->result_count) return false;
  for (int i = 0; i < 2; i++) {
    const tsr_ir_block *block = loop->regions[i].first;
    if (!block || block->next || block->arg_count != loop->operand_count ||
        !tsr_block_terminator(block))
      return false;
  }
  return tsr_block_terminator(loop->regions[1].first)->operand_count == loop->result_count;
}

static tsr_status collect(tsr_op *op, void *context) {
  return tsr_op_is(op, TSR_OP_WHILE) && is_whole(op) ? tsr_op_list_add(context, op) : NULL;
}

// Inner loops first: what leaves one of them may leave the next.
tsr_status tsr_pass_loop_collectives(tsr_ir *ir, const tsr_pass_options *options,
                                     int64_t *changes) {
  tsr_op_list loops = {0};
  (void)options;
  tsr_status status = tsr_op_walk_after(ir->module, collect, &loops);
  for (int64_t i = 0; !status && i < loops.count; i++) {
    status = hoist(ir, loops.items[i], changes);
    if (!status) status = delay_sums(ir, loops.items[i], changes);
  }
  tsr_op_list_deinit(&loops);
  return status;
}
