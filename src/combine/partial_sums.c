// partial-sums: an all-reduce goes behind the linear ops that use its result, where that moves
// fewer bytes: all_reduce(a) + all_reduce(b) becomes all_reduce(a + b), a sum over other dims comes
// first, a slice comes first. The values in between are said to be unreduced in their shardings.
//
// An op is looked at with the all-reduces that its operands come from, through linear ops that only
// move or scale them. What it would reduce afterwards is compared with what is reduced now. Every
// change lowers the bytes or the number of all-reduces, so the pass ends.
//
// Sums of floats are added in another order, within the bounds of any order; integers wrap around
// and are exact. Maxima and minima pass only ops that move elements.
#include "base/arithmetic.h"
#include "collective/collective_build.h"
#include "combine/combine_passes.h"
#include "combine/cut_values.h"
#include "combine/linear_ops.h"
#include "propagate/edits.h"
#include "simplify/rewriter.h"
#include "verify/sdy_checks.h"

enum { MOST_DEPTH = 8 };

// The ops between an all-reduce and an op that uses its result, the nearest to the op first. Each
// value on the way has one use.
typedef struct partial_path {
  tsr_op *reduce;
  tsr_op *ops[MOST_DEPTH];
  int count;
} partial_path;

// ---- finding all-reduces ----

// Whether an op may get a partial operand: the others are the same on all devices that the
// all-reduce joins, and these hold the same part of the result. A value that is broadcast along a
// dim which they cut has no place for an all-reduce behind it.
static tsr_status others_are_uniform(tsr_ir *ir, const tsr_op *op, int index, const tsr_op *reduce,
                                     bool *out) {
  TSR_TRY(tsr_cut_is_uniform(ir, tsr_op_result(op, 0), tsr_reduced_axes(reduce), out));
  for (int i = 0; *out && i < op->operand_count; i++)
    if (i != index)
      TSR_TRY(tsr_cut_is_uniform(ir, tsr_op_operand(op, i), tsr_reduced_axes(reduce), out));
  return NULL;
}

// `path->reduce` stays NULL if the value comes from none.
static tsr_status find_path(tsr_ir *ir, const tsr_value *value, partial_path *path) {
  tsr_op *def = value->def;
  if (!def || !tsr_value_has_one_use(value) || path->count == MOST_DEPTH) return NULL;
  if (tsr_op_is(def, TSR_OP_SDY_ALL_REDUCE)) {
    path->reduce = def;
    return NULL;
  }
  const int depth = path->count;
  for (int i = 0; i < def->operand_count && i < 2; i++) {
    bool uniform = false;
    // Whether it is linear for the reduction is asked again below, once that is known.
    if (!tsr_is_linear(def, i, TSR_SDY_REDUCTION_SUM)) continue;
    path->ops[path->count++] = def;
    TSR_TRY(find_path(ir, tsr_op_operand(def, i), path));
    if (path->reduce && tsr_is_linear(def, i, tsr_reduction_of(path->reduce)))
      TSR_TRY(others_are_uniform(ir, def, i, path->reduce, &uniform));
    if (uniform) return NULL;
    path->reduce = NULL;
    path->count = depth;
  }
  return NULL;
}

// ---- moving them ----

// Puts an all-reduce like `reduce` behind an op whose result is partial from now on.
static tsr_status reduce_behind(tsr_rewriter *r, tsr_op *op, const tsr_op *reduce) {
  tsr_value *result = tsr_op_result(op, 0);
  tsr_collective_parts parts = {.id = TSR_OP_SDY_ALL_REDUCE,
                                .name = "reduction_axes",
                                .axes = tsr_reduced_axes(reduce),
                                .reduction = tsr_op_attr(reduce, "reduction_op")};
  TSR_TRY(tsr_cut_attr(r->ir, result, tsr_op_attr(reduce, "out_sharding"), &parts.sharding));
  TSR_TRY(tsr_partial_mark(r->ir, result, reduce));
  tsr_op *made = tsr_collective_create(r->ir, reduce, result, &parts);
  TSR_NEED(made);
  tsr_op_insert_after(op, made);
  tsr_uses_move(result, tsr_op_result(made, 0), made);
  return tsr_rewriter_changed(r, made);
}

