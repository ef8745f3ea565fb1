// A picture of a machine for a terminal.
//
//   TPU v4: 8 devices on 2 hosts, 4x2x1 chips, 32 GiB each
//   z=0
//   ┌─host 0─┬─host 1─┐
//   │ 0   1  │ 2   3  │
//   │ 4   5  │ 6   7  │
//   └────────┴────────┘
//
// A *panel* is a grid of cells, each with a text and the process that drives it; lines are drawn
// where neighbours belong to different processes, so a host is a box whatever its shape. For a
// torus a panel is one z plane (x to the right, y down); without coordinates it is one host. Panels
// flow from left to right over a canvas of character cells and are printed when a row of them is
// full. Everything has a bound, so that a machine of 100,000 devices still fits a screen.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/text_internal.h"
#include "draw/topology_picture.h"
#include "tessera/engine/topology.h"
#include "topology/topology.h"

enum {
  MOST_COLUMNS = 16,
  MOST_ROWS = 16,
  MOST_PLANES = 8,  // of a slice
  FEW_COLUMNS = 8,  // of a plane with more than MOST_COLUMNS
  FEW_ROWS = 8,
  FEW_PLANES = 4,
  MOST_HOSTS = 16,  // of a slice, without coordinates
  MOST_SLICES = 4,
  HOST_COLUMNS = 8,  // devices in a row, without coordinates
  CELL_TEXT = 12,
  LINE_WIDTH = 100,
  CANVAS_WIDTH = MOST_COLUMNS * (CELL_TEXT + 3) + 1,
  CANVAS_HEIGHT = 2 * MOST_ROWS + 2,
  NO_PROCESS = -1
};

struct cell {
  int64_t process;      // NO_PROCESS = no chip there
  int64_t first, last;  // ids, when there are several cores
  int count;
};

struct panel {
  char title[24];
  int columns, rows;
  struct cell cells[MOST_ROWS][MOST_COLUMNS];
};

// Which of the four lines meet in a character cell.
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };
static const char *const lines[16] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                      "─", "└", "┌", "├", "─", "┴", "┬", "┼"};

// A character cell: a letter, or lines when the letter is '\0'.
struct mark {
  char letter;
  unsigned char arms;
};

struct canvas {
  const tsr_topology *topology;
  tsr_text *out;
  int width, height;  // used so far
  struct mark marks[CANVAS_HEIGHT][CANVAS_WIDTH];
  int window[3];  // columns, rows and planes that are drawn of a slice
  int shown;      // devices drawn so far
};

// ---- drawing ----

static void flush(struct canvas *canvas) {
  for (int y = 0; y < canvas->height; y++) {
    int width = canvas->width;
    while (width && !canvas->marks[y][width - 1].arms &&
           (!canvas->marks[y][width - 1].letter || canvas->marks[y][width - 1].letter == ' '))
      width--;
    for (int x = 0; x < width; x++) {
      const struct mark mark = canvas->marks[y][x];
      if (mark.letter)
        tsr_text_add_char(canvas->out, mark.letter);
      else
        tsr_text_add(canvas->out, lines[mark.arms]);
    }
    tsr_text_add_char(canvas->out, '\n');
  }
  memset(canvas->marks, 0, sizeof canvas->marks);
  canvas->width = canvas->height = 0;
}

static void write_letters(struct canvas *canvas, int x, int y, const char *letters) {
  for (int i = 0; letters[i] && x + i < CANVAS_WIDTH; i++)
    canvas->marks[y][x + i] = (struct mark){.letter = letters[i]};
}

static int64_t process_at(const struct panel *panel, int row, int column) {
  if (row < 0 || column < 0 || row >= panel->rows || column >= panel->columns) return NO_PROCESS;
  return panel->cells[row][column].process;
}

// The lines that meet at the upper left corner of a cell.
static unsigned char arms_at(const struct panel *panel, int row, int column) {
  const int64_t nw = process_at(panel, row - 1, column - 1),
                ne = process_at(panel, row - 1, column);
  const int64_t sw = process_at(panel, row, column - 1), se = process_at(panel, row, column);
  return (unsigned char)((nw != ne ? UP : 0) | (sw != se ? DOWN : 0) | (nw != sw ? LEFT : 0) |
                         (ne != se ? RIGHT : 0));
}

