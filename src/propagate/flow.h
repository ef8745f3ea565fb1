// The state of a propagation that runs: shardings of all values, ops that wait, priorities.
#ifndef TESSERA_PROPAGATE_FLOW_H
#define TESSERA_PROPAGATE_FLOW_H

#include "factor/spread.h"
#include "propagate/flow_notes.h"
#include "propagate/groups.h"
#include "propagate/propagate.h"

// An op that takes part: its number is the slot of its first result in the table of shardings.
typedef struct tsr_flow_node {
  tsr_op *op;               // NULL = none has this number
  const tsr_op_rule *rule;  // NULL = it has none, or is not known yet
  bool asked;               // for its rule
  bool queued;
  const tsr_tensor_sharding *outer;  // of an edge of a manual computation: as that op has it
  uint32_t group;  // of the slot: place in `members` where it begins, plus 1; 0 = none
} tsr_flow_node;

// A call, sorted by the function that it calls.
typedef struct tsr_flow_call {
  const tsr_op *func;
  tsr_op *call;
} tsr_flow_call;

typedef struct tsr_flow {
  tsr_ir *ir;
  const tsr_flow_how *how;
  tsr_flow_notes *notes;  // NULL = none are asked for
  tsr_sharding_table table;
  tsr_arena kept;        // rules
  tsr_arena scratch;     // of one op
  tsr_flow_node *nodes;  // table.count + 1
  uint32_t *order;       // the nodes in the order of the program
  int64_t order_count;
  uint32_t *stack;  // nodes that wait; the last one is next
  int64_t stack_count;
  uint32_t *members;  // slots of groups, each group ended by 0
  tsr_flow_call *calls;
  int64_t call_count, call_capacity;
  tsr_spread_strategy strategy;
  int level;  // of op priorities; -1 = all at once
  int64_t user_priority;
  const tsr_op *current;  // the op that is looked at
  int64_t changes;
  int64_t narrowed;  // how often a group got less than the member that changed
  bool reviewing;    // ops are shown, nothing changes
} tsr_flow;

TSR_MUST_USE tsr_status tsr_flow_init(tsr_flow *flow, tsr_ir *ir, const tsr_flow_how *how,
                                      const tsr_group_list *groups);
void tsr_flow_deinit(tsr_flow *flow);

// Looks at all ops in the order of the program, and again at those next to a value that changed,
// until nothing changes.
TSR_MUST_USE tsr_status tsr_flow_run(tsr_flow *flow);
// All levels of op priorities, or one run without them, with each strategy.
TSR_MUST_USE tsr_status tsr_flow_levels(tsr_flow *flow);
// Shows every op with its rule and its tensors to who watches.
TSR_MUST_USE tsr_status tsr_flow_review(tsr_flow *flow);
// All user priorities.
TSR_MUST_USE tsr_status tsr_flow_priorities(tsr_flow *flow);

// The directions of the factors of an op at the level of now, in `out` of rule->factor_count.
void tsr_flow_directions(const tsr_flow *flow, const tsr_op *op, const tsr_op_rule *rule,
                         uint8_t *out);

// ---- tensors of one op ----

// What propagates with each other: slots of values and their shardings, operands first.
typedef struct tsr_flow_tensors {
  int count, operand_count;
  uint32_t *slots;
  const tsr_tensor_sharding **shardings;
  tsr_value **values;
} tsr_flow_tensors;
// Puts a change of a value into the table and queues what depends on it. The others of its group
// get `others`.
TSR_MUST_USE tsr_status tsr_flow_put_apart(tsr_flow *flow, uint32_t slot,
                                           const tsr_tensor_sharding *sharding,
                                           const tsr_tensor_sharding *others, bool quiet);
// Queues the ops next to a value whose sharding changed.
void tsr_flow_notify(tsr_flow *flow, uint32_t slot);
// Room for the tensors in the scratch memory; false without memory.
bool tsr_flow_tensors_make(tsr_flow *flow, int count, int operand_count,
                           tsr_flow_tensors *out_tensors);
TSR_MUST_USE tsr_status tsr_flow_spread(tsr_flow *flow, const tsr_op *op, const tsr_op_rule *rule,
                                        const tsr_spread_how *how, tsr_flow_tensors *tensors,
                                        bool quiet);
// tsr_spread_op between the tensors, and what happened told to who watches. A review only shows
// them.
TSR_MUST_USE tsr_status tsr_flow_meet(tsr_flow *flow, const tsr_op *op, const tsr_op_rule *rule,
                                      const tsr_spread_how *how, const tsr_flow_tensors *tensors,
                                      tsr_spread_result *out_result);
// An edge: its sources and its target.
TSR_MUST_USE tsr_status tsr_flow_edge(tsr_flow *flow, uint32_t node);
TSR_MUST_USE tsr_status tsr_flow_func_edge(tsr_flow *flow, uint32_t node);
// The calls of a function, in the order of the program.
const tsr_flow_call *tsr_flow_calls(const tsr_flow *flow, const tsr_op *func, int64_t *out_count);

#endif
