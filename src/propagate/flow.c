// The fixed point: a stack of ops that wait, in the order that MLIR's greedy driver has.
//
// The stack is filled with all ops such that the first of the program is on top. Changed values
// push the ops next to them, which are looked at next; ops that wait already keep their place. The
// order decides results wherever shardings conflict, so it is part of what "as Shardy does" means.
#include "propagate/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "propagate/edits.h"
#include "propagate/symbol_names.h"
#include "simplify/rewriter.h"

// ---- who takes part ----

static tsr_status add_call(tsr_flow *flow, tsr_op *call) {
  const tsr_op *func = tsr_callee(flow->ir, call);
  if (!func || !tsr_func_body(func)) return NULL;
  tsr_flow_call *calls =
      tsr_grow(flow->calls, flow->call_count, &flow->call_capacity, sizeof *calls);
  TSR_NEED(calls);
  flow->calls = calls;
  flow->calls[flow->call_count++] = (tsr_flow_call){func, call};
  return NULL;
}

// A data-flow op and the edge of its first result have one number: the edge's, whose turn comes
// after the ops in the regions.
static tsr_status add_node(tsr_op *op, void *context) {
  tsr_flow *flow = context;
  if (tsr_op_is(op, TSR_OP_CALL)) TSR_TRY(add_call(flow, op));
  const uint32_t slot = op->result_count ? tsr_sharding_slot_of(tsr_op_result(op, 0)) : 0;
  if (!slot) return NULL;
  if (tsr_is_data_flow_op(op->info->id) && tsr_edge_of(tsr_op_result(op, 0))) return NULL;
  if (!flow->nodes[slot].op) flow->order[flow->order_count++] = slot;
  flow->nodes[slot].op = op;
  return NULL;
}

static int by_func(const void *a, const void *b) {
  const tsr_flow_call *x = a, *y = b;
  if (x->func != y->func) return (uintptr_t)x->func < (uintptr_t)y->func ? -1 : 1;
  return 0;
}

static tsr_status check_type(const tsr_op *op, const tsr_type *type) {
  if (type->kind == TSR_TYPE_TUPLE)
    return tsr_fail(UNSUPPORTED, "%s at line %u gives a tuple, which is not propagated through",
                    op->name, op->line);
  if (tsr_type_is_shaped(type) && !tsr_type_is_static(type))
    return tsr_fail(UNSUPPORTED, "%s at line %u gives a tensor of unknown sizes", op->name,
                    op->line);
  return NULL;
}

static tsr_status check_op(tsr_op *op, void *context) {
  (void)context;
  for (int i = 0; i < op->result_count; i++) TSR_TRY(check_type(op, tsr_op_result(op, i)->type));
  return NULL;
}

// Lists of the members of each group, and where each member finds its own. Only a value that has a
// sharding itself, not through an edge, tells the others of its changes.
static tsr_status add_groups(tsr_flow *flow, const tsr_group_list *groups) {
  if (!groups->count) return NULL;
  flow->members = calloc(2 * (size_t)groups->count + 2, sizeof *flow->members);
  TSR_NEED(flow->members);
  uint32_t at = 0, begin = 0;
  for (int64_t i = 0; i < groups->count; i++) {
    tsr_value *value = tsr_op_operand(groups->items[i].op, 0);
    const uint32_t slot = tsr_sharding_slot_of(value);
    if (i && groups->items[i].id != groups->items[i - 1].id) begin = ++at;
    if (!slot) continue;
    flow->members[at++] = slot;
    if (tsr_sharding_owner(&flow->table, slot) == value) flow->nodes[slot].group = begin + 1;
  }
  return NULL;
}

static tsr_status fill(tsr_flow *flow, const tsr_group_list *groups) {
  const size_t room = (size_t)flow->table.count + 2;
  flow->nodes = calloc(room, sizeof *flow->nodes);
  flow->order = calloc(room, sizeof *flow->order);
  flow->stack = calloc(room, sizeof *flow->stack);
  if (!flow->nodes || !flow->order || !flow->stack) return tsr_fail(NO_MEMORY, "propagation");
  TSR_TRY(tsr_op_walk(flow->ir->module, add_node, flow));
  if (flow->call_count) qsort(flow->calls, (size_t)flow->call_count, sizeof *flow->calls, by_func);
  return add_groups(flow, groups);
}

