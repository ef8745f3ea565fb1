// Translates between placements, one per mesh axis, and specs, one entry per dimension.
#include <string.h>

#include "element/shape_internal.h"
#include "spec/placements.h"
#include "spec/sharding_internal.h"
#include "spec/spec_builder.h"
#include "spec/sub_axis.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"

// ---- to a spec ----

typedef struct placements_reader {
  const tsr_mesh *mesh;
  int rank;
  const tsr_shape *shape;  // NULL = every size
  tsr_torch_cuts dims[TSR_MAX_RANK];
  int unreduced_count;
  int unreduced[TSR_MAX_AXES];
  tsr_reduction reduction;
} placements_reader;

static tsr_status check_rank(int rank, const tsr_shape *shape) {
  if (rank < 0 || rank > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "rank %d, wanted 0 to %d", rank, TSR_MAX_RANK);
  if (!shape) return NULL;
  TSR_TRY(tsr_shape_check(shape));
  if (shape->rank == rank) return NULL;
  return tsr_fail(BAD_ARGUMENT, "the shape has rank %d, expected %d", shape->rank, rank);
}

static tsr_status read_shard(placements_reader *r, int axis, const tsr_placement *placement) {
  const int dim = placement->dim < 0 ? placement->dim + r->rank : placement->dim;
  if (dim < 0 || dim >= r->rank)
    return r->rank ? tsr_fail(RANK_TOO_SMALL,
                              "Shard(dim=%d) of a tensor of rank %d, wanted a dim from %d to %d",
                              placement->dim, r->rank, -r->rank, r->rank - 1)
                   : tsr_fail(RANK_TOO_SMALL, "Shard(dim=%d) of a scalar, wanted Replicate()",
                              placement->dim);
  const bool strided = placement->kind == TSR_PLACEMENT_STRIDED_SHARD;
  const int64_t size = tsr_mesh_axis_at(r->mesh, axis)->size;
  tsr_torch_cuts *cuts = &r->dims[dim];
  // On one device the factor has no effect.
  cuts->at[cuts->count++] = (tsr_torch_cut){
      axis, size, strided && size > 1 ? placement->split_factor : 1, placement->order};
  return NULL;
}

static tsr_status read_partial(placements_reader *r, int axis, const tsr_placement *placement) {
  if (r->unreduced_count && r->reduction != placement->reduction)
    return tsr_fail(NOT_EXPRESSIBLE, "partial results combine in two ways, expected one");
  r->reduction = placement->reduction;
  r->unreduced[r->unreduced_count++] = axis;
  return NULL;
}

static tsr_status read_placements(placements_reader *r, const tsr_placements *placements) {
  const int axes = tsr_mesh_axis_count(r->mesh);
  if (placements->count != axes)
    return tsr_fail(MESH_RANK_MISMATCH,
                    "%d placements for a mesh of %d axes, wanted one for each axis",
                    placements->count, axes);
  for (int axis = 0; axis < axes; axis++) {
    const tsr_placement *placement = &placements->items[axis];
    switch (placement->kind) {
      case TSR_PLACEMENT_REPLICATE:
        break;
      case TSR_PLACEMENT_SHARD:
      case TSR_PLACEMENT_STRIDED_SHARD:
        TSR_TRY(read_shard(r, axis, placement));
        break;
      case TSR_PLACEMENT_PARTIAL:
        TSR_TRY(read_partial(r, axis, placement));
        break;
      default:
        return tsr_fail(BAD_ARGUMENT, "placement %d is of kind %d, wanted 0 to %d", axis,
                        (int)placement->kind, (int)TSR_PLACEMENT_PARTIAL);
    }
  }
  return NULL;
}

static bool is_strided(const tsr_torch_cuts *cuts) {
  for (int i = 0; i < cuts->count; i++)
    if (cuts->at[i].factor > 1) return true;
  return false;
}

