// Tensors whose names differ only in numbers, and which are cut alike, become one line of the
// table.
#include "report/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "tessera/compat/eformer_plan.h"

void tsr_plan_lines_deinit(tsr_plan_lines *groups) {
  for (int64_t i = 0; i < groups->count; i++) {
    tsr_text_deinit(&groups->items[i].spec);
    tsr_text_deinit(&groups->items[i].wanted);
    tsr_text_deinit(&groups->items[i].reason);
  }
  free(groups->items);
  *groups = (tsr_plan_lines){0};
}

static bool is_uncut(const tsr_spec *spec) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  for (int d = 0; d < desc->dim_count; d++)
    if (desc->dims[d].stage_count) return false;
  return true;
}

static tsr_status fill_group(const tsr_plan *plan, const tsr_tree_group *source,
                             tsr_plan_line *out) {
  tsr_plan_row row = TSR_PLAN_ROW;
  TSR_TRY(tsr_plan_at(plan, source->members[0], &row));
  snprintf(out->name, sizeof out->name, "%s", source->pattern);
  out->count = source->count;
  const tsr_shape shape = tsr_tensor_shape(row.tensor);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_shape_print(&shape, &text);
  snprintf(out->shape, sizeof out->shape, "%s", tsr_text_string(&text));
  tsr_text_deinit(&text);
  snprintf(out->dtype, sizeof out->dtype, "%s", tsr_dtype_info_of(row.tensor->dtype)->name);
  out->bytes_per_device = row.bytes_per_device * source->count;
  TSR_TRY(tsr_spec_print(row.final, TSR_FORM_SHORT, &out->spec));
  // A wanted spec that cuts nothing means the same as none.
  if (!tsr_spec_equal(row.final, row.wanted) && !is_uncut(row.wanted))
    TSR_TRY(tsr_spec_print(row.wanted, TSR_FORM_SHORT, &out->wanted));
  for (int64_t n = 0; n < row.note_count; n++) {
    if (n) tsr_text_add(&out->reason, "; ");
    tsr_plan_note_print(plan, source->members[0], &row.notes[n], &out->reason);
  }
  return tsr_text_check(&out->reason);
}

tsr_status tsr_plan_lines_init(const tsr_plan *plan, tsr_plan_lines *out_groups) {
  tsr_tree_groups groups;
  TSR_TRY(tsr_plan_group(plan, &groups));
  tsr_plan_lines out = {
      .count = groups.count,
      .items = calloc((size_t)(groups.count ? groups.count : 1), sizeof *out.items)};
  tsr_status status =
      out.items ? NULL : tsr_fail(NO_MEMORY, "table of %lld rows", (long long)groups.count);
  for (int64_t i = 0; i < groups.count && !status; i++)
    status = fill_group(plan, &groups.items[i], &out.items[i]);
  tsr_tree_groups_deinit(&groups);
  if (status)
    tsr_plan_lines_deinit(&out);
  else
    *out_groups = out;
  return status;
}

static int longer(int width, size_t length, int most) {
  return (int)length > width ? ((int)length > most ? most : (int)length) : width;
}

static void add_row(const tsr_plan_line *g, const int *widths, int reason_width, tsr_text *out) {
  char name[192];
  if (g->count > 1)
    snprintf(name, sizeof name, "%s  x%lld", g->name, (long long)g->count);
  else
    snprintf(name, sizeof name, "%s", g->name);
  tsr_text_addf(out, " %-*s  %-*s  %-5s  %-*s  %9s  %.*s\n", widths[0], name, widths[1], g->shape,
                g->dtype, widths[2], tsr_text_string(&g->spec),
                tsr_format_bytes(g->bytes_per_device).text, reason_width,
                tsr_text_string(&g->reason));
}

static tsr_status add_sums(const tsr_plan *plan, tsr_text *out) {
  tsr_analysis sums = TSR_ANALYSIS;
  TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &sums));
  tsr_text_addf(out,
                "\n %lld tensors, %s; %lld of them cut\n"
                " per device: %s at most, %s on average (balance %.2f)\n"
                " replicas beyond the first: %s over all devices\n",
                (long long)sums.tensors, tsr_format_bytes(sums.bytes).text,
                (long long)sums.sharded_tensors, tsr_format_bytes(sums.device_max).text,
                tsr_format_bytes((int64_t)sums.device_mean).text, sums.balance,
                tsr_format_bytes((int64_t)sums.wasted_bytes).text);
  if (sums.gathered_bytes)
    tsr_text_addf(out, " gathered per device and step over fsdp-like axes: %s\n",
                  tsr_format_bytes(sums.gathered_bytes).text);
  tsr_analysis_deinit(&sums);
  return NULL;
}

tsr_status tsr_plan_print_table(const tsr_plan *plan, const char *title, int width, tsr_text *out) {
  tsr_plan_lines groups;
  TSR_TRY(tsr_plan_lines_init(plan, &groups));
  int widths[3] = {7, 5, 4};
  for (int64_t i = 0; i < groups.count; i++) {
    const tsr_plan_line *g = &groups.items[i];
    widths[0] = longer(widths[0], strlen(g->name) + (g->count > 1 ? 6 : 0), 64);
    widths[1] = longer(widths[1], strlen(g->shape), 28);
    widths[2] = longer(widths[2], g->spec.length, 36);
  }
  tsr_text_addf(out, " %s\n", title);
  if (tsr_plan_mesh(plan)) {
    tsr_text_add(out, " mesh ");
    tsr_mesh_print(tsr_plan_mesh(plan), out);
    tsr_text_addf(out, ": %lld devices\n", (long long)tsr_mesh_device_count(tsr_plan_mesh(plan)));
  }
  tsr_text_addf(out, "\n %-*s  %-*s  %-5s  %-*s  %9s  %s\n", widths[0], "tensor", widths[1],
                "shape", "type", widths[2], "spec", "a device", "why");
  const int used = widths[0] + widths[1] + widths[2] + 25;
  for (int64_t i = 0; i < groups.count; i++)
    add_row(&groups.items[i], widths, width ? (width - used > 24 ? width - used : 24) : INT_MAX,
            out);
  tsr_plan_lines_deinit(&groups);
  return add_sums(plan, out);
}
