// The shardings of a jax.export file. Newer files list every mesh and sharding once and refer to
// them by index; older ones repeat them, or hold XLA's OpSharding message instead.
#include "base/text_internal.h"
#include "bytecode/export_internal.h"

// The slots of the root table and of the tables below it.
enum { ROOT_MESHES = 20, ROOT_SHARDINGS = 21 };
enum { MESH_SIZES, MESH_NAMES, MESH_TYPES, MESH_DEVICE };
enum { DEVICE_KIND, DEVICE_CORES, DEVICE_PLATFORM };
enum { NAMED_MESH, NAMED_SPEC, NAMED_MEMORY, NAMED_MESH_INDEX };
enum { SPEC_DIMS, SPEC_REDUCED, SPEC_UNREDUCED };
enum { OLD_KIND, OLD_PROTO, OLD_NAMED };

static const char *const axis_types[] = {NULL, "auto", "explicit", "manual"};
enum { AXIS_TYPE_COUNT = sizeof axis_types / sizeof *axis_types };

static tsr_status read_device(const tsr_flat_table *table, tsr_export_mesh *mesh) {
  tsr_flat_table device;
  bool present = false;
  TSR_TRY(tsr_flat_child(table, MESH_DEVICE, &device, &present));
  if (!present) return NULL;
  uint64_t cores = 0;
  TSR_TRY(tsr_flat_string(&device, DEVICE_KIND, &mesh->device_kind));
  TSR_TRY(tsr_flat_number(&device, DEVICE_CORES, 4, 0, &cores));
  mesh->core_count = (int64_t)cores;
  return tsr_flat_string(&device, DEVICE_PLATFORM, &mesh->platform);
}

static tsr_status read_axis_type(const tsr_flat_list *types, int64_t index, const char **out_type) {
  const uint64_t type = tsr_flat_item_number(types, index, 1);
  if (type < 1 || type >= AXIS_TYPE_COUNT)
    return tsr_fail(BROKEN_PROGRAM, "axis %lld of a mesh has type %d, wanted 1 to %d",
                    (long long)index, (int)type, AXIS_TYPE_COUNT - 1);
  *out_type = axis_types[type];
  return NULL;
}

static tsr_status read_mesh(tsr_export_reader *reader, const tsr_flat_table *table,
                            tsr_export_mesh *mesh) {
  tsr_flat_list sizes, types;
  tsr_export_names names;
  TSR_TRY(tsr_flat_list_of(table, MESH_SIZES, 4, &sizes));
  TSR_TRY(tsr_export_names_read(reader, table, MESH_NAMES, &names));
  TSR_TRY(tsr_flat_list_of(table, MESH_TYPES, 1, &types));
  if (sizes.count != names.count || types.count != names.count)
    return tsr_fail(BROKEN_PROGRAM, "a mesh has %lld names, %lld sizes and %lld types of axes",
                    (long long)names.count, (long long)sizes.count, (long long)types.count);
  mesh->axis_count = names.count;
  mesh->axes = tsr_export_zeros(reader, names.count, sizeof *mesh->axes);
  TSR_NEED(mesh->axes);
  for (int64_t i = 0; i < names.count; i++) {
    mesh->axes[i].name = names.names[i];
    mesh->axes[i].size = (int64_t)tsr_flat_item_number(&sizes, i, 4);
    TSR_TRY(read_axis_type(&types, i, &mesh->axes[i].type));
  }
  return read_device(table, mesh);
}

static tsr_status read_spec(tsr_export_reader *reader, const tsr_flat_table *named,
                            tsr_export_sharding *sharding) {
  tsr_flat_table spec, entry;
  tsr_flat_list dims;
  bool present = false;
  TSR_TRY(tsr_flat_child(named, NAMED_SPEC, &spec, &present));
  if (!present) return tsr_fail(BROKEN_PROGRAM, "a sharding has no spec");
  TSR_TRY(tsr_flat_list_of(&spec, SPEC_DIMS, 4, &dims));
  tsr_export_names *axes = tsr_export_zeros(reader, dims.count, sizeof *axes);
  TSR_NEED(axes);
  for (int64_t i = 0; i < dims.count; i++) {
    TSR_TRY(tsr_flat_item_table(&dims, i, &entry));
    TSR_TRY(tsr_export_names_read(reader, &entry, 0, &axes[i]));
  }
  sharding->dims = axes;
  sharding->dim_count = dims.count;
  TSR_TRY(tsr_export_names_read(reader, &spec, SPEC_REDUCED, &sharding->reduced));
  return tsr_export_names_read(reader, &spec, SPEC_UNREDUCED, &sharding->unreduced);
}

