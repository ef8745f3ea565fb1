// gather-uneven: after reshards are inserted, an op may compute with a dim that its axes do not
// divide. Where it cannot do so with the dim padded, the dim is gathered around the op.
#include "factor/rule.h"
#include "propagate/edits.h"
#include "reshard/op_reshards.h"
#include "resolve/cut_build.h"
#include "spmd/pad_uneven.h"
#include "spmd/spmd_passes.h"
#include "spmd/uneven_moves.h"

typedef struct gathering {
  tsr_ir *ir;
  tsr_arena scratch;
  int64_t *changes;
} gathering;

static tsr_value *tensor_of(const tsr_op *op, int tensor) {
  return tensor < op->operand_count ? tsr_op_operand(op, tensor)
                                    : tsr_op_result(op, tensor - op->operand_count);
}

// Marks the factors of dims that are not divided, and not padded.
static tsr_status mark_uneven(gathering *g, const tsr_op *op, const tsr_op_rule *rule,
                              bool *gathered, bool *out_any) {
  for (int tensor = 0; tensor < rule->tensor_count; tensor++) {
    tsr_value *value = tensor_of(op, tensor);
    const tsr_tensor_sharding *cut = NULL;
    TSR_TRY(tsr_cut_of_value(&g->scratch, g->ir, value, &cut));
    for (int d = 0; cut && d < tsr_rule_rank(rule, tensor) && d < cut->rank; d++) {
      if (value->type->dims[d] % tsr_cut_count(cut, d) == 0) continue;
      if (tsr_uneven_is_served(op, rule, tensor, d)) continue;
      for (int i = tsr_rule_dim(rule, tensor, d); i < tsr_rule_dim(rule, tensor, d + 1); i++)
        gathered[rule->places[i].factor] = *out_any = true;
    }
  }
  return NULL;
}

// ---- sums that need no other devices any more ----

// The axes of a factor, where it is all of a dim.
static tsr_status axes_of(gathering *g, const tsr_op *op, const tsr_op_rule *rule, int factor,
                          const tsr_tensor_sharding **out_cut, tsr_sdy_parts *out_axes) {
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_rule_place *place = &rule->places[rule->uses[i]];
    if (tsr_rule_dim(rule, place->tensor, place->dim + 1) !=
        tsr_rule_dim(rule, place->tensor, place->dim) + 1)
      continue;
    TSR_TRY(tsr_cut_of_value(&g->scratch, g->ir, tensor_of(op, place->tensor), out_cut));
    *out_axes = *out_cut ? (*out_cut)->dims[place->dim].axes : (tsr_sdy_parts){NULL, 0};
    return NULL;
  }
  return tsr_fail(UNSUPPORTED, "%s: a sum over a part of a dimension, which its axes do not divide",
                  op->name);
}

// Takes axes out of those that an all-reduce sums over. One without axes is erased at the end.
static tsr_status reduce_less(gathering *g, tsr_op *reduce, const tsr_tensor_sharding *cut,
                              const tsr_sdy_parts *axes) {
  const tsr_attr *list = tsr_op_attr(reduce, "reduction_axes");
  tsr_sdy_parts all, rest;
  TSR_TRY(tsr_sdy_parts_make(&g->scratch, cut->mesh, tsr_attr_field(list, TSR_SDY_AXIS_LIST_AXES),
                             &all));
  if (!tsr_parts_minus(&g->scratch, cut->mesh, &all, axes, &rest))
    return tsr_fail(NO_MEMORY, "axes of a sharding");
  if (!rest.count) {
    tsr_uses_move(tsr_op_result(reduce, 0), tsr_op_operand(reduce, 0), NULL);
    reduce->mark = 1;
    return NULL;
  }
  const tsr_attr *const fields[] = {tsr_parts_attr(g->ir, cut->mesh, &rest)};
  const tsr_attr *made =
      fields[0] ? tsr_attr_record(g->ir, TSR_RECORD_SDY_AXIS_LIST, fields) : NULL;
  TSR_NEED(made);
  return tsr_op_attr_set(g->ir, reduce, "reduction_axes", made);
}

// A dim that an op sums over, and that is gathered, is summed by each device alone.
static tsr_status sum_alone(gathering *g, const tsr_op *op, const tsr_op_rule *rule, int factor) {
  const tsr_tensor_sharding *cut = NULL;
  tsr_sdy_parts axes = {NULL, 0};
  TSR_TRY(axes_of(g, op, rule, factor, &cut, &axes));
  if (!axes.count) return NULL;
  for (int i = 0; i < op->result_count; i++)
    for (tsr_use *use = tsr_op_result(op, i)->uses, *next = NULL; use; use = next) {
      next = use->next;
      if (tsr_op_is(use->user, TSR_OP_SDY_ALL_REDUCE) && !use->user->mark)
        TSR_TRY(reduce_less(g, use->user, cut, &axes));
    }
  return NULL;
}

static tsr_status erase_marked(tsr_op *op, void *context) {
  (void)context;
  if (op->mark) tsr_op_erase(op);
  return NULL;
}

// ---- the pass ----

static tsr_status gather_op(tsr_op *op, void *context) {
  gathering *g = context;
  const tsr_op_rule *rule = NULL;
  bool any = false;
  tsr_arena_reset(&g->scratch);
  if (op->info->traits & TSR_TRAIT_TERMINATES || tsr_op_is(op, TSR_OP_SDY_RESHARD)) return NULL;
  TSR_TRY(tsr_rule_of(&g->scratch, op, TSR_RULE_EXPANDED, &rule));
  if (!rule) return NULL;
  bool *gathered = tsr_arena_zeros(&g->scratch, (size_t)rule->factor_count + 1, sizeof *gathered);
  TSR_NEED(gathered);
  TSR_TRY(mark_uneven(g, op, rule, gathered, &any));
  if (!any) return NULL;
  bool replaced = false;
  TSR_TRY(tsr_uneven_move_replace(&g->scratch, g->ir, op, rule, &replaced));
  *g->changes += replaced;
  if (replaced) return NULL;
  for (int i = 0; i < rule->factor_count; i++)
    if (gathered[i] && rule->factors[i].kind == TSR_FACTOR_REDUCTION)
      TSR_TRY(sum_alone(g, op, rule, i));
  tsr_reshard_run run = {.ir = g->ir, .full = true, .changes = g->changes};
  tsr_status status = tsr_gather_factors(&run, op, rule, gathered);
  tsr_arena_deinit(&run.scratch);
  return status;
}

tsr_status tsr_pass_gather_uneven(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  gathering g = {.ir = ir, .changes = changes};
  (void)options;
  tsr_marks_clear(ir);
  tsr_status status = tsr_op_walk_after(ir->module, gather_op, &g);
  if (!status) status = tsr_op_walk(ir->module, erase_marked, NULL);
  tsr_arena_deinit(&g.scratch);
  return status;
}
