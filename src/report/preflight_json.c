// The pre-flight of a program as JSON.
#include "base/text_internal.h"
#include "json/json.h"
#include "preflight/preflight.h"
#include "report/preflight_report.h"
#include "syntax/syntax.h"

enum { LIVE_ROWS = 10 };

static void add_text(tsr_json_writer *json, const char *key, tsr_text *text) {
  tsr_json_add_string(json, key, tsr_text_string(text));
  tsr_text_clear(text);
}

static void add_memory(const tsr_preflight *flight, tsr_json_writer *json) {
  const tsr_preflight_info *info = &flight->info;
  const int64_t shown = flight->peak_count < LIVE_ROWS ? flight->peak_count : LIVE_ROWS;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_add_object(json, "memory");
  tsr_json_add_int(json, "peak_bytes", info->peak_bytes);
  tsr_json_add_int(json, "argument_bytes", info->argument_bytes);
  tsr_json_add_int(json, "result_bytes", info->result_bytes);
  if (info->memory_bytes) tsr_json_add_int(json, "device_bytes", info->memory_bytes);
  tsr_json_add_array(json, "largest");
  for (int64_t i = 0; i < shown; i++) {
    const tsr_flight_value *value = &flight->values[flight->peak[i].value];
    tsr_json_begin_inline_object(json);
    tsr_json_add_int(json, "bytes", flight->peak[i].bytes);
    tsr_flight_name(flight, value->value, &text);
    add_text(json, "value", &text);
    tsr_type_print(value->value->type, &text);
    add_text(json, "type", &text);
    tsr_flight_print_sharding(value->sharding, value->value->type->rank, &text);
    add_text(json, "sharding", &text);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
  tsr_json_end_object(json);
  tsr_text_deinit(&text);
}

static void add_work(const tsr_preflight *flight, tsr_json_writer *json) {
  const tsr_preflight_time time = tsr_preflight_time_of(&flight->info);
  tsr_json_add_object(json, "work");
  tsr_json_add_double(json, "flops", flight->info.flops);
  tsr_json_add_double(json, "traffic_bytes", flight->info.traffic);
  tsr_json_end_object(json);
  if (!flight->topology) return;
  tsr_json_add_object(json, "time");
  tsr_json_add_double(json, "compute_seconds", time.compute);
  tsr_json_add_double(json, "collective_seconds", time.collectives);
  tsr_json_add_double(json, "least_seconds", time.least);
  tsr_json_add_double(json, "most_seconds", time.most);
  tsr_json_add_bool(json, "device_assumed", flight->device.assumed);
  tsr_json_end_object(json);
}

static void add_axes(const tsr_flight_sum *sum, tsr_json_writer *json) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_add_inline_array(json, "axes");
  for (int64_t i = 0; sum->mesh && i < sum->axes.count; i++) {
    tsr_flight_print_axes(sum->mesh, &(tsr_sdy_parts){&sum->axes.items[i], 1}, &text);
    tsr_json_write_string(json, tsr_text_string(&text));
    tsr_text_clear(&text);
  }
  tsr_json_end_array(json);
  tsr_text_deinit(&text);
}

static void add_collectives(const tsr_preflight *flight, tsr_json_writer *json) {
  tsr_json_add_object(json, "collectives");
  tsr_json_add_int(json, "count", flight->info.collective_count);
  tsr_json_add_int(json, "bytes", flight->info.bytes);
  tsr_json_add_array(json, "kinds");
  for (int64_t i = 0; i < flight->sum_count; i++) {
    const tsr_flight_sum *sum = &flight->sums[i];
    tsr_json_begin_inline_object(json);
    tsr_json_add_string(json, "kind", tsr_flight_kind_name(sum->kind));
    add_axes(sum, json);
    tsr_json_add_int(json, "devices", sum->group_size);
    tsr_json_add_int(json, "count", sum->count);
    tsr_json_add_int(json, "bytes", sum->bytes);
    if (flight->topology) tsr_json_add_double(json, "seconds", sum->seconds);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
  tsr_json_end_object(json);
}

static const char *cause_word(tsr_flight_cause cause) {
  static const char *const words[] = {[TSR_FLIGHT_PARTIAL] = "partial_sums",
                                      [TSR_FLIGHT_OPERAND] = "operand",
                                      [TSR_FLIGHT_RESULT] = "result",
                                      [TSR_FLIGHT_RETURN] = "return",
                                      [TSR_FLIGHT_LOOP] = "loop",
                                      [TSR_FLIGHT_CALL] = "call",
                                      [TSR_FLIGHT_ASKED] = "constraint",
                                      [TSR_FLIGHT_MANUAL] = "manual",
                                      [TSR_FLIGHT_BORDER] = "border"};
  return words[cause];
}

static void add_reshard(const tsr_preflight *flight, int64_t index, tsr_json_writer *json) {
  const tsr_flight_group *group = &flight->groups[index];
  const tsr_preflight_reshard *row = &group->row;
  tsr_json_begin_object(json);
  tsr_json_add_int(json, "bytes", row->bytes);
  tsr_json_add_int(json, "places", row->places);
  tsr_json_add_int(json, "times", row->times);
  tsr_json_add_bool(json, "times_known", row->times_known);
  if (flight->topology) tsr_json_add_double(json, "seconds", row->seconds);
  tsr_json_add_string(json, "value", row->value);
  tsr_json_add_string(json, "type", row->type);
  tsr_json_add_string(json, "from", row->from);
  tsr_json_add_string(json, "to", row->to);
  tsr_json_add_string(json, "collectives", row->collectives);
  tsr_json_add_string(json, "where", row->where);
  tsr_json_add_string(json, "kind", cause_word(flight->reshards[group->first].cause));
  tsr_json_add_string(json, "cause", row->cause);
  tsr_json_add_string(json, "suggestion", row->suggestion);
  tsr_json_end_object(json);
}

tsr_status tsr_preflight_report_to_json(const tsr_preflight_report *report, tsr_text *out) {
  const tsr_preflight *flight = report->preflight;
  const int64_t shown = flight->group_count < report->top ? flight->group_count : report->top;
  tsr_json_writer json;
  tsr_text mesh = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_preflight_print_mesh(flight, &mesh));
  tsr_json_begin_document(&json, out);
  tsr_json_add_string(&json, "program", report->path);
  add_text(&json, "mesh", &mesh);
  tsr_text_deinit(&mesh);
  tsr_json_add_string(&json, "topology", report->topology);
  tsr_json_add_int(&json, "devices", flight->info.device_count);
  tsr_json_add_int(&json, "unknown_loops", flight->info.unknown_loops);
  tsr_json_add_int(&json, "mixed_mesh_ops", flight->info.mixed_mesh_ops);
  add_memory(flight, &json);
  add_work(flight, &json);
  add_collectives(flight, &json);
  tsr_json_add_int(&json, "reshard_count", flight->reshard_count);
  tsr_json_add_array(&json, "reshards");
  for (int64_t i = 0; i < shown; i++) add_reshard(flight, i, &json);
  tsr_json_end_array(&json);
  tsr_json_end_document(&json);
  return tsr_text_check(out);
}
