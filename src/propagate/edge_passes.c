// Data-flow edges: one op for every value that stands for several ones, such as a result of a loop,
// the arguments of its body and what the body gives back. The edge holds the sharding of them all.
// Here they come before propagation and go after it.
#include <stdlib.h>

#include "factor/shardings.h"
#include "propagate/edits.h"
#include "propagate/flow_notes.h"
#include "propagate/manual_axes.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"

// ---- edges of ops with regions ----

static bool has_argument_edges(tsr_op_id id) {
  return id == TSR_OP_SDY_MANUAL_COMPUTATION || id == TSR_OP_SDY_NAMED_COMPUTATION;
}

static tsr_status add_edge(tsr_ir *ir, const tsr_op *like, tsr_value *owner) {
  if (!tsr_type_is_static(owner->type)) return NULL;
  tsr_named_attr attr = {tsr_ir_name(ir, "sharding", 8), NULL};
  TSR_TRY(tsr_sharding_get(ir, owner, &attr.attr));
  TSR_NEED(attr.name);
  tsr_op *edge = tsr_op_like(ir, like, TSR_OP_SDY_DATA_FLOW_EDGE, owner, &attr);
  TSR_NEED(edge);
  tsr_op_insert_after_value(owner, edge);
  tsr_uses_move(owner, tsr_op_result(edge, 0), edge);
  return NULL;
}

tsr_status tsr_edges_add(tsr_ir *ir, tsr_op *op, int64_t *changes) {
  if (has_argument_edges(op->info->id) && op->regions[0].first) {
    const tsr_ir_block *body = op->regions[0].first;
    for (int i = body->arg_count; i-- > 0; ++*changes) TSR_TRY(add_edge(ir, op, body->args[i]));
  }
  for (int i = op->result_count; i-- > 0; ++*changes)
    TSR_TRY(add_edge(ir, op, tsr_op_result(op, i)));
  return NULL;
}

typedef struct edge_walk {
  tsr_ir *ir;
  int64_t *changes;
  bool origins, edges;  // notes of propagation go to the ops too
} edge_walk;

static tsr_status add_op_edges(tsr_op *op, void *context) {
  const edge_walk *w = context;
  return tsr_is_data_flow_op(op->info->id) ? tsr_edges_add(w->ir, op, w->changes) : NULL;
}

tsr_status tsr_pass_add_data_flow_edges(tsr_ir *ir, const tsr_pass_options *options,
                                        int64_t *changes) {
  edge_walk w = {.ir = ir, .changes = changes};
  (void)options;
  return tsr_op_walk_after(ir->module, add_op_edges, &w);
}

// ---- edges of calls ----

static tsr_status add_func_edge(tsr_ir *ir, const tsr_op *like, tsr_value *value, tsr_op *after,
                                tsr_op **out_edge) {
  const tsr_attr *sharding = NULL;
  TSR_TRY(tsr_sharding_get(ir, value, &sharding));
  tsr_op *edge = tsr_op_like(ir, like, TSR_OP_SDY_FUNC_DATA_FLOW_EDGE, value, NULL);
  TSR_NEED(edge);
  if (after)
    tsr_op_insert_after(after, edge);
  else
    tsr_op_insert_after_value(value, edge);
  tsr_uses_move(value, tsr_op_result(edge, 0), edge);
  *out_edge = edge;
  return sharding ? tsr_value_sharding_set(ir, tsr_op_result(edge, 0), sharding) : NULL;
}

static tsr_status add_argument_edges(tsr_ir *ir, tsr_op *func, int64_t *changes) {
  const tsr_ir_block *body = tsr_func_body(func);
  tsr_op *last = NULL;
  for (int i = 0; body && i < body->arg_count; i++) {
    if (!tsr_type_is_static(body->args[i]->type)) continue;
    TSR_TRY(add_func_edge(ir, func, body->args[i], last, &last));
    ++*changes;
  }
  return NULL;
}

static tsr_status add_call_edges(tsr_op *op, void *context) {
  const edge_walk *w = context;
  if (!tsr_op_is(op, TSR_OP_CALL)) return NULL;
  tsr_op *last = op;
  for (int i = 0; i < op->result_count; i++) {
    if (!tsr_type_is_static(tsr_op_result(op, i)->type)) continue;
    TSR_TRY(add_func_edge(w->ir, op, tsr_op_result(op, i), last, &last));
    ++*w->changes;
  }
  return NULL;
}

tsr_status tsr_pass_add_func_data_flow_edges(tsr_ir *ir, const tsr_pass_options *options,
                                             int64_t *changes) {
  edge_walk w = {.ir = ir, .changes = changes};
  tsr_op *entry = tsr_ir_entry(ir);
  (void)options;
  if (!entry) return tsr_fail(UNKNOWN_SYMBOL, "several functions, and none is @main");
  for (tsr_op *op = ir->module->regions[0].first->first; op; op = op->next)
    if (tsr_op_is(op, TSR_OP_FUNC) && op != entry) TSR_TRY(add_argument_edges(ir, op, changes));
  return tsr_op_walk_after(ir->module, add_call_edges, &w);
}

