// The shardings of a program as tables: arguments, results, counts, conflicts.
#include "report/propagation_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text_internal.h"
#include "draw/draw.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "syntax/syntax.h"

enum { SHOWN_CONFLICTS = 5, SHOWN_NAMES = 8, SHOWN_CHANGES = 40 };

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

// ---- arguments and results ----

static tsr_status add_row(const tsr_propagation *p, const tsr_named_value *named,
                          const char *heading, const char *name, const tsr_program_value *final,
                          tsr_table *table) {
  const uint32_t slot = tsr_value_slot(p, named, 0);
  tsr_table_add(table, heading);
  if (slot) tsr_slot_print(p, slot, &table->text);
  tsr_table_end_cell(table);
  tsr_table_add(table, name);
  tsr_table_add(table, final->type);
  if (final->spec)
    TSR_TRY(tsr_spec_print(final->spec, TSR_FORM_SHORT, &table->text));
  else
    tsr_text_add(&table->text, final->sharding ? final->sharding : "-");
  tsr_table_end_cell(table);
  tsr_table_add(table, slot && tsr_place_is_given(&p->places[slot]) ? "given" : "");
  return NULL;
}

static tsr_status fill_signature(const tsr_propagation *p, tsr_table *table) {
  const int64_t from = tsr_program_entry(p->original), to = tsr_program_entry(p->final);
  const tsr_op *func = tsr_ir_entry(tsr_program_ir(p->given));
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  if (from < 0 || to < 0 || !func || !tsr_func_body(func)) return NULL;
  TSR_TRY(tsr_program_function_at(p->original, from, &function));
  for (int i = 0; i < function.argument_count; i++) {
    tsr_program_value given = TSR_PROGRAM_VALUE, final = TSR_PROGRAM_VALUE;
    const tsr_named_value named = {.value = tsr_func_body(func)->args[i], .func = func, .index = i};
    TSR_TRY(tsr_program_argument(p->original, from, i, &given));
    TSR_TRY(tsr_program_argument(p->final, to, i, &final));
    TSR_TRY(add_row(p, &named, i ? "" : "arguments", given.name, &final, table));
  }
  for (int i = 0; i < function.result_count; i++) {
    tsr_program_value given = TSR_PROGRAM_VALUE, final = TSR_PROGRAM_VALUE;
    const tsr_named_value named = {.func = func, .index = i};
    TSR_TRY(tsr_program_result(p->original, from, i, &given));
    TSR_TRY(tsr_program_result(p->final, to, i, &final));
    TSR_TRY(add_row(p, &named, i ? "" : "results", given.name, &final, table));
  }
  return NULL;
}

static tsr_status print_signature(const tsr_propagation *p, tsr_text *out) {
  tsr_table table = {0};
  tsr_table_add_column(&table, (tsr_table_column){.title = ""});
  tsr_table_add_column(&table, (tsr_table_column){.title = "value"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "name", .most = 48});
  tsr_table_add_column(&table, (tsr_table_column){.title = "type", .most = 40});
  tsr_table_add_column(&table, (tsr_table_column){.title = "sharding", .most = 40});
  tsr_table_add_column(&table, (tsr_table_column){.title = ""});
  tsr_status status = fill_signature(p, &table);
  if (!status) tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  return status;
}

// ---- all values ----

static void print_values(const tsr_propagation *p, tsr_text *out) {
  tsr_table table = {0};
  tsr_table_add_column(&table, (tsr_table_column){.title = "value"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "op", .most = 40});
  tsr_table_add_column(&table, (tsr_table_column){.title = "type", .most = 40});
  tsr_table_add_column(&table, (tsr_table_column){.title = "sharding", .most = 40});
  tsr_table_add_column(&table, (tsr_table_column){.title = ""});
  for (int64_t i = 1; i <= p->place_count; i++) {
    const tsr_sharding_place *place = &p->places[i];
    if (!tsr_slot_is_shown(p, i)) continue;
    const tsr_value *given = tsr_given_value(p, place->value);
    tsr_slot_print(p, (uint32_t)i, &table.text);
    tsr_table_end_cell(&table);
    tsr_table_add(&table, given->def ? given->def->name : "argument");
    tsr_type_print(place->value->type, &table.text);
    tsr_table_end_cell(&table);
    tsr_slot_sharding_print(p, (uint32_t)i, &table.text);
    tsr_table_end_cell(&table);
    tsr_table_add(&table, tsr_place_is_given(place) ? "given" : "");
  }
  tsr_text_add_char(out, '\n');
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
}

// ---- counts and conflicts ----

