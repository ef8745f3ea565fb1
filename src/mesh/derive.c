// New meshes from old ones. Each is a view of the old mesh's devices, so slicing, transposing and
// the box of a process are one function with different strides. The current mesh of a thread is
// here too.
#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "base/scope.h"
#include "mesh/mesh_internal.h"
#include "mesh/nd.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/mesh.h"

tsr_status tsr_mesh_from_view(const tsr_topology *topology, const tsr_axis *axes, int axis_count,
                              const tsr_nd *view, const int64_t *source, tsr_mesh **out_mesh) {
  const int64_t count = tsr_nd_count(view);
  int64_t *ids = malloc(sizeof *ids * (size_t)count);
  if (!ids) return tsr_fail(NO_MEMORY, "mesh of %lld devices", (long long)count);
  tsr_nd_gather(view, source, ids);
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axes = axes,
                              .axis_count = axis_count,
                              .devices = ids,
                              .device_count = count,
                              .topology = topology};
  const tsr_status status = tsr_mesh_create(&desc, out_mesh);
  free(ids);
  return status;
}

static tsr_status create_abstract(const tsr_axis *axes, int axis_count, tsr_mesh **out_mesh) {
  const tsr_mesh_desc desc = {
      .size = sizeof desc, .axes = axes, .axis_count = axis_count, .abstract = true};
  return tsr_mesh_create(&desc, out_mesh);
}

// The mesh of `axes` over the devices of `mesh` in the order of `view`.
static tsr_status create_from_view(const tsr_mesh *mesh, const tsr_axis *axes, const tsr_nd *view,
                                   tsr_mesh **out_mesh) {
  if (tsr_mesh_is_abstract(mesh)) return create_abstract(axes, view->rank, out_mesh);
  return tsr_mesh_from_view(tsr_mesh_topology(mesh), axes, view->rank, view,
                            tsr_mesh_device_list(mesh), out_mesh);
}

// The same devices in the same order under other axes of the same total size.
static tsr_status create_renamed(const tsr_mesh *mesh, const tsr_axis *axes, int axis_count,
                                 tsr_mesh **out_mesh) {
  if (tsr_mesh_is_abstract(mesh)) return create_abstract(axes, axis_count, out_mesh);
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axes = axes,
                              .axis_count = axis_count,
                              .devices = tsr_mesh_device_list(mesh),
                              .device_count = tsr_mesh_device_count(mesh),
                              .topology = tsr_mesh_topology(mesh)};
  return tsr_mesh_create(&desc, out_mesh);
}

static int copy_axes(const tsr_mesh *mesh, int from, int to, tsr_axis *axes) {
  for (int i = from; i < to; i++) *axes++ = *tsr_mesh_axis_at(mesh, i);
  return to - from;
}

static tsr_nd whole(const tsr_mesh *mesh) {
  int64_t dims[TSR_MAX_AXES];
  const int rank = tsr_mesh_axis_count(mesh);
  for (int i = 0; i < rank; i++) dims[i] = tsr_mesh_axis_at(mesh, i)->size;
  return tsr_nd_rows(dims, rank);
}

// ---- the devices of one process ----

typedef struct process_box {
  int64_t low[TSR_MAX_AXES], high[TSR_MAX_AXES];  // both included
  int64_t members;
} process_box;

// One pass over all positions in row-major order, counting coordinates instead of dividing.
static process_box bounding_box(const tsr_mesh *mesh, int64_t process) {
  const int rank = tsr_mesh_axis_count(mesh);
  process_box found = {.members = 0};
  int64_t coords[TSR_MAX_AXES] = {0};
  for (int64_t position = 0; position < tsr_mesh_device_count(mesh); position++) {
    if (tsr_mesh_process(mesh, position) == process) {
      for (int i = 0; i < rank; i++) {
        if (!found.members || coords[i] < found.low[i]) found.low[i] = coords[i];
        if (!found.members || coords[i] > found.high[i]) found.high[i] = coords[i];
      }
      found.members++;
    }
    for (int i = rank - 1; i >= 0 && ++coords[i] == tsr_mesh_axis_at(mesh, i)->size; i--)
      coords[i] = 0;
  }
  return found;
}