static tsr_status sink_func_edge(tsr_op *op, void *context) {
  const edge_walk *w = context;
  if (!tsr_op_is(op, TSR_OP_SDY_FUNC_DATA_FLOW_EDGE)) return NULL;
  tsr_value *value = tsr_op_operand(op, 0);
  const tsr_attr *inner = NULL, *outer = NULL;
  TSR_TRY(tsr_sharding_get(w->ir, tsr_op_result(op, 0), &inner));
  TSR_TRY(tsr_sharding_get(w->ir, value, &outer));
  if (!inner && outer) {
    inner = tsr_sharding_bare(w->ir, tsr_attr_field(outer, TSR_SDY_SHARDING_MESH),
                              tsr_type_rank(value->type), false);
    TSR_NEED(inner);
  }
  if (inner) TSR_TRY(tsr_value_sharding_set(w->ir, value, inner));
  tsr_uses_move(tsr_op_result(op, 0), value, NULL);
  tsr_op_erase(op);
  ++*w->changes;
  return NULL;
}

tsr_status tsr_pass_sink_func_data_flow_edges(tsr_ir *ir, const tsr_pass_options *options,
                                              int64_t *changes) {
  edge_walk w = {.ir = ir, .changes = changes};
  (void)options;
  return tsr_op_walk_after(ir->module, sink_func_edge, &w);
}

// ---- what edges hold goes to the ops ----

// The sharding that a value has on an edge; NULL = it has no edge, or one without a sharding.
static const tsr_attr *edge_sharding(tsr_value *owner) {
  const tsr_op *edge = tsr_edge_of(owner);
  return edge ? tsr_op_attr(edge, "sharding") : NULL;
}

tsr_status tsr_edge_shardings(tsr_ir *ir, tsr_value *const *owners, int count,
                              const tsr_attr **out_list, bool *out_any) {
  const tsr_attr *mesh = NULL;
  for (int i = 0; i < count; i++) {
    out_list[i] = edge_sharding(owners[i]);
    if (out_list[i] && !mesh) mesh = tsr_attr_field(out_list[i], TSR_SDY_SHARDING_MESH);
  }
  *out_any = mesh != NULL;
  for (int i = 0; mesh && i < count; i++) {
    if (out_list[i]) continue;
    out_list[i] = tsr_sharding_bare(ir, mesh, tsr_type_rank(owners[i]->type), false);
    TSR_NEED(out_list[i]);
  }
  return NULL;
}

// Shardings inside a manual computation get the manual axes of the ones outside in front.
static tsr_status outer_shardings(tsr_ir *ir, const tsr_op *op, const tsr_attr **list, int count) {
  const tsr_attr *outer = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  for (int i = 0; outer && i < count && i < outer->count; i++)
    TSR_TRY(tsr_manual_outer_attr(ir, op, outer->items[i], list[i], &list[i]));
  return NULL;
}

static tsr_status sink_list(tsr_ir *ir, tsr_op *op, tsr_value *const *owners, int count,
                            bool arguments) {
  const tsr_attr **list = calloc((size_t)count + 1, sizeof(const tsr_attr *));
  bool any = false;
  TSR_NEED(list);
  tsr_status status = tsr_edge_shardings(ir, owners, count, list, &any);
  if (!status && any && arguments && tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION))
    status = outer_shardings(ir, op, list, count);
  const tsr_attr *all = status || !any ? NULL : tsr_shardings_attr(ir, list, count);
  free(list);
  TSR_TRY(status);
  if (!any) return NULL;
  TSR_NEED(all);
  const char *name = has_argument_edges(op->info->id) ? "out_shardings" : "sdy.sharding";
  return tsr_op_attr_set(ir, op, arguments ? "in_shardings" : name, all);
}

static tsr_status sink_owners(const edge_walk *w, tsr_op *op, tsr_value *const *owners, int count,
                              bool arguments) {
  TSR_TRY(sink_list(w->ir, op, owners, count, arguments));
  return tsr_flow_notes_sink(w->ir, op, owners, count, arguments, w->origins, w->edges);
}

static tsr_status sink_results(const edge_walk *w, tsr_op *op) {
  tsr_value **owners = calloc((size_t)op->result_count + 1, sizeof *owners);
  TSR_NEED(owners);
  for (int i = 0; i < op->result_count; i++) owners[i] = tsr_op_result(op, i);
  tsr_status status = sink_owners(w, op, owners, op->result_count, false);
  free(owners);
  return status;
}

static tsr_status sink_op(tsr_op *op, void *context) {
  const edge_walk *w = context;
  if (tsr_op_is(op, TSR_OP_SDY_DATA_FLOW_EDGE)) {
    tsr_uses_move(tsr_op_result(op, 0), tsr_op_operand(op, 0), NULL);
    tsr_op_erase(op);
    ++*w->changes;
    return NULL;
  }
  if (!tsr_is_data_flow_op(op->info->id)) return NULL;
  const tsr_ir_block *body = has_argument_edges(op->info->id) ? op->regions[0].first : NULL;
  TSR_TRY(sink_owners(w, op, body ? body->args : NULL, body ? body->arg_count : 0, true));
  return sink_results(w, op);
}

tsr_status tsr_pass_sink_data_flow_edges(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  edge_walk w = {.ir = ir,
                 .changes = changes,
                 .origins = tsr_pass_flag(options, TSR_SHARDING_SINK_ORIGINS),
                 .edges = tsr_pass_flag(options, TSR_SHARDING_SINK_EDGES)};
  return tsr_op_walk(ir->module, sink_op, &w);
}
