// A diff in words. Tensors of one pattern share a line if they change alike.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "plan/plan.h"
#include "advice/advice_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"

// The changes of one tree. Tensors that share a line have equal keys.
typedef struct diff_lines {
  const tsr_tree *tree;
  const tsr_plan_change **by_row;  // owned; NULL = nothing
  uint64_t *keys;                  // owned
  tsr_tree_groups groups;
} diff_lines;

static uint64_t key_of(const tsr_plan_change *change, const tsr_plan *before,
                       const tsr_plan *after) {
  if (change->kind != TSR_DIFF_CHANGED) return 1;
  const uint64_t from = (uint64_t)tsr_plan_final(before, change->before);
  return from << 33 | (uint64_t)tsr_plan_final(after, change->after) << 2 | 2;
}

static void diff_lines_deinit(diff_lines *of) {
  free(of->by_row);
  free(of->keys);
  tsr_tree_groups_deinit(&of->groups);
}

// Collects the changes of the second plan's tree, or the removed tensors of the first's.
static tsr_status gather(const tsr_plan_diff *diff, const tsr_plan *before, const tsr_plan *after,
                         bool removed, diff_lines *out) {
  for (int64_t i = 0; i < diff->count; i++) {
    const tsr_plan_change *change = &diff->items[i];
    if ((change->kind == TSR_DIFF_REMOVED) != removed) continue;
    const int64_t row = removed ? change->before : change->after;
    out->by_row[row] = change;
    out->keys[row] = key_of(change, before, after);
  }
  tsr_tree_groups groups;
  TSR_TRY(tsr_tree_group_by(out->tree, out->keys, &groups));
  out->groups = groups;
  return NULL;
}

static void print_group(const diff_lines *of, const tsr_tree_group *group, const tsr_plan *before,
                        const tsr_plan *after, tsr_text *out) {
  const tsr_plan_change *first = of->by_row[group->members[0]];
  int64_t moved = 0;
  if (!first) return;
  for (int64_t i = 0; i < group->count; i++)
    moved = tsr_saturated_add(moved, of->by_row[group->members[i]]->moved_bytes);
  tsr_tree_group_print(group, of->tree, out);
  tsr_text_add(out, ": ");
  if (first->kind == TSR_DIFF_REMOVED) {
    tsr_text_add(out, "removed\n");
    return;
  }
  if (first->kind == TSR_DIFF_CHANGED)
    tsr_spec_add(tsr_plan_spec_at(before, tsr_plan_final(before, first->before)), out);
  tsr_text_add(out, first->kind == TSR_DIFF_CHANGED ? " -> " : "added, ");
  tsr_spec_add(tsr_plan_spec_at(after, tsr_plan_final(after, first->after)), out);
  if (first->kind == TSR_DIFF_CHANGED) tsr_text_addf(out, "; %lld bytes move", (long long)moved);
  tsr_text_add_char(out, '\n');
}

static tsr_status print_changes(const tsr_plan_diff *diff, const tsr_plan *before,
                                const tsr_plan *after, bool removed, tsr_text *out) {
  diff_lines of = {.tree = tsr_plan_tree(removed ? before : after)};
  const size_t count = (size_t)tsr_tree_count(of.tree);
  of.by_row = calloc(count + 1, sizeof *of.by_row);
  of.keys = calloc(count + 1, sizeof *of.keys);
  tsr_status status = of.by_row && of.keys ? gather(diff, before, after, removed, &of)
                                           : tsr_fail(NO_MEMORY, "changes of %zu tensors", count);
  for (int64_t i = 0; i < of.groups.count && !status; i++)
    print_group(&of, &of.groups.items[i], before, after, out);
  diff_lines_deinit(&of);
  return status;
}

void tsr_plan_diff_print(const tsr_plan_diff *diff, const tsr_plan *before, const tsr_plan *after,
                         tsr_text *out) {
  tsr_status status = print_changes(diff, before, after, false, out);
  if (!status && diff->removed) status = print_changes(diff, before, after, true, out);
  if (status) out->failed = true;
  tsr_status_free(status);
  tsr_text_addf(out, "%lld the same, %lld changed, %lld added, %lld removed; %lld bytes move\n",
                (long long)diff->same, (long long)diff->changed, (long long)diff->added,
                (long long)diff->removed, (long long)diff->moved_bytes);
  tsr_text_addf(out, "bytes per device: %lld before, %lld after\n",
                (long long)diff->bytes_per_device_before, (long long)diff->bytes_per_device_after);
}
