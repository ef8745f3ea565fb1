// Classes of lanes, from op to op.
#include "lanes/lane_flow.h"

#include <stdlib.h>

#include "lanes/lane_groups.h"
#include "processes/run_parallel.h"
#include "simplify/evaluate.h"

// ---- facts ----

static tsr_lane_fact *place_of(const tsr_lane_flow *flow, const tsr_value *value) {
  uint64_t at = (uint64_t)(uintptr_t)value * UINT64_C(0x9E3779B97F4A7C15) >> 20;
  for (;; at++) {
    tsr_lane_fact *fact = &flow->facts[at & (uint64_t)(flow->capacity - 1)];
    if (!fact->value || fact->value == value) return fact;
  }
}

static tsr_status make_room(tsr_lane_flow *flow) {
  if (2 * flow->fact_count < flow->capacity) return NULL;
  const tsr_lane_flow old = *flow;
  flow->capacity = old.capacity ? 2 * old.capacity : 256;
  flow->facts = tsr_arena_zeros(flow->arena, (size_t)flow->capacity, sizeof *flow->facts);
  TSR_NEED(flow->facts);
  for (int64_t i = 0; i < old.capacity; i++)
    if (old.facts[i].value) *place_of(flow, old.facts[i].value) = old.facts[i];
  return NULL;
}

tsr_status tsr_lane_flow_set(tsr_lane_flow *flow, const tsr_value *value,
                             const tsr_lane_classes *classes, const tsr_attr *const *known) {
  TSR_TRY(make_room(flow));
  tsr_lane_fact *fact = place_of(flow, value);
  if (!fact->value) flow->fact_count++;
  *fact = (tsr_lane_fact){value, classes, known};
  return NULL;
}

const tsr_lane_classes *tsr_lane_flow_classes(const tsr_lane_flow *flow, const tsr_value *value) {
  return flow->capacity ? place_of(flow, value)->classes : NULL;
}

const tsr_attr *const *tsr_lane_flow_known(const tsr_lane_flow *flow, const tsr_value *value) {
  return flow->capacity ? place_of(flow, value)->known : NULL;
}

// ---- ops that keep lanes together ----

typedef struct flow_body {
  tsr_lane_flow *flow;
  const tsr_manual *manual;
} flow_body;

static tsr_status set_all(const flow_body *b, const tsr_op *op, const tsr_lane_classes *classes) {
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_lane_flow_set(b->flow, &op->results[i], classes, NULL));
  return NULL;
}

typedef struct source_meet {
  const flow_body *body;
  const tsr_lane_classes *classes;
} source_meet;

static tsr_status meet_value(source_meet *m, const tsr_value *value) {
  const tsr_lane_flow *flow = m->body->flow;
  return tsr_classes_meet(flow->table, m->classes, tsr_lane_flow_classes(flow, value), &m->classes);
}

// Operands of the op and of those in its regions; what is defined inside has no facts.
static tsr_status meet_operands(tsr_op *op, void *context) {
  for (int i = 0; i < op->operand_count; i++) TSR_TRY(meet_value(context, tsr_op_operand(op, i)));
  return NULL;
}

static tsr_status flow_pure(const flow_body *b, tsr_op *op) {
  bool known = false;
  TSR_TRY(tsr_lane_know(b->flow, b->manual, op, &known));
  if (known) return NULL;
  source_meet meet = {b, NULL};
  TSR_TRY(tsr_op_walk(op, meet_operands, &meet));
  return set_all(b, op, meet.classes);
}

// What has effects, or numbers of its own on each device.
static tsr_status flow_apart(const flow_body *b, const tsr_op *op) {
  const tsr_lane_classes *finest = NULL;
  TSR_TRY(tsr_classes_finest(b->flow->table, b->manual->lanes, &finest));
  return set_all(b, op, finest);
}

// ---- collectives ----

// What members of a group get depends on the values of all members in their order, and if
// `by_place` on their own place. Lanes in no group get zeros.
static tsr_status group_keys(const tsr_lane_groups *groups, const tsr_lane_classes *operand,
                             bool by_place, int64_t *items, int64_t *numbers, int64_t *out_keys) {
  const int count = groups->starts[groups->group_count];
  for (int i = 0; i < count; i++) items[i] = tsr_class_of(operand, groups->members[i]);
  TSR_TRY(tsr_number_lists(groups->group_count, groups->starts, items, numbers));
  for (int lane = 0; lane < groups->lanes; lane++) out_keys[lane] = -1;
  for (int g = 0; g < groups->group_count; g++)
    for (int i = groups->starts[g]; i < groups->starts[g + 1]; i++)
      out_keys[groups->members[i]] =
          numbers[g] * (int64_t)groups->lanes + (by_place ? i - groups->starts[g] : 0);
  return NULL;
}

