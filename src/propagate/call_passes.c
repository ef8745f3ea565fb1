// Calls, before and after propagation. Before it, every call gets a function of its own and becomes
// a named computation, so that callers propagate into bodies; after it, these are functions again,
// and copies that came out alike are one.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "factor/sharding_lists.h"
#include "factor/shardings.h"
#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"
#include "verify/sdy_checks.h"

enum { MOST_CALLS = 1000000 };

// ---- shardings of functions ----

typedef const tsr_attr *func_attrs_fn(const tsr_op *func, int index);

// The shardings of all arguments or results of a function, missing ones open, as an SDY_SHARDINGS;
// NULL in `out_list` if none has one.
static tsr_status func_shardings(tsr_ir *ir, const tsr_op *func, func_attrs_fn *attrs, int first,
                                 int count, const tsr_attr **out_list) {
  const tsr_type *type = tsr_func_type(func);
  const tsr_attr *mesh = NULL, **list = NULL;
  *out_list = NULL;
  for (int i = 0; i < count && !mesh; i++) {
    const tsr_attr *sharding = tsr_dict_find(attrs(func, i), "sdy.sharding");
    const tsr_attr *known = sharding ? tsr_sdy_mesh_of(ir, func, sharding) : NULL;
    if (known && !tsr_sdy_is_maximal(known)) mesh = tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH);
  }
  if (!mesh) return NULL;
  list = tsr_ir_alloc(ir, (size_t)count * sizeof(const tsr_attr *));
  TSR_NEED(list);
  for (int i = 0; i < count; i++) {
    list[i] = tsr_dict_find(attrs(func, i), "sdy.sharding");
    if (!list[i])
      list[i] = tsr_sharding_bare(ir, mesh, tsr_type_rank(type->types[first + i]), false);
    TSR_NEED(list[i]);
  }
  *out_list = tsr_shardings_attr(ir, list, count);
  TSR_NEED(*out_list);
  return NULL;
}

tsr_status tsr_func_arg_shardings(tsr_ir *ir, const tsr_op *func, const tsr_attr **out_list) {
  return func_shardings(ir, func, tsr_func_arg_attrs, 0, tsr_func_type(func)->input_count,
                        out_list);
}

tsr_status tsr_func_result_shardings(tsr_ir *ir, const tsr_op *func, const tsr_attr **out_list) {
  const tsr_type *type = tsr_func_type(func);
  return func_shardings(ir, func, tsr_func_result_attrs, type->input_count,
                        type->count - type->input_count, out_list);
}

typedef struct call_walk {
  tsr_ir *ir;
  tsr_symbol_namer namer;
  int64_t *changes;
  int64_t imported;
  tsr_op **made;  // calls
  int64_t made_count, made_capacity;
} call_walk;

static tsr_status name_call(tsr_op *op, void *context) {
  const call_walk *w = context;
  const tsr_attr *list = NULL;
  const tsr_op *func = tsr_op_is(op, TSR_OP_CALL) ? tsr_callee(w->ir, op) : NULL;
  if (!func || tsr_op_attr(op, "sdy.sharding")) return NULL;
  TSR_TRY(tsr_func_result_shardings(w->ir, func, &list));
  if (!list) return NULL;
  ++*w->changes;
  return tsr_op_attr_set(w->ir, op, "sdy.sharding", list);
}

tsr_status tsr_pass_propagate_sharding_from_func_to_call(tsr_ir *ir,
                                                         const tsr_pass_options *options,
                                                         int64_t *changes) {
  call_walk w = {.ir = ir, .changes = changes};
  (void)options;
  return tsr_op_walk(ir->module, name_call, &w);
}

// ---- a function for each call ----

enum { CALLED = 8 };

static tsr_status flatten_call(tsr_op *call, void *context) {
  call_walk *w = context;
  tsr_op *func = tsr_callee(w->ir, call), *copy = NULL;
  if (!func || !tsr_func_body(func)) return NULL;
  if (!(func->mark & CALLED)) {
    func->mark |= CALLED;
    return NULL;
  }
  TSR_TRY(tsr_func_copy(&w->namer, func, &copy));
  ++*w->changes;
  return tsr_callee_set(w->ir, call, tsr_op_symbol(copy));
}

