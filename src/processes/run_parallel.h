// interpreter.run_parallel: programs of several processes, which meet in collectives.
//
// What becomes of it depends on its programs. If all are one function, the op gets the function's
// body as its region: one body for all processes in step. Otherwise the ops of every process take
// the place of the op, in an order in which all of them get on, and the collectives in which
// several processes meet become one op, with the operands and results of all members.
#ifndef TESSERA_PROCESSES_RUN_PARALLEL_H
#define TESSERA_PROCESSES_RUN_PARALLEL_H

#include "processes/process_groups.h"

// An attribute of an op that several processes share: how many they are. Value v of member m is
// operand or result v * members + m. The members are one group, in this order.
#define TSR_MEMBERS_ATTR "tessera.members"
// For a permutation: for each member the one whose value it gets; -1 = none.
#define TSR_SOURCES_ATTR "tessera.sources"

// Replaces every interpreter.run_parallel in the entry of a program.
TSR_MUST_USE tsr_status tsr_parallel_expand(tsr_ir *ir);
tsr_process_grid tsr_parallel_grid(const tsr_op *op);

// ---- inside this room ----

// The function of each process, in the order of processes.
typedef struct tsr_parallel_programs {
  tsr_process_grid grid;
  const tsr_op **functions;
} tsr_parallel_programs;
// Puts the ops of all processes before `op`, gives its results to those of the processes, and
// erases it.
TSR_MUST_USE tsr_status tsr_parallel_interleave(tsr_ir *ir, tsr_op *op,
                                                const tsr_parallel_programs *programs);
// Ops that reach beyond their process: collectives, transfers between processes, feeds.
bool tsr_op_is_collective(const tsr_op *op);
bool tsr_op_is_transfer(const tsr_op *op);  // send, recv, infeed, outfeed
TSR_MUST_USE tsr_status tsr_block_copy_into(tsr_ir *ir, const tsr_ir_block *from, tsr_region *to,
                                            tsr_value_map *map);

#endif
