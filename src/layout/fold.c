// Runs of a dimension written as boxes of (place in the row, row), rows being a common period long;
// fold.h has the idea.
#include "layout/fold.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "layout/cover.h"
#include "layout/layout_internal.h"

// Limit on boxes; beyond it the common period does not help.
enum { MOST_BOXES = 1 << 24 };

static tsr_status common_period(int64_t size, const tsr_run_list *runs, int64_t *out_period) {
  int64_t period = 1;
  bool repeat = false;
  for (int r = 0; r < runs->count; r++) {
    const tsr_run *run = &runs->items[r];
    if (run->count == 1 || period % run->step == 0) continue;
    repeat = true;
    const int64_t factor = run->step / tsr_gcd(period, run->step);
    if (__builtin_mul_overflow(period, factor, &period))
      return tsr_fail(TOO_LARGE, "the runs of a dimension of %lld have no common period",
                      (long long)size);
  }
  *out_period = repeat ? period : size > 0 ? size : 1;
  return NULL;
}

static tsr_status add_box(tsr_fold *fold, tsr_range within, tsr_range rows) {
  if (within.lo >= within.hi || rows.lo >= rows.hi) return NULL;
  if (fold->count == MOST_BOXES)
    return tsr_fail(TOO_LARGE, "the runs of a dimension of %lld have no common period",
                    (long long)fold->size);
  tsr_range *boxes = tsr_grow(fold->boxes, fold->count, &fold->capacity, 2 * sizeof *boxes);
  if (!boxes) return tsr_fail(NO_MEMORY, "%lld folded runs", (long long)fold->count);
  fold->boxes = boxes;
  fold->boxes[2 * fold->count] = within;
  fold->boxes[2 * fold->count + 1] = rows;
  fold->count++;
  return NULL;
}

// Blocks a period apart. A block that crosses the end of its row continues in the next, and over
// whole rows if it is longer than a period (then count is 1).
static tsr_status add_blocks(tsr_fold *fold, int64_t global, int64_t length, int64_t count) {
  const int64_t row = global / fold->period, place = global % fold->period;
  const int64_t room = fold->period - place, head = length < room ? length : room;
  const int64_t rest = length - head, whole = rest / fold->period;
  TSR_TRY(add_box(fold, (tsr_range){place, place + head}, (tsr_range){row, row + count}));
  TSR_TRY(add_box(fold, (tsr_range){0, fold->period}, (tsr_range){row + 1, row + 1 + whole}));
  return add_box(fold, (tsr_range){0, rest - whole * fold->period},
                 (tsr_range){row + 1 + whole, row + 1 + whole + count});
}

// The step is a fraction of the period: every period / step blocks, one is a period later.
static tsr_status add_run(tsr_fold *fold, const tsr_run *run) {
  if (run->count == 1) return add_blocks(fold, run->global, run->length, 1);
  const int64_t each = fold->period / run->step;
  for (int64_t i = 0; i < each && i < run->count; i++) {
    const int64_t count = (run->count - 1 - i) / each + 1;
    TSR_TRY(add_blocks(fold, run->global + i * run->step, run->length, count));
  }
  return NULL;
}

tsr_status tsr_fold_init(tsr_fold *fold, int64_t size, const tsr_run_list *runs) {
  *fold = (tsr_fold){.size = size};
  TSR_TRY(common_period(size, runs, &fold->period));
  tsr_status status = NULL;
  for (int r = 0; r < runs->count && !status; r++) status = add_run(fold, &runs->items[r]);
  if (status) tsr_fold_deinit(fold);
  return status;
}

void tsr_fold_deinit(tsr_fold *fold) {
  free(fold->boxes);
  *fold = (tsr_fold){0};
}

tsr_status tsr_fold_tiles(const tsr_fold *fold, bool *out_tiles, int64_t *out_index,
                          int64_t *out_times) {
  const int64_t rows = fold->size / fold->period, rest = fold->size % fold->period;
  const tsr_range whole_rows[2] = {{0, fold->period}, {0, rows}};
  const tsr_range last_row[2] = {{0, rest}, {rows, rows + 1}};
  bool tiles = true;
  tsr_cover_fault fault = {.times = 1};
  TSR_TRY(tsr_cover_tiles(whole_rows, 2, fold->boxes, fold->count, &tiles, &fault));
  if (tiles) TSR_TRY(tsr_cover_tiles(last_row, 2, fold->boxes, fold->count, &tiles, &fault));
  *out_tiles = tiles;
  *out_index = tiles ? 0 : fault.ranges[1].lo * fold->period + fault.ranges[0].lo;
  *out_times = fault.times;
  return NULL;
}

tsr_status tsr_fold_elements(const tsr_fold *fold, int64_t *out_elements) {
  const tsr_range all[2] = {{0, fold->period}, {0, fold->size / fold->period + 1}};
  return tsr_cover_volume(all, 2, fold->boxes, fold->count, out_elements);
}