// Takes the all-reduce at the head of a path away: all values on it are partial.
static tsr_status open_path(tsr_rewriter *r, const partial_path *path) {
  for (int i = 0; i < path->count; i++)
    TSR_TRY(tsr_partial_mark(r->ir, tsr_op_result(path->ops[i], 0), path->reduce));
  TSR_TRY(tsr_partial_mark(r->ir, tsr_op_operand(path->reduce, 0), path->reduce));
  return tsr_rewriter_replace(r, path->reduce, tsr_op_operand(path->reduce, 0));
}

// ---- rules ----

static tsr_status reduced_bytes(tsr_ir *ir, const tsr_op *reduce, int64_t *bytes) {
  int64_t more = 0;
  TSR_TRY(tsr_cut_bytes(ir, tsr_op_operand(reduce, 0), &more));
  *bytes = tsr_saturated_add(*bytes, more);
  return NULL;
}

// a + b, both partial.
static tsr_status join_operands(tsr_rewriter *r, tsr_op *op) {
  partial_path paths[2] = {{0}, {0}};
  int64_t before = 0, after = 0;
  if (op->operand_count != 2 || op->result_count != 1) return NULL;
  for (int i = 0; i < 2; i++) {
    TSR_TRY(find_path(r->ir, tsr_op_operand(op, i), &paths[i]));
    if (!paths[i].reduce) return NULL;
    TSR_TRY(reduced_bytes(r->ir, paths[i].reduce, &before));
  }
  const tsr_op *reduce = paths[0].reduce;
  if (!tsr_same_reduction(reduce, paths[1].reduce) ||
      !tsr_joins_partials(op, tsr_reduction_of(reduce)))
    return NULL;
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_result(op, 0), &after));
  if (after >= before) return NULL;
  TSR_TRY(reduce_behind(r, op, reduce));
  TSR_TRY(open_path(r, &paths[1]));
  return open_path(r, &paths[0]);
}

// (c + a) + b, with a and b partial, becomes c + (a + b).
static tsr_status regroup(tsr_rewriter *r, tsr_op *op) {
  for (int i = 0; i < 2; i++) {
    tsr_op *inner = tsr_op_operand(op, i)->def;
    partial_path outer_path = {0};
    if (!tsr_op_is(inner, TSR_OP_ADD) || !tsr_value_has_one_use(tsr_op_result(inner, 0))) continue;
    TSR_TRY(find_path(r->ir, tsr_op_operand(op, 1 - i), &outer_path));
    if (!outer_path.reduce || tsr_reduction_of(outer_path.reduce) != TSR_SDY_REDUCTION_SUM)
      continue;
    for (int k = 0; k < 2; k++) {
      partial_path path = {0};
      TSR_TRY(find_path(r->ir, tsr_op_operand(inner, k), &path));
      if (!path.reduce || !tsr_same_reduction(path.reduce, outer_path.reduce)) continue;
      tsr_value *rest = tsr_op_operand(inner, 1 - k),
                *joined[] = {tsr_op_operand(inner, k), tsr_op_operand(op, 1 - i)};
      tsr_op *sum = NULL;
      tsr_op_parts parts = {.id = TSR_OP_ADD,
                            .operand_count = 2,
                            .operands = joined,
                            .result_count = 1,
                            .result_types = &op->results[0].type,
                            .attrs = op->attrs,
                            .attr_count = op->attr_count};
      TSR_TRY(tsr_rewriter_insert(r, op, parts, &sum));
      tsr_op_set_operand(op, 0, rest);
      tsr_op_set_operand(op, 1, tsr_op_result(sum, 0));
      TSR_TRY(tsr_rewriter_push(r, inner));  // nothing uses it
      TSR_TRY(tsr_rewriter_changed(r, op));
      return tsr_rewriter_push(r, sum);
    }
  }
  return NULL;
}

// A sum of two: of partial results, or of one and a sum that has another one.
static tsr_status join_or_regroup(tsr_rewriter *r, tsr_op *op) {
  const int64_t before = r->changes;
  TSR_TRY(join_operands(r, op));
  return r->changes == before ? regroup(r, op) : NULL;
}

