// Figures from layouts and meshes. A dimension's spans are the segments at which any shard begins
// or ends, so that cyclic, fused and uneven cuts are drawn as they are.
#include "draw/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/grow.h"
#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"

void tsr_figure_deinit(tsr_figure *figure) {
  free(figure->rows.spans);
  free(figure->columns.spans);
  free(figure->panel_titles);
  free(figure->cells);
  *figure = (struct tsr_figure){0};
}

tsr_figure_cell *tsr_figure_at(const tsr_figure *figure, int panel, int row, int column) {
  const size_t rows = (size_t)figure->rows.count, columns = (size_t)figure->columns.count;
  return &figure->cells[((size_t)panel * rows + (size_t)row) * columns + (size_t)column];
}

static int longer(int width, const char *label) {
  const int length = (int)strlen(label);
  return length > width ? length : width;
}

int tsr_figure_axis_width(const tsr_figure_axis *axis) {
  int width = 0;
  for (int i = 0; i < axis->count && *axis->name; i++) width = longer(width, axis->spans[i].label);
  return width;
}

int tsr_figure_cell_width(const tsr_figure *figure) {
  const int cells = figure->panel_count * figure->rows.count * figure->columns.count;
  int width = 0;
  for (int i = 0; i < cells; i++) width = longer(width, figure->cells[i].label);
  return width;
}

// Names may hold control characters, and truncation may leave half a character at the end.
static void make_plain(char *text) { tsr_make_plain_line(text, strlen(text)); }

// Ascending ids as text: "0-3,8" for 0 1 2 3 8; truncated with "..." at `size`.
static void list_ids(const int64_t *ids, int64_t count, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int64_t i = 0; i < count;) {
    int64_t end = i;
    while (end + 1 < count && ids[end + 1] == ids[end] + 1) end++;
    char item[40];
    int length = snprintf(item, sizeof item, "%s%lld", used ? "," : "", (long long)ids[i]);
    if (end > i)
      length += snprintf(item + length, sizeof item - (size_t)length, "%s%lld",
                         end == i + 1 ? "," : "-", (long long)ids[end]);
    // Keep space for the dots.
    if (used + (size_t)length + 4 > size) {
      snprintf(out + used, size - used, "...");
      return;
    }
    memcpy(out + used, item, (size_t)length + 1);
    used += (size_t)length;
    i = end + 1;
  }
}

// ---- one dimension of a layout ----

// A segment of a dimension and the shard of that dimension that holds it.
typedef struct segment {
  int64_t lo, hi;
  int64_t holder;
} segment;

typedef struct dim_segments {
  segment *items;  // sorted by lo, then holder; holders of one stretch are adjacent
  int count;
  int64_t capacity;
  bool complete;  // false: segments after the last were left out
} dim_segments;

// Segments of one dimension that a picture considers.
enum { MOST_SEGMENTS = 4096 };

static tsr_status add_segment(dim_segments *list, segment item) {
  segment *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "figure");
  list->items = items;
  list->items[list->count++] = item;
  return NULL;
}

static tsr_status add_runs(dim_segments *list, const tsr_run *runs, int64_t run_count,
                           int64_t holder) {
  for (int64_t r = 0; r < run_count; r++)
    for (int64_t b = 0; b < runs[r].count && runs[r].length; b++) {
      if (list->count >= MOST_SEGMENTS) {
        list->complete = false;
        return NULL;
      }
      const int64_t lo = runs[r].global + b * runs[r].step;
      TSR_TRY(add_segment(list, (segment){lo, lo + runs[r].length, holder}));
    }
  return NULL;
}

static int compare_segments(const void *a, const void *b) {
  const segment *x = a, *y = b;
  if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
  return x->holder < y->holder ? -1 : x->holder > y->holder;
}

static tsr_status collect_segments(const tsr_layout *layout, int dim, dim_segments *out) {
  const int64_t shards = tsr_layout_dim_shards(layout, dim);
  *out = (dim_segments){.complete = true};
  for (int64_t i = 0; i < shards && out->complete; i++) {
    tsr_run *runs = NULL;
    int64_t run_count = 0;
    tsr_status status = tsr_layout_runs(layout, dim, i, &runs, &run_count);
    if (!status) status = add_runs(out, runs, run_count, i);
    free(runs);
    if (status) {
      free(out->items);
      return status;
    }
  }
  if (out->items) qsort(out->items, (size_t)out->count, sizeof *out->items, compare_segments);
  return NULL;
}

// Index of the first segment of the stretch after the one that starts at `first`.
static int next_stretch(const dim_segments *list, int first) {
  int next = first + 1;
  while (next < list->count && list->items[next].lo == list->items[first].lo) next++;
  return next;
}

