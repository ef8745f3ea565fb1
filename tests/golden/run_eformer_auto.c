// eformer's automatic specs: auto_spec, MeshPartitionHelper and the rules by shape and memory.
#include <string.h>

#include "advice/plan_auto_internal.h"
#include "base/scope.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"

// ---- arguments ----

static bool is_array(const tsr_json *value) {
  return value && tsr_json_kind_of(value) == TSR_JSON_ARRAY;
}

// Calls `ask` with the mesh of the case if that is passed, with NULL if it is entered or absent.
typedef tsr_status mesh_question(const golden_case *c, const tsr_mesh *mesh, tsr_json_writer *out);

static tsr_status with_mesh(const golden_case *c, mesh_question *ask, tsr_json_writer *out) {
  const tsr_json *value = tsr_json_find(c->json, "mesh");
  const tsr_scope mark = tsr_scope_mark();
  tsr_scope scope;
  tsr_mesh *mesh = NULL;
  const tsr_json *via = tsr_json_find(c->json, "mesh_via");
  if (golden_is_null(value) || tsr_json_is_string(via, "none")) return ask(c, NULL, out);
  TSR_TRY(tsr_mesh_from_json(value, NULL, &mesh));
  const bool entered = tsr_json_is_string(via, "context");
  tsr_status status = entered ? tsr_mesh_enter(mesh, &scope) : NULL;
  if (!status) status = ask(c, entered ? NULL : mesh, out);
  tsr_scope_leave(mark);
  tsr_mesh_release(mesh);
  return status;
}

// eformer takes arrays and NumPy's scalars, nothing else that has a shape.
static tsr_status read_array(const golden_case *c, const tsr_json *array, tsr_dtype *out_dtype,
                             tsr_shape *out_shape) {
  const tsr_json *kind = tsr_json_find(array, "$"), *dims = tsr_json_find(array, "shape");
  golden_ints sizes = {0, NULL};
  const char *dtype = NULL;
  if (!tsr_json_is_string(kind, "array") && !tsr_json_is_string(kind, "jax") &&
      !tsr_json_is_string(kind, "jax_sharded") && !tsr_json_is_string(kind, "numpy_scalar"))
    return tsr_fail(NOT_AN_ARRAY, "only arrays have automatic specs");
  if (dims) TSR_TRY(golden_read_ints(c, dims, "shape", &sizes));
  TSR_TRY(golden_read_string(c, tsr_json_find(array, "dtype"), "dtype", &dtype));
  TSR_TRY(tsr_dtype_parse(dtype, out_dtype));
  return tsr_shape_init(out_shape, sizes.items, sizes.count);
}

// A group is a list, in our words "a+b".
static tsr_status read_name(const golden_case *c, const tsr_json *value, const char **out) {
  golden_names parts;
  tsr_text text = TSR_TEXT_EMPTY;
  if (!is_array(value)) return golden_read_string(c, value, "names", out);
  TSR_TRY(golden_read_names(c, value, "names", &parts));
  for (int i = 0; i < parts.count; i++) tsr_text_addf(&text, "%s%s", i ? "+" : "", parts.items[i]);
  *out = tsr_arena_copy(c->arena, tsr_text_string(&text), text.length);
  tsr_status status = *out ? tsr_text_check(&text) : tsr_fail(NO_MEMORY, "names");
  tsr_text_deinit(&text);
  return status;
}

static tsr_status read_names(const golden_case *c, const char *what, golden_names *out) {
  const tsr_json *value = golden_get(c, what);
  const tsr_json *tuple = value ? tsr_json_find(value, "tuple") : NULL;
  *out = (golden_names){0, NULL};
  if (tuple) value = tuple;
  if (golden_is_null(value)) return NULL;
  const size_t count = tsr_json_count(value);
  out->items = tsr_arena_zeros(c->arena, count + 1, sizeof *out->items);
  if (!out->items) return tsr_fail(NO_MEMORY, "names");
  for (size_t i = 0; i < count; i++) TSR_TRY(read_name(c, tsr_json_at(value, i), &out->items[i]));
  out->count = (int)count;
  return NULL;
}

// Absent and null are 0.
static tsr_status read_number(const golden_case *c, const char *what, int64_t *out) {
  *out = 0;
  return golden_is_null(golden_get(c, what)) ? NULL : golden_int(c, what, out);
}

// ---- auto_spec ----

