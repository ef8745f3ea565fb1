#include "combine/moved_bytes.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "combine/device_ops.h"
#include "combine/loop_trips.h"
#include "propagate/symbol_names.h"

// ---- one op ----

const char *tsr_moved_kind_name(tsr_moved_kind kind) {
  static const char *const names[TSR_MOVED_KIND_COUNT] = {
      [TSR_MOVED_ALL_GATHER] = "all-gather",
      [TSR_MOVED_ALL_REDUCE] = "all-reduce",
      [TSR_MOVED_REDUCE_SCATTER] = "reduce-scatter",
      [TSR_MOVED_ALL_TO_ALL] = "all-to-all",
      [TSR_MOVED_PERMUTE] = "collective-permute",
      [TSR_MOVED_BROADCAST] = "collective-broadcast"};
  return names[kind];
}

// -1 for an op that is no collective.
static int kind_of(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_ALL_GATHER:
      return TSR_MOVED_ALL_GATHER;
    case TSR_OP_ALL_REDUCE:
      return TSR_MOVED_ALL_REDUCE;
    case TSR_OP_REDUCE_SCATTER:
      return TSR_MOVED_REDUCE_SCATTER;
    case TSR_OP_ALL_TO_ALL:
      return TSR_MOVED_ALL_TO_ALL;
    case TSR_OP_COLLECTIVE_PERMUTE:
      return TSR_MOVED_PERMUTE;
    case TSR_OP_COLLECTIVE_BROADCAST:
      return TSR_MOVED_BROADCAST;
    default:
      return -1;
  }
}

static int64_t bytes_of_operand(int kind, int64_t operand, int64_t result) {
  switch (kind) {
    case TSR_MOVED_ALL_GATHER:
      return result - operand;
    case TSR_MOVED_ALL_REDUCE:
      return tsr_saturated_multiply(2, operand);
    case TSR_MOVED_REDUCE_SCATTER:
      return operand - result;
    default:
      return operand;
  }
}

int64_t tsr_moved_bytes_of(const tsr_op *op) {
  const int kind = kind_of(op);
  int64_t bytes = 0;
  for (int i = 0; kind >= 0 && i < op->operand_count && i < op->result_count; i++)
    bytes =
        tsr_saturated_add(bytes, bytes_of_operand(kind, tsr_type_bytes_of(tsr_operand_type(op, i)),
                                                  tsr_type_bytes_of(op->results[i].type)));
  return bytes;
}

// ---- all ops ----

typedef struct moved_tally {
  tsr_ir *ir;
  tsr_moved_bytes *moved;
  int64_t *calls;  // of each function, by its mark - 1
} moved_tally;

static void count_block(moved_tally *t, const tsr_ir_block *block, int64_t times);

static void count_collective(moved_tally *t, const tsr_op *op, int kind, int64_t times) {
  const int64_t bytes = tsr_saturated_multiply(tsr_moved_bytes_of(op), times);
  t->moved->kinds[kind].ops++;
  t->moved->kinds[kind].times = tsr_saturated_add(t->moved->kinds[kind].times, times);
  t->moved->kinds[kind].bytes = tsr_saturated_add(t->moved->kinds[kind].bytes, bytes);
  t->moved->bytes = tsr_saturated_add(t->moved->bytes, bytes);
}

// The condition of a loop runs once more than its body; what it costs is not worth the difference.
static void count_regions(moved_tally *t, const tsr_op *op, int64_t times) {
  const int64_t before = t->moved->bytes;
  const int64_t trips = op->info->id == TSR_OP_WHILE ? tsr_loop_trips(op) : 1;
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      count_block(t, block, trips < 0 ? times : tsr_saturated_multiply(times, trips));
  t->moved->unknown_loops += trips < 0 && t->moved->bytes != before;
}

static void count_block(moved_tally *t, const tsr_ir_block *block, int64_t times) {
  for (const tsr_op *op = block->first; op; op = op->next) {
    const int kind = kind_of(op);
    const tsr_op *callee = op->info->id == TSR_OP_CALL ? tsr_callee(t->ir, op) : NULL;
    if (kind >= 0)
      count_collective(t, op, kind, times);
    else if (op->region_count)
      count_regions(t, op, times);
    else if (callee && callee->mark)
      t->calls[callee->mark - 1] = tsr_saturated_add(t->calls[callee->mark - 1], times);
  }
}

// Callers first: then all calls of a function are known before it is counted.
static void count_functions(moved_tally *t, const tsr_call_order *order) {
  const tsr_op *entry = tsr_ir_entry(t->ir);
  for (int i = 0; i < order->count; i++) order->list[i]->mark = (uint32_t)i + 1;
  if (entry && entry->mark) t->calls[entry->mark - 1] = 1;
  for (int i = order->count - 1; i >= 0; i--)
    if (t->calls[i]) count_block(t, tsr_func_body(order->list[i]), t->calls[i]);
}

tsr_status tsr_moved_bytes_count(tsr_ir *ir, tsr_moved_bytes *out_moved) {
  tsr_call_order order = {0};
  tsr_moved_bytes moved = {0};
  TSR_TRY(tsr_call_order_make(ir, &order));
  moved_tally t = {ir, &moved, calloc((size_t)order.count + 1, sizeof *t.calls)};
  if (t.calls) count_functions(&t, &order);
  const bool counted = t.calls;
  free(t.calls);
  free(order.list);
  TSR_NEED(counted ? ir : NULL);
  *out_moved = moved;
  return NULL;
}