// For each span of an axis, the first segment of its stretch (-1 = a gap).
typedef struct axis_plan {
  int dim;  // -1 = no dimension (rank 0 or 1)
  dim_segments segments;
  int *first;
} axis_plan;

// Chooses the stretches to draw: all, or the first ones, a gap and the last.
static tsr_status plan_axis(axis_plan *plan, int most, tsr_figure_axis *axis) {
  int stretches = 0;
  for (int i = 0; i < plan->segments.count; i = next_stretch(&plan->segments, i)) stretches++;
  const bool whole = stretches <= most && plan->segments.complete;
  const int shown = whole ? stretches : (stretches < most - 2 ? stretches : most - 2);
  const int spans = whole ? stretches : shown + (plan->segments.complete ? 2 : 1);
  axis->spans = calloc((size_t)(spans ? spans : 1), sizeof *axis->spans);
  plan->first = calloc((size_t)(spans ? spans : 1), sizeof *plan->first);
  if (!axis->spans || !plan->first) return tsr_fail(NO_MEMORY, "figure");
  axis->count = spans;
  int index = 0;
  for (int i = 0; i < plan->segments.count; i = next_stretch(&plan->segments, i), index++) {
    const bool last = plan->segments.complete && index == stretches - 1;
    if (!whole && index >= shown && !last) continue;
    const int slot = !whole && last ? spans - 1 : index;
    plan->first[slot] = i;
    axis->spans[slot] =
        (tsr_figure_span){.lo = plan->segments.items[i].lo, .hi = plan->segments.items[i].hi};
  }
  if (!whole) {
    axis->spans[shown].gap = true;
    plan->first[shown] = -1;
  }
  return NULL;
}

// ---- layouts ----

typedef struct layout_figure {
  const tsr_layout *layout;
  int rank;
  axis_plan rows, columns;
  int other_count;  // other dimensions that are cut, shown as panels
  int others[TSR_MAX_RANK];
  dim_segments other_segments[TSR_MAX_RANK];
  int64_t *ids;  // devices of the current cell
  int64_t id_room;
} layout_figure;

static void layout_figure_deinit(layout_figure *f) {
  free(f->rows.segments.items);
  free(f->rows.first);
  free(f->columns.segments.items);
  free(f->columns.first);
  for (int i = 0; i < f->other_count; i++) free(f->other_segments[i].items);
  free(f->ids);
}

static int64_t shard_number(const layout_figure *f, const int64_t *digits) {
  int64_t shard = 0;
  for (int d = 0; d < f->rank; d++) shard = shard * tsr_layout_dim_shards(f->layout, d) + digits[d];
  return shard;
}

static tsr_status add_devices(layout_figure *f, int64_t shard, int64_t *count) {
  for (int64_t i = 0; i < tsr_layout_replica_count(f->layout); i++) {
    int64_t *ids = tsr_grow(f->ids, *count, &f->id_room, sizeof *ids);
    if (!ids) return tsr_fail(NO_MEMORY, "figure");
    f->ids = ids;
    f->ids[(*count)++] =
        tsr_layout_device_at(f->layout, tsr_layout_replica_at(f->layout, shard, i));
  }
  return NULL;
}

// Fills a cell from one row stretch and one column stretch. `digits` has the panel's coordinates.
static tsr_status fill_cell(layout_figure *f, int row_first, int column_first, int64_t *digits,
                            tsr_figure_cell *cell) {
  const dim_segments *rows = &f->rows.segments, *columns = &f->columns.segments;
  const int row_end = f->rows.dim < 0 ? row_first + 1 : next_stretch(rows, row_first);
  const int column_end =
      f->columns.dim < 0 ? column_first + 1 : next_stretch(columns, column_first);
  int64_t count = 0;
  for (int r = row_first; r < row_end; r++)
    for (int c = column_first; c < column_end; c++) {
      if (f->rows.dim >= 0) digits[f->rows.dim] = rows->items[r].holder;
      if (f->columns.dim >= 0) digits[f->columns.dim] = columns->items[c].holder;
      const int64_t shard = shard_number(f, digits);
      if (!cell->color_count) cell->shard = shard;
      if (cell->color_count < 4) cell->colors[cell->color_count++] = shard % 4096;
      TSR_TRY(add_devices(f, shard, &count));
    }
  qsort(f->ids, (size_t)count, sizeof *f->ids, tsr_compare_int64);
  list_ids(f->ids, count, cell->label, sizeof cell->label);
  snprintf(cell->hint, sizeof cell->hint, "shard %lld, %lld device%s", (long long)cell->shard,
           (long long)count, count == 1 ? "" : "s");
  return NULL;
}

