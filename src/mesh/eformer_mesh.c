// eformer's meshes: all devices of the machine under named sizes, fitted by JAX's builders.
//
// As in eformer there are three cases: several slices (a hybrid mesh of slices), several processes
// (a hybrid mesh of processes), or neither. Unlike eformer, sizes between granules never change the
// requested shape: the shape inside a granule is the requested one divided by them.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/compare.h"
#include "base/sized.h"
#include "mesh/jax.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/eformer_mesh.h"
#include "topology/topology_internal.h"

static const int64_t default_dims[] = {1, -1, 1, 1, 1};
static const char *const default_names[] = {"dp", "fsdp", "ep", "tp", "sp"};

// The arguments with their defaults, and facts about the machine.
typedef struct eformer_request {
  const tsr_topology *topology;
  tsr_eformer_mesh_options options;
  int rank;
  int64_t shape[TSR_MAX_AXES];  // complete
  int64_t outer[TSR_MAX_AXES];  // sizes between granules
  int64_t slice_count;
} eformer_request;

// ---- how many slices ----

static tsr_status count_listed_slices(const tsr_topology *topology, int64_t *out_count) {
  const tsr_device *devices = tsr_topology_devices(topology);
  const int64_t count = tsr_topology_device_count(topology);
  int64_t *slices = malloc(sizeof *slices * (size_t)count);
  if (!slices) return tsr_fail(NO_MEMORY, "slices of %lld devices", (long long)count);
  for (int64_t i = 0; i < count; i++) slices[i] = devices[i].slice;
  *out_count = tsr_sort_distinct(slices, count);
  free(slices);
  return NULL;
}

static tsr_status count_slices(const eformer_request *request, int64_t *out_count) {
  int64_t count = request->options.num_slices;
  if (!count) TSR_TRY(count_listed_slices(request->topology, &count));
  const char *from_environment =
      count == 1 && !request->options.num_slices ? getenv("MEGASCALE_NUM_SLICES") : NULL;
  if (from_environment)
    TSR_TRY_NOTE(tsr_python_int(from_environment, strlen(from_environment), &count),
                 "MEGASCALE_NUM_SLICES");
  *out_count = count;
  return NULL;
}

// ---- sizes inside and between granules ----

// Divides outer axes over hosts first. The product is a multiple of the number of hosts, so all
// hosts are used up at the end.
static void divide_by_hosts(const int64_t *global, int rank, int64_t hosts, int64_t *out_shape) {
  for (int i = 0; i < rank; i++) {
    const int64_t factor = tsr_gcd(global[i], hosts);
    out_shape[i] = global[i] / factor;
    hosts /= factor;
  }
}

// eformer's algorithm, which rounds down. False if the product is then wrong.
static bool walk_hosts(const int64_t *global, int rank, int64_t devices, int64_t hosts,
                       int64_t *out_shape) {
  int64_t product = 1;
  for (int i = 0; i < rank; i++) {
    const int64_t factor = global[i] >= hosts ? hosts : global[i];
    out_shape[i] = global[i] / factor;
    hosts /= factor;
    product *= out_shape[i];
  }
  return product == devices;
}

static tsr_status check_host_count(const int64_t *shape, int rank, int64_t devices, int64_t hosts) {
  char text[TSR_DIMS_TEXT];
  int64_t there = 0, wanted = 0;
  if (devices < 1 || hosts < 1 || __builtin_mul_overflow(devices, hosts, &there))
    return tsr_fail(BAD_ARGUMENT, "%lld devices on each of %lld hosts", (long long)devices,
                    (long long)hosts);
  bool positive = tsr_dims_product(shape, rank, &wanted);
  for (int i = 0; i < rank; i++) positive = positive && shape[i] > 0;
  if (!positive || wanted != there)
    return tsr_fail(MESH_SIZE_DOES_NOT_MATCH_DEVICES,
                    "mesh (%s) does not make the %lld devices of %lld hosts with %lld each",
                    tsr_dims_text(shape, rank, ", ", text), (long long)there, (long long)hosts,
                    (long long)devices);
  return NULL;
}

tsr_status tsr_eformer_host_mesh_shape(const int64_t *global_shape, int rank,
                                       int64_t devices_per_host, int64_t num_processes,
                                       int64_t *out_shape) {
  TSR_TRY(tsr_rank_check(rank));
  TSR_TRY(check_host_count(global_shape, rank, devices_per_host, num_processes));
  if (!walk_hosts(global_shape, rank, devices_per_host, num_processes, out_shape))
    divide_by_hosts(global_shape, rank, num_processes, out_shape);
  return NULL;
}