// The mesh stands in the file's list of meshes if there is one, or else in the sharding.
static tsr_status read_named_mesh(tsr_export_reader *reader, const tsr_flat_table *named,
                                  const tsr_export_shared *shared, const tsr_export_mesh **out) {
  uint64_t index = 0;
  TSR_TRY(tsr_flat_number(named, NAMED_MESH_INDEX, 4, 0, &index));
  if (shared->mesh_count) {
    if (index >= (uint64_t)shared->mesh_count)
      return tsr_fail(BROKEN_PROGRAM, "a sharding is on mesh %lld, and the file has %lld",
                      (long long)index, (long long)shared->mesh_count);
    *out = &shared->meshes[index];
    return NULL;
  }
  tsr_flat_table table;
  bool present = false;
  TSR_TRY(tsr_flat_child(named, NAMED_MESH, &table, &present));
  if (!present) return tsr_fail(BROKEN_PROGRAM, "a sharding has no mesh");
  tsr_export_mesh *mesh = tsr_export_zeros(reader, 1, sizeof *mesh);
  TSR_NEED(mesh);
  *out = mesh;
  return read_mesh(reader, &table, mesh);
}

static tsr_status read_named(tsr_export_reader *reader, const tsr_flat_table *named,
                             const tsr_export_shared *shared, tsr_export_sharding *sharding) {
  sharding->kind = TSR_EXPORT_NAMED;
  TSR_TRY(read_named_mesh(reader, named, shared, &sharding->mesh));
  TSR_TRY(read_spec(reader, named, sharding));
  return tsr_flat_string(named, NAMED_MEMORY, &sharding->memory_kind);
}

static tsr_status read_proto(tsr_export_reader *reader, const tsr_flat_list *proto,
                             tsr_export_sharding *sharding) {
  sharding->kind = TSR_EXPORT_HLO;
  sharding->hlo_proto = proto->file->bytes + proto->at;
  sharding->hlo_proto_length = (size_t)proto->count;
  tsr_text text = TSR_TEXT_EMPTY;
  if (tsr_op_sharding_print(sharding->hlo_proto, sharding->hlo_proto_length, &text))
    sharding->hlo = tsr_arena_copy(reader->arena, tsr_text_string(&text), text.length);
  const bool fits = !text.failed;
  const bool printed = text.length > 0;
  tsr_text_deinit(&text);
  if (!fits || (printed && !sharding->hlo)) return tsr_fail(NO_MEMORY, "the text of a sharding");
  return NULL;
}

// One of the tables of older files.
static tsr_status read_old(tsr_export_reader *reader, const tsr_flat_table *table,
                           const tsr_export_shared *shared, tsr_export_sharding *sharding) {
  tsr_flat_table named;
  tsr_flat_list proto;
  bool present = false;
  TSR_TRY(tsr_flat_child(table, OLD_NAMED, &named, &present));
  if (present) return read_named(reader, &named, shared, sharding);
  TSR_TRY(tsr_flat_list_of(table, OLD_PROTO, 1, &proto));
  return proto.present ? read_proto(reader, &proto, sharding) : NULL;
}

tsr_status tsr_export_shared_read(tsr_export_reader *reader, const tsr_flat_table *root,
                                  tsr_export_shared *out_shared) {
  tsr_flat_list meshes, shardings;
  tsr_flat_table table;
  TSR_TRY(tsr_flat_list_of(root, ROOT_MESHES, 4, &meshes));
  tsr_export_shared shared = {.mesh_count = meshes.count};
  shared.meshes = tsr_export_zeros(reader, meshes.count, sizeof *shared.meshes);
  TSR_NEED(shared.meshes);
  for (int64_t i = 0; i < meshes.count; i++) {
    TSR_TRY(tsr_flat_item_table(&meshes, i, &table));
    TSR_TRY(read_mesh(reader, &table, &shared.meshes[i]));
  }
  TSR_TRY(tsr_flat_list_of(root, ROOT_SHARDINGS, 4, &shardings));
  shared.sharding_count = shardings.count;
  shared.shardings = tsr_export_zeros(reader, shardings.count, sizeof *shared.shardings);
  TSR_NEED(shared.shardings);
  for (int64_t i = 0; i < shardings.count; i++) {
    TSR_TRY(tsr_flat_item_table(&shardings, i, &table));
    TSR_TRY(read_named(reader, &table, &shared, &shared.shardings[i]));
  }
  *out_shared = shared;
  return NULL;
}

