// Copies between shards and one box. In a grid they are a product over the dimensions: the runs of
// all shards of a dimension, clipped to the box's range. Boxes and flat ranges are tested one by
// one.
//
// array/host_copies.c is the simpler case of one shard and a whole tensor in host memory, without
// an index and without clipping.
#include "transfer/box_copies.h"

#include <stdlib.h>

#include "base/grow.h"
#include "element/copy_internal.h"
#include "element/shape_internal.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

// A run that one shard of a dimension holds.
typedef struct dim_share {
  int64_t shard;  // along the dimension
  tsr_run run;
} dim_share;

typedef struct share_list {
  dim_share *items;  // owned
  int64_t count, capacity;
} share_list;

struct tsr_box_index {
  const tsr_layout *layout;
  share_list dims[];  // grids: all runs of all shards, by shard; one list for each dimension
};

static tsr_status add_share(share_list *list, int64_t shard, const tsr_run *run) {
  dim_share *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%lld runs of a layout", (long long)list->count + 1);
  list->items = items;
  items[list->count++] = (dim_share){shard, *run};
  return NULL;
}

// ---- the index ----

static tsr_status index_shard(share_list *list, const tsr_cut *cut, int64_t shard) {
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(cut, shard, &runs);
  for (int i = 0; i < runs.count && !status; i++) status = add_share(list, shard, &runs.items[i]);
  tsr_run_list_deinit(&runs);
  return status;
}

static tsr_status index_dims(tsr_box_index *index) {
  for (int d = 0; d < index->layout->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(index->layout, d);
    share_list *list = &index->dims[d];
    TSR_TRY(tsr_layout_check_listed(cut.shards, "shards of a dimension"));
    list->items = malloc(sizeof *list->items * (size_t)cut.shards);  // mostly one run each
    if (!list->items) return tsr_fail(NO_MEMORY, "%lld runs of a layout", (long long)cut.shards);
    list->capacity = cut.shards;
    for (int64_t shard = 0; shard < cut.shards; shard++) TSR_TRY(index_shard(list, &cut, shard));
  }
  return NULL;
}

tsr_status tsr_box_index_create(const tsr_layout *layout, tsr_box_index **out_index) {
  const size_t dims = layout->kind == TSR_LAYOUT_GRID ? layout->rank : 0;
  tsr_box_index *index = calloc(1, sizeof *index + dims * sizeof(share_list));
  if (!index) return tsr_fail(NO_MEMORY, "the index of a layout");
  index->layout = layout;
  tsr_status status = layout->kind == TSR_LAYOUT_GRID ? index_dims(index) : NULL;
  if (status) {
    tsr_box_index_destroy(index);
    return status;
  }
  *out_index = index;
  return NULL;
}

void tsr_box_index_destroy(tsr_box_index *index) {
  if (!index) return;
  const int dims = index->layout->kind == TSR_LAYOUT_GRID ? index->layout->rank : 0;
  for (int d = 0; d < dims; d++) free(index->dims[d].items);
  free(index);
}

// ---- one dimension of a grid ----

// Block `block` of a run, clipped to a range of indices.
static tsr_run part_of_block(const tsr_run *run, int64_t block, tsr_range range) {
  const int64_t start = run->global + block * run->step, end = start + run->length;
  const int64_t lo = start > range.lo ? start : range.lo, hi = end < range.hi ? end : range.hi;
  return tsr_run_block(lo, run->local + block * run->local_step + (lo - start), hi - lo,
                       run->owned);
}

