// A shard of any kind of layout as blocks: products of runs with strides (index_blocks.h).
#include "transfer/index_blocks.h"

#include <stdlib.h>

#include "base/grow.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

static tsr_status add_block(tsr_blocks *blocks, tsr_block **out_block) {
  const size_t rank = blocks->layout->rank;
  tsr_block *items = tsr_grow(blocks->items, blocks->count, &blocks->capacity, sizeof *items);
  if (items) blocks->items = items;
  tsr_run_list *runs = items ? tsr_arena_zeros(&blocks->arena, rank + 1, sizeof *runs) : NULL;
  int64_t *strides = runs ? tsr_arena_zeros(&blocks->arena, rank + 1, sizeof *strides) : NULL;
  if (!strides) return tsr_fail(NO_MEMORY, "the blocks of a shard");
  *out_block = &blocks->items[blocks->count++];
  **out_block = (tsr_block){runs, strides, 0, -1};
  return NULL;
}

static tsr_status add_grid(tsr_blocks *blocks) {
  const tsr_layout *layout = blocks->layout;
  tsr_block *block = NULL;
  TSR_TRY(add_block(blocks, &block));
  tsr_shape buffer;
  int64_t coords[TSR_MAX_RANK], stride = 1;
  tsr_layout_buffer_shape(layout, blocks->shard, &buffer);
  tsr_layout_shard_coords(layout, blocks->shard, coords);
  for (int d = layout->rank - 1; d >= 0; d--) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    TSR_TRY(tsr_cut_runs(&cut, coords[d], &block->runs[d]));
    block->strides[d] = stride;
    stride *= buffer.dims[d];
  }
  return NULL;
}

// A box stored row-major in the buffer; skips empty ones.
static tsr_status add_box(tsr_blocks *blocks, const tsr_range *box, int64_t offset,
                          int64_t number) {
  const int rank = blocks->layout->rank;
  for (int d = 0; d < rank; d++)
    if (box[d].lo >= box[d].hi) return NULL;
  tsr_block *block = NULL;
  TSR_TRY(add_block(blocks, &block));
  block->offset = offset;
  block->number = number;
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    const int64_t length = box[d].hi - box[d].lo;
    TSR_TRY(tsr_run_list_add(&block->runs[d], tsr_run_block(box[d].lo, 0, length, true)));
    block->strides[d] = stride;
    stride *= length;
  }
  return NULL;
}

static tsr_status add_boxes(tsr_blocks *blocks) {
  const tsr_layout *layout = blocks->layout;
  const tsr_box_table *table = layout->table;
  for (int64_t b = table->first[blocks->shard]; b < table->first[blocks->shard + 1]; b++)
    TSR_TRY(add_box(blocks, table->ranges + b * layout->rank, table->offsets[b], b));
  return NULL;
}

static tsr_status add_flat(tsr_blocks *blocks) {
  const tsr_range range = blocks->layout->table->ranges[blocks->shard];
  tsr_range box[TSR_MAX_RANK];
  for (int64_t at = range.lo, start = at;; start = at) {
    if (!tsr_flat_next(blocks->layout, &at, range.hi, box)) return NULL;
    TSR_TRY(add_box(blocks, box, start - range.lo, blocks->shard));
  }
}

tsr_status tsr_blocks_init(tsr_blocks *blocks, const tsr_layout *layout, int64_t shard) {
  *blocks = (tsr_blocks)TSR_BLOCKS_EMPTY;
  blocks->layout = layout;
  blocks->shard = shard;
  tsr_status status = layout->kind == TSR_LAYOUT_GRID    ? add_grid(blocks)
                      : layout->kind == TSR_LAYOUT_BOXES ? add_boxes(blocks)
                                                         : add_flat(blocks);
  if (status) tsr_blocks_deinit(blocks);
  return status;
}

void tsr_blocks_deinit(tsr_blocks *blocks) {
  for (int64_t i = 0; i < blocks->count; i++)
    for (int d = 0; d < blocks->layout->rank; d++) tsr_run_list_deinit(&blocks->items[i].runs[d]);
  free(blocks->items);
  tsr_arena_deinit(&blocks->arena);
  *blocks = (tsr_blocks)TSR_BLOCKS_EMPTY;
}

bool tsr_block_hull(const tsr_block *block, int rank, tsr_range *out_hull) {
  for (int d = 0; d < rank; d++) {
    const tsr_run_list *runs = &block->runs[d];
    if (runs->count == 0) return false;
    out_hull[d] = (tsr_range){INT64_MAX, 0};
    for (int i = 0; i < runs->count; i++) {
      const int64_t end = tsr_run_end(&runs->items[i]);
      if (runs->items[i].global < out_hull[d].lo) out_hull[d].lo = runs->items[i].global;
      if (end > out_hull[d].hi) out_hull[d].hi = end;
    }
  }
  return true;
}
