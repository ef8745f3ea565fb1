// Collectives that do nothing, undo each other, or are one.
#include <stdlib.h>

#include "collective/canonical_rules.h"
#include "collective/collective_build.h"
#include "propagate/edits.h"
#include "verify/sdy_checks.h"

static tsr_op *operand_def(const tsr_op *op, tsr_op_id id) {
  tsr_op *def = tsr_op_operand(op, 0)->def;
  return tsr_op_is(def, id) ? def : NULL;
}

static const tsr_attr *lists_of(const tsr_op *op, const char *name) {
  return tsr_attr_field(tsr_op_attr(op, name), TSR_SDY_AXIS_LISTS_LISTS);
}

static const tsr_attr *axes_of(const tsr_attr *list) {
  return tsr_attr_field(list, TSR_SDY_AXIS_LIST_AXES);
}

static tsr_status bypass(tsr_greedy *g, tsr_op *op, tsr_value *value, bool *out_changed) {
  *out_changed = true;
  return tsr_greedy_replace(g, op, &value);
}

// ---- without axes ----

static tsr_status drop_noop(tsr_greedy *g, tsr_op *op, const char *name, bool *out_changed) {
  const tsr_attr *lists = lists_of(op, name);
  for (int64_t i = 0; i < lists->count; i++)
    if (axes_of(lists->items[i])->count) return NULL;
  return bypass(g, op, tsr_op_operand(op, 0), out_changed);
}

tsr_status tsr_rule_gather_noop(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  return drop_noop(g, op, "gathering_axes", out_changed);
}

tsr_status tsr_rule_slice_noop(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  return drop_noop(g, op, "slicing_axes", out_changed);
}

tsr_status tsr_rule_scatter_noop(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  return drop_noop(g, op, "reduce_scatter_axes", out_changed);
}

tsr_status tsr_rule_reduce_noop(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  if (axes_of(tsr_op_attr(op, "reduction_axes"))->count) return NULL;
  return bypass(g, op, tsr_op_operand(op, 0), out_changed);
}

tsr_status tsr_rule_permute_noop(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  const tsr_attr *from = NULL;
  TSR_TRY(tsr_sharding_get(tsr_greedy_ir(g), tsr_op_operand(op, 0), &from));
  if (!tsr_sharding_is_equivalent(from, tsr_op_attr(op, "out_sharding"))) return NULL;
  return bypass(g, op, tsr_op_operand(op, 0), out_changed);
}

// ---- that undo each other ----

tsr_status tsr_rule_slice_of_gather(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  const tsr_op *gather = operand_def(op, TSR_OP_SDY_ALL_GATHER);
  if (!gather ||
      !tsr_attr_equal(tsr_op_attr(gather, "gathering_axes"), tsr_op_attr(op, "slicing_axes")))
    return NULL;
  return bypass(g, op, tsr_op_operand(gather, 0), out_changed);
}

tsr_status tsr_rule_reduce_of_replicated(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  const tsr_op *spread = operand_def(op, TSR_OP_SDY_REPLICATED_TO_UNREDUCED);
  if (!spread || !tsr_attr_equal(tsr_op_attr(spread, "axes"), tsr_op_attr(op, "reduction_axes")))
    return NULL;
  return bypass(g, op, tsr_op_operand(spread, 0), out_changed);
}

static tsr_status replace_by(tsr_greedy *g, tsr_op *op, tsr_value *operand,
                             const tsr_collective_parts *parts, bool *out_changed) {
  tsr_op *made = tsr_collective_create(tsr_greedy_ir(g), op, operand, parts);
  TSR_NEED(made);
  TSR_TRY(tsr_greedy_insert(g, op, made));
  return bypass(g, op, tsr_op_result(made, 0), out_changed);
}

