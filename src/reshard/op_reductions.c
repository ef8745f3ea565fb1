// All-reduces of one op: of operands that are unreduced where its results are not, and of what it
// sums up over axes.
#include "propagate/edits.h"
#include "reshard/common_axes.h"
#include "reshard/op_reshards.h"

// ---- what an op reduces over ----

// The axes of all reduction factors, which tensors must agree on where a result stays unreduced.
static tsr_status reduction_axes(tsr_reshard_run *run, const tsr_op_reshards *r,
                                 const tsr_sdy_parts *axes, tsr_sdy_parts *out) {
  const tsr_op_rule *rule = r->projection.rule;
  int64_t most = 0;
  for (int i = 0; i < rule->place_count; i++) most += r->projection.places[i].axes.count;
  *out =
      (tsr_sdy_parts){tsr_arena_alloc(&run->scratch, ((size_t)most + 1) * sizeof *out->items), 0};
  TSR_NEED(out->items);
  for (int i = 0; i < rule->factor_count; i++) {
    tsr_sdy_parts found;
    if (rule->factors[i].kind != TSR_FACTOR_REDUCTION) continue;
    if (axes)
      found = axes[i];
    else if (!tsr_factor_axes(&r->projection, i, &found))
      return tsr_fail(CONSTRAINT,
                      "%s at line %u: the result has unreduced axes, but operands are sharded "
                      "differently along a dimension that is reduced",
                      r->op->name, r->op->line);
    for (int64_t k = 0; k < found.count; k++) out->items[out->count++] = found.items[k];
  }
  return NULL;
}

static tsr_status reduce_result(tsr_reshard_run *run, const tsr_op_reshards *r, int index,
                                const tsr_sdy_parts *axes, const tsr_insertion *at) {
  tsr_value *result = tsr_op_result(r->op, index), *reduced = NULL;
  const int rank = tsr_rule_rank(r->projection.rule, r->op->operand_count + index);
  const tsr_attr *attr = NULL;
  const tsr_tensor_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_get(run->ir, result, &attr));
  TSR_TRY(tsr_reshard_read(run, r->op, attr, &sharding));
  if (!sharding)
    sharding = tsr_sharding_empty(&run->scratch, r->mesh->mesh_ref, r->projection.mesh, rank, true);
  TSR_NEED(sharding);
  TSR_TRY(tsr_add_all_reduce(run, at, result, axes, sharding, &reduced));
  tsr_uses_move(result, reduced, reduced->def);
  return NULL;
}

tsr_status tsr_reduce_results(tsr_reshard_run *run, const tsr_op_reshards *r,
                              const tsr_sdy_parts *axes) {
  const tsr_attr *attr = NULL;
  const tsr_tensor_sharding *first = NULL;
  tsr_sdy_parts reduced, missing;
  if (!r->op->result_count) return NULL;
  TSR_TRY(tsr_sharding_get(run->ir, tsr_op_result(r->op, 0), &attr));
  TSR_TRY(tsr_reshard_read(run, r->op, attr, &first));
  const tsr_sdy_parts unreduced = tsr_sharding_unreduced(first);
  if (!axes && !unreduced.count) return NULL;
  TSR_TRY(reduction_axes(run, r, axes, &reduced));
  if (!reduced.count) return NULL;
  if (!tsr_parts_minus(&run->scratch, r->projection.mesh, &reduced, &unreduced, &missing))
    return tsr_fail(NO_MEMORY, "axes to reduce");
  if (!missing.count) return NULL;
  tsr_sdy_parts_join(r->projection.mesh, &missing);
  const tsr_insertion at = tsr_insertion_after(r->op);
  for (int i = 0; i < r->op->result_count; i++) TSR_TRY(reduce_result(run, r, i, &missing, &at));
  return NULL;
}

// ---- unreduced operands ----

static bool is_unreduced(const tsr_attr *sharding) {
  return sharding && tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count;
}

static bool same_unreduced(const tsr_attr *a, const tsr_attr *b) {
  if (!is_unreduced(a) || !is_unreduced(b)) return !is_unreduced(a) && !is_unreduced(b);
  return tsr_attr_equal(tsr_attr_field(a, TSR_SDY_SHARDING_UNREDUCED),
                        tsr_attr_field(b, TSR_SDY_SHARDING_UNREDUCED));
}

tsr_status tsr_reduce_operands(tsr_reshard_run *run, tsr_op *op) {
  const tsr_attr *first = NULL;
  if (op->result_count) TSR_TRY(tsr_sharding_get(run->ir, tsr_op_result(op, 0), &first));
  for (int i = 1; i < op->result_count; i++) {
    const tsr_attr *other = NULL;
    TSR_TRY(tsr_sharding_get(run->ir, tsr_op_result(op, i), &other));
    if (!same_unreduced(first, other))
      return tsr_fail(CONSTRAINT, "results 0 and %d of %s at line %u differ in unreduced axes", i,
                      op->name, op->line);
  }
  const tsr_insertion at = tsr_insertion_before(op);
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(run->ir, tsr_op_operand(op, i), &sharding));
    if (is_unreduced(sharding) && !op->result_count)
      return tsr_fail(CONSTRAINT,
                      "operand %d of %s at line %u has unreduced axes, but the op has "
                      "no results",
                      i, op->name, op->line);
    TSR_TRY(tsr_reduce_use(run, &at, &op->operands[i], &sharding, first));
  }
  return NULL;
}
