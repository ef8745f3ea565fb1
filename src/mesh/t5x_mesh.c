// t5x's meshes: axes data and model, cut from the machine in blocks.
//
// get_mesh sees the machine as a grid of places (x, y, z, core on TPU; host, device elsewhere) and
// tiles it with copies of a model-parallel submesh: `model` runs within a copy, `data` over copies.
// That is one reshape and one transpose. Two cases differ: a submesh that spans whole planes makes
// z the major axis; otherwise the devices of a host stay together ("host tiling"), so that each
// process holds a box of the mesh.
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "mesh/dims.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/nd.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"

enum { X, Y, Z, CORE, GRID_MAX };

static const char *const data_model[] = {"data", "model"};

// A machine in t5x's terms; the local devices are those of process 0, in every process.
typedef struct t5x_machine {
  const tsr_topology *topology;
  const tsr_device *devices;
  int64_t count;
  int64_t process_count, local_count;
} t5x_machine;

static t5x_machine t5x_machine_of(const tsr_topology *topology) {
  t5x_machine seen = {.topology = topology,
                      .devices = tsr_topology_devices(topology),
                      .count = tsr_topology_device_count(topology),
                      .process_count = tsr_topology_process_count(topology)};
  for (int64_t i = 0; i < seen.count; i++) seen.local_count += seen.devices[i].process == 0;
  return seen;
}

static tsr_hardware_mesh coords_of(const t5x_machine *all, int64_t index) {
  const tsr_device *device = &all->devices[index];
  if (!device->has_coords) {
    const int64_t local = all->local_count ? all->local_count : INT64_MAX;
    return (tsr_hardware_mesh){2, {device->process, device->id % local}};
  }
  const int64_t core = device->core == TSR_NO_CORE ? 0 : device->core;
  return (tsr_hardware_mesh){4, {device->coords[X], device->coords[Y], device->coords[Z], core}};
}

static tsr_hardware_mesh bounds_of(const t5x_machine *all, int64_t index) {
  if (!all->devices[index].has_coords)
    return (tsr_hardware_mesh){2, {all->process_count, all->local_count}};
  tsr_hardware_mesh bounds = coords_of(all, index);
  for (int i = 0; i < bounds.count; i++) bounds.dims[i]++;
  return bounds;
}

bool tsr_t5x_bounds_from_last_device(const tsr_topology *topology, int64_t device,
                                     tsr_hardware_mesh *out_bounds) {
  if (device < 0 || device >= tsr_topology_device_count(topology)) return false;
  const t5x_machine all = t5x_machine_of(topology);
  *out_bounds = bounds_of(&all, device);
  return true;
}

bool tsr_t5x_get_coords(const tsr_topology *topology, int64_t device,
                        tsr_hardware_mesh *out_coords) {
  if (device < 0 || device >= tsr_topology_device_count(topology)) return false;
  const t5x_machine all = t5x_machine_of(topology);
  *out_coords = coords_of(&all, device);
  return true;
}

// ---- the grid ----

// The machine as a row-major array of device ids.
typedef struct grid {
  tsr_hardware_mesh dims;
  int64_t count;
  int64_t *ids;  // owned
} grid;

static const char *place_text(const tsr_hardware_mesh *place, char buffer[TSR_DIMS_TEXT]) {
  return tsr_dims_text(place->dims, place->count, ", ", buffer);
}

// The place of a device in the grid; -1 = outside.
static int64_t place_of(const t5x_machine *all, const grid *places, int64_t index) {
  const tsr_hardware_mesh coords = coords_of(all, index);
  if (coords.count != places->dims.count) return -1;
  int64_t place = 0;
  for (int i = 0; i < coords.count; i++) {
    if (coords.dims[i] < 0 || coords.dims[i] >= places->dims.dims[i]) return -1;
    place = place * places->dims.dims[i] + coords.dims[i];
  }
  return place;
}

