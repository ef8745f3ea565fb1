// Which shards of one layout share elements with a shard of the other, without visiting the rest.
//
// Grids answer by dimension: the owner of an element is arithmetic, so a walk over what a shard
// holds finds the cuts it meets. If there are more blocks than cuts (cyclic), every cut is tried
// instead. Listed boxes are found in a tree.
#include <assert.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/grow.h"
#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "transfer/index_blocks.h"

tsr_status tsr_numbers_add(tsr_numbers *list, int64_t number) {
  int64_t *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of %lld numbers", (long long)list->count);
  list->items = items;
  list->items[list->count++] = number;
  return NULL;
}

void tsr_numbers_tidy(tsr_numbers *list) {
  list->count = tsr_sort_distinct(list->items, list->count);
}

void tsr_numbers_deinit(tsr_numbers *list) {
  free(list->items);
  *list = (tsr_numbers)TSR_NUMBERS_EMPTY;
}

// ---- cuts of one dimension ----

// Walks over what is held from owner to owner; gives up after `most` steps.
static tsr_status walk_owners(const tsr_run_list *held, const tsr_cut *cut, int64_t most,
                              tsr_numbers *list, bool *out_done) {
  *out_done = false;
  for (int r = 0; r < held->count; r++) {
    const tsr_run *run = &held->items[r];
    for (int64_t i = 0; i < run->count; i++) {
      const int64_t start = run->global + i * run->step, end = start + run->length;
      for (int64_t at = start, length = 0; at < end; at += length) {
        if (most-- == 0) return NULL;
        TSR_TRY(tsr_numbers_add(list, tsr_cut_owner(cut, at, &length)));
      }
    }
  }
  *out_done = true;
  return NULL;
}

static bool lists_meet(const tsr_run_list *a, const tsr_run_list *b) {
  tsr_overlap overlap;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++) {
      tsr_meeting meeting = tsr_meeting_of(&a->items[i], &b->items[j]);
      if (tsr_meeting_next(&meeting, &overlap)) return true;
    }
  return false;
}

static tsr_status try_all(const tsr_run_list *held, const tsr_cut *cut, tsr_numbers *list) {
  list->count = 0;
  TSR_TRY(tsr_layout_check_listed(cut->shards, "cuts of a dimension"));
  tsr_status status = NULL;
  for (int64_t i = 0; i < cut->shards && !status; i++) {
    tsr_run_list runs = TSR_RUN_LIST_EMPTY;
    status = tsr_cut_runs(cut, i, &runs);
    if (!status && lists_meet(held, &runs)) status = tsr_numbers_add(list, i);
    tsr_run_list_deinit(&runs);
  }
  return status;
}

tsr_status tsr_reach_cuts(const tsr_run_list *held, const tsr_cut *cut, bool all, int64_t own,
                          tsr_numbers *list) {
  bool done = false;
  const int64_t most = cut->shards > INT64_MAX / 4 ? INT64_MAX : 16 + 2 * cut->shards;
  if (!all || !tsr_cut_has_copies(cut)) TSR_TRY(walk_owners(held, cut, most, list, &done));
  if (!done) TSR_TRY(try_all(held, cut, list));
  if (own >= 0 && tsr_cut_has_copies(cut)) TSR_TRY(tsr_numbers_add(list, own));
  tsr_numbers_tidy(list);
  return NULL;
}

// ---- shards ----

// Adds the shards of a grid whose cuts are in the lists.
static tsr_status add_product(const tsr_layout *grid, const tsr_numbers *cuts, tsr_numbers *list) {
  int64_t at[TSR_MAX_RANK] = {0};
  for (int d = 0; d < grid->rank; d++)
    if (cuts[d].count == 0) return NULL;
  for (;;) {
    int64_t shard = 0;
    for (int d = 0; d < grid->rank; d++) {
      assert(cuts[d].items);  // since they are counted
      shard = shard * tsr_layout_dim_shards(grid, d) + cuts[d].items[at[d]];
    }
    TSR_TRY(tsr_numbers_add(list, shard));
    int d = grid->rank - 1;
    while (d >= 0 && ++at[d] == cuts[d].count) at[d--] = 0;
    if (d < 0) return NULL;
  }
}

