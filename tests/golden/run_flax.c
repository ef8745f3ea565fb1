// flax: logical names and rules, by both of its mappings, and what they do to values on a mesh.
#include "array/array_internal.h"
#include "base/scope.h"
#include "golden/golden.h"
#include "json/json.h"
#include "rules/logical_internal.h"
#include "spec/spec_internal.h"
#include "support/pattern.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"

// ---- arguments ----

// Rules under `what`; NULL where they are absent or null. To be released.
static tsr_status read_rules(const golden_case *c, const char *what, tsr_logical_rules **out) {
  *out = NULL;
  if (golden_is_null(golden_get(c, what))) return NULL;
  return tsr_logical_rules_from_json(golden_get(c, what), out);
}

// What most functions take: names (absent for null) and rules, while others are in scope.
typedef struct arguments {
  tsr_logical_names names;
  bool has_names;
  tsr_logical_rules *rules, *context;
  tsr_mesh *mesh;
  tsr_scope mark;
} arguments;

static const tsr_logical_names *names_of(const arguments *in) {
  return in->has_names ? &in->names : NULL;
}

static void arguments_deinit(arguments *in) {
  tsr_scope_leave(in->mark);
  tsr_logical_names_deinit(&in->names);
  tsr_logical_rules_release(in->rules);
  tsr_logical_rules_release(in->context);
  tsr_mesh_release(in->mesh);
}

static tsr_status arguments_init(arguments *in, const golden_case *c, const char *names,
                                 const char *rules) {
  tsr_scope scope;
  *in = (arguments){.mark = tsr_scope_mark(), .has_names = !golden_is_null(golden_get(c, names))};
  if (in->has_names) TSR_TRY(tsr_logical_names_from_json(golden_get(c, names), &in->names));
  TSR_TRY(read_rules(c, rules, &in->rules));
  TSR_TRY(read_rules(c, "context_rules", &in->context));
  if (!golden_is_null(golden_get(c, "mesh")))
    TSR_TRY(golden_read_mesh(c, golden_get(c, "mesh"), &in->mesh));
  return in->context ? tsr_logical_enter(in->context, &scope) : NULL;
}

// ---- answers ----

static void write_spec(tsr_json_writer *out, const tsr_spec *spec) {
  if (spec)
    tsr_spec_to_json(spec, out);
  else
    tsr_json_write_null(out);
}

static void write_unchanged(tsr_json_writer *out) {
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "unchanged");
  tsr_json_write_bool(out, true);
  tsr_json_end_object(out);
}

// The spec of a placed value. JAX gives an entry to every dimension where axes are Explicit, as
// they are part of the value's type.
static tsr_status write_placed_spec(const golden_case *c, const tsr_spec *spec, int rank,
                                    bool is_type, tsr_json_writer *out) {
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec *whole = NULL;
  tsr_spec_dim *dims = tsr_arena_zeros(c->arena, (size_t)rank + 1, sizeof *dims);
  if (!dims) return tsr_fail(NO_MEMORY, "a spec");
  if (!is_type) {
    tsr_spec_to_json(spec, out);
    return NULL;
  }
  for (int i = 0; i < rank; i++) dims[i] = i < desc.dim_count ? desc.dims[i] : (tsr_spec_dim){0};
  desc.dims = dims;
  desc.dim_count = rank;
  TSR_TRY(tsr_spec_create(&desc, &whole));
  tsr_spec_to_json(whole, out);
  tsr_spec_release(whole);
  return NULL;
}

// How a value of the case lies that was placed.
static tsr_status write_placed(const golden_case *c, const tsr_array *array, bool devices,
                               bool is_type, tsr_json_writer *out) {
  const tsr_sharding *sharding = tsr_array_sharding(array);
  tsr_local_shard part = TSR_LOCAL_SHARD;
  TSR_TRY(pattern_check(array));
  TSR_TRY(tsr_array_local_at(array, 0, &part));
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "spec");
  TSR_TRY(
      write_placed_spec(c, tsr_sharding_spec(sharding), tsr_array_shape(array).rank, is_type, out));
  tsr_json_write_key(out, "shard_shape");
  tsr_json_write_ints(out, part.shape.dims, (size_t)part.shape.rank);
  if (devices) {
    tsr_json_write_key(out, "num_devices");
    tsr_json_write_int(out, tsr_array_local_count(array));
  }
  tsr_json_end_object(out);
  return NULL;
}

// ---- mapping ----

static tsr_status logical_to_mesh_axes(const golden_case *c, const golden_answer *answer) {
  arguments in;
  tsr_spec *spec = NULL;
  tsr_status status = arguments_init(&in, c, "names", "rules");
  if (!status) status = tsr_logical_to_mesh_axes(names_of(&in), in.rules, &spec, NULL);
  if (!status) write_spec(answer->out, spec);
  tsr_spec_release(spec);
  arguments_deinit(&in);
  return status;
}