// The axes of all dims, in the order of the mesh, neighbours joined.
static tsr_status all_axes(tsr_greedy *g, const tsr_attr *mesh, const tsr_attr *lists,
                           tsr_sdy_parts *out_parts) {
  int64_t count = 0;
  for (int64_t i = 0; i < lists->count; i++) count += axes_of(lists->items[i])->count;
  tsr_sdy_part *items = tsr_arena_zeros(tsr_greedy_arena(g), (size_t)count + 1, sizeof *items);
  TSR_NEED(items);
  *out_parts = (tsr_sdy_parts){items, 0};
  for (int64_t i = 0; i < lists->count; i++)
    TSR_TRY(tsr_sdy_parts_add(mesh, axes_of(lists->items[i]), out_parts));
  tsr_sdy_parts_join(mesh, out_parts);
  return NULL;
}

tsr_status tsr_rule_reduce_of_sharded(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  tsr_ir *ir = tsr_greedy_ir(g);
  const tsr_op *spread = operand_def(op, TSR_OP_SDY_SHARDED_TO_UNREDUCED);
  const tsr_attr *sharding = tsr_op_attr(op, "out_sharding");
  const tsr_attr *mesh = spread ? tsr_sdy_mesh_of(ir, op, sharding) : NULL;
  tsr_sdy_parts gathered, reduced;
  if (!mesh) return NULL;
  TSR_TRY(all_axes(g, mesh, lists_of(spread, "axes"), &gathered));
  TSR_TRY(tsr_sdy_parts_make(tsr_greedy_arena(g), mesh, axes_of(tsr_op_attr(op, "reduction_axes")),
                             &reduced));
  if (!tsr_sdy_parts_equal(&gathered, &reduced)) return NULL;
  const tsr_collective_parts parts = {.id = TSR_OP_SDY_ALL_GATHER,
                                      .name = "gathering_axes",
                                      .axes = tsr_op_attr(spread, "axes"),
                                      .sharding = sharding};
  return replace_by(g, op, tsr_op_operand(spread, 0), &parts, out_changed);
}

// ---- all_to_all ----

static const tsr_attr *params_of(const tsr_op *op) {
  return tsr_attr_field(tsr_op_attr(op, "params"), TSR_SDY_ALL_TO_ALLS_PARAMS);
}

static int64_t param_dim(const tsr_attr *param, int field) {
  return tsr_attr_field(param, field)->integer;
}

static bool share_dims(const tsr_attr *a, const tsr_attr *b) {
  static const int fields[] = {TSR_SDY_ALL_TO_ALL_SOURCE, TSR_SDY_ALL_TO_ALL_TARGET};
  for (int64_t i = 0; i < a->count; i++)
    for (int64_t k = 0; k < b->count; k++)
      for (int f = 0; f < 4; f++)
        if (param_dim(a->items[i], fields[f / 2]) == param_dim(b->items[k], fields[f % 2]))
          return true;
  return false;
}

static int by_source(const void *a, const void *b) {
  const int64_t x = param_dim(*(const tsr_attr *const *)a, TSR_SDY_ALL_TO_ALL_SOURCE);
  const int64_t y = param_dim(*(const tsr_attr *const *)b, TSR_SDY_ALL_TO_ALL_SOURCE);
  return (x > y) - (x < y);
}

static const tsr_attr *joined_params(tsr_greedy *g, const tsr_attr *a, const tsr_attr *b) {
  tsr_ir *ir = tsr_greedy_ir(g);
  const size_t count = (size_t)(a->count + b->count);
  const tsr_attr **all = tsr_arena_zeros(tsr_greedy_arena(g), count + 1, sizeof *all);
  if (!all) return NULL;
  for (int64_t i = 0; i < a->count; i++) all[i] = a->items[i];
  for (int64_t i = 0; i < b->count; i++) all[a->count + i] = b->items[i];
  qsort(all, count, sizeof *all, by_source);
  const tsr_attr *array = tsr_attr_array(ir, all, (int64_t)count);
  return array ? tsr_attr_record(ir, TSR_RECORD_SDY_ALL_TO_ALLS, &array) : NULL;
}

tsr_status tsr_rule_move_fusion(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  const tsr_op *inner = operand_def(op, TSR_OP_SDY_ALL_TO_ALL);
  if (!inner || !tsr_value_has_one_use(tsr_op_result(inner, 0)) ||
      share_dims(params_of(inner), params_of(op)))
    return NULL;
  const tsr_collective_parts parts = {.id = TSR_OP_SDY_ALL_TO_ALL,
                                      .name = "params",
                                      .axes = joined_params(g, params_of(inner), params_of(op)),
                                      .sharding = tsr_op_attr(op, "out_sharding")};
  return replace_by(g, op, tsr_op_operand(inner, 0), &parts, out_changed);
}

