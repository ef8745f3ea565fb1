// The coverage table: a line for each op, made from the rows of ir/ops.def.
#include "base/text_internal.h"
#include "draw/draw.h"
#include "factor/rule.h"
#include "ir/ir.h"
#include "json/json.h"
#include "lower/lowering.h"
#include "report/program_report.h"
#include "simplify/evaluate.h"
#include "verify/op_checks.h"

typedef struct coverage_row {
  const char *name;
  bool pretty, verified, inferred, evaluated, runs, ruled;
} coverage_row;

static coverage_row row_of(tsr_op_id id) {
  const tsr_op_info *info = tsr_op_info_of(id);
  return (coverage_row){.name = info->name,
                        .pretty = info->form != TSR_TEXT_GENERIC,
                        .verified = tsr_op_has_verifier(id) || tsr_op_has_inference(id),
                        .inferred = tsr_op_has_inference(id),
                        .evaluated = tsr_evaluates(id),
                        .runs = tsr_lower_of(id) != NULL,
                        .ruled = tsr_op_has_rule(id)};
}

static void print_mark(tsr_table *table, bool has) { tsr_table_add(table, has ? "yes" : "-"); }

static void print_rows(tsr_text *out) {
  static const char *const titles[] = {"op",        "pretty text", "checked",      "inferred",
                                       "evaluated", "runs",        "sharding rule"};
  tsr_table table = {0};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    tsr_table_add_column(&table, (tsr_table_column){.title = titles[i]});
  for (int id = TSR_OP_UNKNOWN + 1; id < TSR_OP_COUNT; id++) {
    const coverage_row row = row_of((tsr_op_id)id);
    tsr_table_add(&table, row.name);
    print_mark(&table, row.pretty);
    print_mark(&table, row.verified);
    print_mark(&table, row.inferred);
    print_mark(&table, row.evaluated);
    print_mark(&table, row.runs);
    print_mark(&table, row.ruled);
  }
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
}

static void write_rows(tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_begin_document(&writer, out);
  tsr_json_add_array(&writer, "ops");
  for (int id = TSR_OP_UNKNOWN + 1; id < TSR_OP_COUNT; id++) {
    const coverage_row row = row_of((tsr_op_id)id);
    tsr_json_begin_inline_object(&writer);
    tsr_json_add_string(&writer, "name", row.name);
    tsr_json_add_bool(&writer, "pretty", row.pretty);
    tsr_json_add_bool(&writer, "checked", row.verified);
    tsr_json_add_bool(&writer, "inferred", row.inferred);
    tsr_json_add_bool(&writer, "evaluated", row.evaluated);
    tsr_json_add_bool(&writer, "runs", row.runs);
    tsr_json_add_bool(&writer, "sharding_rule", row.ruled);
    tsr_json_end_object(&writer);
  }
  tsr_json_end_array(&writer);
  tsr_json_end_document(&writer);
}

tsr_status tsr_op_coverage_print(bool json, tsr_text *out) {
  if (json)
    write_rows(out);
  else
    print_rows(out);
  return tsr_text_check(out);
}
