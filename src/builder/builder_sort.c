// Sorting along a dimension, and the largest elements.
#include "builder/builder_internal.h"

// Floats are compared in their total order, which places NaNs last.
static void ascending(tsr_builder *builder, const tsr_node *args, tsr_node *results,
                      void *context) {
  (void)context;
  const tsr_dtype_info *info = tsr_dtype_info_of(tsr_build_dtype_of(builder, args[0]));
  if (!info) return;
  const int type = info->kind == TSR_CLASS_FLOAT    ? TSR_COMPARE_TYPE_TOTALORDER
                   : info->kind == TSR_CLASS_SIGNED ? TSR_COMPARE_TYPE_SIGNED
                                                    : TSR_COMPARE_TYPE_UNSIGNED;
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_COMPARE, args, 2);
  tsr_builder_attr(&draft, "comparison_direction",
                   tsr_attr_enum(builder->ir, TSR_ENUM_DIRECTION, TSR_DIRECTION_LT));
  tsr_builder_attr(&draft, "compare_type", tsr_attr_enum(builder->ir, TSR_ENUM_COMPARE_TYPE, type));
  results[0] = tsr_builder_emit_one(&draft);
}

// Two scalars of each operand, side by side.
static tsr_status pair_args(tsr_builder *builder, const tsr_node *operands, int count,
                            const tsr_type ***out_args) {
  const tsr_type **args = tsr_ir_alloc(builder->ir, sizeof *args * 2 * (size_t)count);
  TSR_NEED(args);
  for (int i = 0; i < count; i++) {
    TSR_TRY(tsr_builder_type(builder, tsr_build_dtype_of(builder, operands[i]), TSR_SCALAR,
                             &args[2 * i]));
    args[2 * i + 1] = args[2 * i];
  }
  *out_args = args;
  return NULL;
}

void tsr_build_sort(tsr_builder *builder, const tsr_node *operands, int count, int dim,
                    tsr_build_fn *before, void *context, tsr_node *out_results) {
  if (!tsr_builder_enter_all(builder, "sort", out_results, count)) return;
  const tsr_type **args = NULL;
  const tsr_type *type = tsr_builder_given(builder, "operands", operands, count, 1)
                             ? tsr_builder_tensor(builder, operands[0], 0)
                             : NULL;
  for (int i = 1; type && i < count; i++)
    if (!tsr_builder_tensor(builder, operands[i], i)) type = NULL;
  const int from_zero = type ? tsr_builder_dim(builder, dim, type->rank) : -1;
  if (from_zero >= 0 && tsr_builder_keep(builder, pair_args(builder, operands, count, &args))) {
    const tsr_builder_region region = {.build = before ? before : ascending,
                                       .context = context,
                                       .args = args,
                                       .arg_count = 2 * count,
                                       .result_count = 1,
                                       .own = !before};
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_SORT, operands, count);
    draft.regions = &region;
    draft.region_count = 1;
    tsr_builder_int(&draft, "dimension", from_zero);
    tsr_builder_attr(&draft, "is_stable", tsr_attr_bool(builder->ir, true));
    (void)tsr_builder_emit(&draft, out_results, count);
  }
  tsr_builder_leave_all(builder, out_results, count);
}

tsr_node tsr_build_top_k(tsr_builder *builder, tsr_node x, int64_t k, tsr_node *out_indices) {
  if (out_indices) *out_indices = TSR_NO_NODE;
  if (!tsr_builder_enter(builder, "top_k")) return TSR_NO_NODE;
  tsr_node results[2] = {{0}, {0}};
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CHLO_TOP_K, &x, 1);
  tsr_builder_int(&draft, "k", k);
  (void)tsr_builder_emit(&draft, results, 2);
  if (out_indices && !builder->failure) *out_indices = results[1];
  return tsr_builder_leave(builder, results[0]);
}
