// New names of functions and meshes, and functions in the order of their calls.
#include "propagate/symbol_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "propagate/edits.h"

enum { DEEPEST = 128, MOST_OPS = 4000000 };

tsr_status tsr_symbol_name_unused(tsr_symbol_namer *namer, const char *base,
                                  const char **out_name) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, base);
  while (!text.failed && tsr_ir_find_symbol(namer->ir, tsr_text_string(&text))) {
    text.length = 0;
    tsr_text_addf(&text, "%s_%llu", base, (unsigned long long)namer->next++);
  }
  tsr_status status = tsr_text_check(&text);
  const char *name = status ? NULL : tsr_ir_name(namer->ir, tsr_text_string(&text), text.length);
  tsr_text_deinit(&text);
  TSR_TRY(status);
  TSR_NEED(name);
  *out_name = name;
  return NULL;
}

tsr_op *tsr_callee(const tsr_ir *ir, const tsr_op *call) {
  const tsr_attr *name = tsr_op_attr(call, "callee");
  tsr_op *func = name && name->kind == TSR_ATTR_SYMBOL ? tsr_ir_find_symbol(ir, name->bytes) : NULL;
  return tsr_op_is(func, TSR_OP_FUNC) ? func : NULL;
}

tsr_status tsr_callee_set(tsr_ir *ir, tsr_op *call, const char *name) {
  const tsr_attr *symbol = tsr_attr_symbol(ir, name, strlen(name));
  TSR_NEED(symbol);
  return tsr_op_attr_set(ir, call, "callee", symbol);
}

// ---- the order ----

typedef enum visit_state { UNSEEN, OPEN, DONE } visit_state;

typedef struct call_frame {
  tsr_op *func;
  int64_t next, end;  // of its calls in `calls`
} call_frame;

typedef struct call_ordering {
  tsr_ir *ir;
  tsr_call_order order;
  int64_t capacity;
  tsr_op **calls;  // callees of the functions on the stack
  int64_t call_count, call_capacity;
  call_frame frames[DEEPEST];
  int depth;
} call_ordering;

static tsr_status collect_callee(tsr_op *op, void *context) {
  call_ordering *o = context;
  if (!tsr_op_is(op, TSR_OP_CALL)) return NULL;
  tsr_op *callee = tsr_callee(o->ir, op);
  if (!callee || !tsr_func_body(callee)) return NULL;
  tsr_op **calls = tsr_grow(o->calls, o->call_count, &o->call_capacity, sizeof *calls);
  TSR_NEED(calls);
  o->calls = calls;
  o->calls[o->call_count++] = callee;
  return NULL;
}

static tsr_status enter(call_ordering *o, tsr_op *func) {
  if (func->mark == OPEN)
    return tsr_fail(UNSUPPORTED, "function @%s calls itself", tsr_op_symbol(func));
  if (func->mark == DONE) return NULL;
  if (o->depth == DEEPEST)
    return tsr_fail(TOO_LARGE, "calls are nested deeper than %d at @%s", DEEPEST,
                    tsr_op_symbol(func));
  func->mark = OPEN;
  const int64_t first = o->call_count;
  TSR_TRY(tsr_op_walk(func, collect_callee, o));
  o->frames[o->depth++] = (call_frame){func, first, o->call_count};
  return NULL;
}

static tsr_status leave(call_ordering *o) {
  const call_frame *frame = &o->frames[--o->depth];
  tsr_op **list = tsr_grow(o->order.list, o->order.count, &o->capacity, sizeof *list);
  TSR_NEED(list);
  o->order.list = list;
  o->order.list[o->order.count++] = frame->func;
  frame->func->mark = DONE;
  return NULL;
}

static tsr_status order_from(call_ordering *o, tsr_op *func) {
  TSR_TRY(enter(o, func));
  while (o->depth) {
    call_frame *frame = &o->frames[o->depth - 1];
    if (frame->next < frame->end) {
      TSR_TRY(enter(o, o->calls[frame->next++]));
    } else {
      TSR_TRY(leave(o));
      o->call_count = o->depth ? o->frames[o->depth - 1].end : 0;
    }
  }
  return NULL;
}

