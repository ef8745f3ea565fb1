// The report of a partitioning, for a terminal and as JSON.
#include "report/partition_report.h"

#include "base/text_internal.h"
#include "draw/draw.h"
#include "program/program_internal.h"
#include "spmd/fallbacks.h"
#include "tessera/program/preflight.h"

// ---- filling ----

static tsr_status count_moves(const tsr_program *program, tsr_moved_bytes *out_moved) {
  tsr_ir *ir = tsr_program_copy_ir(program);
  if (!ir) return tsr_fail(NO_MEMORY, "copy of a program");
  tsr_status status = tsr_moved_bytes_count(ir, out_moved);
  tsr_ir_destroy(ir);
  return status;
}

// Types are those of one device already, so what the shardings say must not divide them again.
static tsr_status count_memory(tsr_partition_report *report) {
  tsr_program *local = NULL;
  tsr_propagation *propagation = NULL;
  tsr_preflight *preflight = NULL;
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  TSR_TRY(tsr_program_transform(report->program, "sdy-drop-sharding-and-mesh", &local));
  tsr_status status = tsr_program_propagate(local, NULL, &propagation);
  if (!status) status = tsr_preflight_create(propagation, NULL, &preflight);
  if (!status) status = tsr_preflight_describe(preflight, &info);
  report->argument_bytes = info.argument_bytes;
  report->result_bytes = info.result_bytes;
  report->peak_bytes = info.peak_bytes;
  tsr_preflight_release(preflight);
  tsr_propagation_destroy(propagation);
  tsr_program_release(local);
  return status;
}

tsr_status tsr_partition_report_fill(const tsr_program *partitioned, int64_t devices,
                                     tsr_partition_report *out_report) {
  tsr_partition_report report = {.program = partitioned, .devices = devices};
  TSR_TRY(count_moves(partitioned, &report.moved));
  TSR_TRY(count_memory(&report));
  *out_report = report;
  return NULL;
}

// ---- text ----

static void print_collectives(const tsr_moved_bytes *moved, tsr_text *out) {
  tsr_table table = {0};
  if (!moved->bytes) {
    tsr_text_add(out, "no collectives\n");
    return;
  }
  tsr_table_add_column(&table, (tsr_table_column){.title = "collective"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "ops", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "runs", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "bytes", .right = true});
  for (int kind = 0; kind < TSR_MOVED_KIND_COUNT; kind++) {
    if (!moved->kinds[kind].ops) continue;
    tsr_table_add(&table, tsr_moved_kind_name((tsr_moved_kind)kind));
    tsr_table_addf(&table, "%lld", (long long)moved->kinds[kind].ops);
    tsr_table_addf(&table, "%lld", (long long)moved->kinds[kind].times);
    tsr_table_add(&table, tsr_format_bytes(moved->kinds[kind].bytes).text);
  }
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  if (moved->unknown_loops)
    tsr_text_addf(out, "%lld loop%s of unknown length with collectives: counted as one step\n",
                  (long long)moved->unknown_loops, moved->unknown_loops == 1 ? "" : "s");
}

static void print_fallbacks(const tsr_ir *ir, tsr_text *out) {
  static const tsr_table_column columns[] = {
      {.title = "fallback"}, {.title = "operand", .right = true}, {.title = "dim", .right = true},
      {.title = "axes"},     {.title = "places", .right = true},  {.title = "bytes", .right = true},
      {.title = "cause"}};
  tsr_table table = {0};
  const int64_t count = tsr_spmd_fallback_count(ir);
  if (!count) {
    tsr_text_add(out, "no fallbacks\n");
    return;
  }
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tsr_table_add_column(&table, columns[i]);
  for (int64_t i = 0; i < count; i++) {
    const tsr_spmd_fallback row = tsr_spmd_fallback_at(ir, i);
    tsr_table_add(&table, row.op);
    tsr_table_addf(&table, "%lld", (long long)row.operand);
    tsr_table_addf(&table, "%lld", (long long)row.dim);
    tsr_table_add(&table, row.axes);
    tsr_table_addf(&table, "%lld", (long long)row.places);
    tsr_table_add(&table, tsr_format_bytes(row.bytes).text);
    tsr_table_add(&table, row.cause);
  }
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
}

tsr_status tsr_partition_report_print(const tsr_partition_report *report, tsr_text *out) {
  tsr_text_addf(out, "%lld devices; of each:\nmemory     %s at the peak",
                (long long)report->devices, tsr_format_bytes(report->peak_bytes).text);
  tsr_text_addf(out, "; arguments %s", tsr_format_bytes(report->argument_bytes).text);
  tsr_text_addf(out, ", results %s\n", tsr_format_bytes(report->result_bytes).text);
  tsr_text_addf(out, "moves      %s\n\n", tsr_format_bytes(report->moved.bytes).text);
  print_collectives(&report->moved, out);
  tsr_text_add(out, "\n");
  print_fallbacks(tsr_program_ir(report->program), out);
  return tsr_text_check(out);
}

// ---- JSON ----

static void fallback_to_json(const tsr_spmd_fallback *row, tsr_json_writer *json) {
  tsr_json_begin_object(json);
  tsr_json_add_string(json, "op", row->op);
  tsr_json_add_int(json, "operand", row->operand);
  tsr_json_add_int(json, "dimension", row->dim);
  tsr_json_add_string(json, "axes", row->axes);
  tsr_json_add_int(json, "places", row->places);
  tsr_json_add_int(json, "bytes", row->bytes);
  tsr_json_add_string(json, "cause", row->cause);
  tsr_json_end_object(json);
}

void tsr_partition_report_to_json(const tsr_partition_report *report, tsr_json_writer *json) {
  const tsr_moved_bytes *moved = &report->moved;
  const tsr_ir *ir = tsr_program_ir(report->program);
  tsr_json_add_object(json, "of_one_device");
  tsr_json_add_int(json, "argument_bytes", report->argument_bytes);
  tsr_json_add_int(json, "result_bytes", report->result_bytes);
  tsr_json_add_int(json, "peak_bytes", report->peak_bytes);
  tsr_json_add_int(json, "moved_bytes", moved->bytes);
  tsr_json_end_object(json);
  tsr_json_add_object(json, "collectives");
  for (int kind = 0; kind < TSR_MOVED_KIND_COUNT; kind++) {
    if (!moved->kinds[kind].ops) continue;
    tsr_json_add_object(json, tsr_moved_kind_name((tsr_moved_kind)kind));
    tsr_json_add_int(json, "ops", moved->kinds[kind].ops);
    tsr_json_add_int(json, "runs", moved->kinds[kind].times);
    tsr_json_add_int(json, "bytes", moved->kinds[kind].bytes);
    tsr_json_end_object(json);
  }
  tsr_json_end_object(json);
  tsr_json_add_int(json, "unknown_loops", moved->unknown_loops);
  tsr_json_add_array(json, "fallbacks");
  for (int64_t i = 0; i < tsr_spmd_fallback_count(ir); i++) {
    const tsr_spmd_fallback row = tsr_spmd_fallback_at(ir, i);
    fallback_to_json(&row, json);
  }
  tsr_json_end_array(json);
}