// A single strided shard that divides the size is a cyclic cut.
static int64_t cyclic_block(const placements_reader *r, int dim) {
  const tsr_torch_cuts *cuts = &r->dims[dim];
  if (cuts->count != 1 || !r->shape) return 0;
  int64_t blocks = 0;
  if (__builtin_mul_overflow(cuts->at[0].size, cuts->at[0].factor, &blocks)) return 0;
  return r->shape->dims[dim] % blocks ? 0 : r->shape->dims[dim] / blocks;
}

static void flatten(tsr_nest *nest) { memset(nest->stage, 0, sizeof nest->stage); }

// Makes the nest flat if that is the same for the given size.
static tsr_status flatten_if_same(const placements_reader *r, int dim, tsr_nest *nest) {
  tsr_nest flat = *nest;
  if (!r->shape) return NULL;
  flatten(&flat);
  tsr_status status = tsr_nest_compare(nest, &flat, r->mesh, dim, r->shape->dims[dim]);
  if (!status) *nest = flat;
  const tsr_cause cause = tsr_status_cause(status);
  if (cause != TSR_CAUSE_NOT_EXPRESSIBLE && cause != TSR_CAUSE_TOO_LARGE) return status;
  tsr_status_free(status);
  return NULL;
}

// Chunks side by side as stages, if they are any.
static tsr_status choose_side_by_side(const placements_reader *r, int dim, tsr_nest *nest) {
  const tsr_torch_cuts *cuts = &r->dims[dim];
  if (!r->shape)
    return tsr_fail(NOT_EXPRESSIBLE, "the pieces depend on the size, which is not given");
  if (!tsr_torch_cuts_nest(cuts, nest))
    return tsr_fail(NOT_EXPRESSIBLE, "no later axes fill the gaps of the strided shard");
  tsr_nest flat = *nest;
  flatten(&flat);
  tsr_status status = tsr_torch_cuts_compare(cuts, &flat, r->mesh, dim, r->shape->dims[dim]);
  if (!status) *nest = flat;
  if (tsr_status_cause(status) != TSR_CAUSE_NOT_EXPRESSIBLE) return status;
  tsr_status_free(status);
  return tsr_torch_cuts_compare(cuts, nest, r->mesh, dim, r->shape->dims[dim]);
}

static tsr_status choose_nest(const placements_reader *r, int dim, tsr_nest *nest) {
  tsr_status unordered = tsr_torch_cuts_order(&r->dims[dim], r->mesh, dim, nest);
  if (!unordered) return flatten_if_same(r, dim, nest);
  if (tsr_status_cause(unordered) != TSR_CAUSE_NOT_EXPRESSIBLE) return unordered;
  tsr_status status = choose_side_by_side(r, dim, nest);
  status = tsr_note(status, "%s", tsr_status_text(unordered));
  tsr_status_free(unordered);
  return status;
}

static tsr_status write_nest(const tsr_mesh *mesh, const tsr_nest *nest,
                             tsr_spec_builder *builder) {
  for (int i = 0; i < nest->count; i++) {
    const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, &nest->sub_axes[i]);
    if (!i || nest->stage[i] != nest->stage[i - 1]) TSR_TRY(tsr_spec_builder_stage(builder));
    TSR_TRY(tsr_spec_builder_axis(builder, &ref));
  }
  return NULL;
}

static tsr_status write_cyclic(const placements_reader *r, int axis, int64_t block,
                               tsr_spec_builder *builder) {
  const tsr_axis_ref ref = {tsr_mesh_axis_at(r->mesh, axis)->name, 1, 0};
  TSR_TRY(tsr_spec_builder_stage(builder));
  TSR_TRY(tsr_spec_builder_axis(builder, &ref));
  tsr_stage *stage = tsr_spec_builder_last_stage(builder);
  stage->kind = TSR_STAGE_CYCLIC;
  stage->block = block;
  return NULL;
}