// The blocks of a run that meet a range. If `joined`, whole blocks stay a progression, and only
// blocks cut by an end of the range are separate.
static tsr_status clip(share_list *list, const dim_share *whole, tsr_range range, bool joined) {
  const tsr_run *run = &whole->run;
  if (tsr_run_end(run) <= range.lo || run->global >= range.hi) return NULL;
  const int64_t before = range.lo - run->global - run->length;  // < 0: the first block meets it
  int64_t first = before < 0 ? 0 : before / run->step + 1;
  const int64_t beyond = (range.hi - 1 - run->global) / run->step;
  int64_t last = beyond < run->count - 1 ? beyond : run->count - 1;
  if (first > last) return NULL;
  for (; !joined && first < last; first++) {
    const tsr_run block = part_of_block(run, first, range);
    TSR_TRY(add_share(list, whole->shard, &block));
  }
  const tsr_run head = part_of_block(run, first, range), tail = part_of_block(run, last, range);
  if (head.length < run->length || first == last) {
    TSR_TRY(add_share(list, whole->shard, &head));
    first++;
  }
  const bool tail_apart = tail.length < run->length && last >= first;
  if (tail_apart) last--;
  if (first <= last) {
    tsr_run middle = *run;
    middle.global += first * run->step;
    middle.local += first * run->local_step;
    middle.count = last - first + 1;
    TSR_TRY(add_share(list, whole->shard, &middle));
  }
  return tail_apart ? add_share(list, whole->shard, &tail) : NULL;
}