static bool row_has_line(const struct panel *panel, int row) {
  for (int column = 0; column < panel->columns; column++)
    if (process_at(panel, row - 1, column) != process_at(panel, row, column)) return true;
  return false;
}

static void print_cell(const struct cell *cell, char text[CELL_TEXT + 1]) {
  char whole[48] = "";
  if (cell->count == 1) snprintf(whole, sizeof whole, "%lld", (long long)cell->first);
  if (cell->count == 2)
    snprintf(whole, sizeof whole, "%lld,%lld", (long long)cell->first, (long long)cell->last);
  if (cell->count > 2)
    snprintf(whole, sizeof whole, "%lld..%lld", (long long)cell->first, (long long)cell->last);
  memcpy(text, whole, CELL_TEXT);
  text[CELL_TEXT] = '\0';
}

// As wide as the widest cell of any panel with as many cores, so that panels line up.
static int cell_width(const tsr_topology *topology, const struct panel *panel) {
  const int64_t highest = topology->places[topology->device_count - 1].id;
  size_t width = 1;
  for (int row = 0; row < panel->rows; row++)
    for (int column = 0; column < panel->columns; column++) {
      struct cell cell = panel->cells[row][column];
      char text[CELL_TEXT + 1];
      cell.first = cell.last = highest;
      print_cell(&cell, text);
      if (strlen(text) > width) width = strlen(text);
    }
  return (int)width + 2;
}

static void draw_line_row(struct canvas *canvas, const struct panel *panel, int left, int y,
                          int row, int width) {
  for (int column = 0; column <= panel->columns; column++) {
    const unsigned char arms = arms_at(panel, row, column);
    canvas->marks[y][left + column * (width + 1)].arms = arms;
    for (int i = 1; arms & RIGHT && i <= width; i++)
      canvas->marks[y][left + column * (width + 1) + i].arms = LEFT | RIGHT;
  }
}

static void draw_cell_row(struct canvas *canvas, const struct panel *panel, int left, int y,
                          int row, int width) {
  for (int column = 0; column <= panel->columns; column++) {
    const int x = left + column * (width + 1);
    if (process_at(panel, row, column - 1) != process_at(panel, row, column))
      canvas->marks[y][x].arms = UP | DOWN;
    if (column == panel->columns) break;
    char text[CELL_TEXT + 1];
    print_cell(&panel->cells[row][column], text);
    write_letters(canvas, x + width - (int)strlen(text), y, text);
  }
}

static bool seen_before(const struct panel *panel, int row, int column) {
  for (int r = 0; r <= row; r++)
    for (int c = 0; c < panel->columns && (r < row || c < column); c++)
      if (panel->cells[r][c].process == panel->cells[row][column].process) return true;
  return false;
}

// The name of each host whose box starts at this row, in the line above it: "host 12", "h12" where
// that is too wide, or nothing.
static void draw_names(struct canvas *canvas, const struct panel *panel, int left, int y, int row,
                       int width) {
  for (int column = 0; column < panel->columns; column++) {
    const int64_t process = panel->cells[row][column].process;
    if (process == NO_PROCESS || seen_before(panel, row, column)) continue;
    int run = width;
    for (int c = column + 1; process_at(panel, row, c) == process; c++) run += width + 1;
    char name[24];
    if (snprintf(name, sizeof name, "host %lld", (long long)process) > run - 1)
      if (snprintf(name, sizeof name, "h%lld", (long long)process) > run) continue;
    const int indent = (int)strlen(name) < run ? 2 : 1;
    write_letters(canvas, left + column * (width + 1) + indent, y, name);
  }
}

