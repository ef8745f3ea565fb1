// A figure: panels of coloured cells on two axes, drawn as terminal text, SVG or HTML.
//
// A layout's cells are the pieces along two dimensions, labelled with the devices that hold them;
// other cut dimensions become panels. A mesh's cells are its devices.
#ifndef TESSERA_DRAW_FIGURE_H
#define TESSERA_DRAW_FIGURE_H

#include <stdbool.h>

#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/text.h"

// Indices lo .. hi-1 of an axis, or a gap for indices that are not drawn.
typedef struct tsr_figure_span {
  int64_t lo, hi;
  char label[64];  // "3", "0:256", with a fused part "q 0:256", "..."
  bool gap;
} tsr_figure_span;

typedef struct tsr_figure_axis {
  char name[96];  // "dim 0: data"
  int count;
  tsr_figure_span *spans;
} tsr_figure_axis;

typedef struct tsr_figure_cell {
  char label[48];     // "0-3"
  char hint[96];      // shown on hover in HTML
  int64_t shard;      // the first one that holds the cell
  int color_count;    // 0 = blank; more than 1 when shards overlap
  int64_t colors[4];  // indices for the palette
} tsr_figure_cell;

typedef struct tsr_figure {
  char title[256], subtitle[256];
  tsr_figure_axis rows, columns;
  int panel_count;
  char (*panel_titles)[96];  // "" = untitled
  tsr_figure_cell *cells;    // panel, row, column
  int64_t color_count;       // distinct colours in use
  int hidden_panels;         // panels beyond panel_count
} tsr_figure;

void tsr_figure_deinit(tsr_figure *figure);
tsr_figure_cell *tsr_figure_at(const tsr_figure *figure, int panel, int row, int column);

// The most to draw. What is left out becomes a gap, or is counted in hidden_panels.
typedef struct tsr_figure_limits {
  int rows, columns, panels;
} tsr_figure_limits;

// The pieces of `layout`, dimension `row_dim` down and `column_dim` to the right; -1 chooses those
// that are cut most.
tsr_status tsr_figure_from_layout(const tsr_layout *layout, int row_dim, int column_dim,
                                  tsr_figure_limits limits, tsr_figure *out_figure);
// The devices of `mesh`: the last axis to the right, the one before it down.
tsr_status tsr_figure_from_mesh(const tsr_mesh *mesh, tsr_figure_limits limits,
                                tsr_figure *out_figure);

void tsr_figure_print_text(const tsr_figure *figure, bool color, int width, tsr_text *out);
void tsr_figure_print_svg(const tsr_figure *figure, tsr_text *out);
// A page with the picture and, below it, `body` (HTML).
void tsr_figure_print_html(const tsr_figure *figure, const char *body, tsr_text *out);

// Ascending ids as text: "0-3,8" for 0 1 2 3 8; truncated with "..." at `size`.
void tsr_list_ids(const int64_t *ids, int64_t count, char *out, size_t size);

#endif
