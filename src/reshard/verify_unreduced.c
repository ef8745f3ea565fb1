// Unreduced axes must not get lost: an op has them in its results, or is one that reduces.
#include "base/text_internal.h"
#include "propagate/edits.h"
#include "propagate/manual_axes.h"
#include "propagate/symbol_names.h"
#include "reshard/reshard_passes.h"
#include "reshard/reshard_run.h"

enum { NONE_MAY = -1 };  // in place of a reduction: no axes may come or go

static bool is_explicit(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_SDY_RESHARD) || tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT);
}

static bool comes_from_reshard(const tsr_value *value) {
  while (tsr_op_is(value->def, TSR_OP_SDY_PROPAGATION_BARRIER))
    value = tsr_op_operand(value->def, 0);
  return is_explicit(value->def);
}

static tsr_status read_value(tsr_reshard_run *run, const tsr_op *op, tsr_value *value,
                             const tsr_tensor_sharding **out) {
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_sharding_past_barriers(run->ir, value, &attr));
  return tsr_reshard_read(run, op, attr, out);
}

// ---- from operands to results ----

typedef struct shardings {
  const tsr_tensor_sharding **list;
  int count;
  tsr_sdy_parts unreduced;  // of all
} shardings;

typedef struct transition {
  tsr_reshard_run *run;
  const tsr_op *op;
  shardings from, to;
} transition;

static tsr_status begin_list(tsr_reshard_run *run, int count, shardings *out) {
  *out = (shardings){.list = tsr_arena_zeros(&run->scratch, (size_t)count + 1, sizeof *out->list),
                     .count = count};
  TSR_NEED(out->list);
  return NULL;
}

static tsr_status join_unreduced(tsr_reshard_run *run, shardings *s) {
  int64_t most = 0;
  for (int i = 0; i < s->count; i++) most += tsr_sharding_unreduced(s->list[i]).count;
  s->unreduced.items =
      tsr_arena_alloc(&run->scratch, ((size_t)most + 1) * sizeof *s->unreduced.items);
  TSR_NEED(s->unreduced.items);
  for (int i = 0; i < s->count; i++) {
    const tsr_sdy_parts axes = tsr_sharding_unreduced(s->list[i]);
    for (int64_t k = 0; k < axes.count; k++)
      s->unreduced.items[s->unreduced.count++] = axes.items[k];
  }
  return NULL;
}

// The mesh that all have; NULL if there is none or they differ.
static const tsr_attr *shared_mesh(const transition *t) {
  const tsr_attr *mesh = NULL;
  for (int i = 0; i < t->from.count + t->to.count; i++) {
    const tsr_tensor_sharding *one =
        i < t->from.count ? t->from.list[i] : t->to.list[i - t->from.count];
    if (!one) continue;
    if (mesh && !tsr_attr_equal(mesh, one->mesh)) return NULL;
    mesh = one->mesh;
  }
  return mesh;
}

static const char *reduction_name(int reduction) {
  const char *name = tsr_enum_name(TSR_ENUM_SDY_REDUCTION, reduction);
  return name ? name : "none";
}

static tsr_status refuse_axis(const transition *t, const tsr_attr *mesh, const tsr_sdy_part *axis,
                              const char *what) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s at line %u %s axis ", t->op->name, t->op->line, what);
  tsr_sdy_part_print(mesh, axis, &text);
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

// Axes that come, or go, must do so by one reduction.
static tsr_status check_moved(const transition *t, const tsr_attr *mesh, const shardings *side,
                              const tsr_sdy_parts *axes, int reduction, const char *what) {
  if (!axes->count) return NULL;
  if (reduction == NONE_MAY) return refuse_axis(t, mesh, &axes->items[0], what);
  for (int i = 0; i < side->count; i++) {
    const tsr_sdy_parts unreduced = tsr_sharding_unreduced(side->list[i]);
    if (!tsr_parts_overlap(&unreduced, axes) || side->list[i]->reduction == reduction) continue;
    return tsr_fail(CONSTRAINT, "%s at line %u %s axes of %s, expected %s", t->op->name,
                    t->op->line, what, reduction_name(side->list[i]->reduction),
                    reduction_name(reduction));
  }
  return NULL;
}

static tsr_status check_kept(const transition *t) {
  for (int i = 0; i < t->to.count; i++)
    for (int k = 0; k < t->from.count; k++) {
      const tsr_sdy_parts to = tsr_sharding_unreduced(t->to.list[i]);
      const tsr_sdy_parts from = tsr_sharding_unreduced(t->from.list[k]);
      if (!tsr_parts_overlap(&to, &from)) continue;
      if (t->to.list[i]->reduction != t->from.list[k]->reduction)
        return tsr_fail(CONSTRAINT,
                        "%s at line %u changes the reduction of unreduced axes from %s to %s",
                        t->op->name, t->op->line, reduction_name(t->from.list[k]->reduction),
                        reduction_name(t->to.list[i]->reduction));
    }
  return NULL;
}

