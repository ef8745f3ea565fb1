// JAX's mesh builders on recorded machines.
#include <stdio.h>

#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/mesh.h"

static void write_array(tsr_json_writer *out, const tsr_device_array *array) {
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "shape");
  tsr_json_write_ints(out, array->dims, (size_t)array->rank);
  golden_write_ids(out, "ids", array->ids, array->count);
  tsr_json_end_object(out);
}

// How the mesh was found. Nothing is recorded for list order.
static void write_reason(tsr_json_writer *out, const tsr_mesh_reason *reason, int rank) {
  if (reason->path == TSR_PATH_LIST_ORDER) return;
  const bool torus = reason->path == TSR_PATH_TORUS;
  tsr_json_write_key(out, "path");
  tsr_json_write_string(out, torus ? "nd_torus" : "device_kind_table");
  if (!torus) return;
  tsr_json_write_key(out, "physical_shape");
  tsr_json_write_ints(out, reason->physical_dims, (size_t)reason->physical_rank);
  tsr_json_write_key(out, "assignment");
  tsr_json_begin_array(out);
  for (int i = 0; i < reason->physical_rank; i++)
    tsr_json_write_ints(out, reason->assignment[i], (size_t)rank);
  tsr_json_end_array(out);
}

static tsr_status create_device_mesh(const golden_case *c, const golden_answer *answer) {
  golden_ints shape;
  tsr_jax_mesh_options options = {.size = sizeof options};
  tsr_topology *topology = NULL;
  tsr_device_array array;
  tsr_mesh_reason reason;
  TSR_TRY(golden_list(c, "mesh_shape", &shape));
  TSR_TRY(golden_bool(c, "contiguous_submeshes", &options.contiguous_submeshes));
  TSR_TRY(golden_bool(c, "allow_split_physical_axes", &options.allow_split_physical_axes));
  TSR_TRY(golden_machine(c, "topology", &topology));
  tsr_status status =
      tsr_jax_create_device_mesh(topology, shape.items, shape.count, &options, &array, &reason);
  tsr_topology_release(topology);
  if (status) return status;
  write_array(answer->out, &array);
  write_reason(answer->beside, &reason, shape.count);
  tsr_device_array_deinit(&array);
  return NULL;
}

// numpy puts the granules together from the last axis on, so the shorter shape has ones in front.
static tsr_status align(const golden_case *c, golden_ints *shape, int rank) {
  const int missing = rank - shape->count;
  if (missing <= 0) return NULL;
  int64_t *items = tsr_arena_zeros(c->arena, (size_t)rank, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "sizes");
  for (int i = 0; i < rank; i++) items[i] = i < missing ? 1 : shape->items[i - missing];
  *shape = (golden_ints){.items = items, .count = rank};
  return NULL;
}

static tsr_status create_hybrid_device_mesh(const golden_case *c, const golden_answer *answer) {
  golden_ints shape, dcn;
  bool sorted = true;
  tsr_jax_mesh_options options = {.size = sizeof options};
  tsr_topology *topology = NULL;
  tsr_device_array array;
  TSR_TRY(golden_list(c, "mesh_shape", &shape));
  TSR_TRY(golden_list(c, "dcn_mesh_shape", &dcn));
  TSR_TRY(golden_bool(c, "process_is_granule", &options.process_is_granule));
  TSR_TRY(golden_bool(c, "should_sort_granules_by_key", &sorted));
  TSR_TRY(golden_bool(c, "allow_split_physical_axes", &options.allow_split_physical_axes));
  options.keep_granule_order = !sorted;
  TSR_TRY(align(c, &shape, dcn.count));
  TSR_TRY(align(c, &dcn, shape.count));
  TSR_TRY(golden_machine(c, "topology", &topology));
  tsr_status status = tsr_jax_create_hybrid_device_mesh(topology, shape.items, dcn.items,
                                                        shape.count, &options, &array);
  tsr_topology_release(topology);
  if (status) return status;
  write_array(answer->out, &array);
  tsr_device_array_deinit(&array);
  return NULL;
}

