// Plans as JSON: docs/plan-schema.md.
//
// A row is one line: the tensor, its spec in the short form, and whatever differs from the default.
// Each spec is parsed once, whatever the number of rows.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "file/replace.h"
#include "json/json_read.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "plan/tree.h"
#include "rules/logical_internal.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"
#include "topology/topology_internal.h"

#define SCHEMA_PREFIX "tessera-plan/"
#define STRING_OF(x) STRING_OF_VALUE(x)
#define STRING_OF_VALUE(x) #x
static const char schema[] = SCHEMA_PREFIX STRING_OF(TSR_PLAN_SCHEMA);

// ---- writing ----

static void write_note(const tsr_plan_note *note, tsr_json_writer *writer) {
  tsr_json_begin_inline_object(writer);
  tsr_json_add_string(writer, "why", tsr_why_word(note->why));
  if (note->dim >= 0) tsr_json_add_int(writer, "dim", note->dim);
  if (note->rule >= 0) tsr_json_add_int(writer, "rule", note->rule);
  if (note->argument) tsr_json_add_int(writer, "argument", note->argument);
  if (note->axis) tsr_json_add_string(writer, "axis", note->axis);
  tsr_json_end_object(writer);
}

static void write_spec(const tsr_spec *spec, const char *key, tsr_text *scratch,
                       tsr_json_writer *writer) {
  tsr_text_clear(scratch);
  tsr_spec_add(spec, scratch);
  tsr_json_write_key(writer, key);
  tsr_json_write_bytes(writer, tsr_text_string(scratch), scratch->length);
  if (scratch->failed) writer->out->failed = true;  // a text cut short must not pass for the whole
}

static void write_row(const tsr_plan_row *row, tsr_text *scratch, tsr_json_writer *writer) {
  tsr_json_begin_inline_object(writer);
  tsr_tensor_write(row->tensor, writer);
  write_spec(row->final, "spec", scratch, writer);
  if (row->wanted != row->final) write_spec(row->wanted, "wanted", scratch, writer);
  if (row->policy != TSR_POLICY_ERROR)
    tsr_json_add_string(writer, "policy", tsr_policy_name(row->policy));
  tsr_json_add_int(writer, "bytes_per_device", row->bytes_per_device);
  if (row->note_count) {
    tsr_json_add_inline_array(writer, "notes");
    for (int64_t i = 0; i < row->note_count; i++) write_note(&row->notes[i], writer);
    tsr_json_end_array(writer);
  }
  tsr_json_end_object(writer);
}

static void write_head(const tsr_plan *plan, tsr_json_writer *writer) {
  tsr_json_add_string(writer, "schema", schema);
  if (plan->mesh) {
    tsr_json_write_key(writer, "mesh");
    tsr_mesh_to_json(plan->mesh, writer);
    if (tsr_mesh_topology(plan->mesh)) {
      tsr_json_write_key(writer, "topology");
      tsr_topology_to_json(tsr_mesh_topology(plan->mesh), writer);
    }
  }
  if (plan->rules) {
    tsr_json_write_key(writer, "rules");
    tsr_rules_to_json(plan->rules, writer);
    if (tsr_rules_kept(plan->rules)->fact_count || tsr_rules_have_expressions(plan->rules)) {
      tsr_json_write_key(writer, "rules_options");
      tsr_rules_kept_to_json(plan->rules, writer);
    }
  }
  if (plan->logical_rules) {
    tsr_json_write_key(writer, "logical_rules");
    tsr_logical_rules_to_json(plan->logical_rules, writer);
  }
}

void tsr_plan_to_json(const tsr_plan *plan, tsr_json_writer *writer) {
  tsr_text scratch = TSR_TEXT_EMPTY;
  tsr_json_begin_object(writer);
  write_head(plan, writer);
  tsr_json_add_array(writer, "tensors");
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row;
    tsr_plan_row_read(plan, i, &row);
    write_row(&row, &scratch, writer);
  }
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
  tsr_text_deinit(&scratch);
}

// ---- reading: tensors first, then rows ----

typedef struct plan_reader {
  tsr_arena arena;
  const tsr_json *list;  // of rows
  tsr_tensor *tensors;   // in the arena
  tsr_mesh *mesh;        // may be NULL
  tsr_rules *rules;
  tsr_logical_rules *logical_rules;
  tsr_tree *tree;
  tsr_plan_builder builder;
  tsr_name_index texts;    // of specs read before
  const tsr_spec **specs;  // owned, with a reference each
  int64_t spec_count, spec_capacity;
} plan_reader;

