// eformer's escale: meshes, queries of the current mesh, hashes, corrected specs.
//
// Its recordings contain arguments of a wrong kind (axis_names = 3). A C caller cannot pass such a
// thing, so the readers here refuse them with the cause that eformer's caller sees.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/scope.h"
#include "base/text_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/eformer_mesh.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"

// ---- arguments ----

static bool is_kind(const tsr_json *value, tsr_json_kind kind) {
  return value && tsr_json_kind_of(value) == kind;
}

// How the mesh of a case reaches the function.
static bool mesh_comes_by(const golden_case *c, const char *way) {
  return tsr_json_is_string(tsr_json_find(c->json, "mesh_via"), way);
}

// The mesh that a case passes or enters, to be released; NULL when it does neither.
static tsr_status read_mesh(const golden_case *c, tsr_mesh **out) {
  const tsr_json *mesh = tsr_json_find(c->json, "mesh");
  *out = NULL;
  if (golden_is_null(mesh) || mesh_comes_by(c, "none")) return NULL;
  return tsr_mesh_from_json(mesh, NULL, out);
}

// One name, a list of them, or {"tuple": [...]}.
static tsr_status read_axis_names(const golden_case *c, golden_names *out) {
  const tsr_json *value = golden_get(c, "axis_names");
  const tsr_json *tuple = value ? tsr_json_find(value, "tuple") : NULL;
  if (tuple) value = tuple;
  if (is_kind(value, TSR_JSON_ARRAY)) return golden_read_names(c, value, "axis_names", out);
  if (!is_kind(value, TSR_JSON_STRING))
    return tsr_fail(AXIS_NAMES_WRONG_KIND, "axis names must be a name or a list of names");
  out->count = 1;
  out->items = tsr_arena_zeros(c->arena, 1, sizeof *out->items);
  if (!out->items) return tsr_fail(NO_MEMORY, "axis_names");
  return golden_read_string(c, value, "axis_names", &out->items[0]);
}

// ---- mesh creation ----

// The machine of the recording: as many CPUs in as many processes.
static tsr_status make_machine(const golden_case *c, int64_t *out_local, tsr_topology **out) {
  const tsr_json *processes = tsr_json_find(c->json, "processes");
  int64_t process_count = 1;
  char text[64];
  TSR_TRY(tsr_json_get_int(tsr_json_find(c->json, "devices"), "devices", out_local));
  if (processes) TSR_TRY(tsr_json_get_int(processes, "processes", &process_count));
  snprintf(text, sizeof text, "cpu:%lldx%lld", (long long)process_count, (long long)*out_local);
  return tsr_topology_parse(text, out);
}

static tsr_status read_axis_type(const golden_case *c, const tsr_json *value, tsr_axis_type *out) {
  const char *name = NULL;
  if (!is_kind(value, TSR_JSON_STRING))
    return tsr_fail(AXIS_TYPE_WRONG_KIND, "an axis type must be a text");
  TSR_TRY(golden_read_string(c, value, "axis_types", &name));
  return tsr_axis_type_parse(name, out);
}

// One type for all, or a list.
static tsr_status read_axis_types(const golden_case *c, tsr_eformer_mesh_options *options) {
  const tsr_json *value = golden_get(c, "axis_types");
  if (golden_is_null(value)) return NULL;
  const bool list = is_kind(value, TSR_JSON_ARRAY);
  const size_t count = list ? tsr_json_count(value) : 1;
  tsr_axis_type *types = tsr_arena_zeros(c->arena, count + 1, sizeof *types);
  if (!types) return tsr_fail(NO_MEMORY, "axis_types");
  for (size_t i = 0; i < count; i++)
    TSR_TRY(read_axis_type(c, list ? tsr_json_at(value, i) : value, &types[i]));
  options->axis_types = types;
  options->axis_type_count = (int)count;
  return NULL;
}

static tsr_status read_optional_ints(const golden_case *c, const char *what,
                                     const int64_t **out_items, int *out_count) {
  golden_ints ints;
  if (golden_is_null(golden_get(c, what))) return NULL;
  TSR_TRY(golden_list(c, what, &ints));
  *out_items = ints.items;
  *out_count = ints.count;
  return NULL;
}