// The first member of each group sends (broadcast) or gets (reduce) the value.
static void root_keys(const tsr_lane_groups *groups, const tsr_lane_classes *operand, bool reduces,
                      int64_t *keys) {
  for (int g = 0; g < groups->group_count; g++) {
    const int *members = groups->members + groups->starts[g];
    for (int i = 0; i < groups->starts[g + 1] - groups->starts[g]; i++)
      if (!reduces)
        keys[members[i]] = tsr_class_of(operand, members[0]);
      else if (i)
        keys[members[i]] = -1;
  }
}

static tsr_status flow_value_of_groups(const flow_body *b, const tsr_op *op,
                                       const tsr_lane_groups *groups, int value, int64_t *room) {
  tsr_lane_flow *flow = b->flow;
  const int lanes = b->manual->lanes;
  const tsr_op_id id = op->info->id;
  const tsr_lane_classes *from = tsr_lane_flow_classes(flow, tsr_op_operand(op, value)), *to = NULL;
  int64_t *keys = room, *items = room + lanes, *numbers = room + 2 * lanes;
  TSR_TRY(group_keys(groups, from, id == TSR_OP_REDUCE_SCATTER || id == TSR_OP_ALL_TO_ALL, items,
                     numbers, keys));
  if (id == TSR_OP_COLLECTIVE_BROADCAST || id == TSR_OP_COLLECTIVE_REDUCE)
    root_keys(groups, from, id == TSR_OP_COLLECTIVE_REDUCE, keys);
  TSR_TRY(tsr_classes_of_keys(flow->table, lanes, keys, &to));
  return tsr_lane_flow_set(flow, &op->results[value], to, NULL);
}

static tsr_status flow_groups(const flow_body *b, tsr_op *op) {
  const tsr_lane_site site = {b->flow->ir, b->flow->arena, b->manual};
  tsr_lane_groups groups;
  if (tsr_op_attr(op, TSR_MEMBERS_ATTR) || tsr_op_flag(op, "has_dynamic_root"))
    return flow_apart(b, op);
  TSR_TRY(tsr_lane_groups_of(&site, op, &groups));
  int64_t *room = malloc(3 * sizeof *room * (size_t)b->manual->lanes + 1);
  tsr_status status = room ? NULL : tsr_fail(NO_MEMORY, "memory of a program");
  for (int i = 0; i < op->result_count && !status; i++)
    status = flow_value_of_groups(b, op, &groups, i, room);
  free(room);
  return status;
}

static tsr_status flow_permute(const flow_body *b, const tsr_op *op) {
  const tsr_lane_site site = {b->flow->ir, b->flow->arena, b->manual};
  const int lanes = b->manual->lanes;
  const int *sources = NULL;
  const tsr_lane_classes *from = tsr_lane_flow_classes(b->flow, tsr_op_operand(op, 0)), *to = NULL;
  TSR_TRY(tsr_lane_sources_of(&site, op, &sources));
  int64_t *keys = tsr_arena_alloc(b->flow->arena, sizeof *keys * (size_t)lanes);
  TSR_NEED(keys);
  for (int lane = 0; lane < lanes; lane++)
    keys[lane] = sources[lane] < 0 ? -1 : tsr_class_of(from, sources[lane]);
  TSR_TRY(tsr_classes_of_keys(b->flow->table, lanes, keys, &to));
  return set_all(b, op, to);
}

// ---- loops and branches ----

static tsr_status flow_block(const flow_body *b, tsr_ir_block *block);

// What the body gives back as it got it stays what it was before the loop.
static bool is_kept(const tsr_ir_block *body, const tsr_op *end, int index) {
  return tsr_op_operand(end, index) == body->args[index];
}

