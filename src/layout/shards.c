// One shard: its shape, its box, its runs.
#include "base/room.h"
#include "element/shape_internal.h"
#include "layout/cover.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

static int64_t listed_elements(const tsr_layout *layout, int64_t shard) {
  const tsr_box_table *table = layout->table;
  if (layout->kind == TSR_LAYOUT_FLAT) return table->ranges[shard].hi - table->ranges[shard].lo;
  const int64_t end = table->first[shard + 1];
  if (end == table->first[shard]) return 0;
  return table->offsets[end - 1] +
         tsr_box_volume(table->ranges + (end - 1) * layout->rank, layout->rank);
}

bool tsr_layout_shard_shape(const tsr_layout *layout, int64_t shard, tsr_shape *out_shape) {
  if (layout->table) {
    if (shard < 0 || shard >= layout->table->shard_count) return false;
    *out_shape = (tsr_shape){.rank = 1, .dims = {listed_elements(layout, shard)}};
    return true;
  }
  int64_t coords[TSR_MAX_RANK];
  if (!tsr_layout_shard_coords(layout, shard, coords)) return false;
  out_shape->rank = layout->rank;
  for (int d = 0; d < layout->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    out_shape->dims[d] = tsr_cut_length(&cut, coords[d]);
  }
  return true;
}

bool tsr_layout_buffer_shape(const tsr_layout *layout, int64_t shard, tsr_shape *out_shape) {
  if (layout->policy != TSR_POLICY_PAD) return tsr_layout_shard_shape(layout, shard, out_shape);
  if (shard < 0 || shard >= tsr_layout_shard_count(layout)) return false;
  out_shape->rank = layout->rank;
  for (int d = 0; d < layout->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    out_shape->dims[d] = tsr_cut_longest(&cut);
  }
  return true;
}

void tsr_layout_buffer_strides(const tsr_layout *layout, int64_t shard, int64_t *out_strides) {
  tsr_shape shape;
  if (tsr_layout_buffer_shape(layout, shard, &shape)) tsr_shape_strides(&shape, out_strides);
}

static int64_t product(const tsr_shape *shape) {
  int64_t elements = 1;
  for (int d = 0; d < shape->rank; d++) elements *= shape->dims[d];
  return elements;
}

int64_t tsr_layout_shard_elements(const tsr_layout *layout, int64_t shard) {
  tsr_shape shape;
  return tsr_layout_shard_shape(layout, shard, &shape) ? product(&shape) : 0;
}

int64_t tsr_layout_buffer_elements(const tsr_layout *layout, int64_t shard) {
  tsr_shape shape;
  return tsr_layout_buffer_shape(layout, shard, &shape) ? product(&shape) : 0;
}

// ---- boxes ----

// The range of a shard of a cut that is not plain, if it is one. Runs with different owners may
// still form one range.
static tsr_status runs_range(const tsr_cut *cut, int64_t index, int dim, tsr_range *out_range) {
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(cut, index, &list);
  tsr_range range = {0, 0};
  for (int r = 0; r < list.count && !status; r++) {
    const tsr_run *run = &list.items[r];
    if (r == 0) range.lo = range.hi = run->global;
    if (run->count > 1 || run->global != range.hi)
      status = tsr_fail(BAD_CUT, "dimension %d: shard %lld holds several ranges, not one", dim,
                        (long long)index);
    range.hi = run->global + run->length;
  }
  tsr_run_list_deinit(&list);
  if (!status) *out_range = range;
  return status;
}

tsr_status tsr_layout_dim_ranges(const tsr_layout *layout, int dim, tsr_range *out_ranges) {
  const tsr_cut cut = tsr_layout_cut(layout, dim);
  if (tsr_cut_is_plain(&cut)) {
    tsr_cut_ranges(&cut, out_ranges);
    return NULL;
  }
  for (int64_t i = 0; i < cut.shards; i++) TSR_TRY(runs_range(&cut, i, dim, &out_ranges[i]));
  return NULL;
}

static tsr_status grid_box(const tsr_layout *layout, int64_t shard, tsr_range *out_ranges) {
  int64_t coords[TSR_MAX_RANK];
  tsr_layout_shard_coords(layout, shard, coords);
  for (int d = 0; d < layout->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    if (tsr_cut_is_plain(&cut))
      out_ranges[d] = tsr_cut_range(&cut, coords[d]);
    else
      TSR_TRY(runs_range(&cut, coords[d], d, &out_ranges[d]));
  }
  return NULL;
}

static tsr_status flat_box(const tsr_layout *layout, int64_t shard, tsr_range *out_ranges) {
  const tsr_range range = layout->table->ranges[shard];
  int64_t at = range.lo;
  for (int d = 0; d < layout->rank; d++) out_ranges[d] = (tsr_range){0, 0};
  if (tsr_flat_next(layout, &at, range.hi, out_ranges) && at < range.hi)
    return tsr_fail(BAD_CUT, "shard %lld is a flat range of several boxes, not one",
                    (long long)shard);
  return NULL;
}

static tsr_status listed_box(const tsr_layout *layout, int64_t shard, tsr_range *out_ranges) {
  const tsr_box_table *table = layout->table;
  const int64_t first = table->first[shard], count = table->first[shard + 1] - first;
  if (count > 1)
    return tsr_fail(BAD_CUT, "shard %lld has %lld boxes, not one", (long long)shard,
                    (long long)count);
  for (int d = 0; d < layout->rank; d++)
    out_ranges[d] = count ? table->ranges[first * layout->rank + d] : (tsr_range){0, 0};
  return NULL;
}

tsr_status tsr_layout_box(const tsr_layout *layout, int64_t shard, tsr_range *out_ranges) {
  TSR_TRY(tsr_layout_check_shard(layout, shard));
  TSR_TRY(tsr_list_check(out_ranges, layout->rank, "ranges"));
  tsr_range ranges[TSR_MAX_RANK];
  if (layout->kind == TSR_LAYOUT_GRID)
    TSR_TRY(grid_box(layout, shard, ranges));
  else if (layout->kind == TSR_LAYOUT_FLAT)
    TSR_TRY(flat_box(layout, shard, ranges));
  else
    TSR_TRY(listed_box(layout, shard, ranges));
  for (int d = 0; d < layout->rank; d++) out_ranges[d] = ranges[d];
  return NULL;
}

// ---- runs ----

tsr_status tsr_layout_runs(const tsr_layout *layout, int dim, int64_t index, tsr_run **out_runs,
                           int64_t *out_count) {
  if (layout->table) return tsr_fail(UNSUPPORTED, "only grids have runs along a dimension");
  TSR_TRY(tsr_layout_check_dim(layout, dim));
  const tsr_cut cut = tsr_layout_cut(layout, dim);
  if (index < 0 || index >= cut.shards)
    return tsr_fail(INDEX_OUT_OF_RANGE, "shard %lld of dimension %d, which has %lld",
                    (long long)index, dim, (long long)cut.shards);
  tsr_run_list list = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(&cut, index, &list);
  if (status) {
    tsr_run_list_deinit(&list);
    return status;
  }
  *out_runs = list.items;
  *out_count = list.count;
  return NULL;
}