static tsr_status read_optional_bool(const golden_case *c, const char *what, bool *out) {
  return golden_is_null(golden_get(c, what)) ? NULL : golden_bool(c, what, out);
}

// The recording ran on CPUs: any other backend is one that machine did not have.
static tsr_status check_backend(const golden_case *c) {
  const char *name = NULL;
  tsr_platform platform = TSR_PLATFORM_CPU;
  if (golden_is_null(golden_get(c, "backend"))) return NULL;
  TSR_TRY(golden_read_string(c, golden_get(c, "backend"), "backend", &name));
  TSR_TRY(tsr_platform_parse(name, &platform));
  if (platform == TSR_PLATFORM_CPU) return NULL;
  return tsr_fail(UNKNOWN_PLATFORM, "the machine has no %s", name);
}

static tsr_status read_options(const golden_case *c, tsr_eformer_mesh_options *options) {
  const tsr_json *names = golden_get(c, "axis_names");
  bool sorted = true, split = true;
  TSR_TRY(read_optional_ints(c, "axis_dims", &options->axis_dims, &options->axis_dim_count));
  TSR_TRY(read_optional_ints(c, "dcn_mesh_dims", &options->dcn_mesh_dims,
                             &options->dcn_mesh_dim_count));
  if (!golden_is_null(names)) {
    golden_names list;
    TSR_TRY(golden_read_names(c, names, "axis_names", &list));
    options->axis_names = list.items;
    options->axis_name_count = list.count;
  }
  TSR_TRY(read_optional_bool(c, "use_jax", &options->use_jax));
  TSR_TRY(read_optional_bool(c, "should_sort_granules_by_key", &sorted));
  TSR_TRY(read_optional_bool(c, "allow_split_physical_axes", &split));
  options->keep_granule_order = !sorted;
  options->forbid_split_physical_axes = !split;
  TSR_TRY(read_axis_types(c, options));
  return check_backend(c);
}

// Ids, or [process, local index] where there are several processes.
static void write_devices(tsr_json_writer *out, const tsr_mesh *mesh, bool by_process,
                          int64_t local) {
  if (!by_process) {
    golden_write_mesh_ids(out, "devices", mesh);
    return;
  }
  tsr_json_write_key(out, "devices");
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++) {
    const int64_t id = tsr_mesh_device_at(mesh, i);
    tsr_json_write_ints(out, (int64_t[]){tsr_mesh_process(mesh, i), id % local}, 2);
  }
  tsr_json_end_array(out);
}

static void write_mesh(const golden_case *c, tsr_json_writer *out, const tsr_mesh *mesh,
                       int64_t local) {
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "axes");
  tsr_json_begin_array(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    tsr_json_begin_inline_array(out);
    tsr_json_write_string(out, tsr_mesh_axis_at(mesh, i)->name);
    tsr_json_write_int(out, tsr_mesh_axis_at(mesh, i)->size);
    tsr_json_end_array(out);
  }
  tsr_json_end_array(out);
  write_devices(out, mesh, tsr_json_find(c->json, "processes") != NULL, local);
  golden_write_axis_types(out, mesh, false);
  tsr_json_end_object(out);
}

static tsr_status create_mesh(const golden_case *c, const golden_answer *answer) {
  tsr_eformer_mesh_options options = {.size = sizeof options};
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  int64_t local = 0;
  TSR_TRY(read_options(c, &options));
  TSR_TRY(make_machine(c, &local, &topology));
  tsr_status status = tsr_eformer_create_mesh(topology, &options, &mesh);
  if (!status) write_mesh(c, answer->out, mesh, local);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  return status;
}

static tsr_status parse_mesh_from_string(const golden_case *c, const golden_answer *answer) {
  const char *text = NULL;
  golden_names names;
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  int64_t local = 0;
  TSR_TRY(golden_read_string(c, golden_get(c, "axis_dims"), "axis_dims", &text));
  TSR_TRY(golden_read_names(c, golden_get(c, "names"), "names", &names));
  TSR_TRY(make_machine(c, &local, &topology));
  tsr_status status = tsr_eformer_parse_mesh(topology, text, names.items, names.count, &mesh);
  if (!status) write_mesh(c, answer->out, mesh, local);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  return status;
}

