// Small integers that are known for each lane: the number of its device, what is looked up by it in
// tables, and what is computed of such numbers.
#include <stdlib.h>

#include "lanes/lane_flow.h"
#include "simplify/evaluate.h"

enum { MOST_ELEMENTS = 64 };  // of a value that is evaluated for each lane

static bool is_small(const tsr_value *value) {
  const tsr_type *type = value->type;
  return type->kind == TSR_TYPE_TENSOR && tsr_type_is_static(type) &&
         tsr_type_element(type)->kind == TSR_TYPE_INTEGER && tsr_type_element_count(type) >= 1 &&
         tsr_type_element_count(type) <= MOST_ELEMENTS;
}

// ---- numbers of devices ----

// The devices of a mesh are the partitions of one replica; parallel programs have both.
static int64_t number_of(const tsr_manual *m, const tsr_op *op, int lane) {
  const int partitions = m->grid.partitions;
  if (op->info->id == TSR_OP_REPLICA_ID) return partitions ? lane / partitions : 0;
  return partitions ? lane % partitions : m->devices[lane];
}

static tsr_status know_number(tsr_lane_flow *flow, const tsr_manual *m, const tsr_op *op) {
  const tsr_lane_classes *classes = NULL;
  const tsr_type *type = op->results[0].type;
  int64_t *keys = tsr_arena_alloc(flow->arena, sizeof *keys * (size_t)m->lanes);
  TSR_NEED(keys);
  for (int lane = 0; lane < m->lanes; lane++) keys[lane] = number_of(m, op, lane);
  TSR_TRY(tsr_classes_of_keys(flow->table, m->lanes, keys, &classes));
  const int count = tsr_class_count(classes);
  const tsr_attr **known = tsr_arena_zeros(flow->arena, (size_t)count, sizeof *known);
  uint32_t *numbers = tsr_ir_alloc(flow->ir, sizeof *numbers * (size_t)count);
  TSR_NEED(known && numbers ? known : NULL);
  for (int i = 0; i < count; i++) {
    numbers[i] = (uint32_t)keys[tsr_class_lane(classes, i)];
    known[i] = tsr_attr_dense(flow->ir, type, &numbers[i], sizeof *numbers);
    TSR_NEED(known[i]);
  }
  return tsr_lane_flow_set(flow, &op->results[0], classes, known);
}

// ---- what is computed of them ----

// The classes of all operands together, if each is known or a constant and one is known.
static tsr_status meet_known(const tsr_lane_flow *flow, const tsr_op *op, bool *out_known,
                             const tsr_lane_classes **out_classes) {
  bool one = false;
  *out_known = false;
  *out_classes = NULL;
  if (op->region_count || !op->result_count || !tsr_evaluates(op->info->id)) return NULL;
  for (int i = 0; i < op->result_count; i++)
    if (!is_small(&op->results[i])) return NULL;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *operand = tsr_op_operand(op, i);
    const bool known = tsr_lane_flow_known(flow, operand) != NULL;
    if (!known && !tsr_value_constant(operand)) return NULL;
    one = one || known;
    TSR_TRY(tsr_classes_meet(flow->table, *out_classes, tsr_lane_flow_classes(flow, operand),
                             out_classes));
  }
  *out_known = one;
  return NULL;
}

static const tsr_attr *operand_in(const tsr_lane_flow *flow, const tsr_value *value, int lane) {
  const tsr_attr *const *known = tsr_lane_flow_known(flow, value);
  return known ? known[tsr_class_of(tsr_lane_flow_classes(flow, value), lane)]
               : tsr_value_constant(value);
}

// The results of an op in each class, `result_count` one after another.
static tsr_status evaluate(const tsr_lane_flow *flow, tsr_op *op, const tsr_lane_classes *classes,
                           const tsr_attr **operands, const tsr_attr **results, bool *out_known) {
  *out_known = true;
  for (int i = 0; i < tsr_class_count(classes) && *out_known; i++) {
    for (int k = 0; k < op->operand_count; k++)
      operands[k] = operand_in(flow, tsr_op_operand(op, k), tsr_class_lane(classes, i));
    TSR_TRY(tsr_evaluate_op(flow->ir, op, operands, NULL, out_known,
                            results + (int64_t)i * op->result_count));
  }
  return NULL;
}

