// gather-operands: a product over a dim that is sharded in one operand only. Shardy slices the
// other operand, which all devices hold, and reduces the products. Gathering the first operand
// moves less where it is smaller than two results.
#include "base/arithmetic.h"
#include "collective/collective_build.h"
#include "combine/combine_passes.h"
#include "combine/cut_values.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "simplify/rewriter.h"

typedef struct split_product {
  tsr_op *reduce, *dot, *slice;
  int sharded;  // the operand to be gathered; the other one is sliced
} split_product;

static const tsr_attr *contracting_of(const tsr_op *dot, int operand) {
  return tsr_attr_field(tsr_op_attr(dot, "dot_dimension_numbers"),
                        operand ? TSR_DOT_RHS_CONTRACTING : TSR_DOT_LHS_CONTRACTING);
}

static bool find_product(tsr_op *reduce, split_product *out) {
  tsr_op *dot = tsr_op_operand(reduce, 0)->def;
  if (!tsr_op_is(dot, TSR_OP_DOT_GENERAL) || !tsr_value_has_one_use(tsr_op_result(dot, 0)) ||
      tsr_reduction_of(reduce) != TSR_SDY_REDUCTION_SUM)
    return false;
  for (int i = 0; i < 2; i++) {
    tsr_op *slice = tsr_op_operand(dot, i)->def;
    if (!tsr_op_is(slice, TSR_OP_SDY_ALL_SLICE)) continue;
    *out = (split_product){reduce, dot, slice, 1 - i};
    return true;
  }
  return false;
}

// The axes that the sliced operand is cut along, as lists for the dims of the other one; `out_size`
// is 0 if these are not what the product is reduced along, or the other one has more there.
static tsr_status read_axes(tsr_arena *arena, tsr_ir *ir, const split_product *p,
                            tsr_sdy_parts *lists, int64_t *out_size) {
  const tsr_attr *sliced =
      tsr_attr_field(tsr_op_attr(p->slice, "slicing_axes"), TSR_SDY_AXIS_LISTS_LISTS);
  const tsr_attr *from = contracting_of(p->dot, 1 - p->sharded);
  const tsr_attr *to = contracting_of(p->dot, p->sharded);
  const tsr_tensor_sharding *cut = NULL;
  tsr_sdy_parts reduced;
  int64_t size = 1, found = 0, all = 0;
  *out_size = 0;
  TSR_TRY(tsr_cut_of_value(arena, ir, tsr_op_operand(p->dot, p->sharded), &cut));
  if (!cut) return NULL;
  for (int64_t d = 0; d < sliced->count; d++)
    all += tsr_attr_field(sliced->items[d], TSR_SDY_AXIS_LIST_AXES)->count;
  for (int64_t i = 0; i < tsr_attr_int_count(from); i++) {
    const int64_t dim = tsr_attr_int_at(to, i);
    const tsr_attr *axes =
        tsr_attr_field(sliced->items[tsr_attr_int_at(from, i)], TSR_SDY_AXIS_LIST_AXES);
    TSR_TRY(tsr_sdy_parts_make(arena, cut->mesh, axes, &lists[dim]));
    if (!tsr_sdy_parts_equal(&lists[dim], &cut->dims[dim].axes)) return NULL;
    size *= tsr_parts_size(&lists[dim]);
    found += axes->count;
  }
  TSR_TRY(tsr_sdy_parts_make(arena, cut->mesh,
                             tsr_attr_field(tsr_reduced_axes(p->reduce), TSR_SDY_AXIS_LIST_AXES),
                             &reduced));
  if (found == all && size > 1 && size == tsr_parts_size(&reduced)) *out_size = size;
  return NULL;
}

// The sharding of a value without the axes of the contracting dims. NULL without memory.
static const tsr_attr *gathered_sharding(tsr_arena *arena, tsr_ir *ir, const split_product *p,
                                         const tsr_tensor_sharding *cut) {
  const tsr_attr *dims = contracting_of(p->dot, p->sharded);
  tsr_tensor_sharding *copy = tsr_sharding_copy(arena, cut);
  tsr_dim_sharding *made =
      copy ? tsr_arena_zeros(arena, (size_t)cut->rank + 1, sizeof *made) : NULL;
  if (!made) return NULL;
  for (int d = 0; d < cut->rank; d++) made[d] = cut->dims[d];
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    made[tsr_attr_int_at(dims, i)].axes.count = 0;
  copy->dims = made;
  return tsr_sharding_attr(ir, copy);
}

static tsr_status gather_operand(tsr_rewriter *r, tsr_arena *arena, const split_product *p,
                                 const tsr_sdy_parts *lists) {
  const tsr_tensor_sharding *cut = NULL;
  tsr_value *operand = tsr_op_operand(p->dot, p->sharded);
  TSR_TRY(tsr_cut_of_value(arena, r->ir, operand, &cut));
  const tsr_collective_parts parts = {
      .id = TSR_OP_SDY_ALL_GATHER,
      .name = "gathering_axes",
      .axes = tsr_axis_lists_attr(r->ir, cut->mesh, lists, cut->rank),
      .sharding = gathered_sharding(arena, r->ir, p, cut)};
  tsr_op *gather = tsr_collective_create(r->ir, p->dot, operand, &parts);
  TSR_NEED(gather);
  tsr_op_insert_before(p->dot, gather);
  tsr_op_set_operand(p->dot, p->sharded, tsr_op_result(gather, 0));
  tsr_op_set_operand(p->dot, 1 - p->sharded, tsr_op_operand(p->slice, 0));
  if (!tsr_op_result(p->slice, 0)->uses)
    TSR_TRY(tsr_rewriter_replace(r, p->slice, tsr_op_operand(p->slice, 0)));
  return tsr_rewriter_replace(r, p->reduce, tsr_op_result(p->dot, 0));
}

