// A figure: panels of coloured cells on two axes, drawn as terminal text, SVG or HTML.
//
// Both pictures the command makes are figures. A layout's cells are the pieces of two dimensions,
// labelled with the devices that hold them; further cut dimensions become panels. A mesh's cells
// are its devices.
#ifndef TESSERA_DRAW_FIGURE_H
#define TESSERA_DRAW_FIGURE_H

#include <stdbool.h>

#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/text.h"

// A stretch of one axis: indices lo .. hi-1, or a gap that stands for what is not drawn.
typedef struct cli_span {
  int64_t lo, hi;
  const char *name;  // of a logical part ("q"); NULL = none
  bool gap;
} cli_span;

typedef struct cli_axis {
  char name[96];  // "dim 0 (data)"
  int count;
  cli_span *spans;
} cli_axis;

typedef struct cli_cell {
  char label[48];     // "0-3"
  char hint[96];      // shown on hover in HTML
  int64_t shard;      // the first that holds the cell
  int color_count;    // 0 = blank; several when shards share the cell
  int64_t colors[4];  // indices for the palette
} cli_cell;

typedef struct cli_figure {
  char title[256], subtitle[256];
  cli_axis rows, columns;
  int panel_count;
  char (*panel_titles)[96];  // "" = untitled
  cli_cell *cells;           // panel, row, column
  int64_t color_count;       // distinct colours in use
  int hidden_panels;         // further panels that were left out
} cli_figure;

void figure_deinit(cli_figure *figure);
cli_cell *figure_at(const cli_figure *figure, int panel, int row, int column);

// How much to draw at most; the rest becomes gaps, or is counted in hidden_panels.
typedef struct cli_limits {
  int rows, columns, panels;
} cli_limits;

// The pieces of `layout`, dimension `row_dim` downwards and `column_dim` to the right (-1 = chosen:
// the two that are cut most).
tsr_status figure_from_layout(const tsr_layout *layout, int row_dim, int column_dim,
                              cli_limits limits, cli_figure *out_figure);
// The devices of `mesh`, the last axis to the right, the one before downwards.
tsr_status figure_from_mesh(const tsr_mesh *mesh, cli_limits limits, cli_figure *out_figure);

void figure_print_text(const cli_figure *figure, bool color, int width, tsr_text *out);
void figure_print_svg(const cli_figure *figure, tsr_text *out);
// A page with the picture and, below it, `body` (HTML).
void figure_print_html(const cli_figure *figure, const char *body, tsr_text *out);

// The frame of a page, in colours for light and dark; what stands between is the caller's.
void figure_begin_page(const char *title, tsr_text *out);
void figure_end_page(tsr_text *out);
// A picture up to and with its title; "</svg>" ends it. Its classes: t title, s subtitle, a and n
// names of axes, c text on colours, p paper, f frame, cell what lights up under the pointer.
void figure_begin_svg(double width, double height, const char *title, const char *subtitle,
                      tsr_text *out);
enum { FIGURE_MARGIN = 28, FIGURE_TITLE_HEIGHT = 64 };
// Text with the five characters that HTML takes for its own written out.
void figure_add_escaped(tsr_text *out, const char *text);

// What stands beside a span: "q 0:256", "3", "...".
void figure_span_label(const cli_span *span, char *out, size_t size);

// Colour `index` of `count` as red, green, blue.
void figure_color(int64_t index, int64_t count, unsigned char out_rgb[3]);

// How much of something, 0 to 1, as a colour that dark text can be read on.
void figure_heat(double share, unsigned char out_rgb[3]);

// "0-3,8" for 0 1 2 3 8: ids in ascending order, runs shortened, cut with "..." at `size`.
void figure_list_ids(const int64_t *ids, int64_t count, char *out, size_t size);

#endif
