// eformer's semantic axes: PartitionAxis, its registry, PartitionManager.
#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"

// ---- arguments ----

static bool is_kind(const tsr_json *value, tsr_json_kind kind) {
  return value && tsr_json_kind_of(value) == kind;
}

// A list, or {"tuple": [...]}; other values as they are.
static const tsr_json *list_of(const tsr_json *value) {
  const tsr_json *tuple = value ? tsr_json_find(value, "tuple") : NULL;
  return tuple ? tuple : value;
}

static tsr_status read_group(const golden_case *c, const tsr_json *list, tsr_logical_entry *out) {
  const char **names = tsr_arena_zeros(c->arena, tsr_json_count(list) + 1, sizeof *names);
  int count = 0;
  if (!names) return tsr_fail(NO_MEMORY, "a group");
  for (const tsr_json *at = tsr_json_first(list); at; at = tsr_json_next(at), count++) {
    names[count] = "";
    if (!golden_is_null(at)) TSR_TRY(golden_read_string(c, at, "axis", &names[count]));
  }
  *out = (tsr_logical_entry){TSR_ENTRY_GROUP, count, names};
  return NULL;
}

static tsr_status read_entry(const golden_case *c, const tsr_json *value, tsr_logical_entry *out) {
  *out = TSR_LOGICAL_NONE;
  if (golden_is_null(value)) return NULL;
  if (is_kind(list_of(value), TSR_JSON_ARRAY)) return read_group(c, list_of(value), out);
  const char **name = tsr_arena_zeros(c->arena, 1, sizeof *name);
  if (!name) return tsr_fail(NO_MEMORY, "a name");
  *out = (tsr_logical_entry){TSR_ENTRY_NAME, 1, name};
  return golden_read_string(c, value, "axis", name);
}

static tsr_status read_names(const golden_case *c, const tsr_json *value, tsr_logical_names *out) {
  const tsr_json *list = list_of(value);
  tsr_logical_entry *items = tsr_arena_zeros(c->arena, tsr_json_count(list) + 1, sizeof *items);
  int count = 0;
  if (!items) return tsr_fail(NO_MEMORY, "names");
  for (const tsr_json *at = tsr_json_first(list); at; at = tsr_json_next(at))
    TSR_TRY(read_entry(c, at, &items[count++]));
  *out = (tsr_logical_names){count, items, NULL};
  return NULL;
}

// The fields of an object, as changes to `axes` (NULL = to the defaults); to be released.
static tsr_status read_axes(const golden_case *c, const tsr_json *fields, const tsr_axes *axes,
                            tsr_axes **out) {
  const size_t room = golden_is_null(fields) ? 0 : tsr_json_count(fields);
  tsr_field_value *values = tsr_arena_zeros(c->arena, room + 1, sizeof *values);
  int count = 0;
  if (!values) return tsr_fail(NO_MEMORY, "fields");
  for (const tsr_json *at = room ? tsr_json_first(fields) : NULL; at; at = tsr_json_next(at)) {
    size_t length = 0;
    const char *key = tsr_json_key(at, &length), *name = tsr_arena_copy(c->arena, key, length);
    if (!name) return tsr_fail(NO_MEMORY, "a field");
    values[count].field = tsr_field_find(name);
    TSR_TRY(read_entry(c, at, &values[count++].entry));
  }
  return axes ? tsr_axes_replace(axes, values, count, out) : tsr_axes_create(values, count, out);
}

// A mode's name, or the dimension that tells it; Python takes true for 1. Null is not given.
static tsr_status read_mode(const golden_case *c, const tsr_json *value, tsr_mode_source *out) {
  const char *name = NULL;
  bool one = false;
  *out = (tsr_mode_source){.kind = TSR_MODE_NOT_GIVEN};
  if (golden_is_null(value)) return NULL;
  if (is_kind(value, TSR_JSON_STRING)) {
    out->kind = TSR_MODE_FIXED;
    TSR_TRY(golden_read_string(c, value, "mode", &name));
    return tsr_mode_parse(name, &out->mode);
  }
  out->kind = TSR_MODE_BY_DIM;
  if (!is_kind(value, TSR_JSON_BOOL)) return tsr_json_get_int(value, "mode", &out->dim);
  TSR_TRY(tsr_json_get_bool(value, "mode", &one));
  out->dim = one;
  return NULL;
}

// {"class": name} or {"axes": ..., "mode": ...}
static tsr_status read_dynamic(const golden_case *c, const tsr_json *value, tsr_dynamic_axes *out) {
  const tsr_json *class = tsr_json_find(value, "class");
  const char *name = NULL;
  tsr_logical_names names;
  if (!class) {
    TSR_TRY(read_names(c, tsr_json_find(value, "axes"), &names));
    *out = (tsr_dynamic_axes){.count = names.count, .entries = names.items};
    return read_mode(c, tsr_json_find(value, "mode"), &out->mode);
  }
  TSR_TRY(golden_read_string(c, class, "class", &name));
  const tsr_dynamic_axes *known = tsr_dynamic_axes_find(name);
  if (!known) return tsr_fail(NOT_FOUND, "no list of axes is called \"%s\"", name);
  *out = *known;
  return NULL;
}