static void print_conflict(const tsr_propagation *p, const tsr_refusal *refusal, tsr_text *out) {
  const tsr_tensor_sharding *from = p->places[refusal->source].last;
  tsr_text_add(out, "  ");
  tsr_way_print(p, refusal->op, out);
  tsr_text_add(out, ": ");
  tsr_slot_print(p, refusal->source, out);
  if (refusal->dim < 0) {
    tsr_text_add(out, " and ");
    tsr_slot_print(p, refusal->slot, out);
    tsr_text_add(out, " are on different meshes\n");
    return;
  }
  tsr_text_addf(out, " dimension %d has ", refusal->source_dim);
  if (from) tsr_sdy_part_print(from->mesh, &refusal->part, out);
  tsr_text_add(out, ", ");
  tsr_slot_print(p, refusal->slot, out);
  tsr_text_addf(out, " dimension %d not: ", refusal->dim);
  tsr_refusal_print(p, refusal, out);
  tsr_text_add_char(out, '\n');
}

// The first refusal of each op.
static void print_conflicts(const tsr_propagation *p, bool all, tsr_text *out) {
  const tsr_op *last = NULL;
  int64_t shown = 0;
  for (int64_t i = 0; i < p->refusal_count; i++) {
    if (p->refusals[i].op == last) continue;
    last = p->refusals[i].op;
    if (!all && shown == SHOWN_CONFLICTS) break;
    shown++;
    print_conflict(p, &p->refusals[i], out);
  }
  if (shown < p->info.conflict_count)
    tsr_text_addf(out, "  and %" PRId64 " more; --all lists them\n",
                  p->info.conflict_count - shown);
}

static void print_names(const char *what, const char *lack, const char *const *names, int64_t count,
                        tsr_text *out) {
  if (!count) return;
  tsr_text_addf(out, " %" PRId64 " %s%s without %s:", count, what, plural(count), lack);
  for (int64_t i = 0; i < count && i < SHOWN_NAMES; i++)
    tsr_text_addf(out, "%s %s", i ? "," : "", names[i]);
  tsr_text_add(out, count > SHOWN_NAMES ? ", ...\n" : "\n");
}

tsr_status tsr_propagation_report_print(const tsr_propagation_report *report, tsr_text *out) {
  const tsr_propagation *p = report->propagation;
  const tsr_propagation_info *info = &p->info;
  TSR_TRY(print_signature(p, out));
  if (report->all) print_values(p, out);
  tsr_text_addf(out, "\n %" PRId64 " value%s, %" PRId64 " sharded, %" PRId64 " given\n",
                info->value_count, plural(info->value_count), info->sharded_count,
                info->given_count);
  if (info->unread_count)
    tsr_text_addf(out,
                  " %" PRId64
                  " shardings are in XLA's form alone (mhlo.sharding) and do not propagate\n",
                  info->unread_count);
  print_names("argument", "a row of the plan", info->unmatched, info->unmatched_count, out);
  print_names("row", "an argument", info->unused, info->unused_count, out);
  if (!info->conflict_count) {
    tsr_text_add(out, " operands and results of every op are cut alike\n");
  } else {
    tsr_text_addf(out, " %" PRId64 " op%s whose operands and results are not cut alike:\n",
                  info->conflict_count, plural(info->conflict_count));
    print_conflicts(p, report->all, out);
  }
  return tsr_text_check(out);
}

// ---- what constraints change ----

static void add_lines(const char *lines, bool all, tsr_text *out) {
  int64_t shown = 0;
  for (const char *at = lines; *at;) {
    const size_t length = strcspn(at, "\n") + 1;
    if (!all && shown++ == SHOWN_CHANGES) {
      tsr_text_add(out, "  ...; --all lists them all\n");
      return;
    }
    tsr_text_add(out, "  ");
    tsr_text_add_bytes(out, at, length);
    at += length;
  }
}

tsr_status tsr_what_if_print(const tsr_propagation_report *before, const tsr_propagation *after,
                             tsr_text *out) {
  const tsr_propagation *p = before->propagation;
  tsr_text lines = TSR_TEXT_EMPTY;
  int64_t count = 0;
  tsr_status status = tsr_propagation_compare(p, after, &count, &lines);
  if (!status) {
    tsr_text_add(out, "\nwith ");
    for (int64_t i = 0; i < after->constraint_count; i++)
      tsr_text_addf(out, "%s%s", i ? "; " : "", after->constraints[i].text);
    tsr_text_addf(out, ": %" PRId64 " value%s change%s\n", count, plural(count),
                  count == 1 ? "s" : "");
    add_lines(tsr_text_string(&lines), before->all, out);
    tsr_text_addf(
        out, "  ops whose operands and results are not cut alike: %" PRId64 " -> %" PRId64 "\n",
        p->info.conflict_count, after->info.conflict_count);
  }
  tsr_text_deinit(&lines);
  return status ? status : tsr_text_check(out);
}
