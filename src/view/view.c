// Reading of any view, and the view of a stored tensor: it reads through the store, compares
// replicas and adds what it read to the hashes of the source.
#include "view/view.h"

#include <stdlib.h>

#include "element/shape_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/tree.h"
#include "view/kept_index.h"

// Memory of a read through the store: lists of runs and a staging buffer.
enum { STORE_MEMORY = 5 << 18 };

tsr_status tsr_view_read(const tsr_view *view, int64_t first, int64_t count, void *out) {
  if (count == 0) return NULL;
  return tsr_note(view->ops->read(view, first, count, out), "tensor \"%s\"", view->name);
}

// Reads a run to place `to` of a buffer, through `bytes` if elements are smaller than a byte.
static tsr_status read_run(const tsr_view *view, int64_t first, int64_t count, char *bytes,
                           void *out, int64_t to) {
  const int bits = tsr_dtype_info_of(view->dtype)->bits;
  if (!bytes) return view->ops->read(view, first, count, (char *)out + to * bits / 8);
  const tsr_copy copy = {.to = to, .length = count};
  bytes[(count * bits - 1) / 8] = 0;
  TSR_TRY(view->ops->read(view, first, count, bytes));
  tsr_copy_run(&copy, bits, bytes, out);
  return NULL;
}

// The outermost dimension from which on the box is one run.
static int run_dim(const tsr_view *view, const tsr_range *box) {
  int dim = view->shape.rank - 1;
  while (dim > 0 && box[dim].lo == 0 && box[dim].hi == view->shape.dims[dim]) dim--;
  return dim;
}

static tsr_status read_runs(const tsr_view *view, const tsr_range *box, int dim, int64_t run,
                            char *bytes, void *out) {
  const int rank = view->shape.rank;
  int64_t strides[TSR_MAX_RANK], at[TSR_MAX_RANK];
  tsr_shape_strides(&view->shape, strides);
  for (int d = 0; d < rank; d++) at[d] = box[d].lo;
  for (int64_t to = 0;; to += run) {
    int64_t first = 0;
    for (int d = 0; d < rank; d++) first += at[d] * strides[d];
    TSR_TRY(read_run(view, first, run, bytes, out, to));
    int d = dim - 1;
    for (; d >= 0 && ++at[d] == box[d].hi; d--) at[d] = box[d].lo;
    if (d < 0) return NULL;
  }
}

static tsr_status read_by_runs(const tsr_view *view, const tsr_range *box, void *out) {
  const int rank = view->shape.rank, bits = tsr_dtype_info_of(view->dtype)->bits;
  char *bytes = NULL;
  if (rank == 0) return view->ops->read(view, 0, 1, out);
  for (int d = 0; d < rank; d++)
    if (box[d].lo >= box[d].hi) return NULL;
  const int dim = run_dim(view, box);
  int64_t run = 1;
  for (int d = dim; d < rank; d++) run *= box[d].hi - box[d].lo;
  if (bits % 8) {
    bytes = malloc((size_t)(run * bits / 8 + 1));
    if (!bytes) return tsr_fail(NO_MEMORY, "a run of elements");
  }
  tsr_status status = read_runs(view, box, dim, run, bytes, out);
  free(bytes);
  return status;
}

tsr_status tsr_view_read_box(const tsr_view *view, const tsr_range *box, void *out) {
  tsr_status status =
      view->ops->read_box ? view->ops->read_box(view, box, out) : read_by_runs(view, box, out);
  return tsr_note(status, "tensor \"%s\"", view->name);
}

int64_t tsr_view_memory(const tsr_view *view, int64_t count) {
  return view->ops->memory(view, count);
}

void tsr_view_destroy(tsr_view *view) {
  if (view) view->ops->destroy(view);
}

int64_t tsr_view_bytes(const tsr_view *view, int64_t count) {
  return (count * tsr_dtype_info_of(view->dtype)->bits + 7) / 8;
}

int64_t tsr_views_bytes(const tsr_views *views) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < views->count; i++)
    bytes += tsr_view_bytes(views->items[i], views->items[i]->elements);
  return bytes;
}

void tsr_views_deinit(tsr_views *views) {
  for (int64_t i = 0; i < views->count; i++) tsr_view_destroy(views->items[i]);
  free(views->items);
  *views = (tsr_views){0};
}

tsr_status tsr_replicas_choose(tsr_replicas option, tsr_replicas fallback,
                               tsr_replicas *out_replicas) {
  if ((unsigned)option > TSR_REPLICAS_COMPARE)
    return tsr_fail(BAD_ARGUMENT, "%d is not one of tsr_replicas, wanted 0 to %d", (int)option,
                    TSR_REPLICAS_COMPARE);
  *out_replicas = option == TSR_REPLICAS_DEFAULT ? fallback : option;
  return NULL;
}

// ---- stored tensors ----

typedef struct stored_view {
  tsr_view view;
  const tsr_checkpoint *checkpoint;  // shared
  tsr_source_hashes *hashes;         // borrowed; NULL = what is read is not hashed
  tsr_kept_index index;              // of a large tensor, which is read window by window
} stored_view;

void tsr_view_set_hashes(tsr_view *stored, tsr_source_hashes *hashes) {
  ((stored_view *)stored)->hashes = hashes;
}

// Bits after the last element are hashed as zeros.
static void clear_last(const tsr_view *view, int64_t count, void *out) {
  if (count * tsr_dtype_info_of(view->dtype)->bits % 8)
    ((char *)out)[tsr_view_bytes(view, count) - 1] = 0;
}