// ---- the registry ----

static tsr_status register_axis(const golden_case *c, const tsr_json *op, const char *name,
                                tsr_axis_registry *registry) {
  const tsr_json *generation = tsr_json_find(op, "generation_axis_rule");
  const tsr_json *override = tsr_json_find(op, "override");
  tsr_logical_entry rule, generation_rule;
  bool replaces = false;
  TSR_TRY(read_entry(c, tsr_json_find(op, "axis_rule"), &rule));
  if (generation) TSR_TRY(read_entry(c, generation, &generation_rule));
  if (override) TSR_TRY(tsr_json_get_bool(override, "override", &replaces));
  return tsr_axis_registry_add(registry, name, &rule, generation ? &generation_rule : NULL,
                               replaces);
}

static tsr_status run_op(const golden_case *c, const tsr_json *op, tsr_axis_registry *registry) {
  const tsr_json *verb = tsr_json_find(op, "op"), *missing = tsr_json_find(op, "missing_ok");
  const char *name = NULL;
  bool missing_ok = true;
  if (tsr_json_is_string(verb, "clear")) {
    tsr_axis_registry_clear(registry);
    return NULL;
  }
  TSR_TRY(golden_read_string(c, tsr_json_find(op, "semantic_axis"), "semantic_axis", &name));
  if (tsr_json_is_string(verb, "register")) return register_axis(c, op, name, registry);
  if (missing) TSR_TRY(tsr_json_get_bool(missing, "missing_ok", &missing_ok));
  return tsr_axis_registry_remove(registry, name, missing_ok);
}

// The registry after the operations of the case, to be destroyed.
static tsr_status read_registry(const golden_case *c, tsr_axis_registry **out) {
  const tsr_json *ops = golden_get(c, "registry");
  TSR_TRY(tsr_axis_registry_create(out));
  for (const tsr_json *op = ops ? tsr_json_first(ops) : NULL; op; op = tsr_json_next(op))
    TSR_TRY(run_op(c, op, *out));
  return NULL;
}

// ---- PartitionAxis ----

tsr_status golden_partition_axis(const golden_case *c, const golden_answer *answer) {
  tsr_axes *axes = NULL, *replaced = NULL;
  tsr_status status = read_axes(c, golden_get(c, "paxis"), NULL, &axes);
  if (!status) status = read_axes(c, golden_get(c, "replace"), axes, &replaced);
  if (!status) tsr_axes_to_json(replaced, false, answer->out);
  tsr_axes_release(axes);
  tsr_axes_release(replaced);
  return status;
}

tsr_status golden_partition_axis_hash_equal(const golden_case *c, const golden_answer *answer) {
  tsr_axes *left = NULL, *right = NULL;
  tsr_status status = read_axes(c, golden_get(c, "left"), NULL, &left);
  if (!status) status = read_axes(c, golden_get(c, "right"), NULL, &right);
  if (!status) {
    tsr_json_begin_object(answer->out);
    tsr_json_write_key(answer->out, "equal");
    tsr_json_write_bool(answer->out, tsr_axes_equal(left, right));
    tsr_json_write_key(answer->out, "hash_equal");
    tsr_json_write_bool(answer->out, tsr_axes_hash(left) == tsr_axes_hash(right));
    tsr_json_end_object(answer->out);
  }
  tsr_axes_release(left);
  tsr_axes_release(right);
  return status;
}

static tsr_status resolve(const golden_case *c, const tsr_axes *axes,
                          const tsr_axis_registry *registry, bool as_spec, tsr_json_writer *out) {
  tsr_logical_names names, resolved;
  tsr_mode_source mode;
  tsr_spec *spec = NULL;
  TSR_TRY(read_names(c, golden_get(c, "axes"), &names));
  TSR_TRY(read_mode(c, golden_get(c, "mode"), &mode));
  if (mode.kind != TSR_MODE_FIXED) return tsr_fail(UNKNOWN_MODE, "wanted the name of a mode");
  if (as_spec) {
    TSR_TRY(tsr_axes_resolve_spec(axes, registry, &names, mode.mode, &spec));
    tsr_spec_to_json(spec, out);
    tsr_spec_release(spec);
    return NULL;
  }
  TSR_TRY(tsr_axes_resolve(axes, registry, &names, mode.mode, &resolved));
  tsr_logical_names_to_json(&resolved, out);
  tsr_logical_names_deinit(&resolved);
  return NULL;
}

static tsr_status resolve_case(const golden_case *c, bool as_spec, tsr_json_writer *out) {
  tsr_axes *axes = NULL;
  tsr_axis_registry *registry = NULL;
  tsr_status status = read_registry(c, &registry);
  if (!status) status = read_axes(c, golden_get(c, "paxis"), NULL, &axes);
  if (!status) status = resolve(c, axes, registry, as_spec, out);
  tsr_axes_release(axes);
  tsr_axis_registry_destroy(registry);
  return status;
}

