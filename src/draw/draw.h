// Pictures for terminals, SVG and HTML; tables and units.
#ifndef TESSERA_DRAW_DRAW_H
#define TESSERA_DRAW_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/text.h"
#include "tessera/topology.h"

// ---- boxes for a terminal: cells, with lines between neighbours of different groups ----

enum { TSR_BOX_NO_GROUP = -1 };  // no cell; everything outside the grid

typedef struct tsr_box_grid {
  int rows, columns, width;  // width of a cell, without the lines beside it
  const int64_t *groups;     // by rows; NULL = each cell is its own group
  int stride;                // from one row of groups to the next
} tsr_box_grid;

int tsr_box_width(const tsr_box_grid *grid);  // of the whole grid, with its lines
int64_t tsr_box_group(const tsr_box_grid *grid, int row, int column);
// Whether there is a line above `row`; row `rows` is the lower end.
bool tsr_box_has_rule(const tsr_box_grid *grid, int row);
// Adds the line above `row`. `overlay` is NULL, or tsr_box_width characters that replace those of
// the line; '\0' = keep the line.
void tsr_box_add_rule(const tsr_box_grid *grid, int row, const char *overlay, tsr_text *out);
// Adds the line at the left of a cell, or a space; column `columns` is the right end.
void tsr_box_add_wall(const tsr_box_grid *grid, int row, int column, tsr_text *out);

// ---- a figure: panels of coloured cells on two axes, drawn as terminal text, SVG or HTML ----

// A layout's cells are the pieces along two dimensions, labelled with the devices that hold them;
// other cut dimensions become panels. A mesh's cells are its devices.

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
// Bytes of the longest label of an axis (0 = it has no name) and of all cells.
int tsr_figure_axis_width(const tsr_figure_axis *axis);
int tsr_figure_cell_width(const tsr_figure *figure);

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

// ---- colours of figures, all of them readable under dark text ----

typedef struct tsr_color {
  unsigned char red, green, blue;
  char hex[8];  // "#ff8800"
} tsr_color;

tsr_color tsr_palette_color(int64_t index, int64_t count);  // colour `index` of `count`
tsr_color tsr_palette_heat(double share);  // of a share from 0 to 1: the more, the warmer

// ---- the pieces of a shard, as text and as JSON ----

// Prints at most `most` pieces on one line: a cyclic shard may have thousands.
tsr_status tsr_shard_print_pieces(const tsr_layout *layout, int64_t shard, int most, tsr_text *out);
// [[lo, hi], ...], one pair for each dimension.
void tsr_ranges_to_json(const tsr_range *ranges, int rank, tsr_json_writer *json);

// ---- the frame of SVG pictures and HTML pages ----

enum { TSR_SVG_MARGIN = 28, TSR_SVG_TITLE_HEIGHT = 64 };

// Begins a picture and writes its titles; the caller ends it with "</svg>". Styles: t title,
// s subtitle, a and n names of axes, c text on colours, p paper, f frame, cell highlighted on
// hover.
void tsr_svg_begin(double width, double height, const char *title, const char *subtitle,
                   tsr_text *out);
// Adds a line of text. `anchor` is start, middle, end, or NULL for that of the style.
void tsr_svg_add_text(double x, double y, const char *style, const char *anchor, const char *text,
                      tsr_text *out);
// Adds text with <, >, & and " written as entities.
void tsr_svg_add_escaped(tsr_text *out, const char *text);

// Begin and end a page, with colours for light and dark screens.
void tsr_page_begin(const char *title, tsr_text *out);
void tsr_page_end(tsr_text *out);

// ---- a text table: cells are added row by row; columns are as wide as their widest cell ----

enum { TSR_TABLE_MAX_COLUMNS = 16 };

typedef struct tsr_table_column {
  const char *title;
  bool right;  // aligned right, for numbers
  int most;    // width at which it stops growing; longer cells stick out; 0 = no limit
} tsr_table_column;

// Starts at zero.
typedef struct tsr_table {
  int column_count;
  tsr_table_column columns[TSR_TABLE_MAX_COLUMNS];
  tsr_text text;  // all cells, each ended by '\0'
  size_t begun;   // where the cell that is being written begins
  int64_t cells;
} tsr_table;

// Replaces what a terminal would obey, newlines and tabs too, by '?'.
void tsr_make_plain_line(char *text, size_t length);
// Adds text from files, made plain.
void tsr_text_add_plain(tsr_text *out, const char *text);

void tsr_table_add_column(tsr_table *table, tsr_table_column column);
// Ends a cell that was written to `table->text`, control characters replaced.
void tsr_table_end_cell(tsr_table *table);
void tsr_table_add(tsr_table *table, const char *cell);
TSR_PRINTF(2, 3) void tsr_table_addf(tsr_table *table, const char *format, ...);
void tsr_table_print(const tsr_table *table, tsr_text *out);
void tsr_table_deinit(tsr_table *table);

// ---- a picture of a machine for a terminal ----

// Prints hosts, chips and cores, one line per row of devices.
void tsr_topology_print(const tsr_topology *topology, tsr_text *out);

// ---- traffic: a matrix of the bytes that each device sends to each other ----

// With more devices than this, several share a row.
enum { TSR_TRAFFIC_MOST_ROWS = 64 };

typedef struct tsr_traffic {
  int rows;              // 0 = the plan has too many copies
  int64_t device_count;  // in either layout
  int64_t per_row;       // devices in a row; the last row may have fewer
  int64_t *devices;      // owned: their ids, ascending
  char (*labels)[32];    // owned: of each row, as "3" or "8-15"
  int64_t *bytes;  // owned: rows * rows, row = sender, column = receiver; the diagonal includes
                   // bytes that stay on their device
  double seconds;  // of the busiest device, by the links
  bool timed;      // `seconds` is known: there are links
} tsr_traffic;

// Sums the copies of a plan; with too many copies, `rows` is 0.
tsr_status tsr_traffic_from_plan(const tsr_copy_plan *plan, tsr_dtype dtype,
                                 const tsr_certificate *certificate, tsr_traffic *out_traffic);
void tsr_traffic_deinit(tsr_traffic *traffic);
int64_t tsr_traffic_at(const tsr_traffic *traffic, int source, int target);
int64_t tsr_traffic_max(const tsr_traffic *traffic);  // largest cell off the diagonal

// Draws bands from senders to receivers for a few devices, a matrix for more.
void tsr_traffic_print_svg(const tsr_traffic *traffic, const char *title, const char *subtitle,
                           tsr_text *out);

// ---- numbers for people: sizes and times with the unit that fits ----

// Returned by value, so callers need no buffer: printf("%s", tsr_format_bytes(n).text).
typedef struct tsr_unit_text {
  char text[24];
} tsr_unit_text;

tsr_unit_text tsr_format_bytes(int64_t bytes);     // "16.1 GB"
tsr_unit_text tsr_format_seconds(double seconds);  // "1.25 ms"

// Terminal columns of UTF-8 text, counting one per character.
int tsr_display_width(const char *text);

#endif
