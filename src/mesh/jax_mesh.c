// JAX's mesh builders: create_device_mesh, create_hybrid_device_mesh and make_mesh.
//
// Three ways to arrange devices: a fixed order of the kind, an assignment of the axes of a TPU
// torus to those of the mesh, or list order if the wiring is unknown. All work on lists of devices,
// so a granule of a hybrid mesh or the first devices of a machine are arranged like a whole
// machine.
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/room.h"
#include "base/sized.h"
#include "mesh/jax.h"
#include "topology/topology_internal.h"

tsr_device_list tsr_device_list_of(const tsr_topology *topology) {
  const char *kind = tsr_topology_kind(topology);
  return (tsr_device_list){.devices = tsr_topology_devices(topology),
                           .count = tsr_topology_device_count(topology),
                           .platform = tsr_topology_platform(topology),
                           .kind_name = kind,
                           .kind = tsr_jax_kind_find(kind)};
}

static tsr_status fail_count(const int64_t *shape, int rank, int64_t device_count) {
  char text[TSR_DIMS_TEXT];
  int64_t places = 0;
  tsr_dims_text(shape, rank, ", ", text);
  if (!tsr_dims_product(shape, rank, &places))
    return tsr_fail(DEVICE_COUNT_MISMATCH, "mesh (%s) is too large for %lld device%s", text,
                    (long long)device_count, device_count == 1 ? "" : "s");
  return tsr_fail(DEVICE_COUNT_MISMATCH, "mesh (%s) has %lld place%s for %lld device%s", text,
                  (long long)places, places == 1 ? "" : "s", (long long)device_count,
                  device_count == 1 ? "" : "s");
}

tsr_status tsr_jax_check_shape(const int64_t *shape, int rank, int64_t device_count) {
  TSR_TRY(tsr_rank_check(rank));
  TSR_TRY(tsr_list_check(shape, rank, "sizes of the mesh"));
  int64_t places = 0;
  if (!tsr_dims_product(shape, rank, &places) || places != device_count)
    return fail_count(shape, rank, device_count);
  return tsr_dims_check(shape, rank, "mesh");
}

// ---- arranging a list ----

// GPUs by id, since runtimes list them by process; others as listed.
static void arrange_in_order(const tsr_device_list *list, bool as_listed, int64_t *out_ids) {
  bool sorted = true;
  for (int64_t i = 0; i < list->count; i++) {
    out_ids[i] = list->devices[i].id;
    if (i > 0 && out_ids[i] < out_ids[i - 1]) sorted = false;
  }
  if (list->platform == TSR_PLATFORM_GPU && !as_listed && !sorted)
    qsort(out_ids, (size_t)list->count, sizeof *out_ids, tsr_compare_int64);
}

static tsr_status arrange_on_torus(const tsr_device_list *list, const int64_t *shape, int rank,
                                   const tsr_jax_mesh_options *options, int64_t *out_ids,
                                   tsr_mesh_reason *out_reason) {
  tsr_torus torus;
  TSR_TRY(tsr_torus_init(&torus, list));
  if (options->contiguous_submeshes) TSR_TRY(tsr_torus_make_contiguous(&torus, shape, rank));
  out_reason->physical_rank = torus.rank;
  memcpy(out_reason->physical_dims, torus.dims, sizeof torus.dims);
  const bool split = options->allow_split_physical_axes;
  tsr_assignment assignment;
  TSR_TRY(tsr_torus_assign(&torus, shape, rank, split, &assignment));
  memcpy(out_reason->assignment, assignment.factors, sizeof assignment.factors);
  return tsr_torus_place(&torus, list, shape, rank, &assignment, out_ids);
}

tsr_status tsr_jax_arrange(const tsr_device_list *list, const int64_t *shape, int rank,
                           const tsr_jax_mesh_options *options, int64_t *out_ids,
                           tsr_mesh_reason *out_reason) {
  *out_reason = (tsr_mesh_reason){.path = TSR_PATH_KIND_TABLE};
  bool done = false;
  TSR_TRY(tsr_jax_kind_order(list, shape, rank, options->check_fixed_orders, out_ids, &done));
  if (done && options->contiguous_submeshes && options->refuse_ignored_flags)
    return tsr_fail(CONTIGUOUS_TOPOLOGY_UNSUPPORTED,
                    "no contiguous submeshes on %lld devices of kind \"%s\", whose order is fixed",
                    (long long)list->count, list->kind_name);
  if (done) return NULL;
  if (list->platform == TSR_PLATFORM_TPU) {
    out_reason->path = TSR_PATH_TORUS;
    return arrange_on_torus(list, shape, rank, options, out_ids, out_reason);
  }
  out_reason->path = TSR_PATH_LIST_ORDER;
  arrange_in_order(list, options->keep_list_order, out_ids);
  return NULL;
}

tsr_status tsr_jax_create_device_mesh(const tsr_topology *topology, const int64_t *mesh_shape,
                                      int rank, const tsr_jax_mesh_options *options,
                                      tsr_device_array *out_array, tsr_mesh_reason *out_reason) {
  const tsr_device_list list = tsr_device_list_of(topology);
  tsr_jax_mesh_options known;
  TSR_TRY(tsr_sized_read(tsr_jax_mesh_options, options, &known));
  TSR_TRY(tsr_jax_check_shape(mesh_shape, rank, list.count));
  tsr_device_array array = {0};
  TSR_TRY(tsr_device_array_init(&array, mesh_shape, rank));
  tsr_mesh_reason reason;
  tsr_status status = tsr_jax_arrange(&list, mesh_shape, rank, &known, array.ids, &reason);
  if (status) {
    tsr_device_array_deinit(&array);
    return status;
  }
  *out_array = array;
  if (out_reason) *out_reason = reason;
  return NULL;
}

// ---- device ids without names ----

tsr_status tsr_device_array_init(tsr_device_array *array, const int64_t *dims, int rank) {
  tsr_device_array made = {.rank = rank, .count = 1};
  for (int i = 0; i < rank; i++) {
    made.dims[i] = dims[i];
    made.count *= dims[i];
  }
  made.ids = malloc((size_t)made.count * sizeof *made.ids);
  if (!made.ids) return tsr_fail(NO_MEMORY, "ids of %lld devices", (long long)made.count);
  *array = made;
  return NULL;
}

void tsr_device_array_deinit(tsr_device_array *array) {
  if (!array) return;
  free(array->ids);
  *array = (tsr_device_array){0};
}

tsr_status tsr_mesh_over_array(const tsr_topology *topology, const tsr_device_array *array,
                               const tsr_axis *axes, tsr_mesh **out_mesh) {
  return tsr_mesh_create(&(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc),
                                          .axis_count = array->rank,
                                          .axes = axes,
                                          .device_count = array->count,
                                          .devices = array->ids,
                                          .topology = topology},
                         out_mesh);
}

tsr_status tsr_mesh_from_array(const tsr_topology *topology, const tsr_device_array *array,
                               const char *const *names, tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES] = {0};
  TSR_TRY(tsr_rank_check(array->rank));
  TSR_TRY(tsr_list_check(names, array->rank, "names"));
  for (int i = 0; i < array->rank; i++)
    axes[i] = (tsr_axis){.name = names[i], .size = array->dims[i], .type = TSR_AXIS_AUTO};
  return tsr_mesh_over_array(topology, array, axes, out_mesh);
}