// `own` has the cuts of the taker's own source shard, which gives first; NULL = none.
static tsr_status reach_grid(const tsr_block *block, const tsr_layout *grid, bool all,
                             const int64_t *own, tsr_numbers *list) {
  tsr_numbers cuts[TSR_MAX_RANK];
  tsr_status status = NULL;
  for (int d = 0; d < grid->rank; d++) cuts[d] = (tsr_numbers)TSR_NUMBERS_EMPTY;
  for (int d = 0; d < grid->rank && !status; d++) {
    const tsr_cut cut = tsr_layout_cut(grid, d);
    status = tsr_reach_cuts(&block->runs[d], &cut, all, own ? own[d] : -1, &cuts[d]);
  }
  if (!status) status = add_product(grid, cuts, list);
  for (int d = 0; d < grid->rank; d++) tsr_numbers_deinit(&cuts[d]);
  return status;
}

typedef struct shard_listing {
  const tsr_layout *layout;
  tsr_numbers *list;
} shard_listing;

// The shard of a listed box, by bisection.
static int64_t shard_of_box(const tsr_layout *layout, int64_t box) {
  const tsr_box_table *table = layout->table;
  if (layout->kind == TSR_LAYOUT_FLAT) return box;
  int64_t low = 0, high = table->shard_count - 1;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (table->first[middle] <= box)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static tsr_status add_shard_of(void *context, int64_t box) {
  const shard_listing *l = context;
  return tsr_numbers_add(l->list, shard_of_box(l->layout, box));
}

// Row-major number of a corner of a box.
static int64_t flat_index(const tsr_layout *layout, const tsr_range *box, bool last) {
  int64_t index = 0;
  for (int d = 0; d < layout->rank; d++)
    index = index * layout->dims[d] + (last ? box[d].hi - 1 : box[d].lo);
  return index;
}

static tsr_status reach_listed(const tsr_block *block, const tsr_layout *layout,
                               const tsr_box_tree *tree, tsr_numbers *list) {
  tsr_range hull[TSR_MAX_RANK];
  shard_listing context = {layout, list};
  if (!tsr_block_hull(block, layout->rank, hull)) return NULL;
  if (layout->kind == TSR_LAYOUT_FLAT)
    hull[0] = (tsr_range){flat_index(layout, hull, false), flat_index(layout, hull, true) + 1};
  return tsr_box_tree_find(tree, hull, add_shard_of, &context);
}

// As reach_grid, for all blocks and any kind of layout.
static tsr_status reach(const tsr_blocks *blocks, const tsr_layout *layout,
                        const tsr_box_tree *tree, bool all, const int64_t *own, tsr_numbers *list) {
  for (int64_t b = 0; b < blocks->count; b++)
    TSR_TRY(tree ? reach_listed(&blocks->items[b], layout, tree, list)
                 : reach_grid(&blocks->items[b], layout, all, own, list));
  tsr_numbers_tidy(list);
  return NULL;
}

tsr_status tsr_reach_sources(const tsr_copy_plan *plan, const tsr_blocks *target, int64_t own,
                             tsr_numbers *list) {
  int64_t coords[TSR_MAX_RANK];
  if (own >= 0) tsr_layout_shard_coords(plan->from, own, coords);
  return reach(target, plan->from, plan->from_tree, false, own < 0 ? NULL : coords, list);
}

tsr_status tsr_reach_holders(const tsr_copy_plan *plan, const tsr_blocks *target,
                             tsr_numbers *list) {
  return reach(target, plan->from, plan->from_tree, true, NULL, list);
}

tsr_status tsr_reach_targets(const tsr_copy_plan *plan, const tsr_blocks *source,
                             tsr_numbers *list) {
  return reach(source, plan->to, plan->to_tree, true, NULL, list);
}