static tsr_status order_all(call_ordering *o) {
  for (tsr_op *op = o->ir->module->regions[0].first->first; op; op = op->next)
    if (tsr_op_is(op, TSR_OP_FUNC)) op->mark = UNSEEN;
  for (tsr_op *op = o->ir->module->regions[0].first->first; op; op = op->next)
    if (tsr_op_is(op, TSR_OP_FUNC) && tsr_func_body(op)) TSR_TRY(order_from(o, op));
  return NULL;
}

tsr_status tsr_call_order_make(tsr_ir *ir, tsr_call_order *out_order) {
  call_ordering o = {.ir = ir};
  tsr_status status = order_all(&o);
  free(o.calls);
  if (status)
    free(o.order.list);
  else
    *out_order = o.order;
  return status;
}

typedef struct call_visit {
  tsr_op_visit *visit;
  void *context;
} call_visit;

static tsr_status visit_call(tsr_op *op, void *context) {
  const call_visit *v = context;
  return tsr_op_is(op, TSR_OP_CALL) ? v->visit(op, v->context) : NULL;
}

tsr_status tsr_calls_walk(tsr_ir *ir, tsr_op_visit *visit, void *context) {
  tsr_call_order order = {0};
  call_visit v = {visit, context};
  TSR_TRY(tsr_call_order_make(ir, &order));
  tsr_status status = NULL;
  for (int i = 0; !status && i < order.count; i++)
    status = tsr_op_walk_after(order.list[i], visit_call, &v);
  free(order.list);
  return status;
}

// ---- copies ----

const char *tsr_func_origin(const tsr_op *func) {
  const tsr_attr *origin = tsr_op_attr(func, "sdy.original_func_name");
  return origin && origin->kind == TSR_ATTR_STRING ? origin->bytes : tsr_op_symbol(func);
}

typedef struct func_copying {
  tsr_symbol_namer *namer;
  int64_t ops;
  int depth;
} func_copying;

static tsr_status copy_func(func_copying *c, const tsr_op *func, tsr_op **out_copy);

static tsr_status copy_callee(tsr_op *op, void *context) {
  func_copying *c = context;
  if (++c->ops > MOST_OPS)
    return tsr_fail(TOO_LARGE, "more than %d ops in copies of functions", MOST_OPS);
  if (!tsr_op_is(op, TSR_OP_CALL)) return NULL;
  const tsr_op *callee = tsr_callee(c->namer->ir, op);
  tsr_op *copy = NULL;
  if (!callee || !tsr_func_body(callee)) return NULL;
  TSR_TRY(copy_func(c, callee, &copy));
  return tsr_callee_set(c->namer->ir, op, tsr_op_symbol(copy));
}

static tsr_status clone_func(tsr_ir *ir, const tsr_op *func, tsr_op **out_copy) {
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  tsr_op *copy = tsr_op_clone(ir, func, map);
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  *out_copy = copy;
  return NULL;
}

// Callees get their names before their caller does. Calls are not nested deeper than
// tsr_call_order_make lets them be, so this may call itself.
// NOLINTNEXTLINE(misc-no-recursion)
static tsr_status copy_func(func_copying *c, const tsr_op *func, tsr_op **out_copy) {
  tsr_ir *ir = c->namer->ir;
  const char *origin = tsr_func_origin(func), *name = NULL;
  const tsr_attr *text = tsr_attr_string(ir, origin, strlen(origin));
  tsr_op *copy = NULL;
  TSR_NEED(text);
  if (++c->depth > DEEPEST)
    return tsr_fail(TOO_LARGE, "calls are nested deeper than %d at @%s", DEEPEST, origin);
  TSR_TRY(clone_func(ir, func, &copy));
  TSR_TRY(tsr_op_attr_set(ir, copy, "sdy.original_func_name", text));
  TSR_TRY(tsr_op_walk_after(copy, copy_callee, c));
  TSR_TRY(tsr_symbol_name_unused(c->namer, tsr_op_symbol(func), &name));
  const tsr_attr *symbol = tsr_attr_string(ir, name, strlen(name));
  TSR_NEED(symbol);
  TSR_TRY(tsr_op_attr_set(ir, copy, "sym_name", symbol));
  tsr_op_append(ir->module->regions[0].first, copy);
  c->depth--;
  *out_copy = copy;
  return NULL;
}

tsr_status tsr_func_copy(tsr_symbol_namer *namer, const tsr_op *func, tsr_op **out_copy) {
  func_copying c = {.namer = namer};
  return copy_func(&c, func, out_copy);
}