tsr_status tsr_mesh_local_box(const tsr_mesh *mesh, int64_t process, int64_t *out_low,
                              int64_t *out_sizes) {
  const int rank = tsr_mesh_axis_count(mesh);
  const process_box found = bounding_box(mesh, process);
  if (!found.members)
    return tsr_fail(PROCESS_NOT_IN_MESH, "process %lld drives no device of the mesh",
                    (long long)process);
  int64_t volume = 1;
  for (int i = 0; i < rank; i++) volume *= found.high[i] - found.low[i] + 1;
  if (volume != found.members)
    return tsr_fail(LOCAL_DEVICES_NOT_A_SUBCUBE,
                    "process %lld drives %lld devices, but the smallest box around them holds %lld",
                    (long long)process, (long long)found.members, (long long)volume);
  for (int i = 0; i < rank; i++) {
    out_low[i] = found.low[i];
    out_sizes[i] = found.high[i] - found.low[i] + 1;
  }
  return NULL;
}

tsr_status tsr_mesh_local(const tsr_mesh *mesh, int64_t process, tsr_mesh **out_mesh) {
  int64_t low[TSR_MAX_AXES], sizes[TSR_MAX_AXES];
  TSR_TRY(tsr_mesh_local_box(mesh, process, low, sizes));
  tsr_axis axes[TSR_MAX_AXES];
  tsr_nd view = whole(mesh);
  for (int i = 0; i < view.rank; i++) {
    axes[i] = *tsr_mesh_axis_at(mesh, i);
    axes[i].size = view.dims[i] = sizes[i];
    view.offset += low[i] * view.strides[i];
  }
  return create_from_view(mesh, axes, &view, out_mesh);
}

// ---- fewer, more, or reordered axes ----

tsr_status tsr_mesh_slice(const tsr_mesh *mesh, const char *axis, int64_t index,
                          tsr_mesh **out_mesh) {
  int cut = 0;
  TSR_TRY(tsr_mesh_need_axis(mesh, axis, &cut));
  const int64_t size = tsr_mesh_axis_at(mesh, cut)->size;
  if (index < 0 || index >= size)
    return tsr_fail(INDEX_OUT_OF_RANGE, "index %lld of axis \"%s\", whose size is %lld",
                    (long long)index, axis, (long long)size);
  tsr_axis axes[TSR_MAX_AXES];
  tsr_nd view = whole(mesh);
  view.offset = index * view.strides[cut];
  view.rank = 0;
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    if (i == cut) continue;
    axes[view.rank] = *tsr_mesh_axis_at(mesh, i);
    view.dims[view.rank] = view.dims[i];
    view.strides[view.rank++] = view.strides[i];
  }
  return create_from_view(mesh, axes, &view, out_mesh);
}

// Finds the first of `names`; the others must follow it in order, with the same type.
static tsr_status find_neighbours(const tsr_mesh *mesh, const char *const *names, int count,
                                  int *out_first) {
  if (count < 1) return tsr_fail(BAD_ARGUMENT, "no axes to flatten");
  TSR_TRY(tsr_list_check(names, count, "axes"));
  int first = 0;
  TSR_TRY(tsr_mesh_need_axis(mesh, names[0], &first));
  for (int i = 1; i < count; i++) {
    int axis = 0;
    TSR_TRY(tsr_mesh_need_axis(mesh, names[i], &axis));
    if (axis != first + i)
      return tsr_fail(BAD_ARGUMENT,
                      "axis \"%s\" does not follow \"%s\" in the mesh; transpose first", names[i],
                      names[i - 1]);
    if (tsr_mesh_axis_at(mesh, axis)->type != tsr_mesh_axis_at(mesh, first)->type)
      return tsr_fail(BAD_ARGUMENT, "axes \"%s\" (%s) and \"%s\" (%s) differ in type", names[0],
                      tsr_axis_type_name(tsr_mesh_axis_at(mesh, first)->type), names[i],
                      tsr_axis_type_name(tsr_mesh_axis_at(mesh, axis)->type));
  }
  *out_first = first;
  return NULL;
}

