// Private functions that nothing refers to; and locations, which nothing computes with.
#include <stdlib.h>

#include "base/grow.h"
#include "simplify/rewriter.h"
#include "simplify/symbol_uses.h"

tsr_status tsr_attr_symbols(const tsr_attr *attr, tsr_symbol_visit *visit, void *context) {
  if (!attr) return NULL;
  switch (attr->kind) {
    case TSR_ATTR_SYMBOL:
      return visit(attr->bytes, context);
    case TSR_ATTR_ARRAY:
    case TSR_ATTR_RECORD:
      for (int64_t i = 0; i < attr->count; i++)
        TSR_TRY(tsr_attr_symbols(attr->items[i], visit, context));
      return NULL;
    case TSR_ATTR_DICT:
      for (int64_t i = 0; i < attr->count; i++)
        TSR_TRY(tsr_attr_symbols(attr->entries[i].attr, visit, context));
      return NULL;
    default:
      return NULL;
  }
}

tsr_status tsr_op_symbols(const tsr_op *op, tsr_symbol_visit *visit, void *context) {
  for (int i = 0; i < op->attr_count; i++)
    TSR_TRY(tsr_attr_symbols(op->attrs[i].attr, visit, context));
  return NULL;
}

bool tsr_symbol_is_public(const tsr_op *op) {
  return op->info->id != TSR_OP_FUNC ||
         !tsr_attr_is_string(tsr_op_attr(op, "sym_visibility"), "private");
}

// ---- symbol-dce ----

typedef struct reaching {
  tsr_ir *ir;
  tsr_op **list;  // reached, their bodies not yet looked at
  int64_t count, capacity;
} reaching;

static tsr_status reach(reaching *r, tsr_op *op) {
  if (op->mark) return NULL;
  tsr_op **list = tsr_grow(r->list, r->count, &r->capacity, sizeof *list);
  TSR_NEED(list);
  r->list = list;
  r->list[r->count++] = op;
  op->mark = 1;
  return NULL;
}

static tsr_status reach_name(const char *name, void *context) {
  reaching *r = context;
  tsr_op *op = tsr_ir_find_symbol(r->ir, name);
  return op ? reach(r, op) : NULL;
}

static tsr_status reach_from(tsr_op *op, void *context) {
  return tsr_op_symbols(op, reach_name, context);
}

static tsr_status reach_all(reaching *r) {
  const tsr_ir_block *body = r->ir->module->regions[0].first;
  for (tsr_op *op = body->first; op; op = op->next) op->mark = 0;
  TSR_TRY(tsr_op_symbols(r->ir->module, reach_name, r));
  for (tsr_op *op = body->first; op; op = op->next)
    if (tsr_symbol_is_public(op)) TSR_TRY(reach(r, op));
  while (r->count) TSR_TRY(tsr_op_walk(r->list[--r->count], reach_from, r));
  return NULL;
}

tsr_status tsr_pass_symbol_dce(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  reaching r = {.ir = ir};
  tsr_status status = reach_all(&r);
  free(r.list);
  TSR_TRY(status);
  for (tsr_op *op = ir->module->regions[0].first->first, *next; op; op = next) {
    next = op->next;
    if (op->mark) continue;
    tsr_op_erase(op);
    ++*changes;
  }
  return NULL;
}

tsr_status tsr_pass_dce(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  TSR_TRY(tsr_pass_symbol_dce(ir, options, changes));
  TSR_TRY(tsr_rewrite(ir, options, NULL, 0, changes));
  return tsr_pass_symbol_dce(ir, options, changes);  // dropped ops may have been the last calls
}

// ---- drop-locations ----

static tsr_status drop_location(tsr_op *op, void *context) {
  int64_t *changes = context;
  *changes += op->location != NULL;
  op->location = NULL;
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int k = 0; k < block->arg_count; k++) {
        *changes += block->args[k]->location != NULL;
        block->args[k]->location = NULL;
      }
  return NULL;
}

tsr_status tsr_pass_drop_locations(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  return tsr_op_walk(ir->module, drop_location, changes);
}
