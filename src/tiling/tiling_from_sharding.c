// From shardings, which name mesh axes, to tilings, which number devices, as JAX's NamedSharding
// does for XLA. An entry of a spec is a list of sub-axes, and each sub-axis is a digit of a
// position.
#include <stdlib.h>

#include "tiling/tiling_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tiling/tiling.h"

const char *const tsr_reduction_entries[] = {
    [TSR_REDUCE_SUM] = "op_type=\"sdy::reduction_op\" op_name=\"SUM\"",
    [TSR_REDUCE_MAX] = "op_type=\"sdy::reduction_op\" op_name=\"MAX\"",
    [TSR_REDUCE_MIN] = "op_type=\"sdy::reduction_op\" op_name=\"MIN\"",
};

// The sub-axes that cut dimension `dim`. A tile dimension is one even stage.
static tsr_status find_cut(const tsr_sharding *sharding, int dim, tsr_sub_axis_list *sub_axes,
                           int64_t *out_ways) {
  const tsr_sharding_dim *at = tsr_sharding_dim_at(sharding, dim);
  *out_ways = 1;
  for (int s = 0; s < at->stage_count; s++) {
    const tsr_bound_stage *stage = &at->stages[s];
    if (stage->shards == 1) continue;
    if (stage->kind != TSR_STAGE_EVEN)
      return tsr_fail(NOT_EXPRESSIBLE, "dimension %d is not cut evenly; XLA has even cuts only",
                      dim);
    if (*out_ways > 1)
      return tsr_fail(NOT_EXPRESSIBLE,
                      "dimension %d is cut in %lld and again in %lld, but XLA cuts once", dim,
                      (long long)*out_ways, (long long)stage->shards);
    *out_ways = stage->shards;
    for (int i = 0; i < stage->axis_count; i++)
      if (stage->axes[i].size > 1) sub_axes->at[sub_axes->count++] = stage->axes[i];
  }
  return NULL;
}

// The first sub-axis among `used` at or after `pre` on `axis`, or NULL.
static const tsr_sub_axis *next_used(const tsr_sub_axis_list *used, int axis, int64_t pre) {
  const tsr_sub_axis *best = NULL;
  for (int i = 0; i < used->count; i++) {
    const tsr_sub_axis *sub_axis = &used->at[i];
    if (sub_axis->axis == axis && sub_axis->pre >= pre && (!best || sub_axis->pre < best->pre))
      best = sub_axis;
  }
  return best;
}

// The sub-axes of an axis that `used` does not cover, major to minor.
static void find_rest(const tsr_mesh *mesh, int axis, const tsr_sub_axis_list *used,
                      tsr_sub_axis_list *rest) {
  const int64_t whole = tsr_mesh_axis_at(mesh, axis)->size;
  for (int64_t pre = 1; pre < whole;) {
    const tsr_sub_axis *next = next_used(used, axis, pre);
    const int64_t end = next ? next->pre : whole;
    if (end > pre) rest->at[rest->count++] = (tsr_sub_axis){axis, pre, end / pre};
    pre = next ? next->pre * next->size : whole;
  }
}

static int compare_sub_axes(const void *a, const void *b) {
  const tsr_sub_axis *x = a, *y = b;
  if (x->axis != y->axis) return (x->axis > y->axis) - (x->axis < y->axis);
  return (x->pre > y->pre) - (x->pre < y->pre);
}

// The three subgroups, in mesh order: unreduced sub-axes, and the rest, which is manual on manual
// axes and replicated on others.
static void find_subgroups(const tsr_sharding *sharding, const tsr_sub_axis_list *cuts,
                           tsr_sub_axis_list out[TSR_SUBGROUP_COUNT]) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  tsr_sub_axis_list *unreduced = &out[TSR_SUBGROUP_UNREDUCED], used = *cuts;
  int count = 0;
  const tsr_sub_axis *sub_axes = tsr_sharding_unreduced(sharding, &count);
  for (int i = 0; i < count; i++) {
    if (sub_axes[i].size == 1) continue;
    unreduced->at[unreduced->count++] = sub_axes[i];
    used.at[used.count++] = sub_axes[i];
  }
  qsort(unreduced->at, (size_t)unreduced->count, sizeof *unreduced->at, compare_sub_axes);
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh); axis++) {
    const bool manual = tsr_mesh_axis_at(mesh, axis)->type == TSR_AXIS_MANUAL;
    find_rest(mesh, axis, &used, &out[manual ? TSR_SUBGROUP_MANUAL : TSR_SUBGROUP_REPLICATED]);
  }
}

