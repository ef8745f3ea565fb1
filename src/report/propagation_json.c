// Shardings of programs and their explanations as JSON.
#include "base/text_internal.h"
#include "insight/insight.h"
#include "json/json.h"
#include "program/program_internal.h"
#include "report/propagation_report.h"
#include "syntax/syntax.h"

typedef struct json_target {
  const tsr_propagation *p;
  tsr_json_writer writer;
  tsr_text text;  // of one string
} json_target;

// Adds what `target->text` holds as a member.
static void add_text(json_target *t, const char *key) {
  tsr_json_add_string(&t->writer, key, tsr_text_string(&t->text));
  t->writer.out->failed |= t->text.failed;
  tsr_text_clear(&t->text);
}

static void add_slot(json_target *t, const char *key, uint32_t slot) {
  tsr_slot_print(t->p, slot, &t->text);
  add_text(t, key);
}

static void add_sharding(json_target *t, uint32_t slot) {
  const tsr_sharding_place *place = &t->p->places[slot];
  if (!place->last) {
    tsr_json_add_null(&t->writer, "sharding");
    return;
  }
  tsr_tensor_sharding_print(place->last, false, &t->text);
  add_text(t, "sharding");
  tsr_slot_sharding_print(t->p, slot, &t->text);
  add_text(t, "spec");
}

static void add_part(json_target *t, uint32_t slot, uint32_t other, const tsr_sdy_part *part) {
  const tsr_tensor_sharding *sharding = t->p->places[slot].last;
  if (!sharding) sharding = t->p->places[other].last;
  if (sharding) tsr_sdy_part_print(sharding->mesh, part, &t->text);
  // Without the quotes of MLIR's text.
  tsr_text plain = TSR_TEXT_EMPTY;
  for (const char *at = tsr_text_string(&t->text); *at; at++)
    if (*at != '"') tsr_text_add_char(&plain, *at);
  tsr_text_deinit(&t->text);
  t->text = plain;
  add_text(t, "axis");
}

static void add_op(json_target *t, const tsr_op *op) {
  const tsr_op *given = tsr_given_op(t->p, op);
  tsr_way_print(t->p, op, &t->text);
  add_text(t, "through");
  if (!given || given->info->id == TSR_OP_FUNC) return;
  tsr_op_line_print(given, &t->text);
  add_text(t, "line");
}

// ---- one value ----

static void add_value(json_target *t, uint32_t slot) {
  const tsr_sharding_place *place = &t->p->places[slot];
  const tsr_op *func = tsr_slot_function(t->p, slot);
  add_slot(t, "value", slot);
  tsr_json_add_string(&t->writer, "function", func ? tsr_op_symbol(func) : NULL);
  tsr_type_print(tsr_slot_type(t->p, slot), &t->text);
  add_text(t, "type");
  add_sharding(t, slot);
  tsr_json_add_bool(&t->writer, "given", tsr_place_is_given(place));
}

// An axis that a tensor of an op has and another one not; `named` = also which one.
static void add_refusal(json_target *t, const tsr_refusal *refusal, bool named) {
  tsr_json_begin_object(&t->writer);
  if (named) add_slot(t, "value", refusal->slot);
  if (named && refusal->dim >= 0) tsr_json_add_int(&t->writer, "dimension", refusal->dim);
  if (refusal->dim >= 0) add_part(t, refusal->source, refusal->slot, &refusal->part);
  add_slot(t, "from", refusal->source);
  if (refusal->dim >= 0) tsr_json_add_int(&t->writer, "from_dimension", refusal->source_dim);
  add_op(t, refusal->op);
  tsr_json_add_string(&t->writer, "reason", tsr_refusal_word(refusal->reason));
  tsr_refusal_print(t->p, refusal, &t->text);
  add_text(t, "text");
  tsr_json_end_object(&t->writer);
}

static void add_step(json_target *t, const tsr_gain *gain) {
  tsr_json_begin_object(&t->writer);
  add_slot(t, "value", gain->slot);
  tsr_json_add_int(&t->writer, "dimension", gain->dim);
  if (gain->source) {
    add_slot(t, "from", gain->source);
    tsr_json_add_int(&t->writer, "from_dimension", gain->source_dim);
  }
  add_op(t, gain->op);
  tsr_json_add_int(&t->writer, "user_priority", gain->user_priority);
  tsr_json_add_int(&t->writer, "op_priority", gain->op_priority);
  tsr_json_end_object(&t->writer);
}

