// merge-reduces: all-reduces of small values become one of several operands, where they join the
// same devices by the same op. Each all-reduce costs a meeting of devices, whatever its size.
//
// Those of a block wait in batches until an op needs one of their results; then a batch is put
// before that op. So nothing depends on a member of its own batch.
#include <string.h>

#include "combine/combine_passes.h"
#include "combine/device_ops.h"
#include "propagate/edits.h"

enum { MOST_BATCHES = 8, MOST_MEMBERS = 64, MOST_BYTES = 1 << 16 };

typedef struct reduce_batch {
  tsr_op *members[MOST_MEMBERS];
  int count;
} reduce_batch;

typedef struct merging_reduces {
  tsr_ir *ir;
  reduce_batch batches[MOST_BATCHES];
  int count;
  int64_t changes;
} merging_reduces;

// ---- which belong together ----

static bool is_small(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_ALL_REDUCE) && op->operand_count == 1 && op->region_count == 1 &&
         tsr_combiner_of(op) >= 0 && tsr_type_bytes_of(op->results[0].type) <= MOST_BYTES;
}

static bool belongs(const tsr_op *a, const tsr_op *b) {
  return tsr_combiner_of(a) == tsr_combiner_of(b) &&
         tsr_type_element(a->results[0].type) == tsr_type_element(b->results[0].type) &&
         tsr_attr_equal(tsr_op_attr(a, "replica_groups"), tsr_op_attr(b, "replica_groups")) &&
         tsr_op_flag(a, "use_global_device_ids") == tsr_op_flag(b, "use_global_device_ids") &&
         !tsr_op_attr(a, "channel_handle") == !tsr_op_attr(b, "channel_handle");
}

// ---- batches ----

// One op for all members, before `place`: that of the first member with more operands.
static tsr_status close_batch(merging_reduces *m, int index, tsr_op *place) {
  reduce_batch *batch = &m->batches[index];
  tsr_value *operands[MOST_MEMBERS];
  const tsr_type *types[MOST_MEMBERS];
  tsr_op *first = batch->members[0];
  for (int i = 0; i < batch->count; i++) {
    batch->members[i]->mark = 0;
    operands[i] = tsr_op_operand(batch->members[i], 0);
    types[i] = batch->members[i]->results[0].type;
  }
  if (batch->count > 1) {
    const tsr_op_parts parts = {.id = TSR_OP_ALL_REDUCE,
                                .operand_count = batch->count,
                                .operands = operands,
                                .result_count = batch->count,
                                .result_types = types,
                                .region_count = 1,
                                .attrs = first->attrs,
                                .attr_count = first->attr_count,
                                .location = first->location};
    tsr_op *made = tsr_op_create(m->ir, &parts);
    TSR_NEED(made);
    tsr_body_take(&made->regions[0], &first->regions[0]);
    tsr_op_insert_before(place, made);
    for (int i = 0; i < batch->count; i++) {
      tsr_value_replace(tsr_op_result(batch->members[i], 0), tsr_op_result(made, i));
      tsr_op_erase(batch->members[i]);
    }
    m->changes += batch->count - 1;
  }
  *batch = m->batches[--m->count];
  for (int i = 0; index < m->count && i < batch->count; i++)
    batch->members[i]->mark = (uint32_t)index + 1;
  return NULL;
}

static tsr_status add_member(merging_reduces *m, tsr_op *op) {
  int index = 0;
  while (index < m->count &&
         (m->batches[index].count == MOST_MEMBERS || !belongs(m->batches[index].members[0], op)))
    index++;
  if (index == MOST_BATCHES) return NULL;
  if (index == m->count) m->batches[m->count++].count = 0;
  reduce_batch *batch = &m->batches[index];
  batch->members[batch->count++] = op;
  op->mark = (uint32_t)index + 1;
  return NULL;
}

// ---- blocks ----

// A batch that an op, or one inside it, needs. The mark of a member is 1 + its batch.
static tsr_status find_needed(tsr_op *op, void *context) {
  uint32_t *needed = context;
  for (int i = 0; i < op->operand_count && !*needed; i++) {
    const tsr_op *def = tsr_op_operand(op, i)->def;
    if (def && def != op) *needed = def->mark;
  }
  return NULL;
}

static tsr_status merge_block(merging_reduces *m, tsr_ir_block *block) {
  m->count = 0;
  for (tsr_op *op = block->first; op; op = op->next) {
    for (uint32_t needed = 1; needed;) {
      needed = 0;
      TSR_TRY(tsr_op_walk(op, find_needed, &needed));
      if (needed) TSR_TRY(close_batch(m, (int)needed - 1, op));
    }
    if (is_small(op)) TSR_TRY(add_member(m, op));
  }
  while (m->count && block->last) TSR_TRY(close_batch(m, m->count - 1, block->last));
  return NULL;
}

static tsr_status merge_regions(tsr_op *op, void *context) {
  if (tsr_op_is(op, TSR_OP_ALL_REDUCE) || tsr_op_is(op, TSR_OP_REDUCE)) return NULL;
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      TSR_TRY(merge_block(context, block));
  return NULL;
}

tsr_status tsr_pass_merge_reduces(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  merging_reduces m = {.ir = ir};
  (void)options;
  tsr_marks_clear(ir);
  tsr_status status = tsr_op_walk(ir->module, merge_regions, &m);
  *changes += m.changes;
  return status;
}
