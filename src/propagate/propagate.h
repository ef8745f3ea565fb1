// Propagation of shardings through a program, as Shardy does it.
#ifndef TESSERA_PROPAGATE_PROPAGATE_H
#define TESSERA_PROPAGATE_PROPAGATE_H

#include "factor/rule.h"
#include "factor/shardings.h"

// The tensors of an op as propagation sees them: operands first, then results. Those of an edge are
// its sources and its target, whose sharding is the one that the sources see; those of a function
// are a value that the entry returns and the result that it becomes.
typedef struct tsr_flow_view {
  const tsr_op *op;
  const tsr_op_rule *rule;
  int count;
  const uint32_t *slots;  // of the table of shardings
  tsr_value *const *values;
  const tsr_tensor_sharding *const *shardings;
} tsr_flow_view;

// A value got axes: on which way.
typedef struct tsr_flow_event {
  const tsr_flow_view *view;  // before it did
  int tensor;                 // of the view
  const tsr_op *op;           // the op that they came through; a function for its results
  const tsr_value *value;     // that got them, or the one returned, for results of functions
  int func_result;            // -1 = it is no result of a function
  int dim;                    // of the value
  tsr_sdy_parts axes;         // all that its factor has now
  const tsr_attr *mesh;       // of the axes
  const tsr_value *source;    // that had them before; NULL = no value alone had all
  int64_t user_priority;
  int op_priority;  // 0 to 4
} tsr_flow_event;

typedef enum tsr_flow_strategy {
  TSR_FLOW_BASIC,
  TSR_FLOW_AGGRESSIVE,
  TSR_FLOW_BASIC_THEN_AGGRESSIVE
} tsr_flow_strategy;

typedef struct tsr_flow_how {
  bool keep_rules;    // stay as attributes of the ops
  bool conservative;  // no parts of axes, nothing that needs padding
  tsr_flow_strategy strategy;
  bool op_priorities, user_priorities;
  bool note_origins, note_edges;  // as attributes of the program (flow_notes.h)
  const char *dump_folder;        // gets the program after each user priority; NULL = none does
  // Called for each gain as it happens, if not NULL. Pointers are valid until it returns, those of
  // ops and values longer.
  void (*watch)(void *context, const tsr_flow_event *event);
  // Called with all shardings before the first gain and after the last one, if not NULL, and in
  // between, at the end, for each op that has a rule.
  tsr_status (*begin)(void *context, const tsr_sharding_table *table);
  tsr_status (*settled)(void *context, const tsr_flow_view *view);
  tsr_status (*end)(void *context, const tsr_sharding_table *table);
  void *context;
} tsr_flow_how;

// As Shardy's propagation pipeline asks it.
#define TSR_FLOW_PIPELINE \
  { .strategy = TSR_FLOW_AGGRESSIVE, .op_priorities = true, .user_priorities = true }

// Propagates shardings and writes them into the program. Ops whose results are not used are
// dropped, as MLIR's driver does. `changes` gets the number of shardings that were set.
TSR_MUST_USE tsr_status tsr_propagate(tsr_ir *ir, const tsr_flow_how *how, int64_t *changes);

#endif