// Slices have their own coordinates, so devices of different slices may share a place. As in t5x
// the last one listed counts, and the mesh covers one slice.
static tsr_status fill_grid(const t5x_machine *all, grid *places, int64_t *holders) {
  char text[TSR_DIMS_TEXT];
  for (int64_t i = 0; i < places->count; i++) holders[i] = -1;
  for (int64_t i = 0; i < all->count; i++) {
    const int64_t place = place_of(all, places, i);
    const tsr_hardware_mesh coords = coords_of(all, i);
    const tsr_device *device = &all->devices[i];
    if (place < 0)
      return tsr_fail(NOT_A_CUBOID, "device %lld at (%s) lies outside a machine of other devices",
                      (long long)device->id, place_text(&coords, text));
    const tsr_device *holder = holders[place] < 0 ? NULL : &all->devices[holders[place]];
    if (holder && holder->slice == device->slice)
      return tsr_fail(NOT_A_CUBOID, "devices %lld and %lld are both at (%s)", (long long)holder->id,
                      (long long)device->id, place_text(&coords, text));
    holders[place] = i;
  }
  for (int64_t i = 0; i < places->count; i++) {
    if (holders[i] < 0)
      return tsr_fail(NOT_A_CUBOID, "%lld devices do not fill a machine of (%s)",
                      (long long)all->count, place_text(&places->dims, text));
    places->ids[i] = all->devices[holders[i]].id;
  }
  return NULL;
}

// Makes the grid; each place holds one device. The caller frees `ids`.
static tsr_status make_grid(const t5x_machine *all, const tsr_hardware_mesh *dims, grid *out_grid) {
  char text[TSR_DIMS_TEXT];
  grid made = {.dims = *dims};
  if (!tsr_dims_product(dims->dims, dims->count, &made.count) || made.count < 1 ||
      made.count > all->count)
    return tsr_fail(NOT_A_CUBOID, "%lld devices do not fill a machine of (%s)",
                    (long long)all->count, place_text(dims, text));
  made.ids = malloc(sizeof *made.ids * (size_t)made.count);
  int64_t *holders = malloc(sizeof *holders * (size_t)made.count);
  const tsr_status status =
      made.ids && holders ? fill_grid(all, &made, holders)
                          : tsr_fail(NO_MEMORY, "grid of %lld devices", (long long)all->count);
  free(holders);
  if (status)
    free(made.ids);
  else
    *out_grid = made;
  return status;
}

// ---- get_mesh ----

// How the grid is tiled; all members have the rank of the grid.
typedef struct tiling {
  tsr_hardware_mesh global, model, local;
  int order[GRID_MAX];  // the grid's axes, major first
  bool by_host;
  int64_t model_size;  // product of the whole submesh as given
} tiling;

// The bounds of the device with the greatest coordinates, among those of `process` or all (-1).
static tsr_status find_bounds(const t5x_machine *all, int64_t process,
                              tsr_hardware_mesh *out_bounds) {
  int64_t last = -1;
  tsr_hardware_mesh greatest = {0};
  for (int64_t i = 0; i < all->count; i++) {
    if (process >= 0 && all->devices[i].process != process) continue;
    const tsr_hardware_mesh coords = coords_of(all, i);
    int differs = 0;
    while (differs < coords.count && coords.dims[differs] == greatest.dims[differs]) differs++;
    if (last >= 0 && differs < coords.count && coords.dims[differs] < greatest.dims[differs])
      continue;
    last = i;
    greatest = coords;
  }
  if (last < 0)
    return tsr_fail(NOT_FOUND, "process %lld drives no device of the machine", (long long)process);
  *out_bounds = bounds_of(all, last);
  return NULL;
}