// One round: the classes of what is carried, if they are not finer than `carries`.
static tsr_status flow_round(const flow_body *b, const tsr_op *op, const tsr_lane_classes **carries,
                             bool *out_changed) {
  tsr_ir_block *cond = op->regions[0].first, *body = op->regions[1].first;
  const tsr_op *test = tsr_block_terminator(cond), *end = tsr_block_terminator(body);
  tsr_lane_flow *flow = b->flow;
  for (int i = 0; i < op->operand_count; i++) {
    TSR_TRY(tsr_lane_flow_set(flow, cond->args[i], carries[i], NULL));
    TSR_TRY(tsr_lane_flow_set(flow, body->args[i], carries[i], NULL));
  }
  TSR_TRY(flow_block(b, cond));
  TSR_TRY(flow_block(b, body));
  *out_changed = false;
  for (int i = 0; i < op->operand_count; i++) {
    source_meet meet = {b, carries[i]};
    if (is_kept(body, end, i)) continue;
    TSR_TRY(meet_value(&meet, tsr_op_operand(end, i)));
    TSR_TRY(meet_value(&meet, tsr_op_operand(test, 0)));
    *out_changed = *out_changed || meet.classes != carries[i];
    carries[i] = meet.classes;
  }
  return NULL;
}

static bool is_loop(const tsr_op *op) {
  for (int i = 0; i < 2; i++) {
    const tsr_ir_block *block = op->regions[i].first;
    if (op->regions[i].block_count != 1 || block->arg_count != op->operand_count ||
        !tsr_block_terminator(block))
      return false;
  }
  return op->operand_count == op->result_count &&
         tsr_block_terminator(op->regions[1].first)->operand_count == op->operand_count;
}

// Lanes whose loops end after different rounds carry different values: the classes of the condition
// count too.
static tsr_status flow_while(const flow_body *b, tsr_op *op) {
  if (!is_loop(op)) return flow_apart(b, op);  // lowering refuses it
  const tsr_lane_classes **carries =
      tsr_arena_zeros(b->flow->arena, (size_t)op->operand_count + 1, sizeof *carries);
  TSR_NEED(carries);
  for (int i = 0; i < op->operand_count; i++)
    carries[i] = tsr_lane_flow_classes(b->flow, tsr_op_operand(op, i));
  for (bool changed = true; changed;) TSR_TRY(flow_round(b, op, carries, &changed));
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(tsr_lane_flow_set(b->flow, &op->results[i], carries[i], NULL));
  return NULL;
}

static tsr_status flow_case(const flow_body *b, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++) {
    const tsr_ir_block *block = op->regions[i].first;
    const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
    if (!end || end->operand_count != op->result_count) return flow_apart(b, op);
    TSR_TRY(flow_block(b, op->regions[i].first));
  }
  for (int i = 0; i < op->result_count; i++) {
    source_meet meet = {b, NULL};
    TSR_TRY(meet_value(&meet, tsr_op_operand(op, 0)));
    for (int k = 0; k < op->region_count; k++)
      TSR_TRY(meet_value(&meet, tsr_op_operand(tsr_block_terminator(op->regions[k].first), i)));
    TSR_TRY(tsr_lane_flow_set(b->flow, &op->results[i], meet.classes, NULL));
  }
  return NULL;
}

// ---- a manual computation in another one ----

static tsr_status cut_argument(const flow_body *inner, const tsr_op *op, int index,
                               const tsr_value *piece) {
  tsr_lane_flow *flow = inner->flow;
  const tsr_manual *m = inner->manual;
  const tsr_value *whole = tsr_op_operand(op, index);
  const tsr_lane_classes *around = tsr_lane_flow_classes(flow, whole), *classes = NULL;
  const int64_t *starts = NULL;
  TSR_TRY(tsr_manual_pieces(flow->arena, op, m, index, false, whole->type, piece->type, &starts));
  const int64_t count = tsr_type_element_count(whole->type) + 1;
  int64_t *keys = tsr_arena_alloc(flow->arena, sizeof *keys * (size_t)m->lanes);
  TSR_NEED(keys);
  for (int lane = 0; lane < m->lanes; lane++)
    keys[lane] = tsr_class_of(around, m->outer_lanes[lane]) * count + starts[lane];
  TSR_TRY(tsr_classes_of_keys(flow->table, m->lanes, keys, &classes));
  return tsr_lane_flow_set(flow, piece, classes, NULL);
}

