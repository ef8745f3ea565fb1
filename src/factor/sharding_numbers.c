// Shardings out of attributes and back, and what can be asked of axes and their parts.
#include <string.h>

#include "base/arithmetic.h"
#include "factor/shardings.h"
#include "verify/sdy_checks.h"

// ---- parts of axes ----

static bool copy_parts(tsr_arena *arena, tsr_sdy_parts *parts) {
  tsr_sdy_part *items = tsr_arena_alloc(arena, sizeof *items * (size_t)parts->count);
  if (!items) return false;
  if (parts->count) memcpy(items, parts->items, sizeof *items * (size_t)parts->count);
  parts->items = items;
  return true;
}

bool tsr_part_contains(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  return a->axis == b->axis && a->pre <= b->pre && tsr_sdy_end(a) >= tsr_sdy_end(b);
}

bool tsr_part_is_prefix(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  return a->pre == b->pre && tsr_part_contains(b, a);
}

tsr_sdy_part tsr_part_of(const tsr_attr *mesh, int axis, int64_t pre, int64_t size) {
  const bool whole = pre == 1 && size == tsr_sdy_axis_size(mesh, axis);
  return (tsr_sdy_part){.axis = axis, .whole = whole, .pre = pre, .size = size};
}

bool tsr_part_can_coexist(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  if (a->axis != b->axis || a->whole || b->whole) return true;
  const int64_t ends[2] = {tsr_sdy_end(a), tsr_sdy_end(b)};
  const int64_t pre = tsr_least(a->pre, b->pre), next_pre = a->pre + b->pre - pre;
  const int64_t end = tsr_least(ends[0], ends[1]), last_end = ends[0] == end ? ends[1] : ends[0];
  if (end <= next_pre) return next_pre % end == 0;
  return end % next_pre == 0 && next_pre % pre == 0 && last_end % end == 0;
}

static bool cut_by(const tsr_attr *mesh, tsr_sdy_part *part, const tsr_sdy_part *other) {
  if (!tsr_part_can_coexist(part, other)) return false;
  if (!tsr_sdy_overlap(part, other)) return true;
  if (part->pre >= other->pre) return false;
  *part = tsr_part_of(mesh, part->axis, part->pre, other->pre / part->pre);
  return true;
}

bool tsr_part_cut(const tsr_attr *mesh, tsr_sdy_part *part, const tsr_sdy_parts *others) {
  for (int64_t i = 0; i < others->count; i++)
    if (!cut_by(mesh, part, &others->items[i])) return false;
  return true;
}

bool tsr_part_follow(const tsr_attr *mesh, tsr_sdy_part *part, const tsr_sdy_part *other) {
  if (!tsr_part_can_coexist(part, other)) return false;
  if (!tsr_sdy_overlap(part, other)) return true;
  const int64_t end = tsr_sdy_end(part), from = tsr_sdy_end(other);
  if (end <= from) return false;
  *part = tsr_part_of(mesh, part->axis, from, end / from);
  return true;
}

// The one of sorted parts that overlaps first; NULL if none does.
static const tsr_sdy_part *first_overlap(const tsr_sdy_parts *sorted, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < sorted->count; i++)
    if (tsr_sdy_overlap(&sorted->items[i], part)) return &sorted->items[i];
  return NULL;
}

bool tsr_parts_minus(tsr_arena *arena, const tsr_attr *mesh, const tsr_sdy_parts *axes,
                     const tsr_sdy_parts *others, tsr_sdy_parts *out_rest) {
  tsr_sdy_parts sorted = *others, rest = {NULL, 0};
  size_t most = (size_t)axes->count + 1;  // each part that is taken out leaves one more
  for (int64_t i = 0; i < axes->count; i++)
    for (int64_t k = 0; k < others->count; k++)
      most += tsr_sdy_overlap(&axes->items[i], &others->items[k]);
  if (!copy_parts(arena, &sorted)) return false;
  rest.items = tsr_arena_alloc(arena, most * sizeof *rest.items);
  if (!rest.items) return false;
  tsr_sdy_parts_sort(&sorted);
  for (int64_t i = 0; i < axes->count; i++) {
    tsr_sdy_part left = axes->items[i];
    const tsr_sdy_part *taken = NULL;
    while ((taken = first_overlap(&sorted, &left))) {
      tsr_sdy_part front = left;
      if (cut_by(mesh, &front, taken)) rest.items[rest.count++] = front;
      if (!tsr_part_follow(mesh, &left, taken)) break;
    }
    if (!taken) rest.items[rest.count++] = left;
  }
  *out_rest = rest;
  return true;
}

bool tsr_parts_overlap(const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  for (int64_t i = 0; i < a->count; i++)
    if (first_overlap(b, &a->items[i])) return true;
  return false;
}

int64_t tsr_parts_size(const tsr_sdy_parts *parts) {
  int64_t size = 1;
  for (int64_t i = 0; i < parts->count; i++)
    if (__builtin_mul_overflow(size, parts->items[i].size, &size)) return INT64_MAX;
  return size;
}

