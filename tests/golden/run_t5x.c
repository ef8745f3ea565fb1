// t5x's meshes on recorded fleets, and its rules for logical axes.
#include <stdio.h>

#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_build_internal.h"
#include "rules/logical_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_rules.h"
#include "tessera/engine/topology.h"

static void write_numbers(tsr_json_writer *out, const tsr_hardware_mesh *numbers) {
  tsr_json_write_ints(out, numbers->dims, (size_t)numbers->count);
}

// A TPU with one device at the given place.
static tsr_status make_tpu(const golden_case *c, tsr_topology **out) {
  golden_ints coords;
  int64_t core = 0;
  TSR_TRY(golden_list(c, "coords", &coords));
  TSR_TRY(golden_int(c, "core_on_chip", &core));
  if (coords.count != 3) return tsr_fail(UNSUPPORTED, "%d coordinates, wanted 3", coords.count);
  tsr_device device = {.core = core, .has_coords = true};
  for (int i = 0; i < 3; i++) device.coords[i] = coords.items[i];
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_TPU,
                                  .kind = "TPU v4",
                                  .device_count = 1,
                                  .devices = &device};
  return tsr_topology_create(&desc, out);
}

// Hosts with as many CPUs each as process 0 has, in which the device `id` belongs to `process`.
static tsr_status make_hosts(const golden_case *c, int64_t local, int64_t id, int64_t process,
                             tsr_topology **out) {
  tsr_device *devices = tsr_arena_zeros(c->arena, (size_t)local + 1, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "%lld devices", (long long)local);
  const tsr_device bare = {.slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  devices[0] = bare;
  devices[0].id = id;
  devices[0].process = process;
  // The others are of process 0, with ids nobody asks for.
  const int64_t others = process == 0 ? local - 1 : local;
  for (int64_t i = 1; i <= others; i++) {
    devices[i] = bare;
    devices[i].id = -i;
  }
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_CPU,
                                  .kind = "cpu",
                                  .device_count = (int)(others + 1),
                                  .devices = devices};
  return tsr_topology_create(&desc, out);
}

static tsr_status bounds_from_last_device(const golden_case *c, const golden_answer *answer) {
  tsr_topology *topology = NULL;
  tsr_hardware_mesh bounds;
  if (golden_get(c, "coords")) {
    TSR_TRY(make_tpu(c, &topology));
  } else {
    int64_t processes = 0, local = 0;
    char text[64];
    TSR_TRY(golden_int(c, "process_count", &processes));
    TSR_TRY(golden_int(c, "local_device_count", &local));
    snprintf(text, sizeof text, "cpu:%lldx%lld", (long long)processes, (long long)local);
    TSR_TRY(tsr_topology_parse(text, &topology));
  }
  tsr_t5x_bounds_from_last_device(topology, tsr_topology_device_count(topology) - 1, &bounds);
  write_numbers(answer->out, &bounds);
  tsr_topology_release(topology);
  return NULL;
}

static tsr_status get_coords(const golden_case *c, const golden_answer *answer) {
  tsr_topology *topology = NULL;
  tsr_hardware_mesh coords;
  if (golden_get(c, "coords")) {
    TSR_TRY(make_tpu(c, &topology));
  } else {
    int64_t id = 0, process = 0, local = 0;
    TSR_TRY(golden_int(c, "id", &id));
    TSR_TRY(golden_int(c, "process_index", &process));
    TSR_TRY(golden_int(c, "local_device_count", &local));
    TSR_TRY(make_hosts(c, local, id, process, &topology));
  }
  tsr_t5x_get_coords(topology, 0, &coords);
  write_numbers(answer->out, &coords);
  tsr_topology_release(topology);
  return NULL;
}

// Writes the mesh a builder gave and lets go of it and of the machine.
static tsr_status finish(const golden_answer *answer, tsr_status status, tsr_mesh *mesh,
                         tsr_topology *topology) {
  tsr_topology_release(topology);
  if (status) return status;
  tsr_json_begin_object(answer->out);
  golden_write_axis_names(answer->out, "axis_names", mesh);
  golden_write_mesh(answer->out, mesh);
  tsr_json_end_object(answer->out);
  tsr_mesh_release(mesh);
  return NULL;
}

tsr_status golden_read_submesh(const golden_case *c, const tsr_json *object,
                               tsr_hardware_mesh *out) {
  const char *what = "model_parallel_submesh";
  golden_ints sizes;
  TSR_TRY(golden_read_ints(c, tsr_json_find(object, what), what, &sizes));
  out->count = sizes.count;  // more than there is room for are refused by their number
  for (int i = 0; i < sizes.count && i < 4; i++) out->dims[i] = sizes.items[i];
  return NULL;
}

static tsr_status get_mesh(const golden_case *c, const golden_answer *answer) {
  tsr_hardware_mesh submesh;
  bool tile = true;
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_read_submesh(c, c->input, &submesh));
  TSR_TRY(golden_bool(c, "tile_by_host_if_needed", &tile));
  TSR_TRY(golden_machine(c, "fleet", &topology));
  tsr_status status = tsr_t5x_get_mesh(topology, &submesh, 0, tile, &mesh);
  return finish(answer, status, mesh, topology);
}

static tsr_status get_cpu_mesh(const golden_case *c, const golden_answer *answer) {
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_machine(c, "fleet", &topology));
  tsr_status status = tsr_t5x_get_cpu_mesh(topology, &mesh);
  return finish(answer, status, mesh, topology);
}

static tsr_status get_gpu_mesh(const golden_case *c, const golden_answer *answer) {
  int64_t partitions = 0;
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_int(c, "num_partitions", &partitions));
  TSR_TRY(golden_machine(c, "fleet", &topology));
  tsr_status status = tsr_t5x_get_gpu_mesh(topology, partitions, &mesh);
  return finish(answer, status, mesh, topology);
}