// Lanes with the same value of a result are together, whatever it was computed of.
static tsr_status set_result(tsr_lane_flow *flow, const tsr_op *op, int index,
                             const tsr_lane_classes *classes, const tsr_attr **results) {
  const tsr_value *value = &op->results[index];
  const int count = tsr_class_count(classes), width = (int)tsr_type_element_count(value->type);
  const int lanes = classes ? classes->lanes : 1;
  int *starts = tsr_arena_zeros(flow->arena, (size_t)count + 1, sizeof *starts);
  int64_t *items = tsr_arena_zeros(flow->arena, (size_t)count * (size_t)width, sizeof *items);
  int64_t *numbers = tsr_arena_zeros(flow->arena, (size_t)count, sizeof *numbers);
  int64_t *keys = tsr_arena_zeros(flow->arena, (size_t)lanes, sizeof *keys);
  TSR_NEED(starts && items && numbers && keys ? flow : NULL);
  for (int i = 0; i < count; i++) {
    starts[i + 1] = starts[i] + width;
    for (int k = 0; k < width; k++)
      items[starts[i] + k] = tsr_attr_int_at(results[(int64_t)i * op->result_count + index], k);
  }
  TSR_TRY(tsr_number_lists(count, starts, items, numbers));
  for (int lane = 0; lane < lanes; lane++) keys[lane] = numbers[tsr_class_of(classes, lane)];
  const tsr_lane_classes *coarser = NULL;
  TSR_TRY(tsr_classes_of_keys(flow->table, lanes, keys, &coarser));
  const tsr_attr **known =
      tsr_arena_zeros(flow->arena, (size_t)tsr_class_count(coarser), sizeof *known);
  TSR_NEED(known);
  for (int i = 0; i < tsr_class_count(coarser); i++)
    known[i] =
        results[(int64_t)tsr_class_of(classes, tsr_class_lane(coarser, i)) * op->result_count +
                index];
  return tsr_lane_flow_set(flow, value, coarser, known);
}

tsr_status tsr_lane_know(tsr_lane_flow *flow, const tsr_manual *manual, tsr_op *op,
                         bool *out_known) {
  const tsr_lane_classes *classes = NULL;
  *out_known = op->info->id == TSR_OP_PARTITION_ID || op->info->id == TSR_OP_REPLICA_ID;
  if (*out_known) return know_number(flow, manual, op);
  TSR_TRY(meet_known(flow, op, out_known, &classes));
  if (!*out_known) return NULL;
  const size_t count = (size_t)tsr_class_count(classes) * (size_t)op->result_count;
  const tsr_attr **operands =
      tsr_arena_zeros(flow->arena, (size_t)op->operand_count + 1, sizeof *operands);
  const tsr_attr **results = tsr_arena_zeros(flow->arena, count, sizeof *results);
  TSR_NEED(operands && results ? flow : NULL);
  TSR_TRY(evaluate(flow, op, classes, operands, results, out_known));
  for (int i = 0; i < op->result_count && *out_known; i++)
    TSR_TRY(set_result(flow, op, i, classes, results));
  return NULL;
}

// ---- arguments ----

typedef struct argument_maker {
  tsr_lane_flow *flow;
  tsr_ir_block *body;
} argument_maker;

static bool is_known_op(const tsr_lane_flow *flow, const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (!tsr_lane_flow_known(flow, &op->results[i])) return false;
  return op->result_count > 0;
}

static bool has_other_users(const tsr_lane_flow *flow, const tsr_value *value) {
  for (const tsr_use *use = value->uses; use; use = use->next)
    if (!is_known_op(flow, use->user)) return true;
  return false;
}

static tsr_status take_result(argument_maker *m, tsr_value *value) {
  tsr_lane_flow *flow = m->flow;
  if (!has_other_users(flow, value)) return NULL;
  tsr_value *argument = tsr_block_add_arg(flow->ir, m->body, value->type, NULL);
  TSR_NEED(argument);
  TSR_TRY(tsr_lane_flow_set(flow, argument, tsr_lane_flow_classes(flow, value),
                            tsr_lane_flow_known(flow, value)));
  tsr_value_replace(value, argument);
  return NULL;
}

static tsr_status take_block(argument_maker *m, const tsr_ir_block *block);

static tsr_status take_op(argument_maker *m, tsr_op *op) {
  if (op->info->id == TSR_OP_SDY_MANUAL_COMPUTATION)
    return tsr_lane_known_arguments(m->flow, op->regions[0].first);
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      TSR_TRY(take_block(m, block));
  if (is_known_op(m->flow, op))
    for (int i = 0; i < op->result_count; i++) TSR_TRY(take_result(m, &op->results[i]));
  return NULL;
}

static bool is_unused(const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].uses) return false;
  return true;
}

// Users are erased before what they use.
static tsr_status take_block(argument_maker *m, const tsr_ir_block *block) {
  for (tsr_op *op = block->first; op; op = op->next) TSR_TRY(take_op(m, op));
  for (tsr_op *op = block->last, *previous = NULL; op; op = previous) {
    previous = op->prev;
    if (is_known_op(m->flow, op) && is_unused(op)) tsr_op_erase(op);
  }
  return NULL;
}

tsr_status tsr_lane_known_arguments(tsr_lane_flow *flow, tsr_ir_block *body) {
  argument_maker maker = {flow, body};
  return take_block(&maker, body);
}