tsr_prefix tsr_parts_prefix(const tsr_sdy_parts *first, const tsr_sdy_parts *second) {
  if (!first->count) return second->count ? TSR_PREFIX_STRICT : TSR_PREFIX_EQUAL;
  if (first->count > second->count) return TSR_PREFIX_NOT;
  const int64_t last = first->count - 1;
  for (int64_t i = 0; i < last; i++)
    if (!tsr_sdy_same(&first->items[i], &second->items[i])) return TSR_PREFIX_NOT;
  const bool same = tsr_sdy_same(&first->items[last], &second->items[last]);
  if (same && first->count == second->count) return TSR_PREFIX_EQUAL;
  return tsr_part_is_prefix(&first->items[last], &second->items[last]) ? TSR_PREFIX_STRICT
                                                                       : TSR_PREFIX_NOT;
}

// ---- reading ----

static tsr_status read_dim(tsr_arena *arena, const tsr_attr *mesh, const tsr_attr *attr,
                           tsr_dim_sharding *out_dim) {
  const tsr_attr *priority = tsr_attr_field(attr, TSR_SDY_DIM_PRIORITY);
  out_dim->closed = tsr_attr_field(attr, TSR_SDY_DIM_CLOSED)->integer != 0;
  out_dim->priority = priority ? priority->integer : -1;
  return tsr_sdy_parts_make(arena, mesh, tsr_attr_field(attr, TSR_SDY_DIM_AXES), &out_dim->axes);
}

tsr_status tsr_sharding_read(tsr_arena *arena, const tsr_attr *mesh, const tsr_attr *attr,
                             tsr_tensor_sharding **out_sharding) {
  const tsr_attr *list = tsr_attr_field(attr, TSR_SDY_SHARDING_DIMS);
  tsr_tensor_sharding *sharding = tsr_arena_zeros(arena, 1, sizeof *sharding);
  tsr_dim_sharding *dims = tsr_arena_zeros(arena, (size_t)list->count, sizeof *dims);
  TSR_NEED(sharding && dims);
  for (int64_t i = 0; i < list->count; i++)
    TSR_TRY(read_dim(arena, mesh, list->items[i], &dims[i]));
  *sharding = (tsr_tensor_sharding){
      .mesh_ref = tsr_attr_field(attr, TSR_SDY_SHARDING_MESH),
      .mesh = mesh,
      .rank = (int)list->count,
      .dims = dims,
      .reduction = (int)tsr_attr_field(attr, TSR_SDY_SHARDING_REDUCTION)->integer};
  TSR_TRY(tsr_sdy_parts_make(arena, mesh, tsr_attr_field(attr, TSR_SDY_SHARDING_REPLICATED),
                             &sharding->replicated));
  TSR_TRY(tsr_sdy_parts_make(arena, mesh, tsr_attr_field(attr, TSR_SDY_SHARDING_UNREDUCED),
                             &sharding->unreduced));
  *out_sharding = sharding;
  return NULL;
}

// ---- writing ----

static const tsr_attr *part_attr(tsr_ir *ir, const tsr_attr *mesh, const tsr_sdy_part *part) {
  const tsr_attr *axis = tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->items[part->axis];
  const tsr_attr *fields[] = {tsr_attr_field(axis, TSR_SDY_MESH_AXIS_NAME), NULL};
  if (!part->whole) {
    const tsr_attr *sizes[] = {tsr_attr_i64(ir, part->pre), tsr_attr_i64(ir, part->size)};
    if (!sizes[0] || !sizes[1]) return NULL;
    fields[TSR_SDY_AXIS_SUB_AXIS] = tsr_attr_record(ir, TSR_RECORD_SDY_SUB_AXIS, sizes);
    if (!fields[TSR_SDY_AXIS_SUB_AXIS]) return NULL;
  }
  return tsr_attr_record(ir, TSR_RECORD_SDY_AXIS, fields);
}

enum { FEW = 16 };

const tsr_attr *tsr_parts_attr(tsr_ir *ir, const tsr_attr *mesh, const tsr_sdy_parts *parts) {
  const tsr_attr *few[FEW], **items = few;
  if (parts->count > FEW) items = tsr_ir_alloc(ir, sizeof *items * (size_t)parts->count);
  if (!items) return NULL;
  for (int64_t i = 0; i < parts->count; i++) {
    items[i] = part_attr(ir, mesh, &parts->items[i]);
    if (!items[i]) return NULL;
  }
  return tsr_attr_array(ir, items, parts->count);
}

static const tsr_attr *dim_attr(tsr_ir *ir, const tsr_attr *mesh, const tsr_dim_sharding *dim) {
  const tsr_attr *fields[] = {tsr_parts_attr(ir, mesh, &dim->axes), tsr_attr_bool(ir, dim->closed),
                              NULL};
  if (dim->priority >= 0) {
    fields[TSR_SDY_DIM_PRIORITY] = tsr_attr_i64(ir, dim->priority);
    if (!fields[TSR_SDY_DIM_PRIORITY]) return NULL;
  }
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_DIM, fields) : NULL;
}