tsr_status tsr_flow_init(tsr_flow *flow, tsr_ir *ir, const tsr_flow_how *how,
                         const tsr_group_list *groups) {
  *flow = (tsr_flow){.ir = ir, .how = how, .level = -1};
  TSR_TRY(tsr_op_walk(ir->module, check_op, NULL));
  TSR_TRY(tsr_sharding_table_init(ir, &flow->table));
  return fill(flow, groups);
}

void tsr_flow_deinit(tsr_flow *flow) {
  tsr_sharding_table_deinit(&flow->table);
  tsr_arena_deinit(&flow->kept);
  tsr_arena_deinit(&flow->scratch);
  free(flow->nodes);
  free(flow->order);
  free(flow->stack);
  free(flow->members);
  free(flow->calls);
}

const tsr_flow_call *tsr_flow_calls(const tsr_flow *flow, const tsr_op *func, int64_t *out_count) {
  int64_t low = 0, high = flow->call_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if ((uintptr_t)flow->calls[middle].func < (uintptr_t)func)
      low = middle + 1;
    else
      high = middle;
  }
  int64_t end = low;
  while (end < flow->call_count && flow->calls[end].func == func) end++;
  *out_count = end - low;
  return end > low ? flow->calls + low : NULL;
}

// ---- one op ----

bool tsr_flow_tensors_make(tsr_flow *flow, int count, int operand_count,
                           tsr_flow_tensors *out_tensors) {
  const size_t room = (size_t)count + 1;
  tsr_flow_tensors tensors = {.count = count, .operand_count = operand_count};
  tensors.slots = tsr_arena_alloc(&flow->scratch, room * sizeof *tensors.slots);
  tensors.shardings = tsr_arena_alloc(&flow->scratch, room * sizeof *tensors.shardings);
  tensors.values = tsr_arena_alloc(&flow->scratch, room * sizeof *tensors.values);
  *out_tensors = tensors;
  return tensors.slots && tensors.shardings && tensors.values;
}

static void set_tensor(const tsr_flow *flow, tsr_flow_tensors *tensors, int index,
                       tsr_value *value) {
  tensors->values[index] = value;
  tensors->slots[index] = tsr_sharding_slot_of(value);
  tensors->shardings[index] = tsr_sharding_at(&flow->table, tensors->slots[index]);
}

static tsr_status op_tensors(tsr_flow *flow, const tsr_op *op, tsr_flow_tensors *out) {
  TSR_NEED(
      tsr_flow_tensors_make(flow, op->operand_count + op->result_count, op->operand_count, out));
  for (int i = 0; i < op->operand_count; i++) set_tensor(flow, out, i, tsr_op_operand(op, i));
  for (int i = 0; i < op->result_count; i++)
    set_tensor(flow, out, op->operand_count + i, tsr_op_result(op, i));
  return NULL;
}

static int dim_of(const tsr_op_rule *rule, int tensor, int factor) {
  const int place = tsr_rule_place_of(rule, tensor, factor);
  return place < 0 ? -1 : rule->places[place].dim;
}

static void tell(const tsr_flow *flow, const tsr_flow_view *view, const tsr_spread_result *result) {
  for (int i = 0; i < result->gain_count; i++) {
    const tsr_spread_gain *gain = &result->gains[i];
    const tsr_tensor_sharding *now = NULL;
    for (int k = 0; k < result->change_count; k++)
      if (result->changes[k].tensor == gain->tensor) now = result->changes[k].sharding;
    const bool returned = tsr_op_is(view->op, TSR_OP_FUNC) && gain->tensor;
    const tsr_flow_event event = {
        .view = view,
        .tensor = gain->tensor,
        .op = view->op,
        .value = view->values[gain->tensor],
        .func_result =
            returned ? (int)(view->slots[gain->tensor] - tsr_func_result_slot(view->op, 0)) : -1,
        .dim = dim_of(view->rule, gain->tensor, gain->factor),
        .axes = gain->axes,
        .mesh = now ? now->mesh : NULL,
        .source = gain->source < 0 ? NULL : view->values[gain->source],
        .user_priority = flow->user_priority,
        .op_priority = flow->level < 0 ? 0 : flow->level};
    flow->how->watch(flow->how->context, &event);
  }
}

