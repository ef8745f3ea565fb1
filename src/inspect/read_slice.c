// A slice is read as boxes. Dimensions with a step, and those before them, are walked index by
// index; the others make a box, which is one piece of the result. If the last dimension has a short
// step, its gaps are read too and the elements are picked from the buffer.
#include <stdlib.h>

#include "base/room.h"
#include "element/dtype_internal.h"
#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/tree.h"

// Gaps below this are read over.
enum { NEAR_BYTES = 4096 };

typedef struct slice_reader {
  tsr_store *store;
  int64_t tensor;
  const tsr_box_index *index;
  const tsr_slice *slice;
  int bits;
  int walked;      // leading dimensions that are walked
  bool picked;     // elements of the last dimension are picked from what was read
  int64_t length;  // elements of the result that a box makes
  void *piece;     // owned: buffer of a box; NULL = boxes are read in place
} slice_reader;

static bool has_step(const tsr_slice_dim *dim) { return dim->step != 1; }

static int64_t extent(const tsr_slice_dim *dim) {
  return dim->count ? (dim->count - 1) * llabs(dim->step) + 1 : 0;
}

static void decide(slice_reader *r) {
  const int last = r->slice->rank - 1;
  for (int d = 0; d < last; d++)
    if (has_step(&r->slice->dims[d])) r->walked = d + 1;
  if (last >= 0 && has_step(&r->slice->dims[last])) {
    r->picked = llabs(r->slice->dims[last].step) < (int64_t)NEAR_BYTES * 8 / r->bits;
    r->walked = r->picked ? last : last + 1;
  }
  r->length = 1;
  for (int d = r->walked; d <= last; d++) r->length *= r->slice->dims[d].count;
}

static tsr_status make_piece(slice_reader *r) {
  int64_t elements = r->length;
  if (r->picked) elements = extent(&r->slice->dims[r->slice->rank - 1]);
  if (!r->picked && r->bits % 8 == 0) return NULL;
  r->piece = calloc(1, (size_t)(elements * r->bits / 8 + 1));
  return r->piece ? NULL : tsr_fail(NO_MEMORY, "%lld elements of a tensor", (long long)elements);
}

static void place_piece(const slice_reader *r, int64_t to, void *out) {
  const tsr_slice_dim *last = &r->slice->dims[r->slice->rank - 1];
  tsr_copy copy = {.to = to, .length = r->length};
  if (r->picked) {
    copy.length = 1;
    copy.from = last->step < 0 ? extent(last) - 1 : 0;
    copy.loop_count = 1;
    copy.loops[0] = (tsr_copy_loop){.count = last->count, .from = last->step, .to = 1};
  }
  tsr_copy_run(&copy, r->bits, r->piece, out);
}

// The box at `turns` of the walked dimensions, to element `to` of the result.
static tsr_status read_box(const slice_reader *r, const int64_t *turns, int64_t to, void *out) {
  tsr_range box[TSR_MAX_RANK];
  for (int d = 0; d < r->slice->rank; d++) {
    const tsr_slice_dim *dim = &r->slice->dims[d];
    const int64_t at = dim->start + (d < r->walked ? turns[d] * dim->step : 0);
    const int64_t lo = d >= r->walked && dim->step < 0 ? at - extent(dim) + 1 : at;
    box[d] = (tsr_range){lo, lo + (d < r->walked ? 1 : extent(dim))};
  }
  void *place = r->piece ? r->piece : (char *)out + to * r->bits / 8;
  TSR_TRY(tsr_store_read(r->store, r->tensor, r->index, box, -1, place));
  if (r->piece) place_piece(r, to, out);
  return NULL;
}

static tsr_status read_boxes(const slice_reader *r, void *out) {
  int64_t turns[TSR_MAX_RANK] = {0};
  for (int64_t to = 0;; to += r->length) {
    TSR_TRY(read_box(r, turns, to, out));
    int d = r->walked - 1;
    for (; d >= 0 && ++turns[d] == r->slice->dims[d].count; d--) turns[d] = 0;
    if (d < 0) return NULL;
  }
}

// Slices need not come from tsr_slice_parse.
static bool fits(const tsr_slice_dim *dim, int64_t size) {
  int64_t last = 0;
  if (dim->count < 2)
    return dim->count == 0 ||
           (dim->count == 1 && dim->step == 1 && dim->start >= 0 && dim->start < size);
  if (dim->step == 0 || dim->step <= -size || dim->step >= size) return false;
  if (__builtin_mul_overflow(dim->count - 1, dim->step, &last) ||
      __builtin_add_overflow(last, dim->start, &last))
    return false;
  return dim->start >= 0 && dim->start < size && last >= 0 && last < size;
}

static tsr_status check(const tsr_checkpoint *checkpoint, int64_t tensor, const tsr_slice *slice) {
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  const tsr_tensor *t = tsr_tree_at(checkpoint->tree, tensor);
  if (slice->rank != t->rank)
    return tsr_fail(BAD_ARGUMENT, "tensor \"%s\" has %d dimensions, its slice %d", t->path, t->rank,
                    slice->rank);
  for (int d = 0; d < t->rank; d++)
    if (!fits(&slice->dims[d], t->dims[d]))
      return tsr_fail(INDEX_OUT_OF_RANGE,
                      "%s: %lld indices from %lld by %lld of dimension %d, whose size is %lld",
                      t->path, (long long)slice->dims[d].count, (long long)slice->dims[d].start,
                      (long long)slice->dims[d].step, d, (long long)t->dims[d]);
  return NULL;
}

tsr_status tsr_checkpoint_read_slice(const tsr_checkpoint *checkpoint, int64_t tensor,
                                     const tsr_slice *slice, void *out, int64_t out_bytes) {
  TSR_TRY(check(checkpoint, tensor, slice));
  const tsr_tensor *t = tsr_tree_at(checkpoint->tree, tensor);
  int64_t needed = 0;
  TSR_TRY(tsr_dtype_bytes(t->dtype, tsr_slice_elements(slice), &needed));
  TSR_TRY_NOTE(tsr_room_check(out, out_bytes, needed), "tensor \"%s\"", t->path);
  if (needed == 0) return NULL;
  tsr_box_index *index = NULL;
  TSR_TRY(tsr_box_index_create(tsr_checkpoint_layout(checkpoint, tensor), &index));
  slice_reader r = {.store = checkpoint->store,
                    .tensor = tensor,
                    .index = index,
                    .slice = slice,
                    .bits = tsr_dtype_info_of(t->dtype)->bits};
  decide(&r);
  tsr_status status = make_piece(&r);
  if (!status) status = read_boxes(&r, out);
  free(r.piece);
  tsr_box_index_destroy(index);
  return tsr_note(status, "tensor \"%s\"", t->path);
}