// A count that is absent, null or 0 is that of the machine.
static tsr_status read_count(const golden_case *c, const char *what, const char *of_machine,
                             int64_t *out) {
  const tsr_json *machine = tsr_json_find(c->json, of_machine);
  *out = 0;
  if (!golden_is_null(golden_get(c, what))) TSR_TRY(golden_int(c, what, out));
  if (*out) return NULL;
  *out = 1;
  return machine ? tsr_json_get_int(machine, of_machine, out) : NULL;
}

static tsr_status calculate_host_mesh_shape(const golden_case *c, const golden_answer *answer) {
  golden_ints shape;
  int64_t devices = 0, processes = 0;
  TSR_TRY(golden_list(c, "global_mesh_shape", &shape));
  TSR_TRY(read_count(c, "total_devices", "devices", &devices));
  TSR_TRY(read_count(c, "num_processes", "processes", &processes));
  int64_t *host = tsr_arena_zeros(c->arena, (size_t)shape.count + 1, sizeof *host);
  if (!host) return tsr_fail(NO_MEMORY, "host mesh shape");
  TSR_TRY(tsr_eformer_host_mesh_shape(shape.items, shape.count, devices, processes, host));
  tsr_json_write_ints(answer->out, host, (size_t)shape.count);
  return NULL;
}

// ---- queries of a mesh ----

static tsr_status names_in_current_mesh(const golden_case *c, const golden_answer *answer) {
  golden_names names;
  tsr_mesh *mesh = NULL;
  const tsr_scope mark = tsr_scope_mark();
  tsr_scope scope;
  TSR_TRY(golden_read_names(c, golden_get(c, "names"), "names", &names));
  TSR_TRY(read_mesh(c, &mesh));
  tsr_status status = mesh ? tsr_mesh_enter(mesh, &scope) : NULL;
  if (!status) tsr_json_write_bool(answer->out, tsr_mesh_current_has(names.items, names.count));
  tsr_scope_leave(mark);
  tsr_mesh_release(mesh);
  return status;
}

// Calls `query` with the mesh of the case: passed, or entered and asked for.
typedef tsr_status mesh_query(const golden_case *c, const tsr_mesh *mesh, tsr_json_writer *out);

static tsr_status query_current(const golden_case *c, mesh_query *query, tsr_json_writer *out) {
  const tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_mesh_require(&mesh));
  return query(c, mesh, out);
}

static tsr_status with_mesh(const golden_case *c, mesh_query *query, tsr_json_writer *out) {
  tsr_mesh *mesh = NULL;
  const tsr_scope mark = tsr_scope_mark();
  tsr_scope scope;
  TSR_TRY(read_mesh(c, &mesh));
  tsr_status status = NULL;
  if (mesh && mesh_comes_by(c, "argument")) {
    status = query(c, mesh, out);
  } else {
    if (mesh) status = tsr_mesh_enter(mesh, &scope);
    if (!status) status = query_current(c, query, out);
  }
  tsr_scope_leave(mark);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status write_axes_size(const golden_case *c, const tsr_mesh *mesh,
                                  tsr_json_writer *out) {
  golden_names names;
  int64_t size = 0;
  TSR_TRY(read_axis_names(c, &names));
  TSR_TRY(tsr_mesh_axes_size(mesh, names.items, names.count, &size));
  tsr_json_write_int(out, size);
  return NULL;
}

static tsr_status get_axes_size_in_mesh(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_axes_size, answer->out);
}

static tsr_status write_axis_names(const golden_case *c, const tsr_mesh *mesh,
                                   tsr_json_writer *out) {
  (void)c;
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_json_write_string(out, tsr_mesh_axis_at(mesh, i)->name);
  tsr_json_end_array(out);
  return NULL;
}

static tsr_status get_mesh_axis_names(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_axis_names, answer->out);
}

// ---- inside a function that runs per device: axes are bound, or the name means nothing ----

