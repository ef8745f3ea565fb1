// Sub-axes bound to a mesh: their digits, which of them continue each other, and the groups of
// devices along them.
#include "spec/sub_axis.h"

#include <assert.h>

#include "mesh/mesh.h"
#include "spec/normal.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

tsr_digit tsr_sub_axis_digit(const tsr_mesh *mesh, const tsr_sub_axis *part) {
  const int64_t minor = tsr_mesh_axis_at(mesh, part->axis)->size / (part->pre * part->size);
  return (tsr_digit){tsr_mesh_stride(mesh, part->axis) * minor, part->size};
}

tsr_status tsr_sub_axis_bind(const tsr_mesh *mesh, int axis, const tsr_axis_ref *ref,
                             tsr_sub_axis *out_part) {
  const int64_t whole = tsr_mesh_axis_at(mesh, axis)->size;
  const int64_t size = ref->size ? ref->size : whole;
  if (ref->size && whole % (ref->pre * size) != 0)
    return tsr_fail(BAD_SUB_AXIS,
                    "sub-axis \"%s\":(%lld)%lld does not fit: %lld * %lld does not divide the "
                    "axis's size %lld",
                    ref->name, (long long)ref->pre, (long long)size, (long long)ref->pre,
                    (long long)size, (long long)whole);
  *out_part = (tsr_sub_axis){axis, ref->pre, size};
  return NULL;
}

tsr_axis_ref tsr_sub_axis_ref(const tsr_mesh *mesh, const tsr_sub_axis *part) {
  const tsr_axis *axis = tsr_mesh_axis_at(mesh, part->axis);
  const bool whole = part->pre == 1 && part->size == axis->size;
  return (tsr_axis_ref){axis->name, part->pre, whole ? 0 : part->size};
}

bool tsr_sub_axis_equal(const tsr_sub_axis *a, const tsr_sub_axis *b) {
  return a->axis == b->axis && a->pre == b->pre && a->size == b->size;
}

bool tsr_sub_axis_continues(const tsr_sub_axis *major, const tsr_sub_axis *minor) {
  return major->axis == minor->axis && minor->pre == major->pre * major->size;
}

tsr_sub_axis tsr_sub_axis_join(const tsr_sub_axis *major, const tsr_sub_axis *minor) {
  assert(tsr_sub_axis_continues(major, minor));
  return (tsr_sub_axis){major->axis, major->pre, major->size * minor->size};
}

bool tsr_sub_axis_independent(const tsr_sub_axis *a, const tsr_sub_axis *b) {
  if (a->axis != b->axis || a->size == 1 || b->size == 1) return true;
  const tsr_sub_axis *major = a->pre < b->pre ? a : b, *minor = a->pre < b->pre ? b : a;
  return minor->pre % (major->pre * major->size) == 0;
}

static tsr_status check_part(const tsr_mesh *mesh, const tsr_sub_axis *part) {
  const int axes = tsr_mesh_axis_count(mesh);
  if (part->axis < 0 || part->axis >= axes)
    return tsr_fail(BAD_SUB_AXIS, "a sub-axis of axis %d, but the mesh has %d axes", part->axis,
                    axes);
  const tsr_axis *axis = tsr_mesh_axis_at(mesh, part->axis);
  const bool sane = part->pre >= 1 && part->size >= 1 && part->pre <= axis->size &&
                    part->size <= axis->size / part->pre;
  if (!sane || axis->size % (part->pre * part->size) != 0)
    return tsr_fail(BAD_SUB_AXIS, "(%lld)%lld is not a sub-axis of \"%s\" of size %lld",
                    (long long)part->pre, (long long)part->size, axis->name, (long long)axis->size);
  return NULL;
}

// Whether some digit belongs to both.
static bool overlap(const tsr_sub_axis *a, const tsr_sub_axis *b) {
  return a->axis == b->axis && a->size > 1 && b->size > 1 && a->pre < b->pre * b->size &&
         b->pre < a->pre * a->size;
}

tsr_status tsr_sub_axis_groups(const tsr_mesh *mesh, const tsr_sub_axis *parts, int part_count,
                               tsr_groups *out_groups) {
  int64_t strides[TSR_MAX_PARTS], sizes[TSR_MAX_PARTS];
  int count = 0;
  for (int i = 0; i < part_count; i++) {
    TSR_TRY(check_part(mesh, &parts[i]));
    for (int j = 0; j < i; j++)
      if (overlap(&parts[i], &parts[j]) || !tsr_sub_axis_independent(&parts[i], &parts[j]))
        return tsr_fail(BAD_SUB_AXIS, "sub-axes (%lld)%lld and (%lld)%lld of axis \"%s\" overlap",
                        (long long)parts[j].pre, (long long)parts[j].size, (long long)parts[i].pre,
                        (long long)parts[i].size, tsr_mesh_axis_at(mesh, parts[i].axis)->name);
    if (parts[i].size == 1) continue;
    const tsr_digit digit = tsr_sub_axis_digit(mesh, &parts[i]);
    strides[count] = digit.stride;
    sizes[count++] = digit.size;
  }
  return tsr_mesh_digit_groups(mesh, strides, sizes, count, out_groups);
}
