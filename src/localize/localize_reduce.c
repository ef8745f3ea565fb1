// Reductions over sharded dims whose parts no all-reduce of Shardy combines: each device reduces
// its shard. Where single ops make the results and there are more than a few parts, an all_reduce
// of StableHLO combines them; else they are gathered along a new dim, and the body folds them in
// the order of the shards.
#include "factor/rule_build.h"
#include "localize/localize.h"
#include "localize/partial_bodies.h"
#include "propagate/edits.h"

// The axes of all dims that are reduced.
static tsr_status reduced_axes(tsr_localizing *l, const tsr_op *op, const tsr_whole *input,
                               tsr_sdy_parts *out_axes) {
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  int64_t count = 0;
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    count += tsr_cut_axes(input->cut, tsr_attr_int_at(dims, i))->count;
  out_axes->items = tsr_arena_alloc(&l->arena, ((size_t)count + 1) * sizeof *out_axes->items);
  TSR_NEED(out_axes->items);
  out_axes->count = 0;
  for (int d = 0; input->cut && d < input->cut->rank; d++)
    for (int64_t i = 0; tsr_ints_have(dims, d) && i < input->cut->dims[d].axes.count; i++)
      out_axes->items[out_axes->count++] = input->cut->dims[d].axes.items[i];
  return NULL;
}

// The parts of all devices, along a new first dim.
static tsr_value *gather_parts(tsr_localizing *l, tsr_site *site, tsr_value *part,
                               const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes) {
  int64_t dims[TSR_MAX_RANK + 1] = {1};
  const tsr_type *type = part->type;
  for (int d = 0; d < type->rank; d++) dims[d + 1] = type->dims[d];
  const tsr_type *single = tsr_type_tensor(l->ir, type->element, type->rank + 1, dims, NULL);
  if (!single) site->failure = tsr_fail(NO_MEMORY, "memory of a program");
  tsr_value *x = single ? tsr_site_reshape(site, part, single) : NULL;
  return tsr_site_all_gather(l, site, x, 0, cut, axes);
}

// The op again, over the first dim of what was gathered.
static tsr_op *fold_parts(tsr_localizing *l, tsr_site *site, const tsr_op *op,
                          tsr_value *const *parts) {
  const int64_t first = 0;
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *fold = map ? tsr_op_clone(l->ir, op, map) : NULL;
  const tsr_attr *dims = tsr_attr_ints(l->ir, &first, 1);
  tsr_value_map_destroy(map);
  if (!fold || !dims) {
    site->failure = tsr_fail(NO_MEMORY, "memory of a program");
    return NULL;
  }
  for (int i = 0; i < op->result_count; i++) tsr_op_set_operand(fold, i, parts[i]);
  if (site->place)
    tsr_op_insert_before(site->place, fold);
  else
    tsr_op_append(site->block, fold);
  site->failure = tsr_op_attr_set(l->ir, fold, "dimensions", dims);
  return site->failure ? NULL : fold;
}

static tsr_site site_after(tsr_localizing *l, tsr_op *op) {
  return (tsr_site){.ir = l->ir, .place = op->next, .block = op->next ? NULL : op->block};
}

static tsr_status gather_and_fold(tsr_localizing *l, tsr_op *op, const tsr_tensor_sharding *cut,
                                  const tsr_sdy_parts *axes) {
  tsr_site site = site_after(l, op);
  tsr_value **parts = tsr_ir_alloc(l->ir, ((size_t)op->result_count + 1) * sizeof *parts);
  TSR_NEED(parts);
  for (int i = 0; i < op->result_count; i++) {
    parts[i] = gather_parts(l, &site, tsr_op_result(op, i), cut, axes);
    if (!parts[i]) return site.failure ? site.failure : tsr_fail(NO_MEMORY, "parts of a reduction");
  }
  tsr_op *fold = fold_parts(l, &site, op, parts);
  if (!fold) return site.failure;
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *result = tsr_op_result(op, i), *whole = tsr_op_result(fold, i);
    whole->mark = result->mark;
    tsr_uses_move(result, whole, tsr_op_operand(parts[i]->def, 0)->def);
  }
  l->changes++;
  return NULL;
}

// Gathering moves the parts of all other devices, an all_reduce two parts.
static bool takes_all_reduce(const tsr_op *op, const tsr_sdy_parts *axes) {
  bool takes = tsr_parts_size(axes) > 3;
  for (int i = 0; takes && i < op->result_count; i++) takes = tsr_body_op(op, i) != TSR_OP_COUNT;
  return takes;
}

static tsr_status all_reduce_parts(tsr_localizing *l, tsr_op *op, const tsr_tensor_sharding *cut,
                                   const tsr_sdy_parts *axes) {
  tsr_site site = site_after(l, op);
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *part = tsr_op_result(op, i);
    tsr_value *whole = tsr_site_all_reduce(l, &site, part, tsr_body_op(op, i), cut, axes);
    if (site.failure) return site.failure;
    TSR_NEED(whole);
    whole->mark = part->mark;
    tsr_uses_move(part, whole, whole->def);
  }
  l->changes++;
  return NULL;
}

tsr_status tsr_localize_reduce(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts axes;
  tsr_whole input;
  tsr_partials partials = TSR_PARTIALS_NONE;
  int kind = -1;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &input));
  TSR_TRY(tsr_localize_plain(l, op));
  TSR_TRY(reduced_axes(l, op, &input, &axes));
  if (!l->exchange || tsr_parts_size(&axes) <= 1) return NULL;
  TSR_TRY(tsr_partials_of(l->ir, op, &partials, &kind));
  switch (partials) {
    case TSR_PARTIALS_REDUCE:
      return NULL;  // an all-reduce follows
    case TSR_PARTIALS_FOLD:
      return takes_all_reduce(op, &axes) ? all_reduce_parts(l, op, input.cut, &axes)
                                         : gather_and_fold(l, op, input.cut, &axes);
    default:
      return tsr_fail(CONSTRAINT, "%s: parts of its result cannot be combined by its body",
                      op->name);
  }
}