static tsr_status check_bound(const tsr_mesh *mesh, const golden_names *names) {
  for (int i = 0; i < names->count; i++)
    if (!mesh || tsr_mesh_axis_find(mesh, names->items[i]) < 0)
      return tsr_fail(AXIS_NOT_BOUND, "axis \"%s\" is not bound", names->items[i]);
  return NULL;
}

static tsr_status value_at(const tsr_mesh *mesh, const golden_names *names, bool index,
                           int64_t position, tsr_json_writer *out) {
  int64_t value = 0;
  if (index)
    TSR_TRY(tsr_mesh_axes_index(mesh, position, names->items, names->count, &value));
  else
    TSR_TRY(tsr_mesh_axes_size(mesh, names->items, names->count, &value));
  tsr_json_write_int(out, value);
  return NULL;
}

// One value per device; a single one where no axes are bound, which only an empty list allows.
static tsr_status write_per_device(const golden_case *c, const golden_answer *answer, bool index) {
  golden_names names;
  tsr_mesh *mesh = NULL;
  TSR_TRY(read_axis_names(c, &names));
  TSR_TRY(read_mesh(c, &mesh));
  tsr_status status = check_bound(mesh, &names);
  if (!status && !mesh) tsr_json_write_int(answer->out, index ? 0 : 1);
  if (!status && mesh) {
    tsr_json_begin_inline_array(answer->out);
    for (int64_t i = 0; i < tsr_mesh_device_count(mesh) && !status; i++)
      status = value_at(mesh, &names, index, i, answer->out);
    if (!status) tsr_json_end_array(answer->out);
  }
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status get_mesh_axis_size(const golden_case *c, const golden_answer *answer) {
  return write_per_device(c, answer, false);
}

static tsr_status get_submesh_device_index(const golden_case *c, const golden_answer *answer) {
  return write_per_device(c, answer, true);
}

// ---- hashes ----

static tsr_status get_safe_hash_int(const golden_case *c, const golden_answer *answer) {
  const char *algorithm = NULL;
  tsr_text text = TSR_TEXT_EMPTY, decimal = TSR_TEXT_EMPTY;
  if (!golden_is_null(golden_get(c, "algorithm")))
    TSR_TRY(golden_read_string(c, golden_get(c, "algorithm"), "algorithm", &algorithm));
  if (!golden_get(c, "text")) return tsr_fail(BAD_ARGUMENT, "the case has no text");
  golden_python_text(golden_get(c, "text"), &text);
  tsr_status status = tsr_text_check(&text);
  if (!status) status = tsr_hash_decimal(tsr_text_string(&text), text.length, algorithm, &decimal);
  if (!status) tsr_json_write_string(answer->out, tsr_text_string(&decimal));
  tsr_text_deinit(&text);
  tsr_text_deinit(&decimal);
  return status;
}

// ---- specs ----

// The specs of a tree, in visiting order.
typedef struct spec_list {
  int count, capacity;
  tsr_spec **items;
} spec_list;

static void release_specs(spec_list *list) {
  for (int i = 0; i < list->count; i++) tsr_spec_release(list->items[i]);
  free(list->items);
}

static tsr_status add_spec(spec_list *list, const tsr_json *entries) {
  if (list->count == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 8;
    tsr_spec **items = realloc(list->items, (size_t)capacity * sizeof *items);
    if (!items) return tsr_fail(NO_MEMORY, "%d specs", capacity);
    list->items = items;
    list->capacity = capacity;
  }
  TSR_TRY(tsr_spec_from_json(entries, &list->items[list->count]));
  list->count++;
  return NULL;
}

// A text inside a container is one name, so a spec of one dimension.
static tsr_status add_name(spec_list *list, const tsr_json *name) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_doc *doc = NULL;
  tsr_text_add(&text, "[");
  tsr_json_print(name, &text);
  tsr_text_add(&text, "]");
  tsr_status status = tsr_text_check(&text);
  if (!status) status = tsr_json_parse(text.data, text.length, &doc);
  if (!status) status = add_spec(list, tsr_json_root(doc));
  tsr_json_destroy(doc);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status collect(spec_list *list, const tsr_json *node, bool inside);

static tsr_status collect_members(spec_list *list, const tsr_json *container) {
  for (const tsr_json *at = tsr_json_first(container); at; at = tsr_json_next(at))
    TSR_TRY(collect(list, at, true));
  return NULL;
}

// {"$": "intdict", "items": [[key, value], ...]}
static tsr_status collect_pairs(spec_list *list, const tsr_json *items) {
  for (const tsr_json *at = tsr_json_first(items); at; at = tsr_json_next(at))
    TSR_TRY(collect(list, tsr_json_at(at, 1), true));
  return NULL;
}

// A node with "$": a spec, a container that JSON lacks, or a leaf.
static tsr_status collect_special(spec_list *list, const tsr_json *node, const tsr_json *kind,
                                  bool inside) {
  if (tsr_json_is_string(kind, "spec")) return add_spec(list, tsr_json_find(node, "spec"));
  if (tsr_json_is_string(kind, "intdict")) return collect_pairs(list, tsr_json_find(node, "items"));
  const tsr_json *items = tsr_json_find(node, "items");
  if (items) return collect_members(list, items);
  if (tsr_json_is_string(kind, "str") && inside)
    return add_name(list, tsr_json_find(node, "value"));
  return tsr_fail(NOT_ITERABLE, "only specs and containers of them have axis names");
}

// Trees in cases are a few levels deep; the JSON reader bounds their depth.
static tsr_status collect(spec_list *list, const tsr_json *node, bool inside) {
  switch (tsr_json_kind_of(node)) {
    case TSR_JSON_NULL:
      return inside ? NULL : tsr_fail(NOT_ITERABLE, "nothing has no axis names");
    case TSR_JSON_STRING:
      return inside ? add_name(list, node) : tsr_fail(NOT_ITERABLE, "a text is not a spec");
    case TSR_JSON_ARRAY:
      return collect_members(list, node);
    case TSR_JSON_OBJECT: {
      const tsr_json *kind = tsr_json_find(node, "$");
      return kind ? collect_special(list, node, kind, inside) : collect_members(list, node);
    }
    default:
      return tsr_fail(NOT_ITERABLE, "a number has no axis names");
  }
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// eformer's order is that of a hash set, so the recording is sorted.
static tsr_status get_names_from_partition_spec(const golden_case *c, const golden_answer *answer) {
  spec_list list = {0};
  const char **names = NULL;
  int count = 0;
  tsr_status status = collect(&list, golden_get(c, "specs"), false);
  if (!status)
    status = tsr_spec_axis_names((const tsr_spec *const *)list.items, list.count, &names, &count);
  if (!status) {
    if (count) qsort(names, (size_t)count, sizeof *names, compare_names);
    tsr_json_begin_inline_array(answer->out);
    for (int i = 0; i < count; i++) tsr_json_write_string(answer->out, names[i]);
    tsr_json_end_array(answer->out);
  }
  free(names);
  release_specs(&list);
  return status;
}

// The corrected spec, bound to the mesh as the NamedSharding that eformer returns is.
static tsr_status correct_and_bind(const golden_case *c, const tsr_spec *spec,
                                   const tsr_shape *shape, tsr_spec **out) {
  tsr_correct_options options = {.size = sizeof options};
  bool raise = true;
  tsr_sharding *sharding = NULL;
  TSR_TRY(read_optional_bool(c, "raise_mesh_error", &raise));
  options.allow_no_mesh = !raise;
  TSR_TRY(tsr_spec_correct(spec, NULL, shape, &options, out, NULL));
  if (!tsr_mesh_current()) return NULL;
  tsr_status status = tsr_sharding_bind(tsr_mesh_current(), *out, false, &sharding);
  tsr_sharding_release(sharding);
  if (!status) return NULL;
  tsr_spec_release(*out);
  *out = NULL;
  return status;
}

static tsr_status get_corrected_named_sharding(const golden_case *c, const golden_answer *answer) {
  tsr_shape shape;
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL, *corrected = NULL;
  const tsr_scope mark = tsr_scope_mark();
  tsr_scope scope;
  TSR_TRY(golden_shape(c, "shape", &shape));
  TSR_TRY(tsr_spec_from_json(golden_get(c, "spec"), &spec));
  tsr_status status = read_mesh(c, &mesh);
  if (!status && mesh) status = tsr_mesh_enter(mesh, &scope);
  if (!status) status = correct_and_bind(c, spec, &shape, &corrected);
  if (!status) tsr_spec_to_json(corrected, answer->out);
  tsr_scope_leave(mark);
  tsr_spec_release(corrected);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

const golden_function golden_eformer_functions[] = {
    {"AutoShardingRule", golden_auto_sharding_rule, {NULL}},
    {"DynamicShardingAxes", golden_dynamic_sharding_axes, {NULL}},
    {"MemoryConstrainedShardingRule", golden_memory_constrained_rule, {NULL}},
    {"MeshPartitionHelper.create_partition_spec", golden_helper_create_partition_spec, {NULL}},
    {"MeshPartitionHelper.suggest_methods", golden_helper_suggest_methods, {NULL}},
    {"PartitionAxis", golden_partition_axis, {NULL}},
    {"PartitionAxis.hash_equal", golden_partition_axis_hash_equal, {NULL}},
    {"PartitionAxis.resolve_axis", golden_resolve_axis, {NULL}},
    {"PartitionAxis.resolve_spec", golden_resolve_spec, {NULL}},
    {"PartitionManager.resolve", golden_manager_resolve, {NULL}},
    {"PartitionManager.shard", golden_manager_shard, {NULL}},
    {"ShapeBasedShardingRule", golden_shape_based_rule, {NULL}},
    {"ShardingAnalyzer.estimate_memory_usage", golden_estimate_memory_usage, {NULL}},
    {"ShardingAnalyzer.validate_partition_specs", golden_validate_partition_specs, {NULL}},
    {"analyze_sharding_strategy", golden_analyze_sharding_strategy, {NULL}},
    {"apply_logical_sharding", golden_manager_shard, {NULL}},
    {"auto_namedsharding", golden_auto_partition_spec, {NULL}},
    {"auto_partition_spec", golden_auto_partition_spec, {NULL}},
    {"auto_shard_array", golden_auto_shard_array, {NULL}},
    {"calculate_host_mesh_shape", calculate_host_mesh_shape, {NULL}},
    {"convert_sharding_strategy", golden_convert_sharding_strategy, {NULL}},
    {"create_mesh", create_mesh, {NULL}},
    {"create_pattern_based_partition_spec", golden_create_pattern_based_partition_spec, {NULL}},
    {"extract_sharding_structure", golden_extract_sharding_structure, {NULL}},
    {"extract_shardings", golden_extract_shardings, {NULL}},
    {"get_axes_size_in_mesh", get_axes_size_in_mesh, {NULL}},
    {"get_corrected_named_sharding", get_corrected_named_sharding, {NULL}},
    {"get_mesh_axis_names", get_mesh_axis_names, {NULL}},
    {"get_mesh_axis_size", get_mesh_axis_size, {NULL}},
    {"get_names_from_partition_spec", get_names_from_partition_spec, {NULL}},
    {"get_partition_spec", golden_get_partition_spec, {NULL}},
    {"get_safe_hash_int", get_safe_hash_int, {NULL}},
    {"get_shardings_with_structure", golden_extract_sharding_structure, {NULL}},
    {"get_submesh_device_index", get_submesh_device_index, {NULL}},
    {"make_shard_and_gather_fns", golden_make_shard_and_gather_fns, {NULL}},
    {"match_partition_rules", golden_match_partition_rules, {NULL}},
    {"names_in_current_mesh", names_in_current_mesh, {NULL}},
    {"optimize_sharding_for_memory", golden_optimize_sharding_for_memory, {NULL}},
    {"parse_mesh_from_string", parse_mesh_from_string, {NULL}},
    {"validate_sharding_config", golden_validate_sharding_config, {NULL}},
    {"vrn_auto_partition_spec", golden_auto_partition_spec, {NULL}},
    {"with_sharding_constraint", golden_with_sharding_constraint, {NULL}},
    {"with_sharding_constraint_tree", golden_with_sharding_constraint_tree, {NULL}},
    {NULL, NULL, {NULL}},
};
