// Copies between a tensor in host memory and a shard's buffer.
//
// Along each dimension of a grid a shard holds a few runs, progressions of blocks on both sides. A
// run in each dimension makes one copy of up to two loops per dimension: the blocks, and the
// elements of a block. Other kinds of layouts go piece by piece. transfer/box_copies.c handles
// boxes that meet several shards.
#include <stdlib.h>

#include "array/array.h"
#include "base/grow.h"
#include "element/copy_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

tsr_status tsr_copy_vector_add(tsr_copy_vector *list, const tsr_copy *copy) {
  tsr_copy *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%lld copies", (long long)list->count + 1);
  list->items = items;
  list->items[list->count++] = *copy;
  return NULL;
}

void tsr_copy_vector_deinit(tsr_copy_vector *list) {
  free(list->items);
  *list = TSR_COPY_VECTOR_EMPTY;
}

void tsr_host_view_init(tsr_host_view *view, const tsr_shape *shape, const tsr_range *ranges,
                        const int64_t *strides) {
  int64_t stride = 1, before = 0;
  for (int d = shape->rank - 1; d >= 0; d--) {
    const int64_t size = ranges ? ranges[d].hi - ranges[d].lo : shape->dims[d];
    view->low[d] = ranges ? ranges[d].lo : 0;
    view->strides[d] = strides ? strides[d] : stride;
    if (view->strides[d] < 0 && size > 0) before -= view->strides[d] * (size - 1);
    stride *= size;
  }
  view->origin = (before + 7) / 8 * 8;
}

void *tsr_host_view_base(const tsr_host_view *view, const void *host, int bits) {
  return (void *)((uintptr_t)host - (uintptr_t)(view->origin / 8 * bits));
}

// ---- one copy ----

// Until it is added, `from` is the host's side and `to` the shard's.
static void add_loop(tsr_copy *copy, int64_t count, int64_t from, int64_t to) {
  if (count != 1) copy->loops[copy->loop_count++] = (tsr_copy_loop){count, from, to};
}

static void swap_sides(tsr_copy *copy) {
  const int64_t from = copy->from;
  copy->from = copy->to;
  copy->to = from;
  for (int i = 0; i < copy->loop_count; i++) {
    tsr_copy_loop *loop = &copy->loops[i];
    *loop = (tsr_copy_loop){loop->count, loop->to, loop->from};
  }
}

static tsr_status add_copy(tsr_copy *copy, tsr_direction direction, tsr_copy_vector *out) {
  tsr_copy_simplify(copy);
  if (copy->length == 0) return NULL;
  if (direction != TSR_TO_SHARD) swap_sides(copy);
  return tsr_copy_vector_add(out, copy);
}

// ---- grids, run by run ----

typedef struct dim_runs {
  tsr_run *items;
  int64_t count;
} dim_runs;

static int loops_of(const dim_runs *runs) {
  int most = 1;
  for (int64_t r = 0; r < runs->count; r++)
    if (runs->items[r].count > 1 && runs->items[r].length > 1) most = 2;
  return most;
}

static tsr_status add_product(const tsr_host_view *view, const int64_t *strides,
                              const tsr_run *const *chosen, int rank, tsr_copy copy,
                              tsr_direction direction, tsr_copy_vector *out) {
  for (int d = 0; d < rank; d++) {
    const tsr_run *run = chosen[d];
    if (direction == TSR_FROM_OWNER && !run->owned) return NULL;
    copy.from += (run->global - view->low[d]) * view->strides[d];
    copy.to += run->local * strides[d];
    add_loop(&copy, run->count, run->step * view->strides[d], run->local_step * strides[d]);
    add_loop(&copy, run->length, view->strides[d], strides[d]);
  }
  return add_copy(&copy, direction, out);
}

// Counts through the products of the runs like an odometer.
static tsr_status add_products(const tsr_host_view *view, const int64_t *strides,
                               const dim_runs *runs, int rank, int64_t device,
                               tsr_direction direction, tsr_copy_vector *out) {
  int64_t at[TSR_MAX_RANK] = {0};
  int d = rank;
  for (int i = 0; i < rank; i++)
    if (runs[i].count == 0) return NULL;
  do {
    const tsr_run *chosen[TSR_MAX_RANK];
    for (int i = 0; i < rank; i++) chosen[i] = &runs[i].items[at[i]];
    const tsr_copy copy = {.source = device, .target = device, .from = view->origin, .length = 1};
    TSR_TRY(add_product(view, strides, chosen, rank, copy, direction, out));
    for (d = rank - 1; d >= 0 && ++at[d] == runs[d].count; d--) at[d] = 0;
  } while (d >= 0);
  return NULL;
}

// `*out_done` stays false if a copy could need too many loops.
static tsr_status add_grid(const tsr_layout *layout, int64_t shard, const tsr_host_view *view,
                           tsr_direction direction, int64_t device, tsr_copy_vector *out,
                           bool *out_done) {
  const int rank = tsr_layout_rank(layout);
  int64_t coords[TSR_MAX_RANK], strides[TSR_MAX_RANK];
  dim_runs runs[TSR_MAX_RANK] = {{NULL, 0}};
  tsr_layout_shard_coords(layout, shard, coords);
  tsr_layout_buffer_strides(layout, shard, strides);
  tsr_status status = NULL;
  int loops = 0;
  for (int d = 0; d < rank && !status; d++) {
    status = tsr_layout_runs(layout, d, coords[d], &runs[d].items, &runs[d].count);
    if (!status) loops += loops_of(&runs[d]);
  }
  if (!status && loops <= TSR_MAX_RANK) {
    status = add_products(view, strides, runs, rank, device, direction, out);
    *out_done = true;
  }
  for (int d = 0; d < rank; d++) free(runs[d].items);
  return status;
}

// ---- any layout, piece by piece ----

static tsr_status add_pieces(const tsr_layout *layout, int64_t shard, const tsr_host_view *view,
                             tsr_direction direction, int64_t device, tsr_copy_vector *out) {
  const int rank = tsr_layout_rank(layout);
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  tsr_status status = NULL;
  for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);) {
    if (direction == TSR_FROM_OWNER && !piece.owned) continue;
    tsr_copy copy = {
        .source = device, .target = device, .from = view->origin, .to = piece.offset, .length = 1};
    for (int d = 0; d < rank; d++) {
      copy.from += (piece.ranges[d].lo - view->low[d]) * view->strides[d];
      add_loop(&copy, piece.ranges[d].hi - piece.ranges[d].lo, view->strides[d], piece.strides[d]);
    }
    status = add_copy(&copy, direction, out);
  }
  tsr_pieces_deinit(&pieces);
  return status;
}

tsr_status tsr_shard_copies(const tsr_layout *layout, int64_t shard, const tsr_host_view *view,
                            tsr_direction direction, int64_t device, tsr_copy_vector *out) {
  bool done = false;
  if (tsr_layout_kind_of(layout) == TSR_LAYOUT_GRID)
    TSR_TRY(add_grid(layout, shard, view, direction, device, out, &done));
  return done ? NULL : add_pieces(layout, shard, view, direction, device, out);
}
