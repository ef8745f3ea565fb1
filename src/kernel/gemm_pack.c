// Panels: the rows of a side as lines that kernels read side by side, step by step of the depth.
//
// A panel is packed from pieces of lines that have one stride. Elements of other types, and lines
// of a window that reach over its edge, are first made in scratch memory.
#include <string.h>

#include "base/arithmetic.h"
#include "kernel/gemm.h"

// ---- walks ----

void tsr_gemm_walk_init(tsr_gemm_walk *walk) {
  walk->count = 1;
  walk->rank = 0;
}

void tsr_gemm_walk_add(tsr_gemm_walk *walk, int64_t size, int64_t stride) {
  walk->count *= size;
  if (size == 1) return;
  const int last = walk->rank - 1;
  if (last >= 0 && walk->strides[last] == size * stride) {
    walk->sizes[last] *= size;
    walk->strides[last] = stride;
    return;
  }
  walk->sizes[walk->rank] = size;
  walk->strides[walk->rank++] = stride;
}

int64_t tsr_gemm_walk_place(const tsr_gemm_walk *walk, int64_t index) {
  int64_t place = 0;
  for (int i = walk->rank - 1; i > 0; i--) {
    place += index % walk->sizes[i] * walk->strides[i];
    index /= walk->sizes[i];
  }
  return walk->rank ? place + index * walk->strides[0] : 0;
}

// ---- the lines of a panel ----

typedef struct line_panel {
  const tsr_gemm_packing *packing;
  int64_t element_bytes;
  int used;  // lines
  // Of each line: its first element, in a window that of its batch; and where the window begins.
  int64_t places[TSR_GEMM_MOST_COLUMNS];
  int64_t corners[TSR_GEMM_MOST_COLUMNS][TSR_MAX_RANK];
} line_panel;

// A piece of the lines: `count` steps, `stride` apart.
typedef struct packed_piece {
  const void *lines[TSR_GEMM_MOST_COLUMNS];
  int64_t count, stride;
} packed_piece;

static void place_in_window(line_panel *panel, int line, int64_t row) {
  const tsr_gemm_window *window = panel->packing->side->window;
  int64_t batch = 0;
  if (window->batch_inside) {
    batch = row % window->batch;
    row /= window->batch;
  }
  for (int d = window->rank - 1; d >= 0; d--) {
    const tsr_conv_dim *dim = &window->dims[d];
    panel->corners[line][d] = row % dim->output * dim->step - dim->pad_low;
    row /= dim->output;
  }
  panel->places[line] = (window->batch_inside ? batch : row) * window->batch_stride;
}

static void place_lines(line_panel *panel, int64_t first) {
  const tsr_gemm_side *side = panel->packing->side;
  for (int i = 0; i < panel->used; i++)
    if (side->window)
      place_in_window(panel, i, first + i);
    else
      panel->places[i] = tsr_gemm_walk_place(&side->rows, first + i);
}

static const char *address(const line_panel *panel, int64_t place) {
  return panel->packing->memory + place * panel->element_bytes;
}

// The lines from step `at`, at most `most` steps of them.
static void walk_lines(const line_panel *panel, int64_t at, int64_t most, packed_piece *out) {
  const tsr_gemm_walk *depth = &panel->packing->side->depth;
  const int last = depth->rank - 1;
  out->count =
      depth->rank > 1 ? tsr_least(most, depth->sizes[last] - at % depth->sizes[last]) : most;
  out->stride = depth->rank ? depth->strides[last] : 1;
  const int64_t place = tsr_gemm_walk_place(depth, at);
  for (int i = 0; i < panel->used; i++) out->lines[i] = address(panel, panel->places[i] + place);
}

// Splits the number of a place in the window into its coordinates along dims 0 to before `rank`.
static void split_place(const tsr_gemm_window *window, int rank, int64_t index, int64_t *out_at) {
  for (int d = rank - 1; d >= 0; d--) {
    out_at[d] = index % window->dims[d].kernel;
    index /= window->dims[d].kernel;
  }
}

// Adds the places of the coordinates `at` of dims 0 to before `rank`; false if one is outside.
static bool enter_all(const line_panel *panel, int line, int rank, const int64_t *at,
                      int64_t *place) {
  const tsr_gemm_window *window = panel->packing->side->window;
  for (int d = 0; d < rank; d++)
    if (!tsr_conv_enter(&window->dims[d], panel->corners[line][d], at[d], place)) return false;
  return true;
}

// One place in the window: its channels.
static void window_lines(const line_panel *panel, int64_t first, int64_t most, packed_piece *out) {
  const tsr_gemm_window *window = panel->packing->side->window;
  const int64_t channel = first % window->channels;
  int64_t at[TSR_MAX_RANK];
  split_place(window, window->rank, first / window->channels, at);
  out->count = tsr_least(most, window->channels - channel);
  out->stride = window->channel_stride;
  for (int i = 0; i < panel->used; i++) {
    int64_t place = panel->places[i] + channel * window->channel_stride;
    const bool inside = enter_all(panel, i, window->rank, at, &place);
    out->lines[i] = inside ? address(panel, place) : NULL;
  }
}

// The part of a line over the edge of the input: elements before `begin` and from `end` are 0.
static const void *cut_line(const line_panel *panel, int line, int64_t place, int64_t count,
                            int64_t begin, int64_t end) {
  const tsr_gemm_packing *packing = panel->packing;
  const int64_t size = packing->gemm->kernels->element_bytes * packing->gemm->parts;
  char *out = packing->lines + line * packing->gemm->line_bytes;
  memset(out, 0, (size_t)(count * size));
  if (begin < end)
    tsr_gemm_load(packing->gemm->type, packing->side->dtype, address(panel, place + begin), 1,
                  end - begin, out + begin * size);
  return out;
}