// Lanes around have the same whole if the lanes in them have the same pieces, in order.
static tsr_status join_result(const flow_body *outer, const flow_body *inner, const tsr_op *op,
                              int index, const tsr_value *piece) {
  tsr_lane_flow *flow = outer->flow;
  const tsr_manual *m = inner->manual;
  const int around = outer->manual->lanes, each = m->lanes / around;
  const tsr_lane_classes *from = tsr_lane_flow_classes(flow, piece), *to = NULL;
  int *starts = tsr_arena_zeros(flow->arena, (size_t)around + 1, sizeof *starts);
  int *used = tsr_arena_zeros(flow->arena, (size_t)around, sizeof *used);
  int64_t *items = tsr_arena_zeros(flow->arena, (size_t)m->lanes, sizeof *items);
  int64_t *keys = tsr_arena_zeros(flow->arena, (size_t)around, sizeof *keys);
  TSR_NEED(starts && used && items && keys ? flow : NULL);
  for (int i = 0; i <= around; i++) starts[i] = i * each;
  for (int lane = 0; lane < m->lanes; lane++) {
    const int out = m->outer_lanes[lane];
    items[starts[out] + used[out]++] = tsr_class_of(from, lane);
  }
  TSR_TRY(tsr_number_lists(around, starts, items, keys));
  TSR_TRY(tsr_classes_of_keys(flow->table, around, keys, &to));
  return tsr_lane_flow_set(flow, &op->results[index], to, NULL);
}

static tsr_status flow_manual(const flow_body *b, tsr_op *op) {
  tsr_manual *manual = tsr_arena_alloc(b->flow->arena, sizeof *manual);
  tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = tsr_block_terminator(body);
  const int count = body->arg_count;
  TSR_NEED(manual);
  TSR_TRY(tsr_manual_open(b->flow->ir, b->flow->arena, op, b->manual, manual));
  const flow_body inner = {b->flow, manual};
  for (int i = 0; i < count; i++) TSR_TRY(cut_argument(&inner, op, i, body->args[i]));
  TSR_TRY(flow_block(&inner, body));
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(join_result(b, &inner, op, i, tsr_op_operand(end, i)));
  return NULL;
}

// ---- ops ----

static tsr_status flow_each(const flow_body *b, const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_lane_flow_set(b->flow, &op->results[i],
                              tsr_lane_flow_classes(b->flow, tsr_op_operand(op, i)), NULL));
  return NULL;
}

static tsr_status flow_op(const flow_body *b, tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_ALL_GATHER:
    case TSR_OP_ALL_REDUCE:
    case TSR_OP_ALL_TO_ALL:
    case TSR_OP_REDUCE_SCATTER:
    case TSR_OP_COLLECTIVE_BROADCAST:
    case TSR_OP_COLLECTIVE_REDUCE:
      return flow_groups(b, op);
    case TSR_OP_COLLECTIVE_PERMUTE:
      return flow_permute(b, op);
    case TSR_OP_WHILE:
      return flow_while(b, op);
    case TSR_OP_CASE:
    case TSR_OP_IF:
      return flow_case(b, op);
    case TSR_OP_SDY_MANUAL_COMPUTATION:
      return flow_manual(b, op);
    case TSR_OP_OPTIMIZATION_BARRIER:
      return flow_each(b, op);
    case TSR_OP_CUSTOM_CALL:
      return tsr_op_flag(op, "has_side_effect") ? flow_apart(b, op) : flow_pure(b, op);
    default:
      return op->info->traits & TSR_TRAIT_PURE ? flow_pure(b, op) : flow_apart(b, op);
  }
}

static tsr_status flow_block(const flow_body *b, tsr_ir_block *block) {
  for (tsr_op *op = block->first; op; op = op->next)
    if (op->result_count) TSR_TRY(flow_op(b, op));
  return NULL;
}

tsr_status tsr_lane_flow_make(tsr_ir *ir, tsr_class_table *table, const tsr_manual *manual,
                              tsr_ir_block *body, const tsr_lane_classes *const *arguments,
                              tsr_lane_flow **out_flow) {
  tsr_lane_flow *flow = tsr_arena_alloc(table->arena, sizeof *flow);
  TSR_NEED(flow);
  *flow = (tsr_lane_flow){.ir = ir, .arena = table->arena, .table = table};
  const flow_body b = {flow, manual};
  for (int i = 0; i < body->arg_count; i++)
    TSR_TRY(tsr_lane_flow_set(flow, body->args[i], arguments[i], NULL));
  TSR_TRY(flow_block(&b, body));
  TSR_TRY(tsr_lane_known_arguments(flow, body));
  *out_flow = flow;
  return NULL;
}