// The first of the dimensions with most shards, without `taken`; -1 if there is none.
static int most_cut(const tsr_layout *layout, int taken) {
  const int rank = tsr_layout_rank(layout);
  int best = -1;
  for (int d = 0; d < rank; d++)
    if (d != taken &&
        (best < 0 || tsr_layout_dim_shards(layout, d) > tsr_layout_dim_shards(layout, best)))
      best = d;
  return best;
}

static void name_axis(const tsr_layout *layout, int dim, tsr_figure_axis *axis) {
  if (dim < 0) return;
  tsr_text cut = TSR_TEXT_EMPTY;
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  const tsr_sharding_dim *bound = sharding ? tsr_sharding_dim_at(sharding, dim) : NULL;
  for (int s = 0; bound && s < bound->stage_count; s++)
    for (int a = 0; a < bound->stages[s].axis_count; a++)
      tsr_text_addf(&cut, "%s%s", a ? "+" : (s ? ";" : ""),
                    tsr_mesh_axis_at(tsr_layout_mesh(layout), bound->stages[s].axes[a].axis)->name);
  snprintf(axis->name, sizeof axis->name, "dim %d%s%.60s", dim, cut.length ? ": " : "",
           tsr_text_string(&cut));
  make_plain(axis->name);
  tsr_text_deinit(&cut);
}

// The fused part that index `lo` of a dimension belongs to; NULL without a parts(...) cut.
static const char *part_name(const tsr_layout *layout, int dim, int64_t lo) {
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  const tsr_sharding_dim *bound = sharding ? tsr_sharding_dim_at(sharding, dim) : NULL;
  if (!bound || !bound->stage_count || bound->stages[0].kind != TSR_STAGE_PARTS) return NULL;
  const tsr_stage *cut = bound->stages[0].cut;
  for (int p = 0; p < cut->count; p++) {
    if (lo < cut->parts[p].size) return cut->parts[p].name;
    lo -= cut->parts[p].size;
  }
  return NULL;
}

static tsr_status choose_dims(layout_figure *f, int row_dim, int column_dim) {
  const int rank = f->rank;
  if (row_dim >= rank || column_dim >= rank || (row_dim >= 0 && row_dim == column_dim))
    return tsr_fail(BAD_ARGUMENT, "dimensions %d and %d of a tensor of rank %d cannot be drawn",
                    row_dim, column_dim, rank);
  if (row_dim < 0 && column_dim < 0 && rank) {
    const int first = most_cut(f->layout, -1), second = most_cut(f->layout, first);
    row_dim = second < 0 ? -1 : (first < second ? first : second);
    column_dim = second < 0 ? first : (first < second ? second : first);
  } else if (row_dim < 0) {
    row_dim = most_cut(f->layout, column_dim);
  } else if (column_dim < 0) {
    column_dim = most_cut(f->layout, row_dim);
  }
  f->rows.dim = row_dim;
  f->columns.dim = column_dim;
  return NULL;
}

static void label_span(const tsr_layout *layout, int dim, tsr_figure_span *span) {
  const char *part = dim < 0 || span->gap ? NULL : part_name(layout, dim, span->lo);
  const long long lo = span->lo, hi = span->hi;
  const int length = snprintf(span->label, sizeof span->label, "%.16s%s", part ? part : "",
                              part && *part ? " " : "");
  const size_t left = sizeof span->label - (size_t)length;
  snprintf(span->label + length, left,
           span->gap      ? "..."
           : hi == lo + 1 ? "%lld"
                          : "%lld:%lld",
           lo, hi);
  make_plain(span->label);
}

// An axis without a dimension (rank 0 or 1) is one stretch without numbers.
static tsr_status prepare_axis(layout_figure *f, axis_plan *plan, int most, tsr_figure_axis *axis) {
  if (plan->dim < 0) {
    plan->segments.complete = true;
    TSR_TRY(add_segment(&plan->segments, (segment){0, 1, 0}));
  } else {
    TSR_TRY(collect_segments(f->layout, plan->dim, &plan->segments));
  }
  name_axis(f->layout, plan->dim, axis);
  TSR_TRY(plan_axis(plan, most, axis));
  for (int i = 0; i < axis->count; i++) label_span(f->layout, plan->dim, &axis->spans[i]);
  return NULL;
}