static tsr_status check_factors(const tsr_hardware_mesh *global, const tsr_hardware_mesh *submesh) {
  char whole[TSR_DIMS_TEXT], small[TSR_DIMS_TEXT];
  for (int i = 0; i < global->count && i < submesh->count; i++) {
    const int64_t size = submesh->dims[i];
    if (size == 0)
      return tsr_fail(DIVISION_BY_ZERO, "submesh (%s) has a size of 0", place_text(submesh, small));
    if (size < 0 || global->dims[i] % size)
      return tsr_fail(SUBMESH_NOT_A_FACTOR,
                      "submesh (%s) does not divide the machine (%s): %lld into %lld",
                      place_text(submesh, small), place_text(global, whole), (long long)size,
                      (long long)global->dims[i]);
  }
  return NULL;
}

// On a machine of hosts and devices t5x accepts a longer submesh: sizes beyond the second only make
// `model` longer. Its users give (1, 1, 1, n) on CPU.
static tsr_status check_rank(const t5x_machine *all, const tsr_hardware_mesh *global,
                             const tsr_hardware_mesh *submesh, int64_t *out_model_size) {
  char text[TSR_DIMS_TEXT];
  place_text(submesh, text);
  if (submesh->count < global->count)
    return tsr_fail(SUBMESH_RANK_MISMATCH, "submesh (%s) has %d sizes, wanted %d", text,
                    submesh->count, global->count);
  if (!tsr_dims_product(submesh->dims, submesh->count, out_model_size) || *out_model_size < 1 ||
      (submesh->count > global->count && all->count % *out_model_size))
    return tsr_fail(SUBMESH_RANK_MISMATCH, "submesh (%s) does not divide %lld devices", text,
                    (long long)all->count);
  return NULL;
}

static void swap(tiling *plan, int a, int b) {
  const int64_t global = plan->global.dims[a], model = plan->model.dims[a];
  const int order = plan->order[a];
  plan->global.dims[a] = plan->global.dims[b];
  plan->model.dims[a] = plan->model.dims[b];
  plan->order[a] = plan->order[b];
  plan->global.dims[b] = global;
  plan->model.dims[b] = model;
  plan->order[b] = order;
  plan->by_host = false;
}

// Whether the submesh spans axis `a` only, or `b` and z but not `a`.
static bool spans(const tiling *plan, int a, int b) {
  const int64_t *const g = plan->global.dims, *const m = plan->model.dims;
  const bool line = m[a] == g[a] && g[a] > 1 && m[b] == 1 && m[Z] == 1;
  const bool plane = m[a] == 1 && m[b] == g[b] && g[b] > 1 && m[Z] == g[Z] && g[Z] > 1;
  return line || plane;
}

// Z comes before y, or before x, if that makes the devices of a host contiguous without tiling.
static tsr_status put_z_first(tiling *plan) {
  if (plan->global.count != 4) return NULL;
  const bool before_y = spans(plan, X, Y), before_x = spans(plan, Y, X);
  if ((before_y || before_x) && plan->model.dims[CORE] != plan->global.dims[CORE])
    return tsr_fail(ZMAJOR_NEEDS_ALL_CORES,
                    "a submesh over a whole axis or plane needs all %lld cores of a chip, not %lld",
                    (long long)plan->global.dims[CORE], (long long)plan->model.dims[CORE]);
  if (before_y)
    swap(plan, Y, Z);
  else if (before_x)
    swap(plan, X, Z);
  return NULL;
}

// Splits an axis in four: data over hosts, data within a host, model over hosts, model within a
// host.
static tsr_status split_by_host(const tiling *plan, int axis, int64_t factors[4]) {
  const int64_t global = plan->global.dims[axis], model = plan->model.dims[axis],
                local = plan->local.dims[axis];
  if (model % local && local % model)
    return tsr_fail(SUBMESH_HOST_TILE_MISMATCH,
                    "submesh size %lld is neither a factor nor a multiple of the %lld of a host",
                    (long long)model, (long long)local);
  const int64_t copies = global / model;
  const bool over_hosts = model >= local;
  factors[0] = over_hosts ? copies : copies / (local / model);
  factors[1] = over_hosts ? 1 : local / model;
  factors[2] = over_hosts ? model / local : 1;
  factors[3] = over_hosts ? local : model;
  return NULL;
}

