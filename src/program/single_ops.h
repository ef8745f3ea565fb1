// Single ops of a sharded program partitioned, the rest left whole: each becomes a manual
// computation whose body is what one device does. It shows which op a partitioner gets wrong.
#ifndef TESSERA_PROGRAM_SINGLE_OPS_H
#define TESSERA_PROGRAM_SINGLE_OPS_H

#include "ir/ir.h"

typedef struct tsr_single_how {
  // Which ops: names, of which one must be in the op's, and "selectLow=2", "selectHigh=7": places
  // among all ops with sharded values, from 0. Separated by commas; "" or NULL = all.
  const char *filter;
  bool halos;  // ops that need elements of neighbours exchange them, instead of gathering
  int64_t replicas, partitions;
} tsr_single_how;

TSR_MUST_USE tsr_status tsr_single_ops_partition(tsr_ir *ir, const tsr_single_how *how,
                                                 int64_t *changes);

#endif