static tsr_status prepare_panels(layout_figure *f, int most, tsr_figure *out) {
  int64_t panels = 1;
  for (int d = 0; d < f->rank; d++) {
    if (d == f->rows.dim || d == f->columns.dim || tsr_layout_dim_shards(f->layout, d) == 1)
      continue;
    const int i = f->other_count++;
    f->others[i] = d;
    TSR_TRY(collect_segments(f->layout, d, &f->other_segments[i]));
    if (panels < INT32_MAX) panels *= f->other_segments[i].count ? f->other_segments[i].count : 1;
  }
  out->panel_count = (int)(panels < most ? panels : most);
  out->hidden_panels = (int)(panels < INT32_MAX ? panels : INT32_MAX) - out->panel_count;
  out->panel_titles = calloc((size_t)out->panel_count, sizeof *out->panel_titles);
  const size_t cells =
      (size_t)out->panel_count * (size_t)out->rows.count * (size_t)out->columns.count;
  out->cells = calloc(cells ? cells : 1, sizeof *out->cells);
  return out->panel_titles && out->cells ? NULL : tsr_fail(NO_MEMORY, "figure");
}

// Sets the digits of panel `panel` and writes its title.
static void begin_panel(const layout_figure *f, int panel, int64_t *digits, char *title,
                        size_t size) {
  size_t used = 0;
  int rest = panel;
  for (int i = f->other_count - 1; i >= 0; i--) {
    const dim_segments *list = &f->other_segments[i];
    if (!list->count) continue;
    const segment *item = &list->items[rest % list->count];
    rest /= list->count;
    digits[f->others[i]] = item->holder;
    const int n = snprintf(title + used, size - used, "%sdim %d [%lld:%lld]", used ? ", " : "",
                           f->others[i], (long long)item->lo, (long long)item->hi);
    used = used + (size_t)n < size ? used + (size_t)n : size - 1;
  }
}

static tsr_status fill_cells(layout_figure *f, tsr_figure *out) {
  for (int p = 0; p < out->panel_count; p++) {
    int64_t digits[TSR_MAX_RANK] = {0};
    begin_panel(f, p, digits, out->panel_titles[p], sizeof *out->panel_titles);
    for (int r = 0; r < out->rows.count; r++)
      for (int c = 0; c < out->columns.count; c++) {
        tsr_figure_cell *cell = tsr_figure_at(out, p, r, c);
        if (f->rows.first[r] < 0 || f->columns.first[c] < 0) continue;
        TSR_TRY(fill_cell(f, f->rows.first[r], f->columns.first[c], digits, cell));
      }
  }
  return NULL;
}

static void title_layout(const tsr_layout *layout, tsr_figure *out) {
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_shape_print(&shape, &text);
  if (tsr_layout_sharding(layout)) {
    tsr_text_add(&text, "  as  ");
    tsr_status status =
        tsr_spec_print(tsr_sharding_spec(tsr_layout_sharding(layout)), TSR_FORM_SHORT, &text);
    tsr_status_free(status);
  }
  snprintf(out->title, sizeof out->title, "%s", tsr_text_string(&text));
  make_plain(out->title);
  tsr_text_clear(&text);
  if (tsr_layout_mesh(layout)) {
    tsr_text_add(&text, "mesh ");
    tsr_mesh_print(tsr_layout_mesh(layout), &text);
  }
  const int64_t shards = tsr_layout_shard_count(layout);
  const int64_t replicas = tsr_layout_replica_count(layout);
  tsr_text_addf(&text, ": %lld shard%s", (long long)shards, shards == 1 ? "" : "s");
  if (replicas > 1) tsr_text_addf(&text, ", each on %lld devices", (long long)replicas);
  tsr_text_add(&text, "; cells show device ids");
  snprintf(out->subtitle, sizeof out->subtitle, "%s", tsr_text_string(&text));
  make_plain(out->subtitle);
  tsr_text_deinit(&text);
}

tsr_status tsr_figure_from_layout(const tsr_layout *layout, int row_dim, int column_dim,
                                  tsr_figure_limits limits, tsr_figure *out_figure) {
  layout_figure f = {.layout = layout, .rank = tsr_layout_rank(layout)};
  tsr_figure out = {0};
  title_layout(layout, &out);
  tsr_status status = choose_dims(&f, row_dim, column_dim);
  if (!status) status = prepare_axis(&f, &f.rows, limits.rows, &out.rows);
  if (!status) status = prepare_axis(&f, &f.columns, limits.columns, &out.columns);
  if (!status) status = prepare_panels(&f, limits.panels, &out);
  if (!status) status = fill_cells(&f, &out);
  const int64_t shards = tsr_layout_shard_count(layout);
  out.color_count = shards < 4096 ? shards : 4096;
  layout_figure_deinit(&f);
  if (status)
    tsr_figure_deinit(&out);
  else
    *out_figure = out;
  return status;
}