static tsr_status make_mesh(const golden_case *c, const golden_answer *answer) {
  golden_ints sizes;
  golden_names names;
  tsr_axis axes[TSR_MAX_AXES];
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_list(c, "axis_sizes", &sizes));
  TSR_TRY(golden_read_names(c, golden_get(c, "axis_names"), "axis_names", &names));
  TSR_TRY(tsr_axes_zip(names.items, names.count, sizes.items, sizes.count, NULL, 0, axes));
  TSR_TRY(golden_machine(c, "topology", &topology));
  tsr_status status = tsr_jax_make_mesh(topology, axes, sizes.count, false, &mesh);
  tsr_topology_release(topology);
  if (status) return status;
  tsr_json_begin_object(answer->out);
  golden_write_mesh(answer->out, mesh);
  golden_write_axis_names(answer->out, "axis_names", mesh);
  golden_write_axis_types(answer->out, mesh, true);
  tsr_json_end_object(answer->out);
  tsr_mesh_release(mesh);
  return NULL;
}

// The sub-mesh of a process, or null when its devices are not a box of the mesh.
static tsr_status write_local(tsr_json_writer *out, const tsr_mesh *mesh, int64_t process) {
  char key[24];
  tsr_mesh *local = NULL;
  tsr_status status = tsr_mesh_local(mesh, process, &local);
  snprintf(key, sizeof key, "%lld", (long long)process);
  if (tsr_status_cause(status) == TSR_CAUSE_LOCAL_DEVICES_NOT_A_SUBCUBE) {
    tsr_status_free(status);
    tsr_json_write_key(out, key);
    tsr_json_write_null(out);
    return NULL;
  }
  if (status) return status;
  tsr_json_write_key(out, key);
  tsr_json_begin_object(out);
  golden_write_mesh(out, local);
  tsr_json_end_object(out);
  tsr_mesh_release(local);
  return NULL;
}

static bool has_process(const tsr_mesh *mesh, int64_t process) {
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
    if (tsr_mesh_process(mesh, i) == process) return true;
  return false;
}

static tsr_status make_2d_mesh(const golden_case *c, tsr_mesh **out) {
  golden_ints sizes, ids;
  tsr_topology *topology = NULL;
  TSR_TRY(golden_list(c, "mesh_shape", &sizes));
  TSR_TRY(golden_list(c, "ids", &ids));
  if (sizes.count != 2) return tsr_fail(MESH_RANK_MISMATCH, "wanted a mesh of rank 2");
  int64_t *devices = tsr_arena_zeros(c->arena, (size_t)ids.count + 1, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "ids");
  for (int i = 0; i < ids.count; i++) devices[i] = ids.items[i];
  TSR_TRY(golden_machine(c, "topology", &topology));
  const tsr_axis axes[] = {{"x", sizes.items[0], TSR_AXIS_AUTO},
                           {"y", sizes.items[1], TSR_AXIS_AUTO}};
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axis_count = 2,
                              .axes = axes,
                              .device_count = ids.count,
                              .devices = devices,
                              .topology = topology};
  tsr_status status = tsr_mesh_create(&desc, out);
  tsr_topology_release(topology);
  return status;
}

static tsr_status local_mesh(const golden_case *c, const golden_answer *answer) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(make_2d_mesh(c, &mesh));
  tsr_status status = NULL;
  tsr_json_begin_object(answer->out);
  for (int64_t p = 0; p < tsr_mesh_process_count(mesh) && !status; p++)
    if (has_process(mesh, p)) status = write_local(answer->out, mesh, p);
  if (!status) tsr_json_end_object(answer->out);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status prime_factors(const golden_case *c, const golden_answer *answer) {
  int64_t n = 0, factors[62];
  int count = 0;
  TSR_TRY(golden_int(c, "n", &n));
  TSR_TRY(tsr_prime_factors(n, factors, &count));
  tsr_json_write_ints(answer->out, factors, (size_t)count);
  return NULL;
}

const golden_function golden_jax_mesh_functions[] = {
    {"create_device_mesh", create_device_mesh, {"path", "physical_shape", "assignment"}},
    {"create_hybrid_device_mesh", create_hybrid_device_mesh, {NULL}},
    {"local_mesh", local_mesh, {NULL}},
    {"make_mesh", make_mesh, {NULL}},
    {"prime_factors", prime_factors, {NULL}},
    {NULL, NULL, {NULL}},
};
