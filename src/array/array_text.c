// Arrays made and resharded by specs in text form.
#include "array/array.h"
#include "layout/layout_internal.h"

tsr_status tsr_array_put(tsr_comm *comm, const tsr_mesh *mesh, const char *spec,
                         const tsr_shape *shape, tsr_dtype dtype, const void *host,
                         tsr_array **out_array) {
  tsr_layout *layout = NULL;
  TSR_TRY(tsr_layout_from_text(mesh, spec, shape, &layout));
  tsr_status status = tsr_array_shard(comm, layout, dtype, host, NULL, out_array);
  tsr_layout_release(layout);
  return status;
}

static tsr_status make_layout(const tsr_array *array, const char *spec, tsr_layout **out_layout) {
  const tsr_mesh *mesh = tsr_layout_mesh(array->layout);
  const tsr_shape shape = tsr_array_shape(array);
  if (!mesh) return tsr_fail(BAD_ARGUMENT, "spec \"%s\": the array has no mesh", spec);
  return tsr_layout_from_spec_text(mesh, spec, &shape, tsr_layout_policy(array->layout),
                                   out_layout);
}

tsr_status tsr_array_reshard_to(tsr_array *array, const char *spec, tsr_array **out_array) {
  tsr_layout *layout = NULL;
  tsr_status status = make_layout(array, spec, &layout);
  // Other ranks may be comparing their layouts with ours.
  if (status) return tsr_array_agree(array->comm, "reshard", status);
  status = tsr_array_reshard(array, layout, NULL, out_array);
  tsr_layout_release(layout);
  return status;
}
