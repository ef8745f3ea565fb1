// The changes from one plan to another. The moved bytes depend only on the shape and two specs, and
// are counted once for each such triple.
#include <stdlib.h>

#include "advice/memory_fit.h"
#include "base/arithmetic.h"
#include "base/grow.h"
#include "base/sized.h"
#include "advice/advice_internal.h"
#include "plan/tree.h"
#include "spec/spec_internal.h"
#include "transfer/tally.h"

typedef struct diff_job {
  const tsr_plan *before, *after;
  tsr_shape_table table;  // int64_t: elements moved, by the two specs and policies
  tsr_plan_diff diff;
  int64_t capacity;
} diff_job;

static tsr_status add(diff_job *work, tsr_plan_change change) {
  tsr_plan_diff *diff = &work->diff;
  tsr_plan_change *items = tsr_grow(diff->items, diff->count, &work->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "changes of a plan");
  diff->items = items;
  items[diff->count++] = change;
  diff->moved_bytes = tsr_saturated_add(diff->moved_bytes, change.moved_bytes);
  return NULL;
}

// ---- moved elements ----

// The layout of a row; a spec that does not fit cuts nothing.
static tsr_status lay_out(const tsr_plan *plan, int64_t index, tsr_layout **out_layout) {
  TSR_TRY(tsr_plan_try_layout(plan, index, out_layout));
  if (*out_layout) return NULL;
  tsr_spec *uncut = NULL;
  TSR_TRY(tsr_spec_of(NULL, 0, &uncut));
  const tsr_status status = tsr_tensor_layout(tsr_tree_at(plan->tree, index), plan->mesh, uncut,
                                              TSR_POLICY_ERROR, out_layout);
  tsr_spec_release(uncut);
  return status;
}

static tsr_status count_moved(const diff_job *work, int64_t before, int64_t after,
                              int64_t *out_moved) {
  tsr_layout *from = NULL, *to = NULL;
  tsr_status status = lay_out(work->before, before, &from);
  if (!status) status = lay_out(work->after, after, &to);
  if (!status) status = tsr_lacking_elements(from, to, out_moved);
  tsr_layout_release(from);
  tsr_layout_release(to);
  return tsr_note(status, "tensor \"%s\"", tsr_tree_at(work->after->tree, after)->path);
}

static tsr_status find_moved(diff_job *work, int64_t before, int64_t after, int64_t *out_moved) {
  const tsr_stored_row *from = &work->before->rows[before], *to = &work->after->rows[after];
  const tsr_tensor *tensor = tsr_tree_at(work->after->tree, after);
  const uint64_t key = (uint64_t)from->final << 34 | (uint64_t)to->final << 4 |
                       (uint64_t)from->policy << 2 | to->policy;
  bool is_new = false;
  int64_t *moved = tsr_shape_table_value(&work->table, key, tensor, &is_new);
  if (!moved) return tsr_fail(NO_MEMORY, "moved elements");
  if (is_new) TSR_TRY(count_moved(work, before, after, moved));
  *out_moved = *moved;
  return NULL;
}

// A tensor of another dtype or shape: every device needs its whole new shard.
static tsr_status all_elements(const diff_job *work, int64_t after, int64_t *out_elements) {
  tsr_layout *layout = NULL;
  *out_elements = 0;
  if (!work->after->mesh) return NULL;
  TSR_TRY(lay_out(work->after, after, &layout));
  tsr_status status = tsr_lacking_elements(NULL, layout, out_elements);
  tsr_layout_release(layout);
  return status;
}

// ---- rows ----

static tsr_status compare(diff_job *work, int64_t before, int64_t after) {
  tsr_plan_row old, new;
  int64_t moved = 0;
  tsr_plan_row_read(work->before, before, &old);
  tsr_plan_row_read(work->after, after, &new);
  bool same = tsr_tensor_same_shape(old.tensor, new.tensor);
  if (!same) {
    TSR_TRY(all_elements(work, after, &moved));
  } else if (work->before->mesh && work->after->mesh) {
    TSR_TRY(find_moved(work, before, after, &moved));
    same = moved == 0 && old.bytes_per_device == new.bytes_per_device;
  } else {
    same = tsr_spec_equal(old.final, new.final);
  }
  if (same) {
    work->diff.same++;
    return NULL;
  }
  work->diff.changed++;
  return add(work, (tsr_plan_change){TSR_DIFF_CHANGED, before, after,
                                     tsr_elements_bytes(new.tensor->dtype, moved)});
}

static tsr_status compare_all(diff_job *work) {
  const tsr_tree *old = work->before->tree, *new = work->after->tree;
  for (int64_t i = 0; i < tsr_tree_count(new); i++) {
    const int64_t before = tsr_tree_find(old, tsr_tree_at(new, i)->path);
    if (before >= 0) {
      TSR_TRY(compare(work, before, i));
      continue;
    }
    work->diff.added++;
    TSR_TRY(add(work, (tsr_plan_change){TSR_DIFF_ADDED, -1, i, 0}));
  }
  for (int64_t i = 0; i < tsr_tree_count(old); i++) {
    if (tsr_tree_find(new, tsr_tree_at(old, i)->path) >= 0) continue;
    work->diff.removed++;
    TSR_TRY(add(work, (tsr_plan_change){TSR_DIFF_REMOVED, i, -1, 0}));
  }
  return NULL;
}

tsr_status tsr_plan_diff_create(const tsr_plan *before, const tsr_plan *after,
                                tsr_plan_diff *out_diff) {
  diff_job work = {.before = before, .after = after, .table = TSR_SHAPE_TABLE(int64_t)};
  TSR_TRY(tsr_sized_check(tsr_plan_diff, out_diff));
  work.diff.bytes_per_device_before = before->bytes_per_device;
  work.diff.bytes_per_device_after = after->bytes_per_device;
  tsr_status status = compare_all(&work);
  tsr_shape_table_deinit(&work.table);
  if (status)
    tsr_plan_diff_deinit(&work.diff);
  else
    tsr_sized_fill(tsr_plan_diff, &work.diff, out_diff);
  return status;
}

void tsr_plan_diff_deinit(tsr_plan_diff *diff) {
  if (!diff) return;
  free(diff->items);
  tsr_sized_fill(tsr_plan_diff, &(tsr_plan_diff){0}, diff);
}