static const tsr_export_sharding unspecified = {.kind = TSR_EXPORT_UNSPECIFIED};

static tsr_status check_count(const tsr_flat_list *list, int64_t count) {
  if (list->count == count) return NULL;
  return tsr_fail(BROKEN_PROGRAM, "%lld shardings, wanted %lld, one for each value",
                  (long long)list->count, (long long)count);
}

// An index of 0 is no sharding.
static tsr_status take_indices(const tsr_flat_list *indices, const tsr_export_shared *shared,
                               tsr_export_value *values) {
  for (int64_t i = 0; i < indices->count; i++) {
    const uint64_t index = tsr_flat_item_number(indices, i, 4);
    if (index > (uint64_t)shared->sharding_count)
      return tsr_fail(BROKEN_PROGRAM, "value %lld has sharding %lld, and the file has %lld",
                      (long long)i, (long long)index, (long long)shared->sharding_count);
    values[i].sharding = index ? &shared->shardings[index - 1] : &unspecified;
  }
  return NULL;
}

tsr_status tsr_export_shardings_read(tsr_export_reader *reader, const tsr_flat_table *root,
                                     int index_slot, int old_slot, const tsr_export_shared *shared,
                                     tsr_export_value *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) values[i].sharding = &unspecified;
  tsr_flat_list list;
  TSR_TRY(tsr_flat_list_of(root, index_slot, 4, &list));
  if (list.count) {
    TSR_TRY(check_count(&list, count));
    return take_indices(&list, shared, values);
  }
  TSR_TRY(tsr_flat_list_of(root, old_slot, 4, &list));
  if (!list.count) return NULL;
  TSR_TRY(check_count(&list, count));
  tsr_export_sharding *shardings = tsr_export_zeros(reader, count, sizeof *shardings);
  TSR_NEED(shardings);
  for (int64_t i = 0; i < count; i++) {
    tsr_flat_table table;
    TSR_TRY(tsr_flat_item_table(&list, i, &table));
    TSR_TRY(read_old(reader, &table, shared, &shardings[i]));
    values[i].sharding = &shardings[i];
  }
  return NULL;
}

// ---- text ----

static void print_axes(const tsr_export_names *axes, tsr_text *out) {
  if (!axes->count) tsr_text_add(out, "None");
  if (axes->count > 1) tsr_text_add(out, "(");
  for (int64_t i = 0; i < axes->count; i++)
    tsr_text_addf(out, "%s'%s'", i ? ", " : "", axes->names[i]);
  if (axes->count > 1) tsr_text_add(out, ")");
}

static void print_set(const char *name, bool first, const tsr_export_names *axes, tsr_text *out) {
  if (!axes->count) return;
  tsr_text_addf(out, "%s%s={", first ? "" : ", ", name);
  for (int64_t i = 0; i < axes->count; i++)
    tsr_text_addf(out, "%s'%s'", i ? ", " : "", axes->names[i]);
  tsr_text_add(out, "}");
}

void tsr_export_sharding_print(const tsr_export_sharding *sharding, tsr_text *out) {
  if (sharding->kind == TSR_EXPORT_HLO && sharding->hlo) tsr_text_add(out, sharding->hlo);
  if (sharding->kind != TSR_EXPORT_NAMED) return;
  tsr_text_add(out, "P(");
  for (int64_t i = 0; i < sharding->dim_count; i++) {
    if (i) tsr_text_add(out, ", ");
    print_axes(&sharding->dims[i], out);
  }
  const bool sets = sharding->unreduced.count || sharding->reduced.count;
  if (sharding->dim_count == 1 && !sets) tsr_text_add(out, ",");
  print_set("unreduced", !sharding->dim_count, &sharding->unreduced, out);
  print_set("reduced", !sharding->dim_count && !sharding->unreduced.count, &sharding->reduced, out);
  tsr_text_add(out, ")");
}
