// The pre-flight of a program for a terminal.
#include <string.h>

#include "base/text_internal.h"
#include "draw/draw.h"
#include "preflight/preflight.h"
#include "report/preflight_report.h"
#include "syntax/syntax.h"

enum { LIVE_ROWS = 10 };

// ---- shared ----

tsr_status tsr_preflight_print_mesh(const tsr_preflight *preflight, tsr_text *out) {
  const int64_t count = tsr_program_mesh_count(preflight->program);
  if (!count) tsr_text_add(out, "no mesh");
  for (int64_t i = 0; i < count; i++) {
    tsr_mesh *mesh = NULL;
    TSR_TRY(tsr_program_mesh_at(preflight->program, i, &mesh));
    tsr_text_add(out, i ? " and {" : "{");
    for (int a = 0; a < tsr_mesh_axis_count(mesh); a++)
      tsr_text_addf(out, "%s%s=%lld", a ? ", " : "", tsr_mesh_axis_at(mesh, a)->name,
                    (long long)tsr_mesh_axis_at(mesh, a)->size);
    tsr_text_add_char(out, '}');
    tsr_mesh_release(mesh);
  }
  return NULL;
}

tsr_preflight_time tsr_preflight_time_of(const tsr_preflight_info *info) {
  const double compute = info->compute_seconds, moves = info->collective_seconds;
  return (tsr_preflight_time){.compute = compute,
                              .collectives = moves,
                              .least = compute > moves ? compute : moves,
                              .most = compute + moves};
}

// ---- sums ----

static void add_flops(double flops, tsr_text *out) {
  static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (flops >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
    flops /= 1000;
    unit++;
  }
  tsr_text_addf(out, "%.3g %sFLOP", flops, units[unit]);
}

static int64_t whole(double bytes) { return bytes < 9e18 ? (int64_t)bytes : INT64_MAX; }

static void print_memory(const tsr_preflight *flight, tsr_text *out) {
  const tsr_preflight_info *info = &flight->info;
  tsr_text_addf(out, "memory     %s at the peak", tsr_format_bytes(info->peak_bytes).text);
  if (info->memory_bytes)
    tsr_text_addf(out, " of %s%s", tsr_format_bytes(info->memory_bytes).text,
                  info->peak_bytes > info->memory_bytes ? ": it does not fit" : "");
  tsr_text_addf(out, "; arguments %s", tsr_format_bytes(info->argument_bytes).text);
  tsr_text_addf(out, ", results %s\n", tsr_format_bytes(info->result_bytes).text);
}

static void print_time(const tsr_preflight *flight, tsr_text *out) {
  const tsr_preflight_time time = tsr_preflight_time_of(&flight->info);
  if (!flight->topology) {
    tsr_text_add(out, "time       not estimated: give --topology\n");
    return;
  }
  const bool same =
      !strcmp(tsr_format_seconds(time.least).text, tsr_format_seconds(time.most).text);
  tsr_text_addf(out, "time       %s", tsr_format_seconds(time.least).text);
  if (!same) tsr_text_addf(out, " to %s", tsr_format_seconds(time.most).text);
  tsr_text_addf(out, ": computing %s", tsr_format_seconds(time.compute).text);
  tsr_text_addf(out, ", collectives %s", tsr_format_seconds(time.collectives).text);
  tsr_text_add(out, same ? "\n" : ", overlapped or not\n");
}

static void print_sums(const tsr_preflight *flight, tsr_text *out) {
  const tsr_preflight_info *info = &flight->info;
  print_memory(flight, out);
  tsr_text_add(out, "computes   ");
  add_flops(info->flops, out);
  tsr_text_addf(out, ", %s to and from memory\n", tsr_format_bytes(whole(info->traffic)).text);
  tsr_text_addf(out, "moves      %s in %lld collectives of %lld reshards\n",
                tsr_format_bytes(info->bytes).text, (long long)info->collective_count,
                (long long)flight->reshard_count);
  print_time(flight, out);
}

static void print_assumptions(const tsr_preflight *flight, tsr_text *out) {
  const tsr_flight_device *device = &flight->device;
  if (flight->info.unknown_loops)
    tsr_text_addf(out,
                  "note: loops of unknown length, of which there are %lld, count as one step\n",
                  (long long)flight->info.unknown_loops);
  if (flight->info.mixed_mesh_ops)
    tsr_text_addf(out,
                  "note: %lld ops have values on several meshes; what moves between meshes is "
                  "not counted\n",
                  (long long)flight->info.mixed_mesh_ops);
  if (!flight->topology) return;
  tsr_text_addf(out, "note: a device %s %.4g TFLOP/s in 16 bits, %.4g in 32, %.4g GB/s of memory\n",
                device->assumed ? "of unknown kind is taken to have" : "has",
                device->flops[1] / 1e12, device->flops[2] / 1e12, device->bandwidth / 1e9);
}

// ---- tables ----