static tsr_status choose(tsr_rewriter *r, tsr_arena *arena, const split_product *p) {
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}};
  int64_t size = 0, operand = 0, result = 0;
  if (tsr_operand_type(p->dot, p->sharded)->rank > TSR_MAX_RANK) return NULL;
  TSR_TRY(read_axes(arena, r->ir, p, lists, &size));
  if (!size) return NULL;
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_operand(p->dot, p->sharded), &operand));
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_result(p->dot, 0), &result));
  if (operand > INT64_MAX / size || operand * (size - 1) / 2 >= result) return NULL;
  return gather_operand(r, arena, p, lists);
}

static tsr_status visit_reduce(tsr_rewriter *r, tsr_op *op) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  split_product product;
  if (!find_product(op, &product)) return NULL;
  tsr_status status = choose(r, &arena, &product);
  tsr_arena_deinit(&arena);
  return status;
}

// ---- dynamic slices ----

// The sharded dims that a dynamic slice takes a part of, as bits.
static uint32_t cut_dims(const tsr_op *slice, const tsr_tensor_sharding *cut) {
  uint32_t dims = 0;
  for (int d = 0; d < cut->rank; d++)
    if (cut->dims[d].axes.count &&
        tsr_operand_type(slice, 0)->dims[d] != slice->results[0].type->dims[d])
      dims |= UINT32_C(1) << d;
  return dims;
}

static bool is_slice_of(const tsr_use *use, const tsr_op *first, const tsr_tensor_sharding *cut,
                        uint32_t dims) {
  return tsr_op_is(use->user, TSR_OP_DYNAMIC_SLICE) && use == &use->user->operands[0] &&
         use->user->block == first->block && cut_dims(use->user, cut) == dims;
}

// What each of the slices would reduce: twice its result.
static tsr_status bytes_of_slices(tsr_ir *ir, const tsr_op *first, const tsr_tensor_sharding *cut,
                                  uint32_t dims, int64_t *out_bytes) {
  *out_bytes = 0;
  for (const tsr_use *use = tsr_op_operand(first, 0)->uses; use; use = use->next) {
    int64_t bytes = 0;
    if (!is_slice_of(use, first, cut, dims)) continue;
    TSR_TRY(tsr_cut_bytes(ir, tsr_op_result(use->user, 0), &bytes));
    *out_bytes = tsr_saturated_add(*out_bytes, tsr_saturated_multiply(2, bytes));
  }
  return NULL;
}

static tsr_status gather_sliced(tsr_rewriter *r, tsr_arena *arena, tsr_op *first,
                                const tsr_tensor_sharding *cut, uint32_t dims) {
  tsr_value *whole = tsr_op_operand(first, 0);
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}};
  tsr_tensor_sharding *copy = tsr_sharding_copy(arena, cut);
  tsr_dim_sharding *made =
      copy ? tsr_arena_zeros(arena, (size_t)cut->rank + 1, sizeof *made) : NULL;
  TSR_NEED(made);
  for (int d = 0; d < cut->rank; d++) {
    made[d] = cut->dims[d];
    if (!(dims >> d & 1)) continue;
    lists[d] = cut->dims[d].axes;
    made[d].axes.count = 0;
  }
  copy->dims = made;
  const tsr_collective_parts parts = {
      .id = TSR_OP_SDY_ALL_GATHER,
      .name = "gathering_axes",
      .axes = tsr_axis_lists_attr(r->ir, cut->mesh, lists, cut->rank),
      .sharding = tsr_sharding_attr(r->ir, copy)};
  tsr_op *gather = tsr_collective_create(r->ir, first, whole, &parts);
  TSR_NEED(gather);
  tsr_op_insert_after_value(whole, gather);
  for (tsr_use *use = whole->uses, *next = NULL; use; use = next) {
    next = use->next;
    if (is_slice_of(use, first, cut, dims))
      tsr_op_set_operand(use->user, 0, tsr_op_result(gather, 0));
  }
  r->changes++;
  return NULL;
}

// Several slices of one value at places that are known in the run only.
static tsr_status choose_sliced(tsr_rewriter *r, tsr_arena *arena, tsr_op *op) {
  const tsr_tensor_sharding *cut = NULL;
  int64_t shards = 1, local = 0, slices = 0;
  if (tsr_operand_type(op, 0)->rank > TSR_MAX_RANK) return NULL;
  TSR_TRY(tsr_cut_of_value(arena, r->ir, tsr_op_operand(op, 0), &cut));
  const uint32_t dims = cut ? cut_dims(op, cut) : 0;
  if (!dims) return NULL;
  for (int d = 0; d < cut->rank; d++)
    if (dims >> d & 1) shards = tsr_saturated_multiply(shards, tsr_cut_count(cut, d));
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_operand(op, 0), &local));
  TSR_TRY(bytes_of_slices(r->ir, op, cut, dims, &slices));
  if (tsr_saturated_multiply(shards - 1, local) >= slices) return NULL;
  return gather_sliced(r, arena, op, cut, dims);
}

static tsr_status visit_slice(tsr_rewriter *r, tsr_op *op) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = choose_sliced(r, &arena, op);
  tsr_arena_deinit(&arena);
  return status;
}

tsr_status tsr_pass_gather_operands(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  static const tsr_rewrite_rule rules[] = {{TSR_OP_SDY_ALL_REDUCE, visit_reduce},
                                           {TSR_OP_DYNAMIC_SLICE, visit_slice}};
  const tsr_rewrite_set set = TSR_REWRITE_SET(rules);
  return tsr_rewrite(ir, options, &set, 1, changes);
}