tsr_status tsr_pass_flatten_call_graph(tsr_ir *ir, const tsr_pass_options *options,
                                       int64_t *changes) {
  call_walk w = {.ir = ir, .namer = {.ir = ir}, .changes = changes};
  (void)options;
  return tsr_calls_walk(ir, flatten_call, &w);
}

// ---- calls become named computations ----

// Attributes of the call that stay: all but its callee and its shardings.
static int kept_attrs(const tsr_op *call, tsr_named_attr *out) {
  int count = 0;
  for (int i = 0; i < call->attr_count; i++) {
    const char *name = call->attrs[i].name;
    if (!tsr_op_is_inherent(call, name) && strcmp(name, "sdy.sharding") != 0)
      out[count++] = call->attrs[i];
  }
  return count;
}

static bool add_attr(tsr_ir *ir, tsr_named_attr *list, int *count, const char *name,
                     const tsr_attr *attr) {
  if (!attr) return true;
  list[*count].name = tsr_ir_name(ir, name, strlen(name));
  list[*count].attr = attr;
  return list[(*count)++].name != NULL;
}

static tsr_status make_named(tsr_ir *ir, const tsr_op *call, const tsr_op *func,
                             tsr_op **out_named) {
  const char *name = tsr_func_origin(func);
  const tsr_attr *in = NULL;
  TSR_TRY(tsr_func_arg_shardings(ir, func, &in));
  tsr_named_attr *attrs = tsr_ir_alloc(ir, ((size_t)call->attr_count + 4) * sizeof *attrs);
  tsr_value **operands = tsr_ir_alloc(ir, ((size_t)call->operand_count + 1) * sizeof *operands);
  const tsr_type **types = tsr_ir_alloc(ir, ((size_t)call->result_count + 1) * sizeof *types);
  const tsr_attr *text = tsr_attr_string(ir, name, strlen(name));
  if (!attrs || !operands || !types || !text) return tsr_fail(NO_MEMORY, "a call of @%s", name);
  int count = kept_attrs(call, attrs);
  if (!add_attr(ir, attrs, &count, "in_shardings", in) ||
      !add_attr(ir, attrs, &count, "name", text) ||
      !add_attr(ir, attrs, &count, "out_shardings", tsr_op_attr(call, "sdy.sharding")) ||
      !add_attr(ir, attrs, &count, "execution_thread", tsr_op_attr(func, "execution_thread")))
    return tsr_fail(NO_MEMORY, "a call of @%s", name);
  for (int i = 0; i < call->operand_count; i++) operands[i] = tsr_op_operand(call, i);
  for (int i = 0; i < call->result_count; i++) types[i] = tsr_op_result(call, i)->type;
  const tsr_op_parts parts = {.id = TSR_OP_SDY_NAMED_COMPUTATION,
                              .operands = operands,
                              .operand_count = call->operand_count,
                              .result_types = types,
                              .result_count = call->result_count,
                              .region_count = 1,
                              .attrs = attrs,
                              .attr_count = count,
                              .location = call->location};
  *out_named = tsr_op_create(ir, &parts);
  TSR_NEED(*out_named);
  (*out_named)->origin = call->origin;
  return NULL;
}

// A function to take the body of: the function itself for the last call of it, a copy for others.
static tsr_status body_source(tsr_ir *ir, tsr_op *func, tsr_op **out_func) {
  *out_func = func;
  if (func->mark-- == 1) return NULL;
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  *out_func = tsr_op_clone(ir, func, map);
  tsr_value_map_destroy(map);
  TSR_NEED(*out_func);
  return NULL;
}

static tsr_status import_call(call_walk *w, tsr_op *call) {
  tsr_op *func = tsr_callee(w->ir, call), *named = NULL;
  if (!func || !tsr_func_body(func))
    return tsr_fail(UNSUPPORTED, "a call of a function without a body");
  if (++w->imported > MOST_CALLS) return tsr_fail(TOO_LARGE, "more than %d calls", MOST_CALLS);
  TSR_TRY(body_source(w->ir, func, &func));
  TSR_TRY(make_named(w->ir, call, func, &named));
  tsr_op_insert_before(call, named);
  tsr_body_take(&named->regions[0], &func->regions[0]);
  TSR_TRY(tsr_return_exchange(w->ir, named->regions[0].first, TSR_OP_SDY_RETURN));
  for (int i = 0; i < call->result_count; i++)
    tsr_uses_move(tsr_op_result(call, i), tsr_op_result(named, i), NULL);
  tsr_op_erase(call);
  if (func->block) tsr_op_erase(func);
  ++*w->changes;
  return NULL;
}

