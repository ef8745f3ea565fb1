// The gather walks its view like an odometer: the last axis in a plain loop, the others by adding
// and taking back strides, so that no element costs a division.
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

void tsr_nd_gather(const tsr_nd *view, const int32_t *source, int32_t *out) {
  int64_t digits[TSR_ND_MAX] = {0};
  const int last = view->rank - 1;
  const int64_t inner = last < 0 ? 1 : view->dims[last], step = last < 0 ? 0 : view->strides[last];
  const int64_t count = tsr_nd_count(view);
  int64_t at = view->offset;
  for (int64_t done = 0; done < count; done += inner) {
    for (int64_t i = 0; i < inner; i++) {
      const int64_t from = at + i * step;
      out[done + i] = source ? source[from] : (int32_t)from;
    }
    for (int axis = last - 1; axis >= 0; axis--) {
      at += view->strides[axis];
      if (++digits[axis] < view->dims[axis]) break;
      at -= digits[axis] * view->strides[axis];
      digits[axis] = 0;
    }
  }
}
