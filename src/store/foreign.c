// Foreign tensors: stored in the other byte order, in Fortran order, or packed. A box is read as it
// is stored, then transposed and byte-swapped.
#include <stdlib.h>

#include "element/copy_internal.h"
#include "element/shape_internal.h"
#include "file/npy_header.h"
#include "file/npy_internal.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "store/store.h"
#include "tessera/engine/kernels.h"

// Besides the transposed box: its index and the overhead of malloc.
enum { TRANSPOSE_MEMORY = 1 << 20 };

// Copies a box from Fortran order to C order.
static void transpose(const tsr_shape *box, int bits, const void *stored, void *out) {
  tsr_copy copy = {.length = 1, .loop_count = box->rank};
  int64_t strides[TSR_MAX_RANK], from = 1;
  tsr_shape_strides(box, strides);
  for (int d = 0; d < box->rank; d++) {
    copy.loops[d] = (tsr_copy_loop){box->dims[d], from, strides[d]};
    from *= box->dims[d];
  }
  tsr_copy_simplify(&copy);
  tsr_copy_run(&copy, bits, stored, out);
}

static tsr_status read_transposed(tsr_store *store, int64_t tensor, const tsr_range *box,
                                  const tsr_shape *shape, int64_t bytes, void *out) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  tsr_range reversed[TSR_MAX_RANK];
  tsr_box_index *index = NULL;
  for (int d = 0; d < shape->rank; d++) reversed[d] = box[shape->rank - 1 - d];
  void *stored = malloc((size_t)bytes);
  tsr_status status = stored ? tsr_box_index_create(t->foreign->transposed, &index)
                             : tsr_fail(NO_MEMORY, "%lld bytes to transpose", (long long)bytes);
  if (!status) status = tsr_store_read_raw(store, tensor, index, reversed, stored);
  if (!status) transpose(shape, tsr_dtype_info_of(t->dtype)->bits, stored, out);
  tsr_box_index_destroy(index);
  free(stored);
  return status;
}

tsr_status tsr_foreign_read(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                            const tsr_range *box, void *out) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  const int width = tsr_dtype_info_of(t->dtype)->bits / 8;
  tsr_shape shape = {.rank = tsr_layout_rank(t->layout)};
  int64_t count = 1;
  for (int d = 0; d < shape.rank; d++) {
    shape.dims[d] = box[d].hi - box[d].lo;
    count *= shape.dims[d];
  }
  if (!count) return NULL;
  TSR_TRY(t->foreign->transposed ? read_transposed(store, tensor, box, &shape, count * width, out)
                                 : tsr_store_read_raw(store, tensor, index, box, out));
  const tsr_npy order = {.dtype = t->dtype, .width = width, .swapped = t->foreign->swapped};
  tsr_npy_swap(&order, out, count);
  return NULL;
}

tsr_status tsr_foreign_read_range(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                                  int64_t first, int64_t count, void *out) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  const int width = tsr_dtype_info_of(t->dtype)->bits / 8;
  tsr_range box[TSR_MAX_RANK];
  for (int64_t at = first; at < first + count;) {
    char *place = (char *)out + (at - first) * width;
    tsr_flat_next(t->layout, &at, first + count, box);
    TSR_TRY(tsr_foreign_read(store, tensor, index, box, place));
  }
  return NULL;
}

int64_t tsr_foreign_memory(const tsr_store *store, int64_t tensor, int64_t count) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  if (!t->foreign) return 0;
  const int64_t packed = t->foreign->packed < 0 ? 0 : TSR_PACKED_MEMORY;
  if (!t->foreign->transposed) return packed;
  return packed + TRANSPOSE_MEMORY + count * (tsr_dtype_info_of(t->dtype)->bits / 8);
}
