// Elements arrive in order, so each list is flat: a dimension owns the next `stage_count` stages, a
// stage the next `axis_count` axes. Pointers between them are set at the end, when the lists no
// longer move.
#include "spec/spec_builder.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static tsr_status append(tsr_spec_list *list, const void *item, size_t item_size) {
  if (list->count == INT_MAX) return tsr_fail(TOO_LARGE, "the spec is too large");
  void *items = tsr_grow(list->items, list->count, &list->capacity, item_size);
  if (!items) return tsr_fail(NO_MEMORY, "a spec of %d elements", list->count);
  list->items = items;
  memcpy((char *)list->items + (size_t)list->count++ * item_size, item, item_size);
  return NULL;
}

tsr_spec_dim *tsr_spec_builder_last_dim(tsr_spec_builder *builder) {
  assert(builder->dims.count > 0);
  return (tsr_spec_dim *)builder->dims.items + builder->dims.count - 1;
}

tsr_stage *tsr_spec_builder_last_stage(tsr_spec_builder *builder) {
  assert(builder->stages.count > 0);
  return (tsr_stage *)builder->stages.items + builder->stages.count - 1;
}

tsr_status tsr_spec_builder_dim(tsr_spec_builder *builder) {
  const tsr_spec_dim dim = {0};
  return append(&builder->dims, &dim, sizeof dim);
}

tsr_status tsr_spec_builder_stage(tsr_spec_builder *builder) {
  const tsr_stage stage = {.kind = TSR_STAGE_EVEN};
  TSR_TRY(append(&builder->stages, &stage, sizeof stage));
  tsr_spec_builder_last_dim(builder)->stage_count++;
  return NULL;
}

tsr_status tsr_spec_builder_axis(tsr_spec_builder *builder, const tsr_axis_ref *ref) {
  TSR_TRY(append(&builder->axes, ref, sizeof *ref));
  tsr_spec_builder_last_stage(builder)->axis_count++;
  return NULL;
}

tsr_status tsr_spec_builder_size(tsr_spec_builder *builder, int64_t size) {
  TSR_TRY(append(&builder->sizes, &size, sizeof size));
  tsr_spec_builder_last_stage(builder)->count++;
  return NULL;
}

tsr_status tsr_spec_builder_part(tsr_spec_builder *builder, const tsr_part *part) {
  TSR_TRY(append(&builder->parts, part, sizeof *part));
  tsr_spec_builder_last_stage(builder)->count++;
  return NULL;
}

tsr_status tsr_spec_builder_copy_cut(tsr_spec_builder *builder, const tsr_stage *stage) {
  tsr_stage *last = tsr_spec_builder_last_stage(builder);
  last->kind = stage->kind;
  if (stage->kind == TSR_STAGE_CYCLIC) last->block = stage->block;
  for (int64_t i = 0; stage->kind == TSR_STAGE_SIZES && i < stage->count; i++)
    TSR_TRY(tsr_spec_builder_size(builder, stage->sizes[i]));
  for (int64_t i = 0; stage->kind == TSR_STAGE_PARTS && i < stage->count; i++)
    TSR_TRY(tsr_spec_builder_part(builder, &stage->parts[i]));
  return NULL;
}

tsr_status tsr_spec_builder_copy_stage(tsr_spec_builder *builder, const tsr_stage *stage) {
  TSR_TRY(tsr_spec_builder_stage(builder));
  for (int i = 0; i < stage->axis_count; i++)
    TSR_TRY(tsr_spec_builder_axis(builder, &stage->axes[i]));
  return tsr_spec_builder_copy_cut(builder, stage);
}

tsr_status tsr_spec_builder_member(tsr_spec_builder *builder, tsr_spec_set set,
                                   const tsr_axis_ref *ref) {
  return append(&builder->sets[set], ref, sizeof *ref);
}

tsr_status tsr_spec_builder_name(tsr_spec_builder *builder, const char *bytes, size_t length,
                                 const char **out_name) {
  const char *copy = tsr_arena_copy(&builder->names, bytes, length);
  if (!copy) return tsr_fail(NO_MEMORY, "a name of %zu bytes", length);
  *out_name = copy;
  return NULL;
}

// Where the next stage's axes, sizes and parts start.
typedef struct link_cursor {
  int axis;
  int64_t size, part;
} link_cursor;

static void link_stage(const tsr_spec_builder *builder, tsr_stage *stage, link_cursor *at) {
  stage->axes = stage->axis_count ? (tsr_axis_ref *)builder->axes.items + at->axis : NULL;
  at->axis += stage->axis_count;
  if (stage->kind == TSR_STAGE_SIZES) {
    stage->sizes = stage->count ? (int64_t *)builder->sizes.items + at->size : NULL;
    at->size += stage->count;
  } else if (stage->kind == TSR_STAGE_PARTS) {
    stage->parts = stage->count ? (tsr_part *)builder->parts.items + at->part : NULL;
    at->part += stage->count;
  }
}

tsr_status tsr_spec_builder_finish(tsr_spec_builder *builder, tsr_spec **out_spec) {
  tsr_spec_dim *dims = builder->dims.items;
  tsr_stage *stages = builder->stages.items;
  link_cursor at = {0};
  for (int i = 0; i < builder->stages.count; i++) link_stage(builder, &stages[i], &at);
  for (int i = 0, stage = 0; i < builder->dims.count; i++) {
    dims[i].stages = dims[i].stage_count ? stages + stage : NULL;
    stage += dims[i].stage_count;
  }
  const tsr_spec_list *sets = builder->sets;
  return tsr_spec_create(&(tsr_spec_desc){.size = sizeof(tsr_spec_desc),
                                          .dim_count = builder->dims.count,
                                          .dims = dims,
                                          .unreduced_count = sets[TSR_SET_UNREDUCED].count,
                                          .unreduced = sets[TSR_SET_UNREDUCED].items,
                                          .reduced_count = sets[TSR_SET_REDUCED].count,
                                          .reduced = sets[TSR_SET_REDUCED].items,
                                          .replicated_count = sets[TSR_SET_REPLICATED].count,
                                          .replicated = sets[TSR_SET_REPLICATED].items,
                                          .reduction = builder->reduction,
                                          .mesh_name = builder->mesh_name},
                         out_spec);
}

void tsr_spec_builder_deinit(tsr_spec_builder *builder) {
  free(builder->dims.items);
  free(builder->stages.items);
  free(builder->axes.items);
  free(builder->sizes.items);
  free(builder->parts.items);
  for (int set = 0; set < TSR_SET_COUNT; set++) free(builder->sets[set].items);
  tsr_arena_deinit(&builder->names);
  *builder = (tsr_spec_builder)TSR_SPEC_BUILDER_EMPTY;
}