// The projections before and after, for the notes.
static tsr_status note(tsr_flow *flow, const tsr_flow_view *view, const tsr_spread_result *result) {
  const tsr_op_rule *rule = view->rule;
  const tsr_tensor_sharding *common = tsr_common_mesh(view->shardings, rule->tensor_count, false);
  tsr_projection before, after;
  TSR_TRY(tsr_project(&flow->scratch, rule, common->mesh, view->shardings, false, &before));
  const size_t bytes = ((size_t)rule->place_count + 1) * sizeof *after.places;
  after = before;
  after.places = tsr_arena_alloc(&flow->scratch, bytes);
  TSR_NEED(after.places);
  memcpy(after.places, before.places, (size_t)rule->place_count * sizeof *after.places);
  for (int i = 0; i < result->gain_count; i++) {
    const tsr_spread_gain *gain = &result->gains[i];
    after.places[tsr_rule_place_of(rule, gain->tensor, gain->factor)].axes = gain->axes;
  }
  return tsr_flow_notes_step(flow->notes, view->op, view->values, &before, &after, &flow->scratch);
}

tsr_status tsr_flow_meet(tsr_flow *flow, const tsr_op *op, const tsr_op_rule *rule,
                         const tsr_spread_how *how, const tsr_flow_tensors *tensors,
                         tsr_spread_result *out_result) {
  const tsr_flow_view view = {.op = op,
                              .rule = rule,
                              .count = tensors->count,
                              .slots = tensors->slots,
                              .values = tensors->values,
                              .shardings = tensors->shardings};
  *out_result = (tsr_spread_result){0};
  if (flow->reviewing) return flow->how->settled(flow->how->context, &view);
  TSR_TRY(
      tsr_spread_op(how, rule, tensors->shardings, &flow->scratch, &flow->table.arena, out_result));
  if (flow->how->watch) tell(flow, &view, out_result);
  return flow->notes && out_result->change_count ? note(flow, &view, out_result) : NULL;
}

tsr_status tsr_flow_put_apart(tsr_flow *flow, uint32_t slot, const tsr_tensor_sharding *sharding,
                              const tsr_tensor_sharding *others, bool quiet) {
  if (!slot) return NULL;
  flow->changes++;
  TSR_TRY(tsr_sharding_put(&flow->table, slot, sharding));
  if (!quiet) tsr_flow_notify(flow, slot);
  const uint32_t group = flow->nodes[slot].group;
  for (const uint32_t *member = group ? &flow->members[group - 1] : NULL; member && *member;
       member++) {
    if (*member == slot) continue;
    TSR_TRY(tsr_sharding_put(&flow->table, *member, others));
    if (!quiet) tsr_flow_notify(flow, *member);
  }
  return NULL;
}

tsr_status tsr_flow_spread(tsr_flow *flow, const tsr_op *op, const tsr_op_rule *rule,
                           const tsr_spread_how *how, tsr_flow_tensors *tensors, bool quiet) {
  tsr_spread_result result = {0};
  TSR_TRY(tsr_flow_meet(flow, op, rule, how, tensors, &result));
  for (int i = 0; i < result.change_count; i++) {
    const tsr_tensor_sharding *sharding = result.changes[i].sharding;
    TSR_TRY(tsr_flow_put_apart(flow, tensors->slots[result.changes[i].tensor], sharding, sharding,
                               quiet));
  }
  return NULL;
}

static tsr_status spread_barrier(tsr_flow *flow, const tsr_op *op) {
  const tsr_op_rule *rule = NULL;
  tsr_flow_tensors tensors;
  const tsr_spread_how how = {.strategy = flow->strategy,
                              .pointwise = tsr_op_is_pointwise(op),
                              .direction = (int)tsr_op_int(op, "allowed_direction", 0)};
  TSR_TRY(tsr_rule_identity(&flow->scratch, tsr_op_result(op, 0)->type, 1, 1, &rule));
  TSR_TRY(op_tensors(flow, op, &tensors));
  return tsr_flow_spread(flow, op, rule, &how, &tensors, false);
}

static tsr_status rule_of_node(tsr_flow *flow, tsr_flow_node *node) {
  if (node->asked) return NULL;
  node->asked = true;
  return tsr_rule_of(&flow->kept, node->op,
                     flow->how->conservative ? TSR_RULE_CONSERVATIVE : TSR_RULE_PLAIN, &node->rule);
}

static tsr_status spread_ruled(tsr_flow *flow, tsr_flow_node *node) {
  tsr_flow_tensors tensors;
  TSR_TRY(rule_of_node(flow, node));
  if (!node->rule) return NULL;
  uint8_t *directions = tsr_arena_alloc(&flow->scratch, (size_t)node->rule->factor_count + 1);
  TSR_NEED(directions);
  tsr_flow_directions(flow, node->op, node->rule, directions);
  const tsr_spread_how how = {.strategy = flow->strategy,
                              .conservative = flow->how->conservative,
                              .pointwise = tsr_op_is_pointwise(node->op),
                              .directions = directions};
  TSR_TRY(op_tensors(flow, node->op, &tensors));
  return tsr_flow_spread(flow, node->op, node->rule, &how, &tensors, false);
}

