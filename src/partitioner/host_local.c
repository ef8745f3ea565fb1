// Global arrays from the host-local tensors of each process, a tree of them.
//
// Each process has loaded exactly the elements of its devices: its tensors are boxes of the global
// ones. A dimension is larger in the global tensor by the number of such boxes along each axis that
// cuts it.
#include <stdlib.h>

#include "mesh/mesh.h"
#include "partitioner/partitioner_internal.h"
#include "spec/spec_internal.h"
#include "tessera/array.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/shape.h"

// How many boxes like that of this process each mesh axis has.
typedef struct axis_boxes {
  const tsr_mesh *mesh;
  int64_t counts[TSR_MAX_AXES];
} axis_boxes;

// Counts boxes from the range of coordinates of this rank's devices.
static tsr_status count_boxes(const tsr_comm *comm, axis_boxes *out) {
  const tsr_mesh *mesh = out->mesh;
  int64_t low[TSR_MAX_AXES], high[TSR_MAX_AXES], coords[TSR_MAX_AXES];
  const int rank = tsr_mesh_axis_count(mesh);
  bool any = false;
  for (int64_t position = 0; position < tsr_mesh_device_count(mesh); position++) {
    if (tsr_comm_local_index(comm, tsr_mesh_device_at(mesh, position)) < 0) continue;
    tsr_mesh_coords(mesh, position, coords);
    for (int i = 0; i < rank; i++) {
      if (!any || coords[i] < low[i]) low[i] = coords[i];
      if (!any || coords[i] > high[i]) high[i] = coords[i];
    }
    any = true;
  }
  if (!any)
    return tsr_fail(PROCESS_NOT_IN_MESH, "rank %d has no device in the mesh", tsr_comm_rank(comm));
  for (int i = 0; i < rank; i++) {
    const int64_t size = tsr_mesh_axis_at(mesh, i)->size, held = high[i] - low[i] + 1;
    if (size % held)
      return tsr_fail(LOCAL_DEVICES_NOT_A_SUBCUBE,
                      "rank %d has %lld places of axis \"%s\", which do not divide its %lld",
                      tsr_comm_rank(comm), (long long)held, tsr_mesh_axis_at(mesh, i)->name,
                      (long long)size);
    out->counts[i] = size / held;
  }
  return NULL;
}

static tsr_status enlarge(const axis_boxes *of, const tsr_spec_dim *dim, int64_t *size) {
  for (int s = 0; s < dim->stage_count; s++)
    for (int a = 0; a < dim->stages[s].axis_count; a++) {
      const tsr_axis_ref *ref = &dim->stages[s].axes[a];
      int axis = 0;
      if (!ref->name[0]) continue;
      TSR_TRY(tsr_mesh_need_axis(of->mesh, ref->name, &axis));
      if (ref->size || dim->stage_count > 1 || dim->stages[s].kind != TSR_STAGE_EVEN)
        return tsr_fail(NOT_EXPRESSIBLE,
                        "the global size follows from a process's size only for even "
                        "cuts by whole axes");
      if (__builtin_mul_overflow(*size, of->counts[axis], size))
        return tsr_fail(OVERFLOW, "the global size exceeds 63 bits");
    }
  return NULL;
}

static tsr_status global_layout(const axis_boxes *of, const tsr_leaf *leaf, const tsr_spec *spec,
                                tsr_layout **out_layout) {
  tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
  tsr_sharding *sharding = NULL;
  const tsr_spec_desc *entries = tsr_spec_desc_of(spec);
  for (int d = 0; d < shape.rank && d < entries->dim_count; d++)
    TSR_TRY_NOTE(enlarge(of, &entries->dims[d], &shape.dims[d]), "dimension %d", d);
  TSR_TRY(tsr_sharding_bind(of->mesh, spec, false, &sharding));
  const tsr_status status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  return status;
}

// The array of a leaf in host memory; other leaves stay as they are.
static tsr_status join_leaf(const axis_boxes *of, tsr_comm *comm, const tsr_leaf *leaf,
                            const tsr_spec *spec, tsr_leaf *out_leaf) {
  *out_leaf = *leaf;
  if (leaf->kind != TSR_LEAF_HOST) return NULL;
  tsr_layout *layout = NULL;
  tsr_array *array = NULL;
  TSR_TRY(global_layout(of, leaf, spec, &layout));
  const tsr_status status =
      tsr_array_from_host_local(comm, layout, leaf->tensor.dtype, leaf->data, NULL, &array);
  tsr_layout_release(layout);
  if (!status)
    *out_leaf = (tsr_leaf){.tensor = leaf->tensor, .kind = TSR_LEAF_ARRAY, .array = array};
  return status;
}

static tsr_status join_all(const axis_boxes *of, tsr_comm *comm, const tsr_array_tree *tree,
                           const tsr_spec *const *specs, tsr_leaf *leaves, bool *made) {
  tsr_spec *empty = NULL;
  tsr_status status = tsr_spec_of(NULL, 0, &empty);
  for (int64_t i = 0; i < tsr_array_tree_count(tree) && !status; i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    status = join_leaf(of, comm, leaf, specs && specs[i] ? specs[i] : empty, &leaves[i]);
    if (status)
      status = tsr_note(status, "leaf \"%s\"", leaf->tensor.path);
    else
      made[i] = leaf->kind == TSR_LEAF_HOST;
  }
  tsr_spec_release(empty);
  return status;
}

tsr_status tsr_array_tree_from_host_local(const tsr_array_tree *tree, const tsr_mesh *mesh,
                                          const tsr_spec *const *specs, tsr_comm *comm,
                                          tsr_array_tree **out_tree) {
  const size_t count = (size_t)tsr_array_tree_count(tree);
  axis_boxes of = {.mesh = mesh};
  TSR_TRY(count_boxes(comm, &of));
  tsr_leaf *leaves = calloc(count + 1, sizeof *leaves);
  bool *made = calloc(count + 1, sizeof *made);
  tsr_status status = leaves && made ? NULL : tsr_fail(NO_MEMORY, "tree of %zu arrays", count);
  if (!status) status = join_all(&of, comm, tree, specs, leaves, made);
  if (!status) status = tsr_array_tree_create(leaves, (int64_t)count, out_tree);
  for (size_t i = 0; made && i < count; i++)
    if (made[i]) tsr_array_release(leaves[i].array);
  free(made);
  free(leaves);
  return status;
}