// Splits every axis of `view` (data before model, each over hosts before within) and transposes
// equal kinds together.
static tsr_status cut(const tiling *plan, tsr_nd *view) {
  const int rank = view->rank;
  int order[TSR_ND_MAX];
  for (int i = 0; i < rank; i++) {
    int64_t factors[4] = {plan->global.dims[i] / plan->model.dims[i], 1, plan->model.dims[i], 1};
    if (plan->by_host) TSR_TRY(split_by_host(plan, i, factors));
    for (int kind = 0; kind < 3; kind++) tsr_nd_split(view, 4 * i + kind, factors[kind]);
    for (int kind = 0; kind < 4; kind++) order[kind * rank + i] = 4 * i + kind;
  }
  tsr_nd_transpose(view, order);
  return NULL;
}

static tsr_status plan_tiling(const t5x_machine *all, const tsr_hardware_mesh *submesh,
                              int64_t local_process, bool by_host, tiling *out_tiling) {
  char whole[TSR_DIMS_TEXT], small[TSR_DIMS_TEXT];
  tiling plan = {.model = *submesh, .order = {X, Y, Z, CORE}, .by_host = by_host};
  if (submesh->count < 0 || submesh->count > GRID_MAX)
    return tsr_fail(SUBMESH_RANK_MISMATCH, "a submesh of %d sizes", submesh->count);
  TSR_TRY(find_bounds(all, -1, &plan.global));
  TSR_TRY(find_bounds(all, local_process, &plan.local));
  TSR_TRY(check_factors(&plan.global, submesh));
  for (int i = 0; i < plan.global.count; i++)
    if (plan.local.count != plan.global.count || plan.global.dims[i] % plan.local.dims[i])
      return tsr_fail(SUBMESH_HOST_TILE_MISMATCH, "the host (%s) does not divide the machine (%s)",
                      place_text(&plan.local, small), place_text(&plan.global, whole));
  TSR_TRY(check_rank(all, &plan.global, submesh, &plan.model_size));
  TSR_TRY(put_z_first(&plan));
  *out_tiling = plan;
  return NULL;
}

static tsr_status tile(const t5x_machine *all, const tiling *plan, const grid *places,
                       tsr_mesh **out_mesh) {
  tsr_nd view = tsr_nd_rows(places->dims.dims, places->dims.count);
  tsr_nd_transpose(&view, plan->order);
  TSR_TRY(cut(plan, &view));
  const tsr_axis axes[] = {{"data", places->count / plan->model_size, TSR_AXIS_AUTO},
                           {"model", plan->model_size, TSR_AXIS_AUTO}};
  return tsr_mesh_from_view(all->topology, axes, 2, &view, places->ids, out_mesh);
}

tsr_status tsr_t5x_get_mesh(const tsr_topology *topology, const tsr_hardware_mesh *submesh,
                            int64_t local_process, bool tile_by_host_if_needed,
                            tsr_mesh **out_mesh) {
  const t5x_machine all = t5x_machine_of(topology);
  tiling plan;
  TSR_TRY(plan_tiling(&all, submesh, local_process, tile_by_host_if_needed, &plan));
  tsr_hardware_mesh bounds;
  TSR_TRY(find_bounds(&all, -1, &bounds));
  grid places;
  TSR_TRY(make_grid(&all, &bounds, &places));
  const tsr_status status = tile(&all, &plan, &places, out_mesh);
  free(places.ids);
  return status;
}

// ---- meshes without a submesh ----