static tsr_status import_visit(tsr_op *op, void *context) {
  return tsr_op_is(op, TSR_OP_CALL) ? import_call(context, op) : NULL;
}

static tsr_status named_edges(tsr_op *op, void *context) {
  const call_walk *w = context;
  return tsr_op_is(op, TSR_OP_SDY_NAMED_COMPUTATION) ? tsr_edges_add(w->ir, op, w->changes) : NULL;
}

// Counts calls of each function in its mark.
static tsr_status count_call(tsr_op *op, void *context) {
  const call_walk *w = context;
  tsr_op *func = tsr_op_is(op, TSR_OP_CALL) ? tsr_callee(w->ir, op) : NULL;
  if (func) func->mark++;
  return NULL;
}

static tsr_status import_all(call_walk *w, const tsr_call_order *order) {
  tsr_marks_clear(w->ir);
  TSR_TRY(tsr_op_walk(w->ir->module, count_call, w));
  for (int i = 0; i < order->count; i++)
    TSR_TRY(tsr_op_walk_after(order->list[i], import_visit, w));
  return NULL;
}

tsr_status tsr_pass_import_func_calls(tsr_ir *ir, const tsr_pass_options *options,
                                      int64_t *changes) {
  call_walk w = {.ir = ir, .namer = {.ir = ir}, .changes = changes};
  tsr_call_order order = {0};
  TSR_TRY(tsr_call_order_make(ir, &order));
  tsr_status status = import_all(&w, &order);
  free(order.list);
  TSR_TRY(status);
  if (!tsr_pass_number(options, TSR_SHARDING_NAMED_EDGES, 1)) return NULL;
  return tsr_op_walk_after(ir->module, named_edges, &w);
}

// ---- functions in the order of calls ----

tsr_status tsr_pass_pre_order_funcs(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  tsr_call_order order = {0};
  (void)options;
  TSR_TRY(tsr_call_order_make(ir, &order));
  for (int i = order.count; i-- > 0; ++*changes) {
    tsr_op_unlink(order.list[i]);
    tsr_op_append(ir->module->regions[0].first, order.list[i]);
  }
  free(order.list);
  return NULL;
}

// ---- named computations become functions again ----

static void drop_edges(tsr_value *const *values, int count) {
  for (int i = 0; i < count; i++) {
    tsr_op *edge = values[i]->uses ? values[i]->uses->user : NULL;
    if (!tsr_op_is(edge, TSR_OP_SDY_DATA_FLOW_EDGE)) continue;
    tsr_uses_move(tsr_op_result(edge, 0), values[i], NULL);
    tsr_op_erase(edge);
  }
}

// The shardings on the edges of `count` values become attribute `name` of the op.
static tsr_status gather_edges(tsr_ir *ir, tsr_op *op, tsr_value *const *values, int count,
                               const char *name) {
  const tsr_attr **list = calloc((size_t)count + 1, sizeof(const tsr_attr *));
  bool any = false;
  TSR_NEED(list);
  tsr_status status = tsr_edge_shardings(ir, values, count, list, &any);
  const tsr_attr *all = !status && any ? tsr_shardings_attr(ir, list, count) : NULL;
  free(list);
  TSR_TRY(status);
  if (!any) return NULL;
  TSR_NEED(all);
  return tsr_op_attr_set(ir, op, name, all);
}

static tsr_status arg_dicts(tsr_ir *ir, const tsr_attr *shardings, const tsr_attr **out_attr) {
  const tsr_attr *list = tsr_shardings_list(shardings);
  *out_attr = NULL;
  if (!list) return NULL;
  const tsr_attr **dicts = tsr_ir_alloc(ir, ((size_t)list->count + 1) * sizeof(const tsr_attr *));
  const char *name = tsr_ir_name(ir, "sdy.sharding", 12);
  if (!dicts || !name) return tsr_fail(NO_MEMORY, "arguments of a function");
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_named_attr entry = {name, list->items[i]};
    dicts[i] = tsr_attr_dict(ir, &entry, 1);
    TSR_NEED(dicts[i]);
  }
  *out_attr = tsr_attr_array(ir, dicts, list->count);
  TSR_NEED(*out_attr);
  return NULL;
}

