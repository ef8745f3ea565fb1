// Elements are visited like an odometer: the last axis in a plain loop, the others by adding and
// subtracting strides, so no element costs a division.
#include "mesh/nd.h"

#include <assert.h>
#include <string.h>

tsr_nd tsr_nd_rows(const int64_t *dims, int rank) {
  tsr_nd view = {.rank = rank};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    view.dims[i] = dims[i];
    view.strides[i] = stride;
    stride *= dims[i];
  }
  return view;
}

void tsr_nd_split(tsr_nd *view, int axis, int64_t major) {
  assert(view->rank < TSR_ND_MAX && view->dims[axis] % major == 0);
  const size_t after = (size_t)(view->rank - axis - 1);
  memmove(&view->dims[axis + 2], &view->dims[axis + 1], after * sizeof *view->dims);
  memmove(&view->strides[axis + 2], &view->strides[axis + 1], after * sizeof *view->strides);
  view->rank++;
  view->dims[axis + 1] = view->dims[axis] / major;
  view->strides[axis + 1] = view->strides[axis];
  view->dims[axis] = major;
  view->strides[axis] *= view->dims[axis + 1];
}

void tsr_nd_transpose(tsr_nd *view, const int *order) {
  const tsr_nd old = *view;
  for (int i = 0; i < old.rank; i++) {
    view->dims[i] = old.dims[order[i]];
    view->strides[i] = old.strides[order[i]];
  }
}

int64_t tsr_nd_count(const tsr_nd *view) {
  int64_t count = 1;
  for (int i = 0; i < view->rank; i++) count *= view->dims[i];
  return count;
}

// An iterator over the rows of a view.
typedef struct row_walk {
  int64_t digits[TSR_ND_MAX];
  int64_t at;           // of the row's first element
  int64_t inner, step;  // length of a row, and the stride in it
} row_walk;

static row_walk start_walk(const tsr_nd *view) {
  const int last = view->rank - 1;
  return (row_walk){.at = view->offset,
                    .inner = last < 0 ? 1 : view->dims[last],
                    .step = last < 0 ? 0 : view->strides[last]};
}

static void next_row(const tsr_nd *view, row_walk *row) {
  for (int axis = view->rank - 2; axis >= 0; axis--) {
    row->at += view->strides[axis];
    if (++row->digits[axis] < view->dims[axis]) break;
    row->at -= row->digits[axis] * view->strides[axis];
    row->digits[axis] = 0;
  }
}

void tsr_nd_gather(const tsr_nd *view, const int64_t *source, int64_t *out) {
  const int64_t count = tsr_nd_count(view);
  row_walk row = start_walk(view);
  for (int64_t done = 0; done < count; done += row.inner, next_row(view, &row)) {
    for (int64_t i = 0; i < row.inner; i++) {
      const int64_t from = row.at + i * row.step;
      out[done + i] = source ? source[from] : from;
    }
  }
}

void tsr_nd_scatter(const tsr_nd *view, const int64_t *source, int64_t *out) {
  const int64_t count = tsr_nd_count(view);
  row_walk row = start_walk(view);
  for (int64_t done = 0; done < count; done += row.inner, next_row(view, &row))
    for (int64_t i = 0; i < row.inner; i++) out[row.at + i * row.step] = source[done + i];
}