// ---- meshes ----

// A mesh is drawn as a tensor with one element per device, each dimension cut by its own axis.
static tsr_status layout_of_mesh(const tsr_mesh *mesh, tsr_layout **out_layout) {
  const int rank = tsr_mesh_axis_count(mesh);
  tsr_shape shape = {.rank = rank};
  tsr_axis_ref axes[TSR_MAX_AXES];
  tsr_stage stages[TSR_MAX_AXES];
  tsr_spec_dim dims[TSR_MAX_AXES];
  for (int d = 0; d < rank; d++) {
    shape.dims[d] = tsr_mesh_axis_at(mesh, d)->size;
    axes[d] = (tsr_axis_ref){.name = tsr_mesh_axis_at(mesh, d)->name, .pre = 1};
    stages[d] = (tsr_stage){.kind = TSR_STAGE_EVEN, .axis_count = 1, .axes = &axes[d]};
    dims[d] = (tsr_spec_dim){.stage_count = 1, .stages = &stages[d]};
  }
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_spec_create(
      &(tsr_spec_desc){.size = sizeof(tsr_spec_desc), .dim_count = rank, .dims = dims}, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

static void name_mesh_axis(const tsr_mesh *mesh, int axis, tsr_figure_axis *out) {
  if (axis < 0) return;
  snprintf(out->name, sizeof out->name, "%.90s", tsr_mesh_axis_at(mesh, axis)->name);
  make_plain(out->name);
}

// Panels are titled with their coordinates; each process has a colour.
static void label_mesh(const tsr_mesh *mesh, tsr_figure *out) {
  const int rank = tsr_mesh_axis_count(mesh);
  const int64_t processes = tsr_mesh_process_count(mesh);
  for (int p = 0; p < out->panel_count && rank > 2; p++) {
    size_t used = 0;
    char *title = out->panel_titles[p];
    int64_t rest = p;
    int64_t coords[TSR_MAX_AXES] = {0};
    for (int d = rank - 3; d >= 0; d--) {
      coords[d] = rest % tsr_mesh_axis_at(mesh, d)->size;
      rest /= tsr_mesh_axis_at(mesh, d)->size;
    }
    title[0] = '\0';
    for (int d = 0; d < rank - 2; d++) {
      const int n = snprintf(title + used, 96 - used, "%s%.24s=%lld", used ? ", " : "",
                             tsr_mesh_axis_at(mesh, d)->name, (long long)coords[d]);
      used = used + (size_t)n < 95 ? used + (size_t)n : 95;
    }
    make_plain(title);
  }
  const size_t cells =
      (size_t)out->panel_count * (size_t)out->rows.count * (size_t)out->columns.count;
  for (size_t i = 0; i < cells; i++) {
    tsr_figure_cell *cell = &out->cells[i];
    if (!cell->color_count) continue;
    const int64_t process = tsr_mesh_process(mesh, cell->shard);  // a shard is a device here
    cell->colors[0] = processes > 1 ? process : 0;
    snprintf(cell->hint, sizeof cell->hint, "device %s, process %lld", cell->label,
             (long long)process);
  }
  out->color_count = processes > 1 ? processes : 1;
}

tsr_status tsr_figure_from_mesh(const tsr_mesh *mesh, tsr_figure_limits limits,
                                tsr_figure *out_figure) {
  tsr_layout *layout = NULL;
  TSR_TRY(layout_of_mesh(mesh, &layout));
  const int rank = tsr_mesh_axis_count(mesh);
  const int rows = rank > 1 ? rank - 2 : -1, columns = rank > 0 ? rank - 1 : -1;
  tsr_figure out = {0};
  tsr_status status = tsr_figure_from_layout(layout, rows, columns, limits, &out);
  tsr_layout_release(layout);
  TSR_TRY(status);
  name_mesh_axis(mesh, rows, &out.rows);
  name_mesh_axis(mesh, columns, &out.columns);
  label_mesh(mesh, &out);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_mesh_print(mesh, &text);
  snprintf(out.title, sizeof out.title, "mesh %.200s", tsr_text_string(&text));
  make_plain(out.title);
  snprintf(out.subtitle, sizeof out.subtitle, "%lld devices, %lld process%s",
           (long long)tsr_mesh_device_count(mesh), (long long)tsr_mesh_process_count(mesh),
           tsr_mesh_process_count(mesh) == 1 ? "" : "es");
  tsr_text_deinit(&text);
  *out_figure = out;
  return NULL;
}
