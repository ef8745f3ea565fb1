// Meshes as the sharding and flax files write them: {"names", "sizes"} and more.
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/topology.h"

static tsr_status read_axis_types(const golden_case *c, const tsr_json *value, tsr_axis_type **out,
                                  int *out_count) {
  golden_names names;
  *out = NULL;
  *out_count = 0;
  if (golden_is_null(value)) return NULL;
  TSR_TRY(golden_read_names(c, value, "types", &names));
  tsr_axis_type *types = tsr_arena_zeros(c->arena, (size_t)names.count + 1, sizeof *types);
  if (!types) return tsr_fail(NO_MEMORY, "types");
  for (int i = 0; i < names.count; i++) TSR_TRY(tsr_axis_type_parse(names.items[i], &types[i]));
  *out = types;
  *out_count = names.count;
  return NULL;
}

// A name may be null here, which is an error of its own.
static tsr_status read_names(const golden_case *c, const tsr_json *value, golden_names *out) {
  out->count = 0;
  out->items = tsr_arena_zeros(c->arena, tsr_json_count(value) + 1, sizeof *out->items);
  if (!out->items) return tsr_fail(NO_MEMORY, "names");
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at), out->count++)
    if (!golden_is_null(at)) TSR_TRY(golden_read_string(c, at, "names", &out->items[out->count]));
  return NULL;
}

// Devices 0, 1, 2, ..., where device i belongs to process i / `per_process`.
static tsr_status make_machine(const golden_case *c, int64_t count, int64_t per_process,
                               tsr_topology **out) {
  if (per_process < 1 || count > INT32_MAX)
    return tsr_fail(BAD_ARGUMENT, "%lld devices in processes of %lld", (long long)count,
                    (long long)per_process);
  tsr_device *devices = tsr_arena_zeros(c->arena, (size_t)count, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "devices");
  for (int64_t i = 0; i < count; i++)
    devices[i] = (tsr_device){
        .id = i, .process = i / per_process, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_CPU,
                                  .kind = "cpu",
                                  .device_count = (int)count,
                                  .devices = devices};
  return tsr_topology_create(&desc, out);
}

static tsr_status read_device_ids(const golden_case *c, const tsr_json *value,
                                  tsr_mesh_desc *desc) {
  golden_ints ids;
  if (golden_is_null(value)) return NULL;
  TSR_TRY(golden_read_ints(c, value, "ids", &ids));
  int64_t *devices = tsr_arena_zeros(c->arena, (size_t)ids.count + 1, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "ids");
  for (int i = 0; i < ids.count; i++) devices[i] = ids.items[i];
  desc->devices = devices;
  desc->device_count = ids.count;
  return NULL;
}

tsr_status golden_read_mesh(const golden_case *c, const tsr_json *value, tsr_mesh **out) {
  const tsr_json *per_process = tsr_json_find(value, "devices_per_process");
  golden_names names;
  golden_ints sizes;
  tsr_axis_type *types = NULL;
  tsr_axis axes[TSR_MAX_AXES];
  tsr_topology *topology = NULL;
  int type_count = 0;
  TSR_TRY(read_names(c, tsr_json_find(value, "names"), &names));
  TSR_TRY(golden_read_ints(c, tsr_json_find(value, "sizes"), "sizes", &sizes));
  TSR_TRY(read_axis_types(c, tsr_json_find(value, "types"), &types, &type_count));
  TSR_TRY(
      tsr_axes_zip(names.items, names.count, sizes.items, sizes.count, types, type_count, axes));
  tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = names.count, .axes = axes};
  TSR_TRY(read_device_ids(c, tsr_json_find(value, "ids"), &desc));
  if (!golden_is_null(per_process)) {
    int64_t count = 1, local = 0;
    for (int i = 0; i < sizes.count; i++) count *= sizes.items[i];
    TSR_TRY(tsr_json_get_int(per_process, "devices_per_process", &local));
    TSR_TRY(make_machine(c, count, local, &topology));
    desc.topology = topology;
  }
  tsr_status status = tsr_mesh_create(&desc, out);
  tsr_topology_release(topology);
  return status;
}