// An op that makes a partial operand smaller.
static tsr_status shrink(tsr_rewriter *r, tsr_op *op) {
  for (int i = 0; i < op->operand_count && i < 2; i++) {
    partial_path path = {0};
    int64_t before = 0, after = 0;
    bool uniform = false;
    if (!tsr_is_linear(op, i, TSR_SDY_REDUCTION_SUM) && !tsr_op_is(op, TSR_OP_REDUCE)) continue;
    TSR_TRY(find_path(r->ir, tsr_op_operand(op, i), &path));
    if (!path.reduce || !tsr_is_linear(op, i, tsr_reduction_of(path.reduce))) continue;
    TSR_TRY(others_are_uniform(r->ir, op, i, path.reduce, &uniform));
    TSR_TRY(reduced_bytes(r->ir, path.reduce, &before));
    TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_result(op, 0), &after));
    if (!uniform || after >= before) continue;
    TSR_TRY(reduce_behind(r, op, path.reduce));
    return open_path(r, &path);
  }
  return NULL;
}

// The operand that a use is.
static int operand_index(const tsr_use *use) { return (int)(use - use->user->operands); }

// All users of an all-reduce make its result smaller, together.
static tsr_status shrink_users(tsr_rewriter *r, tsr_op *reduce) {
  tsr_value *result = tsr_op_result(reduce, 0);
  int64_t before = 0, after = 0;
  if (!result->uses || tsr_value_has_one_use(result)) return NULL;
  TSR_TRY(reduced_bytes(r->ir, reduce, &before));
  for (const tsr_use *use = result->uses; use; use = use->next) {
    int64_t more = 0;
    bool uniform = false;
    const int index = operand_index(use);
    if (!tsr_is_linear(use->user, index, tsr_reduction_of(reduce))) return NULL;
    for (int i = 0; i < use->user->operand_count; i++)
      if (i != index && tsr_op_operand(use->user, i) == result) return NULL;
    TSR_TRY(others_are_uniform(r->ir, use->user, index, reduce, &uniform));
    TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_result(use->user, 0), &more));
    after = tsr_saturated_add(after, more);
    if (!uniform || after >= before) return NULL;
  }
  for (const tsr_use *use = result->uses; use; use = use->next)
    TSR_TRY(reduce_behind(r, use->user, reduce));
  return open_path(r, &(partial_path){.reduce = reduce});
}

// An all-reduce of an all-reduce along other axes.
static tsr_status join_axes(tsr_rewriter *r, tsr_op *op) {
  tsr_op *inner = tsr_op_operand(op, 0)->def;
  const tsr_attr *mesh = tsr_sdy_mesh_of(r->ir, op, tsr_op_attr(op, "out_sharding"));
  if (!mesh || !tsr_op_is(inner, TSR_OP_SDY_ALL_REDUCE) ||
      !tsr_value_has_one_use(tsr_op_result(inner, 0)) ||
      tsr_reduction_of(inner) != tsr_reduction_of(op))
    return NULL;
  const tsr_attr *axes = NULL;
  TSR_TRY(tsr_joined_axes(r->ir, mesh,
                          tsr_attr_field(tsr_reduced_axes(inner), TSR_SDY_AXIS_LIST_AXES),
                          tsr_attr_field(tsr_reduced_axes(op), TSR_SDY_AXIS_LIST_AXES), &axes));
  axes = tsr_attr_record(r->ir, TSR_RECORD_SDY_AXIS_LIST, &axes);
  TSR_NEED(axes);
  TSR_TRY(tsr_op_attr_set(r->ir, op, "reduction_axes", axes));
  TSR_TRY(tsr_partial_mark(r->ir, tsr_op_operand(inner, 0), op));
  TSR_TRY(tsr_rewriter_replace(r, inner, tsr_op_operand(inner, 0)));
  return tsr_rewriter_changed(r, op);
}

static tsr_status join_or_shrink(tsr_rewriter *r, tsr_op *op) {
  const int64_t before = r->changes;
  TSR_TRY(join_axes(r, op));
  return r->changes == before ? shrink_users(r, op) : NULL;
}

tsr_status tsr_pass_partial_sums(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  static const tsr_rewrite_rule rules[] = {
      {TSR_OP_ADD, join_or_regroup},
      {TSR_OP_SUBTRACT, join_operands},
      {TSR_OP_MAXIMUM, join_operands},
      {TSR_OP_MINIMUM, join_operands},
      {TSR_OP_SDY_ALL_REDUCE, join_or_shrink},
      {TSR_OP_REDUCE, shrink},
      {TSR_OP_SLICE, shrink},
      {TSR_OP_DYNAMIC_SLICE, shrink},
      {TSR_OP_DOT_GENERAL, shrink},
  };
  const tsr_rewrite_set set = TSR_REWRITE_SET(rules);
  return tsr_rewrite(ir, options, &set, 1, changes);
}
