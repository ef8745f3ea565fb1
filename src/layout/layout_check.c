// The proof that a layout tiles its tensor: dimension by dimension for grids, by volumes of boxes
// otherwise.
#include <stdlib.h>

#include "base/text_internal.h"
#include "layout/cover.h"
#include "layout/fold.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"

// ---- grids: dimension by dimension ----

// All runs of a dimension that are owned by their shard.
static tsr_status owned_runs(const tsr_cut *cut, tsr_run_list *out) {
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < cut->shards && !status; i++) {
    runs.count = 0;
    status = tsr_cut_runs(cut, i, &runs);
    for (int r = 0; r < runs.count && !status; r++)
      if (runs.items[r].owned) status = tsr_run_list_add(out, runs.items[r]);
  }
  tsr_run_list_deinit(&runs);
  return status;
}

static tsr_status check_runs(const tsr_run_list *runs, int64_t size) {
  tsr_fold fold;
  TSR_TRY(tsr_fold_init(&fold, size, runs));
  bool tiles = true;
  int64_t index = 0, times = 1;
  tsr_status status = tsr_fold_tiles(&fold, &tiles, &index, &times);
  tsr_fold_deinit(&fold);
  if (status || tiles) return status;
  if (times == 0) return tsr_fail(BROKEN_LAYOUT, "no shard holds index %lld", (long long)index);
  return tsr_fail(BROKEN_LAYOUT, "%lld shards own index %lld", (long long)times, (long long)index);
}

static tsr_status check_dim(const tsr_layout *layout, int dim) {
  const tsr_cut cut = tsr_layout_cut(layout, dim);
  if (cut.stage_count == 0) return NULL;
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_layout_check_listed(cut.shards, "shards");
  if (!status) status = owned_runs(&cut, &runs);
  if (!status) status = check_runs(&runs, cut.size);
  tsr_run_list_deinit(&runs);
  return tsr_note(status, "dimension %d", dim);
}

// ---- boxes and flat ranges ----

static tsr_status describe_fault(const tsr_cover_fault *fault, int rank) {
  tsr_text text = TSR_TEXT_EMPTY;
  if (fault->times == 0)
    tsr_text_add(&text, "no shard holds elements (");
  else
    tsr_text_addf(&text, "%lld different pieces hold elements (", (long long)fault->times);
  for (int d = 0; d < rank; d++)
    tsr_text_addf(&text, "%s%lld-%lld", d ? ", " : "", (long long)fault->ranges[d].lo,
                  (long long)fault->ranges[d].hi);
  tsr_text_add_char(&text, ')');
  return tsr_fail_text(TSR_CAUSE_BROKEN_LAYOUT, &text);
}

// The boxes that are owned by their shard.
static tsr_status owned_boxes(const tsr_box_table *table, int rank, int64_t count,
                              tsr_range **out_boxes, int64_t *out_count) {
  tsr_range *boxes = malloc(sizeof *boxes * ((size_t)count * (size_t)rank + 1));
  if (!boxes) return tsr_fail(NO_MEMORY, "%lld boxes", (long long)count);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!table->owned[i]) continue;
    for (int d = 0; d < rank; d++) boxes[kept * rank + d] = table->ranges[i * rank + d];
    kept++;
  }
  *out_boxes = boxes;
  *out_count = kept;
  return NULL;
}

static tsr_status check_listed(const tsr_box_table *table, const tsr_range *region, int rank,
                               int64_t count) {
  tsr_range *boxes = NULL;
  int64_t kept = 0;
  TSR_TRY(owned_boxes(table, rank, count, &boxes, &kept));
  bool tiles = true;
  tsr_cover_fault fault;
  tsr_status status = tsr_cover_tiles(region, rank, boxes, kept, &tiles, &fault);
  free(boxes);
  if (status || tiles) return status;
  return describe_fault(&fault, rank);
}

static tsr_status check_boxes(const tsr_layout *layout) {
  tsr_range region[TSR_MAX_RANK];
  for (int d = 0; d < layout->rank; d++) region[d] = (tsr_range){0, layout->dims[d]};
  const tsr_box_table *table = layout->table;
  return check_listed(table, region, layout->rank, table->first[table->shard_count]);
}

static tsr_status check_flat(const tsr_layout *layout) {
  tsr_range region = {0, 1};
  for (int d = 0; d < layout->rank; d++) region.hi *= layout->dims[d];
  return check_listed(layout->table, &region, 1, layout->table->shard_count);
}

tsr_status tsr_layout_check(const tsr_layout *layout) {
  if (layout->kind == TSR_LAYOUT_BOXES) return check_boxes(layout);
  if (layout->kind == TSR_LAYOUT_FLAT) return check_flat(layout);
  for (int d = 0; d < layout->rank; d++) TSR_TRY(check_dim(layout, d));
  return NULL;
}