// Adds the number of the row to a failure, and the tensor's path if it has one.
static tsr_status note_row(tsr_status status, int64_t index, const tsr_json *row) {
  const char *path = NULL;
  size_t length = 0;
  const tsr_status missing =
      tsr_json_get_string(tsr_json_find(row, "path"), "path", &path, &length);
  tsr_status_free(missing);
  if (missing) return tsr_note(status, "tensors[%lld]", (long long)index);
  return tsr_note(status, "tensors[%lld], \"%.*s\"", (long long)index, (int)length, path);
}

static tsr_status read_tensor(plan_reader *work, const tsr_json *row, int64_t index) {
  static const char *const keys[] = {"path",  "dtype",  "shape",  "logical",
                                     "spec",  "wanted", "policy", "bytes_per_device",
                                     "notes", NULL};
  TSR_TRY(tsr_json_check_keys(row, keys));
  return tsr_tensor_from_json(row, true, &work->arena, &work->tensors[index]);
}

static tsr_status read_tensors(plan_reader *work) {
  const size_t count = tsr_json_count(work->list);
  int64_t i = 0;
  work->tensors = tsr_arena_zeros(&work->arena, count + 1, sizeof *work->tensors);
  if (!work->tensors) return tsr_fail(NO_MEMORY, "plan of %zu tensors", count);
  for (const tsr_json *row = tsr_json_first(work->list); row; row = tsr_json_next(row), i++) {
    const tsr_status status = read_tensor(work, row, i);
    if (status) return note_row(status, i, row);
  }
  return tsr_tree_create(work->tensors, i, &work->tree);
}

static tsr_status parse_spec(plan_reader *work, const char *text, const tsr_spec **out_spec) {
  tsr_spec *spec = NULL;
  int64_t existing = -1;
  const tsr_spec **specs =
      tsr_grow(work->specs, work->spec_count, &work->spec_capacity, sizeof *specs);
  if (!specs) return tsr_fail(NO_MEMORY, "specs of a plan");
  work->specs = specs;
  TSR_TRY(tsr_name_index_add(&work->texts, text, work->spec_count, &existing));
  TSR_TRY(tsr_spec_parse(text, TSR_FORM_SHORT, &spec));
  *out_spec = specs[work->spec_count++] = spec;
  return NULL;
}

static tsr_status read_spec(plan_reader *work, const tsr_json *value, const char *what,
                            const tsr_spec **out_spec) {
  const char *text = NULL;
  TSR_TRY(tsr_json_copy_string(value, what, &work->arena, &text));
  const int64_t known = tsr_name_index_find(&work->texts, text);
  if (known < 0) return tsr_note(parse_spec(work, text, out_spec), "%s", what);
  *out_spec = work->specs[known];
  return NULL;
}

static tsr_status read_policy(plan_reader *work, const tsr_json *value, tsr_policy *out_policy) {
  const char *name = NULL;
  *out_policy = TSR_POLICY_ERROR;
  if (!value) return NULL;
  TSR_TRY(tsr_json_copy_string(value, "policy", &work->arena, &name));
  return tsr_policy_parse(name, out_policy);
}

// ---- notes ----

static tsr_status read_why(const tsr_json *value, tsr_why *out_why) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, "why", &bytes, &length));
  for (int why = 0; why < TSR_WHY_COUNT; why++)
    if (tsr_json_is_string(value, tsr_why_word((tsr_why)why))) {
      *out_why = (tsr_why)why;
      return NULL;
    }
  return tsr_fail(BAD_PLAN, "why: \"%.*s\" is not a known reason", (int)length, bytes);
}

// An integer from 0 to `end` - 1; -1 where there is none.
static tsr_status read_number(const tsr_json *value, const char *what, int64_t end, int64_t *out) {
  int64_t number = -1;
  *out = -1;
  if (!value) return NULL;
  TSR_TRY(tsr_json_get_int(value, what, &number));
  if (number < 0 || number >= end)
    return tsr_fail(BAD_PLAN, "%s %lld, wanted 0 to %lld", what, (long long)number,
                    (long long)end - 1);
  *out = number;
  return NULL;
}