tsr_status golden_read_auto_options(const golden_case *c, tsr_auto_options *options) {
  golden_names names;
  *options = (tsr_auto_options){.size = sizeof *options};
  TSR_TRY(read_names(c, "names", &names));
  options->names = names.items;
  options->name_count = names.count;
  TSR_TRY(read_number(c, "min_sharding_size", &options->min_size));
  if (golden_is_null(golden_get(c, "reverse"))) return NULL;
  return golden_bool(c, "reverse", &options->reverse);
}

static tsr_status write_auto_spec(const golden_case *c, const tsr_mesh *mesh,
                                  tsr_json_writer *out) {
  tsr_auto_options options;
  tsr_shape shape;
  tsr_dtype dtype;
  tsr_sharding *sharding = NULL;
  TSR_TRY(read_array(c, golden_get(c, "array"), &dtype, &shape));
  TSR_TRY(golden_read_auto_options(c, &options));
  TSR_TRY(tsr_auto_sharding(&shape, mesh, &options, &sharding));
  tsr_spec_to_json(tsr_sharding_spec(sharding), out);
  tsr_sharding_release(sharding);
  return NULL;
}

tsr_status golden_auto_partition_spec(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_auto_spec, answer->out);
}

// ---- plans of trees ----

static tsr_status write_fit(const golden_case *c, const tsr_mesh *mesh, tsr_json_writer *out) {
  golden_names names;
  int64_t limit = 0;
  tsr_tree *tree = NULL;
  tsr_plan *plan = NULL;
  TSR_TRY(read_names(c, "names", &names));
  TSR_TRY(read_number(c, "max_memory_per_device", &limit));
  TSR_TRY(golden_read_tree(c, &tree));
  tsr_status status = tsr_plan_fit_each(tree, mesh, limit, names.items, names.count, &plan);
  if (!status) golden_write_plan(out, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
  return status;
}

tsr_status golden_optimize_sharding_for_memory(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_fit, answer->out);
}

// The names given, or those of the mesh in its order.
static tsr_status read_axis_names(const golden_case *c, const tsr_mesh *mesh, golden_names *out) {
  TSR_TRY(read_names(c, "axis_names", out));
  if (out->count) return NULL;
  if (!mesh) TSR_TRY(tsr_mesh_require(&mesh));
  out->items = tsr_arena_zeros(c->arena, TSR_MAX_AXES, sizeof *out->items);
  if (!out->items) return tsr_fail(NO_MEMORY, "names");
  for (; out->count < tsr_mesh_axis_count(mesh); out->count++)
    out->items[out->count] = tsr_mesh_axis_at(mesh, out->count)->name;
  return NULL;
}

static tsr_status write_auto_rule(const golden_case *c, const tsr_mesh *mesh,
                                  tsr_json_writer *out) {
  tsr_auto_options options = {.size = sizeof options};
  golden_names names;
  tsr_tree *tree = NULL;
  tsr_plan *plan = NULL;
  TSR_TRY(read_axis_names(c, mesh, &names));
  options.names = names.items;
  options.name_count = names.count;
  TSR_TRY(read_number(c, "min_shard_size", &options.min_size));
  TSR_TRY(golden_read_tree(c, &tree));
  tsr_status status = tsr_plan_auto(tree, mesh, &options, &plan);
  if (!status) golden_write_plan(out, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
  return status;
}

tsr_status golden_auto_sharding_rule(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_auto_rule, answer->out);
}

// ---- MeshPartitionHelper ----

static tsr_status write_methods(const golden_case *c, const tsr_mesh *mesh, tsr_json_writer *out) {
  tsr_shape shape;
  tsr_methods methods;
  TSR_TRY(golden_shape(c, "shape", &shape));
  tsr_helper_methods(&shape, mesh, &methods);
  tsr_json_begin_array(out);
  for (int i = 0; i < methods.count; i++) {
    const bool pair = !strcmp(methods.items[i], "fsdp+sp");
    tsr_json_begin_inline_array(out);
    tsr_json_write_string(out, pair ? "fsdp" : methods.items[i]);
    if (pair) tsr_json_write_string(out, "sp");
    tsr_json_end_array(out);
  }
  tsr_json_end_array(out);
  return NULL;
}

tsr_status golden_helper_suggest_methods(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_methods, answer->out);
}

