// Arrays as views: runs of the row-major tensor, gathered from the shards on this rank.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "load/save.h"
#include "tessera/engine/array.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/place.h"
#include "transfer/box_copies.h"
#include "view/kept_index.h"

// ---- copies of a range ----

typedef struct placed_range {
  tsr_box_copy_fn *fn;
  void *context;
  int64_t place;  // of the box in the range
} placed_range;

static tsr_status place_copy(void *context, const tsr_copy *found) {
  const placed_range *p = context;
  tsr_copy copy = *found;
  copy.to += p->place;
  return p->fn(p->context, &copy);
}

tsr_status tsr_array_range_copies(const tsr_array *array, const tsr_box_index *index, int64_t first,
                                  int64_t count, tsr_box_copy_fn *fn, void *context) {
  placed_range p = {.fn = fn, .context = context};
  tsr_range box[TSR_MAX_RANK];
  for (int64_t at = first; at < first + count;) {
    p.place = at - first;
    tsr_flat_next(array->layout, &at, first + count, box);
    TSR_TRY(tsr_box_copies(index, box, TSR_BOX_OWNERS, place_copy, &p));
  }
  return NULL;
}

// ---- views ----

typedef struct array_view {
  tsr_view view;
  const tsr_leaf *leaf;         // borrowed
  const tsr_save_stage *stage;  // borrowed
  tsr_kept_index boxes;         // of an array's layout
} array_view;

static const char *find_staged(const array_view *a, int64_t first) {
  for (int i = 0; i < a->stage->count; i++) {
    const tsr_staged *item = &a->stage->items[i];
    if (item->leaf == a->view.origin && item->first == first) return item->data;
  }
  return NULL;
}

typedef struct array_gather {
  const tsr_array *array;
  void *out;
} array_gather;

// From the first replica on this rank.
static tsr_status gather_copy(void *context, const tsr_copy *copy) {
  const array_gather *g = context;
  const tsr_layout *layout = g->array->layout;
  int64_t slot = -1;
  for (int64_t i = 0; slot < 0 && i < tsr_layout_replica_count(layout); i++)
    slot = tsr_array_local_find(
        g->array, tsr_layout_device_at(layout, tsr_layout_replica_at(layout, copy->source, i)));
  assert(slot >= 0);
  tsr_copy_run(copy, g->array->bits, g->array->slots[slot].data, g->out);
  return NULL;
}

static tsr_status read_array(const tsr_view *view, int64_t first, int64_t count, void *out) {
  const array_view *a = (const array_view *)view;
  const char *data = find_staged(a, first);
  if (!data && a->leaf->kind == TSR_LEAF_HOST)
    data = (const char *)a->leaf->data + tsr_view_bytes(view, first);
  if (!data) {
    const tsr_array *array = a->leaf->array;
    const tsr_box_index *boxes = NULL;
    TSR_TRY(tsr_kept_index_get(&((array_view *)(uintptr_t)view)->boxes, array->layout, &boxes));
    return tsr_array_range_copies(array, boxes, first, count, gather_copy,
                                  &(array_gather){array, out});
  }
  memcpy(out, data, (size_t)tsr_view_bytes(view, count));
  return NULL;
}

static int64_t memory_of_array(const tsr_view *view, int64_t count) {
  const array_view *a = (const array_view *)view;
  return a->stage->used ? tsr_view_bytes(view, count) : 0;
}

static void destroy_array(tsr_view *view) {
  tsr_kept_index_deinit(&((array_view *)view)->boxes);
  free(view);
}

static const tsr_view_ops array_ops = {
    .read = read_array,
    .memory = memory_of_array,
    .destroy = destroy_array,
};

tsr_status tsr_view_of_leaf(const tsr_array_tree *tree, int64_t index, const tsr_save_stage *stage,
                            tsr_view **out_view) {
  const tsr_leaf *leaf = tsr_array_tree_at(tree, index);
  array_view *a = malloc(sizeof *a);
  if (!a) return tsr_fail(NO_MEMORY, "a view of an array");
  *a = (array_view){.view = {.ops = &array_ops,
                             .name = leaf->tensor.path,
                             .dtype = leaf->tensor.dtype,
                             .shape = tsr_tensor_shape(&leaf->tensor),
                             .elements = 1,
                             .in_pieces = true,
                             .origin = index,
                             .direct = true},
                    .leaf = leaf,
                    .stage = stage};
  for (int d = 0; d < a->view.shape.rank; d++) a->view.elements *= a->view.shape.dims[d];
  a->view.bytes_read = a->view.least_read = tsr_view_bytes(&a->view, a->view.elements);
  *out_view = &a->view;
  return NULL;
}