static const tsr_type *body_type(tsr_ir *ir, const tsr_op *named) {
  const tsr_ir_block *body = named->regions[0].first;
  const int count = body->arg_count + named->result_count;
  const tsr_type **types = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *types);
  if (!types) return NULL;
  for (int i = 0; i < body->arg_count; i++) types[i] = body->args[i]->type;
  for (int i = 0; i < named->result_count; i++)
    types[body->arg_count + i] = tsr_op_result(named, i)->type;
  return tsr_type_function(ir, types, body->arg_count, types + body->arg_count,
                           named->result_count);
}

static tsr_status make_func(call_walk *w, tsr_op *named, tsr_op **out_func) {
  tsr_ir *ir = w->ir;
  const tsr_attr *origin = tsr_op_attr(named, "name"), *dicts = NULL;
  const char *name = NULL;
  tsr_named_attr attrs[6];
  int count = 0;
  TSR_TRY(arg_dicts(ir, tsr_op_attr(named, "in_shardings"), &dicts));
  TSR_TRY(tsr_symbol_name_unused(&w->namer, origin->bytes, &name));
  const tsr_type *type = body_type(ir, named);
  const tsr_attr *type_attr = type ? tsr_attr_type(ir, type) : NULL;
  const tsr_attr *symbol = tsr_attr_string(ir, name, strlen(name));
  const tsr_attr *visibility = tsr_attr_string(ir, "private", 7);
  if (!type_attr || !symbol || !visibility || !add_attr(ir, attrs, &count, "sym_name", symbol) ||
      !add_attr(ir, attrs, &count, "function_type", type_attr) ||
      !add_attr(ir, attrs, &count, "sym_visibility", visibility) ||
      !add_attr(ir, attrs, &count, "arg_attrs", dicts) ||
      !add_attr(ir, attrs, &count, "sdy.original_func_name", origin) ||
      !add_attr(ir, attrs, &count, "execution_thread", tsr_op_attr(named, "execution_thread")))
    return tsr_fail(NO_MEMORY, "function @%s", name);
  const tsr_op_parts parts = {.id = TSR_OP_FUNC,
                              .region_count = 1,
                              .attrs = attrs,
                              .attr_count = count,
                              .location = named->location};
  tsr_op *func = tsr_op_create(ir, &parts);
  TSR_NEED(func);
  tsr_body_take(&func->regions[0], &named->regions[0]);
  TSR_TRY(tsr_return_exchange(ir, func->regions[0].first, TSR_OP_FUNC_RETURN));
  tsr_op_append(ir->module->regions[0].first, func);
  *out_func = func;
  return NULL;
}

static tsr_status make_call(tsr_ir *ir, tsr_op *named, const tsr_op *func, tsr_op **out_call) {
  const char *name = tsr_op_symbol(func);
  tsr_named_attr *attrs = tsr_ir_alloc(ir, ((size_t)named->attr_count + 2) * sizeof *attrs);
  tsr_value **operands = tsr_ir_alloc(ir, ((size_t)named->operand_count + 1) * sizeof *operands);
  const tsr_type **types = tsr_ir_alloc(ir, ((size_t)named->result_count + 1) * sizeof *types);
  const tsr_attr *symbol = tsr_attr_symbol(ir, name, strlen(name));
  int count = 0;
  if (!attrs || !operands || !types || !symbol) return tsr_fail(NO_MEMORY, "a call of @%s", name);
  for (int i = 0; i < named->attr_count; i++)
    if (!tsr_op_is_inherent(named, named->attrs[i].name) &&
        strcmp(named->attrs[i].name, "execution_thread") != 0)
      attrs[count++] = named->attrs[i];
  if (!add_attr(ir, attrs, &count, "callee", symbol) ||
      !add_attr(ir, attrs, &count, "sdy.sharding", tsr_op_attr(named, "out_shardings")))
    return tsr_fail(NO_MEMORY, "a call of @%s", name);
  for (int i = 0; i < named->operand_count; i++) operands[i] = tsr_op_operand(named, i);
  for (int i = 0; i < named->result_count; i++) types[i] = tsr_op_result(named, i)->type;
  const tsr_op_parts parts = {.id = TSR_OP_CALL,
                              .operands = operands,
                              .operand_count = named->operand_count,
                              .result_types = types,
                              .result_count = named->result_count,
                              .attrs = attrs,
                              .attr_count = count,
                              .location = named->location};
  *out_call = tsr_op_create(ir, &parts);
  TSR_NEED(*out_call);
  (*out_call)->origin = named->origin;
  return NULL;
}