// Completes the user's sizes between granules, whose product is `granules`.
static tsr_status complete_outer(const eformer_request *request, int64_t granules,
                                 int64_t *out_outer) {
  const int64_t *given = request->options.dcn_mesh_dims;
  char text[TSR_DIMS_TEXT];
  int unknown = -1;
  int64_t product = 1;
  tsr_dims_text(given, request->options.dcn_mesh_dim_count, ", ", text);
  for (int i = 0; i < request->rank; i++) {
    if (given[i] != -1) continue;
    if (unknown >= 0)
      return tsr_fail(DCN_MORE_THAN_ONE_UNKNOWN, "dcn sizes (%s) have more than one -1", text);
    unknown = i;
  }
  for (int i = 0; i < request->rank; i++) {
    if (i == unknown) continue;
    if (given[i] < 1)
      return tsr_fail(DCN_ENTRY_NOT_POSITIVE, "dcn sizes (%s): %lld, wanted 1 or more, or -1", text,
                      (long long)given[i]);
    if (__builtin_mul_overflow(product, given[i], &product)) product = INT64_MAX;
  }
  if (unknown >= 0 && granules % product)
    return tsr_fail(DCN_DOES_NOT_DIVIDE, "dcn sizes (%s) do not divide %lld", text,
                    (long long)granules);
  if (unknown < 0 && product != granules)
    return tsr_fail(DCN_PRODUCT_WRONG, "dcn sizes (%s) make %lld, wanted %lld", text,
                    (long long)product, (long long)granules);
  for (int i = 0; i < request->rank; i++)
    out_outer[i] = i == unknown ? granules / product : given[i];
  return NULL;
}

// Slices were requested for a machine without slices. The builder reports that error, so our
// additional checks are skipped.
static bool is_sliceless(const eformer_request *request) {
  return request->slice_count > 1 &&
         tsr_topology_devices(request->topology)[0].slice == TSR_NO_SLICE;
}

// The same, checked against the requested shape, which they must divide.
static tsr_status given_outer(const eformer_request *request, int64_t granules,
                              int64_t *out_outer) {
  if (request->options.dcn_mesh_dim_count != request->rank)
    return tsr_fail(MESH_RANK_MISMATCH, "%d dcn sizes for %d axes",
                    request->options.dcn_mesh_dim_count, request->rank);
  TSR_TRY(complete_outer(request, granules, out_outer));
  for (int i = 0; i < request->rank && !is_sliceless(request); i++)
    if (request->shape[i] % out_outer[i])
      return tsr_fail(DCN_DOES_NOT_DIVIDE, "dcn size %lld does not divide the %lld of axis %d",
                      (long long)out_outer[i], (long long)request->shape[i], i);
  return NULL;
}

// Slices go to the first axis that they divide, unless the user chose.
static tsr_status outer_of_slices(const eformer_request *request, int64_t *out_outer) {
  int axis = 0;
  while (axis < request->rank && request->shape[axis] % request->slice_count) axis++;
  if (request->options.dcn_mesh_dims && (axis < request->rank || !is_sliceless(request))) {
    tsr_status status = given_outer(request, request->slice_count, out_outer);
    if (!status || axis < request->rank) return status;
    tsr_status_free(status);
  }
  if (axis == request->rank) {
    char text[TSR_DIMS_TEXT];
    return tsr_fail(
        NO_AXIS_DIVISIBLE_BY_SLICES, "no axis of mesh (%s) is a multiple of %lld slices",
        tsr_dims_text(request->shape, request->rank, ", ", text), (long long)request->slice_count);
  }
  for (int i = 0; i < request->rank; i++) out_outer[i] = i == axis ? request->slice_count : 1;
  return NULL;
}

static tsr_status outer_of_processes(const eformer_request *request, int64_t *out_outer) {
  const tsr_device *devices = tsr_topology_devices(request->topology);
  const int64_t hosts = tsr_topology_process_count(request->topology);
  int64_t local = 0, inner[TSR_MAX_AXES];
  for (int64_t i = 0; i < tsr_topology_device_count(request->topology); i++)
    local += devices[i].process == 0;
  TSR_TRY(check_host_count(request->shape, request->rank, local, hosts));
  if (request->options.dcn_mesh_dims) return given_outer(request, hosts, out_outer);
  divide_by_hosts(request->shape, request->rank, hosts, inner);
  for (int i = 0; i < request->rank; i++) out_outer[i] = request->shape[i] / inner[i];
  return NULL;
}

// ---- building ----

