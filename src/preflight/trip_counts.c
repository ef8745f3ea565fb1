// How often each op runs: calls of its function, times the steps of the loops around it.
//
// Loops whose length the program does not show are counted once, and said to be.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "combine/loop_trips.h"
#include "preflight/preflight.h"
#include "propagate/symbol_names.h"

// The condition of a loop runs once more than its body; what it costs is not worth the difference.
static void count_op(tsr_preflight *flight, int64_t index) {
  tsr_flight_op *op = &flight->ops[index];
  if (op->parent >= 0) {
    const tsr_flight_op *parent = &flight->ops[op->parent];
    const bool unknown = parent->trips < 0;
    op->times = tsr_saturated_multiply(parent->times, unknown ? 1 : parent->trips);
    op->uncertain = parent->uncertain || unknown;
  }
  if (op->op->info->id != TSR_OP_WHILE) return;
  op->trips = tsr_loop_trips(op->op);
  flight->info.unknown_loops += op->trips < 0;
}

static void count_calls(tsr_preflight *flight, int64_t function) {
  for (int64_t i = function + 1; i < flight->op_count && flight->ops[i].function == function; i++) {
    count_op(flight, i);
    const tsr_op *op = flight->ops[i].op;
    const tsr_op *callee = op->info->id == TSR_OP_CALL ? tsr_callee(flight->ir, op) : NULL;
    if (!callee) continue;
    tsr_flight_op *called = &flight->ops[tsr_flight_index(callee)];
    called->times = tsr_saturated_add(called->times, flight->ops[i].times);
    called->uncertain |= flight->ops[i].uncertain;
  }
}

// Callers first: then all calls of a function are known before it is walked.
tsr_status tsr_flight_count_times(tsr_preflight *flight) {
  tsr_call_order order = {0};
  TSR_TRY(tsr_call_order_make(flight->ir, &order));
  // The order is found by marks of functions, which are indices here.
  for (int64_t i = 0; i < flight->op_count; i++) flight->ops[i].op->mark = (uint32_t)i + 1;
  flight->ops[flight->entry].times = 1;
  for (int i = order.count - 1; i >= 0; i--) count_calls(flight, tsr_flight_index(order.list[i]));
  free(order.list);
  return NULL;
}