// A small tensor is read once or twice, and there may be many: it gets an index of its own, which
// the reader destroys.
static tsr_status find_index(const tsr_view *view, tsr_box_index **out_own,
                             const tsr_box_index **out_index) {
  stored_view *stored = (stored_view *)(uintptr_t)view;  // only the kept index is changed
  const tsr_layout *layout = tsr_checkpoint_layout(stored->checkpoint, view->origin);
  if (tsr_view_bytes(view, view->elements) >= TSR_INDEX_KEPT_FROM)
    return tsr_kept_index_get(&stored->index, layout, out_index);
  TSR_TRY(tsr_box_index_create(layout, out_own));
  *out_index = *out_own;
  return NULL;
}

// They are compared by runs.
static bool compares_replicas(const tsr_view *view) { return view->bytes_read > view->least_read; }

// Reads a box, or with NULL elements from `first` on. Hashes `count` elements from `first` on.
static tsr_status read_indexed(const tsr_view *view, const tsr_range *box, int64_t first,
                               int64_t count, void *out) {
  const stored_view *stored = (const stored_view *)view;
  tsr_store *store = stored->checkpoint->store;
  tsr_box_index *own = NULL;
  const tsr_box_index *index = NULL;
  TSR_TRY(find_index(view, &own, &index));
  if (stored->hashes) clear_last(view, count, out);
  tsr_status status = box ? tsr_store_read(store, view->origin, index, box, -1, out)
                          : tsr_store_read_range(store, view->origin, index, first, count, -1, out);
  if (!status && compares_replicas(view))
    status = tsr_store_check_range(store, view->origin, index, first, count, out);
  if (!status && stored->hashes)
    status = tsr_source_hashes_add(stored->hashes, view->origin, first, count, out);
  tsr_box_index_destroy(own);
  return status;
}

static tsr_status read_stored(const tsr_view *view, int64_t first, int64_t count, void *out) {
  return read_indexed(view, NULL, first, count, out);
}

// The first element of a box that is one run of the tensor, and their number; 0 of several runs.
static int64_t box_is_run(const tsr_view *view, const tsr_range *box, int64_t *out_count) {
  int64_t first = 0, count = 1;
  const int dim = view->shape.rank ? run_dim(view, box) : 0;
  for (int d = 0; d < view->shape.rank; d++) {
    const int64_t size = box[d].hi - box[d].lo;
    if (d < dim && size != 1) return 0;
    first = first * view->shape.dims[d] + box[d].lo;
    count *= size;
  }
  *out_count = count;
  return first;
}

static tsr_status read_stored_box(const tsr_view *view, const tsr_range *box, void *out) {
  int64_t count = 0;
  if (compares_replicas(view)) return read_by_runs(view, box, out);
  const int64_t first = ((const stored_view *)view)->hashes ? box_is_run(view, box, &count) : 0;
  return read_indexed(view, box, first, count, out);
}

static int64_t memory_of_stored(const tsr_view *view, int64_t count) {
  const stored_view *stored = (const stored_view *)view;
  return STORE_MEMORY + tsr_foreign_memory(stored->checkpoint->store, view->origin, count);
}

static void destroy_stored(tsr_view *view) {
  tsr_kept_index_deinit(&((stored_view *)view)->index);
  tsr_checkpoint_release(((stored_view *)view)->checkpoint);
  free(view);
}

static const tsr_view_ops stored_ops = {
    .read = read_stored,
    .read_box = read_stored_box,
    .memory = memory_of_stored,
    .destroy = destroy_stored,
};

tsr_status tsr_view_stored(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_replicas replicas,
                           tsr_view **out_view) {
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  const tsr_tensor *t = tsr_tree_at(checkpoint->tree, tensor);
  const tsr_store *store = checkpoint->store;
  const bool foreign = store->tensors[tensor].foreign != NULL;
  const int64_t compared =
      replicas == TSR_REPLICAS_COMPARE ? tsr_store_copied_bytes(store, tensor) : 0;
  stored_view *stored = malloc(sizeof *stored);
  if (!stored) return tsr_fail(NO_MEMORY, "a view of a tensor");
  *stored = (stored_view){.view = {.ops = &stored_ops,
                                   .name = t->path,
                                   .dtype = t->dtype,
                                   .shape = tsr_tensor_shape(t),
                                   .elements = tsr_tensor_elements(t),
                                   .in_pieces = !foreign,
                                   .origin = tensor,
                                   // Otherwise only the view may read the files.
                                   .direct = !foreign && !compared},
                          .checkpoint = tsr_checkpoint_retain(checkpoint)};
  stored->view.least_read = tsr_view_bytes(&stored->view, stored->view.elements);
  stored->view.bytes_read = stored->view.least_read + compared;
  *out_view = &stored->view;
  return NULL;
}

tsr_status tsr_views_of(const tsr_checkpoint *checkpoint, tsr_replicas replicas,
                        tsr_views *out_views) {
  const int64_t count = tsr_tree_count(checkpoint->tree);
  tsr_views views = {.items = calloc((size_t)count + 1, sizeof *views.items)};
  if (!views.items) return tsr_fail(NO_MEMORY, "views of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    tsr_status status = tsr_view_stored(checkpoint, i, replicas, &views.items[i]);
    if (status) {
      tsr_views_deinit(&views);
      return status;
    }
    views.count++;
  }
  *out_views = views;
  return NULL;
}
