// The pre-flight of a program as one HTML page: sums, the largest reshards, and the program as a
// graph that a script on the page lays out (page/preflight_graph.js).
//
// The script gets the program as JSON: a table of strings; shardings with their axes; folders;
// reshards; and a row for each op: word, name, type, sharding, folder, owner of its block, reshard,
// place, times, bytes moved, FLOPs, callee, steps, then three numbers for each operand: the op that
// makes it (-1 = nothing to show, -2 - s = an argument named by string s), its sharding, its bytes.
#include <string.h>

#include "base/name_index.h"
#include "base/text_internal.h"
#include "draw/draw.h"
#include "json/json.h"
#include "preflight/preflight.h"
#include "propagate/symbol_names.h"
#include "report/preflight_report.h"
#include "syntax/syntax.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"
static const struct page_part {
  const char *name, *text;
} page_parts[] = {
#define PRESET(name, text) {name, text},
#include "report/pages.inc"
#undef PRESET
};

static const char *page_part(const char *name) {
  for (size_t i = 0; i < sizeof page_parts / sizeof *page_parts; i++)
    if (!strcmp(page_parts[i].name, name)) return page_parts[i].text;
  return "";
}

// ---- strings and shardings, each once ----

typedef struct page_list {
  tsr_name_index index;
  const char **items;
  int64_t count;
} page_list;

typedef struct page_data {
  const tsr_preflight *flight;
  tsr_arena arena;
  page_list strings, shardings;
  const tsr_tensor_sharding **kept;  // one of each of `shardings`
  tsr_text text;                     // what is being written
  tsr_status status;
} page_data;

static int64_t intern(page_data *page, page_list *list, const char *text, size_t length) {
  int64_t known = -1;
  const char *kept = tsr_arena_copy(&page->arena, text, length);
  const char **items = tsr_arena_grow(&page->arena, list->items, list->count, sizeof *items);
  if (!kept || !items) {
    if (!page->status) page->status = tsr_fail(NO_MEMORY, "a page");
    return 0;
  }
  list->items = items;
  if (page->status) return 0;
  page->status = tsr_name_index_add(&list->index, kept, list->count, &known);
  if (page->status || known >= 0) return known >= 0 ? known : 0;
  items[list->count] = kept;
  return list->count++;
}

// The number of the string that was written to `page->text`.
static int64_t string_of(page_data *page) {
  const char *text = tsr_text_string(&page->text);
  const int64_t number = intern(page, &page->strings, text, strlen(text));
  tsr_text_clear(&page->text);
  return number;
}

static int64_t string_number(page_data *page, const char *text) {
  return intern(page, &page->strings, text, strlen(text));
}

static int64_t sharding_number(page_data *page, const tsr_flight_value *value) {
  if (!value->sharding || !tsr_sharding_has_axes(value->sharding)) return -1;
  tsr_flight_print_sharding(value->sharding, value->sharding->rank, &page->text);
  const int64_t before = page->shardings.count;
  const char *text = tsr_text_string(&page->text);
  const int64_t number = intern(page, &page->shardings, text, strlen(text));
  tsr_text_clear(&page->text);
  if (page->shardings.count == before) return number;
  const tsr_tensor_sharding **kept = tsr_arena_grow(&page->arena, (void *)(uintptr_t)page->kept,
                                                    before, sizeof(const tsr_tensor_sharding *));
  if (!kept && !page->status) page->status = tsr_fail(NO_MEMORY, "a page");
  if (!kept) return -1;
  page->kept = kept;
  kept[number] = value->sharding;
  return number;
}

// ---- ops ----

static int64_t type_string(page_data *page, const tsr_op *op) {
  if (op->result_count != 1) return string_number(page, "");
  tsr_type_print(tsr_op_result(op, 0)->type, &page->text);
  const char *text = tsr_text_string(&page->text);
  const bool tensor = !strncmp(text, "tensor<", 7);
  const size_t length = page->text.length;
  const int64_t number = tensor ? intern(page, &page->strings, text + 7, length - 8)
                                : intern(page, &page->strings, text, length);
  tsr_text_clear(&page->text);
  return number;
}