static void add_axis(json_target *t, uint32_t slot, int dim, const tsr_sdy_part *part) {
  uint32_t root = slot;
  tsr_json_begin_object(&t->writer);
  add_part(t, slot, slot, part);
  tsr_json_add_array(&t->writer, "steps");
  for (const tsr_gain *at = tsr_gain_of(t->p, slot, dim, part, INT64_MAX); at;
       at = tsr_gain_before(t->p, at)) {
    add_step(t, at);
    root = at->source;
  }
  tsr_json_end_array(&t->writer);
  if (root) {
    tsr_json_add_object(&t->writer, "origin");
    add_slot(t, "value", root);
    tsr_root_print(t->p, root, &t->text);
    add_text(t, "text");
    tsr_json_end_object(&t->writer);
  }
  tsr_json_end_object(&t->writer);
}

static void add_dim(json_target *t, uint32_t slot, int dim) {
  const tsr_tensor_sharding *sharding = t->p->places[slot].last;
  tsr_json_begin_object(&t->writer);
  tsr_json_add_int(&t->writer, "dimension", dim);
  tsr_json_add_int(&t->writer, "size", tsr_slot_type(t->p, slot)->dims[dim]);
  tsr_json_add_array(&t->writer, "axes");
  for (int64_t i = 0; sharding && i < sharding->dims[dim].axes.count; i++)
    add_axis(t, slot, dim, &sharding->dims[dim].axes.items[i]);
  tsr_json_end_array(&t->writer);
  tsr_json_add_array(&t->writer, "refused");
  for (uint32_t i = t->p->places[slot].refusals; i; i = t->p->refusals[i - 1].previous)
    if (t->p->refusals[i - 1].dim == dim) add_refusal(t, &t->p->refusals[i - 1], false);
  tsr_json_end_array(&t->writer);
  tsr_json_end_object(&t->writer);
}

static tsr_status add_what_if(json_target *t, const tsr_propagation *after) {
  int64_t count = 0;
  TSR_TRY(tsr_propagation_compare(t->p, after, &count, &t->text));
  tsr_json_add_object(&t->writer, "if");
  tsr_json_add_array(&t->writer, "constraints");
  for (int64_t i = 0; i < after->constraint_count; i++)
    tsr_json_write_string(&t->writer, after->constraints[i].text);
  tsr_json_end_array(&t->writer);
  tsr_json_add_int(&t->writer, "changed", count);
  tsr_json_add_array(&t->writer, "changes");
  for (const char *at = tsr_text_string(&t->text); *at;) {
    const char *end = strchr(at, '\n');
    tsr_json_write_bytes(&t->writer, at, (size_t)(end - at));
    at = end + 1;
  }
  tsr_json_end_array(&t->writer);
  tsr_json_add_int(&t->writer, "conflicts_before", t->p->info.conflict_count);
  tsr_json_add_int(&t->writer, "conflicts_after", after->info.conflict_count);
  tsr_json_end_object(&t->writer);
  tsr_text_clear(&t->text);
  return NULL;
}

tsr_status tsr_explanation_to_json(const tsr_propagation_report *report, const char *value, int dim,
                                   const tsr_propagation *after, tsr_text *out) {
  json_target t = {.p = report->propagation};
  tsr_named_value named;
  TSR_TRY(tsr_value_find(t.p, value, &named));
  const uint32_t slot = tsr_value_slot(t.p, &named, 0);
  if (!slot) return tsr_fail(NOT_FOUND, "%s has no sharding: no result depends on it", value);
  const int rank = tsr_slot_type(t.p, slot)->rank;
  if (dim >= rank)
    return tsr_fail(INDEX_OUT_OF_RANGE, "dimension %d of %s, expected 0 to %d", dim, value,
                    rank - 1);
  tsr_json_begin_document(&t.writer, out);
  tsr_json_add_string(&t.writer, "schema", "tessera-explain-program/1");
  tsr_json_add_string(&t.writer, "program", report->path);
  add_value(&t, slot);
  if (named.value && named.value->def) {
    tsr_op_line_print(named.value->def, &t.text);
    add_text(&t, "line");
  }
  tsr_json_add_array(&t.writer, "dimensions");
  for (int i = 0; i < rank; i++)
    if (dim < 0 || dim == i) add_dim(&t, slot, i);
  tsr_json_end_array(&t.writer);
  tsr_status status = after ? add_what_if(&t, after) : NULL;
  tsr_text_deinit(&t.text);
  if (status) return status;
  tsr_json_end_document(&t.writer);
  return tsr_text_check(out);
}

// ---- all values ----

static tsr_status add_signature_value(json_target *t, uint32_t slot, const tsr_program_value *given,
                                      const tsr_program_value *final) {
  tsr_json_begin_inline_object(&t->writer);
  if (slot) add_slot(t, "value", slot);
  tsr_json_add_string(&t->writer, "name", given->name);
  tsr_json_add_string(&t->writer, "type", final->type);
  tsr_json_add_string(&t->writer, "sharding", final->sharding);
  if (final->spec) {
    TSR_TRY(tsr_spec_print(final->spec, TSR_FORM_SHORT, &t->text));
    add_text(t, "spec");
  }
  tsr_json_add_bool(&t->writer, "given", slot && tsr_place_is_given(&t->p->places[slot]));
  tsr_json_end_object(&t->writer);
  return NULL;
}