tsr_status tsr_rule_move_unused(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  if (tsr_op_result(op, 0)->uses) return NULL;
  return bypass(g, op, tsr_op_operand(op, 0), out_changed);
}

// ---- all_reduce and all_slice ----

// What an all_slice does after an all_reduce: along axes that were reduced, and along others.
typedef struct scatter_plan {
  const tsr_attr *mesh;
  int rank;
  tsr_sdy_parts *scattered, *rest;
  bool has_rest;
} scatter_plan;

// Whether all users slice alike, and this one is the first.
static bool users_agree(tsr_greedy *g, const tsr_op *reduce, tsr_op *slice) {
  const tsr_attr *axes = tsr_op_attr(slice, "slicing_axes");
  for (const tsr_use *use = tsr_op_result(reduce, 0)->uses; use; use = use->next) {
    if (use->user == slice) continue;
    if (!tsr_op_is(use->user, TSR_OP_SDY_ALL_SLICE) || use->user->block != slice->block ||
        !tsr_attr_equal(tsr_op_attr(use->user, "slicing_axes"), axes) ||
        tsr_greedy_is_before(g, use->user, slice))
      return false;
  }
  return true;
}

// Splits the axes of a dim where the first one stands that is not reduced; those before it are
// taken out of `reduced`.
static tsr_status plan_dim(tsr_greedy *g, scatter_plan *plan, int64_t dim, const tsr_attr *axes,
                           tsr_sdy_parts *reduced) {
  tsr_sdy_parts parts;
  int64_t count = 0;
  TSR_TRY(tsr_sdy_parts_make(tsr_greedy_arena(g), plan->mesh, axes, &parts));
  for (; count < parts.count; count++) {
    int64_t at = 0;
    while (at < reduced->count && !tsr_sdy_same(&reduced->items[at], &parts.items[count])) at++;
    if (at == reduced->count) break;
    reduced->items[at] = reduced->items[--reduced->count];
  }
  plan->scattered[dim] = (tsr_sdy_parts){parts.items, count};
  plan->rest[dim] = (tsr_sdy_parts){parts.items + count, parts.count - count};
  plan->has_rest |= parts.count > count;
  return NULL;
}

// False in `out_fits` if some axes are reduced that are not sliced.
static tsr_status make_plan(tsr_greedy *g, const tsr_op *reduce, const tsr_op *slice,
                            scatter_plan *plan, bool *out_fits) {
  const tsr_attr *lists = lists_of(slice, "slicing_axes");
  tsr_arena *arena = tsr_greedy_arena(g);
  tsr_sdy_parts reduced;
  plan->rank = (int)lists->count;
  plan->scattered = tsr_arena_zeros(arena, (size_t)lists->count + 1, sizeof *plan->scattered);
  plan->rest = tsr_arena_zeros(arena, (size_t)lists->count + 1, sizeof *plan->rest);
  TSR_NEED(plan->scattered && plan->rest);
  TSR_TRY(tsr_sdy_parts_make(arena, plan->mesh, axes_of(tsr_op_attr(reduce, "reduction_axes")),
                             &reduced));
  for (int64_t i = 0; i < lists->count; i++)
    TSR_TRY(plan_dim(g, plan, i, axes_of(lists->items[i]), &reduced));
  *out_fits = !reduced.count;
  return NULL;
}

