// Propagation of shardings through a program, as Shardy does it.
#ifndef TESSERA_PROPAGATE_PROPAGATE_H
#define TESSERA_PROPAGATE_PROPAGATE_H

#include "factor/shardings.h"

// A value got axes: on which way.
typedef struct tsr_flow_event {
  const tsr_op *op;         // the op that they came through; a function for its results
  const tsr_value *value;   // that got them, or the one returned, for results of functions
  int func_result;          // -1 = it is no result of a function
  int dim;                  // of the value
  tsr_sdy_parts axes;       // all that its factor has now
  const tsr_attr *mesh;     // of the axes
  const tsr_value *source;  // that had them before; NULL = no value alone had all
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
  // Called for each gain as it happens, if not NULL. Pointers are valid until it returns, those of
  // ops and values longer.
  void (*watch)(void *context, const tsr_flow_event *event);
  void *context;
} tsr_flow_how;

// Propagates shardings and writes them into the program. Ops whose results are not used are
// dropped, as MLIR's driver does. `changes` gets the number of shardings that were set.
TSR_MUST_USE tsr_status tsr_propagate(tsr_ir *ir, const tsr_flow_how *how, int64_t *changes);

#endif
