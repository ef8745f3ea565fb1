// A plan as an HTML page: totals as cards, the mesh as a figure, a bar for the memory of each
// device, and a table of tensors with a search box.
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "layout/layout_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "tessera/compat/eformer_plan.h"

// Devices in the chart: more bars would be too thin to see.
enum { MOST_BARS = 64, CHART_WIDTH = 1120, CHART_HEIGHT = 170, CHART_FLOOR = 28 };

// ---- sums ----

static void add_card(const char *label, const char *value, tsr_text *out) {
  tsr_text_addf(out, "<div class=\"card\"><b>%s</b><span>%s</span></div>\n", value, label);
}

static tsr_status add_cards(const tsr_plan *plan, tsr_text *out) {
  tsr_analysis sums = TSR_ANALYSIS;
  TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &sums));
  char tensors[24], balance[24];
  snprintf(tensors, sizeof tensors, "%lld", (long long)sums.tensors);
  snprintf(balance, sizeof balance, "%.2f", sums.balance);
  tsr_text_add(out, "<div class=\"cards\">\n");
  add_card("tensors", tensors, out);
  add_card("in total", tsr_format_bytes(sums.bytes).text, out);
  add_card("on the fullest device", tsr_format_bytes(sums.device_max).text, out);
  add_card("balance (mean / max)", balance, out);
  add_card("replicas beyond the first", tsr_format_bytes((int64_t)sums.wasted_bytes).text, out);
  add_card("gathered per device and step", tsr_format_bytes(sums.gathered_bytes).text, out);
  tsr_text_add(out, "</div>\n");
  tsr_analysis_deinit(&sums);
  return NULL;
}

// ---- memory per device ----

// Bytes on each of the first `count` devices. Tensors of a group are cut alike, so one stands for
// all.
static tsr_status device_bytes(const tsr_plan *plan, int count, int64_t *out_bytes) {
  tsr_tree_groups groups;
  TSR_TRY(tsr_plan_group(plan, &groups));
  tsr_status status = NULL;
  memset(out_bytes, 0, sizeof *out_bytes * (size_t)count);
  for (int64_t g = 0; g < groups.count && !status; g++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    tsr_layout *layout = NULL;
    status = tsr_plan_at(plan, groups.items[g].members[0], &row);
    if (!status) status = tsr_plan_layout(plan, groups.items[g].members[0], &layout);
    for (int d = 0; d < count && !status; d++) {
      int64_t bytes = 0;
      const int64_t shard = tsr_layout_shard(layout, d);
      status =
          tsr_dtype_bytes(row.tensor->dtype, tsr_layout_buffer_elements(layout, shard), &bytes);
      out_bytes[d] += bytes * groups.items[g].count;
    }
    tsr_layout_release(layout);
  }
  tsr_tree_groups_deinit(&groups);
  return status;
}

static void add_bars(const tsr_mesh *mesh, const int64_t *bytes, int count, tsr_text *out) {
  int64_t most = 1;
  for (int d = 0; d < count; d++) most = bytes[d] > most ? bytes[d] : most;
  const double step = (double)CHART_WIDTH / count, room = CHART_HEIGHT - CHART_FLOOR - 12;
  tsr_text_addf(out, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", CHART_WIDTH,
                CHART_HEIGHT, CHART_WIDTH, CHART_HEIGHT);
  for (int d = 0; d < count; d++) {
    const double height = room * (double)bytes[d] / (double)most;
    tsr_text_addf(out,
                  "<g><title>device %lld: %s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\" rx=\"2\" fill=\"var(--bar)\"/>",
                  (long long)tsr_mesh_device_at(mesh, d), tsr_format_bytes(bytes[d]).text,
                  d * step + step * 0.1, CHART_HEIGHT - CHART_FLOOR - height, step * 0.8, height);
    if (count <= 32 || d % 4 == 0)
      tsr_text_addf(out,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" font-size=\"11\" "
                    "fill=\"var(--faint)\">%lld</text>",
                    (d + 0.5) * step, CHART_HEIGHT - 10, (long long)tsr_mesh_device_at(mesh, d));
    tsr_text_add(out, "</g>\n");
  }
  tsr_text_add(out, "</svg>\n");
}

static tsr_status add_memory(const tsr_plan *plan, tsr_text *out) {
  const tsr_mesh *mesh = tsr_plan_mesh(plan);
  const int64_t devices = tsr_mesh_device_count(mesh);
  const int count = (int)(devices < MOST_BARS ? devices : MOST_BARS);
  int64_t bytes[MOST_BARS];
  TSR_TRY(device_bytes(plan, count, bytes));
  tsr_text_add(out, "<h2>Memory per device</h2>\n");
  if (count < devices)
    tsr_text_addf(out, "<p>The first %d of %lld devices.</p>\n", count, (long long)devices);
  add_bars(mesh, bytes, count, out);
  return NULL;
}