static tsr_status spread_node(tsr_flow *flow, uint32_t index) {
  tsr_flow_node *node = &flow->nodes[index];
  flow->current = node->op;
  switch (node->op->info->id) {
    case TSR_OP_SDY_DATA_FLOW_EDGE:
      return tsr_flow_edge(flow, index);
    case TSR_OP_SDY_FUNC_DATA_FLOW_EDGE:
      return tsr_flow_func_edge(flow, index);
    case TSR_OP_SDY_PROPAGATION_BARRIER:
      return spread_barrier(flow, node->op);
    default:
      return spread_ruled(flow, node);
  }
}

// ---- ops that are dropped ----

static bool is_dead(const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (tsr_op_result(op, i)->uses) return false;
  return tsr_op_is_droppable(op);
}

// Whether a value has at most one user but `op`.
static bool has_one_other_user(const tsr_value *value, const tsr_op *op) {
  const tsr_op *other = NULL;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    if (use->user == op || use->user == other) continue;
    if (other) return false;
    other = use->user;
  }
  return true;
}

static void push(tsr_flow *flow, uint32_t index) {
  tsr_flow_node *node = &flow->nodes[index];
  if (!index || !node->op || node->queued) return;
  node->queued = true;
  flow->stack[flow->stack_count++] = index;
}

static tsr_status forget(tsr_op *op, void *context) {
  tsr_flow *flow = context;
  const uint32_t index = op->result_count ? tsr_sharding_slot_of(tsr_op_result(op, 0)) : 0;
  if (flow->nodes[index].op == op) flow->nodes[index].op = NULL;
  return NULL;
}

static void drop(tsr_flow *flow, uint32_t index) {
  tsr_op *op = flow->nodes[index].op;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    if (value->def && value->def->result_count && has_one_other_user(value, op))
      push(flow, tsr_sharding_slot_of(tsr_op_result(value->def, 0)));
  }
  tsr_status_free(tsr_op_walk(op, forget, flow));  // cannot fail
  tsr_op_erase(op);
}

// ---- neighbours of a changed value ----

enum { DEEPEST_CALLS = 128 };

static void push_op(tsr_flow *flow, const tsr_op *op) {
  if (!op || op == flow->current || !op->result_count) return;
  const uint32_t index = tsr_sharding_slot_of(tsr_op_result(op, 0));
  if (flow->nodes[index].op == op) push(flow, index);
}

// The value that stands for the edge which a use flows into; NULL if it flows into none. Operands
// of computations have edges inside, but Shardy does not find them: these edges wait for the next
// round.
static tsr_value *owner_of_use(const tsr_use *use) {
  tsr_op *user = use->user;
  const int index = (int)(use - user->operands);
  const bool ends = user->info->traits & TSR_TRAIT_TERMINATES;
  tsr_op *op = ends ? tsr_op_parent(user) : user;
  if (!op || !tsr_is_data_flow_op(op->info->id)) return NULL;
  const bool computes =
      op->info->id == TSR_OP_SDY_MANUAL_COMPUTATION || op->info->id == TSR_OP_SDY_NAMED_COMPUTATION;
  if (computes && !ends) return NULL;
  return index < op->result_count ? tsr_op_result(op, index) : NULL;
}

static void notify_users(tsr_flow *flow, const tsr_value *value, int depth);

// NOLINTNEXTLINE(misc-no-recursion)
static void notify_return(tsr_flow *flow, const tsr_use *use, int depth) {
  int64_t count = 0;
  const tsr_op *func = tsr_op_parent(use->user);
  const int index = (int)(use - use->user->operands);
  if (!tsr_op_is(use->user, TSR_OP_FUNC_RETURN)) {
    push_op(flow, func);
    return;
  }
  const tsr_flow_call *calls = tsr_flow_calls(flow, func, &count);
  for (int64_t i = 0; i < count; i++)
    if (index < calls[i].call->result_count)
      notify_users(flow, tsr_op_result(calls[i].call, index), depth + 1);
}

