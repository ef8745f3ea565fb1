// Manual computations that do nothing, their unused arguments, and cases whose branch is known.
#include "collective/canonical_rules.h"
#include "propagate/edits.h"
#include "simplify/evaluate.h"
#include "verify/sdy_checks.h"

// ---- unused arguments ----

static const tsr_attr *kept_shardings(tsr_greedy *g, const tsr_attr *list, const bool *kept) {
  const tsr_attr **items =
      tsr_arena_zeros(tsr_greedy_arena(g), (size_t)list->count + 1, sizeof *items);
  int64_t count = 0;
  if (!items) return NULL;
  for (int64_t i = 0; i < list->count; i++)
    if (kept[i]) items[count++] = list->items[i];
  return tsr_shardings_attr(tsr_greedy_ir(g), items, count);
}

tsr_status tsr_rule_manual_unused(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  tsr_ir *ir = tsr_greedy_ir(g);
  tsr_ir_block *body = op->regions[0].first;
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  if (!body || !list || body->arg_count != op->operand_count || list->count != body->arg_count)
    return NULL;
  const size_t room = (size_t)body->arg_count + 1;
  bool *kept = tsr_arena_zeros(tsr_greedy_arena(g), room, sizeof *kept);
  tsr_value **values = tsr_arena_zeros(tsr_greedy_arena(g), room, sizeof *values);
  int count = 0;
  TSR_NEED(kept && values);
  for (int i = 0; i < body->arg_count; i++) {
    kept[i] = body->args[i]->uses != NULL;
    if (kept[i]) values[count++] = tsr_op_operand(op, i);
  }
  if (count == body->arg_count) return NULL;
  const tsr_attr *shardings = kept_shardings(g, list, kept);
  TSR_NEED(shardings);
  TSR_TRY(tsr_op_attr_set(ir, op, "in_shardings", shardings));
  if (!tsr_op_set_operands(ir, op, values, count)) return tsr_fail(NO_MEMORY, "operands");
  int at = 0;
  for (int i = 0; i < body->arg_count; i++)
    if (kept[i]) {
      body->args[at] = body->args[i];
      body->args[at]->index = at;
      at++;
    }
  body->arg_count = at;
  *out_changed = true;
  return NULL;
}

// ---- computations without axes ----

// The product of the sizes of the manual axes is 1. Without shardings there is no mesh, and no axis
// cuts anything.
static bool cuts_nothing(tsr_greedy *g, const tsr_op *op, const tsr_attr *in, const tsr_attr *out) {
  const tsr_attr *first = in->count ? in->items[0] : out->count ? out->items[0] : NULL;
  const tsr_attr *mesh = first ? tsr_sdy_mesh_of(tsr_greedy_ir(g), op, first) : NULL;
  const tsr_attr *axes = tsr_op_attr(op, "manual_axes");
  if (!first) return true;
  const tsr_attr *names = axes ? tsr_attr_field(axes, TSR_SDY_MANUAL_AXES_NAMES) : NULL;
  for (int64_t i = 0; names && i < names->count; i++) {
    const int axis = mesh ? tsr_sdy_axis_find(mesh, names->items[i]) : -1;
    if (axis < 0 || tsr_sdy_axis_size(mesh, axis) != 1) return false;
  }
  return true;
}

// Moves all ops of a block but its terminator before `op`.
static void move_body(tsr_op *op, const tsr_ir_block *body, const tsr_op *end) {
  while (body->first != end) {
    tsr_op *inner = body->first;
    tsr_op_unlink(inner);
    tsr_op_insert_before(op, inner);
  }
}

static tsr_status collect_values(tsr_greedy *g, const tsr_op *end, tsr_value ***out_values) {
  *out_values =
      tsr_arena_zeros(tsr_greedy_arena(g), (size_t)end->operand_count + 1, sizeof **out_values);
  TSR_NEED(*out_values);
  for (int i = 0; i < end->operand_count; i++) (*out_values)[i] = tsr_op_operand(end, i);
  return NULL;
}

static bool types_match(const tsr_op *op, const tsr_ir_block *body, const tsr_op *end) {
  if (body->arg_count != op->operand_count || end->operand_count != op->result_count) return false;
  for (int i = 0; i < body->arg_count; i++)
    if (body->args[i]->type != tsr_operand_type(op, i)) return false;
  for (int i = 0; i < end->operand_count; i++)
    if (tsr_operand_type(end, i) != tsr_op_result(op, i)->type) return false;
  return true;
}

// Ops that were inside wait for the next round.
tsr_status tsr_rule_manual_redundant(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  const tsr_attr *in = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  const tsr_attr *out = tsr_shardings_list(tsr_op_attr(op, "out_shardings"));
  const tsr_ir_block *body = op->regions[0].first;
  tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  tsr_value **values = NULL;
  if (!in || !out || !end || !types_match(op, body, end)) return NULL;
  const bool empty = !in->count && !out->count && body->first == end;
  if (!empty && !cuts_nothing(g, op, in, out)) return NULL;
  for (tsr_op *inner = body->first; inner; inner = inner->next) tsr_greedy_forget(g, inner);
  for (int i = 0; i < body->arg_count; i++)
    tsr_uses_move(body->args[i], tsr_op_operand(op, i), NULL);
  TSR_TRY(collect_values(g, end, &values));
  move_body(op, body, end);
  for (int i = 0; i < op->result_count; i++) tsr_uses_move(tsr_op_result(op, i), values[i], NULL);
  *out_changed = true;
  return tsr_greedy_erase(g, op);
}

// ---- cases ----

tsr_status tsr_rule_case_known(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  const tsr_attr *index = tsr_value_constant(tsr_op_operand(op, 0));
  tsr_value **values = NULL;
  if (!index || index->kind != TSR_ATTR_DENSE || !index->length) return NULL;
  const int64_t branch = tsr_attr_int_at(index, 0);
  if (branch < 0 || branch >= op->region_count) return NULL;
  const tsr_ir_block *body = op->regions[branch].first;
  tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  if (!end || end->operand_count != op->result_count) return NULL;
  for (tsr_op *inner = body->first; inner != end; inner = inner->next)
    TSR_TRY(tsr_greedy_push(g, inner));
  TSR_TRY(collect_values(g, end, &values));
  move_body(op, body, end);
  *out_changed = true;
  return tsr_greedy_replace(g, op, values);
}