// The slot of an argument or result of the entry.
static uint32_t signature_slot(const json_target *t, bool result, int index) {
  const tsr_op *func = tsr_ir_entry(tsr_program_ir(t->p->given));
  const tsr_ir_block *body = func ? tsr_func_body(func) : NULL;
  if (!body || (!result && index >= body->arg_count)) return 0;
  const tsr_named_value named = {
      .value = result ? NULL : body->args[index], .func = func, .index = index};
  return tsr_value_slot(t->p, &named, 0);
}

typedef tsr_status value_getter(const tsr_program *program, int64_t function, int64_t index,
                                tsr_program_value *out_value);

static tsr_status add_signature(json_target *t, const char *key, value_getter *get, int64_t count) {
  const int64_t from = tsr_program_entry(t->p->original), to = tsr_program_entry(t->p->final);
  tsr_json_add_array(&t->writer, key);
  for (int64_t i = 0; from >= 0 && to >= 0 && i < count; i++) {
    tsr_program_value given = TSR_PROGRAM_VALUE, final = TSR_PROGRAM_VALUE;
    TSR_TRY(get(t->p->original, from, i, &given));
    TSR_TRY(get(t->p->final, to, i, &final));
    const uint32_t slot = signature_slot(t, get == tsr_program_result, (int)i);
    TSR_TRY(add_signature_value(t, slot, &given, &final));
  }
  tsr_json_end_array(&t->writer);
  return NULL;
}

static void add_names(json_target *t, const char *key, const char *const *names, int64_t count) {
  if (!count) return;
  tsr_json_add_array(&t->writer, key);
  for (int64_t i = 0; i < count; i++) tsr_json_write_string(&t->writer, names[i]);
  tsr_json_end_array(&t->writer);
}

static void add_counts(json_target *t) {
  const tsr_propagation_info *info = &t->p->info;
  tsr_json_add_int(&t->writer, "values", info->value_count);
  tsr_json_add_int(&t->writer, "sharded", info->sharded_count);
  tsr_json_add_int(&t->writer, "given", info->given_count);
  tsr_json_add_int(&t->writer, "conflicts", info->conflict_count);
  if (info->unread_count) tsr_json_add_int(&t->writer, "xla_shardings", info->unread_count);
  add_names(t, "arguments_without_row", info->unmatched, info->unmatched_count);
  add_names(t, "rows_without_argument", info->unused, info->unused_count);
}

// The first refusal of each op, as the text lists them.
static void add_conflicts(json_target *t) {
  const tsr_op *last = NULL;
  tsr_json_add_array(&t->writer, "conflict_list");
  for (int64_t i = 0; i < t->p->refusal_count; i++) {
    const tsr_refusal *refusal = &t->p->refusals[i];
    if (refusal->op != last) add_refusal(t, refusal, true);
    last = refusal->op;
  }
  tsr_json_end_array(&t->writer);
}

static void add_all_values(json_target *t) {
  tsr_json_add_array(&t->writer, "all_values");
  for (int64_t i = 1; i <= t->p->place_count; i++) {
    if (!tsr_slot_is_shown(t->p, i)) continue;
    tsr_json_begin_inline_object(&t->writer);
    add_value(t, (uint32_t)i);
    tsr_json_end_object(&t->writer);
  }
  tsr_json_end_array(&t->writer);
}

static tsr_status write_report(json_target *t, const tsr_propagation_report *report) {
  const int64_t entry = tsr_program_entry(t->p->original);
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  if (entry >= 0) TSR_TRY(tsr_program_function_at(t->p->original, entry, &function));
  TSR_TRY(add_signature(t, "arguments", tsr_program_argument, function.argument_count));
  TSR_TRY(add_signature(t, "results", tsr_program_result, function.result_count));
  add_counts(t);
  add_conflicts(t);
  if (report->all) add_all_values(t);
  return NULL;
}

tsr_status tsr_propagation_report_to_json(const tsr_propagation_report *report, tsr_text *out) {
  json_target t = {.p = report->propagation};
  tsr_json_begin_document(&t.writer, out);
  tsr_json_add_string(&t.writer, "schema", "tessera-propagate/1");
  tsr_json_add_string(&t.writer, "program", report->path);
  tsr_status status = write_report(&t, report);
  tsr_text_deinit(&t.text);
  if (status) return status;
  tsr_json_end_document(&t.writer);
  return tsr_text_check(out);
}
