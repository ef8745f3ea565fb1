// Calls replaced by the bodies of functions.
//
// Functions are taken callees first, so that a body is final when it is copied. A body is copied
// where that helps: it is small, or this call is the only one. Some calls stay: of functions that
// reach themselves, that are marked no_inline, and those where the function, its arguments, its
// results or the call carry attributes, such as shardings, which would have no place any more
// (the option `sharded` takes those of Shardy as said elsewhere).
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "simplify/rewriter.h"
#include "simplify/symbol_uses.h"

enum { SMALL_OPS = 8, MOST_OPS = 4000000 };

typedef enum walk_state { UNSEEN, OPEN, DONE } walk_state;

typedef struct function {
  tsr_op *op;
  int64_t ops;         // in its body
  int64_t calls;       // of it
  int64_t references;  // to it, calls included
  walk_state state;
  bool recursive, movable;
} function;

// A function whose calls are looked at, for a walk through the calls without recursion.
typedef struct frame {
  int function;
  int64_t next;  // of its calls
  int64_t first, end;
} frame;

typedef struct inlining {
  tsr_ir *ir;
  int64_t small;
  bool all, scalars, sharded;
  function *functions;
  int count;
  tsr_op **calls;  // of the functions on the stack
  int64_t call_count, call_capacity;
  frame *frames;
  int64_t frame_count, frame_capacity;
  int64_t total_ops, changes;
  int current;
} inlining;

// The mark of a function is its position among `functions` plus 1.
static function *function_named(const inlining *in, const char *name) {
  const tsr_op *op = tsr_ir_find_symbol(in->ir, name);
  return op && op->info->id == TSR_OP_FUNC && op->mark ? &in->functions[op->mark - 1] : NULL;
}

static function *callee_of(const inlining *in, const tsr_op *call) {
  const tsr_attr *name = tsr_op_attr(call, "callee");
  return name && name->kind == TSR_ATTR_SYMBOL ? function_named(in, name->bytes) : NULL;
}

// ---- what is known about functions ----

// Where all values have the shardings that they have inside, those of the call say nothing more.
static bool may_go(const inlining *in, const char *name) {
  return in->sharded && !strncmp(name, "sdy.", 4);
}

static bool has_entries(const inlining *in, const tsr_attr *list) {
  if (!list || list->kind != TSR_ATTR_ARRAY) return false;
  for (int64_t i = 0; i < list->count; i++) {
    if (list->items[i]->kind != TSR_ATTR_DICT) return true;
    for (int64_t k = 0; k < list->items[i]->count; k++)
      if (!may_go(in, list->items[i]->entries[k].name)) return true;
  }
  return false;
}

static bool is_bare(const inlining *in, const tsr_op *op) {
  for (int i = 0; i < op->attr_count; i++)
    if (!tsr_op_is_inherent(op, op->attrs[i].name) && !may_go(in, op->attrs[i].name)) return false;
  return !tsr_op_attr(op, "no_inline") && !has_entries(in, tsr_op_attr(op, "arg_attrs")) &&
         !has_entries(in, tsr_op_attr(op, "res_attrs"));
}

static bool is_movable(const inlining *in, const tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  return end && end->info->id == TSR_OP_FUNC_RETURN && func->regions[0].block_count == 1 &&
         is_bare(in, func);
}

static tsr_status count_reference(const char *name, void *context) {
  const inlining *in = context;
  function *f = function_named(in, name);
  if (f) f->references++;
  return NULL;
}

static tsr_status look_at_op(tsr_op *op, void *context) {
  inlining *in = context;
  in->functions[in->current].ops++;
  in->total_ops++;
  TSR_TRY(tsr_op_symbols(op, count_reference, in));
  if (op->info->id != TSR_OP_CALL) return NULL;
  function *f = callee_of(in, op);
  if (f) f->calls++;
  return NULL;
}

static tsr_status look_at_functions(inlining *in) {
  const tsr_ir_block *body = in->ir->module->regions[0].first;
  int count = 0;
  for (const tsr_op *op = body->first; op; op = op->next) count++;
  in->functions = calloc((size_t)count + 1, sizeof *in->functions);
  TSR_NEED(in->functions);
  for (tsr_op *op = body->first; op; op = op->next) {
    op->mark = (uint32_t)++in->count;
    in->functions[in->count - 1] =
        (function){.op = op, .movable = op->info->id == TSR_OP_FUNC && is_movable(in, op)};
  }
  for (in->current = 0; in->current < in->count; in->current++)
    TSR_TRY(tsr_op_walk(in->functions[in->current].op, look_at_op, in));
  return NULL;
}

