// Normal form: drops stages of one shard and sub-axes of one member, and joins neighbours that
// continue each other.
//
// Two even stages in a row are *not* one: cutting 10 rows in 2 and then in 4 gives chunks of 2, 2,
// 1 and 0 rows, cutting them in 8 gives five chunks of 2. Two cyclic stages with the same block are
// one: dealing blocks to a players, and each player's blocks to b, deals them to a * b players,
// with b as the major number.
#include "spec/normal.h"

#include <assert.h>
#include <string.h>

#include "spec/sharding.h"
#include "spec/sharding_internal.h"
#include "spec/spec_builder.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

int tsr_sub_axes_join(tsr_sub_axis *sub_axes, int count) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (sub_axes[i].size == 1) continue;
    if (kept && tsr_sub_axis_continues(&sub_axes[kept - 1], &sub_axes[i]))
      sub_axes[kept - 1] = tsr_sub_axis_join(&sub_axes[kept - 1], &sub_axes[i]);
    else
      sub_axes[kept++] = sub_axes[i];
  }
  return kept;
}

static bool comes_before(const tsr_sub_axis *a, const tsr_sub_axis *b) {
  return a->axis != b->axis ? a->axis < b->axis : a->pre < b->pre;
}

int tsr_sub_axes_normal_set(const tsr_sub_axis *sub_axes, int count, tsr_sub_axis *out_axes) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (sub_axes[i].size == 1) continue;
    assert(kept < TSR_MAX_SUB_AXES);
    int place = kept++;
    for (; place && comes_before(&sub_axes[i], &out_axes[place - 1]); place--)
      out_axes[place] = out_axes[place - 1];
    out_axes[place] = sub_axes[i];
  }
  return tsr_sub_axes_join(out_axes, kept);
}

// ---- a dimension ----

static void add_stage(tsr_normal_dim *normal, const tsr_bound_stage *stage) {
  tsr_normal_stage *added = &normal->stages[normal->stage_count++];
  *added = (tsr_normal_stage){.cut = stage->cut, .first = normal->sub_axis_count};
  for (int i = 0; i < stage->axis_count; i++) {
    if (stage->axes[i].size == 1) continue;
    assert(normal->sub_axis_count < TSR_MAX_SUB_AXES);
    normal->sub_axes[normal->sub_axis_count++] = stage->axes[i];
  }
  added->count = normal->sub_axis_count - added->first;
}

// Whether the last two stages are cyclic with one block size.
static bool deals_twice(const tsr_normal_dim *normal) {
  if (normal->stage_count < 2) return false;
  const tsr_stage *last = normal->stages[normal->stage_count - 1].cut;
  const tsr_stage *previous = normal->stages[normal->stage_count - 2].cut;
  return last->kind == TSR_STAGE_CYCLIC && previous->kind == TSR_STAGE_CYCLIC &&
         last->block == previous->block;
}

// Moves the sub-axes of the last stage in front of those of the stage before, and joins both.
static void merge_last_stages(tsr_normal_dim *normal) {
  const tsr_normal_stage last = normal->stages[--normal->stage_count];
  tsr_normal_stage *previous = &normal->stages[normal->stage_count - 1];
  tsr_sub_axis moved[TSR_MAX_SUB_AXES];
  tsr_sub_axis *sub_axes = normal->sub_axes + previous->first;
  memcpy(moved, sub_axes, (size_t)previous->count * sizeof *moved);
  memmove(sub_axes, sub_axes + previous->count, (size_t)last.count * sizeof *sub_axes);
  memcpy(sub_axes + last.count, moved, (size_t)previous->count * sizeof *sub_axes);
  previous->count += last.count;
}

void tsr_normal_dim_init(tsr_normal_dim *normal, const tsr_sharding_dim *dim) {
  normal->stage_count = 0;
  normal->sub_axis_count = 0;
  for (int s = 0; s < dim->stage_count; s++) {
    if (dim->stages[s].shards == 1) continue;
    add_stage(normal, &dim->stages[s]);
    if (deals_twice(normal)) merge_last_stages(normal);
  }
  for (int s = 0; s < normal->stage_count; s++) {
    tsr_normal_stage *stage = &normal->stages[s];
    stage->count = tsr_sub_axes_join(normal->sub_axes + stage->first, stage->count);
  }
}

// ---- a sharding ----

static tsr_status build_dim(tsr_spec_builder *builder, const tsr_mesh *mesh,
                            const tsr_sharding_dim *dim) {
  tsr_normal_dim normal;
  tsr_normal_dim_init(&normal, dim);
  TSR_TRY(tsr_spec_builder_dim(builder));
  tsr_spec_builder_last_dim(builder)->open = dim->open;
  tsr_spec_builder_last_dim(builder)->has_priority = dim->has_priority;
  tsr_spec_builder_last_dim(builder)->priority = dim->priority;
  for (int s = 0; s < normal.stage_count; s++) {
    const tsr_normal_stage *stage = &normal.stages[s];
    TSR_TRY(tsr_spec_builder_stage(builder));
    for (int64_t i = 0; i < stage->count; i++) {
      const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, &normal.sub_axes[stage->first + i]);
      TSR_TRY(tsr_spec_builder_axis(builder, &ref));
    }
    TSR_TRY(tsr_spec_builder_copy_cut(builder, stage->cut));
  }
  return NULL;
}

static tsr_status build_set(tsr_spec_builder *builder, const tsr_mesh *mesh, tsr_spec_set set,
                            const tsr_sub_axis *sub_axes, int count) {
  tsr_sub_axis normal[TSR_MAX_SUB_AXES];
  const int kept = tsr_sub_axes_normal_set(sub_axes, count, normal);
  for (int i = 0; i < kept; i++) {
    const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, &normal[i]);
    TSR_TRY(tsr_spec_builder_member(builder, set, &ref));
  }
  return NULL;
}

static tsr_status build(tsr_spec_builder *builder, const tsr_sharding *sharding) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  const tsr_spec_desc *desc = tsr_spec_desc_of(tsr_sharding_spec(sharding));
  builder->reduction = desc->reduction;
  builder->mesh_name = desc->mesh_name;
  for (int d = 0; d < tsr_sharding_dim_count(sharding); d++)
    TSR_TRY(build_dim(builder, mesh, tsr_sharding_dim_at(sharding, d)));
  int count = 0;
  const tsr_sub_axis *sub_axes = tsr_sharding_unreduced(sharding, &count);
  TSR_TRY(build_set(builder, mesh, TSR_SET_UNREDUCED, sub_axes, count));
  sub_axes = tsr_sharding_reduced(sharding, &count);
  TSR_TRY(build_set(builder, mesh, TSR_SET_REDUCED, sub_axes, count));
  sub_axes = tsr_sharding_replicated(sharding, &count);
  return build_set(builder, mesh, TSR_SET_REPLICATED, sub_axes, count);
}

tsr_status tsr_sharding_normalise(const tsr_sharding *sharding, tsr_sharding **out_sharding) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_spec *spec = NULL;
  tsr_status status = build(&builder, sharding);
  if (!status) status = tsr_spec_builder_finish(&builder, &spec);
  if (!status) status = tsr_sharding_bind(tsr_sharding_mesh(sharding), spec, false, out_sharding);
  tsr_spec_release(spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}