const tsr_attr *tsr_sharding_attr(tsr_ir *ir, const tsr_tensor_sharding *sharding) {
  const tsr_attr *few[FEW], **dims = few;
  if (sharding->rank > FEW) dims = tsr_ir_alloc(ir, sizeof *dims * (size_t)sharding->rank);
  if (!dims) return NULL;
  for (int i = 0; i < sharding->rank; i++) {
    dims[i] = dim_attr(ir, sharding->mesh, &sharding->dims[i]);
    if (!dims[i]) return NULL;
  }
  const tsr_attr *fields[] = {sharding->mesh_ref, tsr_attr_array(ir, dims, sharding->rank),
                              tsr_parts_attr(ir, sharding->mesh, &sharding->replicated),
                              tsr_parts_attr(ir, sharding->mesh, &sharding->unreduced),
                              tsr_attr_enum(ir, TSR_ENUM_SDY_REDUCTION, sharding->reduction)};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!fields[i]) return NULL;
  return tsr_attr_record(ir, TSR_RECORD_SDY_SHARDING, fields);
}

// ---- making and comparing ----

tsr_tensor_sharding *tsr_sharding_empty(tsr_arena *arena, const tsr_attr *mesh_ref,
                                        const tsr_attr *mesh, int rank, bool closed) {
  tsr_tensor_sharding *sharding = tsr_arena_zeros(arena, 1, sizeof *sharding);
  tsr_dim_sharding *dims = tsr_arena_zeros(arena, (size_t)rank, sizeof *dims);
  if (!sharding || !dims) return NULL;
  for (int i = 0; i < rank; i++) {
    dims[i].closed = closed;
    dims[i].priority = -1;
  }
  *sharding = (tsr_tensor_sharding){.mesh_ref = mesh_ref, .mesh = mesh, .rank = rank, .dims = dims};
  return sharding;
}

tsr_tensor_sharding *tsr_sharding_copy(tsr_arena *arena, const tsr_tensor_sharding *sharding) {
  tsr_tensor_sharding *copy = tsr_arena_alloc(arena, sizeof *copy);
  tsr_dim_sharding *dims = tsr_arena_alloc(arena, sizeof *dims * (size_t)sharding->rank);
  if (!copy || !dims) return NULL;
  *copy = *sharding;
  copy->dims = dims;
  for (int i = 0; i < sharding->rank; i++) {
    dims[i] = sharding->dims[i];
    if (!copy_parts(arena, &dims[i].axes)) return NULL;
  }
  return copy_parts(arena, &copy->replicated) && copy_parts(arena, &copy->unreduced) ? copy : NULL;
}

static bool same_dim(const tsr_dim_sharding *a, const tsr_dim_sharding *b) {
  return a->closed == b->closed && a->priority == b->priority &&
         tsr_sdy_parts_equal(&a->axes, &b->axes);
}

bool tsr_tensor_sharding_equal(const tsr_tensor_sharding *a, const tsr_tensor_sharding *b) {
  if (a == b) return true;
  if (a->rank != b->rank || a->reduction != b->reduction ||
      !tsr_attr_equal(a->mesh_ref, b->mesh_ref))
    return false;
  for (int i = 0; i < a->rank; i++)
    if (!same_dim(&a->dims[i], &b->dims[i])) return false;
  return tsr_sdy_parts_equal(&a->replicated, &b->replicated) &&
         tsr_sdy_parts_equal(&a->unreduced, &b->unreduced);
}

bool tsr_sharding_has_axes(const tsr_tensor_sharding *sharding) {
  for (int i = 0; i < sharding->rank; i++)
    if (sharding->dims[i].axes.count) return true;
  return sharding->replicated.count || sharding->unreduced.count;
}

// ---- meshes ----

bool tsr_sdy_mesh_equal(const tsr_attr *a, const tsr_attr *b, bool ignore_device_ids) {
  if (a == b) return true;
  if (!ignore_device_ids) return tsr_attr_equal(a, b);
  return tsr_sdy_is_maximal(a) == tsr_sdy_is_maximal(b) &&
         tsr_attr_equal(tsr_attr_field(a, TSR_SDY_MESH_AXES), tsr_attr_field(b, TSR_SDY_MESH_AXES));
}

static bool in_plain_order(const tsr_attr *mesh) {
  return !tsr_attr_int_count(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS));
}

const tsr_tensor_sharding *tsr_common_mesh(const tsr_tensor_sharding *const *shardings, int count,
                                           bool ignore_device_ids) {
  const tsr_tensor_sharding *common = NULL;
  for (int i = 0; i < count; i++) {
    const tsr_tensor_sharding *one = shardings[i];
    if (!one) continue;
    if (!common || tsr_sdy_is_empty(common->mesh)) {
      common = one;
      continue;
    }
    if (tsr_sdy_is_empty(one->mesh)) continue;
    if (!tsr_sdy_mesh_equal(common->mesh, one->mesh, ignore_device_ids)) return NULL;
    if (ignore_device_ids && in_plain_order(one->mesh)) common = one;
  }
  return common;
}