static int64_t add_digits(tsr_tiles *tiles, const tsr_mesh *mesh,
                          const tsr_sub_axis_list *sub_axes) {
  int64_t ways = 1;
  for (int i = 0; i < sub_axes->count; i++) {
    const tsr_digit digit = tsr_sub_axis_digit(mesh, &sub_axes->at[i]);
    tsr_digits_add(&tiles->digits, digit.size, digit.stride);
    ways *= digit.size;
  }
  return ways;
}

tsr_status tsr_tiles_from_sharding(const tsr_sharding *sharding, int rank, tsr_tiles *out) {
  tsr_tiles result = {0}, *tiles = &result;
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  tsr_sub_axis_list cuts = {0}, groups[TSR_SUBGROUP_COUNT] = {0};
  tiles->device_count = tsr_mesh_device_count(mesh);
  if (tiles->device_count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "tiling of more than %d devices", INT32_MAX);
  tiles->dim_count = rank;
  for (int dim = 0; dim < rank; dim++) TSR_TRY(find_cut(sharding, dim, &cuts, &tiles->dims[dim]));
  add_digits(tiles, mesh, &cuts);
  find_subgroups(sharding, &cuts, groups);
  for (int i = 0; i < TSR_SUBGROUP_COUNT; i++) {
    const int64_t ways = add_digits(tiles, mesh, &groups[tsr_subgroup_order[i]]);
    if (ways == 1) continue;
    tiles->dims[tiles->dim_count++] = ways;
    tiles->subgroups[tiles->subgroup_count++] = tsr_subgroup_order[i];
  }
  *out = result;
  return NULL;
}

static tsr_status add_reduction(tsr_tiling *tiling, tsr_reduction reduction) {
  if (reduction == TSR_REDUCE_SUM) return NULL;
  const char **metadata =
      tsr_arena_grow(&tiling->memory, tiling->metadata, tiling->metadata_count, sizeof *metadata);
  if (!metadata) return tsr_fail(NO_MEMORY, "tiling");
  tiling->metadata = metadata;
  metadata[tiling->metadata_count++] = tsr_reduction_entries[reduction];
  return NULL;
}

tsr_status tsr_tiling_fill(tsr_tiling *tiling, const tsr_sharding *sharding, int rank) {
  if (rank > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "rank %d, wanted at most %d", rank, TSR_MAX_RANK);
  if (rank < tsr_sharding_dim_count(sharding))
    return tsr_fail(RANK_TOO_SMALL, "the spec has %d dimensions, the tensor %d",
                    tsr_sharding_dim_count(sharding), rank);
  TSR_TRY(tsr_tiles_from_sharding(sharding, rank, &tiling->tiles));
  TSR_TRY(tsr_tiles_normalise(&tiling->tiles, &tiling->kind));
  if (tiling->tiles.device_count == 1) tiling->kind = TSR_TILING_REPLICATED;
  int unreduced = 0;
  tsr_sharding_unreduced(sharding, &unreduced);
  if (!unreduced) return NULL;
  return add_reduction(tiling, tsr_spec_desc_of(tsr_sharding_spec(sharding))->reduction);
}

tsr_status tsr_tiling_from_sharding(const tsr_sharding *sharding, int rank,
                                    tsr_tiling **out_tiling) {
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_tiling_new(TSR_TILING_TILED, &tiling));
  return tsr_tiling_give(tsr_tiling_fill(tiling, sharding, rank), tiling, out_tiling);
}