tsr_status tsr_t5x_get_cpu_mesh(const tsr_topology *topology, tsr_mesh **out_mesh) {
  const t5x_machine all = t5x_machine_of(topology);
  const tsr_hardware_mesh dims = {2, {all.process_count, all.local_count}};
  grid places;
  TSR_TRY(make_grid(&all, &dims, &places));
  const tsr_device_array array = {
      .rank = 2, .dims = {dims.dims[0], dims.dims[1]}, .count = places.count, .ids = places.ids};
  const tsr_status status = tsr_mesh_from_array(topology, &array, data_model, out_mesh);
  free(places.ids);
  return status;
}

static tsr_status arrange_hybrid(const tsr_topology *topology, const int64_t *inner,
                                 const int64_t *outer, int rank, bool process_is_granule,
                                 tsr_device_array *out_array) {
  // t5x was recorded with a JAX that kept GPUs in list order.
  const tsr_jax_mesh_options options = {
      .size = sizeof options, .process_is_granule = process_is_granule, .keep_list_order = true};
  return tsr_jax_create_hybrid_device_mesh(topology, inner, outer, rank, &options, out_array);
}

tsr_status tsr_t5x_get_gpu_mesh(const tsr_topology *topology, int64_t num_partitions,
                                tsr_mesh **out_mesh) {
  const t5x_machine all = t5x_machine_of(topology);
  const int64_t local = all.local_count, hosts = all.process_count;
  if (!num_partitions) return tsr_fail(DIVISION_BY_ZERO, "0 partitions, wanted 1 or more");
  if (!local) return tsr_fail(NOT_FOUND, "process 0 drives no device of the machine");
  const int64_t model = num_partitions < local ? num_partitions : local;
  if (num_partitions < 0 || local % model || num_partitions % model)
    return tsr_fail(
        GPU_PARTITIONS_MISMATCH,
        "%lld partitions are neither a factor nor a multiple of the %lld GPUs of a host",
        (long long)num_partitions, (long long)local);
  const int64_t model_hosts = num_partitions / model;
  if (hosts % model_hosts)
    return tsr_fail(GRANULE_COUNT_MISMATCH,
                    "%lld partitions take %lld hosts, which do not divide the %lld there are",
                    (long long)num_partitions, (long long)model_hosts, (long long)hosts);
  tsr_device_array array = {0};
  TSR_TRY(arrange_hybrid(topology, (int64_t[]){local / model, model},
                         (int64_t[]){hosts / model_hosts, model_hosts}, 2, true, &array));
  const tsr_status status = tsr_mesh_from_array(topology, &array, data_model, out_mesh);
  tsr_device_array_deinit(&array);
  return status;
}

// ---- default_mesh ----

// The submesh for a number of partitions on a kind of TPU. Of several rows for one number the first
// counts whose machine has at least `needed` along `axis`.
static const struct {
  int generation;
  int64_t partitions;
  int axis;
  int64_t needed;
  int64_t submesh[GRID_MAX];
} default_submeshes[] = {
    // clang-format off
    {3,  1, X,  0, {1, 1,  1, 1}},
    {3,  2, X,  0, {1, 1,  1, 2}},
    {3,  4, X,  0, {2, 1,  1, 2}},
    {3,  8, X,  0, {2, 2,  1, 2}},
    {3, 16, X,  0, {4, 2,  1, 2}},
    {4,  1, X,  0, {1, 1,  1, 1}},
    {4,  2, X,  0, {1, 2,  1, 1}},
    {4,  4, X,  4, {4, 1,  1, 1}},
    {4,  4, X,  0, {2, 2,  1, 1}},
    {4,  8, Z,  8, {1, 1,  8, 1}},
    {4,  8, X,  0, {4, 2,  1, 1}},
    {4, 16, Z, 16, {1, 1, 16, 1}},
    {4, 16, X,  8, {8, 2,  1, 1}},
    {4, 16, X,  4, {4, 4,  1, 1}},
    {4, 16, X,  0, {2, 2,  4, 1}},
    // clang-format on
};