// NOLINTNEXTLINE(misc-no-recursion)
static void notify_callee(tsr_flow *flow, const tsr_use *use, int depth) {
  const tsr_op *func = tsr_callee(flow->ir, use->user);
  const tsr_ir_block *body = func ? tsr_func_body(func) : NULL;
  const int index = (int)(use - use->user->operands);
  if (body && index < body->arg_count) notify_users(flow, body->args[index], depth + 1);
}

// Calls are not nested deeper than the depth.
// NOLINTNEXTLINE(misc-no-recursion)
static void notify_users(tsr_flow *flow, const tsr_value *value, int depth) {
  if (depth > DEEPEST_CALLS) return;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    tsr_value *owner = owner_of_use(use);
    tsr_op *edge = owner ? tsr_edge_of(owner) : NULL;
    if (edge)
      push_op(flow, edge);
    else if (use->user->info->traits & TSR_TRAIT_TERMINATES)
      notify_return(flow, use, depth);
    else if (tsr_op_is(use->user, TSR_OP_CALL))
      notify_callee(flow, use, depth);
    else
      push_op(flow, use->user);
  }
}

// The arguments of a loop's regions stand for the same as its result.
static void notify_targets(tsr_flow *flow, const tsr_op *edge) {
  const tsr_value *owner = tsr_op_operand(edge, 0);
  const tsr_op *op = owner->def;
  if (!tsr_op_is(op, TSR_OP_WHILE)) return;
  for (int i = 0; i < op->region_count; i++) {
    const tsr_ir_block *block = op->regions[i].first;
    if (block && owner->index < block->arg_count) notify_users(flow, block->args[owner->index], 0);
  }
}

void tsr_flow_notify(tsr_flow *flow, uint32_t slot) {
  const tsr_value *value = tsr_sharding_owner(&flow->table, slot);
  if (!value) return;
  if (tsr_op_is(value->def, TSR_OP_SDY_DATA_FLOW_EDGE)) notify_targets(flow, value->def);
  push_op(flow, value->def ? value->def : tsr_block_parent(value->block));
  notify_users(flow, value, 0);
}

// ---- results of the entry ----

static tsr_status spread_returned(tsr_flow *flow, const tsr_op *func, tsr_value *value, int index) {
  const tsr_op_rule *rule = NULL;
  tsr_flow_tensors tensors;
  const tsr_spread_how how = {.strategy = flow->strategy, .direction = TSR_SDY_DIRECTION_BOTH};
  TSR_TRY(tsr_rule_identity(&flow->scratch, value->type, 1, 1, &rule));
  TSR_NEED(tsr_flow_tensors_make(flow, 2, 1, &tensors));
  set_tensor(flow, &tensors, 0, value);
  set_tensor(flow, &tensors, 1, value);
  tensors.slots[1] = tsr_func_result_slot(func, index);
  tensors.shardings[1] = tsr_sharding_at(&flow->table, tensors.slots[1]);
  return tsr_flow_spread(flow, func, rule, &how, &tensors, true);
}

static tsr_status spread_results(tsr_flow *flow) {
  const tsr_op *func = tsr_ir_entry(flow->ir);
  const tsr_ir_block *body = func ? tsr_func_body(func) : NULL;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  flow->current = func;
  for (int i = 0; end && i < end->operand_count; i++) {
    if (!tsr_type_is_static(tsr_operand_type(end, i))) continue;
    TSR_TRY(spread_returned(flow, func, tsr_op_operand(end, i), i));
    tsr_arena_reset(&flow->scratch);
  }
  return NULL;
}

tsr_status tsr_flow_run(tsr_flow *flow) {
  TSR_TRY(spread_results(flow));
  flow->stack_count = 0;
  for (int64_t i = flow->order_count; i-- > 0;) push(flow, flow->order[i]);
  while (flow->stack_count) {
    const uint32_t index = flow->stack[--flow->stack_count];
    tsr_flow_node *node = &flow->nodes[index];
    node->queued = false;
    if (!node->op) continue;
    if (is_dead(node->op)) {
      drop(flow, index);
      continue;
    }
    TSR_TRY(spread_node(flow, index));
    tsr_arena_reset(&flow->scratch);
  }
  return spread_results(flow);
}

tsr_status tsr_flow_review(tsr_flow *flow) {
  flow->reviewing = true;
  for (int64_t i = 0; i < flow->order_count; i++) {
    if (!flow->nodes[flow->order[i]].op) continue;
    TSR_TRY(spread_node(flow, flow->order[i]));
    tsr_arena_reset(&flow->scratch);
  }
  return spread_results(flow);
}