static void draw(struct canvas *canvas, const struct panel *panel) {
  const int width = cell_width(canvas->topology, panel);
  const int total = panel->columns * (width + 1) + 1;
  if (canvas->width && canvas->width + 2 + total > LINE_WIDTH) flush(canvas);
  const int left = canvas->width ? canvas->width + 2 : 0;
  int y = 0;
  if (*panel->title) write_letters(canvas, left, y++, panel->title);
  for (int row = 0; row <= panel->rows; row++) {
    if (row_has_line(panel, row)) {
      draw_line_row(canvas, panel, left, y, row, width);
      if (row < panel->rows) draw_names(canvas, panel, left, y, row, width);
      y++;
    }
    if (row < panel->rows) draw_cell_row(canvas, panel, left, y++, row, width);
  }
  canvas->width = left + total;
  if (y > canvas->height) canvas->height = y;
}

// ---- what to draw ----

static void clear_panel(struct panel *panel) {
  panel->title[0] = '\0';
  panel->columns = panel->rows = 0;
  for (int row = 0; row < MOST_ROWS; row++)
    for (int column = 0; column < MOST_COLUMNS; column++)
      panel->cells[row][column] = (struct cell){.process = NO_PROCESS};
}

static void add_device(struct panel *panel, const tsr_device *device, int row, int column) {
  struct cell *cell = &panel->cells[row][column];
  if (!cell->count++) cell->first = device->id, cell->process = device->process;
  cell->last = device->id;
  if (row >= panel->rows) panel->rows = row + 1;
  if (column >= panel->columns) panel->columns = column + 1;
}

// What distinguishes the groups of devices that are drawn one after the other.
typedef int64_t key_fn(const tsr_device *device);
static int64_t slice_of(const tsr_device *device) { return device->slice; }
static int64_t plane_of(const tsr_device *device) { return device->coords[2]; }
static int64_t process_of(const tsr_device *device) { return device->process; }

// The least key above `above` among the devices of `slice` (of all, for slices themselves).
static bool next_key(const tsr_topology *topology, key_fn *key, int64_t slice, int64_t above,
                     int64_t *out_key) {
  bool found = false;
  for (int64_t i = 0; i < topology->device_count; i++) {
    const tsr_device *device = &topology->devices[i];
    const int64_t value = key(device);
    if ((key != slice_of && device->slice != slice) || value <= above) continue;
    if (!found || value < *out_key) *out_key = value;
    found = true;
  }
  return found;
}

static void draw_plane(struct canvas *canvas, int64_t slice, int64_t z) {
  const tsr_topology *topology = canvas->topology;
  struct panel panel;
  clear_panel(&panel);
  for (int64_t i = 0; i < topology->device_count; i++) {
    const tsr_device *device = &topology->devices[i];
    const int64_t x = device->coords[0] - topology->low[0],
                  y = device->coords[1] - topology->low[1];
    if (device->slice != slice || device->coords[2] != z || x >= canvas->window[0] ||
        y >= canvas->window[1])
      continue;
    add_device(&panel, device, (int)y, (int)x);  // both within the window
    canvas->shown++;
  }
  if (topology->sizes[2] > 1) snprintf(panel.title, sizeof panel.title, "z=%lld", (long long)z);
  if (panel.rows) draw(canvas, &panel);
}

static void draw_host(struct canvas *canvas, int64_t slice, int64_t process) {
  const tsr_topology *topology = canvas->topology;
  struct panel panel;
  clear_panel(&panel);
  int count = 0;
  for (int64_t i = 0; i < topology->device_count && count < HOST_COLUMNS * MOST_ROWS; i++) {
    const tsr_device *device = &topology->devices[i];
    if (device->slice != slice || device->process != process) continue;
    add_device(&panel, device, count / HOST_COLUMNS, count % HOST_COLUMNS);
    count++;
  }
  // A host is one box, its last row included.
  for (int column = 0; column < panel.columns; column++)
    panel.cells[panel.rows - 1][column].process = process;
  canvas->shown += count;
  draw(canvas, &panel);
}

