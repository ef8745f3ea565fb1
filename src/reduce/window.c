// Where windows and their cells lie.
#include "reduce/window.h"

#include "base/arithmetic.h"

static bool is_single(const tsr_window_dim *d) {
  return d->size == 1 && d->stride == 1 && d->base_dilation == 1 && d->low == 0 &&
         d->input == d->windows;
}

void tsr_window_join(tsr_window_shape *window) {
  int count = 0;
  for (int i = 0; i < window->rank; i++) {
    const tsr_window_dim dim = window->dims[i];
    tsr_window_dim *last = count ? &window->dims[count - 1] : NULL;
    if (last && is_single(last) && is_single(&dim)) {
      last->input *= dim.input;
      last->windows *= dim.windows;
    } else {
      window->dims[count++] = dim;
    }
  }
  window->rank = count;
}

// Of a positive divisor: rounded down, and up.
static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b > 0); }

tsr_window_run tsr_window_run_of(const tsr_window_dim *d, int64_t cell) {
  const int64_t shift = cell * d->dilation - d->low;  // place = at * stride + shift
  const int64_t last = (d->input - 1) * d->base_dilation;
  const int64_t shared = tsr_gcd(d->stride, d->base_dilation);
  tsr_window_run run = {.to_step = d->base_dilation / shared, .from_step = d->stride / shared};
  int64_t first = ceil_divide(-shift, d->stride), end = floor_divide(last - shift, d->stride) + 1;
  first = first < 0 ? 0 : first;
  end = tsr_least(end, d->windows);
  int64_t tries = run.to_step;
  while (tries > 0 && first < end && (first * d->stride + shift) % d->base_dilation)
    first++, tries--;
  if (!tries || first >= end || d->input == 0) return run;
  run.to = first;
  run.from = (first * d->stride + shift) / d->base_dilation;
  run.count = (end - first + run.to_step - 1) / run.to_step;
  return run;
}

// ---- rows ----

static void find_row(tsr_window_cells *cells) {
  const tsr_window_shape *window = cells->window;
  cells->row = 0;
  for (int d = 0; d < window->rank - 1; d++) {
    const int64_t element = tsr_window_element(&window->dims[d], cells->at[d], cells->cell[d]);
    if (element < 0) {
      cells->row = -1;
      return;
    }
    cells->row = cells->row * window->dims[d].input + element;
  }
}

void tsr_window_cells_start(tsr_window_cells *cells, const tsr_window_shape *window,
                            int64_t output_row) {
  cells->window = window;
  for (int d = window->rank - 2; d >= 0; d--) {
    cells->at[d] = output_row % window->dims[d].windows;
    cells->cell[d] = 0;
    output_row /= window->dims[d].windows;
  }
  find_row(cells);
}

bool tsr_window_cells_next(tsr_window_cells *cells) {
  for (int d = cells->window->rank - 2; d >= 0; d--) {
    if (++cells->cell[d] < cells->window->dims[d].size) {
      find_row(cells);
      return true;
    }
    cells->cell[d] = 0;
  }
  return false;
}

int64_t tsr_window_row_count(const tsr_window_shape *window) {
  int64_t count = 1;
  for (int d = 0; d < window->rank - 1; d++) count *= window->dims[d].windows;
  return count;
}

int64_t tsr_window_cell_count(const tsr_window_shape *window) {
  int64_t count = 1;
  for (int d = 0; d < window->rank; d++)
    count = tsr_saturated_multiply(count, window->dims[d].size);
  return count;
}
