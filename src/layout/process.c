// What the devices of one process hold together: indices along a dimension, the box around
// everything, and whether it has a hole.
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/grow.h"
#include "layout/cover.h"
#include "layout/fold.h"
#include "layout/grid.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

// ---- the shards of a process ----

typedef struct shard_list {
  int64_t *items;  // ascending, each once; owned
  int64_t count;
} shard_list;

static tsr_status process_shards(const tsr_layout *layout, int64_t process, shard_list *out) {
  const int64_t devices = tsr_layout_device_count(layout);
  TSR_TRY(tsr_layout_check_listed(devices, "devices"));
  int64_t *items = malloc(sizeof *items * (size_t)devices);
  if (!items) return tsr_fail(NO_MEMORY, "the shards of %lld devices", (long long)devices);
  int64_t count = 0;
  for (int64_t p = 0; p < devices; p++)
    if (tsr_layout_process(layout, p) == process) items[count++] = tsr_layout_shard(layout, p);
  if (count == 0) {
    free(items);
    return tsr_fail(PROCESS_NOT_IN_MESH, "process %lld has no device in the layout's mesh",
                    (long long)process);
  }
  *out = (shard_list){items, tsr_sort_distinct(items, count)};
  return NULL;
}

// ---- along one dimension ----

// The distinct indices of the shards along a dimension of a grid.
static tsr_status dim_indices(const tsr_layout *layout, const shard_list *shards, int dim,
                              shard_list *out) {
  int64_t *items = malloc(sizeof *items * ((size_t)shards->count + 1));
  if (!items) return tsr_fail(NO_MEMORY, "%lld shards", (long long)shards->count);
  for (int64_t i = 0; i < shards->count; i++) {
    int64_t coords[TSR_MAX_RANK];
    tsr_layout_shard_coords(layout, shards->items[i], coords);
    items[i] = coords[dim];
  }
  *out = (shard_list){items, tsr_sort_distinct(items, shards->count)};
  return NULL;
}

static tsr_status add_grid_runs(const tsr_layout *layout, const shard_list *shards, int dim,
                                tsr_run_list *out) {
  const tsr_cut cut = tsr_layout_cut(layout, dim);
  shard_list indices = {NULL, 0};
  TSR_TRY(dim_indices(layout, shards, dim, &indices));
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < indices.count && !status; i++) {
    runs.count = 0;
    status = tsr_cut_runs(&cut, indices.items[i], &runs);
    for (int r = 0; r < runs.count && !status; r++) status = tsr_run_list_add(out, runs.items[r]);
  }
  tsr_run_list_deinit(&runs);
  free(indices.items);
  return status;
}

static tsr_status add_listed_runs(const tsr_layout *layout, int64_t shard, int dim,
                                  tsr_run_list *out) {
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  tsr_status status = NULL;
  for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);) {
    const tsr_range range = piece.ranges[dim];
    status = tsr_run_list_add(out, tsr_run_block(range.lo, 0, range.hi - range.lo, true));
  }
  tsr_pieces_deinit(&pieces);
  return status;
}

// The runs of a dimension that any of the shards holds.
static tsr_status held_runs(const tsr_layout *layout, const shard_list *shards, int dim,
                            tsr_run_list *out) {
  if (!layout->table) return add_grid_runs(layout, shards, dim, out);
  for (int64_t i = 0; i < shards->count; i++)
    TSR_TRY(add_listed_runs(layout, shards->items[i], dim, out));
  return NULL;
}

static tsr_status count_held(const tsr_layout *layout, int dim, const tsr_run_list *runs,
                             int64_t *out_elements) {
  tsr_fold fold;
  TSR_TRY(tsr_fold_init(&fold, layout->dims[dim], runs));
  tsr_status status = tsr_fold_elements(&fold, out_elements);
  tsr_fold_deinit(&fold);
  return status;
}

tsr_status tsr_layout_addressable(const tsr_layout *layout, int64_t process, int dim,
                                  int64_t *out_elements) {
  TSR_TRY(tsr_layout_check_dim(layout, dim));
  shard_list shards = {NULL, 0};
  TSR_TRY(process_shards(layout, process, &shards));
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = held_runs(layout, &shards, dim, &runs);
  if (!status) status = count_held(layout, dim, &runs, out_elements);
  tsr_run_list_deinit(&runs);
  free(shards.items);
  return status;
}

// ---- the hull ----

static void drop_empty(const tsr_layout *layout, shard_list *shards) {
  int64_t kept = 0;
  for (int64_t i = 0; i < shards->count; i++)
    if (tsr_layout_shard_elements(layout, shards->items[i]) > 0)
      shards->items[kept++] = shards->items[i];
  shards->count = kept;
}

static tsr_range extent(const tsr_run_list *runs) {
  if (runs->count == 0) return (tsr_range){0, 0};
  tsr_range found = {runs->items[0].global, tsr_run_end(&runs->items[0])};
  for (int r = 1; r < runs->count; r++) {
    const int64_t lo = runs->items[r].global, hi = tsr_run_end(&runs->items[r]);
    if (lo < found.lo) found.lo = lo;
    if (hi > found.hi) found.hi = hi;
  }
  return found;
}

