// Windows reduced by plain ops. A row of results, along the last dim, takes in one cell of all its
// windows at a time: in channels-last tensors a cell is a row of channels.
#include <string.h>

#include "base/arithmetic.h"
#include "reduce/fold_loops.h"
#include "reduce/window.h"

enum {
  TASK_WORK = 1 << 16,  // elements combined, about
  PIECE = 4096,         // windows of a row that are combined at once
  KEPT_RUNS = 16        // cells of the last dim whose runs are computed once
};

typedef struct fold_run {
  const tsr_window_fold *w;
  const tsr_fold_loops *loops;
  const tsr_kernel_call *call;
  bool pads;                       // an initial value under a cell counts
  int64_t pieces, pieces_of_task;  // of a row; of rows
  tsr_window_dim last;             // the last dim, of the windows of a piece
  tsr_window_run runs[KEPT_RUNS];
} fold_run;

// Combines `count` results, `step` apart, with the initial value.
static void add_initial(const fold_run *r, char *to, int64_t step, int64_t count) {
  r->loops->strided(to, step, r->call->inputs[1], 0, count);
}

// Windows of the row that have no element under a cell.
static void add_padding(const fold_run *r, char *row, const tsr_window_run *run) {
  const int64_t windows = r->last.windows;
  const int64_t bytes = r->w->element_bytes;
  const int64_t end = run->count ? run->to + (run->count - 1) * run->to_step + 1 : 0;
  const int64_t first = run->count ? run->to : 0;
  add_initial(r, row, 1, first);
  for (int64_t at = first; at < end; at++)
    if ((at - first) % run->to_step) add_initial(r, row + at * bytes, 1, 1);
  add_initial(r, row + end * bytes, 1, windows - end);
}

// Takes in one cell of all windows of a piece, of a row of the input (NULL = none) at `from`.
static void fold_cell(const fold_run *r, char *to, const char *from, int64_t cell) {
  const tsr_window_dim *d = &r->last;
  const int64_t bytes = r->w->element_bytes;
  tsr_window_run run = {.to_step = 1, .from_step = 1};
  if (from) run = cell < KEPT_RUNS ? r->runs[cell] : tsr_window_run_of(d, cell);
  if (r->pads) add_padding(r, to, &run);
  if (!run.count) return;
  char *target = to + run.to * bytes;
  from += run.from * bytes;
  if (run.to_step == 1 && run.from_step == 1)
    r->loops->pair(target, target, from, run.count);
  else
    r->loops->strided(target, run.to_step, from, run.from_step, run.count);
}

// The windows of one piece of a row: counted from its first one.
static void open_piece(fold_run *r, int64_t piece) {
  r->last = r->w->window.dims[r->w->window.rank - 1];
  r->last.low -= piece * PIECE * r->last.stride;
  r->last.windows = tsr_least(r->last.windows - piece * PIECE, PIECE);
  for (int64_t cell = 0; cell < tsr_least(r->last.size, KEPT_RUNS); cell++)
    r->runs[cell] = tsr_window_run_of(&r->last, cell);
}

static const char *input_row(const fold_run *r, int64_t row) {
  return row < 0 ? NULL : r->call->inputs[0] + row * r->last.input * r->w->element_bytes;
}

// Extremes do not depend on the order of cells: the rows under a window are combined first, by
// vectors, and the cells along the last dim, which may need steps, are those of one row.
static bool rows_first(const tsr_window_fold *w) {
  const tsr_window_dim *last = &w->window.dims[w->window.rank - 1];
  return (w->op == TSR_TILE_MAXIMUM || w->op == TSR_TILE_MINIMUM) && last->size > 1 &&
         last->windows <= PIECE && tsr_window_cell_count(&w->window) > last->size;
}

int64_t tsr_window_fold_scratch_bytes(const tsr_window_fold *window) {
  const tsr_window_dim *last = &window->window.dims[window->window.rank - 1];
  return rows_first(window) ? last->input * window->element_bytes : 0;
}

static void fold_rows_first(const fold_run *r, int64_t row, char *to, char *joined) {
  const int64_t count = r->last.input;
  bool any = false;
  tsr_window_cells cells;
  tsr_window_cells_start(&cells, &r->w->window, row);
  do {
    const char *from = input_row(r, cells.row);
    if (!from || !count) continue;
    if (any)
      r->loops->pair(joined, joined, from, count);
    else
      memcpy(joined, from, (size_t)(count * r->w->element_bytes));
    any = true;
  } while (tsr_window_cells_next(&cells));
  for (int64_t cell = 0; any && cell < r->last.size; cell++) fold_cell(r, to, joined, cell);
}

static void fold_piece(const fold_run *r, int64_t row, int64_t piece, char *scratch) {
  const tsr_window_shape *window = &r->w->window;
  const int bytes = r->w->element_bytes;
  const int64_t first = row * window->dims[window->rank - 1].windows + piece * PIECE;
  char *to = r->call->outputs[0] + first * bytes;
  tsr_window_cells cells;
  tsr_elements_fill(to, r->call->inputs[1], bytes, r->last.windows);
  if (rows_first(r->w) && !r->pads) {
    fold_rows_first(r, row, to, scratch);
    return;
  }
  tsr_window_cells_start(&cells, window, row);
  do {
    if (cells.row < 0 && !r->pads) continue;
    const char *from = input_row(r, cells.row);
    for (int64_t cell = 0; cell < r->last.size; cell++) fold_cell(r, to, from, cell);
  } while (tsr_window_cells_next(&cells));
}

static tsr_status fold_some(void *context, int64_t task, int worker) {
  fold_run r = *(const fold_run *)context;
  const int64_t all = tsr_window_row_count(&r.w->window) * r.pieces;
  const int64_t end = tsr_least((task + 1) * r.pieces_of_task, all);
  for (int64_t i = task * r.pieces_of_task; i < end; i++) {
    if (r.pieces > 1) open_piece(&r, i % r.pieces);
    fold_piece(&r, i / r.pieces, i % r.pieces, tsr_kernel_scratch(r.call, worker));
  }
  return NULL;
}

// Combining the initial value with itself: if that changes nothing, neither does padding.
static bool padding_counts(const fold_run *r) {
  uint64_t one[2] = {0, 0};
  const size_t bytes = (size_t)r->w->element_bytes;
  memcpy(one, r->call->inputs[1], bytes);
  r->loops->pair(one, one, r->call->inputs[1], 1);
  return memcmp(one, r->call->inputs[1], bytes) != 0;
}

tsr_status tsr_window_fold_run(const void *description, const tsr_kernel_call *call) {
  const tsr_window_fold *w = description;
  const int64_t rows = tsr_window_row_count(&w->window);
  const tsr_window_dim *d = &w->window.dims[w->window.rank - 1];
  fold_run r = {.w = w, .loops = tsr_fold_loops_of(w->dtype, w->op), .call = call};
  if (!rows || !d->windows) return NULL;
  r.pieces = (d->windows + PIECE - 1) / PIECE;
  const int64_t work =
      tsr_saturated_multiply(tsr_least(d->windows, PIECE), tsr_window_cell_count(&w->window));
  r.pads = padding_counts(&r);
  open_piece(&r, 0);
  r.pieces_of_task = work < TASK_WORK ? TASK_WORK / work : 1;
  const int64_t tasks = (rows * r.pieces + r.pieces_of_task - 1) / r.pieces_of_task;
  return tsr_pool_run(tasks > 1 ? call->pool : NULL, tasks, fold_some, &r);
}