static tsr_value **results_of(tsr_ir *ir, tsr_op *op) {
  tsr_value **list = tsr_ir_alloc(ir, ((size_t)op->result_count + 1) * sizeof *list);
  for (int i = 0; list && i < op->result_count; i++) list[i] = tsr_op_result(op, i);
  return list;
}

static tsr_status export_named(tsr_op *op, void *context) {
  call_walk *w = context;
  tsr_op *func = NULL, *call = NULL;
  if (!tsr_op_is(op, TSR_OP_SDY_NAMED_COMPUTATION)) return NULL;
  const tsr_ir_block *body = op->regions[0].first;
  tsr_value **results = results_of(w->ir, op);
  TSR_NEED(results);
  TSR_TRY(gather_edges(w->ir, op, body->args, body->arg_count, "in_shardings"));
  TSR_TRY(gather_edges(w->ir, op, results, op->result_count, "out_shardings"));
  TSR_TRY(make_func(w, op, &func));
  body = tsr_func_body(func);
  drop_edges(body->args, body->arg_count);
  TSR_TRY(make_call(w->ir, op, func, &call));
  tsr_op_insert_before(op, call);
  for (int i = 0; i < op->result_count; i++)
    tsr_uses_move(tsr_op_result(op, i), tsr_op_result(call, i), NULL);
  tsr_op_erase(op);
  tsr_op **made = tsr_grow(w->made, w->made_count, &w->made_capacity, sizeof *made);
  TSR_NEED(made);
  w->made = made;
  w->made[w->made_count++] = call;
  ++*w->changes;
  return NULL;
}

// Edges of results stand after their op, so they go once no one walks there any more.
static tsr_status export_all(call_walk *w) {
  TSR_TRY(tsr_op_walk_after(w->ir->module, export_named, w));
  for (int64_t i = 0; i < w->made_count; i++) {
    tsr_value **results = results_of(w->ir, w->made[i]);
    TSR_NEED(results);
    drop_edges(results, w->made[i]->result_count);
  }
  return NULL;
}

tsr_status tsr_pass_export_named_computations(tsr_ir *ir, const tsr_pass_options *options,
                                              int64_t *changes) {
  call_walk w = {.ir = ir, .namer = {.ir = ir}, .changes = changes};
  (void)options;
  // New functions go to the end, where the walk meets them: they hold no computations any more.
  tsr_status status = export_all(&w);
  free(w.made);
  return status;
}

// ---- results of functions ----

static tsr_status take_returned(tsr_ir *ir, tsr_op *func, const tsr_op *end) {
  const tsr_sharding_list list = tsr_sharding_list_of_results(func);
  const tsr_attr **made = calloc((size_t)list.count + 1, sizeof(const tsr_attr *));
  tsr_status status = made ? NULL : tsr_fail(NO_MEMORY, "shardings of a function");
  for (int i = 0; !status && i < list.count && i < end->operand_count; i++)
    status = tsr_sharding_get(ir, tsr_op_operand(end, i), &made[i]);
  if (!status) status = tsr_sharding_list_write(ir, &list, made);
  free(made);
  return status;
}

tsr_status tsr_pass_propagate_to_func_results(tsr_ir *ir, const tsr_pass_options *options,
                                              int64_t *changes) {
  const tsr_op *entry = tsr_ir_entry(ir);
  (void)options;
  if (!entry) return tsr_fail(UNKNOWN_SYMBOL, "several functions, and none is @main");
  for (tsr_op *op = ir->module->regions[0].first->first; op; op = op->next) {
    const tsr_ir_block *body = tsr_op_is(op, TSR_OP_FUNC) ? tsr_func_body(op) : NULL;
    const tsr_op *end = body && op != entry ? tsr_block_terminator(body) : NULL;
    if (!tsr_op_is(end, TSR_OP_FUNC_RETURN)) continue;
    if (!end->operand_count) continue;
    TSR_TRY(take_returned(ir, op, end));
    *changes += end->operand_count;
  }
  return NULL;
}

