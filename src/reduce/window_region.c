// Windows reduced by any body: a vector of windows along the last dim takes in one cell at a time.
#include <string.h>

#include "base/arithmetic.h"
#include "reduce/window.h"

typedef struct window_run {
  const tsr_window_region *w;
  const tsr_kernel_call *call;
  int64_t pieces;  // of a row of results
} window_run;

int64_t tsr_window_region_scratch_bytes(const tsr_window_region *window) {
  return tsr_region_space_bytes(&window->region);
}

void tsr_window_region_destroy(void *description) {
  const tsr_window_region *window = description;
  tsr_tile_destroy(window->region.program);
}

// The part of a run that lies in windows first .. first + count - 1, counted from `first`.
static tsr_window_run cut_run(tsr_window_run run, int64_t first, int64_t count) {
  const int64_t skipped = run.to < first ? (first - run.to + run.to_step - 1) / run.to_step : 0;
  run.count -= tsr_least(skipped, run.count);
  run.to += skipped * run.to_step - first;
  run.from += skipped * run.from_step;
  const int64_t most = run.to < count ? (count - run.to + run.to_step - 1) / run.to_step : 0;
  run.count = tsr_least(run.count, most);
  return run;
}

// Elements under one cell of `count` windows; initial values where there are none.
static void take_cell(const window_run *r, tsr_region_space *space, int64_t input_row,
                      const tsr_window_run *run, int64_t count) {
  const tsr_region_call *region = &r->w->region;
  const tsr_window_dim *d = &r->w->window.dims[r->w->window.rank - 1];
  for (int k = 0; k < region->count; k++) {
    const int bytes = region->element_bytes[k];
    if (run->count < count)
      tsr_elements_fill(space->buffers[k], r->call->inputs[region->count + k], bytes, count);
    if (run->count > 0)
      tsr_elements_copy(space->buffers[k] + run->to * bytes, run->to_step,
                        r->call->inputs[k] + (input_row * d->input + run->from) * bytes,
                        run->from_step, bytes, run->count);
  }
}

static tsr_status window_piece(void *context, int64_t task, int worker) {
  const window_run *r = context;
  const tsr_region_call *region = &r->w->region;
  const tsr_window_shape *window = &r->w->window;
  const tsr_window_dim *d = &window->dims[window->rank - 1];
  const int64_t row = task / r->pieces, first = task % r->pieces * region->most;
  const int64_t count = tsr_least(d->windows - first, region->most);
  tsr_region_space space;
  tsr_window_cells cells;
  tsr_region_space_init(region, tsr_kernel_scratch(r->call, worker),
                        r->call->inputs + 2 * region->count, &space);
  for (int k = 0; k < region->count; k++)
    tsr_elements_fill(space.accumulators[k], r->call->inputs[region->count + k],
                      region->element_bytes[k], count);
  tsr_window_cells_start(&cells, window, row);
  do {
    for (int64_t cell = 0; cell < d->size; cell++) {
      tsr_window_run run = {.to_step = 1, .from_step = 1};
      if (cells.row >= 0) run = cut_run(tsr_window_run_of(d, cell), first, count);
      take_cell(r, &space, cells.row, &run, count);
      tsr_region_apply(region, &space, count);
    }
  } while (tsr_window_cells_next(&cells));
  for (int k = 0; k < region->count; k++) {
    const int64_t bytes = region->element_bytes[k];
    memcpy(r->call->outputs[k] + (row * d->windows + first) * bytes, space.accumulators[k],
           (size_t)(count * bytes));
  }
  return NULL;
}

tsr_status tsr_window_region_run(const void *description, const tsr_kernel_call *call) {
  const tsr_window_region *w = description;
  const int64_t rows = tsr_window_row_count(&w->window), most = w->region.most;
  window_run r = {w, call, (w->window.dims[w->window.rank - 1].windows + most - 1) / most};
  if (!rows || !r.pieces) return NULL;
  return tsr_pool_run(call->pool, rows * r.pieces, window_piece, &r);
}
