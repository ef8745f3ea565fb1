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

tsr_digit tsr_sub_axis_digit(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis) {
  const int64_t minor =
      tsr_mesh_axis_at(mesh, sub_axis->axis)->size / (sub_axis->pre * sub_axis->size);
  return (tsr_digit){tsr_mesh_stride(mesh, sub_axis->axis) * minor, sub_axis->size};
}

tsr_status tsr_sub_axis_bind(const tsr_mesh *mesh, int axis, const tsr_axis_ref *ref,
                             tsr_sub_axis *out_sub_axis) {
  const int64_t whole = tsr_mesh_axis_at(mesh, axis)->size;
  const int64_t size = ref->size ? ref->size : whole;
  if (ref->size && whole % (ref->pre * size) != 0)
    return tsr_fail(BAD_SUB_AXIS,
                    "sub-axis \"%s\":(%lld)%lld does not fit: %lld * %lld does not divide the "
                    "axis's size %lld",
                    ref->name, (long long)ref->pre, (long long)size, (long long)ref->pre,
                    (long long)size, (long long)whole);
  *out_sub_axis = (tsr_sub_axis){axis, ref->pre, size};
  return NULL;
}

tsr_axis_ref tsr_sub_axis_ref(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis) {
  const tsr_axis *axis = tsr_mesh_axis_at(mesh, sub_axis->axis);
  const bool whole = sub_axis->pre == 1 && sub_axis->size == axis->size;
  return (tsr_axis_ref){axis->name, sub_axis->pre, whole ? 0 : sub_axis->size};
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

static tsr_status check_sub_axis(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis) {
  const int axes = tsr_mesh_axis_count(mesh);
  if (sub_axis->axis < 0 || sub_axis->axis >= axes)
    return tsr_fail(BAD_SUB_AXIS, "a sub-axis of axis %d, but the mesh has %d axes", sub_axis->axis,
                    axes);
  const tsr_axis *axis = tsr_mesh_axis_at(mesh, sub_axis->axis);
  const bool sane = sub_axis->pre >= 1 && sub_axis->size >= 1 && sub_axis->pre <= axis->size &&
                    sub_axis->size <= axis->size / sub_axis->pre;
  if (!sane || axis->size % (sub_axis->pre * sub_axis->size) != 0)
    return tsr_fail(BAD_SUB_AXIS, "(%lld)%lld is not a sub-axis of \"%s\" of size %lld",
                    (long long)sub_axis->pre, (long long)sub_axis->size, axis->name,
                    (long long)axis->size);
  return NULL;
}

// Whether some digit belongs to both.
static bool overlap(const tsr_sub_axis *a, const tsr_sub_axis *b) {
  return a->axis == b->axis && a->size > 1 && b->size > 1 && a->pre < b->pre * b->size &&
         b->pre < a->pre * a->size;
}

tsr_status tsr_sub_axis_groups(const tsr_mesh *mesh, const tsr_sub_axis *sub_axes,
                               int sub_axis_count, tsr_groups *out_groups) {
  int64_t strides[TSR_MAX_SUB_AXES], sizes[TSR_MAX_SUB_AXES];
  int count = 0;
  for (int i = 0; i < sub_axis_count; i++) {
    TSR_TRY(check_sub_axis(mesh, &sub_axes[i]));
    for (int j = 0; j < i; j++)
      if (overlap(&sub_axes[i], &sub_axes[j]) ||
          !tsr_sub_axis_independent(&sub_axes[i], &sub_axes[j]))
        return tsr_fail(BAD_SUB_AXIS, "sub-axes (%lld)%lld and (%lld)%lld of axis \"%s\" overlap",
                        (long long)sub_axes[j].pre, (long long)sub_axes[j].size,
                        (long long)sub_axes[i].pre, (long long)sub_axes[i].size,
                        tsr_mesh_axis_at(mesh, sub_axes[i].axis)->name);
    if (sub_axes[i].size == 1) continue;
    const tsr_digit digit = tsr_sub_axis_digit(mesh, &sub_axes[i]);
    strides[count] = digit.stride;
    sizes[count++] = digit.size;
  }
  return tsr_mesh_digit_groups(mesh, strides, sizes, count, out_groups);
}
