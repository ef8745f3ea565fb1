// The worklist of local rules. An op is visited once at the start and again when one of its
// operands changes, so a pass takes time linear in the ops and the changes.
#include "simplify/rewriter.h"

#include <stdlib.h>

#include "base/grow.h"

enum { ALL_FOLD_STEPS = 1 << 23 };
// Of ops. An erased op may still stand on the list.
enum { MARK_NONE, MARK_QUEUED, MARK_ERASED };

// ---- what ops are ----

bool tsr_op_is_plain(const tsr_op *op) {
  for (int i = 0; i < op->attr_count; i++)
    if (!tsr_op_is_inherent(op, op->attrs[i].name)) return false;
  return true;
}

static bool body_is_droppable(const tsr_op *op) {
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (const tsr_op *inner = block->first; inner; inner = inner->next)
        if (!(inner->info->traits & TSR_TRAIT_TERMINATES) && !tsr_op_is_droppable(inner))
          return false;
  return true;
}

bool tsr_op_is_droppable(const tsr_op *op) {
  if (op->info->traits & TSR_TRAIT_TERMINATES) return false;
  if (op->info->traits & TSR_TRAIT_PURE) return op->result_count > 0;
  switch (op->info->id) {
    case TSR_OP_WHILE:
    case TSR_OP_IF:
    case TSR_OP_CASE:
    case TSR_OP_SDY_MANUAL_COMPUTATION:
    case TSR_OP_SDY_NAMED_COMPUTATION:
      return body_is_droppable(op);
    case TSR_OP_CUSTOM_CALL:
      return op->result_count > 0 && !tsr_op_flag(op, "has_side_effect");
    default:
      return false;
  }
}

static bool is_unused(const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].uses) return false;
  return true;
}

tsr_op *tsr_operand_def(const tsr_op *op, int index, tsr_op_id id) {
  tsr_op *def = tsr_op_operand(op, index)->def;
  return def && def->info->id == id && tsr_op_is_plain(def) ? def : NULL;
}

// ---- the list ----

tsr_status tsr_rewriter_push(tsr_rewriter *r, tsr_op *op) {
  if (op->mark != MARK_NONE) return NULL;
  tsr_op **list = tsr_grow(r->list, r->count, &r->capacity, sizeof *list);
  TSR_NEED(list);
  r->list = list;
  r->list[r->count++] = op;
  op->mark = MARK_QUEUED;
  return NULL;
}

static tsr_status push_users(tsr_rewriter *r, const tsr_value *value) {
  for (const tsr_use *use = value->uses; use; use = use->next)
    TSR_TRY(tsr_rewriter_push(r, use->user));
  return NULL;
}

static tsr_status clear_mark(tsr_op *op, void *context) {
  (void)context;
  op->mark = MARK_NONE;
  return NULL;
}

static tsr_status mark_erased(tsr_op *op, void *context) {
  tsr_rewriter *r = context;
  for (int i = 0; i < op->operand_count; i++) {
    tsr_op *def = tsr_op_operand(op, i)->def;
    if (def) TSR_TRY(tsr_rewriter_push(r, def));
  }
  op->mark = MARK_ERASED;
  return NULL;
}

// The ops that it used may be unused now.
static tsr_status erase(tsr_rewriter *r, tsr_op *op) {
  TSR_TRY(tsr_op_walk(op, mark_erased, r));
  tsr_op_erase(op);
  return NULL;
}

// ---- changes ----

tsr_status tsr_rewriter_changed(tsr_rewriter *r, tsr_op *op) {
  r->changes++;
  for (int i = 0; i < op->result_count; i++) TSR_TRY(push_users(r, &op->results[i]));
  return tsr_rewriter_push(r, op);
}

tsr_status tsr_rewriter_replace_all(tsr_rewriter *r, tsr_op *op, tsr_value *const *values) {
  for (int i = 0; i < op->result_count; i++)
    if (values[i]->type != op->results[i].type) return NULL;
  for (int i = 0; i < op->result_count; i++) {
    TSR_TRY(push_users(r, &op->results[i]));
    tsr_value_replace(&op->results[i], values[i]);
  }
  r->changes++;
  return erase(r, op);
}

