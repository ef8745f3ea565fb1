// A copy plan has its two layouts, and indexes to find pieces: an order of the source's devices if
// replicas differ, and a tree of listed boxes. Grids of one process need neither.
#include <stdlib.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "layout/cover.h"
#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "transfer/transfer.h"
#include "transfer/transfer_internal.h"

static tsr_status check_shapes(const tsr_layout *from, const tsr_layout *to) {
  const tsr_shape a = tsr_layout_shape(from), b = tsr_layout_shape(to);
  if (tsr_shape_equal(&a, &b)) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "a tensor of shape ");
  tsr_shape_print(&a, &text);
  tsr_text_add(&text, " cannot be laid out as one of shape ");
  tsr_shape_print(&b, &text);
  return tsr_fail_text(TSR_CAUSE_SHAPES_DIFFER, &text);
}

// ---- listed boxes ----

static int rank_of_table(const tsr_layout *layout) {
  return layout->kind == TSR_LAYOUT_FLAT ? 1 : layout->rank;
}

static int64_t box_count(const tsr_layout *layout) {
  const tsr_box_table *table = layout->table;
  return layout->kind == TSR_LAYOUT_FLAT ? table->shard_count : table->first[table->shard_count];
}

static tsr_status index_boxes(const tsr_layout *layout, tsr_box_tree **out_tree) {
  if (!layout->table) return NULL;
  return tsr_box_tree_create(layout->table->ranges, rank_of_table(layout), box_count(layout),
                             out_tree);
}

// For each box the first equal one, which owns it in a tiling.
static tsr_status find_classes(const tsr_layout *layout, int64_t **out_classes) {
  const int64_t count = layout->table ? box_count(layout) : 0;
  bool differ = true;
  for (int64_t b = 0; b < count; b++) differ = differ && layout->table->owned[b];
  if (differ) return NULL;
  int64_t *classes = malloc(sizeof *classes * (size_t)count);
  if (!classes) return tsr_fail(NO_MEMORY, "the owners of %lld boxes", (long long)count);
  tsr_status status =
      tsr_box_classes(layout->table->ranges, rank_of_table(layout), count, classes, NULL);
  if (status)
    free(classes);
  else
    *out_classes = classes;
  return status;
}

// ---- making ----

static tsr_status prepare(tsr_copy_plan *plan) {
  TSR_TRY(tsr_source_prepare(plan));
  if (plan->from->table) TSR_TRY_NOTE(tsr_layout_check(plan->from), "the source");
  TSR_TRY(index_boxes(plan->from, &plan->from_tree));
  TSR_TRY(index_boxes(plan->to, &plan->to_tree));
  return find_classes(plan->from, &plan->from_class);
}

tsr_status tsr_copy_plan_create(const tsr_layout *from, const tsr_layout *to,
                                const tsr_copy_plan_options *options, tsr_copy_plan **out_plan) {
  tsr_copy_plan_options read;
  TSR_TRY(tsr_sized_read(tsr_copy_plan_options, options, &read));
  const int64_t tensor = read.tensor;
  if (tensor < 0)
    return tsr_fail(BAD_ARGUMENT, "tensor %lld of a batch, wanted 0 or more", (long long)tensor);
  TSR_TRY(check_shapes(from, to));
  tsr_copy_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return tsr_fail(NO_MEMORY, "a copy plan");
  plan->from = tsr_layout_retain(from);
  plan->to = tsr_layout_retain(to);
  plan->tensor = tensor;
  tsr_status status = prepare(plan);
  if (status)
    tsr_copy_plan_release(plan);
  else
    *out_plan = plan;
  return status;
}

void tsr_copy_plan_release(const tsr_copy_plan *plan) {
  tsr_copy_plan *mine = (tsr_copy_plan *)plan;
  if (!mine) return;
  tsr_layout_release(mine->from);
  tsr_layout_release(mine->to);
  tsr_box_tree_destroy(mine->from_tree);
  tsr_box_tree_destroy(mine->to_tree);
  free(mine->from_class);
  free(mine->by_process);
  free(mine->by_near);
  free(mine);
}

const tsr_layout *tsr_copy_plan_from(const tsr_copy_plan *plan) { return plan->from; }
const tsr_layout *tsr_copy_plan_to(const tsr_copy_plan *plan) { return plan->to; }