static tsr_status map_one(const tsr_json *value, const tsr_logical_rules *rules,
                          tsr_json_writer *out) {
  tsr_spec *names = NULL, *spec = NULL;
  TSR_TRY(tsr_spec_from_json(value, &names));
  tsr_status status = tsr_logical_to_mesh(names, rules, &spec);
  if (!status) write_spec(out, spec);
  tsr_spec_release(spec);
  tsr_spec_release(names);
  return status;
}

static tsr_status logical_to_mesh(const golden_case *c, const golden_answer *answer) {
  tsr_logical_rules *rules = NULL;
  tsr_status status = NULL;
  TSR_TRY(read_rules(c, "rules", &rules));
  tsr_json_begin_array(answer->out);
  for (const tsr_json *at = tsr_json_first(golden_get(c, "specs")); at && !status;
       at = tsr_json_next(at))
    status = map_one(at, rules, answer->out);
  if (!status) tsr_json_end_array(answer->out);
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status from_sharding_rules(const golden_case *c, const golden_answer *answer) {
  arguments in;
  tsr_logical_names mapped = {0};
  tsr_status status = arguments_init(&in, c, "sharding", "rules");
  if (!status) status = tsr_logical_from_sharding_rules(&in.names, in.rules, &mapped);
  if (!status) tsr_logical_names_to_json(&mapped, answer->out);
  tsr_logical_names_deinit(&mapped);
  arguments_deinit(&in);
  return status;
}

static tsr_status composite_rules(const golden_case *c, const golden_answer *answer) {
  tsr_logical_rules *first = NULL, *second = NULL, *both = NULL;
  tsr_status status = read_rules(c, "rule1", &first);
  if (!status) status = read_rules(c, "rule2", &second);
  if (!status) status = tsr_logical_compose(first, second, &both);
  if (!status) tsr_logical_rules_to_json(both, answer->out);
  tsr_logical_rules_release(first);
  tsr_logical_rules_release(second);
  tsr_logical_rules_release(both);
  return status;
}

static tsr_status get_pspec(const golden_case *c, const golden_answer *answer) {
  arguments in;
  tsr_spec *spec = NULL;
  tsr_status status = arguments_init(&in, c, "sharding", "sharding_rules");
  if (!status) status = tsr_logical_get_pspec(&in.names, in.rules, &spec);
  if (!status) write_spec(answer->out, spec);
  tsr_spec_release(spec);
  arguments_deinit(&in);
  return status;
}

// ---- values on a mesh ----

// A value of the case's shape, on the first device, that `ask` may place.
typedef tsr_status value_question(const golden_case *c, const arguments *in, tsr_array *value,
                                  tsr_array **out_array, tsr_place_report *out_report);

static tsr_status place_value(const golden_case *c, const arguments *in, value_question *ask,
                              tsr_array **out_array, tsr_place_report *out_report) {
  tsr_shape shape;
  tsr_comm *comm = NULL;
  tsr_array *value = NULL;
  TSR_TRY(golden_shape(c, "shape", &shape));
  tsr_status status = pattern_comm(in->mesh, &comm);
  if (!status) status = pattern_unplaced(comm, TSR_F32, &shape, &value);
  if (!status) status = ask(c, in, value, out_array, out_report);
  tsr_array_release(value);
  tsr_comm_release(comm);
  return status;
}

static tsr_status ask_about_value(const golden_case *c, const char *names, const char *rules,
                                  value_question *ask, bool devices, tsr_json_writer *out) {
  arguments in;
  tsr_array *array = NULL;
  tsr_place_report report = TSR_PLACE_REPORT;
  tsr_status status = arguments_init(&in, c, names, rules);
  if (!status) status = place_value(c, &in, ask, &array, &report);
  if (!status && report.spec) {
    const bool is_type = tsr_mesh_axis_at(in.mesh, 0)->type == TSR_AXIS_EXPLICIT;
    status = write_placed(c, array, devices, is_type && devices, out);
  } else if (!status) {
    write_unchanged(out);
  }
  tsr_place_report_deinit(&report);
  tsr_array_release(array);
  arguments_deinit(&in);
  return status;
}

static tsr_status shard_one(const golden_case *c, const arguments *in, tsr_array *value,
                            tsr_array **out_array, tsr_place_report *out_report) {
  (void)c;
  return tsr_array_shard_value(value, names_of(in), in->rules, in->mesh, NULL, out_array,
                               out_report);
}

static tsr_status shard_value(const golden_case *c, const golden_answer *answer) {
  return ask_about_value(c, "sharding", "sharding_rules", shard_one, true, answer->out);
}

static tsr_status read_fallback(const golden_case *c, tsr_fallback *out) {
  static const char *const names[] = {"axis_is_unsharded", "raise_error", "no_constraint"};
  for (int i = 0; i < 3; i++)
    if (tsr_json_is_string(golden_get(c, "fallback"), names[i])) {
      *out = (tsr_fallback)i;
      return NULL;
    }
  return tsr_fail(BAD_ARGUMENT, "the case has no known fallback");
}

static tsr_status constrain_one(const golden_case *c, const arguments *in, tsr_array *value,
                                tsr_array **out_array, tsr_place_report *out_report) {
  tsr_fallback fallback = TSR_FALLBACK_UNSHARDED;
  TSR_TRY(read_fallback(c, &fallback));
  return tsr_array_constrain_logical(value, names_of(in), in->rules, in->mesh, fallback, NULL,
                                     out_array, out_report);
}

static tsr_status with_logical_constraint(const golden_case *c, const golden_answer *answer) {
  return ask_about_value(c, "names", "rules", constrain_one, false, answer->out);
}

// ---- axes that come and go ----

typedef tsr_status axis_change(const tsr_logical_names *names, int64_t index, const char *name,
                               tsr_logical_names *out_names);

static tsr_status change_axis(const golden_case *c, axis_change *change, tsr_json_writer *out) {
  arguments in;
  tsr_logical_names changed = {0};
  int64_t index = 0;
  const char *name = NULL;
  tsr_status status = arguments_init(&in, c, "names", "rules");
  if (!status) status = golden_int(c, "index", &index);
  if (!status && !golden_is_null(golden_get(c, "name")))
    status = golden_read_string(c, golden_get(c, "name"), "name", &name);
  if (!status) status = change(&in.names, index, name, &changed);
  if (!status) tsr_logical_names_to_json(&changed, out);
  tsr_logical_names_deinit(&changed);
  arguments_deinit(&in);
  return status;
}

static tsr_status add_axis(const golden_case *c, const golden_answer *answer) {
  return change_axis(c, tsr_logical_add_axis, answer->out);
}

static tsr_status remove_axis(const golden_case *c, const golden_answer *answer) {
  return change_axis(c, tsr_logical_remove_axis, answer->out);
}

// ---- scopes ----

enum { MOST_SCOPES = 64 };

typedef struct open_scopes {
  tsr_scope items[MOST_SCOPES];
  int count;
} open_scopes;

static tsr_status enter_or_set(const tsr_json *value, open_scopes *open, bool enter) {
  tsr_logical_rules *rules = NULL;
  if (open->count == MOST_SCOPES) return tsr_fail(TOO_LARGE, "more than %d scopes", MOST_SCOPES);
  TSR_TRY(tsr_logical_rules_from_json(value, &rules));
  tsr_status status =
      enter ? tsr_logical_enter(rules, &open->items[open->count]) : tsr_logical_set(rules);
  if (!status && enter) open->count++;
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status take_step(const tsr_json *step, open_scopes *open) {
  const tsr_json *verb = tsr_json_first(step);
  if (tsr_json_is_string(verb, "enter")) return enter_or_set(tsr_json_next(verb), open, true);
  if (tsr_json_is_string(verb, "set")) return enter_or_set(tsr_json_next(verb), open, false);
  // Leaving is one call, whether by a return or by an error.
  if (!open->count) return tsr_fail(BAD_ARGUMENT, "the case leaves a scope it did not enter");
  tsr_scope_leave(open->items[--open->count]);
  return NULL;
}

static tsr_status write_steps(const golden_case *c, tsr_json_writer *out) {
  open_scopes open = {.count = 0};
  tsr_json_write_key(out, "seen");
  tsr_json_begin_array(out);
  for (const tsr_json *at = tsr_json_first(golden_get(c, "steps")); at; at = tsr_json_next(at)) {
    TSR_TRY(take_step(at, &open));
    tsr_logical_rules_to_json(tsr_logical_current(), out);
  }
  tsr_json_end_array(out);
  while (open.count) tsr_scope_leave(open.items[--open.count]);
  tsr_json_write_key(out, "after_unwinding");
  tsr_logical_rules_to_json(tsr_logical_current(), out);
  return NULL;
}

static tsr_status scopes(const golden_case *c, const golden_answer *answer) {
  const tsr_scope mark = tsr_scope_mark();
  tsr_json_begin_object(answer->out);
  tsr_status status = write_steps(c, answer->out);
  if (!status) tsr_json_end_object(answer->out);
  tsr_scope_leave(mark);
  tsr_status reset = tsr_logical_set(NULL);
  if (!status) return reset;
  tsr_status_free(reset);
  return status;
}

const golden_function golden_flax_functions[] = {
    {"add_axis", add_axis, {NULL}},
    {"composite_rules", composite_rules, {NULL}},
    {"from_sharding_rules", from_sharding_rules, {NULL}},
    {"get_pspec", get_pspec, {NULL}},
    {"logical_to_mesh", logical_to_mesh, {NULL}},
    {"logical_to_mesh_axes", logical_to_mesh_axes, {NULL}},
    {"remove_axis", remove_axis, {NULL}},
    {"scopes", scopes, {NULL}},
    {"shard_value", shard_value, {NULL}},
    {"with_logical_constraint", with_logical_constraint, {NULL}},
    {NULL, NULL, {NULL}},
};