static bool names_logical_rule(tsr_why why) {
  return why == TSR_WHY_LOGICAL || why == TSR_WHY_LOGICAL_BLOCKED;
}

// The number of rules that a note of this kind can name; no limit where the plan has no rules.
static int64_t rule_count(const plan_reader *work, tsr_why why) {
  if (work->rules && why == TSR_WHY_RULE) return tsr_rules_count(work->rules);
  if (work->logical_rules && names_logical_rule(why))
    return tsr_logical_rules_count(work->logical_rules);
  return INT_MAX;
}

static tsr_status read_note(plan_reader *work, const tsr_json *value, tsr_plan_note *note) {
  static const char *const keys[] = {"why", "dim", "rule", "argument", "axis", NULL};
  const tsr_json *argument = tsr_json_find(value, "argument"), *axis = tsr_json_find(value, "axis");
  TSR_TRY(tsr_json_check_keys(value, keys));
  TSR_TRY(read_why(tsr_json_find(value, "why"), &note->why));
  int64_t dim = -1;
  TSR_TRY(read_number(tsr_json_find(value, "dim"), "dim", INT_MAX, &dim));
  note->dim = (int)dim;  // read_number has checked it
  TSR_TRY(
      read_number(tsr_json_find(value, "rule"), "rule", rule_count(work, note->why), &note->rule));
  if (note->rule < 0 && (note->why == TSR_WHY_RULE || names_logical_rule(note->why)))
    return tsr_fail(BAD_PLAN, "rule: missing, wanted the rule's number");
  if (argument) TSR_TRY(tsr_json_get_int(argument, "argument", &note->argument));
  return axis ? tsr_json_copy_string(axis, "axis", &work->arena, &note->axis) : NULL;
}

static tsr_status read_notes(plan_reader *work, int64_t row, const tsr_json *list) {
  if (!list) return NULL;
  TSR_TRY(tsr_json_want_array(list, "notes"));
  int i = 0;
  for (const tsr_json *value = tsr_json_first(list); value; value = tsr_json_next(value), i++) {
    tsr_plan_note note = {0};
    TSR_TRY_NOTE(read_note(work, value, &note), "notes[%d]", i);
    TSR_TRY(tsr_plan_builder_note(&work->builder, row, &note));
  }
  return NULL;
}

// ---- rows ----

static tsr_status read_row(plan_reader *work, int64_t index, const tsr_json *row) {
  const tsr_spec *final = NULL, *wanted = NULL;
  const tsr_json *before = tsr_json_find(row, "wanted");
  tsr_policy policy = TSR_POLICY_ERROR;
  TSR_TRY(read_spec(work, tsr_json_find(row, "spec"), "spec", &final));
  wanted = final;
  if (before) TSR_TRY(read_spec(work, before, "wanted", &wanted));
  TSR_TRY(read_policy(work, tsr_json_find(row, "policy"), &policy));
  TSR_TRY(tsr_plan_builder_set(&work->builder, index, wanted, final, policy));
  return read_notes(work, index, tsr_json_find(row, "notes"));
}

// The recorded bytes are for readers that cannot compute layouts. They must be those of the spec.
static tsr_status check_bytes(const plan_reader *work, const tsr_plan *plan) {
  int64_t i = 0, recorded = 0;
  for (const tsr_json *row = tsr_json_first(work->list); row; row = tsr_json_next(row), i++) {
    const tsr_json *value = tsr_json_find(row, "bytes_per_device");
    const int64_t bytes = plan->rows[i].bytes_per_device;
    if (!value) continue;
    tsr_status status = tsr_json_get_int(value, "bytes_per_device", &recorded);
    if (!status && recorded != bytes)
      status = tsr_fail(BAD_PLAN, "bytes_per_device is %lld, but the spec gives %lld",
                        (long long)recorded, (long long)bytes);
    if (status) return note_row(status, i, row);
  }
  return NULL;
}

static tsr_status read_rows(plan_reader *work, tsr_plan **out_plan) {
  int64_t i = 0;
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_builder_init(&work->builder, work->tree, work->mesh));
  tsr_plan_builder_rules(&work->builder, work->rules, work->logical_rules);
  for (const tsr_json *row = tsr_json_first(work->list); row; row = tsr_json_next(row), i++) {
    const tsr_status status = read_row(work, i, row);
    if (status) return note_row(status, i, row);
  }
  TSR_TRY(tsr_plan_builder_end(&work->builder, NULL, &plan));
  tsr_status status = check_bytes(work, plan);
  if (status)
    tsr_plan_release(plan);
  else
    *out_plan = plan;
  return status;
}

