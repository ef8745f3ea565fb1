// A picture of a machine for a terminal.
//
//   TPU v4: 8 devices on 2 hosts, 4x2x1 chips, 32 GiB each
//   z=0
//   ┌─host 0─┬─host 1─┐
//   │ 0   1  │ 2   3  │
//   │ 4   5  │ 6   7  │
//   └────────┴────────┘
//
// A *panel* is a grid of chips grouped by process, so a host is a box of any shape. On a torus a
// panel is one z plane (x to the right, y down); without coordinates it is one host. Panels flow
// from left to right and are printed when a line is full. Everything has a limit: a machine of
// 100,000 devices still fits a screen.
#include "draw/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/text_internal.h"
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
  MOST_WIDTH = MOST_COLUMNS * (CELL_TEXT + 3) + 1,
  MOST_LINES = 2 * MOST_ROWS + 2
};

typedef struct chip {
  int64_t first, last;  // ids, when there are several cores
  int count;            // 0 = no chip there
} chip;

typedef struct chip_panel {
  char title[24];
  tsr_box_grid grid;
  int64_t processes[MOST_ROWS][MOST_COLUMNS];  // groups of the grid
  chip chips[MOST_ROWS][MOST_COLUMNS];
} chip_panel;

typedef struct picture {
  const tsr_topology *topology;
  tsr_text *out;
  tsr_text lines[MOST_LINES];  // of panels side by side
  int width, height;           // used so far
  int window[3];               // columns, rows and planes drawn of each slice
  int shown;                   // devices drawn so far
} picture;

// ---- drawing ----

// Prints the panels side by side, without trailing spaces.
static void flush(picture *p) {
  for (int y = 0; y < p->height; y++) {
    tsr_text *line = &p->lines[y];
    size_t length = line->length;
    while (length && line->data[length - 1] == ' ') length--;
    tsr_text_add_bytes(p->out, tsr_text_string(line), length);
    tsr_text_add_char(p->out, '\n');
    p->out->failed |= line->failed;
    tsr_text_clear(line);
  }
  p->width = p->height = 0;
}

static void print_chip(const chip *c, char text[CELL_TEXT + 1]) {
  char whole[48] = "";
  if (c->count == 1) snprintf(whole, sizeof whole, "%lld", (long long)c->first);
  if (c->count > 1)
    snprintf(whole, sizeof whole, "%lld%s%lld", (long long)c->first, c->count == 2 ? "," : "..",
             (long long)c->last);
  memcpy(text, whole, CELL_TEXT);
  text[CELL_TEXT] = '\0';
}

// The width for the highest id of the machine, so that panels line up.
static int cell_width(const tsr_topology *topology, const chip_panel *panel) {
  const int64_t highest = topology->places[topology->device_count - 1].id;
  size_t width = 1;
  for (int row = 0; row < panel->grid.rows; row++)
    for (int column = 0; column < panel->grid.columns; column++) {
      chip c = panel->chips[row][column];
      char text[CELL_TEXT + 1];
      c.first = c.last = highest;
      print_chip(&c, text);
      if (strlen(text) > width) width = strlen(text);
    }
  return (int)width + 2;
}

static bool seen_before(const chip_panel *panel, int row, int column) {
  for (int r = 0; r <= row; r++)
    for (int c = 0; c < panel->grid.columns && (r < row || c < column); c++)
      if (panel->processes[r][c] == panel->processes[row][column]) return true;
  return false;
}

// Names of the hosts whose boxes start at this row, for the line above it: "host 12", "h12" if that
// is too wide, or nothing.
static void name_hosts(const chip_panel *panel, int row, char overlay[MOST_WIDTH]) {
  const int width = panel->grid.width;
  memset(overlay, 0, MOST_WIDTH);
  for (int column = 0; row < panel->grid.rows && column < panel->grid.columns; column++) {
    const int64_t process = panel->processes[row][column];
    if (process == TSR_BOX_NO_GROUP || seen_before(panel, row, column)) continue;
    int run = width;
    for (int c = column + 1; tsr_box_group(&panel->grid, row, c) == process; c++) run += width + 1;
    char name[24];
    if (snprintf(name, sizeof name, "host %lld", (long long)process) > run - 1)
      if (snprintf(name, sizeof name, "h%lld", (long long)process) > run) continue;
    const int indent = (int)strlen(name) < run ? 2 : 1;
    memcpy(overlay + column * (width + 1) + indent, name, strlen(name));
  }
}

static void add_chips(const chip_panel *panel, int row, tsr_text *line) {
  for (int column = 0; column <= panel->grid.columns; column++) {
    tsr_box_add_wall(&panel->grid, row, column, line);
    if (column == panel->grid.columns) break;
    char text[CELL_TEXT + 1];
    print_chip(&panel->chips[row][column], text);
    tsr_text_addf(line, "%*s ", panel->grid.width - 1, text);
  }
}

// Line `y` with spaces up to `left`: lines below the panels so far are still empty.
static tsr_text *begin_line(picture *p, int y, int left) {
  const int gap = p->width ? 2 : 0;
  tsr_text_addf(&p->lines[y], "%*s", y < p->height ? gap : left, "");
  return &p->lines[y];
}

