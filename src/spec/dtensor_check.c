// Compares the mesh and shape of a DTensor text with those the caller has.
#include <string.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"
#include "spec/dtensor.h"
#include "spec/notation_internal.h"
#include "tessera/shape.h"

static tsr_status report_meshes(const tsr_mesh *said, const tsr_mesh *mesh) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "the text has mesh ");
  tsr_mesh_describe(said, &text);
  tsr_text_add(&text, ", expected ");
  tsr_mesh_describe(mesh, &text);
  return tsr_fail_text(TSR_CAUSE_BAD_ARGUMENT, &text);
}

// Axes without names match any: tsr_mesh_parse made their names.
static bool same_axis(const tsr_mesh *said, const tsr_mesh *mesh, int axis) {
  const tsr_axis *a = tsr_mesh_axis_at(said, axis), *b = tsr_mesh_axis_at(mesh, axis);
  return a->size == b->size &&
         (!strcmp(a->name, b->name) || tsr_mesh_is_unnamed_axis(a->name, axis));
}

static tsr_status check_mesh(const tsr_dtensor *dtensor, const tsr_mesh *mesh) {
  const tsr_mesh *said = dtensor->mesh;
  const int axes = tsr_mesh_axis_count(mesh);
  bool same = tsr_mesh_axis_count(said) == axes;
  for (int i = 0; same && i < axes; i++) same = same_axis(said, mesh, i);
  if (!same) return report_meshes(said, mesh);
  if (!dtensor->lists_devices || tsr_mesh_is_abstract(mesh)) return NULL;
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
    if (tsr_mesh_device_at(said, i) != tsr_mesh_device_at(mesh, i))
      return tsr_fail(BAD_ARGUMENT, "the text has device %lld at mesh position %lld, wanted %lld",
                      (long long)tsr_mesh_device_at(said, i), (long long)i,
                      (long long)tsr_mesh_device_at(mesh, i));
  return NULL;
}

tsr_status tsr_dtensor_check(const tsr_dtensor *dtensor, const tsr_mesh *mesh,
                             const tsr_shape *shape) {
  if (mesh && dtensor->mesh) TSR_TRY(check_mesh(dtensor, mesh));
  if (!shape || !dtensor->has_shape || tsr_shape_equal(shape, &dtensor->shape)) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "the text has shape ");
  tsr_shape_print(&dtensor->shape, &text);
  tsr_text_add(&text, ", expected ");
  tsr_shape_print(shape, &text);
  return tsr_fail_text(TSR_CAUSE_BAD_ARGUMENT, &text);
}
