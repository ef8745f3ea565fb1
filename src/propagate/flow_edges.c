// Data-flow edges in propagation: all that flows into one target, as an op of its own.
#include "propagate/edits.h"
#include "propagate/flow.h"
#include "propagate/manual_axes.h"
#include "propagate/symbol_names.h"
#include "verify/sdy_checks.h"

static bool computes(const tsr_op *op) {
  return op->info->id == TSR_OP_SDY_MANUAL_COMPUTATION ||
         op->info->id == TSR_OP_SDY_NAMED_COMPUTATION;
}

static tsr_op *owning_op(const tsr_op *edge) {
  const tsr_value *owner = tsr_op_operand(edge, 0);
  return owner->def ? owner->def : tsr_block_parent(owner->block);
}

static tsr_value *returned(const tsr_region *region, int index) {
  const tsr_op *end = region->first ? tsr_block_terminator(region->first) : NULL;
  return end && index < end->operand_count ? tsr_op_operand(end, index) : NULL;
}

static int source_count(const tsr_op *edge) {
  const tsr_op *op = owning_op(edge);
  if (!op || !tsr_is_data_flow_op(op->info->id)) return 0;
  if (op->info->id == TSR_OP_WHILE) return 2;
  return op->info->id == TSR_OP_CASE ? op->region_count : 1;
}

static void add_source(tsr_value **out, int *count, tsr_value *value) {
  if (value) out[(*count)++] = value;
}

// Gives how many there are: fewer than source_count in a program that is not right.
static int edge_sources(const tsr_op *edge, tsr_value **out) {
  const tsr_value *owner = tsr_op_operand(edge, 0);
  const tsr_op *op = owning_op(edge);
  const int index = owner->index;
  int count = 0;
  switch (op->info->id) {
    case TSR_OP_WHILE:
      if (index < op->operand_count) add_source(out, &count, tsr_op_operand(op, index));
      add_source(out, &count, returned(&op->regions[1], index));
      break;
    case TSR_OP_CASE:
      for (int i = 0; i < op->region_count; i++)
        add_source(out, &count, returned(&op->regions[i], index));
      break;
    default:
      if (owner->def && computes(op))
        add_source(out, &count, returned(&op->regions[0], index));
      else if (index < op->operand_count)
        add_source(out, &count, tsr_op_operand(op, index));
      break;
  }
  return count;
}

// ---- manual computations: shardings differ inside and outside ----

typedef struct manual_border {
  const tsr_op *op;                  // NULL = the edge is not one of a manual computation
  bool argument;                     // the target is inside
  const tsr_tensor_sharding *outer;  // as the op has it
} manual_border;

static tsr_status border_of(tsr_flow *flow, tsr_flow_node *node, manual_border *out) {
  const tsr_value *owner = tsr_op_operand(node->op, 0);
  const tsr_op *op = owning_op(node->op);
  *out = (manual_border){0};
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  const tsr_attr *list =
      tsr_shardings_list(tsr_op_attr(op, owner->def ? "out_shardings" : "in_shardings"));
  if (!list || owner->index >= list->count) return NULL;
  const tsr_attr *mesh = tsr_sdy_mesh_of(flow->ir, op, list->items[owner->index]);
  tsr_tensor_sharding *outer = NULL;
  if (!mesh) return NULL;
  if (!node->outer) {
    TSR_TRY(tsr_sharding_read(&flow->table.arena, mesh, list->items[owner->index], &outer));
    node->outer = outer;
  }
  *out = (manual_border){op, !owner->def, node->outer};
  return NULL;
}

// The sharding of the target as its sources see it, or back.
static tsr_status across(tsr_arena *arena, const manual_border *border, bool to_sources,
                         const tsr_tensor_sharding **sharding) {
  if (!border->op || !*sharding) return NULL;
  *sharding = border->argument == to_sources
                  ? tsr_manual_outer(arena, border->op, border->outer, *sharding)
                  : tsr_manual_inner(arena, border->op, *sharding);
  TSR_NEED(*sharding);
  return NULL;
}

// ---- propagation ----

static tsr_status edge_rule(tsr_flow *flow, tsr_flow_node *node, int sources) {
  if (node->rule && node->rule->operand_count == sources) return NULL;
  return tsr_rule_identity(&flow->kept, tsr_op_result(node->op, 0)->type, sources, 1, &node->rule);
}