// The first share that can meet a range: by bisection for a plain cut, whose runs ascend.
static int64_t first_share(const share_list *list, bool ascending, int64_t lo) {
  if (!ascending) return 0;
  int64_t low = 0, high = list->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (tsr_run_end(&list->items[middle].run) <= lo)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// A block and a progression of blocks are one loop of a copy each. If that could exceed the loops
// of a copy, progressions are taken block by block.
static tsr_status clip_dim(const tsr_box_index *index, int dim, tsr_range range, share_list *list) {
  const tsr_cut cut = tsr_layout_cut(index->layout, dim);
  const share_list *all = &index->dims[dim];
  const bool ascending = tsr_cut_is_plain(&cut), joined = 2 * index->layout->rank <= TSR_MAX_RANK;
  for (int64_t i = first_share(all, ascending, range.lo); i < all->count; i++) {
    if (ascending && all->items[i].run.global >= range.hi) break;
    TSR_TRY(clip(list, &all->items[i], range, joined));
  }
  return NULL;
}

// ---- grids ----

typedef struct grid_walk {
  const tsr_layout *layout;
  const tsr_range *box;
  share_list dims[TSR_MAX_RANK];
  int64_t turns[TSR_MAX_RANK];  // which share of each dimension
  const int64_t *strides;       // of the box
} grid_walk;

static void add_loop(tsr_copy *copy, int64_t count, int64_t from, int64_t to) {
  if (count > 1) copy->loops[copy->loop_count++] = (tsr_copy_loop){count, from, to};
}

static int64_t shard_of(const grid_walk *walk, bool *out_owned) {
  int64_t shard = 0;
  *out_owned = true;
  for (int d = 0; d < walk->layout->rank; d++) {
    const dim_share *s = &walk->dims[d].items[walk->turns[d]];
    shard = shard * tsr_layout_dim_shards(walk->layout, d) + s->shard;
    *out_owned = *out_owned && s->run.owned;
  }
  return shard;
}

static void make_copy(const grid_walk *walk, int64_t shard, tsr_copy *copy) {
  int64_t strides[TSR_MAX_RANK];
  tsr_layout_buffer_strides(walk->layout, shard, strides);
  *copy = (tsr_copy){.source = shard, .length = 1};
  for (int d = 0; d < walk->layout->rank; d++) {
    const tsr_run *run = &walk->dims[d].items[walk->turns[d]].run;
    copy->from += run->local * strides[d];
    copy->to += (run->global - walk->box[d].lo) * walk->strides[d];
    add_loop(copy, run->count, run->local_step * strides[d], run->step * walk->strides[d]);
    add_loop(copy, run->length, strides[d], walk->strides[d]);
  }
  tsr_copy_simplify(copy);
}

static bool turn(grid_walk *walk) {
  for (int d = walk->layout->rank - 1; d >= 0; d--) {
    if (++walk->turns[d] < walk->dims[d].count) return true;
    walk->turns[d] = 0;
  }
  return false;
}

static tsr_status walk_grid(grid_walk *walk, tsr_box_holders holders, tsr_box_copy_fn *fn,
                            void *context) {
  for (int d = 0; d < walk->layout->rank; d++)
    if (walk->dims[d].count == 0) return NULL;
  do {
    bool owned = false;
    tsr_copy copy;
    const int64_t shard = shard_of(walk, &owned);
    if (holders == TSR_BOX_OWNERS && !owned) continue;
    make_copy(walk, shard, &copy);
    copy.target = !owned;
    TSR_TRY(fn(context, &copy));
  } while (turn(walk));
  return NULL;
}

static tsr_status copies_of_grid(const tsr_box_index *index, const tsr_range *box,
                                 const int64_t *strides, tsr_box_holders holders,
                                 tsr_box_copy_fn *fn, void *context) {
  grid_walk walk = {.layout = index->layout, .box = box, .strides = strides};
  tsr_status status = NULL;
  for (int d = 0; d < walk.layout->rank && !status; d++)
    status = clip_dim(index, d, box[d], &walk.dims[d]);
  if (!status) status = walk_grid(&walk, holders, fn, context);
  for (int d = 0; d < walk.layout->rank; d++) free(walk.dims[d].items);
  return status;
}

// ---- boxes and flat ranges ----

static bool meet(int rank, const tsr_piece *piece, const tsr_range *box, const int64_t *strides,
                 int64_t shard, tsr_copy *copy) {
  *copy = (tsr_copy){.source = shard, .target = !piece->owned, .from = piece->offset, .length = 1};
  for (int d = 0; d < rank; d++) {
    const tsr_range p = piece->ranges[d], b = box[d];
    const int64_t lo = p.lo > b.lo ? p.lo : b.lo, hi = p.hi < b.hi ? p.hi : b.hi;
    if (lo >= hi) return false;
    copy->from += (lo - p.lo) * piece->strides[d];
    copy->to += (lo - b.lo) * strides[d];
    add_loop(copy, hi - lo, piece->strides[d], strides[d]);
  }
  tsr_copy_simplify(copy);
  return true;
}

static tsr_status copies_of_shard(const tsr_layout *layout, int64_t shard, const tsr_range *box,
                                  const int64_t *strides, tsr_box_holders holders,
                                  tsr_box_copy_fn *fn, void *context) {
  tsr_pieces pieces;
  tsr_copy copy;
  tsr_status status = NULL;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);) {
    if (holders == TSR_BOX_OWNERS && !piece.owned) continue;
    if (meet(layout->rank, &piece, box, strides, shard, &copy)) status = fn(context, &copy);
  }
  tsr_pieces_deinit(&pieces);
  return status;
}

tsr_status tsr_box_copies_into(const tsr_box_index *index, const tsr_range *box,
                               const int64_t *strides, tsr_box_holders holders, tsr_box_copy_fn *fn,
                               void *context) {
  const tsr_layout *layout = index->layout;
  for (int d = 0; d < layout->rank; d++)
    if (box[d].lo >= box[d].hi) return NULL;
  if (layout->kind == TSR_LAYOUT_GRID)
    return copies_of_grid(index, box, strides, holders, fn, context);
  const int64_t shards = tsr_layout_shard_count(layout);
  for (int64_t shard = 0; shard < shards; shard++)
    TSR_TRY(copies_of_shard(layout, shard, box, strides, holders, fn, context));
  return NULL;
}

tsr_status tsr_box_copies(const tsr_box_index *index, const tsr_range *box, tsr_box_holders holders,
                          tsr_box_copy_fn *fn, void *context) {
  tsr_shape shape = {.rank = index->layout->rank};
  int64_t strides[TSR_MAX_RANK];
  for (int d = 0; d < shape.rank; d++) shape.dims[d] = box[d].hi - box[d].lo;
  tsr_shape_strides(&shape, strides);
  return tsr_box_copies_into(index, box, strides, holders, fn, context);
}
