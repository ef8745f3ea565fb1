// Which lanes hold the same bits of each value of a body that runs on lanes, and small integers
// whose values are known for each lane before anything runs.
//
// Classes flow from the arguments through the ops. A pure op keeps lanes together that are together
// in all its operands; a collective joins lanes whose groups get the same values in the same order;
// what a loop carries is the greatest fixpoint. Integers that depend on the device only (its
// number, and what is looked up by it in tables) are evaluated for each lane: they part lanes only
// where they differ.
#ifndef TESSERA_LANES_LANE_FLOW_H
#define TESSERA_LANES_LANE_FLOW_H

#include "lanes/lane_classes.h"
#include "lanes/manual_lanes.h"

typedef struct tsr_lane_flow tsr_lane_flow;

// Of the body of an op that runs on the lanes of `manual`. `arguments` has the classes of each of
// its arguments. Values that are known become further arguments of the body, and the ops that
// computed them are erased. All memory is of the arena of `table`.
TSR_MUST_USE tsr_status tsr_lane_flow_make(tsr_ir *ir, tsr_class_table *table,
                                           const tsr_manual *manual, tsr_ir_block *body,
                                           const tsr_lane_classes *const *arguments,
                                           tsr_lane_flow **out_flow);
// NULL = one class: all lanes have the same bits.
const tsr_lane_classes *tsr_lane_flow_classes(const tsr_lane_flow *flow, const tsr_value *value);
// For each class of a value that is known: a DENSE attribute of integers. NULL = it is not known.
const tsr_attr *const *tsr_lane_flow_known(const tsr_lane_flow *flow, const tsr_value *value);

// ---- inside this room ----

typedef struct tsr_lane_fact {
  const tsr_value *value;
  const tsr_lane_classes *classes;
  const tsr_attr *const *known;
} tsr_lane_fact;

struct tsr_lane_flow {
  tsr_ir *ir;
  tsr_arena *arena;
  tsr_class_table *table;
  tsr_lane_fact *facts;  // by hashes of values, in a table of `capacity`
  int64_t fact_count, capacity;
};

TSR_MUST_USE tsr_status tsr_lane_flow_set(tsr_lane_flow *flow, const tsr_value *value,
                                          const tsr_lane_classes *classes,
                                          const tsr_attr *const *known);
// What is known of the results of an op, from its operands or the numbers of the lanes. False in
// `out_known`: nothing, and no facts are set.
TSR_MUST_USE tsr_status tsr_lane_know(tsr_lane_flow *flow, const tsr_manual *manual, tsr_op *op,
                                      bool *out_known);
// Makes the known values of a body that is done its arguments.
TSR_MUST_USE tsr_status tsr_lane_known_arguments(tsr_lane_flow *flow, tsr_ir_block *body);

#endif