// Checks a transition; `added` and `removed` are the reductions that axes may come and go by.
static tsr_status check_transition(transition *t, int added, int removed) {
  tsr_sdy_parts come, gone;
  TSR_TRY(join_unreduced(t->run, &t->from));
  TSR_TRY(join_unreduced(t->run, &t->to));
  if (!t->from.unreduced.count && !t->to.unreduced.count) return NULL;
  const tsr_attr *mesh = shared_mesh(t);
  if (!mesh) return NULL;
  if (!tsr_parts_minus(&t->run->scratch, mesh, &t->to.unreduced, &t->from.unreduced, &come) ||
      !tsr_parts_minus(&t->run->scratch, mesh, &t->from.unreduced, &t->to.unreduced, &gone))
    return tsr_fail(NO_MEMORY, "unreduced axes");
  TSR_TRY(check_moved(t, mesh, &t->to, &come, added, "adds the unreduced"));
  TSR_TRY(check_moved(t, mesh, &t->from, &gone, removed, "loses the unreduced"));
  return check_kept(t);
}

// The operands before `end`, and all results. A reshard before an operand says what happens to it.
static tsr_status check_between(tsr_reshard_run *run, const tsr_op *op, int end, int added,
                                int removed, bool past_reshards) {
  transition t = {.run = run, .op = op};
  TSR_TRY(begin_list(run, end, &t.from));
  TSR_TRY(begin_list(run, op->result_count, &t.to));
  for (int i = 0; i < end; i++)
    if (!past_reshards || !comes_from_reshard(tsr_op_operand(op, i)))
      TSR_TRY(read_value(run, op, tsr_op_operand(op, i), &t.from.list[i]));
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(read_value(run, op, tsr_op_result(op, i), &t.to.list[i]));
  return check_transition(&t, added, removed);
}

// ---- reductions with a body ----

static int reduction_of(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_ADD)       ? TSR_SDY_REDUCTION_SUM
         : tsr_op_is(op, TSR_OP_MAXIMUM) ? TSR_SDY_REDUCTION_MAX
         : tsr_op_is(op, TSR_OP_MINIMUM) ? TSR_SDY_REDUCTION_MIN
                                         : NONE_MAY;
}

// The reduction that all values which a body returns come from; NONE_MAY if there is not one.
static int body_reduction(const tsr_op *op) {
  const tsr_ir_block *body = op->region_count ? op->regions[0].first : NULL;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  if (!tsr_op_is(end, TSR_OP_RETURN) || !end->operand_count) return NONE_MAY;
  const int first = reduction_of(tsr_op_operand(end, 0)->def);
  for (int i = 1; i < end->operand_count; i++)
    if (reduction_of(tsr_op_operand(end, i)->def) != first) return NONE_MAY;
  return first;
}

// A collective of StableHLO takes unreduced axes away by its body.
static tsr_status check_stablehlo_collective(tsr_reshard_run *run, const tsr_op *op) {
  transition t = {.run = run, .op = op};
  if (!op->operand_count || !op->result_count) return NULL;
  TSR_TRY(begin_list(run, 1, &t.from));
  TSR_TRY(begin_list(run, 1, &t.to));
  TSR_TRY(read_value(run, op, tsr_op_operand(op, 0), &t.from.list[0]));
  TSR_TRY(read_value(run, op, tsr_op_result(op, 0), &t.to.list[0]));
  return check_transition(&t, NONE_MAY, body_reduction(op));
}

// ---- calls and returns ----

static bool has_part(const tsr_sdy_parts *list, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < list->count; i++)
    if (tsr_sdy_same(&list->items[i], part)) return true;
  return false;
}

// Whether two lists have the same axes.
static bool same_axes(const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  for (int64_t i = 0; i < a->count; i++)
    if (!has_part(b, &a->items[i])) return false;
  for (int64_t i = 0; i < b->count; i++)
    if (!has_part(a, &b->items[i])) return false;
  return true;
}

static tsr_status check_equal(const tsr_op *op, const tsr_tensor_sharding *from,
                              const tsr_tensor_sharding *to, const char *what, int index) {
  const tsr_sdy_parts axes[2] = {tsr_sharding_unreduced(from), tsr_sharding_unreduced(to)};
  if (same_axes(&axes[0], &axes[1])) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s at line %u: %s %d has the unreduced axes ", op->name, op->line, what,
                index);
  if (from) tsr_sdy_parts_print(from->mesh, &axes[0], &text);
  tsr_text_add(&text, from ? ", expected " : "{}, expected ");
  if (to) tsr_sdy_parts_print(to->mesh, &axes[1], &text);
  if (!to) tsr_text_add(&text, "{}");
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

