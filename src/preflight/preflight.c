// The handle: passes that make collectives explicit, then one step after the other.
#include "preflight/preflight.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/sized.h"
#include "insight/insight.h"
#include "program/pipelines.h"
#include "program/program_internal.h"
#include "topology/topology_internal.h"

// What Shardy runs after propagation, in its order, to have collectives in the program.
static const char explicit_list[] =
    "sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives,"
    "canonicalize";

// ---- options ----

static tsr_status read_options(tsr_preflight *flight, const tsr_preflight_options *given) {
  TSR_TRY(tsr_sized_read(tsr_preflight_options, given, &flight->options));
  if (flight->options.topology) flight->topology = tsr_topology_retain(flight->options.topology);
  TSR_TRY(tsr_flight_device_of(&flight->options, flight->topology, &flight->device));
  if (flight->topology)
    flight->info.memory_bytes = tsr_topology_memory_per_device(flight->topology);
  return NULL;
}

// ---- meshes ----

static tsr_status make_mesh(const tsr_preflight *flight, const tsr_attr *attr,
                            tsr_mesh **out_mesh) {
  const tsr_attr *list = tsr_attr_field(attr, TSR_SDY_MESH_AXES);
  tsr_axis axes[TSR_MAX_AXES];
  tsr_mesh_desc desc = TSR_MESH_DESC;
  if (list->count > TSR_MAX_AXES)
    return tsr_fail(TOO_LARGE, "a mesh of %lld axes, expected at most %d", (long long)list->count,
                    TSR_MAX_AXES);
  for (int i = 0; i < (int)list->count; i++)
    axes[i] = (tsr_axis){.name = tsr_attr_field(list->items[i], TSR_SDY_MESH_AXIS_NAME)->bytes,
                         .size = tsr_sdy_axis_size(attr, i)};
  desc.axes = axes;
  desc.axis_count = (int)list->count;
  desc.topology = flight->topology;
  return tsr_mesh_create(&desc, out_mesh);
}

tsr_status tsr_flight_mesh_of(tsr_preflight *flight, const tsr_attr *attr,
                              const tsr_mesh **out_mesh) {
  for (int64_t i = 0; i < flight->mesh_count; i++)
    if (flight->meshes[i].attr == attr || tsr_attr_equal(flight->meshes[i].attr, attr)) {
      *out_mesh = flight->meshes[i].mesh;
      return NULL;
    }
  tsr_flight_mesh *meshes =
      tsr_arena_grow(&flight->arena, flight->meshes, flight->mesh_count, sizeof *meshes);
  TSR_NEED(meshes);
  flight->meshes = meshes;
  meshes[flight->mesh_count] = (tsr_flight_mesh){.attr = attr};
  TSR_TRY_NOTE(make_mesh(flight, attr, &meshes[flight->mesh_count].mesh),
               "the mesh of the program on the devices of the topology");
  *out_mesh = meshes[flight->mesh_count++].mesh;
  return NULL;
}

// ---- passes ----

static tsr_status see_collective(tsr_op *op, void *context) {
  *(bool *)context |= tsr_flight_is_collective(op);
  return NULL;
}

// XLA's older form, {devices=[2,4]<=[8]}, is not read yet; taking the program as whole would be
// wrong in silence.
static tsr_status check_form(const tsr_program *program) {
  const int64_t entry = tsr_program_entry(program);
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  if (entry < 0 || tsr_program_mesh_count(program)) return NULL;
  TSR_TRY(tsr_program_function_at(program, entry, &function));
  for (int64_t i = 0; i < function.argument_count; i++) {
    tsr_program_value argument = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_argument(program, entry, i, &argument));
    if (argument.sharding && !argument.mesh)
      return tsr_fail(UNSUPPORTED,
                      "argument %s is sharded as %s; shardings of a program without a "
                      "mesh of Shardy are not read",
                      argument.name, argument.sharding);
  }
  return NULL;
}

static tsr_status prepare(tsr_preflight *flight, const tsr_propagation *propagation) {
  bool done = false;
  TSR_TRY(check_form(propagation->given));
  TSR_TRY(tsr_flight_origins_make(flight, propagation));
  tsr_ir *ir = tsr_program_copy_ir(propagation->final);
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_op_walk(ir->module, see_collective, &done);
  if (!status && !done) status = tsr_all_passes_run(ir, explicit_list, NULL);
  if (status) {
    tsr_ir_destroy(ir);
    return status;
  }
  flight->ir = ir;
  return tsr_program_wrap(ir, "program", TSR_PROGRAM_BUILT, &flight->program);
}

