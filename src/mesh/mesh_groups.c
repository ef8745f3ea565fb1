// Groups of devices along axes. A position is a number in a mixed radix, and an axis one of its
// digits: a group starts where its digits are 0 and counts through them.
#include <stdlib.h>

#include "base/room.h"
#include "mesh/mesh.h"
#include "tessera/engine/mesh.h"

tsr_status tsr_mesh_find_axes(const tsr_mesh *mesh, const char *const *names, int name_count,
                              int *out_axes) {
  bool used[TSR_MAX_AXES] = {false};
  TSR_TRY(tsr_list_check(names, name_count, "axes"));
  for (int i = 0; i < name_count; i++) {
    int axis = 0;
    TSR_TRY(tsr_mesh_need_axis(mesh, names[i], &axis));
    if (used[axis]) return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" is given twice", names[i]);
    used[axis] = true;
    out_axes[i] = axis;
  }
  return NULL;
}

static bool starts_group(int64_t position, const int64_t *strides, const int64_t *sizes,
                         int count) {
  for (int i = 0; i < count; i++)
    if (position / strides[i] % sizes[i]) return false;
  return true;
}

// The distance of member `index` from the first of its group.
static int64_t member_offset(int64_t index, const int64_t *strides, const int64_t *sizes,
                             int count) {
  int64_t offset = 0;
  for (int i = count; i-- > 0; index /= sizes[i]) offset += index % sizes[i] * strides[i];
  return offset;
}

tsr_status tsr_mesh_digit_groups(const tsr_mesh *mesh, const int64_t *strides, const int64_t *sizes,
                                 int digit_count, tsr_groups *out_groups) {
  const int64_t devices = tsr_mesh_device_count(mesh);
  int64_t size = 1;
  for (int i = 0; i < digit_count; i++) size *= sizes[i];
  int64_t *members = malloc(sizeof *members * (size_t)devices);
  int64_t *offsets = malloc(sizeof *offsets * (size_t)size);
  if (!members || !offsets) {
    free(members);
    free(offsets);
    return tsr_fail(NO_MEMORY, "groups of %lld devices", (long long)devices);
  }
  for (int64_t i = 0; i < size; i++) offsets[i] = member_offset(i, strides, sizes, digit_count);
  int64_t filled = 0;
  for (int64_t first = 0; first < devices; first++) {
    if (!starts_group(first, strides, sizes, digit_count)) continue;
    for (int64_t i = 0; i < size; i++)
      members[filled++] = tsr_mesh_device_at(mesh, first + offsets[i]);
  }
  free(offsets);
  *out_groups = (tsr_groups){.count = devices / size, .size = size, .members = members};
  return NULL;
}

tsr_status tsr_mesh_groups(const tsr_mesh *mesh, const char *const *axes, int axis_count,
                           tsr_groups *out_groups) {
  int numbers[TSR_MAX_AXES];
  int64_t strides[TSR_MAX_AXES], sizes[TSR_MAX_AXES];
  TSR_TRY(tsr_mesh_find_axes(mesh, axes, axis_count, numbers));
  for (int i = 0; i < axis_count; i++) {
    strides[i] = tsr_mesh_stride(mesh, numbers[i]);
    sizes[i] = tsr_mesh_axis_at(mesh, numbers[i])->size;
  }
  return tsr_mesh_digit_groups(mesh, strides, sizes, axis_count, out_groups);
}