static tsr_status check_call(tsr_reshard_run *run, const tsr_op *call) {
  const tsr_op *func = tsr_callee(run->ir, call);
  const tsr_ir_block *body = func ? tsr_func_body(func) : NULL;
  const tsr_tensor_sharding *from = NULL, *to = NULL;
  for (int i = 0; body && i < call->operand_count && i < body->arg_count; i++) {
    if (comes_from_reshard(tsr_op_operand(call, i))) continue;
    TSR_TRY(read_value(run, call, tsr_op_operand(call, i), &from));
    TSR_TRY(read_value(run, call, body->args[i], &to));
    TSR_TRY(check_equal(call, from, to, "operand", i));
  }
  for (int i = 0; func && i < call->result_count; i++) {
    TSR_TRY(tsr_reshard_read(run, call, tsr_func_result_sharding(func, i), &from));
    TSR_TRY(read_value(run, call, tsr_op_result(call, i), &to));
    TSR_TRY(check_equal(call, from, to, "result", i));
  }
  return NULL;
}

// What an op that returns gives out: the result of the function or computation around it.
static tsr_status returned_sharding(tsr_reshard_run *run, const tsr_op *op, int index,
                                    const tsr_tensor_sharding **out) {
  tsr_op *parent = tsr_op_parent(op);
  *out = NULL;
  if (tsr_op_is(parent, TSR_OP_FUNC))
    return tsr_reshard_read(run, op, tsr_func_result_sharding(parent, index), out);
  if (!parent || index >= parent->result_count) return NULL;
  TSR_TRY(read_value(run, op, tsr_op_result(parent, index), out));
  if (!*out || !tsr_op_is(parent, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  *out = tsr_manual_inner(&run->scratch, parent, *out);
  TSR_NEED(*out);
  return NULL;
}

static tsr_status check_return(tsr_reshard_run *run, const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_tensor_sharding *from = NULL, *to = NULL;
    if (comes_from_reshard(tsr_op_operand(op, i))) continue;
    TSR_TRY(returned_sharding(run, op, i, &to));
    if (!to) continue;
    TSR_TRY(read_value(run, op, tsr_op_operand(op, i), &from));
    TSR_TRY(check_equal(op, from, to, "operand", i));
  }
  return NULL;
}

// ---- all ops ----

static tsr_status check_op(tsr_op *op, void *context) {
  tsr_reshard_run *run = context;
  tsr_arena_reset(&run->scratch);
  if (op->info->traits & TSR_TRAIT_TERMINATES) {
    const bool returns = tsr_op_is(op, TSR_OP_FUNC_RETURN) || tsr_op_is(op, TSR_OP_SDY_RETURN);
    return returns ? check_return(run, op) : NULL;
  }
  switch (op->info->id) {
    case TSR_OP_SDY_RESHARD:  // the verifier has seen these
    case TSR_OP_SDY_SHARDING_CONSTRAINT:
      return NULL;
    case TSR_OP_REDUCE:
      return check_between(run, op, op->operand_count / 2, body_reduction(op), NONE_MAY, true);
    case TSR_OP_SDY_ALL_REDUCE:
    case TSR_OP_SDY_REDUCE_SCATTER: {
      const tsr_attr *sharding = NULL;
      TSR_TRY(tsr_sharding_past_barriers(run->ir, tsr_op_operand(op, 0), &sharding));
      if (!sharding)
        return tsr_fail(CONSTRAINT, "operand of %s at line %u has no sharding", op->name, op->line);
      return NULL;
    }
    case TSR_OP_ALL_REDUCE:
    case TSR_OP_REDUCE_SCATTER:
      return check_stablehlo_collective(run, op);
    case TSR_OP_CALL:
      return check_call(run, op);
    default:
      return check_between(run, op, op->operand_count, TSR_SDY_REDUCTION_SUM, NONE_MAY, true);
  }
}

tsr_status tsr_pass_verify_unreduced_axes(tsr_ir *ir, const tsr_pass_options *options,
                                          int64_t *changes) {
  tsr_reshard_run run = {.ir = ir, .changes = changes};
  (void)options;
  tsr_status status = NULL;
  for (tsr_op *op = ir->module->regions[0].first->first; op && !status; op = op->next)
    if (tsr_op_is(op, TSR_OP_FUNC)) status = tsr_op_walk_after(op, check_op, &run);
  tsr_arena_deinit(&run.scratch);
  return status;
}