// ---- the table ----

static const char search[] =
    "<script>\n"
    "const box = document.getElementById('search'), rows = [...document.querySelectorAll('tbody "
    "tr')];\n"
    "const shown = document.getElementById('shown');\n"
    "function filter() {\n"
    "  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);\n"
    "  let count = 0;\n"
    "  for (const row of rows) {\n"
    "    const text = (row.textContent + ' ' + row.title).toLowerCase();\n"
    "    row.hidden = !words.every(w => text.includes(w));\n"
    "    count += !row.hidden;\n"
    "  }\n"
    "  shown.textContent = count + ' of ' + rows.length + ' rows';\n"
    "}\n"
    "box.addEventListener('input', filter); filter();\n"
    "</script>\n";

static void add_group(const tsr_plan_line *g, tsr_text *out) {
  tsr_text_add(out, "<tr title=\"");
  tsr_svg_add_escaped(out, tsr_text_string(&g->reason));
  tsr_text_add(out, "\"><td>");
  tsr_svg_add_escaped(out, g->name);
  if (g->count > 1) tsr_text_addf(out, " <i>&times;%lld</i>", (long long)g->count);
  tsr_text_addf(out, "</td><td>%s</td><td>%s</td><td><b>", g->shape, g->dtype);
  tsr_svg_add_escaped(out, tsr_text_string(&g->spec));
  tsr_text_add(out, "</b>");
  if (g->wanted.length) {
    tsr_text_add(out, "<br><s>");
    tsr_svg_add_escaped(out, tsr_text_string(&g->wanted));
    tsr_text_add(out, "</s>");
  }
  tsr_text_addf(out, "</td><td class=\"r\">%s</td><td class=\"w\">",
                tsr_format_bytes(g->bytes_per_device).text);
  tsr_svg_add_escaped(out, tsr_text_string(&g->reason));
  tsr_text_add(out, "</td></tr>\n");
}

static tsr_status add_table(const tsr_plan *plan, tsr_text *out) {
  tsr_plan_lines groups;
  TSR_TRY(tsr_plan_lines_init(plan, &groups));
  tsr_text_add(out,
               "<h2>Tensors</h2>\n<input id=\"search\" type=\"search\" placeholder=\"search names, "
               "specs, reasons\" autofocus> <span id=\"shown\"></span>\n"
               "<table><thead><tr><th>tensor</th><th>shape</th><th>type</th><th>spec</th>"
               "<th class=\"r\">a device</th><th>why</th></tr></thead><tbody>\n");
  for (int64_t i = 0; i < groups.count; i++) add_group(&groups.items[i], out);
  tsr_text_add(out, "</tbody></table>\n");
  tsr_text_add(out, search);
  tsr_plan_lines_deinit(&groups);
  return NULL;
}

static tsr_status add_mesh(const tsr_mesh *mesh, tsr_text *out) {
  tsr_figure figure = {0};
  TSR_TRY(tsr_figure_from_mesh(mesh, (tsr_figure_limits){24, 48, 8}, &figure));
  tsr_text_add(out, "<h2>Mesh</h2>\n<div class=\"mesh\">\n");
  tsr_figure_print_svg(&figure, out);
  tsr_text_add(out, "</div>\n");
  tsr_figure_deinit(&figure);
  return NULL;
}

tsr_status tsr_plan_report(const tsr_plan *plan, const char *title, tsr_text *out) {
  const tsr_mesh *mesh = tsr_plan_mesh(plan);
  tsr_page_begin(title, out);
  tsr_text_add(
      out,
      "<style>.mesh{max-width:640px;margin-left:-24px}.cards{display:flex;flex-wrap:wrap;gap:12px;"
      "margin:16px 0}"
      ".card{background:var(--wash);border-radius:8px;padding:12px 16px;min-width:130px}"
      ".card b{display:block;font-size:20px}.card span{color:var(--faint);font-size:12px}"
      "#search{font:inherit;padding:6px 10px;width:min(420px,60%);border:1px solid var(--line);"
      "border-radius:6px;background:var(--wash);color:var(--ink);margin-bottom:10px}"
      "#shown,i,s,.w{color:var(--faint)}#shown{font-size:13px}.r{text-align:right;"
      "white-space:nowrap}.w{font-family:inherit;font-size:12px;min-width:200px}"
      "@media(max-width:900px){.w,th:last-child{display:none}}</style>\n<h1>");
  tsr_svg_add_escaped(out, title);
  tsr_text_add(out, "</h1>\n");
  TSR_TRY(add_cards(plan, out));
  if (mesh) TSR_TRY(add_mesh(mesh, out));
  if (mesh) TSR_TRY(add_memory(plan, out));
  TSR_TRY(add_table(plan, out));
  tsr_page_end(out);
  return NULL;
}