static tsr_status default_mesh(const golden_case *c, const golden_answer *answer) {
  tsr_t5x_mesh_options options = {.size = sizeof options};
  tsr_hardware_mesh submesh;
  golden_ints ici, dcn;
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_int(c, "num_partitions", &options.num_partitions));
  if (!golden_is_null(golden_get(c, "model_parallel_submesh"))) {
    TSR_TRY(golden_read_submesh(c, c->input, &submesh));
    options.model_parallel_submesh = &submesh;
  }
  if (!golden_is_null(golden_get(c, "ici_mesh_shape"))) {
    TSR_TRY(golden_list(c, "ici_mesh_shape", &ici));
    options.ici_mesh_shape = ici.items;
    options.ici_rank = ici.count;
  }
  if (!golden_is_null(golden_get(c, "dcn_mesh_shape"))) {
    TSR_TRY(golden_list(c, "dcn_mesh_shape", &dcn));
    options.dcn_mesh_shape = dcn.items;
    options.dcn_rank = dcn.count;
  }
  TSR_TRY(golden_machine(c, "fleet", &topology));
  tsr_status status = tsr_t5x_default_mesh(topology, &options, &mesh);
  return finish(answer, status, mesh, topology);
}

void golden_write_process_key(tsr_json_writer *out, int64_t process) {
  char key[16];
  snprintf(key, sizeof key, "%d", (int)process);
  tsr_json_write_key(out, key);
}

// ---- logical axes ----

// The standard rules that a case asks for, to be released.
static tsr_status make_standard(const golden_case *c, tsr_logical_rules **out) {
  int64_t activation_dims = 0, parameter_dims = 0;
  tsr_logical_rules *additional = NULL;
  TSR_TRY(golden_int(c, "activation_partitioning_dims", &activation_dims));
  TSR_TRY(golden_int(c, "parameter_partitioning_dims", &parameter_dims));
  if (!golden_is_null(golden_get(c, "additional_rules")))
    TSR_TRY(tsr_logical_rules_from_json(golden_get(c, "additional_rules"), &additional));
  tsr_status status = tsr_logical_standard(activation_dims, parameter_dims, additional, false, out);
  tsr_logical_rules_release(additional);
  return status;
}

static tsr_status standard_logical_axis_rules(const golden_case *c, const golden_answer *answer) {
  tsr_logical_rules *rules = NULL;
  TSR_TRY(make_standard(c, &rules));
  tsr_logical_rules_to_json(rules, answer->out);
  tsr_logical_rules_release(rules);
  return NULL;
}

// The spec of the names in `value`, of the parameter `path` if there is one; null for null.
static tsr_status write_mapped(const tsr_json *value, const tsr_logical_rules *rules,
                               const char *path, tsr_json_writer *out) {
  tsr_logical_names names = {0};
  tsr_spec *spec = NULL;
  if (golden_is_null(value)) {
    tsr_json_write_null(out);
    return NULL;
  }
  TSR_TRY(tsr_logical_names_from_json(value, &names));
  tsr_status status = path ? tsr_logical_param_axes(path, &names, rules, &spec, NULL)
                           : tsr_logical_to_mesh_axes(&names, rules, &spec, NULL);
  if (!status) tsr_spec_to_json(spec, out);
  tsr_spec_release(spec);
  tsr_logical_names_deinit(&names);
  return status;
}

static tsr_status logical_to_mesh_axes(const golden_case *c, const golden_answer *answer) {
  tsr_logical_rules *rules = NULL;
  TSR_TRY(make_standard(c, &rules));
  tsr_status status = write_mapped(golden_get(c, "names"), rules, NULL, answer->out);
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status write_params(const golden_case *c, const tsr_logical_rules *rules,
                               tsr_json_writer *out) {
  tsr_json_begin_object(out);
  for (const tsr_json *at = tsr_json_first(golden_get(c, "params")); at; at = tsr_json_next(at)) {
    size_t length = 0;
    const char *key = tsr_json_key(at, &length);
    const char *path = tsr_arena_copy(c->arena, key, length);
    if (!path) return tsr_fail(NO_MEMORY, "a path");
    tsr_json_write_key(out, path);
    TSR_TRY(write_mapped(at, rules, path, out));
  }
  tsr_json_end_object(out);
  return NULL;
}

static tsr_status get_mesh_axes(const golden_case *c, const golden_answer *answer) {
  tsr_logical_rules *rules = NULL;
  TSR_TRY(make_standard(c, &rules));
  tsr_status status = write_params(c, rules, answer->out);
  tsr_logical_rules_release(rules);
  return status;
}

const golden_function golden_t5x_functions[] = {
    {"bounds_from_last_device", bounds_from_last_device, {NULL}},
    {"data_layout", golden_data_layout, {NULL}},
    {"default_mesh", default_mesh, {NULL}},
    {"get_coords", get_coords, {NULL}},
    {"get_cpu_mesh", get_cpu_mesh, {NULL}},
    {"get_gpu_mesh", get_gpu_mesh, {NULL}},
    {"get_mesh", get_mesh, {NULL}},
    {"get_mesh_axes", get_mesh_axes, {NULL}},
    {"local_chunker", golden_local_chunker, {NULL}},
    {"logical_to_mesh_axes", logical_to_mesh_axes, {NULL}},
    {"partitioner_rules", golden_partitioner_rules, {NULL}},
    {"standard_logical_axis_rules", standard_logical_axis_rules, {NULL}},
    {NULL, NULL, {NULL}},
};