// The sharding behind the reduce_scatter: the axes before the all_reduce and the scattered ones.
static tsr_status scattered_sharding(tsr_greedy *g, const tsr_op *reduce, const tsr_op *slice,
                                     const scatter_plan *plan, const tsr_attr **out_sharding) {
  tsr_ir *ir = tsr_greedy_ir(g);
  tsr_arena *arena = tsr_greedy_arena(g);
  const tsr_attr *mesh_ref =
      tsr_attr_field(tsr_op_attr(reduce, "out_sharding"), TSR_SDY_SHARDING_MESH);
  const tsr_attr *from = NULL;
  tsr_tensor_sharding *before = NULL, *after = NULL;
  TSR_TRY(tsr_sharding_get(ir, tsr_op_operand(reduce, 0), &from));
  if (!from) from = tsr_sharding_bare(ir, mesh_ref, plan->rank, true);
  TSR_NEED(from);
  TSR_TRY(tsr_sharding_read(arena, plan->mesh, from, &before));
  TSR_TRY(tsr_sharding_read(arena, plan->mesh, tsr_op_attr(slice, "out_sharding"), &after));
  tsr_dim_sharding *dims = tsr_arena_zeros(arena, (size_t)plan->rank + 1, sizeof *dims);
  TSR_NEED(dims);
  for (int d = 0; d < plan->rank; d++) {
    const tsr_sdy_parts *axes = &before->dims[d].axes, *added = &plan->scattered[d];
    const size_t room = (size_t)(axes->count + added->count) + 1;
    dims[d] = (tsr_dim_sharding){.closed = true, .priority = -1};
    dims[d].axes.items = tsr_arena_zeros(arena, room, sizeof *added->items);
    TSR_NEED(dims[d].axes.items);
    for (int64_t i = 0; i < axes->count; i++)
      tsr_sdy_parts_append(plan->mesh, &dims[d].axes, axes->items[i]);
    for (int64_t i = 0; i < added->count; i++)
      tsr_sdy_parts_append(plan->mesh, &dims[d].axes, added->items[i]);
  }
  after->dims = dims;
  after->mesh_ref = mesh_ref;
  *out_sharding = tsr_sharding_attr(ir, after);
  TSR_NEED(*out_sharding);
  return NULL;
}

static tsr_status fuse(tsr_greedy *g, tsr_op *reduce, tsr_op *slice, const scatter_plan *plan) {
  tsr_ir *ir = tsr_greedy_ir(g);
  tsr_collective_parts parts = {
      .id = TSR_OP_SDY_REDUCE_SCATTER,
      .name = "reduce_scatter_axes",
      .axes = tsr_axis_lists_attr(ir, plan->mesh, plan->scattered, plan->rank),
      .reduction = tsr_op_attr(reduce, "reduction_op")};
  TSR_TRY(scattered_sharding(g, reduce, slice, plan, &parts.sharding));
  tsr_op *made = tsr_collective_create(ir, reduce, tsr_op_operand(reduce, 0), &parts);
  TSR_NEED(made);
  TSR_TRY(tsr_greedy_insert(g, slice, made));
  if (plan->has_rest) {
    parts =
        (tsr_collective_parts){.id = TSR_OP_SDY_ALL_SLICE,
                               .name = "slicing_axes",
                               .axes = tsr_axis_lists_attr(ir, plan->mesh, plan->rest, plan->rank),
                               .sharding = tsr_op_attr(slice, "out_sharding")};
    made = tsr_collective_create(ir, slice, tsr_op_result(made, 0), &parts);
    TSR_NEED(made);
    TSR_TRY(tsr_greedy_insert(g, slice, made));
  }
  tsr_value *value = tsr_op_result(made, 0);
  while (tsr_op_result(reduce, 0)->uses)
    TSR_TRY(tsr_greedy_replace(g, tsr_op_result(reduce, 0)->uses->user, &value));
  return tsr_greedy_erase(g, reduce);
}

tsr_status tsr_rule_reduce_scatter_fusion(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  tsr_op *reduce = operand_def(op, TSR_OP_SDY_ALL_REDUCE);
  scatter_plan plan = {0};
  bool fits = false;
  if (!reduce || !users_agree(g, reduce, op)) return NULL;
  plan.mesh = tsr_sdy_mesh_of(tsr_greedy_ir(g), reduce, tsr_op_attr(reduce, "out_sharding"));
  if (!plan.mesh) return NULL;
  TSR_TRY(make_plan(g, reduce, op, &plan, &fits));
  if (!fits) return NULL;
  *out_changed = true;
  return fuse(g, reduce, op, &plan);
}
