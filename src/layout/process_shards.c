// How processes share a dimension: JAX's non-uniform shardings are those where the sets of shards
// of two processes overlap partly or differ in size.
#include <stdlib.h>

#include "base/grow.h"
#include "layout/grid.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

// What a process holds of a dimension: a shard index of a grid, or a range.
typedef struct dim_holding {
  int64_t process;
  tsr_range key;
} dim_holding;

typedef struct dim_holdings {
  dim_holding *items;  // owned
  int64_t count, capacity;
} dim_holdings;

static int compare_ranges(const tsr_range *a, const tsr_range *b) {
  if (a->lo != b->lo) return a->lo < b->lo ? -1 : 1;
  return (a->hi > b->hi) - (a->hi < b->hi);
}

static int by_process(const void *left, const void *right) {
  const dim_holding *a = left, *b = right;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  return compare_ranges(&a->key, &b->key);
}

static int by_key(const void *left, const void *right) {
  return compare_ranges(&((const dim_holding *)left)->key, &((const dim_holding *)right)->key);
}

static tsr_status add_holding(dim_holdings *list, int64_t process, tsr_range key) {
  dim_holding *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "what %lld devices hold", (long long)list->count);
  list->items = items;
  list->items[list->count++] = (dim_holding){process, key};
  return NULL;
}

static tsr_status add_position(const tsr_layout *layout, int64_t position, int dim,
                               dim_holdings *list) {
  const int64_t process = tsr_layout_process(layout, position);
  if (!layout->table) {
    const int64_t index = tsr_grid_index(layout, dim, position);
    return add_holding(list, process, (tsr_range){index, index});
  }
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, tsr_layout_shard(layout, position)));
  tsr_status status = NULL;
  for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);)
    status = add_holding(list, process, piece.ranges[dim]);
  tsr_pieces_deinit(&pieces);
  return status;
}

static int64_t once(dim_holding *items, int64_t count, int (*compare)(const void *, const void *)) {
  qsort(items, (size_t)count, sizeof *items, compare);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++)
    if (i == 0 || compare(&items[kept - 1], &items[i]) != 0) items[kept++] = items[i];
  return kept;
}

// Sets of `size` keys each, as rows to sort.
typedef struct key_rows {
  const dim_holding *items;
  int64_t size;
} key_rows;

static int by_row(const void *left, const void *right, void *context) {
  const key_rows *rows = context;
  const dim_holding *a = rows->items + *(const int64_t *)left * rows->size;
  const dim_holding *b = rows->items + *(const int64_t *)right * rows->size;
  for (int64_t i = 0; i < rows->size; i++) {
    const int found = compare_ranges(&a[i].key, &b[i].key);
    if (found) return found;
  }
  return 0;
}

// The size of each process's set if all are equal, else 0.
static int64_t common_size(const dim_holdings *list) {
  int64_t size = 0, start = 0;
  for (int64_t i = 1; i <= list->count; i++) {
    if (i < list->count && list->items[i].process == list->items[start].process) continue;
    if (size != 0 && i - start != size) return 0;
    size = i - start;
    start = i;
  }
  return size;
}

// Number of distinct sets.
static tsr_status count_rows(const dim_holdings *list, int64_t size, int64_t *out_count) {
  const int64_t rows = list->count / size;
  int64_t *order = malloc(sizeof *order * (size_t)rows);
  if (!order) return tsr_fail(NO_MEMORY, "%lld processes", (long long)rows);
  for (int64_t i = 0; i < rows; i++) order[i] = i;
  key_rows context = {list->items, size};
  qsort_r(order, (size_t)rows, sizeof *order, by_row, &context);
  int64_t count = 1;
  for (int64_t i = 1; i < rows; i++) count += by_row(&order[i - 1], &order[i], &context) != 0;
  free(order);
  *out_count = count;
  return NULL;
}

static tsr_status count_ways(dim_holdings *list, int64_t *out_count) {
  *out_count = 0;
  list->count = once(list->items, list->count, by_process);
  const int64_t size = common_size(list);
  if (size == 0) return NULL;
  int64_t ways = 0;
  TSR_TRY(count_rows(list, size, &ways));
  // Distinct sets are disjoint if together they have as many keys as there are.
  const int64_t keys = once(list->items, list->count, by_key);
  if (ways * size == keys) *out_count = ways;
  return NULL;
}

tsr_status tsr_layout_process_shards(const tsr_layout *layout, int dim, int64_t *out_count) {
  TSR_TRY(tsr_layout_check_dim(layout, dim));
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(layout), "devices"));
  dim_holdings list = {NULL, 0, 0};
  tsr_status status = NULL;
  for (int64_t p = 0; p < tsr_layout_device_count(layout) && !status; p++)
    status = add_position(layout, p, dim, &list);
  int64_t count = 0;
  if (!status && list.count > 0) status = count_ways(&list, &count);
  free(list.items);
  if (!status) *out_count = count;
  return status;
}