// ---- one call ----

static const tsr_attr *place_of_copy(tsr_ir *ir, const tsr_attr *callee, const tsr_attr *caller) {
  if (!callee || !caller) return callee ? callee : caller;
  const tsr_attr *fields[2] = {0};
  fields[TSR_LOC_CALL_CALLEE] = callee;
  fields[TSR_LOC_CALL_CALLER] = caller;
  return tsr_attr_record(ir, TSR_RECORD_LOC_CALL, fields);
}

static tsr_status copy_ops(inlining *in, tsr_op *call, const tsr_ir_block *body, const tsr_op *end,
                           tsr_value_map *map) {
  for (const tsr_op *op = body->first; op != end; op = op->next) {
    tsr_op *copy = tsr_op_clone(in->ir, op, map);
    TSR_NEED(copy);
    if (copy->location || call->location) {
      copy->location = place_of_copy(in->ir, copy->location, call->location);
      TSR_NEED(copy->location);
    }
    tsr_op_insert_before(call, copy);
  }
  return NULL;
}

static tsr_status copy_body(inlining *in, tsr_op *call, const tsr_op *func, tsr_value_map *map) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_op *end = tsr_block_terminator(body);
  for (int i = 0; i < body->arg_count; i++)
    if (!tsr_value_map_add(map, body->args[i], tsr_op_operand(call, i)))
      return tsr_fail(NO_MEMORY, "memory of a program");
  TSR_TRY(copy_ops(in, call, body, end, map));
  for (int i = 0; i < call->result_count; i++)
    tsr_value_replace(&call->results[i], tsr_value_map_find(map, tsr_op_operand(end, i)));
  tsr_op_erase(call);
  return NULL;
}

static bool fits(const tsr_op *call, const tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_op *end = tsr_block_terminator(body);
  if (call->operand_count != body->arg_count || call->result_count != end->operand_count)
    return false;
  for (int i = 0; i < call->operand_count; i++)
    if (tsr_operand_type(call, i) != body->args[i]->type) return false;
  for (int i = 0; i < call->result_count; i++)
    if (call->results[i].type != tsr_operand_type(end, i)) return false;
  return true;
}

static bool is_of_scalars(const tsr_op *call) {
  for (int i = 0; i < call->operand_count + call->result_count; i++) {
    const tsr_type *type = i < call->operand_count ? tsr_operand_type(call, i)
                                                   : call->results[i - call->operand_count].type;
    if (type->kind != TSR_TYPE_TENSOR || type->rank) return false;
  }
  return true;
}

static bool helps(const inlining *in, const function *f, const tsr_op *call) {
  const int64_t ops = f->ops - 2;  // without the function and its return
  if (in->scalars && !is_of_scalars(call)) return false;
  if (in->all || ops <= in->small) return true;
  return f->calls == 1 && f->references == 1 && !tsr_symbol_is_public(f->op);
}

static tsr_status inline_call(inlining *in, function *caller, tsr_op *call) {
  function *f = callee_of(in, call);
  if (!f || f->state != DONE || f->recursive || !f->movable) return NULL;
  if (!helps(in, f, call) || !is_bare(in, call) || !fits(call, f->op)) return NULL;
  if (in->total_ops + f->ops > MOST_OPS)
    return tsr_fail(TOO_LARGE, "inlining calls makes more than %d ops", MOST_OPS);
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  tsr_status status = copy_body(in, call, f->op, map);
  tsr_value_map_destroy(map);
  TSR_TRY(status);
  caller->ops += f->ops - 3;  // the function, its return and the call are gone
  in->total_ops += f->ops - 3;
  in->changes++;
  return NULL;
}

// ---- all calls ----

static tsr_status note_call(tsr_op *op, void *context) {
  inlining *in = context;
  if (op->info->id != TSR_OP_CALL) return NULL;
  tsr_op **calls = tsr_grow(in->calls, in->call_count, &in->call_capacity, sizeof *calls);
  TSR_NEED(calls);
  in->calls = calls;
  in->calls[in->call_count++] = op;
  return NULL;
}

static tsr_status open_function(inlining *in, int index) {
  frame *frames = tsr_grow(in->frames, in->frame_count, &in->frame_capacity, sizeof *frames);
  TSR_NEED(frames);
  in->frames = frames;
  const int64_t first = in->call_count;
  in->functions[index].state = OPEN;
  TSR_TRY(tsr_op_walk(in->functions[index].op, note_call, in));
  in->frames[in->frame_count++] = (frame){index, first, first, in->call_count};
  return NULL;
}

