// Loops and branches whose regions are built by functions of the caller, and the barrier.
#include "builder/builder_internal.h"

// The types of several values, in the program's memory.
static tsr_status types_of(tsr_builder *builder, const tsr_node *nodes, int count,
                           const tsr_type ***out_types) {
  const tsr_type **types = tsr_ir_alloc(builder->ir, sizeof *types * (size_t)(count + 1));
  TSR_NEED(types);
  for (int i = 0; i < count; i++) {
    tsr_value *value = NULL;
    TSR_TRY(tsr_builder_value(builder, nodes[i], i, &value));
    types[i] = value->type;
  }
  *out_types = types;
  return NULL;
}

void tsr_build_while(tsr_builder *builder, const tsr_node *initial, int count,
                     tsr_build_fn *condition, tsr_build_fn *body, void *context,
                     tsr_node *out_results) {
  if (!tsr_builder_enter_all(builder, "while", out_results, count)) return;
  const tsr_type **types = NULL;
  if (tsr_builder_given(builder, "values", initial, count, 0) &&
      tsr_builder_keep(builder, types_of(builder, initial, count, &types))) {
    const tsr_builder_region regions[] = {{.build = condition,
                                           .context = context,
                                           .args = types,
                                           .arg_count = count,
                                           .result_count = 1},
                                          {.build = body,
                                           .context = context,
                                           .args = types,
                                           .arg_count = count,
                                           .result_count = count}};
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_WHILE, initial, count);
    draft.regions = regions;
    draft.region_count = 2;
    (void)tsr_builder_emit(&draft, out_results, count);
  }
  tsr_builder_leave_all(builder, out_results, count);
}

static void emit_branches(tsr_builder *builder, tsr_op_id id, tsr_node selector,
                          tsr_build_fn *const *branches, int branch_count, void *context,
                          tsr_node *out_results, int count) {
  tsr_builder_region *regions =
      tsr_arena_zeros(&builder->ir->arena, (size_t)branch_count, sizeof *regions);
  if (!regions) {
    (void)tsr_builder_keep(builder, tsr_fail(NO_MEMORY, "memory of a program"));
    return;
  }
  for (int i = 0; i < branch_count; i++)
    regions[i] =
        (tsr_builder_region){.build = branches[i], .context = context, .result_count = count};
  tsr_builder_op draft = tsr_builder_draft(builder, id, &selector, 1);
  draft.regions = regions;
  draft.region_count = branch_count;
  (void)tsr_builder_emit(&draft, out_results, count);
}

void tsr_build_if(tsr_builder *builder, tsr_node condition, tsr_build_fn *then,
                  tsr_build_fn *otherwise, void *context, tsr_node *out_results, int count) {
  if (!tsr_builder_enter_all(builder, "if", out_results, count)) return;
  tsr_build_fn *const branches[] = {then, otherwise};
  emit_branches(builder, TSR_OP_IF, condition, branches, 2, context, out_results, count);
  tsr_builder_leave_all(builder, out_results, count);
}

void tsr_build_case(tsr_builder *builder, tsr_node index, tsr_build_fn *const *branches,
                    int branch_count, void *context, tsr_node *out_results, int count) {
  if (!tsr_builder_enter_all(builder, "case", out_results, count)) return;
  if (tsr_builder_given(builder, "branches", branches, branch_count, 1))
    emit_branches(builder, TSR_OP_CASE, index, branches, branch_count, context, out_results, count);
  tsr_builder_leave_all(builder, out_results, count);
}

void tsr_build_barrier(tsr_builder *builder, const tsr_node *operands, int count,
                       tsr_node *out_results) {
  if (!tsr_builder_enter_all(builder, "barrier", out_results, count)) return;
  const tsr_builder_op draft =
      tsr_builder_draft(builder, TSR_OP_OPTIMIZATION_BARRIER, operands, count);
  if (tsr_builder_given(builder, "operands", operands, count, 0))
    (void)tsr_builder_emit(&draft, out_results, count);
  tsr_builder_leave_all(builder, out_results, count);
}