// The group of a target outside of a manual computation gets its sharding without the manual axes,
// as in Shardy. This takes axes away, so it happens at most as often as there are values.
static tsr_status put_changes(tsr_flow *flow, const tsr_flow_tensors *tensors,
                              const manual_border *border, const tsr_spread_result *result) {
  for (int i = 0; i < result->change_count; i++) {
    const int tensor = result->changes[i].tensor;
    const tsr_tensor_sharding *sharding = result->changes[i].sharding, *others = sharding;
    if (tensor == tensors->operand_count) {
      TSR_TRY(across(&flow->table.arena, border, false, &sharding));
      if (flow->narrowed >= flow->table.count) others = sharding;
      flow->narrowed += others != sharding;
    }
    TSR_TRY(tsr_flow_put_apart(flow, tensors->slots[tensor], sharding, others, false));
  }
  return NULL;
}

static tsr_status spread_edge(tsr_flow *flow, tsr_flow_node *node, tsr_flow_tensors *tensors,
                              const manual_border *border) {
  const int target = tensors->operand_count;
  for (int i = 0; i < target; i++) {
    tensors->slots[i] = tsr_sharding_slot_of(tensors->values[i]);
    tensors->shardings[i] = tsr_sharding_at(&flow->table, tensors->slots[i]);
  }
  tensors->values[target] = tsr_op_result(node->op, 0);
  tensors->slots[target] = tsr_sharding_slot_of(tensors->values[target]);
  tensors->shardings[target] = tsr_sharding_at(&flow->table, tensors->slots[target]);
  TSR_TRY(edge_rule(flow, node, target));
  TSR_TRY(across(&flow->scratch, border, true, &tensors->shardings[target]));
  uint8_t *directions = tsr_arena_alloc(&flow->scratch, (size_t)node->rule->factor_count + 1);
  TSR_NEED(directions);
  tsr_flow_directions(flow, node->op, node->rule, directions);
  const tsr_spread_how how = {.strategy = flow->strategy, .directions = directions};
  tsr_spread_result result = {0};
  TSR_TRY(tsr_flow_meet(flow, node->op, node->rule, &how, tensors, &result));
  return put_changes(flow, tensors, border, &result);
}

tsr_status tsr_flow_edge(tsr_flow *flow, uint32_t index) {
  tsr_flow_node *node = &flow->nodes[index];
  tsr_flow_tensors tensors;
  manual_border border;
  const int most = source_count(node->op);
  if (!most || !tsr_type_is_static(tsr_op_result(node->op, 0)->type)) return NULL;
  TSR_NEED(tsr_flow_tensors_make(flow, most + 1, most, &tensors));
  tensors.operand_count = edge_sources(node->op, tensors.values);
  tensors.count = tensors.operand_count + 1;
  TSR_TRY(border_of(flow, node, &border));
  return spread_edge(flow, node, &tensors, &border);
}

// An argument of a function takes from all calls, a result of a call from what is returned.
tsr_status tsr_flow_func_edge(tsr_flow *flow, uint32_t index) {
  tsr_flow_node *node = &flow->nodes[index];
  const manual_border border = {0};
  const tsr_value *value = tsr_op_operand(node->op, 0);
  tsr_flow_tensors tensors;
  int64_t count = 0;
  int sources = 0;
  if (!value->def) {
    const tsr_flow_call *calls = tsr_flow_calls(flow, tsr_block_parent(value->block), &count);
    TSR_NEED(tsr_flow_tensors_make(flow, (int)count + 1, (int)count, &tensors));
    for (int64_t i = 0; i < count; i++)
      if (value->index < calls[i].call->operand_count)
        add_source(tensors.values, &sources, tsr_op_operand(calls[i].call, value->index));
  } else {
    const tsr_op *func =
        tsr_op_is(value->def, TSR_OP_CALL) ? tsr_callee(flow->ir, value->def) : NULL;
    TSR_NEED(tsr_flow_tensors_make(flow, 2, 1, &tensors));
    if (func) add_source(tensors.values, &sources, returned(&func->regions[0], value->index));
  }
  if (!sources) return NULL;
  tensors.operand_count = sources;
  tensors.count = sources + 1;
  return spread_edge(flow, node, &tensors, &border);
}
