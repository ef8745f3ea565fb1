// gather-uneven: after reshards are inserted, an op may compute with a dim that its axes do not
// divide, as where a slice keeps the axes of a longer dim. Such dims are gathered around the op.
#include "factor/rule.h"
#include "propagate/edits.h"
#include "reshard/op_reshards.h"
#include "resolve/cut_build.h"
#include "spmd/spmd_passes.h"

typedef struct gathering {
  tsr_ir *ir;
  tsr_arena scratch;
  int64_t *changes;
} gathering;

static tsr_value *tensor_of(const tsr_op *op, int tensor) {
  return tensor < op->operand_count ? tsr_op_operand(op, tensor)
                                    : tsr_op_result(op, tensor - op->operand_count);
}

// Marks the factors of dims that are not divided.
static tsr_status mark_uneven(gathering *g, const tsr_op *op, const tsr_op_rule *rule,
                              bool *gathered, bool *out_any) {
  for (int tensor = 0; tensor < rule->tensor_count; tensor++) {
    tsr_value *value = tensor_of(op, tensor);
    const tsr_tensor_sharding *cut = NULL;
    TSR_TRY(tsr_cut_of_value(&g->scratch, g->ir, value, &cut));
    for (int d = 0; cut && d < tsr_rule_rank(rule, tensor) && d < cut->rank; d++) {
      if (value->type->dims[d] % tsr_cut_count(cut, d) == 0) continue;
      for (int i = tsr_rule_dim(rule, tensor, d); i < tsr_rule_dim(rule, tensor, d + 1); i++)
        gathered[rule->places[i].factor] = *out_any = true;
    }
  }
  return NULL;
}

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
  tsr_reshard_run run = {.ir = g->ir, .full = true, .changes = g->changes};
  tsr_status status = tsr_gather_factors(&run, op, rule, gathered);
  tsr_arena_deinit(&run.scratch);
  return status;
}

tsr_status tsr_pass_gather_uneven(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  gathering g = {.ir = ir, .changes = changes};
  (void)options;
  tsr_status status = tsr_op_walk_after(ir->module, gather_op, &g);
  tsr_arena_deinit(&g.scratch);
  return status;
}