static void draw_panel(picture *p, chip_panel *panel) {
  panel->grid.width = cell_width(p->topology, panel);
  while (tsr_box_width(&panel->grid) < (int)strlen(panel->title)) panel->grid.width++;
  const int total = tsr_box_width(&panel->grid);
  if (p->width && p->width + 2 + total > LINE_WIDTH) flush(p);
  const int left = p->width ? p->width + 2 : 0;
  int y = 0;
  if (*panel->title) tsr_text_addf(begin_line(p, y++, left), "%-*s", total, panel->title);
  for (int row = 0; row <= panel->grid.rows; row++) {
    if (tsr_box_has_rule(&panel->grid, row)) {
      char overlay[MOST_WIDTH];
      name_hosts(panel, row, overlay);
      tsr_box_add_rule(&panel->grid, row, overlay, begin_line(p, y++, left));
    }
    if (row < panel->grid.rows) add_chips(panel, row, begin_line(p, y++, left));
  }
  for (; y < p->height; y++) tsr_text_addf(begin_line(p, y, left), "%*s", total, "");
  p->width = left + total;
  if (y > p->height) p->height = y;
}

// ---- what to draw ----

static void clear_panel(chip_panel *panel) {
  *panel = (chip_panel){.grid = {.groups = panel->processes[0], .stride = MOST_COLUMNS}};
  for (int row = 0; row < MOST_ROWS; row++)
    for (int column = 0; column < MOST_COLUMNS; column++)
      panel->processes[row][column] = TSR_BOX_NO_GROUP;
}

static void add_device(chip_panel *panel, const tsr_device *device, int row, int column) {
  chip *c = &panel->chips[row][column];
  if (!c->count++) {
    c->first = device->id;
    panel->processes[row][column] = device->process;
  }
  c->last = device->id;
  if (row >= panel->grid.rows) panel->grid.rows = row + 1;
  if (column >= panel->grid.columns) panel->grid.columns = column + 1;
}

// Devices with the same key are drawn together.
typedef int64_t key_fn(const tsr_device *device);
static int64_t slice_of(const tsr_device *device) { return device->slice; }
static int64_t plane_of(const tsr_device *device) { return device->coords[2]; }
static int64_t process_of(const tsr_device *device) { return device->process; }

// The lowest key above `above` of the devices of `slice`; of all devices if slices are the keys.
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

static void draw_plane(picture *p, int64_t slice, int64_t z) {
  const tsr_topology *topology = p->topology;
  chip_panel panel;
  clear_panel(&panel);
  for (int64_t i = 0; i < topology->device_count; i++) {
    const tsr_device *device = &topology->devices[i];
    const int64_t x = device->coords[0] - topology->low[0],
                  y = device->coords[1] - topology->low[1];
    if (device->slice != slice || device->coords[2] != z || x >= p->window[0] || y >= p->window[1])
      continue;
    add_device(&panel, device, (int)y, (int)x);  // both within the window
    p->shown++;
  }
  if (topology->sizes[2] > 1) snprintf(panel.title, sizeof panel.title, "z=%lld", (long long)z);
  if (panel.grid.rows) draw_panel(p, &panel);
}

static void draw_host(picture *p, int64_t slice, int64_t process) {
  const tsr_topology *topology = p->topology;
  chip_panel panel;
  clear_panel(&panel);
  int count = 0;
  for (int64_t i = 0; i < topology->device_count && count < HOST_COLUMNS * MOST_ROWS; i++) {
    const tsr_device *device = &topology->devices[i];
    if (device->slice != slice || device->process != process) continue;
    add_device(&panel, device, count / HOST_COLUMNS, count % HOST_COLUMNS);
    count++;
  }
  // A host is one box, its last row included.
  for (int column = 0; column < panel.grid.columns; column++)
    panel.processes[panel.grid.rows - 1][column] = process;
  p->shown += count;
  draw_panel(p, &panel);
}

static void draw_slice(picture *p, int64_t slice) {
  const bool torus = p->topology->devices[0].has_coords;
  key_fn *const key = torus ? plane_of : process_of;
  const int most = torus ? p->window[2] : MOST_HOSTS;
  int64_t above = INT64_MIN;
  int64_t at = 0;
  for (int i = 0; i < most && next_key(p->topology, key, slice, above, &at); i++) {
    if (torus)
      draw_plane(p, slice, at);
    else
      draw_host(p, slice, at);
    above = at;
  }
  flush(p);
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

// A slice is drawn whole if it fits, else its low corner.
static void choose_window(picture *p) {
  static const int most[3] = {MOST_COLUMNS, MOST_ROWS, MOST_PLANES};
  static const int few[3] = {FEW_COLUMNS, FEW_ROWS, FEW_PLANES};
  for (int i = 0; i < 3; i++) p->window[i] = p->topology->sizes[i] > most[i] ? few[i] : most[i];
}

static void print_rest(const picture *p) {
  const tsr_topology *topology = p->topology;
  if (p->shown == topology->device_count) return;
  tsr_text_addf(p->out, "and %lld more devices", (long long)(topology->device_count - p->shown));
  const char *between = ", where ";
  for (int i = 0; i < 3; i++) {
    if (topology->sizes[i] <= p->window[i]) continue;
    tsr_text_addf(p->out, "%s%c >= %lld", between, "xyz"[i],
                  (long long)(topology->low[i] + p->window[i]));
    between = " or ";
  }
  tsr_text_add_char(p->out, '\n');
}

void tsr_topology_print(const tsr_topology *topology, tsr_text *out) {
  picture p = {.topology = topology, .out = out};
  choose_window(&p);
  print_summary(topology, out);
  int64_t slice = 0, second = 0;
  next_key(topology, slice_of, 0, INT64_MIN, &slice);
  const bool several = next_key(topology, slice_of, 0, slice, &second);
  for (int i = 0; i < MOST_SLICES; i++) {
    if (several) tsr_text_addf(out, "slice %lld\n", (long long)slice);
    draw_slice(&p, slice);
    if (!next_key(topology, slice_of, 0, slice, &slice)) break;
  }
  print_rest(&p);
  for (int y = 0; y < MOST_LINES; y++) tsr_text_deinit(&p.lines[y]);
}
