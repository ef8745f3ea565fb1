// JAX's PartitionSpec, NamedSharding and Mesh.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"

// ---- arguments ----

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
static tsr_status make_machine(int64_t count, int64_t per_process, tsr_topology **out) {
  char text[64];
  if (per_process < 1 || count % per_process)
    return tsr_fail(BAD_ARGUMENT, "%lld devices in processes of %lld", (long long)count,
                    (long long)per_process);
  snprintf(text, sizeof text, "cpu:%lldx%lld", (long long)(count / per_process),
           (long long)per_process);
  return tsr_topology_parse(text, out);
}

static tsr_status read_device_ids(const golden_case *c, const tsr_json *value,
                                  tsr_mesh_desc *desc) {
  golden_ints ids;
  if (golden_is_null(value)) return NULL;
  TSR_TRY(golden_read_ints(c, value, "ids", &ids));
  int32_t *devices = tsr_arena_zeros(c->arena, (size_t)ids.count + 1, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "ids");
  for (int i = 0; i < ids.count; i++) devices[i] = (int32_t)ids.items[i];
  desc->devices = devices;
  desc->device_count = ids.count;
  return NULL;
}

// {"names", "sizes"} and optional "ids", "types", "devices_per_process".
static tsr_status read_mesh(const golden_case *c, const tsr_json *value, tsr_mesh **out) {
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
    TSR_TRY(make_machine(count, local, &topology));
    desc.topology = topology;
  }
  tsr_status status = tsr_mesh_create(&desc, out);
  tsr_topology_release(topology);
  return status;
}

static tsr_status read_refs(const golden_case *c, const char *what, const tsr_axis_ref **out,
                            int *out_count) {
  golden_names names;
  if (golden_is_null(golden_get(c, what))) return NULL;
  TSR_TRY(golden_read_names(c, golden_get(c, what), what, &names));
  tsr_axis_ref *refs = tsr_arena_zeros(c->arena, (size_t)names.count + 1, sizeof *refs);
  if (!refs) return tsr_fail(NO_MEMORY, "%s", what);
  for (int i = 0; i < names.count; i++) refs[i] = (tsr_axis_ref){names.items[i], 1, 0};
  *out = refs;
  *out_count = names.count;
  return NULL;
}

// The entries under `what`, with the sets "unreduced" and "reduced" of the case.
static tsr_status read_spec(const golden_case *c, const char *what, tsr_spec **out) {
  tsr_spec *entries = NULL;
  TSR_TRY(tsr_spec_from_json(golden_get(c, what), &entries));
  tsr_spec_desc desc = *tsr_spec_get(entries);
  tsr_status status = read_refs(c, "unreduced", &desc.unreduced, &desc.unreduced_count);
  if (!status) status = read_refs(c, "reduced", &desc.reduced, &desc.reduced_count);
  if (!status) status = tsr_spec_create(&desc, out);
  tsr_spec_release(entries);
  return status;
}

static tsr_status bind(const golden_case *c, const char *mesh_key, const char *spec_key,
                       tsr_sharding **out) {
  tsr_spec *spec = NULL;
  tsr_mesh *mesh = NULL;
  tsr_status status = read_spec(c, spec_key, &spec);
  if (!status) status = read_mesh(c, golden_get(c, mesh_key), &mesh);
  if (!status) status = tsr_sharding_bind(mesh, spec, true, out);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

// ---- answers ----

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_sorted(tsr_json_writer *out, const char *key, const char **names, int count) {
  if (count) qsort(names, (size_t)count, sizeof *names, compare_names);
  tsr_json_write_key(out, key);
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < count; i++) tsr_json_write_string(out, names[i]);
  tsr_json_end_array(out);
}

static tsr_status write_set(const golden_case *c, tsr_json_writer *out, const char *key,
                            const tsr_axis_ref *refs, int count) {
  const char **names = tsr_arena_zeros(c->arena, (size_t)count + 1, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "%s", key);
  for (int i = 0; i < count; i++) names[i] = refs[i].name;
  write_sorted(out, key, names, count);
  return NULL;
}

static void write_spec(tsr_json_writer *out, const tsr_spec *spec) {
  // The sets are written beside the entries, not with them.
  tsr_spec_desc desc = *tsr_spec_get(spec);
  tsr_spec *entries = NULL;
  desc.unreduced_count = desc.reduced_count = 0;
  tsr_status status = tsr_spec_create(&desc, &entries);
  tsr_json_write_key(out, "spec");
  if (status)
    tsr_json_write_string(out, tsr_status_text(status));
  else
    tsr_spec_to_json(entries, out);
  tsr_status_free(status);
  tsr_spec_release(entries);
}

// ---- functions ----

static tsr_status partition_spec(const golden_case *c, const golden_answer *answer) {
  tsr_spec *spec = NULL;
  TSR_TRY(read_spec(c, "entries", &spec));
  const tsr_spec_desc *desc = tsr_spec_get(spec);
  tsr_status status = NULL;
  tsr_json_begin_object(answer->out);
  write_spec(answer->out, spec);
  if (golden_get(c, "unreduced"))
    status = write_set(c, answer->out, "unreduced", desc->unreduced, desc->unreduced_count);
  if (!status && golden_get(c, "reduced"))
    status = write_set(c, answer->out, "reduced", desc->reduced, desc->reduced_count);
  if (!status) tsr_json_end_object(answer->out);
  tsr_spec_release(spec);
  return status;
}

static tsr_status equivalent(const golden_case *c, const golden_answer *answer) {
  int64_t rank = 0;
  tsr_sharding *a = NULL, *b = NULL;
  bool same = false;
  TSR_TRY(golden_int(c, "ndim", &rank));
  tsr_status status = bind(c, "mesh1", "spec1", &a);
  if (!status) status = bind(c, "mesh2", "spec2", &b);
  if (!status) status = tsr_sharding_equivalent(a, b, (int)rank, &same);
  if (!status) {
    tsr_json_begin_object(answer->out);
    tsr_json_write_key(answer->out, "equivalent");
    tsr_json_write_bool(answer->out, same);
    tsr_json_write_key(answer->out, "equal");
    tsr_json_write_bool(answer->out, tsr_sharding_equal(a, b));
    tsr_json_end_object(answer->out);
  }
  tsr_sharding_release(a);
  tsr_sharding_release(b);
  return status;
}

static tsr_status mesh(const golden_case *c, const golden_answer *answer) {
  tsr_mesh *made = NULL;
  TSR_TRY(read_mesh(c, c->input, &made));
  tsr_json_begin_object(answer->out);
  golden_write_axis_types(answer->out, made, true);
  tsr_json_write_key(answer->out, "size");
  tsr_json_write_int(answer->out, tsr_mesh_device_count(made));
  tsr_json_end_object(answer->out);
  tsr_mesh_release(made);
  return NULL;
}

const golden_function golden_jax_sharding_functions[] = {
    {"equivalent", equivalent, {NULL}},
    {"mesh", mesh, {NULL}},
    {"partition_spec", partition_spec, {NULL}},
    {NULL, NULL, {NULL}},
};