static int64_t name_string(page_data *page, const tsr_op *op) {
  if (op->info->id == TSR_OP_FUNC)
    tsr_text_addf(&page->text, "@%s", tsr_flight_function_name(page->flight, op));
  else if (op->result_count)
    tsr_flight_name(page->flight, tsr_op_result(op, 0), &page->text);
  return string_of(page);
}

// Arguments of the entry are shown; those of loops and functions are what flows into their box.
static int64_t source_of(page_data *page, const tsr_value *value) {
  if (value->def) return tsr_flight_index(value->def);
  const tsr_op *owner = tsr_block_parent(value->block);
  if (!owner || tsr_flight_index(owner) != page->flight->entry) return -1;
  tsr_flight_name(page->flight, value, &page->text);
  return -2 - string_of(page);
}

static void add_operands(page_data *page, const tsr_op *op, tsr_json_writer *json) {
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    if (!value->mark) continue;
    const tsr_flight_value *row = tsr_flight_value_of(page->flight, value);
    tsr_json_write_int(json, source_of(page, value));
    tsr_json_write_int(json, sharding_number(page, row));
    tsr_json_write_int(json, row->bytes);
  }
}

static void add_op(page_data *page, int64_t index, tsr_json_writer *json) {
  const tsr_flight_op *row = &page->flight->ops[index];
  const tsr_op *op = row->op;
  const tsr_op *callee = op->info->id == TSR_OP_CALL ? tsr_callee(page->flight->ir, op) : NULL;
  tsr_flight_place(page->flight, op, &page->text);
  const int64_t place = string_of(page);
  tsr_json_begin_inline_array(json);
  tsr_json_write_int(json, string_number(page, tsr_flight_op_word(op)));
  tsr_json_write_int(json, name_string(page, op));
  tsr_json_write_int(json, type_string(page, op));
  tsr_json_write_int(
      json, op->result_count
                ? sharding_number(page, tsr_flight_value_of(page->flight, tsr_op_result(op, 0)))
                : -1);
  tsr_json_write_int(json, row->scope);
  tsr_json_write_int(json, row->parent);
  tsr_json_write_int(json, row->reshard);
  tsr_json_write_int(json, place);
  tsr_json_write_int(json, row->times);
  tsr_json_write_int(json, row->moved);
  tsr_json_write_double(json, row->flops);
  tsr_json_write_int(json, callee && callee->mark ? tsr_flight_index(callee) : -1);
  tsr_json_write_int(json, row->trips);
  add_operands(page, op, json);
  tsr_json_end_array(json);
}

// ---- all data ----

static void add_scopes(page_data *page, tsr_json_writer *json) {
  tsr_json_add_array(json, "scopes");
  for (int64_t i = 0; i < page->flight->scope_count; i++) {
    const tsr_flight_scope *scope = &page->flight->scopes[i];
    tsr_json_begin_inline_array(json);
    tsr_json_write_int(json, string_number(page, scope->name));
    tsr_json_write_int(json, scope->parent);
    tsr_json_end_array(json);
  }
  tsr_json_end_array(json);
}