tsr_status tsr_mesh_flatten(const tsr_mesh *mesh, const char *const *axes, int axis_count,
                            const char *name, tsr_mesh **out_mesh) {
  int first = 0;
  TSR_TRY(find_neighbours(mesh, axes, axis_count, &first));
  tsr_axis merged[TSR_MAX_AXES];
  int count = copy_axes(mesh, 0, first, merged);
  merged[count] = (tsr_axis){name, 1, tsr_mesh_axis_at(mesh, first)->type};
  for (int i = first; i < first + axis_count; i++)
    merged[count].size *= tsr_mesh_axis_at(mesh, i)->size;
  count++;
  count += copy_axes(mesh, first + axis_count, tsr_mesh_axis_count(mesh), merged + count);
  return create_renamed(mesh, merged, count, out_mesh);
}

tsr_status tsr_mesh_transpose(const tsr_mesh *mesh, const char *const *axes, int axis_count,
                              tsr_mesh **out_mesh) {
  if (axis_count != tsr_mesh_axis_count(mesh))
    return tsr_fail(BAD_ARGUMENT, "an order of %d axes for a mesh of %d", axis_count,
                    tsr_mesh_axis_count(mesh));
  TSR_TRY(tsr_list_check(axes, axis_count, "axes"));
  // Equal counts without repeats make it a permutation.
  int order[TSR_MAX_AXES];
  tsr_axis reordered[TSR_MAX_AXES];
  for (int i = 0; i < axis_count; i++) {
    TSR_TRY(tsr_mesh_need_axis(mesh, axes[i], &order[i]));
    for (int j = 0; j < i; j++)
      if (order[j] == order[i])
        return tsr_fail(DUPLICATE_AXIS_NAME, "axis name \"%s\" is given twice", axes[i]);
    reordered[i] = *tsr_mesh_axis_at(mesh, order[i]);
  }
  tsr_nd view = whole(mesh);
  tsr_nd_transpose(&view, order);
  return create_from_view(mesh, reordered, &view, out_mesh);
}

tsr_status tsr_mesh_with_types(const tsr_mesh *mesh, const tsr_axis_type *types, int type_count,
                               tsr_mesh **out_mesh) {
  const int count = tsr_mesh_axis_count(mesh);
  if (type_count != 1 && type_count != count)
    return tsr_fail(MESH_AXIS_TYPES_MISMATCH, "%d axis types for %d axes", type_count, count);
  TSR_TRY(tsr_list_check(types, type_count, "axis types"));
  tsr_axis axes[TSR_MAX_AXES];
  copy_axes(mesh, 0, count, axes);
  for (int i = 0; i < count; i++) axes[i].type = types[type_count == 1 ? 0 : i];
  return create_renamed(mesh, axes, count, out_mesh);
}

tsr_status tsr_mesh_abstract(const tsr_mesh *mesh, tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES];
  return create_abstract(axes, copy_axes(mesh, 0, tsr_mesh_axis_count(mesh), axes), out_mesh);
}

// ---- the current mesh ----

static void release(void *mesh) { tsr_mesh_release(mesh); }

tsr_status tsr_mesh_enter(const tsr_mesh *mesh, tsr_scope *out_scope) {
  tsr_mesh *held = tsr_mesh_retain(mesh);
  const tsr_status status = tsr_scope_enter(TSR_SCOPE_MESH, held, release, out_scope);
  if (status) tsr_mesh_release(held);
  return status;
}

const tsr_mesh *tsr_mesh_current(void) { return tsr_scope_current(TSR_SCOPE_MESH); }

tsr_status tsr_mesh_require(const tsr_mesh **out_mesh) {
  const tsr_mesh *mesh = tsr_mesh_current();
  if (!mesh) return tsr_fail(NO_MESH_ACTIVE, "no mesh is active; enter one with tsr_mesh_enter");
  *out_mesh = mesh;
  return NULL;
}

bool tsr_mesh_current_has(const char *const *names, int name_count) {
  const tsr_mesh *mesh = tsr_mesh_current();
  for (int i = 0; i < name_count; i++)
    if (!mesh || tsr_mesh_axis_find(mesh, names[i]) < 0) return false;
  return true;
}