// All places along the last dim, with their channels, as one line.
static void joined_lines(const line_panel *panel, int64_t from, int64_t most, bool native,
                         packed_piece *out) {
  const tsr_gemm_window *window = panel->packing->side->window;
  const int last = window->rank - 1;
  const tsr_conv_dim *dim = &window->dims[last];
  const int64_t length = dim->kernel * window->channels, first = from % length;
  int64_t at[TSR_MAX_RANK];
  split_place(window, last, from / length, at);
  out->count = tsr_least(most, length - first);
  out->stride = 1;
  for (int i = 0; i < panel->used; i++) {
    int64_t place = panel->places[i];
    if (!enter_all(panel, i, last, at, &place)) {
      out->lines[i] = NULL;
      continue;
    }
    // The line begins at the corner; the input is elements 0 to before input * channels.
    const int64_t corner = panel->corners[i][last] * window->channels;
    const int64_t begin = corner + first < 0 ? -corner - first : 0;
    const int64_t end = tsr_least(out->count, dim->input * window->channels - corner - first);
    place += corner + first;
    if (native && begin <= 0 && end == out->count)
      out->lines[i] = address(panel, place);
    else
      out->lines[i] = begin < end ? cut_line(panel, i, place, out->count, begin, end) : NULL;
  }
}

// ---- packing ----

// Lines as numbers of the type of the kernels, made in scratch memory. Complex numbers of the left
// side are twice as many steps.
static void load_lines(const line_panel *panel, packed_piece *piece) {
  const tsr_gemm_packing *packing = panel->packing;
  const tsr_gemm *gemm = packing->gemm;
  for (int i = 0; i < panel->used; i++) {
    char *line = packing->lines + i * gemm->line_bytes;
    if (piece->lines[i])
      tsr_gemm_load(gemm->type, packing->side->dtype, piece->lines[i], piece->stride, piece->count,
                    line);
    else
      memset(line, 0, (size_t)(piece->count * gemm->parts * gemm->kernels->element_bytes));
    piece->lines[i] = line;
  }
  piece->stride = 1;
}

// Whether the lines lie side by side in memory, so that each step is a run.
static bool side_by_side(const line_panel *panel, const packed_piece *piece) {
  if (!piece->lines[0] || panel->packing->gemm->parts > 1) return false;
  for (int i = 1; i < panel->used; i++)
    if ((const char *)piece->lines[i] != (const char *)piece->lines[0] + i * panel->element_bytes)
      return false;
  return true;
}

static void load_steps(const line_panel *panel, const packed_piece *piece, char *out) {
  const tsr_gemm_packing *packing = panel->packing;
  const int64_t size = packing->gemm->kernels->element_bytes;
  for (int64_t step = 0; step < piece->count; step++) {
    const char *in = (const char *)piece->lines[0] + step * piece->stride * panel->element_bytes;
    tsr_gemm_load(packing->gemm->type, packing->side->dtype, in, 1, panel->used, out);
    memset(out + panel->used * size, 0, (size_t)((packing->width - panel->used) * size));
    out += packing->width * size;
  }
}

static void pack_piece(const line_panel *panel, packed_piece *piece, bool native, char *out) {
  const tsr_gemm_packing *packing = panel->packing;
  const bool right = packing->side == &packing->gemm->right;
  const int parts = packing->gemm->parts;
  if (!native && !packing->side->window && side_by_side(panel, piece)) {
    load_steps(panel, piece, out);
    return;
  }
  const bool strided_pairs = parts > 1 && !right && piece->stride != 1;
  if (!native || strided_pairs) load_lines(panel, piece);
  for (int i = 0; piece->stride == 1 && i < panel->used; i++)
    if (!piece->lines[i]) piece->lines[i] = packing->zeros;
  const int64_t count = right ? piece->count : piece->count * parts;
  packing->pack(piece->lines, panel->used, right ? piece->stride * parts : piece->stride, count,
                out);
}

void tsr_gemm_pack(const tsr_gemm_packing *packing, int64_t first, int64_t end, int64_t depth_first,
                   int64_t depth_end, char *out) {
  const tsr_gemm *gemm = packing->gemm;
  const tsr_gemm_window *window = packing->side->window;
  const bool native = tsr_gemm_native(gemm->type, packing->side->dtype);
  const bool right = packing->side == &gemm->right;
  line_panel panel = {.packing = packing,
                      .element_bytes = tsr_gemm_element_bytes(packing->side->dtype)};
  const int64_t columns = right ? gemm->kernels->columns : TSR_GEMM_ROWS;
  const int64_t step_bytes = columns * gemm->parts * gemm->kernels->element_bytes;
  for (int64_t row = first; row < end; row += packing->width) {
    panel.used = (int)tsr_least(packing->width, end - row);
    place_lines(&panel, row);
    packed_piece piece;
    for (int64_t at = depth_first; at < depth_end; at += piece.count) {
      if (!window)
        walk_lines(&panel, at, depth_end - at, &piece);
      else if (window->joined)
        joined_lines(&panel, at, depth_end - at, native, &piece);
      else
        window_lines(&panel, at, depth_end - at, &piece);
      // Joined lines of other types have been loaded.
      pack_piece(&panel, &piece, native || (window && window->joined), out);
      out += piece.count * step_bytes;
    }
  }
}