static void draw_slice(struct canvas *canvas, int64_t slice) {
  const bool torus = canvas->topology->devices[0].has_coords;
  key_fn *const key = torus ? plane_of : process_of;
  const int most = torus ? canvas->window[2] : MOST_HOSTS;
  int64_t above = INT64_MIN;
  int64_t at = 0;
  for (int i = 0; i < most && next_key(canvas->topology, key, slice, above, &at); i++) {
    if (torus)
      draw_plane(canvas, slice, at);
    else
      draw_host(canvas, slice, at);
    above = at;
  }
  flush(canvas);
}

// ---- words around it ----

static void print_bytes(int64_t bytes, tsr_text *out) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  double amount = (double)bytes;
  while (unit < 4 && amount >= 1024) amount /= 1024, unit++;
  tsr_text_addf(out, "%.4g %s", amount, units[unit]);
}

static void print_rings(const bool wrap[3], tsr_text *out) {
  const char *between = ", rings along ";
  for (int i = 0; i < 3; i++) {
    if (!wrap[i]) continue;
    tsr_text_addf(out, "%s%c", between, "xyz"[i]);
    between = ", ";
  }
}

static int64_t count_hosts(const tsr_topology *topology, tsr_text *out) {
  const int64_t count = topology->device_count;
  int64_t *processes = malloc((size_t)count * sizeof *processes);
  if (!processes) {
    out->failed = true;
    return 0;
  }
  for (int64_t i = 0; i < count; i++) processes[i] = topology->devices[i].process;
  const int64_t hosts = tsr_sort_distinct(processes, count);
  free(processes);
  return hosts;
}

static void print_summary(const tsr_topology *topology, tsr_text *out) {
  const int64_t hosts = count_hosts(topology, out);
  tsr_text_addf(out, "%s: %lld device%s on %lld host%s", topology->kind,
                (long long)topology->device_count, topology->device_count == 1 ? "" : "s",
                (long long)hosts, hosts == 1 ? "" : "s");
  if (topology->devices[0].has_coords)
    tsr_text_addf(out, ", %lldx%lldx%lld chips", (long long)topology->sizes[0],
                  (long long)topology->sizes[1], (long long)topology->sizes[2]);
  tsr_text_add(out, ", ");
  print_bytes(topology->memory_per_device, out);
  tsr_text_add(out, " each");
  print_rings(topology->wrap, out);
  tsr_text_add_char(out, '\n');
}

// A slice is shown whole where it fits, else its low corner.
static void choose_window(struct canvas *canvas) {
  static const int most[3] = {MOST_COLUMNS, MOST_ROWS, MOST_PLANES};
  static const int few[3] = {FEW_COLUMNS, FEW_ROWS, FEW_PLANES};
  for (int i = 0; i < 3; i++)
    canvas->window[i] = canvas->topology->sizes[i] > most[i] ? few[i] : most[i];
}

static void print_rest(const struct canvas *canvas) {
  const tsr_topology *topology = canvas->topology;
  if (canvas->shown == topology->device_count) return;
  tsr_text_addf(canvas->out, "and %lld more devices",
                (long long)(topology->device_count - canvas->shown));
  const char *between = ", where ";
  for (int i = 0; i < 3; i++) {
    if (topology->sizes[i] <= canvas->window[i]) continue;
    tsr_text_addf(canvas->out, "%s%c >= %lld", between, "xyz"[i],
                  (long long)(topology->low[i] + canvas->window[i]));
    between = " or ";
  }
  tsr_text_add_char(canvas->out, '\n');
}

void tsr_topology_print(const tsr_topology *topology, tsr_text *out) {
  struct canvas canvas = {.topology = topology, .out = out};
  choose_window(&canvas);
  print_summary(topology, out);
  int64_t slice = 0, second = 0;
  next_key(topology, slice_of, 0, INT64_MIN, &slice);
  const bool several = next_key(topology, slice_of, 0, slice, &second);
  for (int i = 0; i < MOST_SLICES; i++) {
    if (several) tsr_text_addf(out, "slice %lld\n", (long long)slice);
    draw_slice(&canvas, slice);
    if (!next_key(topology, slice_of, 0, slice, &slice)) break;
  }
  print_rest(&canvas);
}