// ---- the handle ----

static int64_t mesh_size(const tsr_attr *mesh) {
  int64_t size = 1;
  for (int i = 0; i < (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count; i++)
    size = tsr_saturated_multiply(size, tsr_sdy_axis_size(mesh, i));
  return size;
}

static void count_devices(tsr_preflight *flight) {
  flight->info.device_count = 1;
  for (const tsr_op *op = flight->ir->module->regions[0].first->first; op; op = op->next) {
    const tsr_attr *mesh = op->info->id == TSR_OP_SDY_MESH ? tsr_op_attr(op, "mesh") : NULL;
    if (mesh && mesh->kind == TSR_ATTR_RECORD && mesh_size(mesh) > flight->info.device_count)
      flight->info.device_count = mesh_size(mesh);
  }
}

static tsr_status analyse(tsr_preflight *flight, const tsr_propagation *propagation) {
  TSR_TRY(prepare(flight, propagation));
  count_devices(flight);
  if (flight->topology && tsr_topology_device_count(flight->topology) < flight->info.device_count)
    return tsr_fail(BAD_ARGUMENT, "the mesh has %lld devices, the topology only %lld",
                    (long long)flight->info.device_count,
                    (long long)tsr_topology_device_count(flight->topology));
  TSR_TRY(tsr_flight_flatten(flight));
  TSR_TRY(tsr_flight_count_times(flight));
  TSR_TRY(tsr_flight_find_scopes(flight));
  TSR_TRY(tsr_flight_find_collectives(flight));
  TSR_TRY(tsr_flight_find_causes(flight));
  TSR_TRY(tsr_flight_group_reshards(flight));
  tsr_flight_count_work(flight);
  return tsr_flight_find_peak(flight);
}

tsr_status tsr_preflight_create(const tsr_propagation *propagation,
                                const tsr_preflight_options *options,
                                tsr_preflight **out_preflight) {
  tsr_preflight *flight = calloc(1, sizeof *flight);
  if (!flight) return tsr_fail(NO_MEMORY, "a pre-flight");
  atomic_init(&flight->references, 1);
  flight->info.size = sizeof flight->info;
  flight->entry = flight->peak_op = -1;
  tsr_status status = read_options(flight, options);
  if (!status) status = analyse(flight, propagation);
  if (status)
    tsr_preflight_release(flight);
  else
    *out_preflight = flight;
  return status;
}

tsr_preflight *tsr_preflight_retain(const tsr_preflight *preflight) {
  tsr_preflight *flight = (tsr_preflight *)(uintptr_t)preflight;
  atomic_fetch_add_explicit(&flight->references, 1, memory_order_relaxed);
  return flight;
}

void tsr_preflight_release(const tsr_preflight *preflight) {
  tsr_preflight *flight = (tsr_preflight *)(uintptr_t)preflight;
  if (!flight || atomic_fetch_sub_explicit(&flight->references, 1, memory_order_acq_rel) > 1)
    return;
  for (int64_t i = 0; i < flight->mesh_count; i++) tsr_mesh_release(flight->meshes[i].mesh);
  tsr_topology_release(flight->topology);
  tsr_sharding_table_deinit(&flight->table);
  tsr_program_release(flight->program);
  tsr_arena_deinit(&flight->arena);
  free(flight);
}

tsr_status tsr_preflight_describe(const tsr_preflight *preflight, tsr_preflight_info *out_info) {
  TSR_TRY(tsr_sized_check(tsr_preflight_info, out_info));
  tsr_sized_fill(tsr_preflight_info, &preflight->info, out_info);
  return NULL;
}

tsr_status tsr_preflight_reshard_at(const tsr_preflight *preflight, int64_t index,
                                    tsr_preflight_reshard *out_reshard) {
  if (index < 0 || index >= preflight->group_count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "reshard %lld, expected 0 to %lld", (long long)index,
                    (long long)preflight->group_count - 1);
  TSR_TRY(tsr_sized_check(tsr_preflight_reshard, out_reshard));
  tsr_sized_fill(tsr_preflight_reshard, &preflight->groups[index].row, out_reshard);
  return NULL;
}