// The mesh, on its topology if the plan has one.
static tsr_status read_mesh(plan_reader *work, const tsr_json *mesh, const tsr_json *machine) {
  tsr_topology *topology = NULL;
  if (!mesh && machine)
    return tsr_fail(BAD_PLAN, "a topology without a mesh, wanted both or the mesh alone");
  if (machine) TSR_TRY(tsr_topology_from_json(machine, &topology));
  tsr_status status = topology ? tsr_topology_check(topology) : NULL;
  if (!status && mesh) status = tsr_mesh_from_json(mesh, topology, &work->mesh);
  tsr_topology_release(topology);
  return status;
}

static tsr_status read_plan(plan_reader *work, const tsr_json *value, tsr_plan **out_plan) {
  static const char *const keys[] = {"schema",        "mesh",          "topology", "rules",
                                     "rules_options", "logical_rules", "tensors",  NULL};
  const tsr_json *rules = tsr_json_find(value, "rules");
  const tsr_json *logical = tsr_json_find(value, "logical_rules");
  const tsr_json *options = tsr_json_find(value, "rules_options");
  TSR_TRY(tsr_json_check_keys(value, keys));
  TSR_TRY(tsr_json_check_schema(value, schema));
  TSR_TRY(read_mesh(work, tsr_json_find(value, "mesh"), tsr_json_find(value, "topology")));
  if (rules) TSR_TRY_NOTE(tsr_rules_from_json(rules, options, &work->rules), "rules");
  if (options && !rules) return tsr_fail(BAD_PLAN, "rules_options without rules");
  if (logical)
    TSR_TRY_NOTE(tsr_logical_rules_from_json(logical, &work->logical_rules), "logical_rules");
  work->list = tsr_json_find(value, "tensors");
  TSR_TRY(tsr_json_want_array(work->list, "tensors"));
  TSR_TRY(read_tensors(work));
  return read_rows(work, out_plan);
}

tsr_status tsr_plan_from_json(const tsr_json *value, tsr_plan **out_plan) {
  plan_reader work = {.arena = TSR_ARENA_EMPTY};
  const tsr_status status = read_plan(&work, value, out_plan);
  tsr_plan_builder_deinit(&work.builder);
  for (int64_t i = 0; i < work.spec_count; i++) tsr_spec_release(work.specs[i]);
  free(work.specs);
  tsr_name_index_deinit(&work.texts);
  tsr_tree_release(work.tree);
  tsr_mesh_release(work.mesh);
  tsr_rules_release(work.rules);
  tsr_logical_rules_release(work.logical_rules);
  tsr_arena_deinit(&work.arena);
  return tsr_note(status, "plan");
}

bool tsr_plan_is_json(const tsr_json *value) {
  const tsr_json *name = tsr_json_find(value, "schema");
  const char *bytes = NULL;
  size_t length = 0;
  if (!name || tsr_json_kind_of(name) != TSR_JSON_STRING) return false;
  const tsr_status status = tsr_json_get_string(name, "schema", &bytes, &length);
  tsr_status_free(status);
  return length >= strlen(SCHEMA_PREFIX) && !memcmp(bytes, SCHEMA_PREFIX, strlen(SCHEMA_PREFIX));
}

tsr_status tsr_plan_open(const char *path, tsr_plan **out_plan) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = tsr_plan_from_json(tsr_json_root(doc), out_plan);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

tsr_status tsr_plan_save(const tsr_plan *plan, const char *path) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_replacement file;
  tsr_json_writer_init(&writer, &text, 2);
  tsr_plan_to_json(plan, &writer);
  tsr_text_add_char(&text, '\n');
  tsr_status status = tsr_text_check(&text);
  if (!status) status = tsr_replacement_begin(&file, path);
  if (!status) {
    status = tsr_replacement_write(&file, tsr_text_string(&text), (int64_t)text.length, 0);
    status = tsr_replacement_end(&file, status);
  }
  tsr_text_deinit(&text);
  return tsr_note(status, "%s", path);
}