static void print_collectives(const tsr_preflight *flight, tsr_text *out) {
  tsr_table table = {0};
  if (!flight->sum_count) return;
  tsr_table_add_column(&table, (tsr_table_column){.title = "collective"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "axes"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "devices", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "times", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "bytes", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "share", .right = true});
  if (flight->topology)
    tsr_table_add_column(&table, (tsr_table_column){.title = "time", .right = true});
  for (int64_t i = 0; i < flight->sum_count; i++) {
    const tsr_flight_sum *sum = &flight->sums[i];
    tsr_table_add(&table, tsr_flight_kind_name(sum->kind));
    if (sum->mesh)
      tsr_flight_print_axes(sum->mesh, &sum->axes, &table.text);
    else
      tsr_text_add(&table.text, "groups of devices");
    tsr_table_end_cell(&table);
    tsr_table_addf(&table, "%lld", (long long)sum->group_size);
    tsr_table_addf(&table, "%lld", (long long)sum->count);
    tsr_table_add(&table, tsr_format_bytes(sum->bytes).text);
    tsr_table_addf(
        &table, "%.0f %%",
        100.0 * (double)sum->bytes / (double)(flight->info.bytes ? flight->info.bytes : 1));
    if (flight->topology) tsr_table_add(&table, tsr_format_seconds(sum->seconds).text);
  }
  tsr_text_add(out, "\ncollectives, on each device\n");
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
}

static void print_reshard(const tsr_preflight *flight, int64_t index, tsr_text *out) {
  const tsr_preflight_reshard *row = &flight->groups[index].row;
  tsr_text_addf(out, "%2lld  %s", (long long)index + 1, tsr_format_bytes(row->bytes).text);
  tsr_text_addf(out, " (%.0f %%)  ",
                100.0 * (double)row->bytes / (double)(flight->info.bytes ? flight->info.bytes : 1));
  tsr_text_add_plain(out, row->value);
  if (row->places > 1) tsr_text_addf(out, " and %lld alike", (long long)row->places - 1);
  tsr_text_add(out, "  ");
  tsr_text_add_plain(out, row->type);
  tsr_text_addf(out, "  %s", row->collectives);
  if (row->times > row->places) tsr_text_addf(out, ", %lld times", (long long)row->times);
  if (!row->times_known) tsr_text_add(out, ", in a loop of unknown length");
  if (flight->topology) tsr_text_addf(out, ", %s", tsr_format_seconds(row->seconds).text);
  if (strcmp(row->from, row->to) != 0)
    tsr_text_addf(out, "\n    from  %s to %s", row->from, row->to);
  if (*row->where) tsr_text_add(out, "\n    at    ");
  tsr_text_add_plain(out, row->where);
  tsr_text_add(out, "\n    why   ");
  tsr_text_add_plain(out, row->cause);
  if (*row->suggestion) tsr_text_add(out, "\n    try   ");
  tsr_text_add_plain(out, row->suggestion);
  tsr_text_add_char(out, '\n');
}

static void print_reshards(const tsr_preflight_report *report, tsr_text *out) {
  const tsr_preflight *flight = report->preflight;
  int64_t moving = 0;
  while (moving < flight->group_count && flight->groups[moving].row.bytes) moving++;
  const int64_t shown = moving < report->top ? moving : report->top;
  if (!shown) return;
  tsr_text_addf(out, "\nlargest reshards (%lld of %lld kinds that move bytes)\n", (long long)shown,
                (long long)moving);
  for (int64_t i = 0; i < shown; i++) print_reshard(flight, i, out);
}

static void print_live(const tsr_preflight *flight, tsr_text *out) {
  const int64_t shown = flight->peak_count < LIVE_ROWS ? flight->peak_count : LIVE_ROWS;
  tsr_table table = {0};
  if (!shown) return;
  tsr_table_add_column(&table, (tsr_table_column){.title = "bytes", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "value", .most = 48});
  tsr_table_add_column(&table, (tsr_table_column){.title = "type", .most = 48});
  tsr_table_add_column(&table, (tsr_table_column){.title = "sharding"});
  for (int64_t i = 0; i < shown; i++) {
    const tsr_flight_value *value = &flight->values[flight->peak[i].value];
    tsr_table_add(&table, tsr_format_bytes(flight->peak[i].bytes).text);
    tsr_flight_name(flight, value->value, &table.text);
    tsr_table_end_cell(&table);
    tsr_type_print(value->value->type, &table.text);
    tsr_table_end_cell(&table);
    tsr_flight_print_sharding(value->sharding, value->value->type->rank, &table.text);
    tsr_table_end_cell(&table);
  }
  tsr_text_add(out, "\nheld at the peak, while ");
  tsr_flight_name_op(flight, flight->ops[flight->peak_op].op, out);
  tsr_text_add(out, " runs\n");
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
}

tsr_status tsr_preflight_report_print(const tsr_preflight_report *report, tsr_text *out) {
  const tsr_preflight *flight = report->preflight;
  tsr_text_add_plain(out, report->path);
  tsr_text_add(out, " on ");
  TSR_TRY(tsr_preflight_print_mesh(flight, out));
  tsr_text_addf(out, ", %lld devices", (long long)flight->info.device_count);
  if (report->topology) tsr_text_addf(out, " of %s", report->topology);
  tsr_text_add(out, "; all numbers are of one device\n\n");
  print_sums(flight, out);
  print_collectives(flight, out);
  print_reshards(report, out);
  print_live(flight, out);
  tsr_text_add_char(out, '\n');
  print_assumptions(flight, out);
  tsr_text_add(out, "note: `tessera explain PROGRAM VALUE` says why a value is cut as it is\n");
  return tsr_text_check(out);
}