static tsr_status build_hybrid(const eformer_request *request, bool process_is_granule,
                               tsr_device_array *out_array) {
  const tsr_jax_mesh_options options = {
      .size = sizeof options,
      .allow_split_physical_axes = !request->options.forbid_split_physical_axes,
      .process_is_granule = process_is_granule,
      .keep_granule_order = request->options.keep_granule_order};
  int64_t inner[TSR_MAX_AXES];
  for (int i = 0; i < request->rank; i++) inner[i] = request->shape[i] / request->outer[i];
  return tsr_jax_create_hybrid_device_mesh(request->topology, inner, request->outer, request->rank,
                                           &options, out_array);
}

static tsr_status build_plain(const eformer_request *request, tsr_device_array *out_array) {
  const tsr_jax_mesh_options options = {
      .size = sizeof options,
      .allow_split_physical_axes = !request->options.forbid_split_physical_axes};
  int64_t outer[TSR_MAX_AXES];
  if (request->options.dcn_mesh_dims) TSR_TRY(given_outer(request, 1, outer));
  return tsr_jax_create_device_mesh(request->topology, request->shape, request->rank, &options,
                                    out_array, NULL);
}

static tsr_status build_array(eformer_request *request, tsr_device_array *out_array) {
  if (request->slice_count > 1) {
    TSR_TRY(outer_of_slices(request, request->outer));
    return build_hybrid(request, false, out_array);
  }
  if (tsr_topology_process_count(request->topology) > 1) {
    TSR_TRY(outer_of_processes(request, request->outer));
    return build_hybrid(request, true, out_array);
  }
  return build_plain(request, out_array);
}

// Names and types of the shape; `fallback` if no types are given.
static tsr_status make_axes(const eformer_request *request, tsr_axis_type fallback,
                            tsr_axis *out_axes) {
  const tsr_eformer_mesh_options *options = &request->options;
  TSR_TRY(tsr_axes_zip(options->axis_names, options->axis_name_count, request->shape, request->rank,
                       NULL, 0, out_axes));
  for (int i = 0; i < request->rank; i++)
    out_axes[i].type = !options->axis_types            ? fallback
                       : options->axis_type_count == 1 ? options->axis_types[0]
                                                       : options->axis_types[i];
  return NULL;
}

static tsr_status create_fitted(eformer_request *request, tsr_mesh **out_mesh) {
  tsr_device_array array = {0};
  TSR_TRY(build_array(request, &array));
  tsr_axis axes[TSR_MAX_AXES];
  tsr_status status = make_axes(request, TSR_AXIS_AUTO, axes);
  if (!status) status = tsr_mesh_over_array(request->topology, &array, axes, out_mesh);
  tsr_device_array_deinit(&array);
  return status;
}

// Fills in defaults and checks what does not depend on the machine.
static tsr_status read_options(const tsr_eformer_mesh_options *options, eformer_request *request) {
  tsr_eformer_mesh_options *known = &request->options;
  TSR_TRY(tsr_sized_read(tsr_eformer_mesh_options, options, known));
  if (!known->axis_dims) {
    known->axis_dims = default_dims;
    known->axis_dim_count = sizeof default_dims / sizeof *default_dims;
  }
  if (!known->axis_names) {
    known->axis_names = default_names;
    known->axis_name_count = sizeof default_names / sizeof *default_names;
  }
  TSR_TRY(tsr_rank_check(known->axis_dim_count));
  if (known->axis_types && known->axis_type_count != 1 &&
      known->axis_type_count != known->axis_name_count)
    return tsr_fail(MESH_AXIS_TYPES_MISMATCH, "%d axis types for %d axis names",
                    known->axis_type_count, known->axis_name_count);
  request->rank = known->axis_dim_count;
  if (request->rank)
    memcpy(request->shape, known->axis_dims, sizeof *request->shape * (size_t)request->rank);
  return NULL;
}

tsr_status tsr_eformer_create_mesh(const tsr_topology *topology,
                                   const tsr_eformer_mesh_options *options, tsr_mesh **out_mesh) {
  eformer_request request = {.topology = topology};
  TSR_TRY(read_options(options, &request));
  TSR_TRY(tsr_sizes_complete(request.shape, request.rank, tsr_topology_device_count(topology)));
  TSR_TRY(count_slices(&request, &request.slice_count));
  // jax.make_mesh handles only one slice and one process; its axes are explicit by default.
  if (!request.options.use_jax || request.slice_count != 1 || request.options.dcn_mesh_dims ||
      tsr_topology_process_count(topology) > 1)
    return create_fitted(&request, out_mesh);
  tsr_axis axes[TSR_MAX_AXES];
  TSR_TRY(make_axes(&request, TSR_AXIS_EXPLICIT, axes));
  return tsr_jax_make_mesh(topology, axes, request.rank, true, out_mesh);
}
