// Meshes as JSON: {"axes": [["data", 4], ["model", 2]], "types": ["auto", "explicit"], "devices":
// [3, 1, 0, 2], "abstract": true}, of which only "axes" is required.
#include "json/json_read.h"
#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"

static const char *const keys[] = {"axes", "types", "devices", "abstract", NULL};

static tsr_status read_axes(const tsr_json *list, tsr_arena *arena, tsr_axis *axes,
                            int *out_count) {
  TSR_TRY(tsr_json_want_array(list, "axes"));
  if (tsr_json_count(list) > TSR_MAX_AXES)
    return tsr_fail(TOO_LARGE, "a mesh of %zu axes; at most %d are possible", tsr_json_count(list),
                    TSR_MAX_AXES);
  int count = 0;
  for (const tsr_json *pair = tsr_json_first(list); pair; pair = tsr_json_next(pair)) {
    TSR_TRY(tsr_json_want_array(pair, "axis"));
    if (tsr_json_count(pair) != 2)
      return tsr_fail(JSON_KIND, "axis: wanted [name, size], found %zu values",
                      tsr_json_count(pair));
    axes[count].type = TSR_AXIS_AUTO;
    TSR_TRY(tsr_json_copy_string(tsr_json_at(pair, 0), "axis name", arena, &axes[count].name));
    TSR_TRY(tsr_json_get_int(tsr_json_at(pair, 1), "axis size", &axes[count].size));
    count++;
  }
  *out_count = count;
  return NULL;
}

static tsr_status read_types(const tsr_json *list, tsr_arena *arena, tsr_axis *axes, int count) {
  if (!list) return NULL;
  TSR_TRY(tsr_json_want_array(list, "types"));
  if (tsr_json_count(list) != (size_t)count)
    return tsr_fail(MESH_AXIS_TYPES_MISMATCH, "%zu axis types for %d axes", tsr_json_count(list),
                    count);
  for (const tsr_json *type = tsr_json_first(list); type; type = tsr_json_next(type)) {
    const char *name = NULL;
    TSR_TRY(tsr_json_copy_string(type, "axis type", arena, &name));
    TSR_TRY(tsr_axis_type_parse(name, &axes++->type));
  }
  return NULL;
}

static tsr_status read_devices(const tsr_json *list, tsr_arena *arena, tsr_mesh_desc *desc) {
  if (!list) return NULL;
  TSR_TRY(tsr_json_want_array(list, "devices"));
  const size_t count = tsr_json_count(list);
  if (!count) return tsr_fail(BAD_ARGUMENT, "devices: wanted at least one");
  int64_t *ids = tsr_arena_zeros(arena, count, sizeof *ids);
  if (!ids) return tsr_fail(NO_MEMORY, "list of %zu devices", count);
  size_t i = 0;
  for (const tsr_json *item = tsr_json_first(list); item; item = tsr_json_next(item)) {
    int64_t id = 0;
    TSR_TRY(tsr_json_get_int(item, "device", &id));
    if (id < 0 || id > INT32_MAX)
      return tsr_fail(UNKNOWN_DEVICE, "device %lld; ids are 0 to %d", (long long)id, INT32_MAX);
    ids[i++] = id;
  }
  desc->devices = ids;
  desc->device_count = (int64_t)count;
  return NULL;
}

static tsr_status read_mesh(const tsr_json *value, const tsr_topology *topology, tsr_arena *arena,
                            tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES];
  tsr_mesh_desc desc = {.size = sizeof desc, .axes = axes, .topology = topology};
  TSR_TRY(tsr_json_check_keys(value, keys));
  TSR_TRY(read_axes(tsr_json_find(value, "axes"), arena, axes, &desc.axis_count));
  TSR_TRY(read_types(tsr_json_find(value, "types"), arena, axes, desc.axis_count));
  TSR_TRY(read_devices(tsr_json_find(value, "devices"), arena, &desc));
  const tsr_json *is_abstract = tsr_json_find(value, "abstract");
  if (is_abstract) TSR_TRY(tsr_json_get_bool(is_abstract, "abstract", &desc.abstract));
  return tsr_mesh_create_read(&desc, out_mesh);
}

tsr_status tsr_mesh_from_json(const tsr_json *value, const tsr_topology *topology,
                              tsr_mesh **out_mesh) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_status status = read_mesh(value, topology, &arena, out_mesh);
  tsr_arena_deinit(&arena);
  return tsr_note(status, "mesh");
}

static void write_axes(const tsr_mesh *mesh, tsr_json_writer *writer) {
  tsr_json_add_inline_array(writer, "axes");
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    tsr_json_begin_inline_array(writer);
    tsr_json_write_string(writer, tsr_mesh_axis_at(mesh, i)->name);
    tsr_json_write_int(writer, tsr_mesh_axis_at(mesh, i)->size);
    tsr_json_end_array(writer);
  }
  tsr_json_end_array(writer);
}

static void write_types(const tsr_mesh *mesh, tsr_json_writer *writer) {
  bool all_auto = true;
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    all_auto = all_auto && tsr_mesh_axis_at(mesh, i)->type == TSR_AXIS_AUTO;
  if (all_auto) return;
  tsr_json_add_inline_array(writer, "types");
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_json_write_string(writer, tsr_axis_type_name(tsr_mesh_axis_at(mesh, i)->type));
  tsr_json_end_array(writer);
}

static void write_devices(const tsr_mesh *mesh, tsr_json_writer *writer) {
  if (tsr_mesh_is_abstract(mesh)) {
    tsr_json_add_bool(writer, "abstract", true);
  } else if (!tsr_mesh_has_default_devices(mesh)) {
    tsr_json_add_inline_array(writer, "devices");
    for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
      tsr_json_write_int(writer, tsr_mesh_device_at(mesh, i));
    tsr_json_end_array(writer);
  }
}

void tsr_mesh_to_json(const tsr_mesh *mesh, tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  write_axes(mesh, writer);
  write_types(mesh, writer);
  write_devices(mesh, writer);
  tsr_json_end_object(writer);
}
