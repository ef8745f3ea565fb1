// Windows that move over a tensor: reduce_window and select_and_scatter.
#ifndef TESSERA_REDUCE_WINDOW_H
#define TESSERA_REDUCE_WINDOW_H

#include "reduce/region_call.h"

enum { TSR_WINDOW_RANK = 16 };

// One dim. Cell c of window w lies at w * stride + c * dilation - low of the dilated input; there,
// multiples of base_dilation are elements.
typedef struct tsr_window_dim {
  int64_t input, windows;  // elements, positions of the window
  int64_t size, stride, dilation, base_dilation, low;
} tsr_window_dim;

typedef struct tsr_window_shape {
  int rank;
  tsr_window_dim dims[TSR_WINDOW_RANK];
} tsr_window_shape;

// Joins neighbouring dims in which windows are single elements.
void tsr_window_join(tsr_window_shape *window);

// ---- indices ----

// The element under cell `cell` of window `at`; -1 where there is none.
static inline int64_t tsr_window_element(const tsr_window_dim *d, int64_t at, int64_t cell) {
  const int64_t place = at * d->stride + cell * d->dilation - d->low;
  if (place < 0) return -1;
  if (d->base_dilation == 1) return place < d->input ? place : -1;
  if (place % d->base_dilation) return -1;
  return place / d->base_dilation < d->input ? place / d->base_dilation : -1;
}

// The windows of one dim that have an element under a cell: `count` of them, `to` on with steps of
// `to_step`; their elements are `from` on with steps of `from_step`.
typedef struct tsr_window_run {
  int64_t count, to, to_step, from, from_step;
} tsr_window_run;
tsr_window_run tsr_window_run_of(const tsr_window_dim *dim, int64_t cell);

// Windows of all dims but the last, and the cells of each. `row` is the row of the input under the
// current cell, -1 where there is none. Rows are numbered in row-major order.
typedef struct tsr_window_cells {
  const tsr_window_shape *window;
  int64_t at[TSR_WINDOW_RANK], cell[TSR_WINDOW_RANK];
  int64_t row;
} tsr_window_cells;
void tsr_window_cells_start(tsr_window_cells *cells, const tsr_window_shape *window,
                            int64_t output_row);
bool tsr_window_cells_next(tsr_window_cells *cells);            // false after the last cell
int64_t tsr_window_row_count(const tsr_window_shape *window);   // of the windows
int64_t tsr_window_cell_count(const tsr_window_shape *window);  // of a window, all dims

// ---- reduce_window ----

// By an op that tsr_fold_loops_of knows. Inputs: the tensor, the initial value, which stands under
// cells without an element too.
typedef struct tsr_window_fold {
  tsr_window_shape window;
  tsr_dtype dtype;
  tsr_tile_op op;
  int element_bytes;
} tsr_window_fold;
tsr_status tsr_window_fold_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_window_fold_scratch_bytes(const tsr_window_fold *window);

// By any body. Inputs: the tensors, their initial values, values from outside.
typedef struct tsr_window_region {
  tsr_window_shape window;
  tsr_region_call region;
} tsr_window_region;
tsr_status tsr_window_region_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_window_region_scratch_bytes(const tsr_window_region *window);
void tsr_window_region_destroy(void *description);

#endif