// The generation whose rows apply; 0 = none. On v4, t5x assumes that the cores of a chip act as
// one.
static int generation_of(const char *kind, const tsr_hardware_mesh *bounds) {
  if (!strcmp(kind, "TPU v2") || !strcmp(kind, "TPU v3")) return 3;
  const bool is_v4 = !strcmp(kind, "TPU v4") || !strcmp(kind, "TPU v4 lite");
  return is_v4 && bounds->count == 4 && bounds->dims[CORE] == 1 ? 4 : 0;
}

static tsr_status find_submesh(const tsr_topology *topology, int64_t partitions,
                               tsr_hardware_mesh *out_submesh) {
  char text[TSR_DIMS_TEXT];
  const t5x_machine all = t5x_machine_of(topology);
  const tsr_hardware_mesh bounds = bounds_of(&all, all.count - 1);
  const int generation = generation_of(tsr_topology_kind(topology), &bounds);
  for (size_t i = 0; i < sizeof default_submeshes / sizeof *default_submeshes; i++) {
    if (default_submeshes[i].generation != generation ||
        default_submeshes[i].partitions != partitions ||
        bounds.dims[default_submeshes[i].axis] < default_submeshes[i].needed)
      continue;
    out_submesh->count = GRID_MAX;
    memcpy(out_submesh->dims, default_submeshes[i].submesh, sizeof out_submesh->dims);
    return NULL;
  }
  return tsr_fail(NO_DEFAULT_MESH,
                  "no default mesh for %lld partitions on %s of (%s); give a submesh",
                  (long long)partitions, tsr_topology_kind(topology), place_text(&bounds, text));
}

static tsr_status fail_slice_rank(const tsr_t5x_mesh_options *options) {
  return tsr_fail(MESH_RANK_MISMATCH,
                  "%d sizes inside and %d between slices for the axes replica, data and model",
                  options->ici_rank, options->dcn_rank);
}

// As in t5x, sizes that do not fit the slices are reported before a wrong number of sizes.
static tsr_status create_multi_slice(const tsr_topology *topology,
                                     const tsr_t5x_mesh_options *options, tsr_mesh **out_mesh) {
  static const char *const names[] = {"replica", "data", "model"};
  if (options->ici_rank != options->dcn_rank) return fail_slice_rank(options);
  tsr_device_array array = {0};
  TSR_TRY(arrange_hybrid(topology, options->ici_mesh_shape, options->dcn_mesh_shape,
                         options->ici_rank, false, &array));
  const tsr_status status = array.rank == 3 ? tsr_mesh_from_array(topology, &array, names, out_mesh)
                                            : fail_slice_rank(options);
  tsr_device_array_deinit(&array);
  return status;
}

tsr_status tsr_t5x_default_mesh(const tsr_topology *topology, const tsr_t5x_mesh_options *given,
                                tsr_mesh **out_mesh) {
  tsr_t5x_mesh_options options;
  TSR_TRY(tsr_sized_read(tsr_t5x_mesh_options, given, &options));
  if (options.ici_mesh_shape && options.dcn_mesh_shape)
    return create_multi_slice(topology, &options, out_mesh);
  if (options.model_parallel_submesh && options.model_parallel_submesh->count)
    return tsr_t5x_get_mesh(topology, options.model_parallel_submesh, options.local_process,
                            !options.no_host_tiling, out_mesh);
  if (tsr_topology_platform(topology) == TSR_PLATFORM_CPU)
    return tsr_t5x_get_cpu_mesh(topology, out_mesh);
  if (tsr_topology_platform(topology) == TSR_PLATFORM_GPU)
    return tsr_t5x_get_gpu_mesh(topology, options.num_partitions, out_mesh);
  tsr_hardware_mesh submesh;
  TSR_TRY(find_submesh(topology, options.num_partitions, &submesh));
  return tsr_t5x_get_mesh(topology, &submesh, options.local_process, !options.no_host_tiling,
                          out_mesh);
}