static tsr_status write_dim(const placements_reader *r, int dim, tsr_spec_builder *builder) {
  const tsr_torch_cuts *cuts = &r->dims[dim];
  TSR_TRY(tsr_spec_builder_dim(builder));
  const int64_t block = is_strided(cuts) ? cyclic_block(r, dim) : 0;
  if (block) return write_cyclic(r, cuts->at[0].axis, block, builder);
  tsr_nest nest = {0};
  TSR_TRY(choose_nest(r, dim, &nest));
  return write_nest(r->mesh, &nest, builder);
}

static tsr_status write_spec(const placements_reader *r, tsr_spec_builder *builder) {
  for (int dim = 0; dim < r->rank; dim++) TSR_TRY(write_dim(r, dim, builder));
  for (int i = 0; i < r->unreduced_count; i++) {
    const tsr_axis_ref ref = {tsr_mesh_axis_at(r->mesh, r->unreduced[i])->name, 1, 0};
    TSR_TRY(tsr_spec_builder_member(builder, TSR_SET_UNREDUCED, &ref));
  }
  builder->reduction = r->reduction;
  return NULL;
}

tsr_status tsr_placements_to_spec(const tsr_placements *placements, const tsr_mesh *mesh, int rank,
                                  const tsr_shape *shape, tsr_spec **out_spec) {
  placements_reader r = {.mesh = mesh, .rank = rank, .shape = shape};
  TSR_TRY(check_rank(rank, shape));
  TSR_TRY(read_placements(&r, placements));
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = write_spec(&r, &builder);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

// ---- from a sharding ----

static bool is_whole(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis) {
  return sub_axis->pre == 1 && sub_axis->size == tsr_mesh_axis_at(mesh, sub_axis->axis)->size;
}

static tsr_status fail_sub_axis(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis) {
  return tsr_fail(NOT_EXPRESSIBLE, "a sub-axis of \"%s\"; placements have whole axes only",
                  tsr_mesh_axis_at(mesh, sub_axis->axis)->name);
}

static bool is_cyclic(const tsr_sharding_dim *dim) {
  return dim->stage_count == 1 && dim->stages[0].kind == TSR_STAGE_CYCLIC &&
         dim->stages[0].axis_count == 1 && dim->stages[0].shards > 1;
}

// The even stages of a dimension, as sub-axes.
static tsr_status read_nest(const tsr_sharding *sharding, int dim, tsr_nest *nest) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  const tsr_sharding_dim *at = tsr_sharding_dim_at(sharding, dim);
  nest->count = 0;
  for (int s = 0; s < at->stage_count; s++) {
    const tsr_bound_stage *stage = &at->stages[s];
    if (stage->kind != TSR_STAGE_EVEN && stage->shards > 1)
      return tsr_fail(NOT_EXPRESSIBLE, "dimension %d is not cut evenly; PyTorch has even cuts only",
                      dim);
    for (int i = 0; i < stage->axis_count; i++) {
      if (!is_whole(mesh, &stage->axes[i])) return fail_sub_axis(mesh, &stage->axes[i]);
      nest->stage[nest->count] = s;
      nest->sub_axes[nest->count++] = stage->axes[i];
    }
  }
  return NULL;
}

// The split factor of a sub-axis: the pieces above it of axes later in the mesh.
static int64_t factor_of(const tsr_nest *nest, int at) {
  int64_t factor = 1;
  for (int i = 0; i < at && nest->sub_axes[at].size > 1; i++)
    if (nest->sub_axes[i].axis > nest->sub_axes[at].axis) factor *= nest->sub_axes[i].size;
  return factor;
}

// Stages of one axis each are PyTorch's own rule in any order, which the factors give.
static bool holds_for_every_size(const tsr_nest *nest) {
  int last_stage = -1;
  for (int i = 0; i < nest->count; i++) {
    if (nest->sub_axes[i].size == 1) continue;
    if (nest->stage[i] == last_stage) return false;
    last_stage = nest->stage[i];
  }
  return true;
}