// ---- copies that came out alike ----

typedef struct func_key {
  tsr_op *func;
  const char *origin;
  const tsr_attr *manual, *arguments, *results;
  int64_t calls;
  int64_t first;  // the first key of the same origin; there stands which one has most calls so far,
  int64_t best;   // and the function whose call made it so
  tsr_op *best_func;
} func_key;

typedef struct unflattening {
  tsr_ir *ir;
  func_key *keys;
  int64_t count, capacity;
  bool fully;
  int64_t changes;
} unflattening;

static tsr_status key_of(unflattening *u, tsr_op *func, func_key *out) {
  *out = (func_key){.func = func,
                    .origin = tsr_func_origin(func),
                    .manual = tsr_op_attr(func, "sdy.func_manual_axes")};
  TSR_TRY(tsr_func_arg_shardings(u->ir, func, &out->arguments));
  return tsr_func_result_shardings(u->ir, func, &out->results);
}

static bool same_origin(const func_key *a, const func_key *b) {
  return !strcmp(a->origin, b->origin) && tsr_attr_equal(a->manual, b->manual);
}

static bool same_key(const func_key *a, const func_key *b) {
  return same_origin(a, b) && tsr_attr_equal(a->arguments, b->arguments) &&
         tsr_attr_equal(a->results, b->results);
}

static void note_call(unflattening *u, tsr_op *func) {
  const int64_t place = (int64_t)func->mark - 1;
  func_key *first = &u->keys[u->keys[place].first];
  u->keys[place].calls++;
  if (u->keys[place].calls <= u->keys[first->best].calls) return;
  first->best = place;
  first->best_func = func;
}

// Adds the key of a called function, or counts a call of one that has an equal key. The mark of a
// function is the place of its key plus 1.
static tsr_status add_key(tsr_op *op, void *context) {
  unflattening *u = context;
  tsr_op *func = tsr_op_is(op, TSR_OP_CALL) ? tsr_callee(u->ir, op) : NULL;
  func_key key;
  if (!func) return NULL;
  if (!func->mark) {
    TSR_TRY(key_of(u, func, &key));
    for (int64_t i = 0; i < u->count && !func->mark; i++)
      if (same_key(&u->keys[i], &key)) func->mark = (uint32_t)i + 1;
    if (!func->mark) {
      func_key *keys = tsr_grow(u->keys, u->count, &u->capacity, sizeof *keys);
      TSR_NEED(keys);
      u->keys = keys;
      for (key.first = 0; key.first < u->count; key.first++)
        if (same_origin(&u->keys[key.first], &key)) break;
      key.best = key.first;
      key.best_func = func;
      u->keys[u->count++] = key;
      func->mark = (uint32_t)u->count;
    }
  }
  note_call(u, func);
  return NULL;
}

static tsr_status point_call(tsr_op *op, void *context) {
  unflattening *u = context;
  const tsr_op *func = tsr_op_is(op, TSR_OP_CALL) ? tsr_callee(u->ir, op) : NULL;
  if (!func || !func->mark) return NULL;
  const func_key *key = &u->keys[func->mark - 1];
  const tsr_op *wanted = u->fully ? u->keys[key->first].best_func : key->func;
  if (wanted == func) return NULL;
  u->changes++;
  return tsr_callee_set(u->ir, op, tsr_op_symbol(wanted));
}

static tsr_status unflatten(unflattening *u) {
  tsr_marks_clear(u->ir);
  TSR_TRY(tsr_op_walk_after(u->ir->module, add_key, u));
  TSR_TRY(tsr_op_walk_after(u->ir->module, point_call, u));
  for (tsr_op *op = u->ir->module->regions[0].first->first; op; op = op->next) {
    if (!tsr_op_is(op, TSR_OP_FUNC)) continue;
    TSR_TRY(tsr_op_attr_set(u->ir, op, "sdy.original_func_name", NULL));
    TSR_TRY(tsr_op_attr_set(u->ir, op, "sdy.func_manual_axes", NULL));
  }
  return NULL;
}

tsr_status tsr_pass_unflatten_call_graph(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  unflattening u = {.ir = ir, .fully = tsr_pass_flag(options, TSR_SHARDING_DEDUP)};
  tsr_status status = unflatten(&u);
  *changes += u.changes;
  free(u.keys);
  return status;
}
