// Figures as SVG. Cells grow with the root of their spans, so that a short tail stays visible, and
// text keeps a readable size whatever the tensor.
#include <math.h>
#include <string.h>

#include "base/text_internal.h"
#include "draw/draw.h"

enum {
  MARGIN = TSR_SVG_MARGIN,
  TITLE_HEIGHT = TSR_SVG_TITLE_HEIGHT,
  LABEL_HEIGHT = 44,
  LABEL_WIDTH = 96,
  PANEL_GAP = 36,
  BODY = 640,  // pixels shared by the spans of an axis
  GAP_SIZE = 26,
  SMALLEST = 22
};

// Pixels of each span, and their sum. A span gets pixels by the root of its length: on a true scale
// one row beside 4096 others would vanish.
static double measure(const tsr_figure_axis *axis, double body, double smallest, double *sizes) {
  double roots = 0, total = 0;
  for (int i = 0; i < axis->count; i++)
    if (!axis->spans[i].gap) roots += sqrt((double)(axis->spans[i].hi - axis->spans[i].lo));
  for (int i = 0; i < axis->count; i++) {
    const double root = sqrt((double)(axis->spans[i].hi - axis->spans[i].lo));
    sizes[i] = axis->spans[i].gap ? GAP_SIZE : (roots > 0 ? body * root / roots : body);
    if (!axis->spans[i].gap && sizes[i] < smallest) sizes[i] = smallest;
    total += sizes[i];
  }
  return total;
}

typedef struct geometry {
  double columns[128], rows[128];
  double width, height;  // of a panel's cells
  int across;            // panels side by side
} geometry;

static geometry layout_figure_page(const tsr_figure *figure) {
  geometry g;
  const double label = tsr_figure_axis_width(&figure->columns) * 6.4 + 12;
  const double cell = tsr_figure_cell_width(figure) * 7.2 + 12;
  const double widest = label > cell ? label : cell;
  const double body = figure->panel_count > 1 ? BODY * 0.55 : BODY;
  g.width = measure(&figure->columns, body, widest > SMALLEST ? widest : SMALLEST, g.columns);
  const double rows_body = figure->rows.count == 1 ? 72 : body * 0.62;
  g.height = measure(&figure->rows, rows_body, SMALLEST, g.rows);
  g.across = (int)(1200 / (g.width + PANEL_GAP));
  if (g.across < 1) g.across = 1;
  if (g.across > figure->panel_count) g.across = figure->panel_count;
  return g;
}

// One band for each shard of the cell, and a frame around them.
static void add_bands(const tsr_figure *figure, const tsr_figure_cell *cell, double x, double y,
                      double w, double h, tsr_text *out) {
  const double band = w / cell->color_count;
  for (int c = 0; c < cell->color_count; c++)
    tsr_text_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
                  x + c * band, y, band, h,
                  tsr_palette_color(cell->colors[c], figure->color_count).hex);
  tsr_text_addf(out,
                "<rect class=\"f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                "rx=\"4\"/>",
                x, y, w, h);
}

static void add_cell(const tsr_figure *figure, const tsr_figure_cell *cell, double x, double y,
                     double w, double h, tsr_text *out) {
  if (!cell->color_count) {
    tsr_text_addf(out, "<text class=\"a c\" x=\"%.1f\" y=\"%.1f\">…</text>\n", x + w / 2,
                  y + h / 2);
    return;
  }
  // Shrink letters that would leave the cell.
  const double length = (double)strlen(cell->label);
  double size = length * 8.4 > w - 6 ? (w - 6) / (length * 0.6) : 14;
  if (size < 7) size = 7;
  tsr_text_add(out, "<g class=\"cell\"><title>");
  tsr_svg_add_escaped(out, cell->hint);
  tsr_text_add(out, "</title>");
  add_bands(figure, cell, x, y, w, h, out);
  tsr_text_addf(out, "<text class=\"c\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">", x + w / 2,
                y + h / 2, size);
  tsr_svg_add_escaped(out, cell->label);
  tsr_text_add(out, "</text></g>\n");
}

static void add_axis_names(const tsr_figure *figure, const geometry *g, double x, double y,
                           tsr_text *out) {
  if (*figure->columns.name) tsr_svg_add_text(x, y - 26, "n", NULL, figure->columns.name, out);
  if (*figure->rows.name) {
    tsr_text_addf(out,
                  "<text class=\"n\" transform=\"translate(%.1f %.1f) rotate(-90)\" "
                  "text-anchor=\"middle\">",
                  x - LABEL_WIDTH + 14.0, y + g->height / 2);
    tsr_svg_add_escaped(out, figure->rows.name);
    tsr_text_add(out, "</text>\n");
  }
}

static void add_panel(const tsr_figure *figure, int panel, const geometry *g, double x, double y,
                      tsr_text *out) {
  if (*figure->panel_titles[panel])
    tsr_svg_add_text(x, y - 44, "s", NULL, figure->panel_titles[panel], out);
  add_axis_names(figure, g, x, y, out);
  double cx = x;
  for (int c = 0; c < figure->columns.count; cx += g->columns[c++])
    if (*figure->columns.name)
      tsr_svg_add_text(cx + g->columns[c] / 2, y - 8, "a", "middle", figure->columns.spans[c].label,
                       out);
  double cy = y;
  for (int r = 0; r < figure->rows.count; cy += g->rows[r++]) {
    if (*figure->rows.name)
      tsr_svg_add_text(x - 8, cy + g->rows[r] / 2 + 4, "a", "end", figure->rows.spans[r].label,
                       out);
    cx = x;
    for (int c = 0; c < figure->columns.count; cx += g->columns[c++])
      add_cell(figure, tsr_figure_at(figure, panel, r, c), cx, cy, g->columns[c], g->rows[r], out);
  }
}

void tsr_figure_print_svg(const tsr_figure *figure, tsr_text *out) {
  const geometry g = layout_figure_page(figure);
  const bool titled = *figure->panel_titles[0];
  const int down = (figure->panel_count + g.across - 1) / g.across;
  const double left = *figure->rows.name ? LABEL_WIDTH : 0;
  const double panel_width = left + g.width + PANEL_GAP;
  const double panel_height = LABEL_HEIGHT + (titled ? 22 : 0) + g.height + PANEL_GAP * 0.6;
  double width = 2 * MARGIN + g.across * panel_width - PANEL_GAP;
  if (width < 520) width = 520;
  const double height = MARGIN + TITLE_HEIGHT + down * panel_height + MARGIN * 0.5;
  tsr_svg_begin(width, height, figure->title, figure->subtitle, out);
  for (int p = 0; p < figure->panel_count; p++) {
    const int row = p / g.across, column = p % g.across;
    const double x = MARGIN + left + column * panel_width;
    const double y =
        MARGIN + TITLE_HEIGHT + row * panel_height + LABEL_HEIGHT + (titled ? 22 : 0) - 8;
    add_panel(figure, p, &g, x, y, out);
  }
  if (figure->hidden_panels)
    tsr_text_addf(out, "<text class=\"s\" x=\"%d\" y=\"%.0f\">and %d more panels</text>\n", MARGIN,
                  height - 10, figure->hidden_panels);
  tsr_text_add(out, "</svg>\n");
}

void tsr_figure_print_html(const tsr_figure *figure, const char *body, tsr_text *out) {
  tsr_page_begin(figure->title, out);
  tsr_figure_print_svg(figure, out);
  tsr_text_add(out, body);
  tsr_page_end(out);
}
