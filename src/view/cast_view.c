// Casts: the inner view is read into a buffer of its own dtype and converted from there.
#include <stdatomic.h>
#include <stdlib.h>

#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/layout.h"
#include "tessera/status.h"
#include "view/overflow.h"
#include "view/view.h"

typedef struct cast_view {
  tsr_view view;
  tsr_view *inner;  // owned
  bool allow_overflow;
  atomic_llong overflows;
} cast_view;

// `first` is the index of the first element in the tensor; -1 = the elements are not consecutive.
static tsr_status cast_elements(cast_view *cast, const void *uncast, int64_t first, int64_t count,
                                void *out) {
  tsr_overflow overflow = {0};
  const tsr_dtype dtype = cast->view.dtype;
  TSR_TRY(tsr_convert_checked(cast->inner->dtype, uncast, dtype, out, count, &overflow));
  if (overflow.count == 0) return NULL;
  atomic_fetch_add_explicit(&cast->overflows, overflow.count, memory_order_relaxed);
  if (cast->allow_overflow) return NULL;
  return tsr_overflow_fail(&overflow, first < 0 ? -1 : first + overflow.first, dtype);
}

// Reads a box, or with NULL elements from `first` on.
static tsr_status read_inner(const tsr_view *view, const tsr_range *box, int64_t first,
                             int64_t count, void *out) {
  cast_view *cast = (cast_view *)(uintptr_t)view;  // only overflows are counted
  const int64_t bytes = tsr_view_bytes(cast->inner, count);
  void *uncast = malloc((size_t)bytes);
  if (!uncast) return tsr_fail(NO_MEMORY, "%lld bytes to cast", (long long)bytes);
  tsr_status status = box ? tsr_view_read_box(cast->inner, box, uncast)
                          : tsr_view_read(cast->inner, first, count, uncast);
  if (!status) status = cast_elements(cast, uncast, first, count, out);
  free(uncast);
  return status;
}

static tsr_status read_cast(const tsr_view *view, int64_t first, int64_t count, void *out) {
  return read_inner(view, NULL, first, count, out);
}

static tsr_status read_cast_box(const tsr_view *view, const tsr_range *box, void *out) {
  int64_t count = 1;
  for (int d = 0; d < view->shape.rank; d++) count *= box[d].hi - box[d].lo;
  return count ? read_inner(view, box, -1, count, out) : NULL;
}

static int64_t memory_of_cast(const tsr_view *view, int64_t count) {
  const tsr_view *inner = ((const cast_view *)view)->inner;
  return tsr_view_bytes(inner, count) + tsr_view_memory(inner, count);
}

static void destroy_cast(tsr_view *view) {
  tsr_view_destroy(((cast_view *)view)->inner);
  free(view);
}

static const tsr_view_ops cast_ops = {
    .read = read_cast,
    .read_box = read_cast_box,
    .memory = memory_of_cast,
    .destroy = destroy_cast,
};

bool tsr_view_is_cast(const tsr_view *view) { return view->ops == &cast_ops; }

int64_t tsr_view_overflows(const tsr_view *view) {
  return tsr_view_is_cast(view) ? atomic_load(&((const cast_view *)view)->overflows) : 0;
}

static tsr_status make_cast(tsr_view *inner, tsr_dtype dtype, bool allow_overflow,
                            tsr_view **out_view) {
  if (!tsr_convertible(inner->dtype, dtype))
    return tsr_fail(UNSUPPORTED, "tensor \"%s\" is %s, which cannot become %s", inner->name,
                    tsr_dtype_name(inner->dtype, TSR_NAMES_OWN),
                    tsr_dtype_name(dtype, TSR_NAMES_OWN));
  cast_view *cast = malloc(sizeof *cast);
  if (!cast) return tsr_fail(NO_MEMORY, "a view of a tensor");
  *cast = (cast_view){.view = *inner, .inner = inner, .allow_overflow = allow_overflow};
  cast->view.ops = &cast_ops;
  cast->view.dtype = dtype;
  *out_view = &cast->view;
  return NULL;
}

tsr_status tsr_view_cast(tsr_view *inner, tsr_dtype dtype, bool allow_overflow,
                         tsr_view **out_view) {
  if (inner->dtype == dtype) {
    *out_view = inner;
    return NULL;
  }
  tsr_status status = make_cast(inner, dtype, allow_overflow, out_view);
  if (status) tsr_view_destroy(inner);
  return status;
}
