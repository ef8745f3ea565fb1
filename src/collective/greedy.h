// Rules applied again and again, in the order of MLIR's greedy driver, where results depend on it.
//
// Ops wait on a stack whose top is the first op of the program. An op that nothing uses is dropped
// when its turn comes; then its rules are tried. Whatever a rule makes, or whose operands it
// changes, is pushed, unless it waits already. Constants are put at the start of their function
// first, equal ones become one. All of this is repeated until nothing changes, ten times at most.
#ifndef TESSERA_COLLECTIVE_GREEDY_H
#define TESSERA_COLLECTIVE_GREEDY_H

#include "ir/ir.h"

typedef struct tsr_greedy tsr_greedy;

// A rule tries to change the program at an op and says in `out_changed` whether it did.
typedef tsr_status tsr_greedy_fn(tsr_greedy *g, tsr_op *op, bool *out_changed);
typedef struct tsr_greedy_rule {
  tsr_op_id id;
  tsr_greedy_fn *apply;
  const char *label;  // or NULL
} tsr_greedy_rule;

// Applies the rules, those of an op in the order of the list; with a label only those that have it.
TSR_MUST_USE tsr_status tsr_greedy_run(tsr_ir *ir, const tsr_greedy_rule *rules, int count,
                                       const char *label, int64_t *changes);

// ---- for rules ----

tsr_ir *tsr_greedy_ir(tsr_greedy *g);
tsr_arena *tsr_greedy_arena(tsr_greedy *g);  // for one rule: free when it ends
// What rules remember from op to op, for all rounds: tables of things, in an arena of their own.
typedef enum tsr_greedy_kind {
  TSR_GREEDY_STRIDES,
  TSR_GREEDY_USES,
  TSR_GREEDY_FIRSTS,
  TSR_GREEDY_KINDS
} tsr_greedy_kind;
struct tsr_intern_table *tsr_greedy_memory(tsr_greedy *g, tsr_greedy_kind kind,
                                           tsr_arena **out_arena);
// Puts an op that was put somewhere, or changed, on the stack, and the ops around it.
TSR_MUST_USE tsr_status tsr_greedy_push(tsr_greedy *g, tsr_op *op);
// Puts a new op before `place`, and on the stack.
TSR_MUST_USE tsr_status tsr_greedy_insert(tsr_greedy *g, tsr_op *place, tsr_op *op);
// Gives the uses of all results to `values` and erases the op.
TSR_MUST_USE tsr_status tsr_greedy_replace(tsr_greedy *g, tsr_op *op, tsr_value *const *values);
TSR_MUST_USE tsr_status tsr_greedy_erase(tsr_greedy *g, tsr_op *op);
// Takes an op and the ops in its regions off the stack, until all ops are pushed again.
void tsr_greedy_forget(tsr_greedy *g, tsr_op *op);
int64_t tsr_greedy_moves(const tsr_greedy *g);  // how often that was done: ops may be elsewhere now
// Whether `a` stands before `b`, which is in the same block.
bool tsr_greedy_is_before(tsr_greedy *g, tsr_op *a, tsr_op *b);

#endif