static tsr_status close_function(inlining *in, const frame *top) {
  function *f = &in->functions[top->function];
  for (int64_t i = top->first; i < top->end; i++) TSR_TRY(inline_call(in, f, in->calls[i]));
  in->call_count = top->first;
  f->state = DONE;
  in->frame_count--;
  return NULL;
}

// Every function between a call and the open function that it reaches is on a cycle.
static void mark_cycle(inlining *in, int reached) {
  for (int64_t i = in->frame_count - 1; i >= 0; i--) {
    in->functions[in->frames[i].function].recursive = true;
    if (in->frames[i].function == reached) return;
  }
}

static tsr_status step(inlining *in) {
  frame *top = &in->frames[in->frame_count - 1];
  if (top->next == top->end) return close_function(in, top);
  const function *f = callee_of(in, in->calls[top->next++]);
  if (!f) return NULL;
  const int index = (int)(f - in->functions);
  if (f->state == OPEN) mark_cycle(in, index);
  return f->state == UNSEEN ? open_function(in, index) : NULL;
}

static tsr_status inline_all(inlining *in) {
  TSR_TRY(look_at_functions(in));
  for (int i = 0; i < in->count; i++) {
    if (in->functions[i].state != UNSEEN) continue;
    TSR_TRY(open_function(in, i));
    while (in->frame_count) TSR_TRY(step(in));
  }
  return NULL;
}

tsr_status tsr_pass_inline(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  inlining in = {.ir = ir,
                 .small = tsr_pass_number(options, TSR_SIMPLIFY_OPS, SMALL_OPS),
                 .all = tsr_pass_flag(options, TSR_SIMPLIFY_ALL),
                 .scalars = tsr_pass_flag(options, TSR_SIMPLIFY_SCALARS),
                 .sharded = tsr_pass_flag(options, TSR_SIMPLIFY_SHARDED)};
  tsr_status status = inline_all(&in);
  free(in.functions);
  free(in.calls);
  free(in.frames);
  *changes += in.changes;
  TSR_TRY(status);
  int64_t dropped = 0;  // functions whose last call is gone
  return in.changes ? tsr_pass_symbol_dce(ir, options, &dropped) : NULL;
}

// ---- composites ----

typedef struct decomposing {
  tsr_ir *ir;
  int64_t changes;
} decomposing;

// The call keeps the attributes that are not of composites.
static tsr_status decompose(tsr_op *op, void *context) {
  decomposing *d = context;
  const tsr_attr *callee = tsr_op_attr(op, "decomposition");
  if (op->info->id != TSR_OP_COMPOSITE || op->region_count || !callee) return NULL;
  tsr_named_attr *attrs = tsr_ir_alloc(d->ir, (size_t)(op->attr_count + 1) * sizeof *attrs);
  tsr_value **values = tsr_ir_alloc(d->ir, (size_t)op->operand_count * sizeof *values + 1);
  const tsr_type **types = tsr_ir_alloc(d->ir, (size_t)op->result_count * sizeof *types + 1);
  TSR_NEED(attrs);
  TSR_NEED(values);
  TSR_NEED(types);
  tsr_op_parts parts = {.id = TSR_OP_CALL,
                        .operand_count = op->operand_count,
                        .operands = values,
                        .result_count = op->result_count,
                        .result_types = types,
                        .attrs = attrs,
                        .location = op->location};
  attrs[parts.attr_count++] = (tsr_named_attr){tsr_ir_name(d->ir, "callee", 6), callee};
  TSR_NEED(attrs[0].name);
  for (int i = 0; i < op->attr_count; i++)
    if (!tsr_op_is_inherent(op, op->attrs[i].name)) attrs[parts.attr_count++] = op->attrs[i];
  for (int i = 0; i < op->operand_count; i++) values[i] = tsr_op_operand(op, i);
  for (int i = 0; i < op->result_count; i++) types[i] = op->results[i].type;
  tsr_op *call = tsr_op_create(d->ir, &parts);
  TSR_NEED(call);
  tsr_op_insert_before(op, call);
  for (int i = 0; i < op->result_count; i++) tsr_value_replace(&op->results[i], &call->results[i]);
  tsr_op_erase(op);
  d->changes++;
  return NULL;
}

tsr_status tsr_pass_composites(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  decomposing d = {.ir = ir};
  tsr_status status = tsr_op_walk(ir->module, decompose, &d);
  *changes += d.changes;
  return status;
}