// The hull of one dimension; `*fills` becomes false if some of the range is not held.
static tsr_status hull_dim(const tsr_layout *layout, const shard_list *shards, int dim,
                           tsr_range *out_range, bool *fills) {
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  int64_t held = 0;
  tsr_status status = held_runs(layout, shards, dim, &runs);
  if (!status) status = count_held(layout, dim, &runs, &held);
  if (!status) {
    *out_range = extent(&runs);
    *fills = *fills && held == out_range->hi - out_range->lo;
  }
  tsr_run_list_deinit(&runs);
  return status;
}

// Whether the shards are all combinations of their indices along the dimensions. Then they fill the
// box if they fill its sides.
static tsr_status is_product(const tsr_layout *layout, const shard_list *shards,
                             bool *out_product) {
  int64_t combinations = 1;
  for (int d = 0; d < layout->rank; d++) {
    shard_list indices = {NULL, 0};
    TSR_TRY(dim_indices(layout, shards, d, &indices));
    free(indices.items);
    combinations *= indices.count;
  }
  *out_product = combinations == shards->count;
  return NULL;
}

// Boxes of one rank, contiguous.
typedef struct box_list {
  tsr_range *ranges;  // owned
  int64_t count, capacity;
} box_list;

static tsr_status add_box(box_list *list, const tsr_range *ranges, int rank) {
  const size_t bytes = sizeof *ranges * (size_t)rank;
  tsr_range *grown = tsr_grow(list->ranges, list->count, &list->capacity, bytes ? bytes : 1);
  if (!grown) return tsr_fail(NO_MEMORY, "%lld pieces", (long long)list->count);
  list->ranges = grown;
  memcpy(grown + list->count++ * rank, ranges, bytes);
  return NULL;
}

// The pieces of these shards.
static tsr_status collect_boxes(const tsr_layout *layout, const int64_t *shards, int64_t count,
                                box_list *list) {
  tsr_status status = NULL;
  for (int64_t i = 0; i < count && !status; i++) {
    tsr_pieces pieces;
    TSR_TRY(tsr_pieces_init(&pieces, layout, shards[i]));
    for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);)
      status = add_box(list, piece.ranges, layout->rank);
    tsr_pieces_deinit(&pieces);
  }
  return status;
}

// Counts the elements of the hull that the shards hold.
static tsr_status is_filled(const tsr_layout *layout, const shard_list *shards,
                            const tsr_range *hull, bool *out_filled) {
  box_list boxes = {NULL, 0, 0};
  int64_t volume = 0;
  tsr_status status = collect_boxes(layout, shards->items, shards->count, &boxes);
  if (!status) status = tsr_cover_volume(hull, layout->rank, boxes.ranges, boxes.count, &volume);
  free(boxes.ranges);
  if (!status) *out_filled = volume == tsr_box_volume(hull, layout->rank);
  return status;
}

static tsr_status find_hull(const tsr_layout *layout, const shard_list *shards,
                            tsr_range *out_ranges, bool *out_filled) {
  bool fills = true, product = false;
  for (int d = 0; d < layout->rank; d++)
    TSR_TRY(hull_dim(layout, shards, d, &out_ranges[d], &fills));
  if (!layout->table) TSR_TRY(is_product(layout, shards, &product));
  // A side with a gap means a hole.
  if (!fills || product) {
    *out_filled = fills;
    return NULL;
  }
  return is_filled(layout, shards, out_ranges, out_filled);
}

tsr_status tsr_layout_hull(const tsr_layout *layout, int64_t *items, int64_t count,
                           tsr_range *out_ranges, bool *out_filled) {
  shard_list shards = {items, tsr_sort_distinct(items, count)};
  drop_empty(layout, &shards);
  tsr_range hull[TSR_MAX_RANK] = {{0, 0}};
  bool filled = true;
  if (shards.count) TSR_TRY(find_hull(layout, &shards, hull, &filled));
  for (int d = 0; d < layout->rank; d++) out_ranges[d] = hull[d];
  *out_filled = filled;
  return NULL;
}

tsr_status tsr_layout_process_hull(const tsr_layout *layout, int64_t process, tsr_range *out_ranges,
                                   bool *out_filled) {
  shard_list shards = {NULL, 0};
  TSR_TRY(process_shards(layout, process, &shards));
  tsr_status status = tsr_layout_hull(layout, shards.items, shards.count, out_ranges, out_filled);
  free(shards.items);
  return status;
}

// ---- holes ----

tsr_status tsr_layout_find_hole(const tsr_layout *layout, const int64_t *shards, int64_t count,
                                tsr_range *hull) {
  box_list boxes = {NULL, 0, 0};
  tsr_status status = collect_boxes(layout, shards, count, &boxes);
  // Halve each side in turn; if the lower half is filled, the hole is in the upper.
  for (int d = 0; d < layout->rank && !status; d++) {
    while (hull[d].hi - hull[d].lo > 1 && !status) {
      const tsr_range whole = hull[d];
      int64_t held = 0;
      hull[d].hi = whole.lo + (whole.hi - whole.lo) / 2;
      status = tsr_cover_volume(hull, layout->rank, boxes.ranges, boxes.count, &held);
      if (held == tsr_box_volume(hull, layout->rank)) hull[d] = (tsr_range){hull[d].hi, whole.hi};
    }
  }
  free(boxes.ranges);
  return status;
}