tsr_status tsr_rewriter_replace(tsr_rewriter *r, tsr_op *op, tsr_value *value) {
  return tsr_rewriter_replace_all(r, op, &value);
}

tsr_status tsr_rewriter_insert(tsr_rewriter *r, tsr_op *place, tsr_op_parts parts,
                               tsr_op **out_op) {
  parts.location = place->location;
  tsr_op *op = tsr_op_create(r->ir, &parts);
  TSR_NEED(op);
  tsr_op_insert_before(place, op);
  TSR_TRY(tsr_rewriter_push(r, op));
  *out_op = op;
  return NULL;
}

tsr_status tsr_rewriter_exchange(tsr_rewriter *r, tsr_op *op, tsr_op_parts parts) {
  tsr_op *made = NULL;
  const tsr_type *type = op->results[0].type;
  parts.result_count = 1;
  parts.result_types = &type;
  TSR_TRY(tsr_rewriter_insert(r, op, parts, &made));
  return tsr_rewriter_replace(r, op, &made->results[0]);
}

tsr_status tsr_rewriter_exchange_constant(tsr_rewriter *r, tsr_op *op, const tsr_attr *attr) {
  const char *name = tsr_ir_name(r->ir, "value", 5);
  TSR_NEED(name);
  TSR_NEED(attr);
  const tsr_named_attr value = {name, attr};
  return tsr_rewriter_exchange(
      r, op, (tsr_op_parts){.id = TSR_OP_CONSTANT, .attr_count = 1, .attrs = &value});
}

// ---- running ----

// Rules may index operands, results and regions up to the numbers of the op's row.
static bool has_its_parts(const tsr_op *op) {
  return tsr_op_count_fits(op->info->operands, op->operand_count) &&
         tsr_op_count_fits(op->info->results, op->result_count) &&
         tsr_op_count_fits(op->info->regions, op->region_count);
}

static tsr_status apply(tsr_rewriter *r, const tsr_rewrite_set *sets, int set_count, tsr_op *op) {
  const int64_t before = r->changes;
  if (!has_its_parts(op)) return NULL;
  for (int s = 0; s < set_count; s++)
    for (int i = 0; i < sets[s].count; i++) {
      const tsr_rewrite_rule *rule = &sets[s].rules[i];
      if (rule->id != TSR_OP_UNKNOWN && rule->id != op->info->id) continue;
      TSR_TRY(rule->apply(r, op));
      if (r->changes != before) return NULL;  // the op may be gone; if not, it is queued again
    }
  return NULL;
}

static tsr_status visit(tsr_rewriter *r, const tsr_rewrite_set *sets, int set_count, tsr_op *op) {
  if (op->mark == MARK_ERASED) return NULL;
  op->mark = MARK_NONE;
  if (is_unused(op) && tsr_op_is_droppable(op)) {
    r->changes++;
    return erase(r, op);
  }
  return apply(r, sets, set_count, op);
}

static tsr_status collect(tsr_op *op, void *context) {
  tsr_rewriter *r = context;
  return tsr_rewriter_push(r, op);
}

// The list is a stack. Rules go through a program from its start, droppings from its end.
static void reverse(tsr_rewriter *r) {
  for (int64_t i = 0, k = r->count - 1; i < k; i++, k--) {
    tsr_op *op = r->list[i];
    r->list[i] = r->list[k];
    r->list[k] = op;
  }
}

static tsr_status run(tsr_rewriter *r, const tsr_rewrite_set *sets, int set_count) {
  TSR_TRY(tsr_op_walk(r->ir->module, clear_mark, NULL));
  TSR_TRY(tsr_op_walk(r->ir->module, collect, r));
  if (set_count) reverse(r);
  while (r->count) TSR_TRY(visit(r, sets, set_count, r->list[--r->count]));
  return NULL;
}

tsr_status tsr_rewrite(tsr_ir *ir, const tsr_pass_options *options, const tsr_rewrite_set *sets,
                       int set_count, int64_t *changes) {
  tsr_rewriter r = {.ir = ir, .options = options, .fold_steps = ALL_FOLD_STEPS};
  tsr_status status = run(&r, sets, set_count);
  free(r.list);
  *changes += r.changes;
  return status;
}