tsr_status golden_resolve_axis(const golden_case *c, const golden_answer *answer) {
  return resolve_case(c, false, answer->out);
}

tsr_status golden_resolve_spec(const golden_case *c, const golden_answer *answer) {
  return resolve_case(c, true, answer->out);
}

tsr_status golden_dynamic_sharding_axes(const golden_case *c, const golden_answer *answer) {
  tsr_dynamic_axes dynamic;
  TSR_TRY(read_dynamic(c, c->input, &dynamic));
  tsr_json_begin_object(answer->out);
  tsr_json_write_key(answer->out, "axes");
  tsr_logical_names_to_json(&(tsr_logical_names){dynamic.count, dynamic.entries, NULL},
                            answer->out);
  tsr_json_write_key(answer->out, "mode");
  if (dynamic.mode.kind == TSR_MODE_BY_DIM)
    tsr_json_write_int(answer->out, dynamic.mode.dim);
  else
    tsr_json_write_string(answer->out, tsr_mode_name(dynamic.mode.mode));
  tsr_json_end_object(answer->out);
  return NULL;
}

// ---- PartitionManager ----

// What a manager is asked: what the request points to, and the request.
typedef struct asked {
  tsr_logical_names names;
  tsr_dynamic_axes dynamic;
  tsr_shape shape;
  tsr_axes_request request;
} asked;

// `axes` may be a list that knows its mode, unless another such list is given too.
static tsr_status read_asked(const golden_case *c, const tsr_json *shape, asked *out) {
  const tsr_json *axes = golden_get(c, "axes"), *dynamic = golden_get(c, "dynamic_axes");
  const bool axes_are_dynamic =
      is_kind(axes, TSR_JSON_OBJECT) && !tsr_json_find(axes, "tuple") && golden_is_null(dynamic);
  golden_ints dims;
  out->request = (tsr_axes_request){.size = sizeof out->request};
  if (axes_are_dynamic) dynamic = axes;
  if (!golden_is_null(dynamic)) {
    TSR_TRY(read_dynamic(c, dynamic, &out->dynamic));
    out->request.dynamic = &out->dynamic;
  }
  if (!golden_is_null(axes) && !axes_are_dynamic) {
    TSR_TRY(read_names(c, axes, &out->names));
    out->request.names = &out->names;
  }
  TSR_TRY(read_mode(c, golden_get(c, "mode"), &out->request.mode));
  if (golden_is_null(shape)) return NULL;
  TSR_TRY(golden_read_ints(c, shape, "shape", &dims));
  TSR_TRY(tsr_shape_init(&out->shape, dims.items, dims.count));
  out->request.shape = &out->shape;
  return NULL;
}

tsr_status golden_manager_resolve(const golden_case *c, const golden_answer *answer) {
  tsr_axes *axes = NULL;
  tsr_axis_registry *registry = NULL;
  tsr_spec *spec = NULL;
  asked what;
  tsr_status status = read_registry(c, &registry);
  if (!status) status = read_axes(c, golden_get(c, "paxis"), NULL, &axes);
  if (!status) status = read_asked(c, golden_get(c, "shape"), &what);
  if (!status) status = tsr_axes_resolve_request(axes, registry, &what.request, &spec);
  if (!status) tsr_spec_to_json(spec, answer->out);
  tsr_spec_release(spec);
  tsr_axes_release(axes);
  tsr_axis_registry_destroy(registry);
  return status;
}

static tsr_status shard(const golden_case *c, const golden_place *place, const tsr_axes *axes,
                        const tsr_axis_registry *registry, tsr_array **out_array) {
  const tsr_json *array = golden_get(c, "array"), *correct = golden_get(c, "auto_correct");
  bool auto_correct = true;
  asked what;
  tsr_leaf leaf = {.tensor.path = ""};
  if (correct) TSR_TRY(tsr_json_get_bool(correct, "auto_correct", &auto_correct));
  TSR_TRY(read_asked(c, NULL, &what));
  tsr_status status = golden_read_leaf(c, place, array, &leaf);
  if (!status && leaf.array)
    status = tsr_array_constrain_axes(leaf.array, axes, registry, &what.request, NULL, auto_correct,
                                      NULL, out_array, NULL);
  golden_release_leaf(&leaf);
  return status;
}

tsr_status golden_manager_shard(const golden_case *c, const golden_answer *answer) {
  tsr_axes *axes = NULL;
  tsr_axis_registry *registry = NULL;
  tsr_array *array = NULL;
  golden_place place;
  tsr_status status = golden_place_init(c, &place);
  if (!status) status = read_registry(c, &registry);
  if (!status) status = read_axes(c, golden_get(c, "paxis"), NULL, &axes);
  if (!status) status = shard(c, &place, axes, registry, &array);
  if (!status) status = golden_write_array(array, true, answer->out);
  tsr_array_release(array);
  tsr_axes_release(axes);
  tsr_axis_registry_destroy(registry);
  golden_place_deinit(&place);
  return status;
}