static tsr_status check_nest(const tsr_mesh *mesh, int dim, const tsr_shape *shape,
                             const tsr_nest *nest) {
  if (holds_for_every_size(nest)) return NULL;
  if (!shape)
    return tsr_fail(NOT_EXPRESSIBLE,
                    "dimension %d: PyTorch cuts axis by axis, which agrees only for some "
                    "sizes, and no size is given",
                    dim);
  tsr_nest order = *nest;
  for (int i = 0; i < order.count; i++) order.stage[i] = i;
  return tsr_nest_compare(&order, nest, mesh, dim, shape->dims[dim]);
}

static tsr_status place_shard(tsr_placements *out, int axis, int dim, int64_t factor) {
  if (factor > INT32_MAX) return tsr_fail(TOO_LARGE, "a split factor of %lld", (long long)factor);
  out->items[axis] =
      (tsr_placement){.kind = factor > 1 ? TSR_PLACEMENT_STRIDED_SHARD : TSR_PLACEMENT_SHARD,
                      .dim = dim,
                      .split_factor = factor > 1 ? factor : 0};
  return NULL;
}

static tsr_status place_even(const tsr_sharding *sharding, int dim, const tsr_shape *shape,
                             tsr_placements *out) {
  tsr_nest nest;
  TSR_TRY(read_nest(sharding, dim, &nest));
  TSR_TRY(check_nest(tsr_sharding_mesh(sharding), dim, shape, &nest));
  for (int i = 0; i < nest.count; i++)
    TSR_TRY(place_shard(out, nest.sub_axes[i].axis, dim, factor_of(&nest, i)));
  return NULL;
}

// A cyclic cut with equally many blocks per shard is a strided shard.
static tsr_status place_cyclic(const tsr_sharding *sharding, int dim, const tsr_shape *shape,
                               tsr_placements *out) {
  const tsr_bound_stage *stage = &tsr_sharding_dim_at(sharding, dim)->stages[0];
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  if (!is_whole(mesh, &stage->axes[0])) return fail_sub_axis(mesh, &stage->axes[0]);
  int64_t round = 0;
  const bool overflow = __builtin_mul_overflow(stage->shards, stage->cut->block, &round);
  if (!shape || overflow || shape->dims[dim] % round || !shape->dims[dim])
    return tsr_fail(NOT_EXPRESSIBLE,
                    "dimension %d: a cyclic cut is a strided shard only if its blocks divide "
                    "the size",
                    dim);
  return place_shard(out, stage->axes[0].axis, dim, shape->dims[dim] / round);
}

static tsr_status place_unreduced(const tsr_sharding *sharding, tsr_placements *out) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  int count = 0;
  const tsr_sub_axis *sub_axes = tsr_sharding_unreduced(sharding, &count);
  for (int i = 0; i < count; i++) {
    if (!is_whole(mesh, &sub_axes[i])) return fail_sub_axis(mesh, &sub_axes[i]);
    out->items[sub_axes[i].axis] =
        (tsr_placement){.kind = TSR_PLACEMENT_PARTIAL,
                        .reduction = tsr_spec_desc_of(tsr_sharding_spec(sharding))->reduction};
  }
  return NULL;
}

tsr_status tsr_placements_from_sharding(const tsr_sharding *sharding, int rank,
                                        const tsr_shape *shape, tsr_placements *out_placements) {
  tsr_placements placements = {.count = tsr_mesh_axis_count(tsr_sharding_mesh(sharding))};
  TSR_TRY(check_rank(rank, shape));
  if (rank < tsr_sharding_dim_count(sharding))
    return tsr_fail(RANK_TOO_SMALL, "the spec has %d dimensions, the tensor %d",
                    tsr_sharding_dim_count(sharding), rank);
  for (int dim = 0; dim < rank; dim++) {
    const bool cyclic = is_cyclic(tsr_sharding_dim_at(sharding, dim));
    TSR_TRY(cyclic ? place_cyclic(sharding, dim, shape, &placements)
                   : place_even(sharding, dim, shape, &placements));
  }
  TSR_TRY(place_unreduced(sharding, &placements));
  *out_placements = placements;
  return NULL;
}