static tsr_status write_helper_spec(const golden_case *c, const tsr_mesh *mesh,
                                    tsr_json_writer *out) {
  tsr_shape shape;
  int64_t min_size = TSR_HELPER_MIN_SIZE;
  tsr_spec *spec = NULL;
  TSR_TRY(golden_shape(c, "shape", &shape));
  if (golden_get(c, "min_shard_size")) TSR_TRY(golden_int(c, "min_shard_size", &min_size));
  TSR_TRY(tsr_helper_spec(&shape, mesh, min_size, &spec));
  tsr_spec_to_json(spec, out);
  tsr_spec_release(spec);
  return NULL;
}

tsr_status golden_helper_create_partition_spec(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_helper_spec, answer->out);
}

// ---- rules by memory and by shape ----

static tsr_status write_memory_spec(const golden_case *c, const tsr_mesh *mesh,
                                    const tsr_json *array, int64_t limit, tsr_json_writer *out) {
  const char *name = NULL;
  golden_names names;
  tsr_shape shape;
  tsr_dtype dtype;
  tsr_spec *spec = NULL;
  TSR_TRY(golden_read_string(c, tsr_json_at(array, 0), "arrays", &name));
  TSR_TRY(read_array(c, tsr_json_at(array, 1), &dtype, &shape));
  TSR_TRY(read_names(c, "axis_names", &names));
  TSR_TRY(tsr_memory_rule_spec(&shape, dtype, mesh, limit, names.items, names.count, &spec, NULL));
  golden_write_pair(out, name, spec);
  tsr_spec_release(spec);
  return NULL;
}

static tsr_status write_memory_specs(const golden_case *c, const tsr_mesh *mesh,
                                     tsr_json_writer *out) {
  const tsr_json *arrays = golden_get(c, "arrays");
  int64_t limit = 0;
  TSR_TRY(golden_int(c, "max_memory_per_device", &limit));
  tsr_json_begin_array(out);
  for (const tsr_json *at = tsr_json_first(arrays); at; at = tsr_json_next(at))
    TSR_TRY(write_memory_spec(c, mesh, at, limit, out));
  tsr_json_end_array(out);
  return NULL;
}

tsr_status golden_memory_constrained_rule(const golden_case *c, const golden_answer *answer) {
  return with_mesh(c, write_memory_specs, answer->out);
}

static tsr_status read_shape_rule(const golden_case *c, const tsr_json *value, tsr_shape_rule *out,
                                  tsr_spec **out_spec) {
  const tsr_json *dims = tsr_json_at(value, 0);
  int64_t *sizes = tsr_arena_zeros(c->arena, tsr_json_count(dims) + 1, sizeof *sizes);
  if (!sizes) return tsr_fail(NO_MEMORY, "patterns");
  for (const tsr_json *at = tsr_json_first(dims); at; at = tsr_json_next(at), out->rank++) {
    sizes[out->rank] = TSR_ANY_SIZE;
    if (!golden_is_null(at)) TSR_TRY(tsr_json_get_int(at, "patterns", &sizes[out->rank]));
  }
  out->dims = sizes;
  TSR_TRY(tsr_spec_from_json(tsr_json_at(value, 1), out_spec));
  out->spec = *out_spec;
  return NULL;
}

static tsr_status write_shape_specs(const tsr_tree *tree, const tsr_shape_rule *rules, int count,
                                    tsr_json_writer *out) {
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    const tsr_shape shape = tsr_tensor_shape(tensor);
    tsr_spec *spec = NULL;
    TSR_TRY(tsr_shape_rules_match(rules, count, &shape, &spec));
    golden_write_pair(out, tensor->path, spec);
    tsr_spec_release(spec);
  }
  tsr_json_end_array(out);
  return NULL;
}

tsr_status golden_shape_based_rule(const golden_case *c, const golden_answer *answer) {
  const tsr_json *patterns = golden_get(c, "patterns");
  const size_t count = tsr_json_count(patterns);
  tsr_shape_rule *rules = tsr_arena_zeros(c->arena, count + 1, sizeof *rules);
  tsr_spec **specs = tsr_arena_zeros(c->arena, count + 1, sizeof *specs);
  tsr_tree *tree = NULL;
  if (!rules || !specs) return tsr_fail(NO_MEMORY, "patterns");
  tsr_status status = NULL;
  for (size_t i = 0; !status && i < count; i++)
    status = read_shape_rule(c, tsr_json_at(patterns, i), &rules[i], &specs[i]);
  if (!status) status = golden_read_tree(c, &tree);
  if (!status) status = write_shape_specs(tree, rules, (int)count, answer->out);
  for (size_t i = 0; i < count; i++) tsr_spec_release(specs[i]);
  tsr_tree_release(tree);
  return status;
}
