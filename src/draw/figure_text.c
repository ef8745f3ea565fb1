// Figures for a terminal: a grid of boxes, its cells filled with colour if the caller wants it.
#include <string.h>

#include "base/text_internal.h"
#include "draw/draw.h"

enum { NARROWEST = 3, WIDEST = 18 };

static void add_centred(tsr_text *out, const char *text, int width) {
  const int length = tsr_display_width(text);
  if (length > width) {
    tsr_text_addf(out, "%.*s~", width - 1, text);
    return;
  }
  const int left = (width - length) / 2;
  tsr_text_addf(out, "%*s%s%*s", left, "", text, width - length - left, "");
}

typedef struct text_style {
  tsr_box_grid grid;
  int left;  // width of the labels at the left
  bool color;
} text_style;

static text_style measure(const tsr_figure *figure, bool color, int width) {
  text_style style = {.color = color, .left = tsr_figure_axis_width(&figure->rows)};
  const int label = tsr_figure_axis_width(&figure->columns);
  int cell = tsr_figure_cell_width(figure);
  if (cell < label) cell = label;
  if (cell < NARROWEST) cell = NARROWEST;
  cell = cell + 2 > WIDEST ? WIDEST : cell + 2;
  if (figure->columns.count > 0) {
    const int room = (width - style.left - 3) / figure->columns.count - 1;
    if (cell > room) cell = room < NARROWEST ? NARROWEST : room;
  }
  // A tensor without elements is an empty box.
  style.grid = (tsr_box_grid){.rows = figure->rows.count ? figure->rows.count : 1,
                              .columns = figure->columns.count ? figure->columns.count : 1,
                              .width = figure->columns.count ? cell : 0};
  return style;
}

// Shards that share a cell become stripes.
static void add_cell(const tsr_figure *figure, const tsr_figure_cell *cell, const text_style *style,
                     tsr_text *out) {
  if (!cell->color_count || !style->color) {
    add_centred(out, cell->color_count ? cell->label : "·", style->grid.width);
    return;
  }
  tsr_text plain = TSR_TEXT_EMPTY;
  add_centred(&plain, cell->label, style->grid.width);
  for (int c = 0; c < cell->color_count; c++) {
    const tsr_color color = tsr_palette_color(cell->colors[c], figure->color_count);
    const size_t from = plain.length * (size_t)c / (size_t)cell->color_count;
    const size_t to = plain.length * (size_t)(c + 1) / (size_t)cell->color_count;
    tsr_text_addf(out, "\033[48;2;%d;%d;%dm\033[38;2;25;25;30m%.*s", color.red, color.green,
                  color.blue, (int)(to - from), tsr_text_string(&plain) + from);
  }
  tsr_text_add(out, "\033[0m");
  tsr_text_deinit(&plain);
}

static void add_row(const tsr_figure *figure, int panel, int row, const text_style *style,
                    tsr_text *out) {
  const char *label = *figure->rows.name ? figure->rows.spans[row].label : "";
  tsr_text_addf(out, " %*s ", style->left, label);
  for (int c = 0; c <= style->grid.columns; c++) {
    tsr_box_add_wall(&style->grid, row, c, out);
    if (c < figure->columns.count)
      add_cell(figure, tsr_figure_at(figure, panel, row, c), style, out);
  }
  tsr_text_add_char(out, '\n');
}

static void add_panel(const tsr_figure *figure, int panel, const text_style *style, tsr_text *out) {
  if (*figure->panel_titles[panel]) tsr_text_addf(out, " %s\n", figure->panel_titles[panel]);
  if (*figure->columns.name) {
    tsr_text_addf(out, " %*s   %s\n", style->left, "", figure->columns.name);
    tsr_text_addf(out, " %*s  ", style->left, "");
    for (int c = 0; c < figure->columns.count; c++) {
      add_centred(out, figure->columns.spans[c].label, style->grid.width);
      tsr_text_add_char(out, ' ');
    }
    tsr_text_add_char(out, '\n');
  }
  for (int r = 0; r <= style->grid.rows; r++) {
    tsr_text_addf(out, "%*s", style->left + 2, "");
    tsr_box_add_rule(&style->grid, r, NULL, out);
    tsr_text_add_char(out, '\n');
    if (r < figure->rows.count) add_row(figure, panel, r, style, out);
  }
}

void tsr_figure_print_text(const tsr_figure *figure, bool color, int width, tsr_text *out) {
  const char *strong = color ? "\033[1m" : "", *faint = color ? "\033[2m" : "";
  const char *plain = color ? "\033[0m" : "";
  tsr_text_addf(out, " %s%s%s\n %s%s%s\n", strong, figure->title, plain, faint, figure->subtitle,
                plain);
  if (*figure->rows.name) tsr_text_addf(out, " %s (down)\n", figure->rows.name);
  const text_style style = measure(figure, color, width);
  for (int p = 0; p < figure->panel_count; p++) {
    tsr_text_add_char(out, '\n');
    add_panel(figure, p, &style, out);
  }
  if (figure->hidden_panels) tsr_text_addf(out, "\n and %d more panels\n", figure->hidden_panels);
}