static void add_reshards(const tsr_preflight *flight, tsr_json_writer *json) {
  tsr_json_add_array(json, "reshards");
  for (int64_t i = 0; i < flight->reshard_count; i++) {
    tsr_json_begin_inline_object(json);
    tsr_json_add_int(json, "group", flight->reshards[i].group);
    tsr_json_add_string(json, "cause", flight->reshards[i].row.cause);
    tsr_json_add_string(json, "suggestion", flight->reshards[i].row.suggestion);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
  tsr_json_add_inline_array(json, "groups");  // the op to show for each row of the list
  for (int64_t i = 0; i < flight->group_count; i++)
    tsr_json_write_int(json, flight->reshards[flight->groups[i].first].last);
  tsr_json_end_array(json);
}

static void add_strings(const page_list *list, const char *key, tsr_json_writer *json) {
  tsr_json_add_inline_array(json, key);
  for (int64_t i = 0; i < list->count; i++) tsr_json_write_string(json, list->items[i]);
  tsr_json_end_array(json);
}

// The axes that cut a value, dim after dim: "data, model".
static void add_shardings(page_data *page, tsr_json_writer *json) {
  tsr_json_add_array(json, "shardings");
  for (int64_t i = 0; i < page->shardings.count; i++) {
    const tsr_tensor_sharding *sharding = page->kept[i];
    for (int d = 0; d < sharding->rank; d++) {
      if (page->text.length && sharding->dims[d].axes.count) tsr_text_add(&page->text, ", ");
      tsr_flight_print_axes(sharding->mesh, &sharding->dims[d].axes, &page->text);
    }
    tsr_json_begin_inline_array(json);
    tsr_json_write_string(json, page->shardings.items[i]);
    tsr_json_write_string(json, tsr_text_string(&page->text));
    tsr_json_end_array(json);
    tsr_text_clear(&page->text);
  }
  tsr_json_end_array(json);
}

static tsr_status make_data(page_data *page, tsr_text *out) {
  tsr_json_writer json;
  tsr_json_writer_init(&json, out, 0);
  tsr_json_begin_object(&json);
  tsr_json_add_int(&json, "entry", page->flight->entry);
  tsr_json_add_array(&json, "ops");
  for (int64_t i = 0; i < page->flight->op_count && !page->status; i++) add_op(page, i, &json);
  tsr_json_end_array(&json);
  add_scopes(page, &json);
  add_reshards(page->flight, &json);
  add_shardings(page, &json);
  add_strings(&page->strings, "strings", &json);
  tsr_json_end_object(&json);
  if (page->status) return page->status;
  return page->text.failed ? tsr_fail(NO_MEMORY, "a page") : tsr_text_check(out);
}

// "<" occurs in strings only; written as an escape, no string can end the script.
static void add_script(const tsr_text *json, tsr_text *out) {
  const char *at = tsr_text_string(json);
  tsr_text_add(out, "<script>const D=");
  for (const char *next; (next = strchr(at, '<')); at = next + 1) {
    tsr_text_add_bytes(out, at, (size_t)(next - at));
    tsr_text_add(out, "\\u003c");
  }
  tsr_text_add(out, at);
  tsr_text_addf(out, ";\n%s</script>\n", page_part("preflight_graph"));
}

// ---- the side ----

static void add_card(const char *value, const char *label, bool bad, tsr_text *out) {
  tsr_text_addf(out, "<div class=\"card%s\"><b>%s</b><span>%s</span></div>\n", bad ? " bad" : "",
                value, label);
}

static void add_cards(const tsr_preflight *flight, tsr_text *out) {
  const tsr_preflight_info *info = &flight->info;
  const tsr_preflight_time time = tsr_preflight_time_of(info);
  const bool full = info->memory_bytes && info->peak_bytes > info->memory_bytes;
  tsr_text label = TSR_TEXT_EMPTY;
  tsr_text_add(out, "<div class=\"cards\">\n");
  tsr_text_add(&label, "memory at the peak");
  if (info->memory_bytes)
    tsr_text_addf(&label, " of %s", tsr_format_bytes(info->memory_bytes).text);
  add_card(tsr_format_bytes(info->peak_bytes).text, tsr_text_string(&label), full, out);
  tsr_text_clear(&label);
  tsr_text_addf(&label, "moved by %lld collectives", (long long)info->collective_count);
  add_card(tsr_format_bytes(info->bytes).text, tsr_text_string(&label), false, out);
  if (flight->topology) {
    add_card(tsr_format_seconds(time.compute).text, "computing", false, out);
    add_card(tsr_format_seconds(time.collectives).text, "collectives", false, out);
  } else {
    tsr_text_clear(&label);
    tsr_text_addf(&label, "%.3g", info->flops);
    add_card(tsr_text_string(&label), "FLOPs", false, out);
    add_card(tsr_format_bytes(info->argument_bytes).text, "arguments", false, out);
  }
  tsr_text_add(out, "</div>\n");
  tsr_text_deinit(&label);
}

static void add_kinds(const tsr_preflight *flight, tsr_text *out) {
  if (!flight->sum_count) return;
  tsr_text_add(out,
               "<h2>Collectives by kind and axes</h2>\n<table><tr><th>kind<th>axes<th "
               "class=\"r\">times<th class=\"r\">bytes");
  tsr_text_add(out, flight->topology ? "<th class=\"r\">time</tr>\n" : "</tr>\n");
  for (int64_t i = 0; i < flight->sum_count; i++) {
    const tsr_flight_sum *sum = &flight->sums[i];
    tsr_text axes = TSR_TEXT_EMPTY;
    if (sum->mesh) tsr_flight_print_axes(sum->mesh, &sum->axes, &axes);
    tsr_text_addf(out, "<tr><td>%s<td>", tsr_flight_kind_name(sum->kind));
    tsr_svg_add_escaped(out, sum->mesh ? tsr_text_string(&axes) : "groups of devices");
    tsr_text_addf(out, "<td class=\"r\">%lld<td class=\"r\">%s", (long long)sum->count,
                  tsr_format_bytes(sum->bytes).text);
    if (flight->topology)
      tsr_text_addf(out, "<td class=\"r\">%s", tsr_format_seconds(sum->seconds).text);
    tsr_text_add(out, "</tr>\n");
    tsr_text_deinit(&axes);
  }
  tsr_text_add(out, "</table>\n");
}

static void add_paragraph(const char *style, const char *text, tsr_text *out) {
  if (!*text) return;
  tsr_text_addf(out, "<p class=\"%s\">", style);
  tsr_svg_add_escaped(out, text);
  tsr_text_add(out, "</p>\n");
}

static void add_row(const tsr_preflight *flight, int64_t index, tsr_text *out) {
  const tsr_preflight_reshard *row = &flight->groups[index].row;
  const double share =
      100.0 * (double)row->bytes / (double)(flight->info.bytes ? flight->info.bytes : 1);
  tsr_text_addf(out, "<div class=\"row\" data-r=\"%lld\"><div class=\"top\"><span>",
                (long long)index);
  tsr_svg_add_escaped(out, row->value);
  tsr_text_addf(out, " &middot; %s", row->collectives);
  if (row->places > 1) tsr_text_addf(out, " in %lld places", (long long)row->places);
  if (row->times > row->places) tsr_text_addf(out, " &times; %lld", (long long)row->times);
  tsr_text_addf(out, "</span><span>%s</span></div>\n", tsr_format_bytes(row->bytes).text);
  if (strcmp(row->from, row->to) != 0) {
    tsr_text_add(out, "<p class=\"m\">");
    tsr_svg_add_escaped(out, row->from);
    tsr_text_add(out, " &rarr; ");
    tsr_svg_add_escaped(out, row->to);
    tsr_text_add(out, "</p>\n");
  }
  add_paragraph("c", row->cause, out);
  add_paragraph("w", row->where, out);
  add_paragraph("t", row->suggestion, out);
  tsr_text_addf(out, "<div class=\"bar\"><i style=\"width:%.1f%%\"></i></div></div>\n", share);
}

static void add_largest(const tsr_preflight_report *report, tsr_text *out) {
  const tsr_preflight *flight = report->preflight;
  tsr_text_add(out, "<h2>Largest reshards</h2>\n");
  if (!flight->info.bytes) tsr_text_add(out, "<p class=\"sub\">Nothing is moved.</p>\n");
  for (int64_t i = 0; i < flight->group_count && i < report->top; i++)
    if (flight->groups[i].row.bytes) add_row(flight, i, out);
}

static void add_live(const tsr_preflight *flight, tsr_text *out) {
  tsr_text_add(out, "<h2>Held at the peak</h2>\n<table><tr><th class=\"r\">bytes<th>value</tr>\n");
  for (int64_t i = 0; i < flight->peak_count && i < 10; i++) {
    const tsr_flight_value *value = &flight->values[flight->peak[i].value];
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_flight_name(flight, value->value, &text);
    tsr_text_add(&text, "  ");
    tsr_type_print(value->value->type, &text);
    tsr_text_add(&text, "  ");
    tsr_flight_print_sharding(value->sharding, value->value->type->rank, &text);
    tsr_text_addf(out, "<tr><td class=\"r\">%s<td class=\"m\">",
                  tsr_format_bytes(flight->peak[i].bytes).text);
    tsr_svg_add_escaped(out, tsr_text_string(&text));
    tsr_text_add(out, "</tr>\n");
    tsr_text_deinit(&text);
  }
  tsr_text_add(out, "</table>\n");
}

static tsr_status add_side(const tsr_preflight_report *report, tsr_text *out) {
  const tsr_preflight *flight = report->preflight;
  tsr_text mesh = TSR_TEXT_EMPTY;
  tsr_status status = tsr_preflight_print_mesh(flight, &mesh);
  const char *name = strrchr(report->path, '/');
  tsr_text_add(out, "<div id=\"side\">\n<h1 title=\"");
  tsr_svg_add_escaped(out, report->path);
  tsr_text_add(out, "\">");
  tsr_svg_add_escaped(out, name && name[1] ? name + 1 : report->path);
  tsr_text_add(out, "</h1>\n<p class=\"sub\">");
  tsr_svg_add_escaped(out, tsr_text_string(&mesh));
  tsr_text_deinit(&mesh);
  tsr_text_addf(out, ", %lld devices", (long long)flight->info.device_count);
  if (report->topology) tsr_text_add(out, " of ");
  if (report->topology) tsr_svg_add_escaped(out, report->topology);
  tsr_text_add(out, "; numbers are of one device");
  if (flight->info.unknown_loops)
    tsr_text_addf(out, "; loops of unknown length, of which there are %lld, count as one step",
                  (long long)flight->info.unknown_loops);
  if (flight->info.mixed_mesh_ops)
    tsr_text_addf(out, "; what %lld ops move between meshes is not counted",
                  (long long)flight->info.mixed_mesh_ops);
  tsr_text_add(out, "</p>\n");
  add_cards(flight, out);
  add_kinds(flight, out);
  add_largest(report, out);
  add_live(flight, out);
  tsr_text_add(out, "</div>\n");
  return status;
}

tsr_status tsr_preflight_report_to_html(const tsr_preflight_report *report, tsr_text *out) {
  page_data page = {.flight = report->preflight};
  tsr_text json = TSR_TEXT_EMPTY;
  tsr_text_add(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\"><title>");
  tsr_svg_add_escaped(out, report->path);
  tsr_text_addf(out, "</title>\n<style>\n%s</style></head><body>\n", page_part("preflight_style"));
  tsr_status status = add_side(report, out);
  tsr_text_add(out,
               "<div id=\"view\"><svg><g></g></svg><div id=\"tools\"><button id=\"open\">open one "
               "level</button><button id=\"fold\">fold all</button><button id=\"fit\">fit</button>"
               "<input id=\"find\" type=\"search\" placeholder=\"find an op, a name, a line\">"
               "<span id=\"note\"></span></div><div id=\"legend\"></div><div "
               "id=\"tip\"></div></div>\n");
  if (!status) status = make_data(&page, &json);
  if (!status) add_script(&json, out);
  tsr_text_add(out, "</body></html>\n");
  tsr_text_deinit(&json);
  tsr_text_deinit(&page.text);
  tsr_name_index_deinit(&page.strings.index);
  tsr_name_index_deinit(&page.shardings.index);
  tsr_arena_deinit(&page.arena);
  return status ? status : tsr_text_check(out);
}
